"""Index maps of gathers and scatters.

A node reads or writes a *part* of an array, which is called the *whole*. Operands hold the positions of the part in the
whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from autoconv.backends.llvm.analysis.index_map import IndexMap, loaded_position, pick, variable, variables
from autoconv.backends.llvm.analysis.representation import elements_of, is_scalar, sizes
from autoconv.backends.llvm.ir.index_arith import Position, broadcast_index, is_known
from autoconv.graph.dimensions import plus, slice_length, times
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import Dimension, Shape, Symbol
from autoconv.lazy_dataclass import dataclass
from autoconv.ops.index_spec import INPUT, AlignedEntry, At, Gather, NewAxis, Rest, Slice, align
from autoconv.ops.movement.indexing import indexed_shape


@dataclass(frozen=True, slots=True)
class BoundsCheck:
    """The bounds check of an array of positions: they must lie in [0, size), or in [-size, size) if `wraps` is true.

    If the positions are vectors of length `vector_size`, only their entry number `column` is checked.
    """

    positions: Value
    size: Position
    wraps: bool = False
    column: int = 0
    vector_size: int = 1


_MAX_UNSTORED_WINDOWS = 3  # number of windows up to which loops read a padded array without storing it first
_MIN_LONG_PART = 128  # least number of elements of an updated part whose loops are a function of their own
_MIN_RUN_LENGTH = 8  # least number of contiguous elements with which a scatter shares a loop, as it is vectorised


def has_position_arrays(node: Node) -> bool:
    """Return whether arrays of positions determine what the node reads or writes."""
    form = form_of_positions(node)
    if form == "items":
        return Gather() in node.attributes["spec"]
    if node.op.name == "gather":
        return not is_scalar(node.inputs[1].type)
    return bool(form)


def form_of_positions(node: Node) -> str:
    """Return the form of the positions, as in `Indexing.form`; empty for other nodes."""
    indexing = node.op.traits.indexing
    return indexing.form if indexing is not None else ""


def positions(node: Node) -> list[Value]:
    """Return the operands that hold positions, single numbers included."""
    indexing = node.op.traits.indexing
    assert indexing is not None
    end = None if indexing.form == "items" else indexing.first_operand + 1
    return list(node.inputs[indexing.first_operand : end])


def updates(node: Node) -> Value:
    """Return the operand that a scatter writes."""
    scatter = node.op.traits.scatter
    assert scatter is not None
    return node.inputs[scatter.updates]


def whole_shape(node: Node) -> tuple[int, ...]:
    """Return the shape of the indexed array: of the source, or of the result of a scatter."""
    return sizes(elements_of(node.inputs[0].type if node.op.traits.scatter is None else node.results[0].type))


def part_shape(node: Node) -> tuple[int, ...]:
    """Return the shape of the part that is read or written, the iteration space of the node's loops."""
    if node.op.traits.scatter is None and node.results:
        return sizes(node.results[0].type)
    if form_of_positions(node) != "items":
        return sizes(updates(node).type)
    shape = item_shape(node)
    assert shape is not None and None not in shape
    return sizes(elements_of(node.inputs[0].type).with_shape(shape))


def item_shape(node: Node) -> Shape:
    """Return the shape of the part that a subscript selects, with symbols for open dimensions.

    It is None, or a size in it is, if a bound of a slice is an operand.
    """
    x: Any = node.inputs[0].type
    operands: Any = tuple(value.type for value in positions(node))
    return indexed_shape(x.shape, operands, node.attributes["spec"], _sliced_size)


def updates_in_routine(node: Node, lowering_class: str) -> bool:
    """Return whether a node updates an item of so many elements that its loops should be a separate function."""
    shape = item_shape(node) if lowering_class == "update" else None
    return shape is not None and is_known(shape) and math.prod(shape) >= _MIN_LONG_PART  # type: ignore[arg-type]


def _sliced_size(size: Dimension, bounds: Sequence[Any]) -> Dimension:
    """Return the length of a slice; None if a bound is an operand."""
    return None if INPUT in bounds else slice_length(size, bounds, [])


def shares_loop(node: Node) -> bool:
    """Return whether a scatter joins the loop that computes its updates.

    A scatter of single elements is not vectorised, and neither would be the nodes that share its loop. An
    operand that is both the updates and the positions has to be in memory before the loop, since its positions are
    checked there; so the scatter does not join.
    """
    shape = part_shape(node)
    run_shape = shape[_leading_rank(node) :]
    run_length = math.prod(run_shape) if is_known(run_shape) else _MIN_RUN_LENGTH
    return shape == sizes(updates(node).type) and run_length >= _MIN_RUN_LENGTH and updates(node) not in positions(node)


def _leading_rank(node: Node) -> int:
    """Return the number of dimensions of the part before the contiguous ones."""
    form = form_of_positions(node)
    if form == "vectors":
        return len(sizes(positions(node)[0].type)) - 1
    if form == "rows":
        return len(sizes(positions(node)[0].type)) + _axis(node) - int(node.attributes.get("batch_dims", 0))
    # "along" has no contiguous dimension. For "items", at least the first dimension comes from positions.
    return len(part_shape(node)) if form == "along" else 1


def one_to_one_dimensions(node: Node) -> frozenset[int]:
    """Return the dimensions of the part that map one to one to dimensions of the whole.

    Iterations that differ in such a dimension never write the same element.
    """
    form, rank = form_of_positions(node), len(part_shape(node))
    if form == "items":
        return frozenset()
    if form == "along":
        return frozenset(range(rank)) - {_axis(node)}
    batch_rank = int(node.attributes.get("batch_dims", 0))
    return frozenset((*range(batch_rank if form == "vectors" else _axis(node)), *range(_leading_rank(node), rank)))


def _axis(node: Node) -> int:
    """Return the dimension of the whole that a node's `axis` names, never negative."""
    return int(node.attributes.get("axis", 0)) % len(whole_shape(node))


# ---- bounds checks


def bounds_checks(node: Node) -> Iterator[BoundsCheck]:
    """Yield the checks of the arrays of positions, in the order of the operands."""
    form, shape = form_of_positions(node), whole_shape(node)
    if form == "items":
        for entry, operands, axis, _ in _item_entries(node):
            if isinstance(entry, Gather) and not is_scalar(operands[0].type):
                yield BoundsCheck(operands[0], shape[axis], wraps=True)
        return
    (index_value,) = positions(node)
    if form == "vectors":
        vector_size, batch_rank = sizes(index_value.type)[-1], node.attributes.get("batch_dims", 0)
        for column in range(vector_size):
            yield BoundsCheck(index_value, shape[batch_rank + column], column=column, vector_size=vector_size)
    else:
        yield BoundsCheck(index_value, shape[_axis(node)])


def single_positions(node: Node) -> list[tuple[Value, int]]:
    """Return the operands of a subscript's single dynamic indices, with the dimensions that they index."""
    if form_of_positions(node) != "items":
        return []
    entries = _item_entries(node)
    single_entries = (item for item in entries if isinstance(item.entry, (At, Gather)) and _is_single(item.operands))
    return [(item.operands[0], item.axis) for item in single_entries]


def _is_single(operands: Any) -> bool:
    """Return whether an entry's operand is a number; that of a Gather may be, if its rank was unknown when recorded."""
    return bool(operands) and is_scalar(operands[0].type)


# ---- from the part to the whole


def gather_map(node: Node) -> IndexMap:
    """Return the map from an index of the part to the index in the whole, with loaded positions."""
    form = form_of_positions(node)
    if form == "items":
        return _item_map(node)
    (index_value,) = positions(node)
    rank = len(sizes(index_value.type))
    whole_rank = len(whole_shape(node))
    if form == "along":
        axis, index = _axis(node), variables(rank)
        return IndexMap((*index[:axis], loaded_position(index_value, index), *index[axis + 1 :]))
    batch_rank = node.attributes.get("batch_dims", 0)
    if form == "vectors":
        vector_size, leading_rank = sizes(index_value.type)[-1], rank - 1
        index = variables(leading_rank + whole_rank - batch_rank - vector_size)
        vector = [loaded_position(index_value, (*index[:leading_rank], column)) for column in range(vector_size)]
        return IndexMap((*index[:batch_rank], *vector, *index[leading_rank:]))
    axis = _axis(node)
    next_axis = axis + rank - batch_rank
    index = variables(next_axis + whole_rank - axis - 1)
    position = loaded_position(index_value, (*index[:batch_rank], *index[axis:next_axis]))
    return IndexMap((*index[:axis], position, *index[next_axis:]))


def _item_entries(node: Node) -> list[AlignedEntry]:
    """Return the entries of a subscript with their operands and dimensions."""
    return align(node.attributes["spec"], len(whole_shape(node)), positions(node))


def _item_map(node: Node) -> IndexMap:
    """Map an index through a subscript with arrays of positions.

    The arrays are broadcast against each other. Their dimensions stay in place if the arrays are adjacent, else they
    come first. Single indices among arrays count as arrays.
    """
    entries = _item_entries(node)
    shape: Any = node.inputs[0].type.shape  # type: ignore[union-attr]
    array_entry_numbers = [i for i, item in enumerate(entries) if isinstance(item.entry, (At, Gather))]
    array_rank = max(len(sizes(entries[i].operands[0].type)) for i in array_entry_numbers if entries[i].operands)
    is_adjacent = array_entry_numbers == list(range(array_entry_numbers[0], array_entry_numbers[-1] + 1))
    rank_before = 0
    if is_adjacent:
        leading_entries = entries[: array_entry_numbers[0]]
        rank_before = sum(1 if isinstance(item.entry, NewAxis) else item.width for item in leading_entries)
    array_axes = range(rank_before, rank_before + array_rank)
    array_index = tuple(map(variable, array_axes))
    other_variables = (variable(axis) for axis in count() if axis not in array_axes)
    single_indices = (pick(i) for i in count())  # positions computed at run time, numbered in the order of entries
    index: list[Dimension] = []
    for entry, operands, axis, width in entries:
        if isinstance(entry, NewAxis):
            next(other_variables)
        elif isinstance(entry, Rest):
            index += [next(other_variables) for _ in range(width)]
        elif isinstance(entry, At):
            is_dynamic = entry.index == INPUT
            index.append(next(single_indices) if is_dynamic else position_from_start(entry.index, shape[axis]))
        elif isinstance(entry, Gather) and _is_single(operands):
            index.append(next(single_indices))
        elif isinstance(entry, Gather):
            array_shape = sizes(operands[0].type)
            index.append(loaded_position(operands[0], broadcast_index(array_index, array_shape), shape[axis]))
        elif isinstance(entry, Slice):
            start, step = start_and_step(entry, shape[axis])
            index.append(plus(times(next(other_variables), step), start))
    return IndexMap(tuple(index))


def start_and_step(entry: Slice, size: Dimension) -> tuple[Dimension, int]:
    """Return the start and step of a slice whose bounds are no operands, and are within the dimension if it is open."""
    if isinstance(size, int) and not isinstance(entry.start, Symbol) and not isinstance(entry.stop, Symbol):
        start, stop, step = slice(*entry.parts).indices(size)
        is_step_unused = len(range(start, stop, step)) < 2 and abs(step) >= 2**31
        return start, 1 if is_step_unused else step  # step times stride must not overflow
    start, step = entry.start, 1 if entry.step is None else entry.step
    if start is None:
        return (0, step) if step > 0 else (plus(size, -1), step)
    return position_from_start(start, size), step


def position_from_start(position: int | Symbol, size: Dimension) -> Dimension:
    """Return a position that counts from the start, for one that may count from the end."""
    if isinstance(position, Symbol):
        return position
    if isinstance(size, int):
        return position % size if size else 0
    return position if position >= 0 else plus(size, position)


def is_better_stored(node: Node, readers: Sequence[Node]) -> bool:
    """Return whether reading a view through its index map repeats work, or cuts loops into many pieces.

    Each window of a padded array cuts the loops that read it at two more positions; a stored array has no pieces.
    """
    if has_position_arrays(node):
        return len(readers) > 1
    rank = len(sizes(node.results[0].type))
    window_specs = [reader.attributes["spec"] for reader in readers if reader.op.name == "get_item"]
    # Windows along the last dimension.
    window_count = len({spec[-1] for spec in window_specs if len(spec) == rank})
    return node.op.name == "pad" and window_count > _MAX_UNSTORED_WINDOWS
