"""Lower argmax and argmin: a search for the position of the first extreme along an axis.

Along rows, elements are compared by keys: integers whose order is that of the search (see sort/float_order.py). In
columns, the elements themselves are compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autoconv.backends.llvm.analysis.representation import is_scalar, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import class_lowering
from autoconv.backends.llvm.codegen.routine import PartRoutine, call, open_dimensions, split_routine
from autoconv.backends.llvm.codegen.sort.float_order import better_key, search_key, search_key_dtype, worst_key
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.index_arith import Position, element_count, is_known, plus, product, times
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, load, store
from autoconv.backends.llvm.ir.types import memory_type
from autoconv.graph.dtypes import bool_, int32, int64, uint32
from autoconv.graph.graph import Node

_BLOCK_COLUMNS = 64  # columns of a block, which are searched together
_SHORT_ROW = 8192  # elements of a row that is searched in short pieces
_ELEMENT_COST = 4  # cost of one element, in units of 0.05 ns


@class_lowering("search")
def write_search(region: LoweringContext, node: Node) -> None:
    """Lower argmax and argmin: the first extreme, or the first nan."""
    (x,), (result,) = node.inputs, node.results
    parameters = [*open_dimensions(region), "ptr noalias readonly %x", "ptr noalias %result", "i64 %rows"]
    search = _Search(PartRoutine(region, parameters), node)
    shape = sizes(x.type)
    # For open sizes, the work of one element of `shape`.
    work = _ELEMENT_COST * math.prod(shape) if is_known(shape) else _ELEMENT_COST
    name = split_routine(region, parameters, search.routine, search.row_count, work, shape)
    if is_scalar(result.type):
        target = region.out.alloca(memory_type(result.dtype))
    else:
        region.set(result, region.new_array(result.type))
        target = region.data(result)
    row_count = element_count(region.out, sizes(x.type)[: search.axis])
    call(region, name, *open_dimensions(region), f"ptr {region.data(x)}", f"ptr {target}", f"i64 {row_count}")
    if is_scalar(result.type):
        region.set(result, load(ElementWriter(region.out), result.dtype, target, 0))


@class_lowering("short search")
def write_short_search(region: LoweringContext, node: Node) -> None:
    """Lower argmax and argmin of a short vector: its elements are compared in pairs, and the better ones again."""
    (x,), (result,) = node.inputs, node.results
    b, kind = RegisterWriter(region), "max" if node.op.name == "argmax" else "min"
    elements = [region.element(x, (i,)) for i in range(sizes(x.type)[0])]
    keys = [search_key(b, element + 0.0 if x.dtype.is_floating else element, kind) for element in elements]
    candidates = [(key, b.constant(i, int64)) for i, key in enumerate(keys)]
    while len(candidates) > 1:
        winners = []
        for (key, position), (later_key, later_position) in zip(candidates[::2], candidates[1::2], strict=False):
            is_better = b.compare("gt" if kind == "max" else "lt", later_key, key)
            winners.append((b.select(is_better, later_key, key), b.select(is_better, later_position, position)))
        candidates = winners + candidates[len(candidates) & ~1 :]
    region.set(result, b.cast(candidates[0][1], result.dtype))


def _piece_size(size: Position) -> int:
    """Return the number of elements of a piece of a row.

    The piece with the extreme is read again for the position, so pieces are short; but each takes time to begin.
    """
    if not isinstance(size, int):
        return 512
    return 256 if size <= _SHORT_ROW else 1024


class _Search:
    """The writer of a search; its constructor writes the loops over the rows.

    The array x is taken as `row_count` rows, each of `size` steps along the axis, each of `column_count` columns.
    """

    def __init__(self, routine: PartRoutine, node: Node) -> None:
        (x,), (result,) = node.inputs, node.results
        shape = sizes(x.type)
        self.axis = axis = node.attributes.get("axis", 0) % len(shape)
        self.row_count: Position = math.prod(shape[:axis]) if is_known(shape[:axis]) else "%rows"
        self.routine, self.out, self.b = routine, routine.out, routine.b
        self.size, self.column_count = shape[axis], element_count(self.out, shape[axis + 1 :])
        self._dtype: Any = x.dtype
        self._result_dtype: Any = result.dtype
        self._kind = "max" if node.op.name == "argmax" else "min"
        self._comparison = "gt" if self._kind == "max" else "lt"
        self._key_dtype = search_key_dtype(self._dtype)
        with self.out.loop("%first", "%last") as row:
            self._search_row(row) if self.column_count == 1 else self._search_columns(row)

    def _load_element(self, row: Position, step: Position, column: Position = 0) -> Element:
        start = plus(self.out, product(self.out, row, self.size), step)
        return load(self.b, self._dtype, "%x", plus(self.out, product(self.out, start, self.column_count), column))

    def _search_row(self, row: Position) -> None:
        """Find the extreme of a row, and then its first position, because each of these loops vectorises by itself.

        A long row is searched in pieces, and the position only in the piece that has the extreme.
        """
        out, b, size = self.out, self.b, self.size
        piece_size = _piece_size(size)
        if isinstance(size, int) and size <= piece_size:
            best_key = self._reduce_to_best(row, "0", str(size))
            self._store_first_position(row, best_key, "0", str(size))
            return
        ir_type = memory_type(self._key_dtype)
        cell, start_cell = out.alloca(ir_type), out.alloca("i64")

        def piece_end(first: Position) -> str:
            end = out.new(f"add nsw i64 {first}, {piece_size}")
            return out.new(f"select i1 {out.new(f'icmp slt i64 {end}, {size}')}, i64 {end}, i64 {size}")

        store(b, self._reduce_to_best(row, "0", piece_end(0)), cell, 0)
        out.line(f"store i64 0, ptr {start_cell}")
        rounded_size = plus(out, size, piece_size - 1)
        if isinstance(rounded_size, int):
            piece_count: Position = rounded_size // piece_size
        else:
            piece_count = out.new(f"sdiv i64 {rounded_size}, {piece_size}")
        with out.loop("1", str(piece_count)) as piece:
            first = times(out, piece, piece_size)
            piece_best = self._reduce_to_best(row, str(first), piece_end(first))
            best_key = load(b, self._key_dtype, cell, 0)
            is_better = b.compare(self._comparison, piece_best, best_key).ir
            store(b, b.select(b.wrap(bool_, is_better), piece_best, best_key), cell, 0)
            old_start = out.new(f"load i64, ptr {start_cell}")
            out.line(f"store i64 {out.new(f'select i1 {is_better}, i64 {first}, i64 {old_start}')}, ptr {start_cell}")
        first = out.new(f"load i64, ptr {start_cell}")
        self._store_first_position(row, load(b, self._key_dtype, cell, 0), first, piece_end(first))

    def _key(self, row: Position, step: Position) -> Element:
        """Return the key of an element; 0.0 and -0.0 have the same key."""
        element = self._load_element(row, step)
        return search_key(self.b, element + 0.0 if self._dtype.is_floating else element, self._kind)

    def _reduce_to_best(self, row: Position, first: str, last: str) -> Element:
        """Return the best key of the steps from `first` to the one before `last`."""
        def join(x: Element, y: Element) -> Element:
            return better_key(self.b, x, y, self._kind)

        worst = worst_key(self._dtype, self._kind)
        return self._reduce_row(self._key_dtype, worst, lambda step: self._key(row, step), join, first, last)

    def _store_first_position(self, row: Position, best_key: Element, first: str, last: str) -> None:
        """Store the first step with the best key, among those from `first` to the one before `last`."""
        def position_key(step: Position) -> Element:
            number = self.b.wrap(uint32, self.out.new(f"trunc i64 {step} to i32"))
            return self.b.select(self._key(row, step).same(best_key), number, uint32.max)

        def join(x: Element, y: Element) -> Element:
            return self.b.intrinsic("umin", x, y)

        position = self._reduce_row(uint32, uint32.max, position_key, join, first, last)
        store(self.b, self.b.cast(position, self._result_dtype), "%result", row)

    def _reduce_row(
        self, dtype: Any, initial: int, element_at: Callable[[Position], Element], join: Any, first: str, last: str
    ) -> Element:
        """Reduce `element_at(step)` by the function `join`, over the steps from `first` to the one before `last`."""
        b, cell = self.b, self.out.alloca(memory_type(dtype))
        store(b, b.constant(initial, dtype), cell, 0)
        with self.out.loop(first, last) as step:
            store(b, join(load(b, dtype, cell, 0), element_at(step)), cell, 0)
        return load(b, dtype, cell, 0)

    def _search_columns(self, row: Position) -> None:
        """Search the columns in blocks; each step of the search covers all columns of a block."""
        out, column_count = self.out, self.column_count
        width = min(_BLOCK_COLUMNS, column_count) if isinstance(column_count, int) else _BLOCK_COLUMNS
        extremes = out.alloca(f"[{width} x {memory_type(self._dtype)}]")
        positions = out.alloca(f"[{width} x i32]")
        if isinstance(column_count, int):
            with out.loop("0", str(column_count // width)) as block:
                self._search_block(row, times(out, block, width), width, extremes, positions)
            if column_count % width:
                self._search_block(row, column_count - column_count % width, column_count % width, extremes, positions)
            return
        block_count = out.new(f"udiv i64 {plus(out, column_count, width - 1)}, {width}")
        with out.loop("0", block_count) as block:
            start = times(out, block, width)
            columns_left = out.new(f"sub nsw i64 {column_count}, {start}")
            is_partial = out.new(f"icmp slt i64 {columns_left}, {width}")
            block_width = out.new(f"select i1 {is_partial}, i64 {columns_left}, i64 {width}")
            self._search_block(row, start, block_width, extremes, positions)

    def _search_block(self, row: Position, start: Position, width: Position, extremes: str, positions: str) -> None:
        """Search `width` columns from `start` on; `extremes` and `positions` are memory for one block."""
        out, b = self.out, self.b
        with out.loop("0", str(width)) as i:
            store(b, self._load_element(row, 0, plus(out, start, i)), extremes, i)
            store(b, b.constant(0, int32), positions, i)
        with out.loop("1", str(self.size)) as step:
            step_number = b.wrap(int32, out.new(f"trunc i64 {step} to i32"))
            with out.loop("0", str(width)) as i:
                element = self._load_element(row, step, plus(out, start, i))
                best_element = load(b, self._dtype, extremes, i)
                is_better = b.compare(self._comparison, element, best_element)
                if self._dtype.is_floating:
                    is_better = (is_better | b.is_nan(element)) & ~b.is_nan(best_element)
                store(b, b.select(is_better, element, best_element), extremes, i)
                store(b, b.select(is_better, step_number, load(b, int32, positions, i)), positions, i)
        with out.loop("0", str(width)) as i:
            offset = plus(out, plus(out, product(out, row, self.column_count), start), i)
            store(b, b.cast(load(b, int32, positions, i), self._result_dtype), "%result", offset)
