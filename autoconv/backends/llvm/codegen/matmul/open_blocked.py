"""Blocked products of matrices of open sizes, by functions that take the sizes and the distances of rows.

The scheme is that of `blocked.py`: y is packed into panels, and the tiles of a block of rows of some panels are
computed before those of the next block. Panels have whole vectors and squares of vectors. All tiles have one size, so
that one function computes them; those at the edges store the rows and columns that exist.
"""

from __future__ import annotations

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.matmul.blas import Matrix, ProductSizes
from autoconv.backends.llvm.codegen.matmul.transpose_kernel import transpose_vectors
from autoconv.backends.llvm.codegen.routine import PART_PARAMETERS, launch_parts
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, minimum, product, times
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import FALSE
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.ir.vectors import VectorWriter
from autoconv.backends.llvm.schedule.matmul_tiling import CHUNK_STEPS, GROUP_BYTES, PART_WORK
from autoconv.backends.llvm.schedule.partition import Split
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dtypes import DType
from autoconv.graph.types import TensorType

_HEIGHT, _VECTORS = 8, 3  # rows of a tile, and vectors of a row: 24 of 32 registers hold sums
_SIZES = ("i64 %rows", "i64 %inner", "i64 %columns", "i64 %width")
_TILE_SIZES = ("i64 %steps", "i64 %width", "i64 %columns", "i64 %rows_left", "i64 %left", "i1 %adds")


def write_open_blocked(
    region: LoweringContext, dtype: DType, x: Matrix, y: Matrix, z: str, sizes: ProductSizes,
    is_symmetric: bool,
) -> None:  # fmt: skip
    """Write the product of x and y into memory at z; all sizes are above 0.

    Of a symmetric product, only the tiles up to the diagonal are computed.
    """
    out, (rows, inner, columns) = region.out, sizes
    writer = _OpenProductWriter(region.body.module, dtype)
    panel_count = _quotient(out, columns, writer.panel_width)
    padded_inner = times(out, _quotient(out, inner, writer.lanes), writer.lanes)
    packed_size = product(out, times(out, panel_count, writer.panel_width), padded_inner)
    packed = region.body.new_sized_array(dtype, (packed_size,))
    arguments = [f"ptr {y.pointer}", f"ptr {region.address(packed)}"]
    arguments += [f"i64 {size}" for size in (rows, inner, columns, y.width)]
    _run_parts(region, writer.write_packing(y.is_transposed), arguments, panel_count, (inner, columns))
    arguments = [f"ptr {x.pointer}", *arguments[1:-1], f"i64 {x.width}", f"ptr {z}"]
    tiles_function = writer.write_tiles(x.is_transposed, is_symmetric)
    _run_parts(region, tiles_function, arguments, _quotient(out, rows, _HEIGHT), sizes)
    region.body.release_or_keep(packed.slot, TensorType(dtype, (None,)))


def _quotient(out: FunctionText, dividend: Position, divisor: int) -> Position:
    """Return the quotient, rounded up."""
    if isinstance(dividend, int):
        return -(-dividend // divisor)
    return out.op("sdiv", out.add(dividend, divisor - 1), divisor)


def _run_parts(
    region: LoweringContext, function: str, arguments: list[str], count: Position, shape: tuple[Position, ...]
) -> None:
    """Call a native function for the units 0 to `count`, in parts if there are several threads."""
    split = Split(dimension=0, size=count, shape=shape, min_part_work=PART_WORK, min_work=2 * PART_WORK)
    launch_parts(region, function, arguments, split)


class _OpenProductWriter:
    """The writer of the functions of a product; their units are panels, and rows of tiles."""

    def __init__(self, module: ModuleText, dtype: DType) -> None:
        registers = current_target().vector_registers
        assert registers is not None
        self._module, self._dtype, self._ir_type = module, dtype, register(dtype)
        self.lanes = registers.size // dtype.size
        self.panel_width = _VECTORS * self.lanes
        self._group = GROUP_BYTES // (CHUNK_STEPS * self.panel_width * dtype.size)  # panels that stay in the cache
        module.has_loops = True

    def write_packing(self, is_transposed: bool) -> str:
        """Write the function that packs the panels of y from %first to %last; return its name."""
        parameters = ("ptr noalias %y", "ptr noalias %packed", *_SIZES, *PART_PARAMETERS)
        out = FunctionText(self._module, Signature("i1", parameters))
        v, width = VectorWriter(out, self._dtype, self.lanes), self.panel_width
        panel_size = self._panel_size(out)
        with out.loop("%first", "%last", unrolled=False) as panel:
            column = out.mul(panel, width)
            left, target = out.sub("%columns", column), self._address(out, "%packed", out.mul(panel, panel_size))
            if is_transposed:
                self._pack_squares(v, self._address(out, "%y", out.mul(column, "%width")), target, left)
            else:
                self._pack_rows(v, self._address(out, "%y", column), target, left)
        out.ret(FALSE)
        return out.finish("pack")

    def _pack_rows(self, v: VectorWriter, source: str, target: str, left: str) -> None:
        """Pack a panel, `left` of whose columns exist, row by row."""
        out, starts = v.out, range(0, self.panel_width, self.lanes)
        masks = [v.bits_below(left, start) for start in starts]
        with out.loop("0", "%inner", unrolled=False) as k:
            row = self._address(out, source, out.mul(k, "%width"))
            packed_row = self._address(out, target, out.mul(k, self.panel_width))
            for start, mask in zip(starts, masks, strict=True):
                v.store(v.load(v.address(row, start), mask), v.address(packed_row, start), self.lanes)

    def _pack_squares(self, v: VectorWriter, source: str, target: str, left: str) -> None:
        """Pack a panel whose columns are rows in memory, `left` of them, by squares that are transposed."""
        out, lanes = v.out, self.lanes
        last = out.sub(left, 1)
        for start in range(0, self.panel_width, lanes):
            rows = [minimum(out, last, start + i) for i in range(lanes)]  # columns that do not exist have any numbers
            addresses = [self._address(out, source, out.mul(row, "%width")) for row in rows]
            squares = str(_quotient(out, "%inner", lanes))
            with out.loop("0", squares, unrolled=False) as square:
                k = out.mul(square, lanes)
                mask = v.bits_below(out.sub("%inner", k))
                vectors = [v.load(self._address(out, address, k), mask) for address in addresses]
                first = self._address(out, target, out.add(out.mul(k, self.panel_width), start))
                for i, vector in enumerate(transpose_vectors(v, vectors)):
                    v.store(vector, v.address(first, i * self.panel_width), lanes)

    def write_tiles(self, is_x_transposed: bool, is_symmetric: bool) -> str:
        """Write the function that computes the rows of tiles from %first to %last; return its name."""
        parameters = ("ptr noalias %x", "ptr noalias %packed", *_SIZES, "ptr noalias %z", *PART_PARAMETERS)
        out = FunctionText(self._module, Signature("i1", parameters))
        panel_size, panel_count = self._panel_size(out), str(_quotient(out, "%columns", self.panel_width))
        x_step, row_step = ("%width", "1") if is_x_transposed else ("1", "%width")
        tile = self._write_tile(is_x_transposed)
        with (
            out.loop("0", str(_quotient(out, "%inner", CHUNK_STEPS)), unrolled=False) as chunk,
            out.loop("0", str(_quotient(out, panel_count, self._group)), unrolled=False) as group,
            out.loop("%first", "%last", unrolled=False) as unit,
        ):
            start, first_panel, row = out.mul(chunk, CHUNK_STEPS), out.mul(group, self._group), out.mul(unit, _HEIGHT)
            steps, adds = minimum(out, out.sub("%inner", start), CHUNK_STEPS), out.icmp("ne", chunk, 0)
            tile_x = self._address(out, "%x", out.add(out.mul(start, x_step), out.mul(row, row_step)))
            packed = self._address(out, "%packed", out.mul(start, self.panel_width))
            z_row, rows_left = self._address(out, "%z", out.mul(row, "%columns")), out.sub("%rows", row)
            last_panel = minimum(out, out.add(first_panel, self._group), panel_count)
            if is_symmetric:  # up to the panel of the diagonal
                diagonal = out.op("sdiv", out.add(row, _HEIGHT - 1), self.panel_width)
                last_panel = minimum(out, str(last_panel), out.add(diagonal, 1))
            with out.loop(first_panel, str(last_panel), unrolled=False) as panel:
                column = out.mul(panel, self.panel_width)
                tile_y = self._address(out, packed, out.mul(panel, panel_size))
                tile_z = self._address(out, z_row, column)
                left = out.sub("%columns", column)
                out.call(tile, tile_x, tile_y, tile_z, steps, "%width", "%columns", rows_left, left, adds)
        out.ret(FALSE)
        return out.finish("product")

    def _write_tile(self, is_x_transposed: bool) -> str:
        """Write the function of one tile, which stores only the rows and columns that exist; return its name."""
        parameters = ("ptr noalias %x", "ptr noalias %y", "ptr noalias %z", *_TILE_SIZES)
        out = FunctionText(self._module, Signature("void", parameters, "noinline nounwind"))
        v = VectorWriter(out, self._dtype, self.lanes)
        cells = [[out.alloca(v.vector, "zeroinitializer") for _ in range(_VECTORS)] for _ in range(_HEIGHT)]
        x_step, row_step = ("%width", "1") if is_x_transposed else ("1", "%width")
        last_row = out.sub("%rows_left", 1)
        rows = [str(minimum(out, last_row, r)) for r in range(_HEIGHT)]  # rows that do not exist repeat the last one
        x_rows = [self._address(out, "%x", out.mul(row, row_step)) for row in rows]
        with out.loop("0", "%steps", unrolled=False) as k:
            y, step = self._address(out, "%y", out.mul(k, self.panel_width)), out.mul(k, x_step)
            numbers = [v.load(v.address(y, i * self.lanes), self.lanes) for i in range(_VECTORS)]
            for row_cells, x_row in zip(cells, x_rows, strict=True):
                factor = v.broadcast(out.load(v.ir_type, self._address(out, x_row, step)))
                for cell, number in zip(row_cells, numbers, strict=True):
                    out.store(v.vector, v.fma(factor, number, out.load(v.vector, cell)), cell)
        added_columns = out.select("%adds", "%left", "0")
        for r, row_cells in enumerate(cells):
            with out.if_(out.icmp("slt", str(r), "%rows_left")):
                z = self._address(out, "%z", out.mul(str(r), "%columns"))
                for i, cell in enumerate(row_cells):
                    target, start = v.address(z, i * self.lanes), i * self.lanes
                    before = v.load(target, v.bits_below(added_columns, start))
                    v.store(out.op("fadd", before, out.load(v.vector, cell)), target, v.bits_below("%left", start))
        out.ret()
        return out.finish("tile")

    def _panel_size(self, out: FunctionText) -> str:
        """Return the number of elements of a packed panel, whose rows are padded to whole squares."""
        return out.mul(out.mul(str(_quotient(out, "%inner", self.lanes)), self.lanes), self.panel_width)

    def _address(self, out: FunctionText, pointer: str, offset: str) -> str:
        """Return the address `offset` elements after a pointer."""
        return out.gep(self._ir_type, pointer, offset)
