"""Sums and products so far along an axis, and linear recurrences, as loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from autoconv.backends.llvm.natives import PART, Routine, call, in_parts, native
from autoconv.backends.llvm.positions import Position, linear, plus, times, unravelled
from autoconv.backends.llvm.roles import is_array, sizes
from autoconv.backends.llvm.scalars import Element, load, memory, store
from autoconv.graph.graph import Node

if TYPE_CHECKING:
    from autoconv.backends.llvm.regions import Region

_LANES = 8  # rows side by side, so that one need not wait for the other's sum
_WORK = 8  # of one element, in units of 0.05 ns
_LONG = 4096  # from which on a single row is cut into as many parts


class _Walk:
    """Where elements lie: `outer` rows of `size` steps, each of `inner` columns, from the start or from the end."""

    def __init__(self, node: Node, shape: Sequence[int]) -> None:
        given = node.attributes["axis"]
        if given is None:
            shape, given = (math.prod(shape),), 0
        axis = given % len(shape)
        self.outer = math.prod(shape[:axis])
        self.size = shape[axis]
        self.inner = math.prod(shape[axis + 1 :])
        self.reverse = node.attributes.get("reverse", False)

    def at(self, out: Any, row: Position, step: Position, column: Position) -> Position:
        """The offset of an element."""
        along = plus(out, times(out, step, -1), self.size - 1) if self.reverse else step
        start = plus(out, times(out, row, self.size), along)
        return plus(out, times(out, start, self.inner), column)


def _scans(node: Node) -> bool:
    return all(is_array(value.type) for value in node.inputs)


@native("cumsum", "cumprod", "numpy_cumsum", "numpy_cumprod", fits=_scans)
def write_scan(region: Region, node: Node) -> None:
    """Across the columns where there are several, else several rows at once. A single long row is cut into parts: to
    each the sum of those before it is added afterwards. NumPy's own scans of floats keep to NumPy's order."""
    (x,), (result,) = node.inputs, node.results
    arguments = ["ptr noalias readonly %x", "ptr noalias %result"]
    routine = Routine(region, [*arguments, *PART], "i1")
    scan = _Scan(routine, node)
    walk = scan.walk
    if walk.inner > 1:
        rows = walk.outer
        scan.across()
    elif walk.outer < _LANES and walk.size >= _LONG and scan.is_associative:
        rows = 1
        scan.in_parts()
    else:
        rows = -(-walk.outer // _LANES)
        scan.by_rows()
    region.set(result, region.new_array(result.type))
    name = in_parts(region, arguments, routine, rows, _WORK * math.prod(sizes(result.type)))
    call(region, name, f"ptr {region.data(x)}", f"ptr {region.data(result)}")


class _Scan:
    def __init__(self, routine: Routine, node: Node) -> None:
        self.out, self.b = routine.out, routine.b
        type_: Any = node.inputs[0].type
        to: Any = node.results[0].type
        self.given, self.dtype = type_.dtype, to.dtype
        self.walk = _Walk(node, sizes(type_))
        self.product = node.op.name.endswith("cumprod")
        self.is_associative = not self.dtype.is_floating or node.op.name == "cumsum"
        self.exclusive = node.attributes.get("exclusive", False)
        self.start = self.b.constant(1 if self.product else 0, self.dtype)

    def element(self, place: Position) -> Element:
        return self.b.cast(load(self.b, self.given, "%x", place), self.dtype)

    def joined(self, x: Element, y: Element) -> Element:
        return x * y if self.product else x + y

    def across(self) -> None:
        """Step by step, all columns of a step in one loop."""
        out, b, at = self.out, self.b, self.walk.at
        if not self.walk.size:
            return
        with out.loop("%first", "%last") as row:
            with out.loop("0", str(self.walk.inner)) as column:
                place = at(out, row, 0, column)
                store(b, self.start if self.exclusive else self.element(place), "%result", place)
            with out.loop("1", str(self.walk.size)) as step:
                before = plus(out, step, -1)
                with out.loop("0", str(self.walk.inner)) as column:
                    last, place = at(out, row, before, column), at(out, row, step, column)
                    given = self.element(last if self.exclusive else place)
                    store(b, self.joined(load(b, self.dtype, "%result", last), given), "%result", place)

    def by_rows(self) -> None:
        """Of rows that are not as many, the last ones of before are gone over again."""
        out, walk = self.out, self.walk
        lanes = min(_LANES, walk.outer)
        with out.loop("%first", "%last") as block:
            first, latest = times(out, block, lanes), walk.outer - lanes
            early = out.new(f"icmp slt i64 {first}, {latest}")
            first = out.new(f"select i1 {early}, i64 {first}, i64 {latest}")
            self._side_by_side([plus(out, first, lane) for lane in range(lanes)], [0] * lanes, walk.size)

    def in_parts(self) -> None:
        out, b = self.out, self.b
        part = self.walk.size // _LANES
        with out.loop("0", str(self.walk.outer)) as row:
            cells = self._side_by_side([row] * _LANES, [lane * part for lane in range(_LANES)], part)
            total = load(b, self.dtype, cells[0], 0)
            for lane in range(1, _LANES):
                with out.loop(str(lane * part), str((lane + 1) * part)) as step:
                    place = self.walk.at(out, row, step, 0)
                    store(b, self.joined(total, load(b, self.dtype, "%result", place)), "%result", place)
                total = self.joined(total, load(b, self.dtype, cells[lane], 0))
            self._side_by_side([row], [_LANES * part], self.walk.size - _LANES * part, total)

    def _side_by_side(
        self, rows: Sequence[Position], begins: Sequence[int], length: int, start: Element | None = None
    ) -> list[str]:
        """So many steps in each row from where it begins; answers the memory that holds each one's last sum."""
        out, b = self.out, self.b
        cells = [out.alloca(memory(self.dtype)) for _ in rows]
        for cell in cells:
            store(b, start or self.start, cell, 0)
        with out.loop("0", str(length)) as step:
            places = [
                self.walk.at(out, row, plus(out, step, begin), 0) for row, begin in zip(rows, begins, strict=True)
            ]
            before = [load(b, self.dtype, cell, 0) for cell in cells]
            given = [self.element(place) for place in places]
            after = [self.joined(x, y) for x, y in zip(before, given, strict=True)]
            for cell, place, old, new in zip(cells, places, before, after, strict=True):
                store(b, new, cell, 0)
                store(b, old if self.exclusive else new, "%result", place)
        return cells


@native("linear_recurrence", fits=_scans)
def write_recurrence(region: Region, node: Node) -> None:
    """Each step is what is added there, and the coefficient there times the step before."""
    (coefficient, addend), (result,) = node.inputs, node.results
    routine = Routine(region, [f"ptr noalias {name}" for name in ("%coefficient", "%addend", "%result")])
    out, b = routine.out, routine.b
    type_: Any = result.type
    shape, dtype = sizes(type_), type_.dtype
    walk = _Walk(node, shape)

    def operand(name: str, value: Any, place: Position) -> Element:
        own = sizes(value.type)
        if own != shape:
            index = unravelled(out, place, shape)
            place = linear(out, tuple(0 if n == 1 else i for n, i in zip(own, index, strict=True)), own)
        return load(b, dtype, name, place)

    def step_of(row: Position, step: Position, first: bool) -> None:
        with out.loop("0", str(walk.inner)) as column:
            place = walk.at(out, row, step, column)
            found = operand("%addend", addend, place)
            if not first:
                last = load(b, dtype, "%result", walk.at(out, row, plus(out, step, -1), column))
                found = found + operand("%coefficient", coefficient, place) * last
            store(b, found, "%result", place)

    if math.prod(shape):
        with out.loop("0", str(walk.outer)) as row:
            step_of(row, 0, True)
            with out.loop("1", str(walk.size)) as step:
                step_of(row, step, False)
    region.set(result, region.new_array(result.type))
    data = [f"ptr {region.data(value)}" for value in (coefficient, addend, result)]
    call(region, routine.finish(), *data)
