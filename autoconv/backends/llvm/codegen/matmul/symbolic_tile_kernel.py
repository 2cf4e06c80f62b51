"""Tiled matrix products with an open number of rows, or an open inner dimension.

If the rows are no multiple of the tile height, the last tile starts earlier and overlaps the one before; recomputed
rows are equal. With fewer rows than a tile has, tiles are half as high, or one row.
"""

from __future__ import annotations

from autoconv.backends.llvm.codegen.matmul.tile_kernel import ProductText
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import FALSE
from autoconv.backends.llvm.ir.vectors import VectorWriter
from autoconv.backends.llvm.schedule.matmul_tiling import CHUNK, Sum, Tiling
from autoconv.backends.llvm.target.machine import Registers
from autoconv.graph.dtypes import DType


def open_tiling(rows: Position, columns: int, dtype: DType, machine: Registers) -> Tiling:
    """Choose tiles a little lower than those for constant rows, so that less is computed twice."""
    lanes, most = machine.size // dtype.size, (3 * machine.count) // 4
    height = most // 3
    if isinstance(rows, int):
        height = min(rows, height)
    return Tiling(rows if isinstance(rows, int) else 0, columns, lanes, height, max(1, min(3, -(-columns // lanes))))


class _OpenRows(ProductText):
    def _tiles_at(self, out: FunctionText, i: str, height: int, before: str, x: str = "%x", z: str = "%z") -> None:
        """Write the tile number `i` from the top; it starts at row `before` at the latest."""
        row = out.mul(i, height)
        inside = out.icmp("slt", row, before)
        row = out.select(inside, row, before)
        x, z = self._moved(out, x, row, self._x_row), self._moved(out, z, row, self._z_row)
        self._row(out, "0", height, x, z)


class OpenProductText(_OpenRows):
    """Product functions that take `%rows` and `%steps`.

    Consecutive rows are `z_row` elements apart in the result and `x_row` in x; a step advances by `x_step` and
    `y_step`.
    """

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
            more = out.add("%rows", lower - 1)
            last = "%last" if lower == height else out.op("sdiv", more, lower)
            before = out.sub("%rows", lower)
            many, few = out.label("many"), out.label("few")
            out.branch_if(out.icmp("sge", before, 0), many, few)
            out.begin(many)
            with out.loop("%first" if lower == height else "0", last, unrolled=False) as i:
                self._tiles_at(out, i, lower, before)
            out.branch(done)
            out.begin(few)
        out.branch(done)
        out.begin(done)
        out.ret(FALSE)
        return out.finish("product")

    def _sum_up(self, v: VectorWriter, cells: list[list[str]], widths: list[int]) -> None:
        """Accumulate CHUNK steps at a time, and join the partial sums."""
        out, (part,) = v.out, self._sums
        chunks = out.op("sdiv", out.add("%steps", CHUNK - 1), CHUNK)
        least = out.module.declare("llvm.smin.i64", "i64", "i64, i64")
        with out.loop("0", chunks, unrolled=False) as chunk:
            start = out.mul(chunk, CHUNK)
            left = out.sub("%steps", start)
            count = out.new(f"call i64 {least}(i64 {left}, i64 {CHUNK})")
            sums = [[out.alloca(v.vector) for _ in widths] for _ in cells]
            self._add_up(v, part, sums, widths, start, count)
            self._join(v, cells, sums)


class OpenPatchText(_OpenRows):
    """Product functions over patches that take `%rows`, the number of patches in a line, and the registers `told`.

    The starts of sums, and the lines, may refer to these registers. The number of steps is constant.
    """

    def __init__(
        self, module: ModuleText, tiling: Tiling, dtype: DType, sums: tuple[Sum, ...], x_row: int,
        lines: tuple[tuple[Position, Position], ...], told: tuple[str, ...],
    ) -> None:  # fmt: skip
        super().__init__(module, tiling, dtype, sums, x_row, tiling.columns, lines)
        self._more = ("%rows", *told)

    def rows(self) -> str:
        """Return the name of a function that computes the lines from %first to %last."""
        self._module.has_loops = True
        out, height = self._function(), self._tiling.height
        with out.loop("%first", "%last", unrolled=False) as line:
            x, first = self._line(out, line), out.mul(line, "%rows")
            z, done = self._moved(out, "%z", first, self._z_row), out.label("done")
            for lower in sorted({height, max(height // 2, 1), 1}, reverse=True):
                count = out.op("sdiv", out.add("%rows", lower - 1), lower)
                before = out.sub("%rows", lower)
                many, few = out.label("many"), out.label("few")
                out.branch_if(out.icmp("sge", before, 0), many, few)
                out.begin(many)
                with out.loop("0", count, unrolled=False) as i:
                    self._tiles_at(out, i, lower, before, x, z)
                out.branch(done)
                out.begin(few)
            out.branch(done)
            out.begin(done)
        out.ret(FALSE)
        return out.finish("product")
