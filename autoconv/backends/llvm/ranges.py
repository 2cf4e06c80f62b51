"""What is known of integers in registers: between which numbers they lie.

Sums that cannot overflow are not checked, nor are positions that are in range. What is known comes from constants, from
counters of loops and from ranges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autoconv.backends.llvm.scalars import Element, ElementWriter
from autoconv.graph.dtypes import int64

Range = tuple[int, int]
WHOLE: Range = (-(1 << 63), (1 << 63) - 1)


def result_range(name: str, given: Sequence[Range], attributes: Mapping[str, Any]) -> Range | None:
    """Of the result of an op on Python's ints, as long as it does not overflow; None where nothing is known."""
    rule = _RULES.get(name)
    return None if rule is None else rule(*given)


def is_inside(found: Range) -> bool:
    return WHOLE[0] <= found[0] and found[1] <= WHOLE[1]


def unchecked(b: ElementWriter, name: str, operands: Sequence[Element], given: Sequence[Range]) -> Element | None:
    """The result of an op that is known not to raise; None where it has no shorter form."""
    if any(x.dtype is not int64 for x in operands):
        return None
    if name in _PLAIN:
        x, y = operands
        return b.wrap(int64, b.out.new(f"{_PLAIN[name]} nsw i64 {x.ir}, {y.ir}"))
    if name in ("python_floor_divide", "python_modulo") and given[0][0] >= 0 and given[1][0] > 0:
        x, y = operands
        return b.wrap(int64, b.out.new(f"{'udiv' if name == 'python_floor_divide' else 'urem'} i64 {x.ir}, {y.ir}"))
    return None


_PLAIN = {"python_add": "add", "python_subtract": "sub", "python_multiply": "mul"}


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
}  # fmt: skip

__all__ = ["WHOLE", "Range", "is_inside", "result_range", "unchecked"]
