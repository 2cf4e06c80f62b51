"""Group independent plan items to run concurrently, one thread each.

Members of groups are heavy items: those that one thread runs, and that are long enough to wake another one. They are
LAPACK decompositions, sorts of long rows, and products and loops that are too short to be split. Each item is the same
function as without a group, so results are equal to the last bit. Nodes with effects are excluded.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence

from autoconv.backends.llvm.analysis.classify import SERIAL_WORK
from autoconv.backends.llvm.analysis.representation import uses_open_sizes
from autoconv.backends.llvm.ir.index_arith import is_known
from autoconv.backends.llvm.schedule.cost import MULTIPLICATIONS_PER_UNIT
from autoconv.backends.llvm.schedule.partition import choose_split, work_of
from autoconv.backends.llvm.schedule.plan import Item, Plan
from autoconv.backends.llvm.schedule.row_blocks import is_flat, product_of
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.effects import Effects

_MIN_WORK = 150_000  # least work of an item, in units of 0.05 ns
_SPLIT_MULTIPLICATIONS = 1_000_000  # fewest multiplications of a product that threads share


def group_concurrent_items(plan: Plan, items: Sequence[Item]) -> list[Item]:
    """Return the items in an equivalent order; items that run concurrently become members of one item."""
    if not current_target().is_parallel:
        return list(items)
    work_by_heavy_item = {item: work for item in items if (work := _work_of_item(plan, item)) >= _MIN_WORK}
    return _group_items(plan, items, work_by_heavy_item) if len(work_by_heavy_item) > 1 else list(items)


def _group_items(plan: Plan, items: Sequence[Item], work_by_heavy_item: dict[Item, int]) -> list[Item]:
    """Return an order of the items in turns.

    A turn has the light items that depend on heavy items of earlier turns only, followed by a group of heavy items that
    are independent of each other.
    """
    bit_of = {item: 1 << i for i, item in enumerate(plan.all_items)}
    light_items: list[list[Item]] = [[]]  # light items by turn
    groups: list[list[Item]] = [[]]  # heavy items by turn
    bits_by_turn = [0]  # bit set of the items whose dependents run in this turn at the earliest
    for item in items:
        members = [item] if item in bit_of else item.members
        earlier_bits = functools.reduce(operator.or_, (member.earlier_bits for member in members))
        turn = next((turn for turn in range(len(groups) - 1, 0, -1) if bits_by_turn[turn] & earlier_bits), 0)
        is_heavy = item in work_by_heavy_item  # dependents of a heavy item run in the next turn at the earliest
        (groups if is_heavy else light_items)[turn].append(item)
        if turn + is_heavy == len(groups):
            groups.append([])
            light_items.append([])
            bits_by_turn.append(0)
        for member in members:
            bits_by_turn[turn + is_heavy] |= bit_of[member]
    if all(len(group) < 2 for group in groups):
        return list(items)
    order: list[Item] = []
    for lights, group in zip(light_items, groups, strict=True):
        order += lights
        order += [_concurrent_item(group, work_by_heavy_item)] if len(group) > 1 else group
    return order


def _concurrent_item(group: list[Item], work_by_heavy_item: dict[Item, int]) -> Item:
    """Return an item whose members run concurrently.

    The longest member is first: it runs in the thread that waits for the other members.
    """
    group.sort(key=work_by_heavy_item.__getitem__, reverse=True)
    nodes = [node for item in group for node in item.nodes]
    return Item(nodes, group[0].position, runs=[[item] for item in group], is_concurrent=True)


def _work_of_item(plan: Plan, item: Item) -> int:
    """Estimate the work of an item that runs on one thread, in units of 0.05 ns; 0 for other items."""
    if item.members or any(node.effects is not Effects.PURE for node in item.nodes):
        return 0
    lowering_classes = {plan.classes[node] for node in item.nodes}
    if item.shape is not None and not is_known(item.shape):
        return 0  # its loops may be split among threads
    if item.shape is not None:
        is_loop = lowering_classes <= {"element", "reduce", "copy"} and not item.phases
        return work_of(plan, item) if is_loop and choose_split(plan, item, is_flat(plan, item)) is None else 0
    (node,) = item.nodes
    if lowering_classes == {"matmul"}:
        product = product_of(plan, item)
        if product is None or product.work >= _SPLIT_MULTIPLICATIONS:
            return 0
        return product.work // MULTIPLICATIONS_PER_UNIT
    if uses_open_sizes(node):
        return 0
    return SERIAL_WORK[node.op.name](node) if lowering_classes == {"whole"} and node.op.name in SERIAL_WORK else 0
