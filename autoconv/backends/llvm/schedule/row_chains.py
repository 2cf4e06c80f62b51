"""Fuse loops that consume each other's row reductions into row chains, such as a softmax.

Before: a reduction along the last axis, and elementwise loops over its result. After: one item that runs its phases
row by row, so that a row stays in the cache.
"""

from __future__ import annotations

import math

from autoconv.backends.llvm.analysis.index_map import Point, variable
from autoconv.backends.llvm.analysis.index_maps import index_map
from autoconv.backends.llvm.analysis.indexing import is_indexed, positions
from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar, sizes
from autoconv.backends.llvm.ir.index_arith import broadcast_index, is_known
from autoconv.backends.llvm.schedule.plan import Item, Plan
from autoconv.backends.llvm.schedule.reduction_depth import register_depth
from autoconv.graph.graph import Node, Value

_LONGEST = 1 << 15  # bytes of a row of values that are kept for later phases


def fuse_row_chains(plan: Plan) -> None:
    """Merge loops that can run row by row into the item of the first of them, as phases."""
    # Dependences first: merged items are not in execution order.
    order = sorted(range(len(plan.all_items)), key=lambda number: plan.all_items[number].before.bit_count())
    for number in order:
        if plan.all_items[number].nodes:
            _Chain(plan, number).join()


def _is_loop(plan: Plan, item: Item) -> bool:
    plain = all(plan.classes[node] in ("element", "reduce") and not node.effects for node in item.nodes)
    return item.shape is not None and len(item.shape) > 1 and 0 not in item.shape and plain


class _Chain:
    """An item, with its dependences classified."""

    def __init__(self, plan: Plan, number: int) -> None:
        self.plan = plan
        self.number = number
        self.item = plan.all_items[number]
        self.shape = self.item.shape or ()
        self.first: set[int] = set()  # loops of the same shape
        self.rows: set[int] = set()  # items computed from each row's sums
        self.views: set[int] = set()
        self.others: set[int] = set()

    def join(self) -> None:
        """Make the item a phase of the loops whose sums it reads, if that is legal."""
        if not _is_loop(self.plan, self.item):
            return
        self._sort(self.item.direct)
        if len(self.first) != 1:
            return
        (into,) = self.first
        if not self._has_positions_before(into):
            return
        depth = self._depth(self.plan.all_items[into])
        if depth is None or not self._is_in_order(into) or not self._keeps_to_rows(into, depth):
            return
        target = self.plan.all_items[into]
        target.phases = [*(target.phases or [target.nodes]), self.item.nodes]
        target.rows = [*target.rows, *(node for row in sorted(self.rows) for node in self.plan.all_items[row].nodes)]
        target.depth = depth
        for number in self.views:  # views take no time and need not wait
            view = self.plan.all_items[number]
            view.direct = {n for n in view.direct if self.plan.resolve(n) not in (into, *self.rows)}
        for number in (*sorted(self.rows), self.number):
            self.plan.merge(into, number)

    def _has_positions_before(self, into: int) -> bool:
        """Return whether the positions of gathers are computed before all phases, which read through these.

        Rows that do not read the loops to be merged then run before them.
        """
        gathers = [self.plan.all_items[number].nodes[0] for number in self.views]
        indices = [value for node in gathers if is_indexed(node) for value in positions(node)]
        if not indices:
            return True
        early = {row for row in self.rows if not self.plan.all_items[row].before >> into & 1}
        self.rows -= early
        self.others |= early
        made = {node for row in (into, *self.rows) for node in self.plan.all_items[row].nodes}
        return not any(base.node in made for value in indices for base, _ in self.plan.bases(value))

    def _sort(self, numbers: set[int]) -> None:
        for number in {self.plan.resolve(n) for n in numbers} - {self.number}:
            item = self.plan.all_items[number]
            if number in self.first | self.rows | self.views | self.others:
                continue
            if item.shape == self.shape and _is_loop(self.plan, item):
                self.first.add(number)
            elif item.shape is None and item.nodes[0].results and item.nodes[0].results[0] in self.plan.views:
                self.views.add(number)
                self._sort(item.direct)
            elif self._is_of_rows(item):
                self.rows.add(number)
                self._sort(item.direct)
            else:
                self.others.add(number)

    def _is_of_rows(self, item: Item) -> bool:
        shape = item.shape
        if shape is None or any(self.plan.classes[node] != "element" or node.effects for node in item.nodes):
            return False
        whole = shape + (1,) * (len(self.shape) - len(shape))
        return len(whole) == len(self.shape) and all(a in (1, b) for a, b in zip(whole, self.shape, strict=True))

    def _depth(self, target: Item) -> int | None:
        """Return the dimension from which all sums of both items reduce; None if they differ, or leave no rows."""
        nodes = [*target.nodes, *self.item.nodes]
        depths = {register_depth(node, self.shape) for node in nodes if self.plan.classes[node] == "reduce"}
        if len(depths) != 1 or not any(self.plan.classes[node] == "reduce" for node in target.nodes):
            return None
        (depth,) = depths
        if depth is None or all(size == 1 for size in self.shape[:depth]) or depth == len(self.shape):
            return None
        if not is_known(self.shape[depth:]):
            return depth
        width = math.prod(self.shape[depth:]) * max(node.results[0].dtype.size for node in nodes)
        return depth if width <= _LONGEST else None

    def _is_in_order(self, into: int) -> bool:
        """Return whether no other dependence of the item runs after the loops to be merged."""
        inside = 1 << into
        for number in (*self.rows, *self.views):
            inside |= 1 << number
        return not any(self.plan.all_items[other].before & inside for other in self.others)

    # ---- elements that are read

    def _keeps_to_rows(self, into: int, depth: int) -> bool:
        """Return whether each element depends, among earlier loops' values, only on the same element or its row's."""
        target = self.plan.all_items[into]
        own = tuple(0 if size == 1 else variable(d) for d, size in enumerate(self.shape))
        row_nodes = [node for row in self.rows for node in self.plan.all_items[row].nodes]
        places: dict[Value, Point] = {}
        for node in (*target.nodes, *self.item.nodes, *row_nodes):
            (value,) = node.results
            place = own if self._is_full(node) else _row_place(value, own, depth)
            if place is None:
                return False
            places[value] = place
        reading = [*((node, own) for node in self.item.nodes), *((node, places[node.results[0]]) for node in row_nodes)]
        return all(self._reads_well(node, index, places) for node, index in reading)

    def _is_full(self, node: Node) -> bool:
        return self.plan.classes[node] == "element" and sizes(node.results[0].type) == self.shape

    def _reads_well(self, node: Node, index: Point, places: dict[Value, Point]) -> bool:
        operands = node.inputs[:1] if self.plan.classes[node] == "reduce" else node.inputs
        for value in operands:
            if is_scalar(value.type):
                continue
            if not self._is_at(value, broadcast_index(index, sizes(value.type)), places):
                return False
        return True

    def _is_at(self, value: Value, index: Point, places: dict[Value, Point]) -> bool:
        if value in places:
            return places[value] == index
        if value not in self.plan.views:
            return True
        node = value.node
        assert node is not None
        if not any(base in places for base, _ in self.plan.bases(value)):
            return True
        mapping = index_map(node)
        source = mapping.apply(index) if mapping is not None else None
        if source is None:
            return False
        return is_scalar(node.inputs[0].type) or self._is_at(node.inputs[0], source, places)


def _row_place(value: Value, own: Point, depth: int) -> Point | None:
    """Return the index of a row's number in terms of the outer loops; None if the value is not one per row."""
    if not is_dense(value.type):
        return None
    shape = sizes(value.type)
    if len(shape) == len(own):
        return own[:depth] + (0,) * (len(own) - depth) if all(size == 1 for size in shape[depth:]) else None
    return own[:depth] if len(shape) == depth else None
