"""Run matrix products and row-wise loops block by block, each block in one thread.

In `tanh(x @ w + b)`, the loop after the product reads only the row of the product that it computes. If one thread runs
both for a block of rows, the block is still in the caches, and threads synchronise once instead of after each step.
What other rows need (the right-hand side of a product, a sum over rows) must be complete before, or is computed
afterwards. Independent runs and products execute concurrently.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from autoconv.backends.llvm.analysis.classify import reduced_axes
from autoconv.backends.llvm.analysis.index_map import Point, variable
from autoconv.backends.llvm.analysis.index_maps import index_map
from autoconv.backends.llvm.analysis.indexing import is_indexed
from autoconv.backends.llvm.analysis.lent_loads import is_contiguous_row
from autoconv.backends.llvm.analysis.representation import is_scalar, sizes
from autoconv.backends.llvm.ir.index_arith import is_known
from autoconv.backends.llvm.schedule.matmul_tiling import Product, tiled_product
from autoconv.backends.llvm.schedule.plan import Item, Plan
from autoconv.backends.llvm.schedule.reduction_depth import register_depth
from autoconv.graph.graph import Node, Value

_ROW = variable(0)
_FEWEST = 16  # least rows of a product


def block_rows(plan: Plan, items: Sequence[Item]) -> list[Item]:
    """Return the items in an equivalent order, with those that share blocks of rows as members of one."""
    for item in items:
        product = product_of(plan, item)
        if product is None or product.rows < _FEWEST:
            continue
        run = _Run(plan, product.rows)
        for other in items:
            run.take(other)
        if len(run.members) > 1 and item in run.members:
            return [*block_rows(plan, run.before), _item_of_runs([run.members]), *block_rows(plan, run.after)]
    return list(items)


def pair_up(plan: Plan, items: Sequence[Item]) -> list[Item]:
    """Return the items with independent runs and products as runs of one item.

    Parts of all runs are then handed to the threads at once.
    """
    for i, item in enumerate(items):
        if not _runs_of_item(plan, item):
            continue
        inside, behind = _numbers(plan, item), 0
        before, together = list(items[:i]), [item]
        after: list[Item] = []
        for other in items[i + 1 :]:
            needs = 0
            for member in other.members or [other]:
                needs |= member.before
            waits = needs & behind or (after and any(node.effects for node in other.nodes))
            if not waits and not needs & inside and _runs_of_item(plan, other):
                together.append(other)
                inside |= _numbers(plan, other)
            elif waits or needs & inside:
                after.append(other)
                behind |= _numbers(plan, other)
            else:
                before.append(other)
        if len(together) > 1:
            runs = [run for one in together for run in _runs_of_item(plan, one)]
            return [*pair_up(plan, before), _item_of_runs(runs), *pair_up(plan, after)]
    return list(items)


def _runs_of_item(plan: Plan, item: Item) -> list[list[Item]]:
    if item.runs:
        return item.runs
    return [[item]] if product_of(plan, item) is not None else []


def _numbers(plan: Plan, item: Item) -> int:
    return sum(1 << member.number for member in item.members or [item])


def _item_of_runs(runs: list[list[Item]]) -> Item:
    first = runs[0][0]
    nodes = [node for run in runs for member in run for node in member.nodes]
    return type(first)(nodes, first.position, runs=runs)


def product_of(plan: Plan, item: Item) -> Product | None:
    """Return the matrix product of an item, if it is one that is lowered to tiles."""
    (node, *others) = item.nodes
    return None if others or plan.classes[node] != "matmul" else tiled_product(node, plan.patches.get(node))


def is_flat(plan: Plan, item: Item) -> bool:
    """Return whether one counter indexes everything.

    That holds if all arrays have the loop's shape, and reductions cover all dimensions.
    """
    shape = item.shape
    for node in item.nodes:
        kind = plan.classes[node]
        if kind in ("copy", "place", "scatter"):
            return False
        if kind == "reduce" and len(reduced_axes(node)) != len(shape or ()):
            return False
        operands = node.inputs[:1] if kind == "reduce" else node.inputs
        for value in operands:
            if is_scalar(value.type):
                continue
            if value in plan.views and value.node is not None and value.node.op.name in ("real", "imag"):
                (value,) = value.node.inputs  # the elements have the same order
            fits = value not in plan.lent or is_contiguous_row(value) or len(shape or ()) == 1
            if value not in plan.views and sizes(value.type) == shape and fits:
                continue
            return False
    return True


class _Run:
    """A partition of a list of items: members of a run, items that may precede it, and items that must follow."""

    def __init__(self, plan: Plan, rows: int) -> None:
        self.plan = plan
        self.rows = rows
        self.members: list[Item] = []
        self.before: list[Item] = []
        self.after: list[Item] = []
        self._results: set[Value] = set()
        self._inside = self._behind = 0

    def take(self, item: Item) -> None:
        number = 1 << item.number
        waits = item.before & self._behind or (self.after and any(node.effects for node in item.nodes))
        if not waits and self._keeps_to_rows(item):
            self.members.append(item)
            self._inside |= number
            self._results.update(value for node in item.nodes for value in node.results)
        elif waits or (item.before & self._inside and not self._is_view(item)):
            self.after.append(item)
            self._behind |= number
        else:
            self.before.append(item)

    def _is_view(self, item: Item) -> bool:
        """Return whether the item is a view, and takes no indices from members."""
        (node, *others) = item.nodes
        looked_through = not others and node.results and node.results[0] in self.plan.views
        return bool(looked_through) and not any(map(self._reads, node.inputs[1:]))

    def _keeps_to_rows(self, item: Item) -> bool:
        product = product_of(self.plan, item)
        if product is None:
            return item.shape is not None and self._loops_keep(item, item.shape)
        x, y = self.plan.inputs(product.node)
        if product.patches and (x in self._results or product.rows % product.unit):
            return False
        if product.rows != self.rows or self._reads(y) or (x in self.plan.views and self._reads(x)):
            return False
        return x not in self._results or (not product.flip_x and self._has_rows(x))

    def _reads(self, value: Value) -> bool:
        return any(base in self._results for base, _ in self.plan.bases(value))

    def _has_rows(self, value: Value) -> bool:
        shape = sizes(value.type)
        return shape[0] == self.rows or math.prod(shape[:-1]) == self.rows

    def _loops_keep(self, item: Item, shape: tuple[int, ...]) -> bool:
        plan = self.plan
        if not is_known(shape):
            return False
        count = math.prod(shape)
        if not count or any(plan.classes[n] not in ("element", "reduce", "copy") or n.effects for n in item.nodes):
            return False
        if shape[0] != self.rows:
            alike = math.prod(shape[:-1]) == self.rows and not item.phases
            return alike and is_flat(plan, item) and all(plan.classes[n] == "element" for n in item.nodes)
        return all(self._node_keeps(node, shape) for node in (*item.nodes, *item.rows))

    def _node_keeps(self, node: Node, shape: tuple[int, ...]) -> bool:
        kind = self.plan.classes[node]
        if kind == "reduce" and (not register_depth(node, shape) or 0 in reduced_axes(node)):
            return False
        own = shape if kind == "reduce" else sizes(node.results[0].type)
        index: Point = (_ROW, *(0 if size == 1 else variable(d) for d, size in enumerate(own[1:], 1)))
        if kind == "copy":
            return not any(map(self._reads, node.inputs))
        if own[0] != self.rows:
            return False
        operands = node.inputs[:1] if kind == "reduce" else node.inputs
        for value in operands:
            if is_scalar(value.type):
                continue
            read = sizes(value.type)
            aligned = index[len(index) - len(read) :]
            if not self._is_at_row(value, tuple(0 if s == 1 else i for s, i in zip(read, aligned, strict=True))):
                return False
        return True

    def _is_at_row(self, value: Value, index: Point) -> bool:
        """Return whether an element that a member computes lies in the row of the index."""
        if value in self._results:
            return index[0] == _ROW
        if value not in self.plan.views or not self._reads(value):
            return True
        node = value.node
        assert node is not None
        if any(map(self._reads, node.inputs[1:])) or is_scalar(node.inputs[0].type):
            return False
        mapping = index_map(node) if not is_indexed(node) else None
        source = mapping.apply(index) if mapping is not None else None
        return source is not None and self._is_at_row(node.inputs[0], source)
