"""Interval arithmetic on Python's ints, for constants, loop counters and ranges."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Range = tuple[int, int]
WHOLE: Range = (-(1 << 63), (1 << 63) - 1)
SIZES: Range = (0, 1 << 62)  # of dimensions and element counts


def result_range(name: str, given: Sequence[Range]) -> Range | None:
    """Return the interval of the result of an op on Python's ints, overflow disregarded; None where unknown."""
    rule = _RULES.get(name)
    return None if rule is None else rule(*given)


def is_inside(found: Range) -> bool:
    """Return whether 64 bits hold the interval."""
    return WHOLE[0] <= found[0] and found[1] <= WHOLE[1]


def _products(x: Range, y: Range) -> Range:
    found = [a * b for a in x for b in y]
    return min(found), max(found)


def _quotient(x: Range, y: Range) -> Range | None:
    if y[0] <= 0:
        return None
    found = [a // b for a in x for b in y]
    return min(found), max(found)


def _remainder(x: Range, y: Range) -> Range | None:
    if y[0] <= 0:
        return None
    return (0, min(x[1], y[1] - 1)) if x[0] >= 0 else (0, y[1] - 1)


def _item(position: Range, start: Range, stop: Range, step: Range) -> Range | None:
    if step[0] > 0:
        return start[0], max(stop[1] - 1, start[0])
    if step[1] < 0:
        return min(stop[0] + 1, start[1]), start[1]
    return None


def _length(start: Range, stop: Range, step: Range) -> Range:
    distance = max(stop[1] - start[0], 0) if step[0] > 0 else WHOLE[1]
    return 0, min(distance, WHOLE[1])


def _and(x: Range, y: Range) -> Range | None:
    known = [bounds[1] for bounds in (x, y) if bounds[0] >= 0]
    return (0, min(known)) if known else None


def _shifted(x: Range, y: Range) -> Range | None:
    return (x[0] >> y[0], x[1] >> y[0]) if x[0] >= 0 and y[0] == y[1] and 0 <= y[0] < 64 else None


_RULES: dict[str, Callable[..., Range | None]] = {
    "python_add": lambda x, y: (x[0] + y[0], x[1] + y[1]),
    "python_subtract": lambda x, y: (x[0] - y[1], x[1] - y[0]),
    "python_multiply": _products,
    "python_negative": lambda x: (-x[1], -x[0]),
    "python_floor_divide": _quotient,
    "python_modulo": _remainder,
    "python_and": _and,
    "python_right_shift": _shifted,
    "python_int": lambda x: x,
    "range_item": _item,
    "range_length": _length,
}  # fmt: skip

__all__ = ["SIZES", "WHOLE", "Range", "is_inside", "result_range"]
