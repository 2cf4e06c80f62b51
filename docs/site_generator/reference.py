"""The reference: a page for each public namespace, from signatures and docstrings."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

# The public namespaces in the order of the menu, each with a sentence.
NAMESPACES = {
    "autoconv": "The two decorators, tensors, variables, tapes, and the ops that are used most.",
    "autoconv.math": "Mathematical functions and reductions.",
    "autoconv.linalg": "Linear algebra.",
    "autoconv.nn": "Activations, losses, convolutions and pooling.",
    "autoconv.random": "Random numbers: stateful, stateless, and generators.",
    "autoconv.signal": "Windows and Fourier transforms.",
    "autoconv.lookup": "Tables of keys and values.",
    "autoconv.lookup.experimental": "Tables that change.",
    "autoconv.ragged": "Ragged tensors: rows of different lengths.",
    "autoconv.sets": "Sets along the last dimension of tensors.",
    "autoconv.sparse": "Sparse tensors.",
    "autoconv.strings": "Tensors of strings.",
    "autoconv.bitwise": "Operators on the bits of integers.",
    "autoconv.data": "Datasets.",
    "autoconv.data.experimental": "Further transformations of datasets.",
    "autoconv.saved_model": "Objects with their functions as graphs, written to a folder and loaded.",
    "autoconv.stablehlo": "Functions as StableHLO modules.",
    "autoconv.onnx": "Functions as ONNX models, and ONNX models as functions.",
    "autoconv.clibrary": "Functions as C libraries, which need no Python.",
    "autoconv.summary": "Summaries for TensorBoard.",
    "autoconv.summary.experimental": "Default steps and names of summaries.",
    "autoconv.train": "Checkpoints, and records of training data.",
    "autoconv.image": "Images: sizes, dtypes, colours.",
    "autoconv.io": "Files in graphs: contents, records, examples, images.",
    "autoconv.io.gfile": "Files and folders.",
    "autoconv.distribute": "Strategies: replicas on virtual devices, distributed variables and datasets.",
    "autoconv.distribute.experimental": "Strategies that TensorFlow keeps under this name.",
    "autoconv.experimental": "Optional values, extension types, handlers of functions for them.",
    "autoconv.compat": "Text of earlier versions.",
    "autoconv.compat.v1": "Version 1: sessions, placeholders, variable scopes, collections.",
    "autoconv.compat.v1.train": "Version 1: optimizers, learning rates, savers.",
    "autoconv.compat.v1.nn": "Version 1: ops of neural networks, recurrent networks.",
    "autoconv.compat.v1.nn.rnn_cell": "Version 1: cells of recurrent networks.",
    "autoconv.compat.v1.layers": "Version 1: layers as functions.",
    "autoconv.compat.v1.losses": "Version 1: losses.",
    "autoconv.compat.v1.metrics": "Version 1: metrics.",
    "autoconv.compat.v1.graph_util": "Version 1: parts of GraphDefs.",
    "autoconv.compat.v1.data": "Version 1: iterators of datasets.",
    "autoconv.compat.v1.saved_model": "Version 1: saved models of sessions, and their signatures.",
    "autoconv.compat.v1.summary": "Version 1: summaries and their writer.",
    "autoconv.compat.v1.initializers": "Version 1: first values of variables.",
    "autoconv.quantization": "Rounding to the levels of quantized integers.",
    "autoconv.nest": "Nested structures of values.",
    "autoconv.debugging": "Assertions and checks of what is computed.",
    "autoconv.autograph": "Converted code as a function or as text.",
    "autoconv.autograph.experimental": "Functions that are left as they are, and options of loops.",
    "autoconv.importing": "Modules that are converted as they are imported.",
    "autoconv.config": "Settings of the process.",
    "autoconv.config.experimental": "Memory and details of devices.",
    "autoconv.config.optimizer": "Options of TensorFlow's graph optimizer.",
    "autoconv.config.threading": "Numbers of threads.",
    "autoconv.errors": "Every error that a program can meet.",
    "autoconv.dtypes": "Dtypes.",
    "autoconv.xp": "The Python array API standard 2024.12 over tensors.",
}
# Names that programs use from modules without `__all__`.
PUBLIC = {"autoconv.importing": ("ImportHook", "converted", "install", "rename")}
DTYPES = re.compile(r"^(b?float\d+|u?int\d+|complex\d+|bool_?|string|resource|double|half)$")


class Item(NamedTuple):
    """A public name: the first namespace that has it, and its value."""

    namespace: str
    name: str
    value: Any

    @property
    def example(self) -> str:
        """The example of the docstring, as lines at Python's prompt."""
        return "\n".join(part for kind, part in _parts(self.value) if kind == "example")

    @property
    def is_error(self) -> bool:
        """True if it is an exception, which the page of errors shows in programs."""
        return inspect.isclass(self.value) and issubclass(self.value, BaseException)


def items() -> list[Item]:
    """Return every public function and class once, under the first namespace that has it."""
    seen: set[int] = set()
    found = []
    for namespace in NAMESPACES:
        for name, value in public_names(importlib.import_module(namespace)):
            if callable(value) and not DTYPES.match(name) and id(value) not in seen:
                seen.add(id(value))
                found.append(Item(namespace, name, value))
    return found


def public_names(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the names of `__all__`, or the public functions and classes that the module defines itself."""
    for name in getattr(module, "__all__", None) or PUBLIC.get(module.__name__) or sorted(vars(module)):
        value = getattr(module, name)
        if name.startswith("_") or isinstance(value, ModuleType):
            continue
        if hasattr(module, "__all__") or getattr(value, "__module__", "") == module.__name__:
            yield name, value


def reference_pages() -> dict[str, str]:
    """Return the text of each page by its path, an index among them."""
    all_items = items()
    items_by_id = {id(item.value): item for item in all_items}
    pages = {page_of(namespace): _page(namespace, items_by_id) for namespace in NAMESPACES}
    return {"reference/index.md": _index(all_items), **pages}


def page_of(namespace: str) -> str:
    return f"reference/{namespace.removeprefix('autoconv.')}.md"


def _index(all_items: list[Item]) -> str:
    rows = "".join(
        f"| [`{namespace}`]({page_of(namespace).removeprefix('reference/')}) | {text} |\n"
        for namespace, text in NAMESPACES.items()
    )
    missing: dict[str, list[str]] = {}
    for item in all_items:
        if not item.example and not item.is_error:
            missing.setdefault(item.namespace, []).append(f"`{item.name}`")
    lists = "".join(f"- `{namespace}`: {', '.join(names)}\n" for namespace, names in missing.items())
    return (
        "# Reference\n\nThe pages are generated from the docstrings. The tests run each example.\n\n"
        f"| namespace | content |\n| --- | --- |\n{rows}\n"
        f"## Items without an example\n\n{sum(map(len, missing.values()))} of {len(all_items)} items have none yet. "
        "The page of [errors](../errors.md) has programs for exceptions.\n\n"
        f"{lists}"
    )


def _page(namespace: str, items_by_id: dict[int, Item]) -> str:
    lines = [f"# {namespace}\n\n{NAMESPACES[namespace]}\n\n"]
    elsewhere: list[str] = []
    constants: list[str] = []
    for name, value in public_names(importlib.import_module(namespace)):
        item = items_by_id.get(id(value))
        if item is None or not callable(value):
            constants.append(f"`{name}`")
        elif (item.namespace, item.name) == (namespace, name):
            lines.append(_section(name, value))
        else:
            page = page_of(item.namespace).removeprefix("reference/")
            elsewhere.append(f"[`{name}`]({page}#{item.name.lower()})")
    if constants:
        lines.append(f"## Dtypes and constants\n\n{', '.join(constants)}\n\n")
    if elsewhere:
        lines.append(f"## Described elsewhere\n\n{', '.join(elsewhere)}\n")
    return "".join(lines)


def _section(name: str, value: Any) -> str:
    section = f"## {name}\n\n```python\n{_signature(name, value)}\n```\n\n{_render(value)}"
    if inspect.isclass(value) and not issubclass(value, BaseException):
        section += "".join(_member(*member) for member in sorted(vars(value).items()) if not member[0].startswith("_"))
    return f"{section}\n"


def _member(name: str, member: Any) -> str:
    function = getattr(member, "__func__", member)
    if isinstance(member, property):
        heading = f"`{name}`"
    elif inspect.isfunction(function):
        heading = f"`{_signature(name, function)}`"
    else:
        return ""
    first = (inspect.getdoc(member) or "").partition("\n\n")[0].replace("\n", " ")
    return f"- {heading}{': ' if first else ''}{_escape(first)}\n"


class _Spelling(str):
    """An annotation that prints as it was written."""

    def __repr__(self) -> str:
        return str(self)


def _signature(name: str, value: Any) -> str:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    parameters = [
        each.replace(annotation=_Spelling(each.annotation)) if isinstance(each.annotation, str) else each
        for each in signature.parameters.values()
        if each.name != "self"
    ]
    result = signature.return_annotation
    return name + str(
        signature.replace(
            parameters=parameters, return_annotation=_Spelling(result) if isinstance(result, str) else result
        )
    )


def _parts(value: Any) -> Iterator[tuple[str, str]]:
    """Yield ("text" | "example", paragraph) of a docstring."""
    for paragraph in re.split(r"\n\s*\n", inspect.getdoc(value) or ""):
        yield "example" if paragraph.startswith(">>>") else "text", paragraph


def _render(value: Any) -> str:
    return "".join(
        f"```pycon\n{part}\n```\n\n" if kind == "example" else f"{_escape(part)}\n\n" for kind, part in _parts(value)
    )


def _escape(text: str) -> str:
    """Escape tags, emphasis and links of Markdown, outside of `code` and indented blocks."""
    if text.startswith("    "):
        return text
    pieces = text.split("`")
    pieces[::2] = [re.sub(r"([*_\[])", r"\\\1", piece).replace("<", "&lt;") for piece in pieces[::2]]
    return "`".join(pieces)
