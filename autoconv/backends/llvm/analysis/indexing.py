"""Index maps of gathers and scatters.

They give the operand that holds the positions, and map an element of the indexed part to its place in the whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from autoconv.backends.llvm.analysis.index_map import IndexMap, load, pick, variable, variables
from autoconv.backends.llvm.analysis.representation import elements_of, is_scalar, sizes
from autoconv.backends.llvm.ir.index_arith import Position, broadcast_index, is_known
from autoconv.graph.dimensions import plus, slice_length, times
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import Dimension, Shape, Symbol
from autoconv.ops.index_spec import INPUT, Aligned, At, Gather, NewAxis, Rest, Slice, align
from autoconv.ops.movement.indexing import indexed_shape


@dataclass(frozen=True, slots=True)
class Check:
    """A bounds check: positions must lie in [0, size), or with `wraps` in [-size, size).

    Only column `column` of vectors of length `depth` is checked.
    """

    positions: Value
    size: Position
    wraps: bool = False
    column: int = 0
    depth: int = 1


_SHORT = 8  # contiguous elements from which a scatter shares a loop: shorter runs are not vectorised


def is_indexed(node: Node) -> bool:
    """Return whether arrays of positions determine what the node reads or writes."""
    by = form_of_positions(node)
    if by == "items":
        return Gather() in node.attributes["spec"]
    if node.op.name == "gather":
        return not is_scalar(node.inputs[1].type)
    return bool(by)


def form_of_positions(node: Node) -> str:
    """Return the form of the positions, as in `Indexing.by`; empty for other nodes."""
    indexing = node.op.traits.indexing
    return indexing.by if indexing is not None else ""


def positions(node: Node) -> list[Value]:
    """Return the operands that hold positions, single numbers included."""
    indexing = node.op.traits.indexing
    assert indexing is not None
    end = None if indexing.by == "items" else indexing.positions + 1
    return list(node.inputs[indexing.positions : end])


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
    """Return the shape of the part that a subscript selects, in dimensions of the types."""
    x: Any = node.inputs[0].type
    operands: Any = tuple(value.type for value in positions(node))
    return indexed_shape(x.shape, operands, node.attributes["spec"], _sliced_size)


def _sliced_size(size: Dimension, bounds: Sequence[Any]) -> Dimension:
    return None if INPUT in bounds else slice_length(size, bounds, [])


def shares_loop(node: Node) -> bool:
    """Return whether a scatter joins the loop that computes its updates.

    A scatter of single elements is not vectorised, and neither would be the nodes that share its loop.
    """
    shape = part_shape(node)
    side_by_side = shape[_leading_rank(node) :]
    count = math.prod(side_by_side) if is_known(side_by_side) else _SHORT
    return shape == sizes(updates(node).type) and count >= _SHORT and updates(node) not in positions(node)


def _leading_rank(node: Node) -> int:
    """Return the number of dimensions of the part before the contiguous ones."""
    by = form_of_positions(node)
    if by == "vectors":
        return len(sizes(positions(node)[0].type)) - 1
    if by == "rows":
        return len(sizes(positions(node)[0].type)) + _axis(node) - int(node.attributes.get("batch_dims", 0))
    return len(part_shape(node)) if by == "along" else 1


def map_dimensions(node: Node) -> frozenset[int]:
    """Return the dimensions of the part that map one to one to dimensions of the whole.

    Different counts in such a dimension never address the same place.
    """
    by, rank = form_of_positions(node), len(part_shape(node))
    if by == "items":
        return frozenset()
    if by == "along":
        return frozenset(range(rank)) - {_axis(node)}
    batch = int(node.attributes.get("batch_dims", 0))
    return frozenset((*range(batch if by == "vectors" else _axis(node)), *range(_leading_rank(node), rank)))


def _axis(node: Node) -> int:
    return int(node.attributes.get("axis", 0)) % len(whole_shape(node))


# ---- bounds checks


def checks(node: Node) -> Iterator[Check]:
    """Yield the checks of the arrays of positions, in the order of the operands."""
    by, shape = form_of_positions(node), whole_shape(node)
    if by == "items":
        for entry, operands, axis, _ in _item_entries(node):
            if isinstance(entry, Gather) and not is_scalar(operands[0].type):
                yield Check(operands[0], shape[axis], wraps=True)
        return
    (index_value,) = positions(node)
    if by == "vectors":
        depth, batch = sizes(index_value.type)[-1], node.attributes.get("batch_dims", 0)
        for column in range(depth):
            yield Check(index_value, shape[batch + column], False, column, depth)
    else:
        yield Check(index_value, shape[_axis(node)])


def single_positions(node: Node) -> list[tuple[Value, int]]:
    """Return the operands of a subscript's single dynamic indices, with the dimensions that they index."""
    if form_of_positions(node) != "items":
        return []
    entries = _item_entries(node)
    return [(own[0], axis) for entry, own, axis, _ in entries if isinstance(entry, (At, Gather)) and _is_single(own)]


def _is_single(operands: Any) -> bool:
    """Return whether an entry's operand is a number; an array entry may be one where its rank was unknown."""
    return bool(operands) and is_scalar(operands[0].type)


# ---- from the part to the whole


def gather_map(node: Node) -> IndexMap:
    """Return the map from an index of the part to the index in the whole, with loaded positions."""
    by = form_of_positions(node)
    if by == "items":
        return _item_map(node)
    (index_value,) = positions(node)
    rank = len(sizes(index_value.type))
    whole = len(whole_shape(node))
    if by == "along":
        axis, own = _axis(node), variables(rank)
        return IndexMap((*own[:axis], load(index_value, own), *own[axis + 1 :]))
    batch = node.attributes.get("batch_dims", 0)
    if by == "vectors":
        depth, lead = sizes(index_value.type)[-1], rank - 1
        own = variables(lead + whole - batch - depth)
        vector = [load(index_value, (*own[:lead], column)) for column in range(depth)]
        return IndexMap((*own[:batch], *vector, *own[lead:]))
    axis = _axis(node)
    after = axis + rank - batch
    own = variables(after + whole - axis - 1)
    return IndexMap((*own[:axis], load(index_value, (*own[:batch], *own[axis:after])), *own[after:]))


def _item_entries(node: Node) -> list[Aligned]:
    return align(node.attributes["spec"], len(whole_shape(node)), positions(node))


def _item_map(node: Node) -> IndexMap:
    """Map an index through a subscript with arrays of positions.

    The arrays are broadcast against each other. Their dimensions stay in place if the arrays are adjacent, else they
    come first. Single indices among arrays count as arrays.
    """
    entries = _item_entries(node)
    shape: Any = node.inputs[0].type.shape  # type: ignore[union-attr]
    advanced = [i for i, part in enumerate(entries) if isinstance(part.entry, (At, Gather))]
    common = max(len(sizes(entries[i].operands[0].type)) for i in advanced if entries[i].operands)
    side_by_side = advanced == list(range(advanced[0], advanced[-1] + 1))
    before = 0
    if side_by_side:
        before = sum(1 if isinstance(part.entry, NewAxis) else part.width for part in entries[: advanced[0]])
    array_index = tuple(variable(before + d) for d in range(common))
    rest = (variable(d) for d in count() if not before <= d < before + common)
    picked = (pick(i) for i in count())
    index: list[Dimension] = []
    for entry, operands, axis, width in entries:
        if isinstance(entry, NewAxis):
            next(rest)
        elif isinstance(entry, Rest):
            index += [next(rest) for _ in range(width)]
        elif isinstance(entry, At):
            index.append(next(picked) if entry.index == INPUT else position_from_start(entry.index, shape[axis]))
        elif isinstance(entry, Gather) and _is_single(operands):
            index.append(next(picked))
        elif isinstance(entry, Gather):
            own = sizes(operands[0].type)
            index.append(load(operands[0], broadcast_index(array_index, own), shape[axis]))
        elif isinstance(entry, Slice):
            start, step = first_of(entry, shape[axis])
            index.append(plus(times(next(rest), step), start))
    return IndexMap(tuple(index))


def first_of(entry: Slice, size: Dimension) -> tuple[Dimension, int]:
    """Return the start and step of a slice with constant bounds."""
    if isinstance(size, int) and not isinstance(entry.start, Symbol) and not isinstance(entry.stop, Symbol):
        start, stop, step = slice(*entry.parts).indices(size)
        is_one = len(range(start, stop, step)) < 2 and abs(step) >= 2**31
        return start, 1 if is_one else step  # step times stride must not overflow
    start, step = entry.start, 1 if entry.step is None else entry.step
    if start is None:
        return (0, step) if step > 0 else (plus(size, -1), step)
    return position_from_start(start, size), step


def position_from_start(position: int | Symbol, size: Dimension) -> Dimension:
    """Normalise a position to count from the start."""
    if isinstance(position, Symbol):
        return position
    if isinstance(size, int):
        return position % size if size else 0
    return position if position >= 0 else plus(size, position)
