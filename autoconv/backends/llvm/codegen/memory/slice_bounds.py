"""Bounds of slices that are known only at run time: start, length and step by Python's rules."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.index_arith import Position, plus
from autoconv.backends.llvm.ir.scalars import Element
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node
from autoconv.ops.analysis.value_range import Range

_INT64_MAX = 2**63 - 1


def resolve_bounds(
    region: LoweringContext, node: Node, parts: Sequence[Position | None], size: Position
) -> tuple[Position, Position, Position]:
    """Return (start, length, step) of a slice of a dimension of that size; `parts` are start, stop and step."""
    known, key = region.body.slice_bounds, (*map(str, parts), str(size))
    if key not in known:
        known[key] = _resolve(region, node, parts, size)
    return known[key]


def _resolve(
    region: LoweringContext, node: Node, parts: Sequence[Position | None], size: Position
) -> tuple[Position, Position, Position]:
    start, stop, step = map(_clamp_to_i64, parts)
    if isinstance(size, int) and not any(isinstance(part, str) for part in parts):
        first, last, width = slice(start, stop, step).indices(size)
        length = len(range(first, last, width))
        return (first if length else 0), length, width if length > 1 or abs(width) < 2**31 else 1
    if start in (None, 0) and stop is None and step in (None, 1):
        return 0, size, 1
    return _RunTimeSlice(region, size).resolve(node, start, stop, step)


def _clamp_to_i64(part: Position | None) -> Position | None:
    """Clamp a bound or step to the 64-bit range, which has the same meaning for any array."""
    return max(min(part, _INT64_MAX), -_INT64_MAX) if isinstance(part, int) else part


class _RunTimeSlice:
    """The writer of a slice's bounds in a dimension; ranges make tests redundant."""

    def __init__(self, region: LoweringContext, size: Position) -> None:
        self._region = region
        self._b = RegisterWriter(region)
        self._size = self._number(size)

    def resolve(
        self, node: Node, start: Position | None, stop: Position | None, step: Position | None
    ) -> tuple[Position, Position, Position]:
        b, number = self._b, self._number
        if step is None or (isinstance(step, int) and step > 0):
            return self._forward(start, stop, 1 if step is None else step)
        if isinstance(step, int):
            return self._backward(start, stop, number(step), step)
        step_number = number(step)
        self._region.raise_if(node, step_number.same(0).ir)
        least = number(-_INT64_MAX)
        step_number = b.select(step_number < least, least, step_number)  # the negative of -2**63 overflows
        is_forward = step_number > 0
        up, down = self._forward(start, stop, step), self._backward(start, stop, step_number, step)
        begin, steps = (b.select(is_forward, number(x), number(y)) for x, y in zip(up[:2], down[:2], strict=True))
        # The step times the stride must not overflow.
        return begin.ir, steps.ir, b.select(steps > 1, step_number, number(1)).ir

    def _number(self, position: Position) -> Element:
        return self._b.wrap(int64, str(position))

    def _range(self, number: Element) -> Range:
        return self._region.body.range_of(number)

    def _clamp(self, bound: Position, low: int, high: Element) -> Element:
        """Normalise a bound to count from the start, clamped to [low, high]."""
        if bound == 0 and low == 0:
            return self._number(0)
        b, x = self._b, self._number(bound)
        least, greatest = self._range(x)
        result = x
        if least < 0:
            from_start = b.select(x < 0, x + self._size, x)
            result = b.select(from_start < low, self._number(low), from_start)
        limits = self._range(high)
        if least < 0 or greatest > limits[0]:
            result = b.select(result > high, high, result)
        self._region.body.record_range(result, (min(max(least, low), limits[0]), limits[1]))
        return result

    def _forward(
        self, start: Position | None, stop: Position | None, step: Position
    ) -> tuple[Position, Position, Position]:
        b, number = self._b, self._number
        first = number(0) if start is None else self._clamp(start, 0, self._size)
        last = self._size if stop is None else self._clamp(stop, 0, self._size)
        distance = number(plus(b.out, last.ir if last.ir[0] == "%" else int(last.ir), _negative(b, first)))
        if step != 1:
            width = number(step)
            distance = b.divide(distance - 1, b.select(width > 0, width, number(1))) + 1
            distance = b.select(last > first, distance, number(0))
        is_ordered = step == 1 and self._range(first)[1] <= self._range(last)[0]
        length = distance if is_ordered else b.select(distance > 0, distance, number(0))
        return first.ir if first.ir[0] == "%" else int(first.ir), length.ir, step

    def _backward(
        self, start: Position | None, stop: Position | None, width: Element, step: Position
    ) -> tuple[Position, Position, Position]:
        b, number = self._b, self._number
        last_one = self._size - 1
        first = last_one if start is None else self._clamp(start, -1, last_one)
        last = number(-1) if stop is None else self._clamp(stop, -1, last_one)
        backward_step = b.select(width < 0, -width, number(1))
        length = b.select(first > last, b.divide(first - last - 1, backward_step) + 1, number(0))
        return b.select(length > 0, first, number(0)).ir, length.ir, step


def _negative(b: RegisterWriter, x: Element) -> Position:
    return (-x).ir if x.ir[0] == "%" else -int(x.ir)
