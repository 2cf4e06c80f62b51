"""Bounds of slices that are known only at run time: start, length and step by Python's rules."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.index_arith import Position, plus
from autoconv.backends.llvm.ir.scalars import Element
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node

_INT64_MAX = 2**63 - 1


def resolve_bounds(
    region: LoweringContext, node: Node, parts: Sequence[Position | None], size: Position
) -> tuple[Position, Position, Position]:
    """Return (start, length, step) of a slice of a dimension of that size; `parts` are start, stop and step."""
    start, stop, step = map(_clamp_to_i64, parts)
    if isinstance(size, int) and not any(isinstance(part, str) for part in parts):
        first, last, width = slice(start, stop, step).indices(size)
        length = len(range(first, last, width))
        return (first if length else 0), length, width if length > 1 or abs(width) < 2**31 else 1
    if start in (None, 0) and stop is None and step in (None, 1):
        return 0, size, 1
    b = RegisterWriter(region)
    count = _number(b, size)
    if step is None or (isinstance(step, int) and step > 0):
        return _forward(b, start, stop, 1 if step is None else step, count)
    if isinstance(step, int):
        return _backward(b, start, stop, _number(b, step), count, step)
    step_number = _number(b, step)
    region.raise_if(node, step_number.same(0).ir)
    least = _number(b, -_INT64_MAX)
    step_number = b.select(step_number < least, least, step_number)  # the negative of -2**63 overflows
    is_forward = step_number > 0
    up, down = _forward(b, start, stop, step, count), _backward(b, start, stop, step_number, count, step)
    begin, steps = (b.select(is_forward, _number(b, x), _number(b, y)) for x, y in zip(up[:2], down[:2], strict=True))
    return begin.ir, steps.ir, b.select(steps > 1, step_number, _number(b, 1)).ir  # step times stride must not overflow


def _clamp_to_i64(part: Position | None) -> Position | None:
    """Clamp a bound or step to the 64-bit range, which has the same meaning for any array."""
    return max(min(part, _INT64_MAX), -_INT64_MAX) if isinstance(part, int) else part


def _number(b: RegisterWriter, position: Position) -> Element:
    return b.wrap(int64, str(position))


def _clamp(b: RegisterWriter, bound: Position, count: Element, low: int, high: Element) -> Element:
    """Normalise a bound to count from the start, clamped to [low, high]."""
    if bound == 0 and low == 0:
        return _number(b, 0)
    x = _number(b, bound)
    from_start = b.select(x < 0, x + count, x)
    least = b.select(from_start < low, _number(b, low), from_start)
    return b.select(least > high, high, least)


def _forward(
    b: RegisterWriter, start: Position | None, stop: Position | None, step: Position, count: Element
) -> tuple[Position, Position, Position]:
    first = _number(b, 0) if start is None else _clamp(b, start, count, 0, count)
    last = count if stop is None else _clamp(b, stop, count, 0, count)
    distance = _number(b, plus(b.out, last.ir if last.ir[0] == "%" else int(last.ir), _negative(b, first)))
    if step != 1:
        width = _number(b, step)
        distance = b.divide(distance - 1, b.select(width > 0, width, _number(b, 1))) + 1
        distance = b.select(last > first, distance, _number(b, 0))
    length = b.select(distance > 0, distance, _number(b, 0))
    return first.ir if first.ir[0] == "%" else int(first.ir), length.ir, step


def _negative(b: RegisterWriter, x: Element) -> Position:
    return (-x).ir if x.ir[0] == "%" else -int(x.ir)


def _backward(
    b: RegisterWriter, start: Position | None, stop: Position | None, width: Element, count: Element, step: Position
) -> tuple[Position, Position, Position]:
    last_one = count - 1
    first = last_one if start is None else _clamp(b, start, count, -1, last_one)
    last = _number(b, -1) if stop is None else _clamp(b, stop, count, -1, last_one)
    backward_step = b.select(width < 0, -width, _number(b, 1))
    length = b.select(first > last, b.divide(first - last - 1, backward_step) + 1, _number(b, 0))
    return b.select(length > 0, first, _number(b, 0)).ir, length.ir, step
