"""Search in sorted vectors, several searches side by side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from autoconv.backends.llvm.natives import PART, Routine, call, in_parts, native
from autoconv.backends.llvm.positions import Position, plus, times, unravelled
from autoconv.backends.llvm.roles import is_array, sizes
from autoconv.backends.llvm.scalars import Element, load, store
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node

if TYPE_CHECKING:
    from autoconv.backends.llvm.regions import Region

_WORK = 25  # of one step of one search, in units of 0.05 ns
_LANES = 8  # searches side by side, so that one need not wait for another's memory


@native("searchsorted", fits=lambda node: all(is_array(value.type) for value in node.inputs))
def write_searchsorted(region: Region, node: Node) -> None:
    """Halving without branches: a row of n elements takes as many steps for every number. nan is beyond all numbers."""
    (sequence, values), (result,) = node.inputs, node.results
    shape, wanted, to = sizes(sequence.type), sizes(values.type), result.type
    size, right = shape[-1], node.attributes.get("side", "left") == "right"
    rows = math.prod(shape[:-1])
    each = math.prod(wanted) // rows if rows else 0
    arguments = ["ptr noalias readonly %sequence", "ptr noalias readonly %values", "ptr noalias %result"]
    routine = Routine(region, [*arguments, *PART], "i1", short=True)
    out, b = routine.out, routine.b
    kind: Any = sequence.type
    dtype, target = kind.dtype, to.dtype  # type: ignore[union-attr]

    def is_less(x: Element, y: Element) -> Element:
        less = b.compare("lt", x, y)
        return less | (b.is_nan(y) & ~b.is_nan(x)) if dtype.is_floating else less

    def goes_before(found: Element, value: Element) -> Element:
        return ~is_less(value, found) if right else is_less(found, value)

    def search(row: Position, places: list[Position]) -> None:
        start = times(out, row, size)
        sought = [load(b, dtype, "%values", place) for place in places]
        cells = [out.alloca("i64") for _ in (None, *places)]
        for cell, number in zip(cells, (max(size, 1), *(0 for _ in places)), strict=True):
            store(b, b.constant(number, int64), cell, 0)
        with out.loop("0", str(max(size - 1, 0).bit_length())):
            left = load(b, int64, cells[0], 0)
            half = b.bits("lshr", left, 1)
            lows = [load(b, int64, cell, 0) for cell in cells[1:]]
            middle = plus(out, start, (half - 1).ir)
            found = [load(b, dtype, "%sequence", plus(out, middle, low.ir)) for low in lows]
            for one, value, low, cell in zip(found, sought, lows, cells[1:], strict=True):
                store(b, b.select(goes_before(one, value), low + half, low), cell, 0)
            store(b, left - half, cells[0], 0)
        for place, value, cell in zip(places, sought, cells[1:], strict=True):
            low = load(b, int64, cell, 0)
            if size:
                last = goes_before(load(b, dtype, "%sequence", plus(out, start, low.ir)), value)
                low = b.select(last, low + 1, low)
            store(b, b.cast(low, target), "%result", place)

    lanes = max(min(_LANES, each), 1)
    groups = -(-each // lanes)
    with out.loop("%first", "%last") as number:
        row, group = unravelled(out, number, (rows, groups))
        # The last group of a row begins earlier where it would not be full.
        begin, latest = times(out, group, lanes), each - lanes
        early = out.new(f"icmp slt i64 {begin}, {latest}")
        begin = plus(out, times(out, row, each), out.new(f"select i1 {early}, i64 {begin}, i64 {latest}"))
        search(row, [plus(out, begin, lane) for lane in range(lanes)])
    region.set(result, region.new_array(to))
    pointers = [f"ptr {region.data(value)}" for value in (sequence, values, result)]
    work = _WORK * rows * each * max(size, 1).bit_length()
    call(region, in_parts(region, arguments, routine, rows * groups, work), *pointers)
