"""Matrices the other way round: squares of registers, whose rows change places with columns by shuffles."""

from __future__ import annotations

from autoconv.backends.llvm.text import FunctionText, ModuleText
from autoconv.backends.llvm.vectors import VectorWriter
from autoconv.graph.dtypes import DType


def transposed(module: ModuleText, dtype: DType, rows: int, columns: int, lanes: int) -> str:
    """The name of a function `(ptr from, ptr to)` that copies a matrix of `rows` by `columns` to one of `columns` by
    `rows`, both side by side in memory; `lanes` numbers, a power of two, are a vector."""
    return _Transpose(module, dtype, rows, columns, lanes).write()


class _Transpose:
    def __init__(self, module: ModuleText, dtype: DType, rows: int, columns: int, lanes: int) -> None:
        self._module = module
        self._rows, self._columns, self._lanes = rows, columns, lanes
        module.has_loops = True
        header = "define internal void @FUNCTION(ptr noalias readonly %from, ptr noalias %to) noinline nounwind"
        self._out = FunctionText(module, header)
        self._v = VectorWriter(self._out, dtype, lanes)

    def write(self) -> str:
        for height in self._spans(self._rows):
            for width in self._spans(self._columns):
                self._squares(*height, *width)
        self._out.line("ret void")
        return self._module.function("transpose", self._out.text())

    def _spans(self, size: int) -> list[tuple[int, int, int]]:
        """Where squares begin, how many there are in a row, and how far they reach."""
        full, rest = divmod(size, self._lanes)
        found = [(0, full, self._lanes)] if full else []
        return [*found, (full * self._lanes, 1, rest)] if rest else found

    def _squares(self, row: int, down: int, height: int, column: int, across: int, width: int) -> None:
        out, lanes = self._out, self._lanes
        with (
            out.loop("0", str(down), unrolled=False) as i,
            out.loop("0", str(across), unrolled=False) as j,
        ):
            start = self._place(i, row, j, column, self._columns)
            target = self._place(j, column, i, row, self._rows)
            source, to, v = self._v.at("%from", start), self._v.at("%to", target), self._v
            found = [
                v.load(v.at(source, r * self._columns), width) if r < height else "zeroinitializer"
                for r in range(lanes)
            ]
            for r, vector in enumerate(self._turned(found)[:width]):
                v.store(vector, v.at(to, r * self._rows), height)

    def _place(self, i: str, row: int, j: str, column: int, stride: int) -> str:
        out = self._out
        down = out.new(f"mul nsw i64 {i}, {self._lanes * stride}")
        across = out.new(f"mul nsw i64 {j}, {self._lanes}")
        return out.new(f"add nsw i64 {out.new(f'add nsw i64 {down}, {across}')}, {row * stride + column}")

    def _turned(self, rows: list[str]) -> list[str]:
        """Exchanges blocks off the diagonal, of half the square, then of half of those, down to single numbers."""
        lanes, found = self._lanes, list(rows)
        size = lanes // 2
        while size:
            lower = [lane if not lane & size else lanes + lane - size for lane in range(lanes)]
            upper = [lane + size if not lane & size else lanes + lane for lane in range(lanes)]
            for r in range(lanes):
                if not r & size:
                    pair = found[r], found[r + size]
                    found[r], found[r + size] = self._v.shuffle(*pair, lower), self._v.shuffle(*pair, upper)
            size //= 2
        return found
