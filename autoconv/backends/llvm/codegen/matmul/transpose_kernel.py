"""Transpose matrices by squares of vector registers, whose rows and columns are exchanged by shuffles."""

from __future__ import annotations

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.vectors import VectorWriter
from autoconv.graph.dtypes import DType


def transpose_function(module: ModuleText, dtype: DType, rows: int, columns: int, lanes: int) -> str:
    """Return the name of a function `(ptr from, ptr to)` that transposes a contiguous matrix of `rows` by `columns`.

    A vector has `lanes` numbers, a power of two.
    """
    return _Transpose(module, dtype, rows, columns, lanes).write()


class _Transpose:
    def __init__(self, module: ModuleText, dtype: DType, rows: int, columns: int, lanes: int) -> None:
        self._module = module
        self._rows, self._columns, self._lanes = rows, columns, lanes
        module.has_loops = True
        self._out = FunctionText(module, Signature("void", ("ptr noalias readonly %from", "ptr noalias %to")))
        self._v = VectorWriter(self._out, dtype, lanes)
        self._size = dtype.size

    def write(self) -> str:
        for height in self._spans(self._rows):
            for width in self._spans(self._columns):
                self._transpose_squares(*height, *width)
        self._out.ret()
        return self._out.finish("transpose")

    def _spans(self, size: int) -> list[tuple[int, int, int]]:
        """Return, for full squares and the rest: start, number of squares in a row, and extent of one."""
        full, rest = divmod(size, self._lanes)
        blocks = [(0, full, self._lanes)] if full else []
        return [*blocks, (full * self._lanes, 1, rest)] if rest else blocks

    def _transpose_squares(self, row: int, down: int, height: int, column: int, across: int, width: int) -> None:
        out, lanes = self._out, self._lanes
        with (
            out.loop("0", str(down), unrolled=False) as i,
            out.loop("0", str(across), unrolled=False) as j,
        ):
            start = self._offset(i, row, j, column, self._columns)
            target = self._offset(j, column, i, row, self._rows)
            source, to, v = self._v.address("%from", start), self._v.address("%to", target), self._v
            vectors = [
                v.load(v.address(source, r * self._columns), width) if r < height else "zeroinitializer"
                for r in range(lanes)
            ]
            for r, vector in enumerate(self._transpose_vectors(vectors)[:width]):
                v.store(vector, v.address(to, r * self._rows), height)

    def _offset(self, i: str, row: int, j: str, column: int, stride: int) -> str:
        out = self._out
        down = out.mul(i, self._lanes * stride)
        across = out.mul(j, self._lanes)
        return out.add(out.add(down, across), row * stride + column)

    def _transpose_vectors(self, rows: list[str]) -> list[str]:
        """Transpose a square of vectors.

        Within each 16 bytes, numbers of two vectors are interleaved, then pairs of them, and so on; then whole 16-byte
        blocks are exchanged. Each of these shuffles is one instruction.
        """
        lanes, within, found = self._lanes, min(self._lanes, 16 // self._size), list(rows)
        unit = 1
        while unit < within:
            halves = [
                [block + half + start + side + i for block in range(0, lanes, within)
                 for start in range(0, within // 2, unit) for side in (0, lanes) for i in range(unit)]
                for half in (0, within // 2)
            ]  # fmt: skip
            for r in range(lanes):
                if not r & unit:
                    pair = found[r], found[r + unit]
                    found[r], found[r + unit] = (self._v.shuffle(*pair, half) for half in halves)
            unit *= 2
        # The results of `within` rows are in bit-reversed order.
        bits = within.bit_length() - 1
        order = [sum(((k >> bit) & 1) << (bits - 1 - bit) for bit in range(bits)) for k in range(within)]
        turned = [self._regroup_blocks(found[order[k] :: within], within) for k in range(within)]
        return [vectors[block] for block in range(lanes // within) for vectors in turned]

    def _regroup_blocks(self, vectors: list[str], within: int) -> list[str]:
        """Regroup the blocks of `within` numbers of several vectors: the first block of all, then the second ones.

        There are as many vectors as a vector has blocks.
        """
        if len(vectors) == 1:
            return vectors
        both = range(0, 2 * self._lanes, within)
        dealt = []
        for blocks in (both[::2], both[1::2]):
            mask = [block + i for block in blocks for i in range(within)]
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            dealt.append(self._regroup_blocks([self._v.shuffle(*pair, mask) for pair in pairs], within))
        return [vector for pair in zip(*dealt, strict=True) for vector in pair]
