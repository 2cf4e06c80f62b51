"""Transposition of matrices in squares: as many vector registers as a vector has lanes, transposed by shuffles."""

from __future__ import annotations

from typing import NamedTuple

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.vectors import VectorWriter
from autoconv.graph.dtypes import DType


def transpose_function(module: ModuleText, dtype: DType, rows: int, columns: int, lanes: int) -> str:
    """Write a function `(ptr from, ptr to)` that transposes a row-major matrix; return its name.

    A vector has `lanes` numbers, a power of two.
    """
    return _TransposeWriter(module, dtype, rows, columns, lanes).write()


class _SquareRun(NamedTuple):
    """Squares next to each other along a side of the matrix: the start, their number, and the side of each."""

    start: int
    square_count: int
    side: int


class _TransposeWriter:
    """The writer of one function for `transpose_function`."""

    def __init__(self, module: ModuleText, dtype: DType, rows: int, columns: int, lanes: int) -> None:
        self._module = module
        self._rows, self._columns, self._lanes = rows, columns, lanes
        module.has_loops = True
        self._out = FunctionText(module, Signature("void", ("ptr noalias readonly %from", "ptr noalias %to")))
        self._v = VectorWriter(self._out, dtype, lanes)

    def write(self) -> str:
        """Write the function, and return its name."""
        for row_run in self._square_runs(self._rows):
            for column_run in self._square_runs(self._columns):
                self._transpose_squares(row_run, column_run)
        self._out.ret()
        return self._out.finish("transpose")

    def _square_runs(self, size: int) -> list[_SquareRun]:
        """Divide a side of the matrix into full squares and a remainder; return each of the two that is not empty."""
        full_squares, remainder = divmod(size, self._lanes)
        runs = [_SquareRun(0, full_squares, self._lanes), _SquareRun(full_squares * self._lanes, 1, remainder)]
        return [run for run in runs if run.square_count and run.side]

    def _transpose_squares(self, row_run: _SquareRun, column_run: _SquareRun) -> None:
        """Write the transposition of the squares that two runs of rows and of columns have in common."""
        out, lanes, height, width = self._out, self._lanes, row_run.side, column_run.side
        with (
            out.loop("0", str(row_run.square_count), unrolled=False) as i,
            out.loop("0", str(column_run.square_count), unrolled=False) as j,
        ):
            start = self._offset(i, row_run.start, j, column_run.start, self._columns)
            target = self._offset(j, column_run.start, i, row_run.start, self._rows)
            source, target_address, v = self._v.address("%from", start), self._v.address("%to", target), self._v
            vectors = [
                v.load(v.address(source, r * self._columns), width) if r < height else "zeroinitializer"
                for r in range(lanes)
            ]
            for r, vector in enumerate(transpose_vectors(v, vectors)[:width]):
                v.store(vector, v.address(target_address, r * self._rows), height)

    def _offset(self, i: str, row: int, j: str, column: int, stride: int) -> str:
        """Return the offset of square `i` from a row on, `j` from a column on, in a matrix with rows of `stride`."""
        out = self._out
        row_offset = out.mul(i, self._lanes * stride)
        column_offset = out.mul(j, self._lanes)
        return out.add(out.add(row_offset, column_offset), row * stride + column)


def transpose_vectors(v: VectorWriter, rows: list[str]) -> list[str]:
    """Transpose a square of vectors.

    First, numbers of two vectors are interleaved within each block of 16 bytes, then pairs of numbers, and so on.
    Then 16-byte blocks are exchanged. Each of these shuffles is one instruction.
    """
    lanes, block_lanes, vectors = v.lanes, min(v.lanes, 16 // v.size), list(rows)
    unit = 1
    while unit < block_lanes:
        masks = [
            [block + half + start + side + i for block in range(0, lanes, block_lanes)
             for start in range(0, block_lanes // 2, unit) for side in (0, lanes) for i in range(unit)]
            for half in (0, block_lanes // 2)
        ]  # fmt: skip
        for r in range(lanes):
            if not r & unit:
                pair = vectors[r], vectors[r + unit]
                vectors[r], vectors[r + unit] = (v.shuffle(*pair, mask) for mask in masks)
        unit *= 2
    # The rows of a group of `block_lanes` are in bit-reversed order.
    bits = block_lanes.bit_length() - 1
    order = [sum(((k >> bit) & 1) << (bits - 1 - bit) for bit in range(bits)) for k in range(block_lanes)]
    columns = [_regroup_blocks(v, vectors[order[k] :: block_lanes], block_lanes) for k in range(block_lanes)]
    return [column[block] for block in range(lanes // block_lanes) for column in columns]


def _regroup_blocks(v: VectorWriter, vectors: list[str], block_lanes: int) -> list[str]:
    """Regroup the blocks of several vectors, as many as a vector has blocks.

    The first result has the first block of each vector, the second result the second blocks, and so on.
    """
    if len(vectors) == 1:
        return vectors
    block_starts = range(0, 2 * v.lanes, block_lanes)
    halves = []
    for blocks in (block_starts[::2], block_starts[1::2]):
        mask = [block + i for block in blocks for i in range(block_lanes)]
        pairs = zip(vectors[::2], vectors[1::2], strict=True)
        halves.append(_regroup_blocks(v, [v.shuffle(*pair, mask) for pair in pairs], block_lanes))
    return [vector for pair in zip(*halves, strict=True) for vector in pair]
