"""Bounds of slices by Python's rules: start, length and step, as constants or registers."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.values import RegisterWriter, SliceBounds
from autoconv.backends.llvm.ir.index_arith import Position, plus
from autoconv.backends.llvm.ir.scalars import Element
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node
from autoconv.graph.linear_form import Range

_INT64_MAX = 2**63 - 1


def resolve_bounds(
    region: LoweringContext, node: Node, start_stop_step: Sequence[Position | None], size: Position
) -> SliceBounds:
    """Return the bounds of a slice of a dimension with `size` elements; equal arguments share one computation."""
    known_bounds, key = region.body.slice_bounds, (*map(str, start_stop_step), str(size))
    if key not in known_bounds:
        known_bounds[key] = _write_bounds(region, node, start_stop_step, size)
    return known_bounds[key]


def _write_bounds(
    region: LoweringContext, node: Node, start_stop_step: Sequence[Position | None], size: Position
) -> SliceBounds:
    """Return the bounds of a slice, as constants if start, stop, step and the size are constants."""
    start, stop, step = map(_clamp_to_i64, start_stop_step)
    if isinstance(size, int) and not any(isinstance(bound, str) for bound in start_stop_step):
        first, last, known_step = slice(start, stop, step).indices(size)
        length = len(range(first, last, known_step))
        # A step times a stride must not overflow. If there is one element at most, any step has the same meaning.
        is_step_kept = length > 1 or abs(known_step) < 2**31
        return SliceBounds(first if length else 0, length, known_step if is_step_kept else 1)
    if start in (None, 0) and stop is None and step in (None, 1):
        return SliceBounds(0, size, 1)
    return _SliceWriter(region, size).write_bounds(node, start, stop, step)


def _clamp_to_i64(bound: Position | None) -> Position | None:
    """Clamp a constant bound or step to 64 bits; the slice of any array stays the same."""
    return max(min(bound, _INT64_MAX), -_INT64_MAX) if isinstance(bound, int) else bound


class _SliceWriter:
    """A writer of the bounds of a slice in a dimension; tests that known ranges of integers decide are left out."""

    def __init__(self, region: LoweringContext, size: Position) -> None:
        self._region = region
        self._b = RegisterWriter(region)
        self._size = self._to_element(size)

    def write_bounds(
        self, node: Node, start: Position | None, stop: Position | None, step: Position | None
    ) -> SliceBounds:
        """Return the bounds; for a step that is known only at run time, select from both directions."""
        b, to_element = self._b, self._to_element
        if step is None or (isinstance(step, int) and step > 0):
            return self._forward_bounds(start, stop, 1 if step is None else step)
        if isinstance(step, int):
            return self._backward_bounds(start, stop, to_element(step), step)
        step_number = to_element(step)
        self._region.raise_if(node, step_number.same(0).ir)
        least = to_element(-_INT64_MAX)
        step_number = b.select(step_number < least, least, step_number)  # the negative of -2**63 overflows
        is_forward = step_number > 0
        forward = self._forward_bounds(start, stop, step)
        backward = self._backward_bounds(start, stop, step_number, step)
        choices = zip(forward[:2], backward[:2], strict=True)
        begin, length = (b.select(is_forward, to_element(x), to_element(y)) for x, y in choices)
        # A step times a stride must not overflow, so a single element has the step 1.
        return SliceBounds(begin.ir, length.ir, b.select(length > 1, step_number, to_element(1)).ir)

    def _to_element(self, position: Position) -> Element:
        """Return a constant or a register as an int64."""
        return self._b.wrap(int64, str(position))

    def _range(self, number: Element) -> Range:
        """Return the range of an integer."""
        return self._region.body.range_of(number)

    def _clamp(self, bound: Position, low: int, high: Element) -> Element:
        """Return a bound that is normalised to count from the start and clamped to [low, high].

        `low` is 0 and `high` the size, or both are less by one.
        """
        if bound == 0 and low == 0:
            return self._to_element(0)
        b, x = self._b, self._to_element(bound)
        least, greatest = self._range(x)
        result = x
        if least < 0:
            from_start = b.select(x < 0, x + self._size, x)
            result = b.select(from_start < low, self._to_element(low), from_start)
        least_high, greatest_high = self._range(high)
        # Both a bound of at most `size + low` and a negative one, to which the size is added, are at most `high`.
        is_within = greatest <= least_high or self._region.body.is_below(x, self._size.ir, low + 1)
        if not is_within:
            result = b.select(result > high, high, result)
        self._region.body.record_range(result, (min(max(least, low), least_high), greatest_high))
        return result

    def _forward_bounds(
        self, start: Position | None, stop: Position | None, step: Position
    ) -> SliceBounds:
        """Return the bounds for a positive step: clamped to 0 and the size, the length rounded up."""
        b, to_element = self._b, self._to_element
        first = to_element(0) if start is None else self._clamp(start, 0, self._size)
        last = self._size if stop is None else self._clamp(stop, 0, self._size)
        known_distance = self._region.body.known_difference(last, first)
        if known_distance is not None and step == 1:
            return SliceBounds(_to_position(first), max(known_distance, 0), 1)
        distance = to_element(plus(b.out, _to_position(last), _negative(b, first)))
        if step != 1:
            step_number = to_element(step)
            distance = b.divide(distance - 1, b.select(step_number > 0, step_number, to_element(1))) + 1
            distance = b.select(last > first, distance, to_element(0))
        is_ordered = step == 1 and self._range(first)[1] <= self._range(last)[0]
        length = distance if is_ordered else b.select(distance > 0, distance, to_element(0))
        return SliceBounds(_to_position(first), length.ir, step)

    def _backward_bounds(
        self, start: Position | None, stop: Position | None, step_number: Element, step: Position
    ) -> SliceBounds:
        """Return the bounds for a negative step: clamped to -1 and the last position, the length rounded up.

        `step_number` is the step as a number of the code, `step` the step of the bounds that are returned.
        """
        b, to_element = self._b, self._to_element
        last_position = self._size - 1
        first = last_position if start is None else self._clamp(start, -1, last_position)
        last = to_element(-1) if stop is None else self._clamp(stop, -1, last_position)
        backward_step = b.select(step_number < 0, -step_number, to_element(1))
        length = b.select(first > last, b.divide(first - last - 1, backward_step) + 1, to_element(0))
        return SliceBounds(b.select(length > 0, first, to_element(0)).ir, length.ir, step)


def _to_position(x: Element) -> Position:
    """Return an int64 as a constant or a register."""
    return x.ir if x.ir[0] == "%" else int(x.ir)


def _negative(b: RegisterWriter, x: Element) -> Position:
    """Return the negative of an int64, as a constant or a register."""
    return (-x).ir if x.ir[0] == "%" else -int(x.ir)
