"""Schedule a graph: the passes over its plan, in order.

A pass takes the plan and the items so far and returns the items that replace them. This module is the only caller of
the passes; the plan calls none.
"""

from __future__ import annotations

from collections.abc import Callable

from autoconv.backends.llvm.analysis.classify import LoweringClasses
from autoconv.backends.llvm.schedule.concurrency import group_concurrent_items
from autoconv.backends.llvm.schedule.plan import Item, Plan
from autoconv.backends.llvm.schedule.row_blocks import block_rows, pair_up
from autoconv.backends.llvm.schedule.row_chains import fuse_row_chains
from autoconv.graph.graph import Graph

# After loops are fused and ordered: loops and products share blocks of rows, such blocks run beside each other, and
# what is left and independent runs concurrently.
PASSES: tuple[Callable[[Plan, list[Item]], list[Item]], ...] = (block_rows, pair_up, group_concurrent_items)


def schedule(graph: Graph, classes: LoweringClasses | None = None) -> Plan:
    """Decide what runs together, in which order, in which blocks, and what runs concurrently."""
    plan = Plan(graph, LoweringClasses() if classes is None else classes)
    fuse_row_chains(plan)
    plan.find_traffic()
    plan.items = plan.execution_order()
    for step in PASSES:
        plan.items = step(plan, plan.items)
    return plan
