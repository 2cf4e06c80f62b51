"""Conservative alias analysis for mutable arrays: the base arrays of each view, and its extent in its base.

A base array, or root, is an argument or an array that a node allocates.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import parameter_sources, result_sources
from autoconv.graph.types import ArrayType, TensorType
from autoconv.ops.index_spec import At, NewAxis, Slice
from autoconv.ops.numpy.arrays import basic_entries

DISJOINT, EQUAL, OVERLAP, UNKNOWN = "disjoint", "equal", "overlap", "unknown"
_MAX_WORK = 200  # the most steps of np.shares_memory's exact algorithm


class Overlaps:
    """Alias facts of a graph and its regions.

    The lattice element of an array is the set of its possible base arrays, in which None stands for any array. The sets
    grow to a least fixed point along the flow of values into and out of regions. Arguments of `shared` array types
    count as one base array. Without `arguments_are_disjoint`, each argument may be any array.
    """

    def __init__(self, graph: Graph, arguments_are_disjoint: bool = True) -> None:
        self._roots: dict[Value, frozenset[Value | None]] = {}
        self._sources: dict[Value, list[Value]] = {}
        self._visited: set[Graph] = set()  # recursive functions are visited once
        shared_arrays = [value for value in graph.parameters if isinstance(value.type, ArrayType) and value.type.shared]
        for value in graph.parameters:
            if isinstance(value.type, ArrayType):
                base = shared_arrays[0] if value in shared_arrays else value
                self._roots[value] = frozenset({base if arguments_are_disjoint else None})
        self._collect_sources(graph)
        self._reach_fixed_point()

    def between(self, first: Value, second: Value) -> str:
        """Return the alias relation of two arrays.

        `DISJOINT`: no common elements; `EQUAL`: the same elements in the same order; `OVERLAP`: some common elements;
        `UNKNOWN`: any of these.
        """
        first_roots, second_roots = self._possible_roots(first), self._possible_roots(second)
        if None not in first_roots | second_roots and not first_roots & second_roots:
            return DISJOINT
        first_base, second_base = base_of(first), base_of(second)
        if first_base is not second_base:
            return UNKNOWN
        if first is second or _are_same_view(first, second):
            return EQUAL
        first_view, second_view = (_strided_view(value, first_base) for value in (first, second))
        if first_view is None or second_view is None:
            return UNKNOWN
        if first_view == second_view and first.dtype is second.dtype:
            return EQUAL
        return _overlap_relation(first_view, second_view, max(first.dtype.size, second.dtype.size))

    def roots(self, value: Value) -> frozenset[Value]:
        """Return the base arrays of a value: arguments, and arrays allocated by nodes."""
        return frozenset(root for root in self._possible_roots(value) if root is not None)

    def known_roots(self, value: Value) -> frozenset[Value] | None:
        """Return the base arrays of a value; None if it may be any array."""
        possible_roots = self._possible_roots(value)
        return None if None in possible_roots else self.roots(value)

    def all_roots(self) -> list[Value]:
        """Return the base arrays that are known to be distinct; no two of them have common elements."""
        return [value for value, roots in self._roots.items() if roots == {value}]

    def may_view(self, value: Value, array: Value) -> bool:
        """Return whether a value may be a view of `array`, a parameter of the graph."""
        roots = self._possible_roots(value)
        return None in roots or bool(roots & self._possible_roots(array))

    def _possible_roots(self, value: Value) -> frozenset[Value | None]:
        """Return the base arrays whose elements a value may have; None among them stands for any array."""
        return self._roots.get(base_of(value), frozenset({None}))

    def _collect_sources(self, graph: Graph) -> None:
        """Record the arrays that a graph and its regions allocate, and the values that flow into each other array."""
        if graph in self._visited:
            return
        self._visited.add(graph)
        for node in graph.nodes:
            for value in node.results:
                if not isinstance(value.type, ArrayType):
                    continue
                if node.op.traits.allocates:
                    self._roots[value] = frozenset({value})
                elif not node.op.traits.view:
                    self._sources.setdefault(value, []).extend(result_sources(node, value.index))
            for region in node.regions:
                for parameter in region.parameters:
                    if isinstance(parameter.type, ArrayType):
                        self._sources.setdefault(parameter, [])
                for parameter, outer in parameter_sources(node, region):
                    if isinstance(parameter.type, ArrayType):
                        self._sources[parameter].append(outer)
                self._collect_sources(region)

    def _reach_fixed_point(self) -> None:
        """Propagate base arrays along the flow of values, to a fixed point."""
        has_changed = True
        while has_changed:
            has_changed = False
            for value, sources in self._sources.items():
                roots = self._roots.get(value, frozenset())
                for source in sources:
                    roots |= self._roots.get(base_of(source), frozenset())
                if not sources:  # an array of unknown origin
                    roots |= {None}
                if roots != self._roots.get(value, frozenset()):
                    self._roots[value] = roots
                    has_changed = True


class Writes:
    """The arrays that a graph and its regions may write.

    Conservative: an op whose operands are arrays and whose results are not all tensors may keep and write the arrays.
    """

    def __init__(self, graph: Graph, overlaps: Overlaps) -> None:
        self._overlaps = overlaps
        self._targets: list[Value] = []
        self._writes_unknown_memory = False  # True if there are writes to memory that is not an operand
        self._unwritten: dict[Value, bool] = {}
        for node in graph.walk():
            self._record(node)

    def _record(self, node: Node) -> None:
        """Record the arrays that a node may write."""
        traits = node.op.traits
        arrays = [value for value in node.inputs if isinstance(value.type, ArrayType)]
        if traits.stores_into is not None:
            self._targets += arrays[:1]
        elif traits.allocates or traits.view or traits.control:
            return
        elif arrays and not _only_reads(node):
            self._targets += arrays
        elif not arrays and node.effects & Effects.WRITE:
            self._writes_unknown_memory = True

    def is_unwritten(self, array: Value) -> bool:
        """Return whether the elements of an array are never written, not even through aliases."""
        if array not in self._unwritten:
            relations = (self._overlaps.between(target, array) for target in self._targets)
            are_disjoint = all(relation == DISJOINT for relation in relations)
            self._unwritten[array] = are_disjoint and not self._writes_unknown_memory
        return self._unwritten[array]


def _only_reads(node: Node) -> bool:
    """Return whether a node writes nothing, and returns tensors only, so that it cannot keep an array."""
    return not node.effects & Effects.WRITE and all(isinstance(value.type, TensorType) for value in node.results)


def written_parameters(graph: Graph) -> list[int]:
    """Return the positions of the array parameters that stores of the graph may write."""
    array_positions = [i for i, value in enumerate(graph.parameters) if isinstance(value.type, ArrayType)]
    written_arrays = [node.inputs[0] for node in graph.walk() if node.op.traits.stores_into is not None]
    if not array_positions or not written_arrays:
        return []
    overlaps = Overlaps(graph)
    return [
        i for i in array_positions if any(overlaps.may_view(array, graph.parameters[i]) for array in written_arrays)
    ]


def base_of(value: Value) -> Value:
    """Return the base of a view, through views of views."""
    while value.node is not None and value.node.op.traits.view:
        value = value.node.inputs[0]
    return value


def _are_same_view(first: Value, second: Value) -> bool:
    """Return whether two views are made by the same ops from the same values."""
    while first is not second:
        first_node, second_node = first.node, second.node
        if first_node is None or second_node is None:
            return False
        if first_node.op is not second_node.op or not first_node.op.traits.view:
            return False
        if first_node.attributes != second_node.attributes or first_node.inputs[1:] != second_node.inputs[1:]:
            return False
        first, second = first_node.inputs[0], second_node.inputs[0]
    return True


class _StridedView(NamedTuple):
    """A view of a base: the offset of its first element, its shape and strides. Offset and strides are in bytes."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def _strided_view(value: Value, base: Value) -> _StridedView | None:
    """Return the offset, shape and strides of `value`, a view of `base`; None if one of these is unknown."""
    type_ = value.type
    if not isinstance(type_, ArrayType) or None in type_.strides:
        return None
    if not all(isinstance(size, int) for size in type_.shape):
        return None
    if value is base:
        return _StridedView(0, type_.shape, type_.strides)  # type: ignore[arg-type]
    node = value.node
    assert node is not None
    source = _strided_view(node.inputs[0], base)
    if source is None:
        return None
    offset = source.offset
    if node.op.name == "array_strided":
        return _StridedView(offset + node.attributes["offset"], type_.shape, type_.strides)  # type: ignore[arg-type]
    if len(node.inputs) > 1 or 0 in source.shape:  # further inputs are positions known only at run time
        return None
    if node.op.name == "array_view":
        offset += _view_offset(node, source)
    elif node.op.name == "array_part" and node.attributes["part_name"] == "imag":
        offset += type_.dtype.size
    elif node.op.name == "array_diagonal":
        diagonal = node.attributes["offset"]
        column, row = max(diagonal, 0), max(-diagonal, 0)  # of the first element
        offset += row * source.strides[-2] + column * source.strides[-1] if type_.shape[-1] else 0
    return _StridedView(offset, type_.shape, type_.strides)  # type: ignore[arg-type]


def _view_offset(node: Node, source: _StridedView) -> int:
    """Return the bytes from the start of the viewed array to that of the view."""
    offset = 0
    for entry, axis in basic_entries(len(source.shape), node.attributes["spec"]):
        if isinstance(entry, NewAxis):  # `axis` may be no dimension of the viewed array
            continue
        size, stride = source.shape[axis], source.strides[axis]
        if isinstance(entry, At):
            offset += entry.index % size * stride
        elif isinstance(entry, Slice):
            start, stop, step = slice(*entry.parts).indices(size)
            offset += start * stride if len(range(start, stop, step)) else 0
    return offset


def _overlap_relation(first: _StridedView, second: _StridedView, element_size: int) -> str:
    """Return the alias relation of two views of one array; `element_size`, in bytes, is that of the wider dtype."""
    first_range, second_range = (_byte_range(view, element_size) for view in (first, second))
    if first_range is None or second_range is None:
        return DISJOINT
    (first_low, first_high), (second_low, second_high) = first_range, second_range
    if first_high <= second_low or second_high <= first_low:
        return DISJOINT
    low = min(first_low, second_low)
    memory = np.empty(max(first_high, second_high) - low, np.uint8)
    element_dtype = np.dtype((np.void, element_size))
    first_array, second_array = (
        np.ndarray(shape, element_dtype, memory, offset - low, strides) for offset, shape, strides in (first, second)
    )
    max_work: Any = _MAX_WORK
    try:
        return OVERLAP if np.shares_memory(first_array, second_array, max_work) else DISJOINT
    except np.exceptions.TooHardError:
        return UNKNOWN


def _byte_range(view: _StridedView, element_size: int) -> tuple[int, int] | None:
    """Return the offsets in the base of the first byte and of the end; None for an array without elements."""
    offset, shape, strides = view
    if 0 in shape:
        return None
    extents = [(count - 1) * stride for count, stride in zip(shape, strides, strict=True)]
    first_byte = offset + sum(extent for extent in extents if extent < 0)
    last_element = offset + sum(extent for extent in extents if extent > 0)
    return first_byte, last_element + element_size
