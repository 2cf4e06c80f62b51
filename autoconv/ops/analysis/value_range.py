"""Interval arithmetic on Python's ints, for constants, loop counters and ranges.

A `Range` is (lowest number, highest number). A rule takes the ranges of an op's operands, and returns the range of the
result; None if it is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from autoconv.graph.dtypes import DType
from autoconv.graph.linear_form import INT64_RANGE, Range
from autoconv.graph.python_operators import BINARY

Ranges = list[Range | None]  # of values in order; None for a value that is no integer
SIZE_RANGE: Range = (0, 1 << 62)  # of dimensions and element counts
BOOL_RANGE: Range = (0, 1)


@cache
def limits_of_dtype(dtype: DType) -> Range | None:
    """Return the range of a dtype of integers or bools; None for another dtype."""
    if dtype.is_bool:
        return BOOL_RANGE
    return (int(dtype.min), int(dtype.max)) if dtype.is_integer else None


def result_range(name: str, ranges: Sequence[Range]) -> Range | None:
    """Return the interval of the result of an op on integers, as if it could not overflow; None if it is unknown."""
    rule = _RULES.get(name) or _TENSOR_RULES.get(name)
    return None if rule is None else rule(*ranges)


def is_within_int64(range_: Range) -> bool:
    """Return whether all numbers of the interval fit int64."""
    return INT64_RANGE[0] <= range_[0] and range_[1] <= INT64_RANGE[1]


def intersection(first: Range, second: Range) -> Range | None:
    """Return the integers in both intervals; None if there are none."""
    low, high = max(first[0], second[0]), min(first[1], second[1])
    return (low, high) if low <= high else None


def union(ranges: Sequence[Range | None]) -> Range | None:
    """Return the smallest range that contains the ranges that are not None; None if all are."""
    known_ranges = [range_ for range_ in ranges if range_ is not None]
    return (min(low for low, _ in known_ranges), max(high for _, high in known_ranges)) if known_ranges else None


def join_ranges(first: Ranges, second: Ranges) -> Ranges:
    """Return the union of each pair of ranges; None if one of the two is unknown."""
    return [None if None in pair else union(pair) for pair in zip(first, second, strict=True)]


def comparison_range(name: str, ranges: Sequence[Range]) -> Range | None:
    """Return the range of a comparison's result, a bool; None for other ops."""
    tests = _COMPARISONS.get(name.removeprefix("python_"))
    if tests is None or len(ranges) != 2:
        return None
    is_always_true, is_always_false = tests
    return (1, 1) if is_always_true(*ranges) else (0, 0) if is_always_false(*ranges) else BOOL_RANGE


def implied_ranges(name: str, ranges: Sequence[Range], holds: bool) -> tuple[Range, Range] | None:
    """Return the ranges of a comparison's operands, narrowed by whether it `holds`; None for other ops."""
    name = name.removeprefix("python_")
    if name not in _COMPARISONS or len(ranges) != 2:
        return None
    if not holds:
        name = _OPPOSITES[name]
    x, y = ranges
    if name in ("greater", "greater_equal"):
        y, x = _ordered_ranges(y, x, int(name == "greater"))
    elif name in ("less", "less_equal"):
        x, y = _ordered_ranges(x, y, int(name == "less"))
    elif name == "equal":
        x = y = intersection(x, y) or x
    elif name == "not_equal":
        x, y = _without(x, y), _without(y, x)
    return x, y


def cast_range(range_: Range, limits: Range) -> Range | None:
    """Return the interval of an integer after a cast to a dtype with these limits; None if it may not fit."""
    if limits == BOOL_RANGE:  # a cast to bool takes the truth
        return (1, 1) if range_[0] > 0 or range_[1] < 0 else (0, 0) if range_ == (0, 0) else BOOL_RANGE
    return range_ if intersection(range_, limits) == range_ else None


def _ordered_ranges(x: Range, y: Range, distance: int) -> tuple[Range, Range]:
    """Return the ranges of `x` and `y` where `x + distance <= y`."""
    return (x[0], min(x[1], y[1] - distance)), (max(y[0], x[0] + distance), y[1])


def _without(x: Range, y: Range) -> Range:
    """Return `x` without the number `y`, if `y` is a single number at one of its ends."""
    if y[0] != y[1] or x[0] == x[1]:
        return x
    return x[0] + (x[0] == y[0]), x[1] - (x[1] == y[1])


def _products(x: Range, y: Range) -> Range:
    """Return the range of the product of two numbers."""
    products = [first * second for first in x for second in y]
    return min(products), max(products)


def _quotient(x: Range, y: Range) -> Range | None:
    """Return the range of the quotient, rounded down; None unless the divisor is positive."""
    if y[0] <= 0:
        return None
    quotients = [dividend // divisor for dividend in x for divisor in y]
    return min(quotients), max(quotients)


def _remainder(x: Range, y: Range) -> Range | None:
    """Return the range of the remainder; None unless the divisor is positive."""
    if y[0] <= 0:
        return None
    return (0, min(x[1], y[1] - 1)) if x[0] >= 0 else (0, y[1] - 1)


def _range_item(position: Range, start: Range, stop: Range, step: Range) -> Range | None:
    """Return the range of the items of Python's range; None unless the sign of its step is known."""
    if step[0] > 0:
        return start[0], max(stop[1] - 1, start[0])
    if step[1] < 0:
        return min(stop[0] + 1, start[1]), start[1]
    return None


def _range_length(start: Range, stop: Range, step: Range) -> Range:
    """Return the range of the length of Python's range."""
    distance = max(stop[1] - start[0], 0) if step[0] > 0 else INT64_RANGE[1]
    return 0, min(distance, INT64_RANGE[1])


def _and(x: Range, y: Range) -> Range | None:
    """Return the range of `x & y`: no greater than any operand that is not negative; None if both may be negative."""
    upper_bounds = [bounds[1] for bounds in (x, y) if bounds[0] >= 0]
    return (0, min(upper_bounds)) if upper_bounds else None


def _or(x: Range, y: Range) -> Range:
    """Return the range of `x | y`."""
    low, high = _xor(x, y)
    return (max(x[0], y[0]), high) if x[0] >= 0 and y[0] >= 0 else (low, high)


def _xor(x: Range, y: Range) -> Range:
    """Return the range of `x ^ y`: that of all numbers with as many bits as the operands have."""
    bits = max(bound.bit_length() if bound >= 0 else (~bound).bit_length() for bound in (*x, *y))
    return (0 if x[0] >= 0 and y[0] >= 0 else -(1 << bits)), (1 << bits) - 1


def _shift_right(x: Range, y: Range) -> Range | None:
    """Return the range of `x >> y`; None if each distance is negative."""
    if y[1] < 0:
        return None
    bounds = [bound >> min(max(distance, 0), 63) for bound in x for distance in y]  # a negative distance raises
    return min(bounds), max(bounds)


def _shift_left(x: Range, y: Range) -> Range | None:
    """Return the range of `x << y`; None for distances that are negative or large."""
    if y[0] < 0 or y[1] > 62:
        return None
    bounds = [bound << distance for bound in x for distance in y]
    return min(bounds), max(bounds)


def _absolute(x: Range) -> Range:
    """Return the range of the absolute value."""
    return max(x[0], -x[1], 0), max(-x[0], x[1])


_RULES: dict[str, Callable[..., Range | None]] = {
    "python_add": lambda x, y: (x[0] + y[0], x[1] + y[1]),
    "python_subtract": lambda x, y: (x[0] - y[1], x[1] - y[0]),
    "python_multiply": _products,
    "python_negative": lambda x: (-x[1], -x[0]),
    "python_floor_divide": _quotient,
    "python_modulo": _remainder,
    "python_and": _and,
    "python_or": _or,
    "python_xor": _xor,
    "python_invert": lambda x: (~x[1], ~x[0]),
    "python_abs": _absolute,
    "python_left_shift": _shift_left,
    "python_right_shift": _shift_right,
    "python_int": lambda x: x,
    "range_item": _range_item,
    "range_length": _range_length,
}  # fmt: skip

# By op on tensors: the rules of ops that compute as the op on Python numbers does. Results beyond the dtype wrap
# around, so an interval that exceeds that of the dtype does not hold.
_TENSOR_RULES: dict[str, Callable[..., Range | None]] = {
    operator.tensor_op: _RULES[operator.number_op]
    for operator in BINARY if operator.number_op in _RULES and operator.name not in ("lshift", "rshift")
} | {
    "negative": _RULES["python_negative"],
    "abs": _absolute,
    "minimum": lambda x, y: (min(x[0], y[0]), min(x[1], y[1])),
    "maximum": lambda x, y: (max(x[0], y[0]), max(x[1], y[1])),
}  # fmt: skip

# By comparison, two tests of intervals: whether it holds for all of their numbers, and whether it holds for none.
_COMPARISONS: dict[str, tuple[Callable[[Range, Range], bool], Callable[[Range, Range], bool]]] = {
    "less": (lambda x, y: x[1] < y[0], lambda x, y: x[0] >= y[1]),
    "less_equal": (lambda x, y: x[1] <= y[0], lambda x, y: x[0] > y[1]),
    "greater": (lambda x, y: x[0] > y[1], lambda x, y: x[1] <= y[0]),
    "greater_equal": (lambda x, y: x[0] >= y[1], lambda x, y: x[1] < y[0]),
    "equal": (lambda x, y: x == y and x[0] == x[1], lambda x, y: intersection(x, y) is None),
    "not_equal": (lambda x, y: intersection(x, y) is None, lambda x, y: x == y and x[0] == x[1]),
}
_OPPOSITES = {
    "less": "greater_equal", "greater_equal": "less", "greater": "less_equal", "less_equal": "greater",
    "equal": "not_equal", "not_equal": "equal",
}  # fmt: skip
