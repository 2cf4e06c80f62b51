"""Ranges of a loop's state, or of an array's elements, after one iteration, relative to the value before it."""

from __future__ import annotations

from autoconv.graph.linear_form import Range
from autoconv.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class StepRange:
    """The next value of a state: the current value plus a number in `increments`, or a number in `resets`.

    Either range may be None, if that case does not occur.
    """

    increments: Range | None
    resets: Range | None

    def shift(self, amount: int) -> StepRange:
        """Return the step range of the next value plus an amount."""
        return StepRange(_shift_range(self.increments, amount), _shift_range(self.resets, amount))

    def union(self, other: StepRange) -> StepRange:
        """Return the step range of a value that has either of two step ranges."""
        increments = _union_of_ranges(self.increments, other.increments)
        return StepRange(increments, _union_of_ranges(self.resets, other.resets))

    def range_after(self, trip_count: int, start: Range) -> Range:
        """Return the range of the state after at most `trip_count` iterations, for an initial value in `start`."""
        low, high = _union_of_ranges(start, self.resets) or start
        lowest, highest = self.increments or (0, 0)
        return low + min(lowest, 0) * trip_count, high + max(highest, 0) * trip_count


def _shift_range(range_: Range | None, amount: int) -> Range | None:
    """Return the range moved by an amount; None for None."""
    return None if range_ is None else (range_[0] + amount, range_[1] + amount)


def _union_of_ranges(x: Range | None, y: Range | None) -> Range | None:
    """Return the union of the ranges that are not None; None if there are none."""
    if x is None or y is None:
        return x or y
    return min(x[0], y[0]), max(x[1], y[1])
