"""Compute matrix products and row-wise loops in blocks of rows, each block in one thread.

In `tanh(x @ w + b)`, each iteration of the loop after the product reads only one row of the product. If one thread runs
both for a block of rows, the block is still in the caches, and threads synchronise once instead of after each step.
Items that share blocks of rows are a run. Values that depend on several rows (the right operand of a product, a sum
over rows) are computed before or after the run. Independent runs and products execute concurrently.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from autoconv.backends.llvm.analysis.classify import reduced_axes
from autoconv.backends.llvm.analysis.index_map import Point, variable
from autoconv.backends.llvm.analysis.index_maps import index_map
from autoconv.backends.llvm.analysis.indexing import has_position_arrays
from autoconv.backends.llvm.analysis.lent_loads import is_contiguous_row
from autoconv.backends.llvm.analysis.representation import is_scalar, sizes
from autoconv.backends.llvm.ir.index_arith import is_known
from autoconv.backends.llvm.schedule.matmul_tiling import Product, tiled_product
from autoconv.backends.llvm.schedule.plan import Item, Plan
from autoconv.backends.llvm.schedule.reduction_depth import register_depth
from autoconv.graph.graph import Node, Value

_ROW = variable(0)
_MIN_ROWS = 16  # fewest rows of a product that is computed in blocks


def block_rows(plan: Plan, items: Sequence[Item]) -> list[Item]:
    """Return the items in an equivalent order; items that share blocks of rows become members of one item."""

    def first_run(items: list[Item]) -> _Division[Item] | None:
        """Return the first run of items around a product with enough rows, None if there is no such run."""
        runs: dict[int, _RunPartition] = {}  # number of rows -> run
        for item in items:
            product = product_of(plan, item)
            if product is None or product.rows < _MIN_ROWS:
                continue
            if product.rows not in runs:
                runs[product.rows] = _RunPartition(plan, product.rows, items)
            run = runs[product.rows]
            if len(run.members) > 1 and item in run.members:
                return _Division(run.before, _item_of_runs([run.members]), run.after)
        return None

    return _divide_repeatedly(list(items), first_run)


_Entry = TypeVar("_Entry")


class _Division(NamedTuple, Generic[_Entry]):
    """A new item, with the values that precede it and those that follow it."""

    before: list[_Entry]
    item: Item
    after: list[_Entry]


def _divide_repeatedly(
    values: list[_Entry], divide: Callable[[list[_Entry]], _Division[_Entry] | None]
) -> list[_Entry | Item]:
    """Divide the values by `divide`, and then the values before and after the new item in the same way.

    Return all values and new items in order.
    """
    result: list[_Entry | Item] = []
    pending: list[list[_Entry] | Item] = [values]
    while pending:
        values_or_item = pending.pop()
        if isinstance(values_or_item, Item):
            result.append(values_or_item)
            continue
        division = divide(values_or_item)
        if division is None:
            result += values_or_item
        else:
            before, item, after = division
            pending += [after, item, before]
    return result


class _JoinCandidate(NamedTuple):
    """An item with its runs, the bit set of its members' numbers, and that of the items that must run earlier."""

    item: Item
    runs: list[list[Item]]
    bits: int
    earlier_bits: int


def join_independent_runs(plan: Plan, items: Sequence[Item]) -> list[Item]:
    """Return the items in an equivalent order; independent runs and products become runs of one item.

    The threads then share the parts of all runs.
    """
    candidates = []
    for item in items:
        earlier_bits = 0
        for member in item.members or [item]:
            earlier_bits |= member.earlier_bits
        bits = sum(1 << member.number for member in item.members or [item])
        candidates.append(_JoinCandidate(item, _runs_of_item(plan, item), bits, earlier_bits))
    result = _divide_repeatedly(candidates, _first_join)
    return [entry.item if isinstance(entry, _JoinCandidate) else entry for entry in result]


def _first_join(candidates: list[_JoinCandidate]) -> _Division[_JoinCandidate] | None:
    """Join the first candidate that can be joined with the later candidates that are independent of it."""
    start_positions = []  # positions of candidates with runs that some later candidate with runs does not depend on
    common_bits = -1  # bit set of the items on which all later candidates with runs depend; all items at first
    for i, candidate in reversed(list(enumerate(candidates))):
        if candidate.runs:
            if not candidate.bits & common_bits:
                start_positions.append(i)
            common_bits &= candidate.earlier_bits
    for i in reversed(start_positions):
        joined_bits, after_bits = candidates[i].bits, 0
        joined, before = [candidates[i]], candidates[:i]
        after: list[_JoinCandidate] = []
        for later in candidates[i + 1 :]:
            has_effects = any(node.effects for node in later.item.nodes)
            must_follow = later.earlier_bits & after_bits or (after and has_effects)
            if not must_follow and not later.earlier_bits & joined_bits and later.runs:
                joined.append(later)
                joined_bits |= later.bits
            elif must_follow or later.earlier_bits & joined_bits:
                after.append(later)
                after_bits |= later.bits
            else:
                before.append(later)
        if len(joined) > 1:
            item = _item_of_runs([run for candidate in joined for run in candidate.runs])
            return _Division(before, item, after)
    return None


def _runs_of_item(plan: Plan, item: Item) -> list[list[Item]]:
    """Return the runs of an item; a product by tiles is a run by itself; other items have none."""
    if item.runs:
        return item.runs
    return [[item]] if product_of(plan, item) is not None else []


def _item_of_runs(runs: list[list[Item]]) -> Item:
    """Return an item that has these runs as members."""
    nodes = [node for run in runs for member in run for node in member.nodes]
    return Item(nodes, runs[0][0].position, runs=runs)


def product_of(plan: Plan, item: Item) -> Product | None:
    """Return the matrix product of an item if tiles compute it, else None."""
    (node, *further_nodes) = item.nodes
    return None if further_nodes or plan.classes[node] != "matmul" else tiled_product(node, plan.patches.get(node))


def is_flat(plan: Plan, item: Item) -> bool:
    """Return whether an item's loops can be one flat loop, whose counter is the offset in all arrays.

    This holds if all arrays have the loop's shape, and reductions cover all dimensions.
    """
    shape = item.shape
    for node in item.nodes:
        lowering_class = plan.classes[node]
        if lowering_class in ("copy", "pad", "scatter"):
            return False
        if lowering_class == "reduce" and len(reduced_axes(node)) != len(shape or ()):
            return False
        operands = node.inputs[:1] if lowering_class == "reduce" else node.inputs
        for value in operands:
            if is_scalar(value.type):
                continue
            if value in plan.views and value.node is not None and value.node.op.name in ("real", "imag"):
                (value,) = value.node.inputs  # the elements have the same order
            has_loop_order = value not in plan.lent or is_contiguous_row(value) or len(shape or ()) == 1
            if value not in plan.views and sizes(value.type) == shape and has_loop_order:
                continue
            return False
    return True


class _RunPartition:
    """A partition of items into the members of a run, items that run before it, and items that run after it."""

    def __init__(self, plan: Plan, rows: int, items: Iterable[Item]) -> None:
        self.plan = plan
        self.rows = rows
        self.members: list[Item] = []
        self.before: list[Item] = []
        self.after: list[Item] = []
        self._results: set[Value] = set()
        self._member_bits = self._after_bits = 0
        for item in items:
            self._add(item)

    def _add(self, item: Item) -> None:
        """Add an item to the members if possible, else to `after` if it has to follow a member, else to `before`."""
        bit = 1 << item.number
        must_follow = item.earlier_bits & self._after_bits or (self.after and any(node.effects for node in item.nodes))
        if not must_follow and self._can_join(item):
            self.members.append(item)
            self._member_bits |= bit
            self._results.update(value for node in item.nodes for value in node.results)
        elif must_follow or (item.earlier_bits & self._member_bits and not self._is_view(item)):
            self.after.append(item)
            self._after_bits |= bit
        else:
            self.before.append(item)

    def _is_view(self, item: Item) -> bool:
        """Return whether the item is a view whose positions no member computes."""
        (node, *further_nodes) = item.nodes
        is_view = not further_nodes and node.results and node.results[0] in self.plan.views
        return bool(is_view) and not any(map(self._reads_results, node.inputs[1:]))

    def _can_join(self, item: Item) -> bool:
        """Return whether an item may become a member: each of its rows depends on one row of the members' results."""
        product = product_of(self.plan, item)
        if product is None:
            return item.shape is not None and self._loops_stay_in_rows(item, item.shape)
        x, y = self.plan.inputs(product.node)
        if product.patches and (x in self._results or product.rows % product.line_height):
            return False
        mixes_rows = self._reads_results(y) or (x in self.plan.views and self._reads_results(x))
        if product.rows != self.rows or mixes_rows:
            return False
        return x not in self._results or (not product.is_x_transposed and self._has_rows(x))

    def _reads_results(self, value: Value) -> bool:
        """Return whether a reader of the value reads a result of a member."""
        return any(base in self._results for base, _ in self.plan.bases(value))

    def _has_rows(self, value: Value) -> bool:
        """Return whether a value has as many rows as the run, by its first dimension or by all but the last."""
        shape = sizes(value.type)
        return shape[0] == self.rows or math.prod(shape[:-1]) == self.rows

    def _loops_stay_in_rows(self, item: Item, shape: tuple[int, ...]) -> bool:
        """Return whether each row of an item's loops reads only that row of the members' results."""
        plan = self.plan
        if not is_known(shape):
            return False
        lowering_classes = {plan.classes[node] for node in item.nodes}
        has_effects = any(node.effects for node in item.nodes)
        if 0 in shape or has_effects or not lowering_classes <= {"element", "reduce", "copy"}:
            return False
        if shape[0] != self.rows:
            has_rows = math.prod(shape[:-1]) == self.rows and not item.phases
            return has_rows and is_flat(plan, item) and lowering_classes == {"element"}
        return all(self._node_stays_in_rows(node, shape) for node in (*item.nodes, *item.row_nodes))

    def _node_stays_in_rows(self, node: Node, shape: tuple[int, ...]) -> bool:
        """Return whether a node of an item over `shape`, in each row of it, reads only that row of members' results."""
        lowering_class = self.plan.classes[node]
        if lowering_class == "reduce" and (not register_depth(node, shape) or 0 in reduced_axes(node)):
            return False
        shape_of_index = shape if lowering_class == "reduce" else sizes(node.results[0].type)
        index: Point = (_ROW, *(0 if size == 1 else variable(d) for d, size in enumerate(shape_of_index[1:], 1)))
        if lowering_class == "copy":
            return not any(map(self._reads_results, node.inputs))
        if shape_of_index[0] != self.rows:
            return False
        operands = node.inputs[:1] if lowering_class == "reduce" else node.inputs
        for value in operands:
            if is_scalar(value.type):
                continue
            operand_shape = sizes(value.type)
            aligned_index = index[len(index) - len(operand_shape) :]
            pairs = zip(operand_shape, aligned_index, strict=True)
            if not self._stays_in_row(value, tuple(0 if size == 1 else position for size, position in pairs)):
                return False
        return True

    def _stays_in_row(self, value: Value, index: Point) -> bool:
        """Return whether reading a value at an index reads only that row of the members' results."""
        if value in self._results:
            return index[0] == _ROW
        if value not in self.plan.views or not self._reads_results(value):
            return True
        node = value.node
        assert node is not None
        if any(map(self._reads_results, node.inputs[1:])) or is_scalar(node.inputs[0].type):
            return False
        mapping = index_map(node) if not has_position_arrays(node) else None
        source = mapping.apply(index) if mapping is not None else None
        return source is not None and self._stays_in_row(node.inputs[0], source)
