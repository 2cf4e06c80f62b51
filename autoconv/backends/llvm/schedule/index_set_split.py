"""Split innermost loops where a piece of a rotated or padded array begins, so that each part vectorises.

A piece is a range of the result's indices within which consecutive indices are consecutive in the source as well.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence

from autoconv.backends.llvm.analysis.contiguity import base_of
from autoconv.backends.llvm.analysis.index_map import CounterRange, Loaded, OpenCounterRange, Point
from autoconv.backends.llvm.analysis.index_maps import index_map
from autoconv.backends.llvm.analysis.indexing import gather_map, updates
from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar, sizes
from autoconv.backends.llvm.ir.index_arith import Position, broadcast_index
from autoconv.backends.llvm.schedule.plan import Plan
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import Dimension, Symbol

LOOP_COUNTER = Symbol("%count")  # stands for the counter of the loop that is split
VECTOR_BYTES = 64  # bytes of the longest supported vectors
# Longest range, in elements, that gets an overlapping last vector: in longer ones the remainder takes no notable time.
_MAX_OVERLAPPED_LENGTH = 1024
_MAX_PIECES = 6  # most pieces of a loop, each of which is written separately


def split_iterations(size: int, cuts: Callable[[int, int], set[int]]) -> list[tuple[int, int]]:
    """Return ranges (first, end) of the iterations below `size`, each of which reads from one piece of each array.

    `cuts(low, high)` returns the iterations from `low` to `high` at which a piece begins. The result is the full range
    if there would be more than `_MAX_PIECES`.
    """
    ranges, worklist = [], [(0, size)]
    while worklist:
        low, high = worklist.pop()
        inner_cuts = sorted(cut for cut in cuts(low, high) if low < cut < high)
        if not inner_cuts:
            ranges.append((low, high))
        else:
            worklist += list(zip([low, *inner_cuts], [*inner_cuts, high], strict=True))
        if len(ranges) + len(worklist) > _MAX_PIECES:
            return [(0, size)]
    return sorted(ranges)


def split_by_vectors(low: int, high: int, lanes: int) -> Iterator[tuple[int, int]]:
    """Split a range whose length is no multiple of `lanes` into full vectors, and a last vector that overlaps these.

    Precondition: an element that is computed twice gets the same value.
    """
    remainder = (high - low) % lanes
    if not remainder or not lanes < high - low <= _MAX_OVERLAPPED_LENGTH:
        yield low, high
    else:
        yield low, high - remainder
        yield high - lanes, high


def cut_iterations(
    plan: Plan, nodes: Sequence[Node], index: Point, counter_range: CounterRange, in_memory: Container[Value]
) -> set[int]:
    """Return the iterations in the counter's range at which a piece of an array begins that the nodes read at `index`.

    `in_memory` are the values that the loops read from memory.
    """
    record_pieces(plan, nodes, index, counter_range, in_memory)
    return counter_range.cuts


def record_pieces(
    plan: Plan, nodes: Sequence[Node], index: Point, counter_range: CounterRange | OpenCounterRange,
    in_memory: Container[Value],
) -> None:
    """Apply the index maps of all values that the nodes read at `index`; `counter_range` records where pieces begin."""
    visitor = _ReadVisitor(plan, counter_range, in_memory)
    for node in nodes:
        lowering_class = plan.classes[node]
        if lowering_class == "scatter":
            visitor.visit_operand(updates(node), index)
            visitor.visit_positions(gather_map(node).apply(index) or ())
        elif lowering_class in ("pad", "reduce"):
            visitor.visit(node.inputs[0], index)
        else:
            visitor.visit(node.results[0], index)


def loop_size(plan: Plan, nodes: Sequence[Node], shape: Sequence[Position], depth: int) -> Dimension:
    """Return the size of the dimension over which the loop at depth `depth` runs; None if it is not known."""
    for node in nodes:
        value = node.inputs[0] if plan.classes[node] in ("pad", "reduce") else node.results[0]
        if plan.classes[node] != "scatter" and is_dense(value.type) and sizes(value.type) == tuple(shape):
            return value.type.shape[depth]  # type: ignore[union-attr,index,no-any-return]
    return None


class _ReadVisitor:
    """A visitor of the elements from which one element of a result is computed, each given by a value and an index."""

    def __init__(self, plan: Plan, counter_range: CounterRange | OpenCounterRange, in_memory: Container[Value]) -> None:
        self.plan = plan
        self.counter_range = counter_range
        self.in_memory = in_memory
        self._visited_points: set[tuple[Value, Point]] = set()

    def visit(self, value: Value, index: Point) -> None:
        """Visit the element of a value at an index, and, unless it is loaded from memory, those that it depends on."""
        node = value.node
        if is_scalar(value.type) or value in self.in_memory or (value, index) in self._visited_points:
            return
        self._visited_points.add((value, index))
        base = base_of(value, self.plan.views)
        is_part_of_memory = base is not value and base in self.in_memory and is_dense(base.type)
        if node is None or is_part_of_memory:
            return
        if value in self.plan.views or self.plan.classes[node] == "copy":
            mapping = index_map(node)
            source = mapping.apply(index, self.counter_range) if mapping is not None else None
            if source is not None:
                self.visit_positions(source)
                self.visit(node.inputs[0], source)
            return
        for operand in node.inputs:
            self.visit_operand(operand, index)

    def visit_positions(self, index: Point) -> None:
        """Visit the elements of arrays of positions that an index contains."""
        for position in index:
            if isinstance(position, Loaded):
                self.visit(position.value, position.index)

    def visit_operand(self, operand: Value, index: Point) -> None:
        """Visit an operand at the index of the result to which it is broadcast."""
        if not is_scalar(operand.type):
            self.visit(operand, broadcast_index(index, sizes(operand.type)))
