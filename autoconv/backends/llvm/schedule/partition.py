"""Choice of the loops that threads share, and of their parts.

The parts do not depend on the number of threads, so neither do the results, to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from autoconv.backends.llvm.analysis.classify import reduced_axes
from autoconv.backends.llvm.analysis.indexing import one_to_one_dimensions
from autoconv.backends.llvm.ir.index_arith import Position, is_known
from autoconv.backends.llvm.schedule.cost import MEMORY_COST, cost
from autoconv.backends.llvm.schedule.plan import Item, Plan
from autoconv.backends.llvm.schedule.reduction_depth import BLOCK_ELEMENTS, register_depth
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.graph import Node
from autoconv.lazy_dataclass import dataclass

MAX_PARTS = 32  # most parts of a loop
# Least work, in units of 0.05 ns, of a loop that is split, and of one of its parts.
MIN_WORK, MIN_PART_WORK = 1_000_000, 200_000
MIN_INNER_STEPS = 128  # fewest iterations of an inner loop in a part, if that loop is split and not the outermost one


@dataclass(frozen=True)
class Split:
    """A split of the loop over `dimension`, or of a flat loop over all elements if that is None, into parts.

    The loop has `size` iterations, a part `step` of them. If `step` is None, it is computed at run time, by the rules
    of `_split_known_size`, from these fields:

    shape            trip counts of all loops; if `size` is 0, their product is the size
    iteration_work   work of one iteration
    step_multiple    number that divides the step
    min_part_work    least work of a part
    min_work         least work of a loop that is split
    max_parts        largest number of parts

    Work is in units of 0.05 ns.
    """

    dimension: int | None
    size: Position
    step: int | None = None
    shape: tuple[Position, ...] = ()
    iteration_work: int = 1
    step_multiple: int = 1
    min_part_work: int = MIN_PART_WORK
    min_work: int = MIN_WORK
    max_parts: int = MAX_PARTS

    @property
    def parts(self) -> int:
        """The number of parts, or an upper bound of it if the step is computed at run time."""
        if self.step is None:
            return self.max_parts
        assert isinstance(self.size, int)
        return -(-self.size // self.step)


def choose_split(plan: Plan, item: Item, is_flat: bool) -> Split | None:
    """Return how an item's loops are split; None if they are too short, or parts would write the same elements."""
    shape, work = item.shape or (), iteration_work(item)
    if not current_target().has_pool:
        return None
    if is_flat:
        return _split_dimension(None, shape, work, BLOCK_ELEMENTS)
    for dimension in independent_dimensions(plan, item, shape):
        is_outermost = all(size == 1 for size in shape[:dimension])
        split = _split_dimension(dimension, shape, work, 1 if is_outermost else MIN_INNER_STEPS)
        if split is not None:
            return split
    return None


def _split_dimension(dimension: int | None, shape: tuple[Position, ...], work: int, step_multiple: int) -> Split | None:
    """Return the split of a loop over one dimension, or over all elements if `dimension` is None; None if too short.

    `work` is that of one iteration over all dimensions.
    """
    size = 0 if dimension is None else shape[dimension]
    if is_known(shape):
        count = math.prod(map(int, shape))
        return _split_known_size(dimension, int(size) or count, count * work, step_multiple)
    if isinstance(size, int) and 0 < size <= step_multiple:
        return None
    return Split(dimension, size, shape=shape, iteration_work=work, step_multiple=step_multiple)


def work_of(plan: Plan, item: Item) -> int:
    """Estimate the work of all iterations of the item's loops, in units of 0.05 ns."""
    return math.prod(item.shape or ()) * iteration_work(item)


def iteration_work(item: Item) -> int:
    """Estimate the work of one iteration of the item's loops, in units of 0.05 ns."""
    return sum(cost(node) for node in item.nodes) + MEMORY_COST * (len(item.reads) + len(item.stored))


def choose_loop_split(size: Position, work: int, shape: Sequence[Position] = ()) -> Split | None:
    """Return how a loop of `size` independent iterations is split; None if one thread runs it.

    `work` is an estimate in units of 0.05 ns. For a known size it is that of the full loop. For an open size, it is
    that of one element of `shape`, or of one iteration if `shape` is empty.
    """
    if isinstance(size, int) and is_known(shape):
        return _split_known_size(None, size, work, 1) if current_target().has_pool else None
    if not current_target().has_pool or not work:
        return None
    return Split(dimension=None, size=size, shape=tuple(shape) or (size,), iteration_work=work)


def _split_known_size(dimension: int | None, size: int, work: int, step_multiple: int) -> Split | None:
    """Return the split of a loop of known size, whose full work is `work`; None if that is too little for threads."""
    if work < MIN_WORK:
        return None
    parts = max(2, min(MAX_PARTS, work // MIN_PART_WORK))
    step = -(-size // parts // step_multiple) * step_multiple
    return Split(dimension, size, step) if step < size else None


def independent_dimensions(plan: Plan, item: Item, shape: Sequence[int]) -> Iterator[int]:
    """Iterate over the dimensions that may be split.

    Their iterations write different elements, or are all reduced to a single element, as partial results.
    """
    reductions = [node for node in item.nodes if plan.classes[node] == "reduce"]
    scatters = [one_to_one_dimensions(node) for node in item.nodes if plan.classes[node] == "scatter"]
    for dimension, size in enumerate(shape[: item.depth] if item.phases else shape):
        if not all(dimension in dimensions for dimensions in scatters):
            continue
        reductions_over = [node for node in reductions if dimension in reduced_axes(node)]
        is_outermost = shape[:dimension] == (1,) * dimension
        if size not in (0, 1) and all(_is_full_reduction(node, shape) and is_outermost for node in reductions_over):
            yield dimension


def _is_full_reduction(node: Node, shape: Sequence[int]) -> bool:
    """Return whether a reduction covers all loops that have more than one iteration."""
    depth = register_depth(node, shape)
    return depth is not None and all(size == 1 for size in shape[:depth])
