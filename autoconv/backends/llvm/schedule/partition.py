"""Choose which loops are split over threads, and into which parts.

The parts do not depend on the number of threads, so results are equal to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autoconv.backends.llvm.analysis.classify import reduced_axes
from autoconv.backends.llvm.analysis.indexing import one_to_one_dimensions
from autoconv.backends.llvm.ir.index_arith import Position, is_known
from autoconv.backends.llvm.schedule.cost import MEMORY_COST, cost
from autoconv.backends.llvm.schedule.plan import Item, Plan
from autoconv.backends.llvm.schedule.reduction_depth import BLOCK, register_depth
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.graph import Node

MOST_PARTS = 32  # of a loop
WORTHWHILE, PART = 1_000_000, 200_000
NARROWEST = 128  # least counts of an inner dimension in a part, which passes over them repeatedly


@dataclass(frozen=True)
class Split:
    """A split of the counter of `dimension` (None: of a flat loop), up to `size`, into parts of `step` counts.

    Without a `step` it is computed at run time, into the parts that constant sizes would have:

    shape     extents of all loops, whose product is the number of iterations, and the size where that is 0
    each      work of one iteration
    multiple  divisor of the counts of a part
    part      least work of a part
    least     least work of all that is worth splitting
    most      largest number of parts

    Work is in units of 0.05 ns.
    """

    dimension: int | None
    size: Position
    step: int | None = None
    shape: tuple[Position, ...] = ()
    each: int = 1
    multiple: int = 1
    part: int = PART
    least: int = WORTHWHILE
    most: int = MOST_PARTS

    @property
    def parts(self) -> int:
        """The number of parts, or the largest possible one."""
        if self.step is None:
            return self.most
        assert isinstance(self.size, int)
        return -(-self.size // self.step)


def choose_split(plan: Plan, item: Item, flat: bool) -> Split | None:
    """Choose how the item's loops are split; None where they are too short, or all parts would write to one place."""
    shape, each = item.shape or (), work_of_one(item)
    if not current_target().has_pool:
        return None
    if flat:
        return _split(None, shape, each, BLOCK)
    for dimension in independent_dimensions(plan, item, shape):
        outermost = all(size == 1 for size in shape[:dimension])
        split = _split(dimension, shape, each, 1 if outermost else NARROWEST)
        if split is not None:
            return split
    return None


def _split(dimension: int | None, shape: tuple[Position, ...], each: int, multiple: int) -> Split | None:
    size = 0 if dimension is None else shape[dimension]
    if is_known(shape):
        count = math.prod(map(int, shape))
        return _steps(dimension, int(size) or count, count * each, multiple)
    if isinstance(size, int) and 0 < size <= multiple:
        return None
    return Split(dimension, size, None, shape, each, multiple)


def work_of(plan: Plan, item: Item) -> int:
    """Estimate the work of all iterations of the item's loops, in units of 0.05 ns."""
    return math.prod(item.shape or ()) * work_of_one(item)


def work_of_one(item: Item) -> int:
    return sum(cost(node) for node in item.nodes) + MEMORY_COST * (len(item.reads) + len(item.stored))


def split_counts(size: Position, work: int, shape: Sequence[Position] = ()) -> Split | None:
    """Choose how a loop up to `size` without loop-carried values is split.

    `work` is the estimate for all of it, or, where sizes are symbolic, for one element of `shape` or one count.
    """
    if isinstance(size, int) and is_known(shape):
        return _steps(None, size, work, 1) if current_target().has_pool else None
    return Split(None, size, None, tuple(shape) or (size,), work) if current_target().has_pool and work else None


def _steps(dimension: int | None, size: int, work: int, multiple: int) -> Split | None:
    if work < WORTHWHILE:
        return None
    parts = max(2, min(MOST_PARTS, work // PART))
    step = -(-size // parts // multiple) * multiple
    return Split(dimension, size, step) if step < size else None


def independent_dimensions(plan: Plan, item: Item, shape: Sequence[int]) -> Iterator[int]:
    """Yield the dimensions whose counts write to different places: nothing is reduced over them, or everything is."""
    reductions = [node for node in item.nodes if plan.classes[node] == "reduce"]
    scatters = [one_to_one_dimensions(node) for node in item.nodes if plan.classes[node] == "scatter"]
    for d, size in enumerate(shape[: item.depth] if item.phases else shape):
        if not all(d in straight for straight in scatters):
            continue
        over = [node for node in reductions if d in reduced_axes(node)]
        if size not in (0, 1) and all(_is_whole(node, shape) and shape[:d] == (1,) * d for node in over):
            yield d


def _is_whole(node: Node, shape: Sequence[int]) -> bool:
    depth = register_depth(node, shape)
    return depth is not None and all(size == 1 for size in shape[:depth])
