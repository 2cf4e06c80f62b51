"""Split loops over open shapes over threads, if they turn out long enough at run time."""

from __future__ import annotations

from dataclasses import dataclass

from autoconv.backends.llvm.ir.index_arith import Position
from autoconv.backends.llvm.schedule.partition import (
    MOST_PARTS,
    NARROWEST,
    PART,
    WORTHWHILE,
    Split,
    independent,
    work_of_one,
)
from autoconv.backends.llvm.schedule.plan import Item, Plan
from autoconv.backends.llvm.schedule.reduction_depth import BLOCK
from autoconv.backends.llvm.target.machine import current_target


def choose_open_split(plan: Plan, item: Item, flat: bool) -> OpenSplit | None:
    """Choose the split, as `partition.choose_split`; None where all parts would write to one place."""
    shape = item.shape or ()
    if not current_target().has_pool:
        return None
    if flat:
        return OpenSplit(None, 0, 1, shape, work_of_one(item), BLOCK)
    for dimension in independent(plan, item, shape):
        multiple = 1 if all(size == 1 for size in shape[:dimension]) else NARROWEST
        if isinstance(shape[dimension], int) and shape[dimension] <= multiple:
            continue
        return OpenSplit(dimension, 0, 1, shape, work_of_one(item), multiple)
    return None


@dataclass(frozen=True)
class OpenSplit(Split):
    """A split of loops over an open shape, into the parts that a constant shape of that size would have.

    each      work of one iteration
    multiple  divisor of the counts of a part
    part      least work of a part
    least     least work of all that is worth splitting
    most      largest number of parts
    size      if given, the limit of the counter; the shape then only gives the amount of work

    Work is in units of 0.05 ns.
    """

    shape: tuple[Position, ...] = ()
    each: int = 0
    multiple: int = 1
    part: int = PART
    least: int = WORTHWHILE
    most: int = MOST_PARTS

    @property
    def parts(self) -> int:
        """The largest possible number of parts."""
        return self.most
