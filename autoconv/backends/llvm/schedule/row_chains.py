"""Fuse loops that read each other's reductions of rows into row chains, such as a softmax.

Before: a reduction along the last axes, and loops over elements that read its result. After: one item whose phases,
the former loops, all run for one row before the next row, so that the row stays in the cache.
"""

from __future__ import annotations

import math

from autoconv.backends.llvm.analysis.index_map import Point, variable
from autoconv.backends.llvm.analysis.index_maps import index_map
from autoconv.backends.llvm.analysis.indexing import has_position_arrays, positions
from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar, sizes
from autoconv.backends.llvm.ir.index_arith import broadcast_index, is_known
from autoconv.backends.llvm.schedule.plan import Item, Plan
from autoconv.backends.llvm.schedule.reduction_depth import register_depth
from autoconv.graph.graph import Node, Value

_MAX_ROW_BYTES = 1 << 15  # most bytes of a row of values that are saved for later phases


def fuse_row_chains(plan: Plan) -> None:
    """Merge loops that can run row by row into the item of the first loop, as its phases."""
    # Dependences come first in this order; numbers are not in execution order once items were merged.
    order = sorted(range(len(plan.all_items)), key=lambda number: plan.all_items[number].earlier_bits.bit_count())
    for number in order:
        if plan.all_items[number].nodes:
            _Chain(plan, number).merge_if_legal()


def _is_loop(plan: Plan, item: Item) -> bool:
    """Return whether an item is a loop nest of two or more dimensions that can become a phase."""
    is_pure = all(plan.classes[node] in ("element", "reduce") and not node.effects for node in item.nodes)
    return item.shape is not None and len(item.shape) > 1 and 0 not in item.shape and is_pure


class _Chain:
    """The attempt to make an item a phase of an earlier item, by a classification of the items that it depends on."""

    def __init__(self, plan: Plan, number: int) -> None:
        self.plan = plan
        self.number = number
        self.item = plan.all_items[number]
        self.shape = self.item.shape or ()
        # Numbers of the items on which this one depends, by class.
        self.loops: set[int] = set()  # loops of the same shape
        self.row_items: set[int] = set()  # items that compute a number for each row from its reductions
        self.views: set[int] = set()
        self.other_items: set[int] = set()

    def merge_if_legal(self) -> None:
        """Merge the item, as a phase, into the loops whose reductions it reads, if that is legal."""
        if not _is_loop(self.plan, self.item):
            return
        self._classify_dependences(self.item.dependences)
        if len(self.loops) != 1:
            return
        (target_number,) = self.loops
        if not self._has_early_positions(target_number):
            return
        depth = self._common_depth(self.plan.all_items[target_number])
        if depth is None or not self._is_in_order(target_number) or not self._stays_in_rows(target_number, depth):
            return
        target = self.plan.all_items[target_number]
        target.phases = [*(target.phases or [target.nodes]), self.item.nodes]
        row_nodes = (node for number in sorted(self.row_items) for node in self.plan.all_items[number].nodes)
        target.row_nodes = [*target.row_nodes, *row_nodes]
        target.depth = depth
        for number in self.views:  # views have no code, so they need not run after the merged items
            view = self.plan.all_items[number]
            merged_numbers = (target_number, *self.row_items)
            view.dependences = {
                dependence for dependence in view.dependences
                if self.plan.resolve_number(dependence) not in merged_numbers
            }  # fmt: skip
        for number in (*sorted(self.row_items), self.number):
            self.plan.merge_items(target_number, number)

    def _has_early_positions(self, target_number: int) -> bool:
        """Return whether the positions of gathers, by which phases read, are computed before the loops to be merged.

        If there are gathers, row items that do not depend on these loops are moved to `other_items`: they run before.
        """
        gathers = [self.plan.all_items[number].nodes[0] for number in self.views]
        indices = [value for node in gathers if has_position_arrays(node) for value in positions(node)]
        if not indices:
            return True
        items, target_bit = self.plan.all_items, 1 << target_number
        early_items = {number for number in self.row_items if not items[number].earlier_bits & target_bit}
        self.row_items -= early_items
        self.other_items |= early_items
        chain_nodes = {node for number in (target_number, *self.row_items) for node in items[number].nodes}
        return not any(base.node in chain_nodes for value in indices for base, _ in self.plan.bases(value))

    def _classify_dependences(self, numbers: set[int]) -> None:
        """Classify the items of these numbers and, through row items and views, those on which they depend."""
        for number in set(map(self.plan.resolve_number, numbers)) - {self.number}:
            item = self.plan.all_items[number]
            if number in self.loops | self.row_items | self.views | self.other_items:
                continue
            if item.shape == self.shape and _is_loop(self.plan, item):
                self.loops.add(number)
            elif item.shape is None and item.nodes[0].results and item.nodes[0].results[0] in self.plan.views:
                self.views.add(number)
                self._classify_dependences(item.dependences)
            elif self._computes_rows(item):
                self.row_items.add(number)
                self._classify_dependences(item.dependences)
            else:
                self.other_items.add(number)

    def _computes_rows(self, item: Item) -> bool:
        """Return whether an item is elementwise over a shape that broadcasts to the loop's when 1s are appended."""
        shape = item.shape
        if shape is None or any(self.plan.classes[node] != "element" or node.effects for node in item.nodes):
            return False
        padded_shape = shape + (1,) * (len(self.shape) - len(shape))
        if len(padded_shape) != len(self.shape):
            return False
        return all(size in (1, other) for size, other in zip(padded_shape, self.shape, strict=True))

    def _common_depth(self, target: Item) -> int | None:
        """Return the depth from which on the reductions of both items reduce.

        Return None if depths differ, if there are no rows, and if a row is too long for the cache.
        """
        nodes = [*target.nodes, *self.item.nodes]
        depths = {register_depth(node, self.shape) for node in nodes if self.plan.classes[node] == "reduce"}
        if len(depths) != 1 or not any(self.plan.classes[node] == "reduce" for node in target.nodes):
            return None
        (depth,) = depths
        if depth is None or all(size == 1 for size in self.shape[:depth]) or depth == len(self.shape):
            return None
        if not is_known(self.shape[depth:]):
            return depth
        row_bytes = math.prod(self.shape[depth:]) * max(node.results[0].dtype.size for node in nodes)
        return depth if row_bytes <= _MAX_ROW_BYTES else None

    def _is_in_order(self, target_number: int) -> bool:
        """Return whether none of the other items that this one depends on has to run after the loops to be merged."""
        chain_bits = 1 << target_number
        for number in (*self.row_items, *self.views):
            chain_bits |= 1 << number
        return not any(self.plan.all_items[other].earlier_bits & chain_bits for other in self.other_items)

    # ---- elements that are read

    def _stays_in_rows(self, target_number: int, depth: int) -> bool:
        """Return whether elements depend only on the earlier loops' elements at the same index, or on their own row."""
        target = self.plan.all_items[target_number]
        loop_index = tuple(0 if size == 1 else variable(d) for d, size in enumerate(self.shape))
        row_nodes = [node for number in self.row_items for node in self.plan.all_items[number].nodes]
        index_by_value: dict[Value, Point] = {}
        for node in (*target.nodes, *self.item.nodes, *row_nodes):
            (value,) = node.results
            index = loop_index if self._has_full_shape(node) else _row_index(value, loop_index, depth)
            if index is None:
                return False
            index_by_value[value] = index
        readers: list[tuple[Node, Point]] = [(node, loop_index) for node in self.item.nodes]
        readers += [(node, index_by_value[node.results[0]]) for node in row_nodes]
        return all(self._reads_own_row(node, reader_index, index_by_value) for node, reader_index in readers)

    def _has_full_shape(self, node: Node) -> bool:
        """Return whether a node computes one element for each index of the loop."""
        return self.plan.classes[node] == "element" and sizes(node.results[0].type) == self.shape

    def _reads_own_row(self, node: Node, index: Point, index_by_value: dict[Value, Point]) -> bool:
        """Return whether a node, at an index, reads values of the chain at their own index (see `index_by_value`)."""
        operands = node.inputs[:1] if self.plan.classes[node] == "reduce" else node.inputs
        for value in operands:
            if is_scalar(value.type):
                continue
            if not self._is_read_at(value, broadcast_index(index, sizes(value.type)), index_by_value):
                return False
        return True

    def _is_read_at(self, value: Value, index: Point, index_by_value: dict[Value, Point]) -> bool:
        """Return whether reading a value at `index` reads values of the chain, through views, at their own index."""
        if value in index_by_value:
            return index_by_value[value] == index
        if value not in self.plan.views:
            return True
        node = value.node
        assert node is not None
        if not any(base in index_by_value for base, _ in self.plan.bases(value)):
            return True
        mapping = index_map(node)
        source = mapping.apply(index) if mapping is not None else None
        if source is None:
            return False
        return is_scalar(node.inputs[0].type) or self._is_read_at(node.inputs[0], source, index_by_value)


def _row_index(value: Value, loop_index: Point, depth: int) -> Point | None:
    """Return the index of the number that a value has for the current row; None if it has not one number per row."""
    if not is_dense(value.type):
        return None
    shape = sizes(value.type)
    if len(shape) == len(loop_index):
        has_row_numbers = all(size == 1 for size in shape[depth:])
        return loop_index[:depth] + (0,) * (len(loop_index) - depth) if has_row_numbers else None
    return loop_index[:depth] if len(shape) == depth else None
