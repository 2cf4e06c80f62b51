"""Split innermost loops where a rotated or padded array begins or ends, so that each piece vectorises."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence

from autoconv.backends.llvm.analysis.contiguity import base_of
from autoconv.backends.llvm.analysis.index_map import Loaded, Point, Span
from autoconv.backends.llvm.analysis.index_maps import index_map
from autoconv.backends.llvm.analysis.indexing import gather_map, updates
from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar, sizes
from autoconv.backends.llvm.ir.index_arith import broadcast_index
from autoconv.backends.llvm.schedule.plan import Plan
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import Symbol

COUNTER = Symbol("%count")  # of the loop that is split
VECTOR = 64  # bytes of the longest supported vectors
_SHORT_ROW = 1024  # counts up to which the remainder after the last whole vector takes noticeable time
_MOST = 6  # pieces of a loop, each of which is emitted separately


def split_counts(size: int, cuts: Callable[[int, int], set[int]]) -> list[tuple[int, int]]:
    """Split the counts up to `size` into ranges within which the body does not depend on the count.

    `cuts(low, high)` returns the counts in between where the body changes. With too many ranges the loop stays whole.
    """
    spans, left = [], [(0, size)]
    while left:
        low, high = left.pop()
        inside = sorted(cut for cut in cuts(low, high) if low < cut < high)
        if not inside:
            spans.append((low, high))
        else:
            left += list(zip([low, *inside], [*inside, high], strict=True))
        if len(spans) + len(left) > _MOST:
            return [(0, size)]
    return sorted(spans)


def in_vectors(low: int, high: int, lanes: int) -> Iterator[tuple[int, int]]:
    """Split a range that is no multiple of the vector length: whole vectors, and an overlapping last vector.

    Precondition: elements that are computed twice come out the same.
    """
    over = (high - low) % lanes
    if not over or not lanes < high - low <= _SHORT_ROW:
        yield low, high
    else:
        yield low, high - over
        yield high - lanes, high


def cut_positions(plan: Plan, nodes: Sequence[Node], index: Point, span: Span, in_memory: Container[Value]) -> set[int]:
    """Return the counts within the span at which the elements that the nodes read at `index` change.

    `in_memory` are the values that the loops read from memory.
    """
    reader = _Reader(plan, span, in_memory)
    for node in nodes:
        kind = plan.classes[node]
        if kind == "scatter":
            reader.operand(updates(node), index)
            reader.positions(gather_map(node).apply(index) or ())
        elif kind in ("place", "reduce"):
            reader.visit(node.inputs[0], index)
        else:
            reader.visit(node.results[0], index)
    return span.cuts


class _Reader:
    """Follows the elements that one element is computed from, with their indices as data."""

    def __init__(self, plan: Plan, span: Span, in_memory: Container[Value]) -> None:
        self.plan = plan
        self.span = span
        self.held = in_memory
        self._visited: set[tuple[Value, Point]] = set()

    def visit(self, value: Value, index: Point) -> None:
        node = value.node
        if is_scalar(value.type) or value in self.held or (value, index) in self._visited:
            return
        self._visited.add((value, index))
        base = base_of(value, self.plan.views)
        if node is None or (base is not value and base in self.held and is_dense(base.type)):
            return
        if value in self.plan.views or self.plan.classes[node] == "copy":
            mapping = index_map(node)
            source = mapping.apply(index, self.span) if mapping is not None else None
            if source is not None:
                self.positions(source)
                self.visit(node.inputs[0], source)
            return
        for operand in node.inputs:
            self.operand(operand, index)

    def positions(self, index: Point) -> None:
        for position in index:
            if isinstance(position, Loaded):
                self.visit(position.value, position.index)

    def operand(self, operand: Value, index: Point) -> None:
        """Visit an operand at the index of the result to which it is broadcast."""
        if not is_scalar(operand.type):
            self.visit(operand, broadcast_index(index, sizes(operand.type)))
