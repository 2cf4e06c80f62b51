"""Tiled matrix products: tiles of the result are held in vector registers.

A tile is some rows by a few vectors of columns. Its code runs once for each step along the inner dimension: it loads a
row of y, broadcasts one number of x for each of its rows, and accumulates by fused multiply-adds. Edges are covered by
smaller tiles, with masked vectors. Strides are constants, so an address is one register and a constant. The order of
accumulation along the inner dimension does not depend on how rows are split over threads.

The number of rows, and of steps, may be symbolic. If such rows are no multiple of the tile height, the last tile starts
earlier and overlaps the one before; recomputed rows are equal. With fewer rows than a tile has, tiles are half as high,
or one row.
"""

from __future__ import annotations

from autoconv.backends.llvm.codegen.routine import PART
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import FALSE
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.ir.vectors import VectorWriter
from autoconv.backends.llvm.schedule.matmul_tiling import CHUNK, Sum, Tiling
from autoconv.graph.dtypes import DType


class ProductText:
    """Write the functions of a product.

    `sums` are accumulated into each number of the result in sequence. `row_steps` are the numbers of elements between
    consecutive rows of x and of the result. With `lines`, `tiling` describes one of several lines, as many as the
    product of their sizes: (size, step in elements of x), the innermost last. `registers` are further parameters, sizes
    of the call.
    """

    def __init__(
        self, module: ModuleText, tiling: Tiling, dtype: DType, sums: tuple[Sum, ...], row_steps: tuple[int, int],
        lines: tuple[tuple[Position, Position], ...] = (), registers: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        self._module = module
        self._tiling = tiling
        self._dtype = dtype
        self._kind = register(dtype)
        self._sums = sums
        self._x_row, self._z_row = row_steps
        self._lines = lines
        self._registers = registers

    def rows(self) -> str:
        """Return the name of a function of the tiles, or lines, from %first to %last, counted from the top."""
        self._module.has_loops = True
        out, tiling = self._function(), self._tiling
        if self._lines:
            with out.loop("%first", "%last", unrolled=False) as line:
                x = self._line_address(out, line)
                first = out.mul(line, tiling.rows) if isinstance(tiling.rows, str) else line
                z = self._advance(out, "%z", first, self._z_row * (1 if isinstance(tiling.rows, str) else tiling.rows))
                self._write_tiles(out, "0", "", x, z)
        else:
            self._write_tiles(out, "%first", "%last", "%x", "%z")
        out.ret(FALSE)
        return out.finish("product")

    def _write_tiles(self, out: FunctionText, first: str, last: str, x: str, z: str) -> None:
        """Write the tiles from `first` to `last`; without `last`, all from `first` on."""
        tiling = self._tiling
        if isinstance(tiling.rows, str):
            self._write_overlapping_tiles(out, first, last, x, z)
            return
        full, rest = divmod(tiling.rows, tiling.height)
        end = last or str(full)
        if rest and last:
            end = out.select(out.icmp("slt", last, full), last, full)
        with out.loop(first, end, unrolled=False) as i:
            self._write_row(out, i, tiling.height, x, z)
        if rest and last:
            with out.if_(out.icmp("sgt", last, full)):
                self._write_row(out, str(full), rest, x, z)
        elif rest:
            self._write_row(out, str(full), rest, x, z)

    def _write_overlapping_tiles(self, out: FunctionText, first: str, last: str, x: str, z: str) -> None:
        """Write the tiles of a symbolic number of rows; lower ones where there are fewer rows than a tile has."""
        height, rows, done = self._tiling.height, self._tiling.rows, out.label("done")
        for tile_height in sorted({height, max(height // 2, 1), 1}, reverse=True):
            tile_count = last if last and tile_height == height else out.op(
                "sdiv", out.add(rows, tile_height - 1), tile_height
            )
            last_start = out.sub(rows, tile_height)
            many, few = out.label("many"), out.label("few")
            out.branch_if(out.icmp("sge", last_start, 0), many, few)
            out.begin(many)
            with out.loop(first if tile_height == height else "0", tile_count, unrolled=False) as i:
                row = out.mul(i, tile_height)
                row = out.select(out.icmp("slt", row, last_start), row, last_start)  # the start of the last tile
                moved = self._advance(out, x, row, self._x_row), self._advance(out, z, row, self._z_row)
                self._write_row(out, "0", tile_height, *moved)
            out.branch(done)
            out.begin(few)
        out.branch(done)
        out.begin(done)

    def _function(self) -> FunctionText:
        return FunctionText(self._module, Signature("i1", (*self._parameters(), *PART)))

    def _parameters(self) -> list[str]:
        return ["ptr noalias %x", "ptr noalias %y", "ptr noalias %z", *(f"i64 {name}" for name in self._registers)]

    def _line_address(self, out: FunctionText, line: str) -> str:
        """Return the address in x where a line begins."""
        x = "%x"
        for depth, (size, step) in reversed(list(enumerate(self._lines))):
            place = out.op("urem", line, size) if depth else line
            x = self._advance(out, x, place, step)
            line = out.op("udiv", line, size)
        return x

    def _write_row(self, out: FunctionText, i: str, height: int, x: str = "%x", z: str = "%z") -> None:
        """Write the tiles of one height from left to right."""
        x = self._advance(out, x, i, self._tiling.height * self._x_row)
        z = self._advance(out, z, i, self._tiling.height * self._z_row)
        wide = self._tiling.width * self._tiling.lanes
        full, rest = divmod(self._tiling.columns, wide)
        if full:
            name = self._tile(height, wide)
            with out.loop("0", str(full), unrolled=False) as j:
                y, target = self._advance(out, "%y", j, wide), self._advance(out, z, j, wide)
                out.call(name, x, y, target, *self._registers)
        if rest:
            y, target = self._advance(out, "%y", "1", full * wide), self._advance(out, z, "1", full * wide)
            out.call(self._tile(height, rest), x, y, target, *self._registers)

    def _advance(self, out: FunctionText, pointer: str, count: Position, step: Position) -> str:
        offset = out.mul(count, step)
        return out.gep(self._kind, pointer, offset)

    def _tile(self, height: int, columns: int) -> str:
        """Return the name of the function of one tile."""
        out, lanes = FunctionText(self._module, Signature("void", self._parameters())), self._tiling.lanes
        full, rest = divmod(columns, lanes)
        widths = [lanes] * full + ([rest] if rest else [])  # numbers of each vector that are columns
        v = VectorWriter(out, self._dtype, lanes)
        cells = [[out.alloca(v.vector, "zeroinitializer") for _ in widths] for _ in range(height)]
        self._sum_up(v, cells, widths)
        for r, row in enumerate(cells):
            for i, (cell, width) in enumerate(zip(row, widths, strict=True)):
                total = out.load(v.vector, cell)
                v.store(total, v.address("%z", r * self._z_row + i * lanes), width)
        out.ret()
        return out.finish("tile")

    def _sum_up(self, v: VectorWriter, cells: list[list[str]], widths: list[int]) -> None:
        """Accumulate all products in the cells."""
        out, height = v.out, len(cells)
        for part in self._sums:
            if isinstance(part.count, str):
                self._sum_up_symbolic(v, part, part.count, cells, widths)
                continue
            chunks, remaining = divmod(part.count, CHUNK) if part.count > 2 * CHUNK else (0, part.count)
            if chunks:
                with out.loop("0", str(chunks), unrolled=False) as chunk:
                    sums = [[out.alloca(v.vector) for _ in widths] for _ in range(height)]
                    self._add_up(v, part, sums, widths, out.mul(chunk, CHUNK), CHUNK)
                    self._join(v, cells, sums)
            if remaining and chunks:
                sums = [[out.alloca(v.vector) for _ in widths] for _ in range(height)]
                self._add_up(v, part, sums, widths, str(chunks * CHUNK), remaining)
                self._join(v, cells, sums)
            elif remaining:
                self._add_up(v, part, cells, widths, "", remaining)

    def _sum_up_symbolic(
        self, v: VectorWriter, part: Sum, steps: str, cells: list[list[str]], widths: list[int]
    ) -> None:
        """Accumulate CHUNK steps at a time, and join the partial sums."""
        out = v.out
        chunks = out.op("sdiv", out.add(steps, CHUNK - 1), CHUNK)
        with out.loop("0", chunks, unrolled=False) as chunk:
            start = out.mul(chunk, CHUNK)
            count = out.intrinsic("smin", out.sub(steps, start), CHUNK)
            sums = [[out.alloca(v.vector) for _ in widths] for _ in cells]
            self._add_up(v, part, sums, widths, start, count)
            self._join(v, cells, sums)

    def _add_up(
        self, v: VectorWriter, part: Sum, cells: list[list[str]], widths: list[int], start: str, count: Position
    ) -> None:
        """Accumulate the products of `count` steps in the cells, which are zeroed first if a `start` is given."""
        out = v.out
        for cell in [cell for row in cells for cell in row] if start else ():
            out.store(v.vector, "zeroinitializer", cell)
        static_x = part.x if isinstance(part.x, int) else 0
        x = "%x" if part.x == static_x else self._advance(out, "%x", part.x, 1)
        x = self._advance(out, x, start, part.x_step) if start else x
        y = self._advance(out, "%y", start, part.y_step) if start else "%y"
        with out.loop("0", str(count), unrolled=False) as k:
            left, right = self._advance(out, x, k, part.x_step), self._advance(out, y, k, part.y_step)
            loaded = [
                v.load(v.address(right, part.y + i * self._tiling.lanes), width) for i, width in enumerate(widths)
            ]
            for r, row in enumerate(cells):
                spread = v.spread(out.load(v.kind, v.address(left, static_x + r * self._x_row)))
                for cell, other in zip(row, loaded, strict=True):
                    total = v.fma(spread, other, out.load(v.vector, cell))
                    out.store(v.vector, total, cell)

    def _join(self, v: VectorWriter, cells: list[list[str]], sums: list[list[str]]) -> None:
        """Add the sums of one chunk to the totals."""
        for cell, chunk_cell in zip((c for row in cells for c in row), (c for row in sums for c in row), strict=True):
            total, part = (v.out.load(v.vector, place) for place in (cell, chunk_cell))
            v.out.store(v.vector, v.out.op("fadd", total, part), cell)
