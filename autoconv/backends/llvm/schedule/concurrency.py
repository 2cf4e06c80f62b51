"""Run independent plan items concurrently, one thread each.

These are items that are not split among threads: LAPACK decompositions, sorts of long rows, and products and loops
too short to be split but long enough to wake a thread. Each item is the same function as if called alone, so results
are equal to the last bit. Nodes with effects are excluded.
"""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.analysis.classify import SERIAL_WORK
from autoconv.backends.llvm.analysis.representation import uses_open_sizes
from autoconv.backends.llvm.ir.index_arith import is_known
from autoconv.backends.llvm.schedule.partition import choose_split, work_of
from autoconv.backends.llvm.schedule.plan import Item, Plan
from autoconv.backends.llvm.schedule.row_blocks import is_flat, product_of
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.effects import Effects

_LEAST = 150_000  # least work of an item, in units of 0.05 ns
_SPLIT = 1_000_000  # multiplications from which threads share a product
_MULTIPLICATIONS = 3  # multiplications in one unit of work


def run_concurrently(plan: Plan, items: Sequence[Item]) -> list[Item]:
    """Return the items in an equivalent order, with those that run concurrently as members of one item."""
    if not current_target().is_parallel:
        return list(items)
    heavy = {item: work for item in items if (work := _work_of_item(plan, item)) >= _LEAST}
    return _schedule(plan, items, heavy) if len(heavy) > 1 else list(items)


def _schedule(plan: Plan, items: Sequence[Item], heavy: dict[Item, int]) -> list[Item]:
    """Order the items: those that no heavy item precedes, a group of independent heavy ones, the rest."""
    ids = {item: 1 << i for i, item in enumerate(plan.all_items)}
    order: list[Item] = []
    left, is_pending = list(items), False
    while left:
        blocked, group, rest = 0, [], []
        for item in left:
            own = [item] if item in ids else item.members
            if any(one.before & blocked for one in own):
                rest.append(item)
            elif item in heavy:
                group.append(item)
            else:
                order.append(item)
                continue
            for one in own:
                blocked |= ids[one]
        if len(group) > 1:
            is_pending = True
            # The longest first: it runs in the thread that waits for the others.
            group.sort(key=heavy.__getitem__, reverse=True)
            nodes = [node for item in group for node in item.nodes]
            group = [type(group[0])(nodes, group[0].position, runs=[[item] for item in group], is_concurrent=True)]
        order += group
        left = rest
    return order if is_pending else list(items)


def _work_of_item(plan: Plan, item: Item) -> int:
    """Estimate the work of an item that runs on one thread, in units of 0.05 ns; 0 for other items."""
    if item.members or any(node.effects is not Effects.PURE for node in item.nodes):
        return 0
    roles = {plan.classes[node] for node in item.nodes}
    if item.shape is not None and not is_known(item.shape):
        return 0  # its loops may be split themselves
    if item.shape is not None:
        plain = roles <= {"element", "reduce", "copy"} and not item.phases
        return work_of(plan, item) if plain and choose_split(plan, item, is_flat(plan, item)) is None else 0
    (node,) = item.nodes
    if roles == {"matmul"}:
        product = product_of(plan, item)
        return product.work // _MULTIPLICATIONS if product is not None and product.work < _SPLIT else 0
    if uses_open_sizes(node):
        return 0
    return SERIAL_WORK[node.op.name](node) if roles == {"whole"} and node.op.name in SERIAL_WORK else 0
