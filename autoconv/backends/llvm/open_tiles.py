"""Products by tiles where only the call knows how many rows there are, or how many steps along the inner dimension.

Rows that tiles do not go into evenly are made by a last tile that begins so much earlier: what is made twice comes out
the same. Of fewer rows than a tile has, tiles are half as high, or one row.
"""

from __future__ import annotations

from autoconv.backends.llvm.positions import Position
from autoconv.backends.llvm.text import FunctionText, ModuleText
from autoconv.backends.llvm.tiles import CHUNK, ProductText, Sum, Tiling
from autoconv.backends.llvm.vectors import Registers, VectorWriter
from autoconv.graph.dtypes import DType


def open_tiling(rows: Position, columns: int, dtype: DType, machine: Registers) -> Tiling:
    """Tiles that are a little lower than those of known rows: less is made twice."""
    lanes, most = machine.size // dtype.size, (3 * machine.count) // 4
    height = most // 3
    if isinstance(rows, int):
        height = min(rows, height)
    return Tiling(rows if isinstance(rows, int) else 0, columns, lanes, height, max(1, min(3, -(-columns // lanes))))


class _OpenRows(ProductText):
    def _tiles_at(
        self, out: FunctionText, i: str, height: int, before: str, x: str = "%x", z: str = "%z"
    ) -> None:
        """Those of that number, counted from the top; the last ones begin at the row `before`."""
        row = out.new(f"mul nsw i64 {i}, {height}")
        inside = out.new(f"icmp slt i64 {row}, {before}")
        row = out.new(f"select i1 {inside}, i64 {row}, i64 {before}")
        x, z = self._moved(out, x, row, self._x_row), self._moved(out, z, row, self._z_row)
        self._row(out, "0", height, x, z)


class OpenProductText(_OpenRows):
    """Its functions take `%rows` and `%steps`. A row of the result is `z_row` elements behind the one before, of x
    `x_row`; a step moves on by `x_step` and `y_step`."""

    def __init__(
        self, module: ModuleText, tiling: Tiling, dtype: DType, x_step: int, y_step: int, x_row: int, z_row: int
    ) -> None:
        super().__init__(module, tiling, dtype, (Sum(0, 0, 0, x_step, y_step),), x_row, z_row)
        self._more = ("%rows", "%steps")

    def rows(self) -> str:
        if self._tiling.rows:
            return super().rows()
        self._module.has_loops = True
        out, height = self._function(), self._tiling.height
        done = out.label("done")
        for lower in (height, height // 2, 1):
            more = out.new(f"add nsw i64 %rows, {lower - 1}")
            last = "%last" if lower == height else out.new(f"sdiv i64 {more}, {lower}")
            before = out.new(f"sub nsw i64 %rows, {lower}")
            many, few = out.label("many"), out.label("few")
            out.branch_if(out.new(f"icmp sge i64 {before}, 0"), many, few)
            out.begin(many)
            with out.loop("%first" if lower == height else "0", last, unrolled=False) as i:
                self._tiles_at(out, i, lower, before)
            out.branch(done)
            out.begin(few)
        out.branch(done)
        out.begin(done)
        out.line("ret i1 false")
        return self._module.function("product", out.text())

    def _sum_up(self, v: VectorWriter, cells: list[list[str]], widths: list[int]) -> None:
        """A stretch of steps at a time."""
        out, (part,) = v.out, self._sums
        chunks = out.new(f"sdiv i64 {out.new(f'add nsw i64 %steps, {CHUNK - 1}')}, {CHUNK}")
        least = out.module.declare("llvm.smin.i64", "i64", "i64, i64")
        with out.loop("0", chunks, unrolled=False) as chunk:
            start = out.new(f"mul nsw i64 {chunk}, {CHUNK}")
            left = out.new(f"sub nsw i64 %steps, {start}")
            count = out.new(f"call i64 {least}(i64 {left}, i64 {CHUNK})")
            sums = [[out.alloca(v.vector) for _ in widths] for _ in cells]
            self._add_up(v, part, sums, widths, start, count)
            self._join(v, cells, sums)


class OpenPatchText(_OpenRows):
    """Its functions take `%rows`, how many patches there are in a line, and the registers of `told`, which may stand in
    sums, for where they begin, and in lines. How many steps there are is known."""

    def __init__(
        self, module: ModuleText, tiling: Tiling, dtype: DType, sums: tuple[Sum, ...], x_row: int,
        lines: tuple[tuple[Position, Position], ...], told: tuple[str, ...],
    ) -> None:  # fmt: skip
        super().__init__(module, tiling, dtype, sums, x_row, tiling.columns, lines)
        self._more = ("%rows", *told)

    def rows(self) -> str:
        """The name of a function that makes the lines from %first to %last."""
        self._module.has_loops = True
        out, height = self._function(), self._tiling.height
        with out.loop("%first", "%last", unrolled=False) as line:
            x, first = self._line(out, line), out.new(f"mul nsw i64 {line}, %rows")
            z, done = self._moved(out, "%z", first, self._z_row), out.label("done")
            for lower in sorted({height, max(height // 2, 1), 1}, reverse=True):
                count = out.new(f"sdiv i64 {out.new(f'add nsw i64 %rows, {lower - 1}')}, {lower}")
                before = out.new(f"sub nsw i64 %rows, {lower}")
                many, few = out.label("many"), out.label("few")
                out.branch_if(out.new(f"icmp sge i64 {before}, 0"), many, few)
                out.begin(many)
                with out.loop("0", count, unrolled=False) as i:
                    self._tiles_at(out, i, lower, before, x, z)
                out.branch(done)
                out.begin(few)
            out.branch(done)
            out.begin(done)
        out.line("ret i1 false")
        return self._module.function("product", out.text())
