"""Tiled matrix products, with tiles of the result in vector registers.

A tile is some rows by a few vectors of columns. Each step along the inner dimension loads a row of y, broadcasts one
number of x for each row of the tile, and accumulates by fused multiply-adds. Smaller tiles, with masked vectors, cover
the edges. Strides are constants, so that an address is a register and a constant. The order of accumulation does not
depend on the distribution of rows to threads.

The numbers of rows and of steps may be open. If the rows are no multiple of the tile's height, the last tile starts
earlier and overlaps the tile before; the rows that are computed twice have equal results. If there are fewer rows than
the height, tiles of half the height, or of one row, are used.
"""

from __future__ import annotations

from autoconv.backends.llvm.codegen.routine import PART_PARAMETERS
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import FALSE
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.ir.vectors import VectorWriter
from autoconv.backends.llvm.schedule.matmul_tiling import CHUNK_STEPS, Sum, Tiling
from autoconv.graph.dtypes import DType


class TileKernelWriter:
    """A writer of the functions of a product.

    `sums` are accumulated into each number of the result in sequence. `row_steps` are the distances in elements of
    adjacent rows of x and of the result. `lines` are the nested loops over lines of patches, each (size, step in
    elements of x), the innermost last; with lines, `tiling` describes a single line. `open_sizes` are further
    parameters.
    """

    def __init__(
        self, module: ModuleText, tiling: Tiling, dtype: DType, sums: tuple[Sum, ...], row_steps: tuple[int, int],
        lines: tuple[tuple[Position, Position], ...] = (), open_sizes: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        self._module = module
        self._tiling = tiling
        self._dtype = dtype
        self._ir_type = register(dtype)
        self._sums = sums
        self._x_row_step, self._z_row_step = row_steps
        self._lines = lines
        self._open_sizes = open_sizes

    def write(self) -> str:
        """Write the function that computes the rows of tiles, or the lines, from %first to %last; return its name."""
        self._module.has_loops = True
        out, tiling = self._new_function(), self._tiling
        if self._lines:
            with out.loop("%first", "%last", unrolled=False) as line:
                x = self.line_address(out, line)
                first_row = out.mul(line, tiling.rows) if isinstance(tiling.rows, str) else line
                line_rows = 1 if isinstance(tiling.rows, str) else tiling.rows
                z = self._advance(out, "%z", first_row, self._z_row_step * line_rows)
                self._write_tiles(out, "0", "", x, z)
        else:
            self._write_tiles(out, "%first", "%last", "%x", "%z")
        out.ret(FALSE)
        return out.finish("product")

    def _write_tiles(self, out: FunctionText, first: str, last: str, x: str, z: str) -> None:
        """Write the rows of tiles from `first` to `last`, or to the end if `last` is empty."""
        tiling = self._tiling
        if isinstance(tiling.rows, str):
            self._write_overlapping_tiles(out, first, last, x, z)
            return
        full_tiles, rows_left = divmod(tiling.rows, tiling.height)
        end = last or str(full_tiles)
        if rows_left and last:
            end = out.select(out.icmp("slt", last, full_tiles), last, full_tiles)
        with out.loop(first, end, unrolled=False) as i:
            self._write_row(out, i, tiling.height, x, z)
        if rows_left and last:
            with out.if_(out.icmp("sgt", last, full_tiles)):
                self._write_row(out, str(full_tiles), rows_left, x, z)
        elif rows_left:
            self._write_row(out, str(full_tiles), rows_left, x, z)

    def _write_overlapping_tiles(self, out: FunctionText, first: str, last: str, x: str, z: str) -> None:
        """Write the tiles of an open number of rows, with lower tiles if there are fewer rows than the height."""
        height, rows, done_label = self._tiling.height, self._tiling.rows, out.label("done")
        for tile_height in sorted({height, max(height // 2, 1), 1}, reverse=True):
            tile_count = last
            if not last or tile_height != height:
                tile_count = out.op("sdiv", out.add(rows, tile_height - 1), tile_height)
            last_start = out.sub(rows, tile_height)
            enough_label, few_label = out.label("many"), out.label("few")
            out.branch_if(out.icmp("sge", last_start, 0), enough_label, few_label)
            out.begin(enough_label)
            with out.loop(first if tile_height == height else "0", tile_count, unrolled=False) as i:
                row = out.mul(i, tile_height)
                row = out.select(out.icmp("slt", row, last_start), row, last_start)  # the last tile overlaps
                row_starts = self._advance(out, x, row, self._x_row_step), self._advance(out, z, row, self._z_row_step)
                self._write_row(out, "0", tile_height, *row_starts)
            out.branch(done_label)
            out.begin(few_label)
        out.branch(done_label)
        out.begin(done_label)

    def _new_function(self) -> FunctionText:
        """Begin the function that computes rows of tiles, or lines."""
        return FunctionText(self._module, Signature("i1", (*self._parameters(), *PART_PARAMETERS)))

    def _parameters(self) -> list[str]:
        """Return the parameters of all functions: the addresses of the matrices, and the open sizes."""
        return ["ptr noalias %x", "ptr noalias %y", "ptr noalias %z", *(f"i64 {name}" for name in self._open_sizes)]

    def line_address(self, out: FunctionText, line: str) -> str:
        """Return the address in x at which a line begins."""
        x = "%x"
        for depth, (size, step) in reversed(list(enumerate(self._lines))):
            position = out.op("urem", line, size) if depth else line
            x = self._advance(out, x, position, step)
            line = out.op("udiv", line, size)
        return x

    def _write_row(self, out: FunctionText, tile_row: str, height: int, x: str, z: str) -> None:
        """Write a row of tiles, from left to right."""
        x = self._advance(out, x, tile_row, self._tiling.height * self._x_row_step)
        z = self._advance(out, z, tile_row, self._tiling.height * self._z_row_step)
        tile_columns = self._tiling.width * self._tiling.lanes
        full_tiles, columns_left = divmod(self._tiling.columns, tile_columns)
        if full_tiles:
            name = self.write_tile(height, tile_columns)
            with out.loop("0", str(full_tiles), unrolled=False) as j:
                y, target = self._advance(out, "%y", j, tile_columns), self._advance(out, z, j, tile_columns)
                out.call(name, x, y, target, *self._open_sizes)
        if columns_left:
            column = full_tiles * tile_columns
            y, target = self._advance(out, "%y", "1", column), self._advance(out, z, "1", column)
            out.call(self.write_tile(height, columns_left), x, y, target, *self._open_sizes)

    def _advance(self, out: FunctionText, pointer: str, count: Position, step: Position) -> str:
        """Return the address `count · step` elements after a pointer."""
        offset = out.mul(count, step)
        return out.gep(self._ir_type, pointer, offset)

    def write_tile(self, height: int, columns: int, accumulates: bool = False) -> str:
        """Write the function of one tile; return its name. If it accumulates, it adds the sums to the result."""
        out, lanes = FunctionText(self._module, Signature("void", self._parameters())), self._tiling.lanes
        full_vectors, columns_left = divmod(columns, lanes)
        widths = [lanes] * full_vectors + ([columns_left] if columns_left else [])  # used lanes of each vector
        v = VectorWriter(out, self._dtype, lanes)
        accumulator_cells = [[out.alloca(v.vector, "zeroinitializer") for _ in widths] for _ in range(height)]
        self._accumulate(v, accumulator_cells, widths)
        for row_number, row in enumerate(accumulator_cells):
            for vector_number, (cell, width) in enumerate(zip(row, widths, strict=True)):
                total = out.load(v.vector, cell)
                target = v.address("%z", row_number * self._z_row_step + vector_number * lanes)
                if accumulates:
                    total = out.op("fadd", v.load(target, width), total)
                v.store(total, target, width)
        out.ret()
        return out.finish("tile")

    def _accumulate(self, v: VectorWriter, cells: list[list[str]], widths: list[int]) -> None:
        """Write the accumulation of all sums in the cells."""
        out, height = v.out, len(cells)
        for inner_sum in self._sums:
            if isinstance(inner_sum.count, str):
                self._accumulate_open(v, inner_sum, inner_sum.count, cells, widths)
                continue
            count = inner_sum.count
            chunk_count, remaining_steps = divmod(count, CHUNK_STEPS) if count > 2 * CHUNK_STEPS else (0, count)
            if chunk_count:
                with out.loop("0", str(chunk_count), unrolled=False) as chunk:
                    chunk_cells = [[out.alloca(v.vector) for _ in widths] for _ in range(height)]
                    self._accumulate_steps(v, inner_sum, chunk_cells, widths, out.mul(chunk, CHUNK_STEPS), CHUNK_STEPS)
                    self._add_chunk(v, cells, chunk_cells)
            if remaining_steps and chunk_count:
                chunk_cells = [[out.alloca(v.vector) for _ in widths] for _ in range(height)]
                start = str(chunk_count * CHUNK_STEPS)
                self._accumulate_steps(v, inner_sum, chunk_cells, widths, start, remaining_steps)
                self._add_chunk(v, cells, chunk_cells)
            elif remaining_steps:
                self._accumulate_steps(v, inner_sum, cells, widths, "", remaining_steps)

    def _accumulate_open(
        self, v: VectorWriter, inner_sum: Sum, steps: str, cells: list[list[str]], widths: list[int]
    ) -> None:
        """Write the accumulation of an open number of steps, by partial sums of `CHUNK_STEPS` steps."""
        out = v.out
        chunk_count = out.op("sdiv", out.add(steps, CHUNK_STEPS - 1), CHUNK_STEPS)
        with out.loop("0", chunk_count, unrolled=False) as chunk:
            start = out.mul(chunk, CHUNK_STEPS)
            count = out.intrinsic("smin", out.sub(steps, start), CHUNK_STEPS)
            chunk_cells = [[out.alloca(v.vector) for _ in widths] for _ in cells]
            self._accumulate_steps(v, inner_sum, chunk_cells, widths, start, count)
            self._add_chunk(v, cells, chunk_cells)

    def _accumulate_steps(
        self, v: VectorWriter, inner_sum: Sum, cells: list[list[str]], widths: list[int], start: str, count: Position
    ) -> None:
        """Write the accumulation of `count` steps in the cells.

        If `start` is not "", the steps begin there, and the cells are cleared first.
        """
        out = v.out
        for cell in [cell for row in cells for cell in row] if start else ():
            out.store(v.vector, "zeroinitializer", cell)
        constant_x_offset = inner_sum.x if isinstance(inner_sum.x, int) else 0
        x = "%x" if inner_sum.x == constant_x_offset else self._advance(out, "%x", inner_sum.x, 1)
        x = self._advance(out, x, start, inner_sum.x_step) if start else x
        y = self._advance(out, "%y", start, inner_sum.y_step) if start else "%y"
        with out.loop("0", str(count), unrolled=False) as k:
            x_base, y_base = self._advance(out, x, k, inner_sum.x_step), self._advance(out, y, k, inner_sum.y_step)
            columns = [inner_sum.y + i * self._tiling.lanes for i in range(len(widths))]
            vectors = [v.load(v.address(y_base, j), width) for j, width in zip(columns, widths, strict=True)]
            for r, row in enumerate(cells):
                factor = v.broadcast(out.load(v.ir_type, v.address(x_base, constant_x_offset + r * self._x_row_step)))
                for cell, vector in zip(row, vectors, strict=True):
                    total = v.fma(factor, vector, out.load(v.vector, cell))
                    out.store(v.vector, total, cell)

    def _add_chunk(self, v: VectorWriter, cells: list[list[str]], chunk_cells: list[list[str]]) -> None:
        """Add the partial sums of a chunk to the cells."""
        pairs = (pair for rows in zip(cells, chunk_cells, strict=True) for pair in zip(*rows, strict=True))
        for cell, chunk_cell in pairs:
            total, chunk_total = (v.out.load(v.vector, address) for address in (cell, chunk_cell))
            v.out.store(v.vector, v.out.op("fadd", total, chunk_total), cell)
