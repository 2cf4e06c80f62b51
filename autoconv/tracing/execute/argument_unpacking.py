"""Native entry for structured arguments: tuples, lists, dicts and dataclasses of numbers and arrays.

Python code is generated for the key of a trace. It compares the values that are part of the key, extracts the numbers
and arrays, and passes these to a native entry.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autoconv.runtime.support.attributes import slots_of
from autoconv.runtime.support.structure import Template, fields_of, loses_state
from autoconv.runtime.support.type_spec import TypeSpec
from autoconv.tracing.execute.call_form import pass_locations
from autoconv.tracing.guards.python_codegen import FunctionWriter, TooLong
from autoconv.tracing.key.array_keys import ArrayKey
from autoconv.tracing.key.cache_key import (
    Key,
    LeafKey,
    Literal,
    ObjectKey,
    OuterName,
    Reference,
    SharedKey,
    TensorKey,
    has_extra_attributes,
)

_CONTAINER_LIMIT = 64  # lists, dicts and dataclasses of a call, which must all be distinct objects
_PAIR_LIMIT = 6  # pairs of containers that are compared one by one; for more pairs a set of ids is made
_NATIVE_LITERAL_CLASSES = (bool, int, float, str, type(None))  # classes of literals that native code compares

Extract = Callable[..., tuple[Any, ...] | None]  # from the arguments to their leaves; None if they do not fit


@dataclasses.dataclass(frozen=True, slots=True)
class Unpacking:
    """The generated function that extracts leaves from arguments, and the leaves that it returns.

    `extract` takes `argument_count` positional arguments, then the containers of outer names and attributes. It returns
    the leaves at `positions` of the trace's key, or None if the arguments do not fit. `key` has these
    leaves, then the contents of written locations.
    """

    key: Key
    argument_count: int
    positions: tuple[int, ...]
    extract: Extract

    def wrap_entry(
        self,
        native_entry: Callable[..., Any],
        is_disjoint: Callable[[Sequence[Any]], bool],
        container_readers: Sequence[Callable[[], Any]],
    ) -> Callable[..., Any]:
        """Return an entry that extracts the leaves and calls the native entry.

        It returns NotImplemented for calls that omit arguments or do not fit, and for arrays that may overlap captured
        ones (see `is_disjoint`). The arguments are then bound in Python. `container_readers` return the
        containers of outer names and attributes.
        """
        extract = pass_locations(self.extract, container_readers) if container_readers else self.extract
        argument_count = self.argument_count

        def call_with_leaves(*arguments: Any) -> Any:
            if len(arguments) != argument_count:
                return NotImplemented
            leaves = extract(*arguments)
            return native_entry(*leaves) if leaves is not None and is_disjoint(leaves) else NotImplemented

        return call_with_leaves


def make_unpacking(key: Key, written_count: int) -> Unpacking | None:
    """Return the unpacking for a key; None if native code takes the arguments as they are, or the key is not supported.

    The last `written_count` leaves of the key are the contents of written locations.
    """
    templates_end = key.template_leaf_count
    containers_end = len(key.leaves) - written_count  # leaves of templates, then containers, then contents of locations
    leaves = key.leaves[:templates_end]
    is_flat = all(template is None for _, template in key.templates)
    if is_flat and not any(_needs_python_comparison(leaf) for leaf in leaves):
        return None
    positions = tuple(i for i, leaf in enumerate(leaves) if isinstance(leaf, _EXTRACTED_KINDS))
    is_supported = all(isinstance(leaf, (*_EXTRACTED_KINDS, Literal)) or _is_by_identity(leaf) for leaf in leaves)
    # Written lists and dicts must not be parts of the arguments; only the full binding checks that.
    leaves_that_may_share = key.leaves[containers_end:]
    if any(isinstance(name, OuterName) for name, _ in key.templates):
        # An opaque list whose items have a kind holds no container.
        leaves_that_may_share += tuple(leaf for leaf in leaves if not (isinstance(leaf, ObjectKey) and leaf.item_kind))
    if not is_supported or any(isinstance(leaf, ObjectKey) for leaf in leaves_that_may_share):
        return None
    extracted_leaves = tuple(leaves[i] for i in positions)
    extracted_leaves += tuple(leaf for leaf in key.leaves[templates_end:] if not isinstance(leaf, SharedKey))
    templates = tuple((f"leaf_{i}", None) for i in positions)
    positions += tuple(range(templates_end, containers_end))  # written containers, after the leaves of templates
    try:
        extract = _write_extraction(key, leaves)
    except (TooLong, _UnsupportedStructure):
        return None
    argument_count = sum(not isinstance(name, OuterName) for name, _ in key.templates)
    extracted_key = Key(templates, extracted_leaves, (), key.overlaps, key.arrays_as_memory, key.replica)
    return Unpacking(extracted_key, argument_count, positions, extract)


class _UnsupportedStructure(Exception):
    """A structure that indexing and attributes of builtin classes cannot read."""


_EXTRACTED_KINDS = (TensorKey, ArrayKey, ObjectKey)


def _needs_python_comparison(leaf: LeafKey) -> bool:
    """Return whether native code cannot compare an argument with the value in its key."""
    if isinstance(leaf, Literal):
        return type(leaf.value) not in _NATIVE_LITERAL_CLASSES
    return isinstance(leaf, Reference)


def _is_by_identity(leaf: LeafKey) -> bool:
    """Return whether a leaf is compared by the identity of an object that is alive."""
    return isinstance(leaf, Reference) and leaf.is_by_identity and leaf.get() is not None


def _write_extraction(key: Key, leaves: Sequence[LeafKey]) -> Extract:
    """Generate the function from the arguments of calls with this key to their leaves and written containers."""
    names = [f"a{i}" for i in range(len(key.templates))]
    shared_leaves = {f"s{i}": leaf for i, leaf in enumerate(key.leaves) if isinstance(leaf, SharedKey)}
    extraction = _ExtractionWriter(FunctionWriter(", ".join((*names, *shared_leaves))), iter(leaves))
    for name, (parameter, template) in zip(names, key.templates, strict=True):
        previous_count = len(extraction.containers)
        extraction.unpack(name, template)
        if parameter in key.written_arguments:
            extraction.written_containers += extraction.containers[previous_count:]
    containers, pairs = extraction.containers, list(itertools.combinations(extraction.containers, 2))
    if len(containers) > _CONTAINER_LIMIT:
        raise _UnsupportedStructure
    if len(pairs) > _PAIR_LIMIT:
        extraction.writer.require(f"len({{*map(id, ({', '.join(containers)}))}}) == {len(containers)}")
    else:
        for first, second in pairs:
            extraction.writer.require(f"{first} is not {second}")
    for name, leaf in shared_leaves.items():
        extraction.writer.require(f"{name} is {extraction.written_containers[leaf.position]}")
    expressions = (*extraction.leaf_expressions, *extraction.written_containers)
    return extraction.writer.finish(f"({''.join(f'{expression}, ' for expression in expressions)})")


class _ExtractionWriter:
    """Writer of the code of an `Extract` function, structure by structure.

    `leaf_expressions` are the expressions of the extracted leaves, `containers` the variables of the mutable
    structures, and `written_containers` the variables of those structures that are leaves as well.
    """

    def __init__(self, writer: FunctionWriter, leaves: Iterator[LeafKey]) -> None:
        self.writer = writer
        self._leaves = leaves
        self.leaf_expressions: list[str] = []
        self.containers: list[str] = []
        self.written_containers: list[str] = []

    def unpack(self, expression: str, template: Template | None) -> None:
        """Write the checks and extraction of a structure, which is the value of `expression`."""
        if template is None:
            self._unpack_leaf(expression, next(self._leaves))
            return
        variable, kind = self.writer.variable(expression), template.kind
        if isinstance(kind, TypeSpec):
            raise _UnsupportedStructure
        self.writer.require(f"type({variable}) is {self.writer.constant(kind)}")
        if kind is not tuple and not issubclass(kind, tuple):
            self.containers.append(variable)
        self._require_no_extra_attributes(variable, kind)
        if kind is dict and template.keys is not None:
            self.writer.require_keys(list(template.order or template.keys), variable)
            expressions = [f"{variable}[{self.writer.constant(key)}]" for key in template.keys]
        elif kind in (list, tuple) or (issubclass(kind, tuple) and kind.__getitem__ is tuple.__getitem__):
            self.writer.require(f"len({variable}) == {len(template.children)}")
            expressions = [f"{variable}[{i}]" for i in range(len(template.children))]
        elif dataclasses.is_dataclass(kind) and template.keys is not None:
            expressions = [f"{variable}.{name}" for name in template.keys]
        else:
            raise _UnsupportedStructure
        for part, child in zip(expressions, template.children, strict=True):
            self.unpack(part, child)

    def _require_no_extra_attributes(self, expression: str, kind: type) -> None:
        """Require that there are no attributes besides the fields (see `loses_state`)."""
        fields = set(fields_of(kind))
        if not {name for name, _ in slots_of(kind)} <= fields:
            raise _UnsupportedStructure
        if kind.__dictoffset__:
            loses_state_name = self.writer.constant(loses_state)
            self.writer.require(
                f"{expression}.__dict__.keys() <= {self.writer.constant(fields)} "
                f"or not {loses_state_name}({expression})"
            )

    def _unpack_leaf(self, expression: str, leaf: LeafKey) -> None:
        """Write the comparison of a value of the key, or the extraction of a leaf that native code takes."""
        if isinstance(leaf, _EXTRACTED_KINDS):
            self.leaf_expressions.append(expression if expression.isidentifier() else self.writer.variable(expression))
        elif isinstance(leaf, Literal):
            variable = self.writer.variable(expression)
            self.writer.require_equal(leaf.value, variable)
            if type(leaf.value) not in _NATIVE_LITERAL_CLASSES:
                self.writer.require(f"not {self.writer.constant(has_extra_attributes)}({variable})")
        elif isinstance(leaf, Reference):
            self.writer.require(f"{self.writer.constant(leaf.get)}() is {expression}")
