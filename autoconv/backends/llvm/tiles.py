"""Products of matrices by code of our own: tiles of the result that live in vector registers.

A tile is some rows by a few vectors of columns. For each step along the inner dimension its code loads a row of y once,
spreads one number of x for each of its rows, and adds up by fused multiply-adds; what is left over at the edges are
smaller tiles, vectors cut short by masks. Shapes and strides are known, so addresses are one register and a constant.
Each number of the result is added up in one order along the inner dimension, however rows are shared out.
"""

from __future__ import annotations

from dataclasses import dataclass

from autoconv.backends.llvm.positions import Position
from autoconv.backends.llvm.scalars import register
from autoconv.backends.llvm.text import FunctionText, ModuleText
from autoconv.backends.llvm.vectors import Registers, VectorWriter
from autoconv.graph.dtypes import DType

FEWEST = 4  # columns of a result
LARGEST = 3 << 19  # bytes of y that tiles go over again and again
SHARE = 500_000  # multiplications of a part
CHUNK = 256  # steps that are summed up before their sum joins the total: rounding grows with the number of chunks


@dataclass(frozen=True)
class Sum:
    """One run along the inner dimension: `count` steps, the first at `x` and `y` elements behind where the matrices
    begin; of x a step and a row move on by that many elements, of y a step does, its columns lie side by side."""

    x: Position
    y: int
    count: int
    x_step: int
    y_step: int


@dataclass(frozen=True)
class Tiling:
    """Of a result of `rows` by `columns`: a tile is `height` rows by `width` vectors of `lanes` numbers."""

    rows: int
    columns: int
    lanes: int
    height: int
    width: int

    @property
    def count(self) -> int:
        """Of tiles, one below the other."""
        return -(-self.rows // self.height)


def tiling(rows: int, columns: int, dtype: DType, machine: Registers, whole: int = 0) -> Tiling:
    """Few loads for many products: with 32 registers 12 rows by 2 vectors, and where there are few rows more vectors,
    so that enough sums are under way at once. With `whole`, the rows come in so many at a time, which tiles divide."""
    lanes = machine.size // dtype.size
    most = (3 * machine.count) // 4  # registers for sums
    tallest = most // 2
    height = min(rows, tallest)
    if whole:
        height = next(h for h in range(min(tallest, whole), 0, -1) if whole % h == 0)
    elif tallest < rows < 10 * tallest:  # so that nothing is left over, if that can be
        height = next((h for h in range(tallest, tallest // 2, -1) if rows % h == 0), tallest)
    vectors = -(-columns // lanes)
    width = max(1, min(most // height, 8, vectors))
    # A narrower one that goes into the columns evenly, with enough sums under way: the code of another is spared.
    width = next((w for w in range(width, 0, -1) if vectors % w == 0 and 3 * w * height >= 2 * most), width)
    return Tiling(rows, columns, lanes, height, width)


class ProductText:
    """Writes the functions of a product. `sums` are added up into each number of the result, one after the other; a row
    of the result is `z_row` elements behind the one before, of x `x_row`. With `lines`, what `tiling` says is one of as
    many as the product of their sizes, and each is so many elements of x apart: (size, step), the innermost last."""

    def __init__(
        self, module: ModuleText, tiling: Tiling, dtype: DType, sums: tuple[Sum, ...], x_row: int, z_row: int,
        lines: tuple[tuple[Position, Position], ...] = (),
    ) -> None:  # fmt: skip
        self._module = module
        self._tiling = tiling
        self._dtype = dtype
        self._kind = register(dtype)
        self._sums = sums
        self._x_row = x_row
        self._z_row = z_row
        self._lines = lines
        self._more: tuple[str, ...] = ()  # what tiles are told besides, as i64

    def rows(self) -> str:
        """The name of a function that makes the tiles from %first to %last, counted from the top; the lines, where
        there are some."""
        self._module.has_loops = True
        out, tiling = self._function(), self._tiling
        full, rest = divmod(tiling.rows, tiling.height)
        if self._lines:
            with out.loop("%first", "%last", unrolled=False) as line:
                x, z = self._line(out, line), self._moved(out, "%z", line, tiling.rows * self._z_row)
                with out.loop("0", str(full), unrolled=False) as i:
                    self._row(out, i, tiling.height, x, z)
                if rest:
                    self._row(out, str(full), rest, x, z)
            out.line("ret i1 false")
            return self._module.function("product", out.text())
        last = "%last"
        if rest:
            inside = out.new(f"icmp slt i64 %last, {full}")
            last = out.new(f"select i1 {inside}, i64 %last, i64 {full}")
        with out.loop("%first", last) as i:
            self._row(out, i, tiling.height)
        if rest:
            edge, done = out.label("edge"), out.label("done")
            out.branch_if(out.new(f"icmp sgt i64 %last, {full}"), edge, done)
            out.begin(edge)
            self._row(out, str(full), rest)
            out.branch(done)
            out.begin(done)
        out.line("ret i1 false")
        return self._module.function("product", out.text())

    def _function(self) -> FunctionText:
        told = "".join(f"i64 {one}, " for one in self._more)
        parameters = f"ptr noalias %x, ptr noalias %y, ptr noalias %z, {told}i64 %part, i64 %first, i64 %last"
        return FunctionText(self._module, f"define internal i1 @FUNCTION({parameters}) noinline nounwind")

    def _line(self, out: FunctionText, line: str) -> str:
        """Where x begins for a line."""
        x = "%x"
        for depth, (size, step) in reversed(list(enumerate(self._lines))):
            place = out.new(f"urem i64 {line}, {size}") if depth else line
            x = self._moved(out, x, place, step)
            line = out.new(f"udiv i64 {line}, {size}")
        return x

    def _row(self, out: FunctionText, i: str, height: int, x: str = "%x", z: str = "%z") -> None:
        """The tiles of one height, side by side."""
        x = self._moved(out, x, i, self._tiling.height * self._x_row)
        z = self._moved(out, z, i, self._tiling.height * self._z_row)
        wide = self._tiling.width * self._tiling.lanes
        full, rest = divmod(self._tiling.columns, wide)
        if full:
            name = self._tile(height, wide)
            with out.loop("0", str(full), unrolled=False) as j:
                y, target = self._moved(out, "%y", j, wide), self._moved(out, z, j, wide)
                out.line(f"call void @{name}(ptr {x}, ptr {y}, ptr {target}{self._told()})")
        if rest:
            y, target = self._moved(out, "%y", "1", full * wide), self._moved(out, z, "1", full * wide)
            out.line(f"call void @{self._tile(height, rest)}(ptr {x}, ptr {y}, ptr {target}{self._told()})")

    def _moved(self, out: FunctionText, pointer: str, count: Position, step: Position) -> str:
        offset = out.new(f"mul nsw i64 {count}, {step}")
        return out.new(f"getelementptr inbounds {self._kind}, ptr {pointer}, i64 {offset}")

    def _tile(self, height: int, columns: int) -> str:
        """The name of the function of one tile."""
        parameters = f"ptr noalias %x, ptr noalias %y, ptr noalias %z{self._told()}"
        header = f"define internal void @FUNCTION({parameters}) noinline nounwind"
        out, lanes = FunctionText(self._module, header), self._tiling.lanes
        full, rest = divmod(columns, lanes)
        widths = [lanes] * full + ([rest] if rest else [])  # how many numbers of each vector are columns
        v = VectorWriter(out, self._dtype, lanes)
        cells = [[out.alloca(v.vector, "zeroinitializer") for _ in widths] for _ in range(height)]
        self._sum_up(v, cells, widths)
        for r, row in enumerate(cells):
            for i, (cell, width) in enumerate(zip(row, widths, strict=True)):
                total = out.new(f"load {v.vector}, ptr {cell}")
                v.store(total, v.at("%z", r * self._z_row + i * lanes), width)
        out.line("ret void")
        return self._module.function("tile", out.text())

    def _told(self) -> str:
        return "".join(f", i64 {one}" for one in self._more)

    def _sum_up(self, v: VectorWriter, cells: list[list[str]], widths: list[int]) -> None:
        """All products onto the cells."""
        out, height = v.out, len(cells)
        for part in self._sums:
            chunks, left = divmod(part.count, CHUNK) if part.count > 2 * CHUNK else (0, part.count)
            if chunks:
                with out.loop("0", str(chunks), unrolled=False) as chunk:
                    sums = [[out.alloca(v.vector) for _ in widths] for _ in range(height)]
                    self._add_up(v, part, sums, widths, out.new(f"mul nsw i64 {chunk}, {CHUNK}"), CHUNK)
                    self._join(v, cells, sums)
            if left and chunks:
                sums = [[out.alloca(v.vector) for _ in widths] for _ in range(height)]
                self._add_up(v, part, sums, widths, str(chunks * CHUNK), left)
                self._join(v, cells, sums)
            elif left:
                self._add_up(v, part, cells, widths, "", left)

    def _add_up(
        self, v: VectorWriter, part: Sum, cells: list[list[str]], widths: list[int], start: str, count: Position
    ) -> None:
        """Products of `count` steps onto the cells, which are zero before where a `start` is given."""
        out = v.out
        for cell in [cell for row in cells for cell in row] if start else ():
            out.line(f"store {v.vector} zeroinitializer, ptr {cell}")
        known = part.x if isinstance(part.x, int) else 0
        x = "%x" if part.x == known else self._moved(out, "%x", part.x, 1)
        x = self._moved(out, x, start, part.x_step) if start else x
        y = self._moved(out, "%y", start, part.y_step) if start else "%y"
        with out.loop("0", str(count), unrolled=False) as k:
            left, right = self._moved(out, x, k, part.x_step), self._moved(out, y, k, part.y_step)
            loaded = [v.load(v.at(right, part.y + i * self._tiling.lanes), width) for i, width in enumerate(widths)]
            for r, row in enumerate(cells):
                spread = v.spread(out.new(f"load {v.kind}, ptr {v.at(left, known + r * self._x_row)}"))
                for cell, other in zip(row, loaded, strict=True):
                    total = v.fma(spread, other, out.new(f"load {v.vector}, ptr {cell}"))
                    out.line(f"store {v.vector} {total}, ptr {cell}")

    def _join(self, v: VectorWriter, cells: list[list[str]], sums: list[list[str]]) -> None:
        """Adds the sums of one stretch to those of all before."""
        for cell, one in zip((c for row in cells for c in row), (c for row in sums for c in row), strict=True):
            total, part = (v.out.new(f"load {v.vector}, ptr {place}") for place in (cell, one))
            v.out.line(f"store {v.vector} {v.out.new(f'fadd {v.vector} {total}, {part}')}, ptr {cell}")
