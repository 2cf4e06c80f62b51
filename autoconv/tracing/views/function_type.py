"""Types of the arguments and results of a trace, as values and as text."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autoconv.graph.dtypes import resource
from autoconv.graph.types import TensorType
from autoconv.lazy_dataclass import dataclass
from autoconv.operators.regions.layout import Arms, Instance, Layout, Leaf, Parts, RunTimeList, Static
from autoconv.runtime.support.composite_structures import collapse_composites
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.structure import Template, pack
from autoconv.runtime.support.type_spec import TypeSpec
from autoconv.runtime.tensors.tensor import EagerTensor
from autoconv.tracing.key.cache_key import Key, LeafKey, Literal, OuterName, TensorKey
from autoconv.tracing.key.signature import Signature

_VARIADIC_KINDS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of a trace: `leaves` are the keys of its leaves, `names` their names in the graph.

    `kind` is the name of Python's kind of parameter, or "OUTER" for the value of an outer name or attribute.
    """

    name: str
    kind: str
    template: Template | None
    leaves: tuple[LeafKey, ...]
    names: tuple[str, ...]

    def __str__(self) -> str:
        return _template_text(self.template, iter(self.leaves))

    @property
    def spec(self) -> Any:
        """The argument with specs in place of tensors and composite tensors, and Python values as they are."""
        specs = (_spec(leaf, name) for leaf, name in zip(self.leaves, self.names, strict=True))
        leaves, template = collapse_composites(self.template, specs)
        return pack(template, leaves)

    @property
    def is_by_keyword(self) -> bool:
        return self.kind == "KEYWORD_ONLY"


@dataclass(frozen=True, slots=True)
class FunctionType:
    """The types of a trace's arguments, result and captures. `str()` gives one line, `block` a line for each."""

    parameters: tuple[Parameter, ...]
    output: Layout
    captures: tuple[Any, ...]

    @classmethod
    def of(cls, signature: Signature, key: Key, names: Sequence[str], output: Layout, captures: Any) -> FunctionType:
        """Return the type of the trace with this key; `names` are those of its leaves."""
        parameters = []
        for (name, template), leaf_slice in zip(key.templates, key.leaf_slices(), strict=True):
            kind = "OUTER" if isinstance(name, OuterName) else _kind_name(signature, name)
            parameters.append(Parameter(name, kind, template, key.leaves[leaf_slice], tuple(names[leaf_slice])))
        end = key.template_leaf_count
        for leaf, name in zip(key.leaves[end:], names[end:], strict=True):
            parameters.append(Parameter(name, "OUTER", None, (leaf,), (name,)))
        return cls(tuple(parameters), output, tuple(captures))

    def __str__(self) -> str:
        texts = [f"{parameter.name}: {parameter}" for parameter in self.parameters]
        kinds = [parameter.kind for parameter in self.parameters]
        if "KEYWORD_ONLY" in kinds:
            texts.insert(kinds.index("KEYWORD_ONLY"), "*")
        if "POSITIONAL_ONLY" in kinds:
            texts.insert(len(kinds) - kinds[::-1].index("POSITIONAL_ONLY"), "/")
        return f"({', '.join(texts)}) -> {_layout_text(self.output)}"

    def block(self) -> str:
        """Return the text with a line for each parameter and capture."""
        inputs = [f"  {p.name} ({p.kind}): {p}" for p in self.parameters] or ["  None"]
        captures = [f"  {id(capture)}: {_capture_text(capture)}" for capture in self.captures] or ["  None"]
        output = f"  {_layout_text(self.output)}"
        return "\n".join(["Input Parameters:", *inputs, "Output Type:", output, "Captures:", *captures])

    @property
    def specs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The positional and the keyword arguments, with TensorSpecs in place of tensors; without outer names."""
        parameters = [parameter for parameter in self.parameters if parameter.kind != "OUTER"]
        positional = tuple(parameter.spec for parameter in parameters if not parameter.is_by_keyword)
        return positional, {parameter.name: parameter.spec for parameter in parameters if parameter.is_by_keyword}


def _kind_name(signature: Signature, name: str) -> str:
    """Return the name of the kind of a parameter.

    An argument that `*args` collects has a name such as "args_0". It and those before it count as positional-only; one
    that `**kwargs` collects counts as keyword-only.
    """
    parameters = signature.python_signature.parameters
    collecting = next((each.name for each in parameters.values() if each.kind is each.VAR_POSITIONAL), None)
    if name in parameters and parameters[name].kind not in _VARIADIC_KINDS:
        kind = parameters[name].kind.name
        return "POSITIONAL_ONLY" if collecting and kind == "POSITIONAL_OR_KEYWORD" else kind
    return "POSITIONAL_ONLY" if collecting and name.startswith(f"{collecting}_") else "KEYWORD_ONLY"


def _spec(leaf: LeafKey, name: str) -> Any:
    """Return the spec or the value that a function type shows for a leaf."""
    if isinstance(leaf, TensorKey):
        return TensorSpec.from_type(leaf.type, name)
    return leaf.value if isinstance(leaf, Literal) else leaf


def _template_text(template: Template | None, leaves: Iterator[Any]) -> str:
    """Return the text of a structure, with the texts of its leaves."""
    if template is None:
        return str(next(leaves))
    return _container_text(template.kind, template.keys, [_template_text(child, leaves) for child in template.children])


def _container_text(kind: Any, keys: Sequence[Any] | None, item_texts: list[str]) -> str:
    """Return the text of a container, as TensorFlow writes it."""
    if isinstance(kind, TypeSpec):
        return repr(kind)
    name = kind.__name__.capitalize() if kind in (list, tuple, dict) else kind.__name__
    if keys is not None:
        item_texts = [f"{key!r}: {text}" for key, text in zip(keys, item_texts, strict=True)]
    return f"{name}[{', '.join(item_texts)}]"


def _layout_text(layout: Layout) -> str:
    """Return the type of a result with that layout as text; types of tensors are written as TensorSpecs."""
    if isinstance(layout, Leaf):
        return repr(TensorSpec.from_type(layout.type)) if isinstance(layout.type, TensorType) else str(layout.type)
    if isinstance(layout, Parts):
        return _container_text(layout.kind, layout.keys, [_layout_text(part) for part in layout.parts])
    if isinstance(layout, Instance) and layout.is_in_graph:
        return _layout_text(layout.parts[0])
    if isinstance(layout, Instance):
        entries = [f"{name}: {_layout_text(part)}" for name, part in zip(layout.keys, layout.parts, strict=True)]
        return f"{layout.kind.__name__}[{', '.join(entries)}]"
    if isinstance(layout, RunTimeList):
        return f"List[{_layout_text(layout.element)}, ...]"
    if isinstance(layout, Arms):
        return " | ".join(map(_layout_text, layout.arms))
    return repr(layout.value) if isinstance(layout, Static) else "never"  # an arm that is never reached


def _capture_text(capture: Any) -> str:
    """Return the text of the type of a captured object."""
    if getattr(capture, "dtype", None) is resource:  # as TensorFlow writes the handle of a variable
        return repr(TensorSpec((), resource))
    type_ = getattr(EagerTensor(capture) if isinstance(capture, np.ndarray) else capture, "type", None)
    return repr(TensorSpec.from_type(type_)) if isinstance(type_, TensorType) else str(type_ or capture)
