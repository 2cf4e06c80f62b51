"""Scheduling of a graph by passes over its plan, in order.

A pass takes the plan and its current items, and returns the items that replace them. This module is the only caller of
the passes.
"""

from __future__ import annotations

from collections.abc import Callable

from autoconv.backends.llvm.analysis.classify import LoweringClasses
from autoconv.backends.llvm.schedule.concurrency import group_concurrent_items
from autoconv.backends.llvm.schedule.plan import Item, Plan
from autoconv.backends.llvm.schedule.row_blocks import block_rows, join_independent_runs
from autoconv.backends.llvm.schedule.row_chains import fuse_row_chains
from autoconv.graph.graph import Graph

# The passes that run when loops are fused and ordered. They let loops and products share blocks of rows, join
# independent runs of blocks, and group other independent items to run concurrently.
PASSES: tuple[Callable[[Plan, list[Item]], list[Item]], ...] = (
    block_rows, join_independent_runs, group_concurrent_items,
)  # fmt: skip


def schedule(graph: Graph, classes: LoweringClasses | None = None) -> Plan:
    """Return the plan of a graph: its items in execution order, with blocks of rows and concurrent groups."""
    plan = Plan(graph, LoweringClasses() if classes is None else classes)
    fuse_row_chains(plan)
    plan.find_reads_and_stores()
    plan.items = plan.execution_order()
    for run_pass in PASSES:
        plan.items = run_pass(plan, plan.items)
    return plan
