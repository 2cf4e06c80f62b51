"""Search in sorted vectors, several searches side by side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from autoconv.backends.llvm.natives import Routine, call, native
from autoconv.backends.llvm.positions import Position, plus, times
from autoconv.backends.llvm.roles import is_array, sizes
from autoconv.backends.llvm.scalars import Element, load, store
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node

if TYPE_CHECKING:
    from autoconv.backends.llvm.regions import Region

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
    routine = Routine(region, arguments, short=True)
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

    with out.loop("0", str(rows)) as row:
        first = times(out, row, each)
        whole = each // _LANES
        with out.loop("0", str(whole)) as block:
            begin = plus(out, first, times(out, block, _LANES))
            search(row, [plus(out, begin, lane) for lane in range(_LANES)])
        with out.loop(str(whole * _LANES), str(each)) as i:
            search(row, [plus(out, first, i)])
    region.set(result, region.new_array(to))
    pointers = [f"ptr {region.data(value)}" for value in (sequence, values, result)]
    call(region, routine.finish(), *pointers)
