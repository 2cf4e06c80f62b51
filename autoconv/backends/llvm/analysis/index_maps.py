"""Index maps of views: from an index of a node's result to the index in its source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from autoconv.backends.llvm.analysis.index_map import (
    IndexMap,
    Padded,
    Point,
    Remainder,
    Wrapped,
    pick,
    reshape_map,
    variable,
    variables,
)
from autoconv.backends.llvm.analysis.indexing import (
    gather_map,
    has_position_arrays,
    position_from_start,
    start_and_step,
)
from autoconv.backends.llvm.analysis.representation import sizes
from autoconv.backends.llvm.analysis.symbolic_sizes import write_dimension
from autoconv.backends.llvm.ir.index_arith import Index, Position, is_below, plus, times
from autoconv.backends.llvm.ir.scalars import Element, Pair
from autoconv.graph import dimensions
from autoconv.graph.dtypes import DType, bool_, int64
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import Dimension, Symbol
from autoconv.lazy_dataclass import dataclass
from autoconv.ops.index_spec import INPUT, At, NewAxis, Rest, Slice, align


@dataclass(frozen=True, slots=True)
class SourceElement:
    """The element of an array at an index, to which `function` is applied if it is not None."""

    array: Value
    index: Index
    function: Callable[[Element], Element] | None = None


# The source of an element of a view: the element itself if it needs no array, else an element of an array.
ElementSource = Element | SourceElement

# Views with piecewise affine index maps: a loop over such a view is split where the next piece begins.
PIECEWISE_VIEWS = frozenset({"roll", "pad"})

# Registered functions (b, node, index) -> source of an element, for views that no index map describes, by op name.
ELEMENT_SOURCES: dict[str, Callable[[Any, Node, Index], ElementSource]] = {}


def write_element_source(b: Any, node: Node, index: Index, picks: Sequence[Position]) -> ElementSource:
    """Write instructions for the element at `index` of a view, and return its source.

    `picks` are the view's single dynamic indices, normalised. `b.number(value)` gives a scalar operand, and
    `b.at(value, index)` an element of an array operand.
    """
    name = node.op.name
    if name == "shape":
        return _write_dimension_at(b, node, index)
    if name in ("zeros_like", "ones_like", "shape_placeholder"):
        return _write_constant(b, int(name == "ones_like"), node.results[0].dtype)
    if name == "fill":
        return SourceElement(node.inputs[0], ())
    if name == "one_hot":
        return _write_one_hot_source(b, node, index)
    if name == "pad":
        return _write_padded_source(b, node, index)
    if name in ELEMENT_SOURCES:
        return ELEMENT_SOURCES[name](b, node, index)
    source = node.inputs[0]
    if name in ("real", "imag"):
        return SourceElement(source, index, _real if name == "real" else _imag)
    mapping = index_map(node)
    assert mapping is not None, name
    return SourceElement(source, mapping.write(b, index, picks))


def _write_constant(b: Any, number: int, dtype: DType) -> Element:
    """Return a constant element; a pair of parts for a complex dtype, as of a `shape_placeholder` with open sizes."""
    if not dtype.is_complex:
        return b.constant(number, dtype)  # type: ignore[no-any-return]
    parts = (b.constant(part, dtype.real_dtype) for part in (number, 0))
    return b.pair(*parts)  # type: ignore[no-any-return]


def _write_dimension_at(b: Any, node: Node, index: Index) -> ElementSource:
    """Return an element of the vector that the op `shape` makes."""
    dtype = node.results[0].dtype
    shape_elements = [b.cast(b.wrap(int64, str(size)), dtype) for size in sizes(node.inputs[0].type)]
    (position,) = index
    if isinstance(position, int):
        return shape_elements[position]  # type: ignore[no-any-return]
    result = shape_elements[0]
    for i, shape_element in enumerate(shape_elements[1:], 1):
        result = b.select(b.wrap(int64, position).same(i), shape_element, result)
    return result  # type: ignore[no-any-return]


def _real(element: Element) -> Element:
    """Return the real part of a complex element."""
    assert isinstance(element, Pair)
    return element.real


def _imag(element: Element) -> Element:
    """Return the imaginary part of a complex element."""
    assert isinstance(element, Pair)
    return element.imag


def _write_one_hot_source(b: Any, node: Node, index: Index) -> ElementSource:
    """Write the element of a one-hot array: one of two numbers, chosen by an index."""
    axis = node.attributes.get("axis", -1) % len(index)
    indices = node.inputs[0]

    def select_value(element: Element) -> Element:
        position = b.wrap(int64, str(index[axis]))
        is_hot = b.cast(element, int64).same(position)
        return b.select(is_hot, *(b.number(value) for value in node.inputs[1:3]))

    return SourceElement(indices, (*index[:axis], *index[axis + 1 :]), select_value)


def _write_padded_source(b: Any, node: Node, index: Index) -> ElementSource:
    """Return an element of the source within its bounds, which the padding constant replaces outside of them."""
    source, out = node.inputs[0], b.out
    constant = b.constant(node.attributes.get("constant_values", 0), source.dtype)
    if 0 in sizes(source.type):
        return constant  # type: ignore[no-any-return]
    is_all_inside = ""
    source_index: list[Position] = []
    for position, size, (before, after) in zip(index, sizes(source.type), node.attributes["paddings"], strict=True):
        if not before and not after:
            source_index.append(position)
            continue
        source_position = plus(out, position, times(out, write_dimension(out, before), -1))
        is_before_start, is_before_end = is_below(out, source_position, 0), is_below(out, source_position, size)
        if is_before_start is True or is_before_end is False:
            return constant  # type: ignore[no-any-return]
        if is_before_start is False and is_before_end is True:
            source_index.append(source_position)
            continue
        is_inside = out.new(f"icmp ult i64 {source_position}, {size}")
        source_index.append(out.new(f"select i1 {is_inside}, i64 {source_position}, i64 0"))
        is_all_inside = out.new(f"and i1 {is_all_inside}, {is_inside}") if is_all_inside else is_inside
    if not is_all_inside:
        return SourceElement(source, tuple(source_index))

    def select_inside(element: Element) -> Element:
        return b.select(b.wrap(bool_, is_all_inside), element, constant)  # type: ignore[no-any-return]

    return SourceElement(source, tuple(source_index), select_inside)


# ---- index maps of the ops


def index_map(node: Node) -> IndexMap | None:
    """Return the map from an index of the node's result to the index in its first operand; None if there is none."""
    if has_position_arrays(node):
        return gather_map(node)
    return INDEX_MAP_BY_OP[node.op.name](node) if node.op.name in INDEX_MAP_BY_OP else None


def _shapes(node: Node) -> tuple[Point, Point]:
    """Return the shapes of the source and the result, in dimensions."""
    source, result = node.inputs[0].type.shape, node.results[0].type.shape  # type: ignore[union-attr]
    assert source is not None and result is not None
    return source, result


def _identity(node: Node) -> IndexMap:
    return IndexMap(variables(len(_shapes(node)[0])))


def _transpose(node: Node) -> IndexMap:
    rank = len(_shapes(node)[0])
    perm = node.attributes.get("perm")
    order = range(rank)[::-1] if perm is None else [axis % rank for axis in perm]
    return IndexMap(tuple(variable(order.index(axis)) for axis in range(rank)))


def _matrix_transpose(node: Node) -> IndexMap:
    index = variables(len(_shapes(node)[0]))
    return IndexMap((*index[:-2], index[-1], index[-2]))


def _reverse(node: Node) -> IndexMap:
    shape = _shapes(node)[0]
    index: list[Dimension] = list(variables(len(shape)))
    for axis in {axis % len(shape) for axis in node.attributes["axis"]}:
        index[axis] = dimensions.plus(dimensions.times(index[axis], -1), dimensions.plus(shape[axis], -1))
    return IndexMap(tuple(index))


def _roll(node: Node) -> IndexMap:
    """Map an index through a rotation: positions shifted below the start wrap around."""
    shape = _shapes(node)[0]
    index: list[Dimension] = list(variables(len(shape)))
    for shift, axis in zip(node.attributes["shift"], node.attributes["axis"], strict=True):
        size = shape[axis]
        distance = Remainder.of(-shift, size) if isinstance(size, Symbol) else -shift % size if size else 0
        index[axis] = Wrapped.of(dimensions.plus(index[axis], distance), size)
    return IndexMap(tuple(index))


def _sliding_windows(node: Node) -> IndexMap:
    rank = len(_shapes(node)[0])
    index: list[Dimension] = list(variables(rank))
    for window_axis, axis in enumerate(node.attributes["axes"], rank):
        index[axis % rank] = dimensions.plus(index[axis % rank], variable(window_axis))
    return IndexMap(tuple(index))


def _padding(node: Node) -> IndexMap:
    """Return the map of `pad`, whose positions before and after the source are outside of it."""
    source, paddings = _shapes(node)[0], node.attributes["paddings"]
    return IndexMap(
        tuple(
            Padded.of(dimensions.plus(position, dimensions.times(before, -1)), size) if before or after else position
            for position, size, (before, after) in zip(variables(len(source)), source, paddings, strict=True)
        )
    )


def _reshape(node: Node) -> IndexMap:
    source, result = _shapes(node)
    return reshape_map(result, source, (sizes(node.results[0].type), sizes(node.inputs[0].type)))


def _broadcast(node: Node) -> IndexMap:
    source, result = _shapes(node)
    leading_rank = len(result) - len(source)
    return IndexMap(tuple(0 if size == 1 else variable(axis) for axis, size in enumerate(source, leading_rank)))


def item_map(node: Node) -> IndexMap:
    """Return the index map of a subscript of integers, slices and new axes, without arrays of positions."""
    shape = node.inputs[0].type.shape  # type: ignore[union-attr]
    assert shape is not None
    variable_numbers, pick_numbers = count(), count()
    index: list[Dimension] = []
    for entry, _, axis, width in align(node.attributes["spec"], len(shape)):
        if isinstance(entry, NewAxis):
            next(variable_numbers)
        elif isinstance(entry, Rest):
            index += [variable(next(variable_numbers)) for _ in range(width)]
        elif isinstance(entry, At):
            is_dynamic = entry.index == INPUT
            index.append(pick(next(pick_numbers)) if is_dynamic else position_from_start(entry.index, shape[axis]))
        elif isinstance(entry, Slice):
            start, step = start_and_step(entry, shape[axis])
            index.append(dimensions.plus(dimensions.times(variable(next(variable_numbers)), step), start))
    return IndexMap(tuple(index))


def _gathered_row(node: Node) -> IndexMap:
    rank = len(_shapes(node)[0])
    axis = node.attributes.get("axis", 0) % rank
    index = variables(rank - 1)
    return IndexMap((*index[:axis], pick(0), *index[axis:]))


def _one_hot_map(node: Node) -> IndexMap:
    rank = len(_shapes(node)[1])
    axis, index = node.attributes.get("axis", -1) % rank, variables(rank)
    return IndexMap((*index[:axis], *index[axis + 1 :]))


INDEX_MAP_BY_OP: dict[str, Callable[[Node], IndexMap]] = {
    "transpose": _transpose, "matrix_transpose": _matrix_transpose, "reverse": _reverse, "reshape": _reshape,
    "reshape_like": _reshape, "expand_dims": _reshape, "squeeze": _reshape, "broadcast_to": _broadcast,
    "broadcast_to_shape_of": _broadcast, "get_item": item_map, "set_item": item_map, "add_at_item": item_map,
    "gather": _gathered_row, "roll": _roll, "pad": _padding, "real": _identity, "imag": _identity,
    "set_diag": _identity, "matrix_band_part": _identity, "one_hot": _one_hot_map,
    "sliding_windows": _sliding_windows,
}  # fmt: skip
