"""Terms whose sizes are values, and bounds of integers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autoconv.backends.portable.terms import Term
from autoconv.graph.dtypes import DType

Interval = tuple[int | None, int | None]  # the smallest and the largest value; None if unknown


class BoundedTerm(Term):
    """An array in storage of a known size, which begins with it: `lengths` has its own size along some axes."""

    __slots__ = ("lengths", "storage")

    def __init__(self, storage: Term, lengths: Mapping[int, Term]) -> None:
        shape = tuple(None if axis in lengths else size for axis, size in enumerate(storage.shape))
        super().__init__(storage.writer, storage.name, storage.dtype, shape)
        self.storage = storage
        self.lengths = dict(lengths)


def bounded(storage: Term, lengths: Mapping[int, Term]) -> Term:
    """Return an array in storage of a known size; without lengths it is the storage."""
    return BoundedTerm(storage, lengths) if lengths else storage


def storage_of(x: Term) -> Term:
    """Return the array of known sizes that holds the elements."""
    return x.storage if isinstance(x, BoundedTerm) else x


def lengths_of(x: Term) -> dict[int, Term]:
    """Return the lengths of an array by axis."""
    return x.lengths if isinstance(x, BoundedTerm) else {}


def length_of(x: Term, axis: int) -> Term | None:
    """Return the length along an axis, which may count from the end; None if its size is known."""
    return x.lengths.get(axis % x.rank) if isinstance(x, BoundedTerm) else None


def interval_of(x: Any) -> Interval:
    """Return the bounds of an integer, or of the elements of an array of integers."""
    value = x.constant_value if isinstance(x, Term) else x if isinstance(x, int) else None
    if value is not None:
        return value, value
    return x.interval or (None, None) if isinstance(x, Term) else (None, None)


def is_bounded_size(x: Term) -> bool:
    """Return whether an array may have this size: it is a scalar from 0 to a known bound."""
    low, high = interval_of(x)
    return not x.shape and low is not None and low >= 0 and high is not None


def largest_value(size: Term) -> int:
    """Return the largest value of a size."""
    high = interval_of(size)[1]
    assert high is not None
    return high


def interval_of_operation(name: str, x: Any, y: Any) -> Interval:
    """Return the bounds of an operation's result, without regard to overflow."""
    (x_low, x_high), (y_low, y_high) = interval_of(x), interval_of(y)

    def apply(compute: Any, first: int | None, second: int | None) -> int | None:
        return None if first is None or second is None else int(compute(first, second))

    match name:
        case "add":
            return apply(int.__add__, x_low, y_low), apply(int.__add__, x_high, y_high)
        case "subtract":
            return apply(int.__sub__, x_low, y_high), apply(int.__sub__, x_high, y_low)
        case "multiply" if (x_low or -1) >= -1 and x_low is not None and y_low is not None and min(x_low, y_low) >= 0:
            return x_low * y_low, apply(int.__mul__, x_high, y_high)
        case "maximum":
            known = [low for low in (x_low, y_low) if low is not None]
            return max(known, default=None), apply(max, x_high, y_high)
        case "minimum":
            known = [high for high in (x_high, y_high) if high is not None]
            return apply(min, x_low, y_low), min(known, default=None)
        case "divide" if x_low is not None and x_low >= 0 and y_low is not None and y_low >= 1:
            return 0, None if x_high is None else x_high // y_low
    return None, None


def interval_of_choice(x: Any, y: Any) -> Interval:
    """Return the bounds of one of two numbers."""
    (x_low, x_high), (y_low, y_high) = interval_of(x), interval_of(y)
    return (
        None if x_low is None or y_low is None else min(x_low, y_low),
        None if x_high is None or y_high is None else max(x_high, y_high),
    )


def fits(interval: Interval, dtype: DType) -> bool:
    """Return whether a dtype has all numbers between known bounds, so that no operation has overflowed."""
    return all(bound is None or dtype.min <= bound <= dtype.max for bound in interval)


def neutral_number(op: str, dtype: DType) -> Any:
    """Return the number that leaves every other one as it is, for a fold."""
    match op:
        case "multiply":
            return 1
        case "and":
            return True if dtype.is_bool else dtype.max if dtype.is_unsigned else -1
        case "maximum" | "minimum" if dtype.is_bool:
            return op == "minimum"
        case "maximum":
            return float("-inf") if dtype.is_floating else dtype.min
        case "minimum":
            return float("inf") if dtype.is_floating else dtype.max
    return 0
