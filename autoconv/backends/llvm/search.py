"""Searches for the first of the best along an axis."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autoconv.backends.llvm.natives import PART, Routine, call, in_parts
from autoconv.backends.llvm.positions import Position, plus, times
from autoconv.backends.llvm.roles import is_scalar, sizes
from autoconv.backends.llvm.scalars import Element, ElementWriter, load, memory, store
from autoconv.graph.dtypes import bool_, int32, int64, uint32
from autoconv.graph.graph import Node

if TYPE_CHECKING:
    from autoconv.backends.llvm.regions import Region

_BLOCK = 64  # columns that are searched side by side
_PIECE = 4096  # of a row
_WORK = 4  # of one element, in units of 0.05 ns


def write_search(region: Region, node: Node) -> None:
    """argmax and argmin: the first of the best, or the first nan."""
    (x,), (result,) = node.inputs, node.results
    arguments = ["ptr noalias readonly %x", "ptr noalias %result"]
    search = _Search(Routine(region, [*arguments, *PART], "i1"), node)
    name = in_parts(region, arguments, search.routine, search.outer, _WORK * math.prod(sizes(x.type)))
    if is_scalar(result.type):
        target = region.out.alloca(memory(result.type.dtype))  # type: ignore[union-attr]
    else:
        region.set(result, region.new_array(result.type))
        target = region.data(result)
    call(region, name, f"ptr {region.data(x)}", f"ptr {target}")
    if is_scalar(result.type):
        region.set(result, load(ElementWriter(region.out), result.type.dtype, target, 0))  # type: ignore[union-attr]


class _Search:
    """`outer` rows of `size` steps, each of `inner` columns."""

    def __init__(self, routine: Routine, node: Node) -> None:
        (x,), (result,) = node.inputs, node.results
        shape = sizes(x.type)
        axis = node.attributes.get("axis", 0) % len(shape)
        self.outer, self.size, self.inner = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
        self.routine, self.out, self.b = routine, routine.out, routine.b
        self._dtype: Any = x.type.dtype  # type: ignore[union-attr]
        self._result: Any = result.type.dtype  # type: ignore[union-attr]
        self._test = "gt" if node.op.name == "argmax" else "lt"
        with self.out.loop("%first", "%last") as row:
            self._row(row) if self.inner == 1 else self._columns(row)

    def _at(self, row: Position, step: Position, column: Position = 0) -> Element:
        start = plus(self.out, times(self.out, row, self.size), step)
        return load(self.b, self._dtype, "%x", plus(self.out, times(self.out, start, self.inner), column))

    def _row(self, row: Position) -> None:
        """What the best is, and then the first place where it is: each is work for vectors. A long row goes piece by
        piece, and the place is looked for in the best one alone."""
        out, b, size = self.out, self.b, self.size
        if size <= _PIECE:
            best = self._best(row, "0", str(size))
            self._place(row, best, "0", str(size))
            return
        kind = memory(best_dtype := self._key_dtype())
        cell, start = out.alloca(kind), out.alloca("i64")
        store(b, self._best(row, "0", str(_PIECE)), cell, 0)
        out.line(f"store i64 0, ptr {start}")

        def stop(first: Position) -> str:
            end = out.new(f"add nsw i64 {first}, {_PIECE}")
            return out.new(f"select i1 {out.new(f'icmp slt i64 {end}, {size}')}, i64 {end}, i64 {size}")

        with out.loop("1", str(-(-size // _PIECE))) as piece:
            first = times(out, piece, _PIECE)
            here, before = self._best(row, str(first), stop(first)), load(b, best_dtype, cell, 0)
            better = b.compare(self._test, here, before).ir
            store(b, b.select(b.wrap(bool_, better), here, before), cell, 0)
            old = out.new(f"load i64, ptr {start}")
            out.line(f"store i64 {out.new(f'select i1 {better}, i64 {first}, i64 {old}')}, ptr {start}")
        first = out.new(f"load i64, ptr {start}")
        self._place(row, load(b, best_dtype, cell, 0), first, stop(first))

    def _key_dtype(self) -> Any:
        return {4: int32, 8: int64}[self._dtype.size] if self._dtype.is_floating else self._dtype

    def _key(self, row: Position, step: Position) -> Element:
        """The element as an integer of the same order: nan is the best, and -0.0 what 0.0 is."""
        here, b = self._at(row, step), self.b
        if not self._dtype.is_floating:
            return here
        dtype = self._key_dtype()
        bits = b.bitcast(here + 0.0, dtype)
        ordered = bits ^ (b.bits("ashr", bits, dtype.size * 8 - 1) & dtype.max)
        return b.select(b.is_nan(here), dtype.max if self._test == "gt" else dtype.min, ordered)

    def _best(self, row: Position, first: str, last: str) -> Element:
        dtype = self._key_dtype()
        name = ("u" if dtype.is_unsigned else "s") + ("max" if self._test == "gt" else "min")
        worst = dtype.min if self._test == "gt" else dtype.max
        return self._joined(dtype, worst, lambda step: self._key(row, step), name, first, last)

    def _place(self, row: Position, best: Element, first: str, last: str) -> None:
        """The first place of the best one."""

        def place(step: Position) -> Element:
            number = self.b.wrap(uint32, self.out.new(f"trunc i64 {step} to i32"))
            return self.b.select(self._key(row, step).same(best), number, uint32.max)

        found = self._joined(uint32, uint32.max, place, "umin", first, last)
        store(self.b, self.b.cast(found, self._result), "%result", row)

    def _joined(
        self, dtype: Any, start: int, element: Callable[[Position], Element], name: str, first: str, last: str
    ) -> Element:
        """The elements of a row from the first to the last, joined by an intrinsic function."""
        b, cell = self.b, self.out.alloca(memory(dtype))
        store(b, b.constant(start, dtype), cell, 0)
        with self.out.loop(first, last) as step:
            store(b, b.intrinsic(name, load(b, dtype, cell, 0), element(step)), cell, 0)
        return load(b, dtype, cell, 0)

    def _columns(self, row: Position) -> None:
        """Block by block, each step for all columns of the block."""
        out, width = self.out, min(_BLOCK, self.inner)
        best = out.alloca(f"[{width} x {memory(self._dtype)}]")
        where = out.alloca(f"[{width} x i32]")
        with out.loop("0", str(self.inner // width)) as block:
            self._block(row, times(out, block, width), width, best, where)
        if self.inner % width:
            self._block(row, self.inner - self.inner % width, self.inner % width, best, where)

    def _block(self, row: Position, start: Position, width: int, best: str, where: str) -> None:
        out, b = self.out, self.b
        with out.loop("0", str(width)) as i:
            store(b, self._at(row, 0, plus(out, start, i)), best, i)
            store(b, b.constant(0, int32), where, i)
        with out.loop("1", str(self.size)) as step:
            number = b.wrap(int32, out.new(f"trunc i64 {step} to i32"))
            with out.loop("0", str(width)) as i:
                here, before = self._at(row, step, plus(out, start, i)), load(b, self._dtype, best, i)
                better = b.compare(self._test, here, before)
                if self._dtype.is_floating:
                    better = (better | b.is_nan(here)) & ~b.is_nan(before)
                store(b, b.select(better, here, before), best, i)
                store(b, b.select(better, number, load(b, int32, where, i)), where, i)
        with out.loop("0", str(width)) as i:
            place = plus(out, plus(out, times(out, row, self.inner), start), i)
            store(b, b.cast(load(b, int32, where, i), self._result), "%result", place)
