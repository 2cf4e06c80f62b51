"""Search for the first extreme along an axis."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autoconv.backends.llvm.analysis.representation import is_scalar, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import class_lowering
from autoconv.backends.llvm.codegen.routine import PART, Routine, call, open_dimensions, partitioned_routine
from autoconv.backends.llvm.codegen.sort.float_order import better_key, key_dtype, search_key, worst_key
from autoconv.backends.llvm.ir.index_arith import Position, element_count, is_known, plus, product, times
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, load, store
from autoconv.backends.llvm.ir.types import memory
from autoconv.graph.dtypes import bool_, int32, uint32
from autoconv.graph.graph import Node

_BLOCK = 64  # columns that are searched together
_PIECE = 4096  # elements of a piece of a row
_WORK = 4  # cost of one element, in units of 0.05 ns


@class_lowering("search")
def write_search(region: LoweringContext, node: Node) -> None:
    """Lower argmax and argmin: the first extreme, or the first nan."""
    (x,), (result,) = node.inputs, node.results
    arguments = [*open_dimensions(region), "ptr noalias readonly %x", "ptr noalias %result", "i64 %rows"]
    search = _Search(Routine(region, [*arguments, *PART], "i1"), node)
    shape = sizes(x.type)
    work = _WORK * math.prod(shape) if is_known(shape) else _WORK
    name = partitioned_routine(region, arguments, search.routine, search.outer, work, shape)
    if is_scalar(result.type):
        target = region.out.alloca(memory(result.dtype))
    else:
        region.set(result, region.new_array(result.type))
        target = region.data(result)
    rows = element_count(region.out, sizes(x.type)[: search.axis])
    call(region, name, *open_dimensions(region), f"ptr {region.data(x)}", f"ptr {target}", f"i64 {rows}")
    if is_scalar(result.type):
        region.set(result, load(ElementWriter(region.out), result.dtype, target, 0))


class _Search:
    """The search over `outer` rows of `size` steps, each of `inner` columns."""

    def __init__(self, routine: Routine, node: Node) -> None:
        (x,), (result,) = node.inputs, node.results
        shape = sizes(x.type)
        self.axis = axis = node.attributes.get("axis", 0) % len(shape)
        self.outer: Position = math.prod(shape[:axis]) if is_known(shape[:axis]) else "%rows"
        self.routine, self.out, self.b = routine, routine.out, routine.b
        self.size, self.inner = shape[axis], element_count(self.out, shape[axis + 1 :])
        self._dtype: Any = x.dtype
        self._result: Any = result.dtype
        self._kind = "max" if node.op.name == "argmax" else "min"
        self._test = "gt" if self._kind == "max" else "lt"
        self._key_dtype = key_dtype(self._dtype)
        with self.out.loop("%first", "%last") as row:
            self._search_row(row) if self.inner == 1 else self._search_columns(row)

    def _load_element(self, row: Position, step: Position, column: Position = 0) -> Element:
        start = plus(self.out, product(self.out, row, self.size), step)
        return load(self.b, self._dtype, "%x", plus(self.out, product(self.out, start, self.inner), column))

    def _search_row(self, row: Position) -> None:
        """Find the best, then its first place, as each of these vectorises.

        A long row is searched piece by piece, and the place only in the best piece.
        """
        out, b, size = self.out, self.b, self.size
        if isinstance(size, int) and size <= _PIECE:
            best = self._find_best(row, "0", str(size))
            self._store_first_place(row, best, "0", str(size))
            return
        kind = memory(self._key_dtype)
        cell, start = out.alloca(kind), out.alloca("i64")

        def stop(first: Position) -> str:
            end = out.new(f"add nsw i64 {first}, {_PIECE}")
            return out.new(f"select i1 {out.new(f'icmp slt i64 {end}, {size}')}, i64 {end}, i64 {size}")

        store(b, self._find_best(row, "0", stop(0)), cell, 0)
        out.line(f"store i64 0, ptr {start}")
        more = plus(out, size, _PIECE - 1)
        pieces = more // _PIECE if isinstance(more, int) else out.new(f"sdiv i64 {more}, {_PIECE}")
        with out.loop("1", str(pieces)) as piece:
            first = times(out, piece, _PIECE)
            here, before = self._find_best(row, str(first), stop(first)), load(b, self._key_dtype, cell, 0)
            better = b.compare(self._test, here, before).ir
            store(b, b.select(b.wrap(bool_, better), here, before), cell, 0)
            old = out.new(f"load i64, ptr {start}")
            out.line(f"store i64 {out.new(f'select i1 {better}, i64 {first}, i64 {old}')}, ptr {start}")
        first = out.new(f"load i64, ptr {start}")
        self._store_first_place(row, load(b, self._key_dtype, cell, 0), first, stop(first))

    def _key(self, row: Position, step: Position) -> Element:
        """Return the key of an element; zeros of both signs have the same key."""
        here = self._load_element(row, step)
        return search_key(self.b, here + 0.0 if self._dtype.is_floating else here, self._kind)

    def _find_best(self, row: Position, first: str, last: str) -> Element:
        def join(x: Element, y: Element) -> Element:
            return better_key(self.b, x, y, self._kind)

        start = worst_key(self._dtype, self._kind)
        return self._reduce_row(self._key_dtype, start, lambda step: self._key(row, step), join, first, last)

    def _store_first_place(self, row: Position, best: Element, first: str, last: str) -> None:
        """Store the first place of the best element."""

        def place(step: Position) -> Element:
            number = self.b.wrap(uint32, self.out.new(f"trunc i64 {step} to i32"))
            return self.b.select(self._key(row, step).same(best), number, uint32.max)

        def join(x: Element, y: Element) -> Element:
            return self.b.intrinsic("umin", x, y)

        place_of_extreme = self._reduce_row(uint32, uint32.max, place, join, first, last)
        store(self.b, self.b.cast(place_of_extreme, self._result), "%result", row)

    def _reduce_row(
        self, dtype: Any, start: int, element: Callable[[Position], Element], join: Any, first: str, last: str
    ) -> Element:
        """Reduce the elements of a row from the first to the last by `join`."""
        b, cell = self.b, self.out.alloca(memory(dtype))
        store(b, b.constant(start, dtype), cell, 0)
        with self.out.loop(first, last) as step:
            store(b, join(load(b, dtype, cell, 0), element(step)), cell, 0)
        return load(b, dtype, cell, 0)

    def _search_columns(self, row: Position) -> None:
        """Search block by block, each step for all columns of the block."""
        out, inner = self.out, self.inner
        width = min(_BLOCK, inner) if isinstance(inner, int) else _BLOCK
        best = out.alloca(f"[{width} x {memory(self._dtype)}]")
        where = out.alloca(f"[{width} x i32]")
        if isinstance(inner, int):
            with out.loop("0", str(inner // width)) as block:
                self._search_block(row, times(out, block, width), width, best, where)
            if inner % width:
                self._search_block(row, inner - inner % width, inner % width, best, where)
            return
        count = out.new(f"udiv i64 {plus(out, inner, width - 1)}, {width}")
        with out.loop("0", count) as block:
            start = times(out, block, width)
            left = out.new(f"sub nsw i64 {inner}, {start}")
            last = out.new(f"select i1 {out.new(f'icmp slt i64 {left}, {width}')}, i64 {left}, i64 {width}")
            self._search_block(row, start, last, best, where)

    def _search_block(self, row: Position, start: Position, width: Position, best: str, where: str) -> None:
        out, b = self.out, self.b
        with out.loop("0", str(width)) as i:
            store(b, self._load_element(row, 0, plus(out, start, i)), best, i)
            store(b, b.constant(0, int32), where, i)
        with out.loop("1", str(self.size)) as step:
            number = b.wrap(int32, out.new(f"trunc i64 {step} to i32"))
            with out.loop("0", str(width)) as i:
                here, before = self._load_element(row, step, plus(out, start, i)), load(b, self._dtype, best, i)
                better = b.compare(self._test, here, before)
                if self._dtype.is_floating:
                    better = (better | b.is_nan(here)) & ~b.is_nan(before)
                store(b, b.select(better, here, before), best, i)
                store(b, b.select(better, number, load(b, int32, where, i)), where, i)
        with out.loop("0", str(width)) as i:
            place = plus(out, plus(out, product(out, row, self.inner), start), i)
            store(b, b.cast(load(b, int32, where, i), self._result), "%result", place)
