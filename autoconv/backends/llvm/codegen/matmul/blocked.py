"""Products of matrices that are larger than the cache, by tiles that read packed panels.

y is first copied into panels of as many columns as a tile has, each row by row, so that tiles read contiguous memory.
The loops over tiles are blocked: all tiles of a part read a block of rows of some panels before they go on to the next
block, which therefore stays in the second-level cache. Sums are added in the same order as by unblocked tiles (see
`CHUNK_STEPS`). The scheme is that of K. Goto and R. van de Geijn, "Anatomy of high-performance matrix multiplication",
ACM Transactions on Mathematical Software 34 (2008), without packing x.
"""

from __future__ import annotations

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.matmul.tile_kernel import TileKernelWriter
from autoconv.backends.llvm.codegen.matmul.transposed_operand import transpose_operand
from autoconv.backends.llvm.codegen.routine import PART_PARAMETERS, launch_parts
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, minimum
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import FALSE
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.ir.vectors import VectorWriter
from autoconv.backends.llvm.schedule.matmul_tiling import CHUNK_STEPS, GROUP_BYTES, Product, Sum, Tiling, choose_tiling
from autoconv.backends.llvm.schedule.partition import Split
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.types import TensorType

_PARTS_PER_THREAD = 4


def write_blocked(region: LoweringContext, product: Product) -> None:
    """Write a product of known sizes: the packing of y, then the tiles, both in parts for the threads."""
    registers = current_target().vector_registers
    assert registers is not None
    tiling = choose_tiling(product.rows, product.columns, product.dtype, registers)
    module = region.body.module
    x, y_value = product.node.inputs
    (result,) = product.node.results
    y = transpose_operand(region, y_value, tiling.lanes) if product.is_y_transposed else region.data(y_value)
    writer = _BlockedProductWriter(module, product, tiling)
    packed_type = TensorType(product.dtype, (writer.panel_count * product.inner * writer.panel_width,))
    packed = region.new_array(packed_type)
    parts = current_target().threads * _PARTS_PER_THREAD
    addresses = [f"ptr {y}", f"ptr {region.address(packed)}"]
    _run_parts(region, writer.write_packing(), addresses, writer.panel_count, parts)
    addresses = [f"ptr {region.data(x)}", f"ptr {region.address(packed)}", f"ptr {region.data(result)}"]
    _run_parts(region, writer.write_tiles(), addresses, tiling.count, parts)
    region.release_after_item(packed, packed_type)


def write_transposed_patches(region: LoweringContext, product: Product) -> None:
    """Write the product of transposed patches, as in the gradient with respect to filters, which are not materialised.

    The inner dimension is that of the patches. Its blocks are lines, along which patches are a constant step apart.
    """
    registers, patches = current_target().vector_registers, product.patches
    assert registers is not None and patches is not None
    tiling = choose_tiling(max(count for _, count in patches.stretches), product.columns, product.dtype, registers)
    (result,) = product.node.results
    writer = _TransposedPatchesWriter(region.body.module, product, tiling)
    packed_type = TensorType(product.dtype, (writer.panel_count * product.inner * writer.panel_width,))
    packed = region.new_array(packed_type)
    parts = current_target().threads * _PARTS_PER_THREAD
    addresses = [f"ptr {region.data(product.node.inputs[1])}", f"ptr {region.address(packed)}"]
    _run_parts(region, writer.write_packing(), addresses, writer.panel_count, parts)
    region.out.clear(region.data(result), product.rows * product.columns * product.dtype.size)
    addresses = [f"ptr {region.data(patches.base)}", f"ptr {region.address(packed)}", f"ptr {region.data(result)}"]
    _run_parts(region, writer.write_tiles(), addresses, writer.tile_count, parts)
    region.release_after_item(packed, packed_type)


def _run_parts(region: LoweringContext, function: str, arguments: list[str], count: int, part_count: int) -> None:
    """Call a native function for the units 0 to `count`, divided into parts if there are several threads."""
    split = Split(dimension=None, size=count, step=-(-count // min(part_count, count)))
    launch_parts(region, function, arguments, split)


class _BlockedProductWriter:
    """The writer of the two functions of a product; their units are panels, and rows of tiles."""

    def __init__(self, module: ModuleText, product: Product, tiling: Tiling) -> None:
        self._module, self._product, self._tiling = module, product, tiling
        self.panel_width = tiling.width * tiling.lanes
        self.panel_count = -(-product.columns // self.panel_width)
        self._ir_type = register(product.dtype)
        module.has_loops = True

    def write_packing(self) -> str:
        """Write the function that packs the panels from %first to %last; return its name."""
        out = FunctionText(self._module, Signature("i1", ("ptr noalias %y", "ptr noalias %packed", *PART_PARAMETERS)))
        lanes, inner, columns = self._tiling.lanes, self._product.inner, self._product.columns
        v = VectorWriter(out, self._product.dtype, lanes)
        full_panels, columns_left = divmod(columns, self.panel_width)

        def copy_panel(panel: str, width: int) -> None:
            """Copy `width` columns of `y` to a packed panel, whose rows are adjacent."""
            source = self._address(out, "%y", out.mul(panel, self.panel_width))
            target = self._address(out, "%packed", out.mul(panel, inner * self.panel_width))
            with out.loop("0", str(inner), unrolled=False) as k:
                row = self._address(out, source, out.mul(k, columns))
                packed_row = self._address(out, target, out.mul(k, self.panel_width))
                for start in range(0, width, lanes):
                    count = min(lanes, width - start)
                    v.store(v.load(v.address(row, start), count), v.address(packed_row, start), count)

        with out.loop("%first", str(minimum(out, "%last", full_panels)), unrolled=False) as panel:
            copy_panel(panel, self.panel_width)
        if columns_left:
            with out.if_(out.icmp("sgt", "%last", full_panels)):
                copy_panel(str(full_panels), columns_left)
        out.ret(FALSE)
        return out.finish("pack")

    def write_tiles(self) -> str:
        """Write the function that computes the rows of tiles from %first to %last; return its name."""
        parameters = ("ptr noalias %x", "ptr noalias %packed", "ptr noalias %z", *PART_PARAMETERS)
        out = FunctionText(self._module, Signature("i1", parameters))
        full_blocks, steps_left = divmod(self._product.inner, CHUNK_STEPS)
        if full_blocks:
            self._write_block(out, "0", CHUNK_STEPS, accumulates=False)
        if full_blocks > 1:
            with out.loop("1", str(full_blocks), unrolled=False) as block:
                self._write_block(out, block, CHUNK_STEPS, accumulates=True)
        if steps_left:
            self._write_block(out, str(full_blocks), steps_left, accumulates=full_blocks > 0)
        out.ret(FALSE)
        return out.finish("product")

    def _write_block(self, out: FunctionText, block: str, steps: int, accumulates: bool) -> None:
        """Write the tiles of all panels for `steps` steps along the inner dimension, from step block·CHUNK_STEPS on."""
        product, width = self._product, self.panel_width
        x_step, row_step = product.x_step, product.x_row_step
        sums = (Sum(0, 0, steps, x_step, width),)
        kernels = TileKernelWriter(self._module, self._tiling, product.dtype, sums, (row_step, product.columns))
        start = out.mul(block, CHUNK_STEPS)
        x = self._address(out, "%x", out.mul(start, x_step))
        packed = self._address(out, "%packed", out.mul(start, width))
        full_panels, columns_left = divmod(product.columns, width)
        group = max(1, GROUP_BYTES // (CHUNK_STEPS * width * product.dtype.size))

        def write_row(row: str, height: int, first_panel: Position, last_panel: Position, columns: int) -> None:
            """Write the products of one tile of rows with the panels from `first_panel` to `last_panel`."""
            tile = kernels.write_tile(height, columns, accumulates)
            tile_x = self._address(out, x, out.mul(row, self._tiling.height * row_step))
            z_row = self._address(out, "%z", out.mul(row, self._tiling.height * product.columns))
            with out.loop(str(first_panel), str(last_panel), unrolled=False) as panel:
                tile_y = self._address(out, packed, out.mul(panel, product.inner * width))
                out.call(tile, tile_x, tile_y, self._address(out, z_row, out.mul(panel, width)))

        def write_rows(first_panel: Position, last_panel: Position, columns: int) -> None:
            """Write the full tiles of rows from `%first` to `%last`, and the tile of the rows left."""
            full_tiles, rows_left = divmod(product.rows, self._tiling.height)
            with out.loop("%first", str(minimum(out, "%last", full_tiles)), unrolled=False) as row:
                write_row(row, self._tiling.height, first_panel, last_panel, columns)
            if rows_left:
                with out.if_(out.icmp("sgt", "%last", full_tiles)):
                    write_row(str(full_tiles), rows_left, first_panel, last_panel, columns)

        if full_panels:
            with out.loop("0", str(-(-full_panels // group)), unrolled=False) as number:
                first_panel = out.mul(number, group)
                write_rows(first_panel, minimum(out, out.add(first_panel, group), full_panels), width)
        if columns_left:
            write_rows(str(full_panels), str(full_panels + 1), columns_left)

    def _address(self, out: FunctionText, pointer: str, offset: str) -> str:
        """Return the address `offset` elements after a pointer."""
        return out.gep(self._ir_type, pointer, offset)


class _TransposedPatchesWriter(_BlockedProductWriter):
    """The writer of the functions of a product of transposed patches; a row of tiles is within a stretch."""

    def __init__(self, module: ModuleText, product: Product, tiling: Tiling) -> None:
        super().__init__(module, product, tiling)
        assert product.patches is not None
        self._patches = product.patches
        self.tile_count = sum(-(-count // tiling.height) for _, count in self._patches.stretches)

    def write_tiles(self) -> str:
        """Write the function that adds the products of all lines, for the rows of tiles from %first to %last."""
        parameters = ("ptr noalias %x", "ptr noalias %packed", "ptr noalias %z", *PART_PARAMETERS)
        out = FunctionText(self._module, Signature("i1", parameters))
        *lines, (steps, patch_step) = self._patches.rows
        assert isinstance(steps, int) and isinstance(patch_step, int)
        sums = (Sum(0, 0, steps, patch_step, self.panel_width),)
        kernels = TileKernelWriter(
            self._module, self._tiling, self._product.dtype, sums, (1, self._product.columns), tuple(lines)  # type: ignore[arg-type]
        )
        with out.loop("0", str(self._product.inner // steps), unrolled=False) as line:
            x = kernels.line_address(out, line)
            packed = self._address(out, "%packed", out.mul(line, steps * self.panel_width))
            first_row = first_tile = 0
            for offset, count in self._patches.stretches:
                assert isinstance(offset, int)
                stretch = self._address(out, x, str(offset))
                self._write_stretch(out, kernels, stretch, packed, first_row, first_tile, count)
                first_row += count
                first_tile += -(-count // self._tiling.height)
        out.ret(FALSE)
        return out.finish("product")

    def _write_stretch(
        self, out: FunctionText, kernels: TileKernelWriter, x: str, packed: str, first_row: int, first_tile: int,
        count: int,
    ) -> None:  # fmt: skip
        """Write the rows of tiles of one stretch of `count` rows; `first_tile` is the number of its first one."""
        height, columns = self._tiling.height, self._product.columns
        full_tiles, rows_left = divmod(count, height)
        full_panels, columns_left = divmod(columns, self.panel_width)

        def write_row(tile: str, tile_height: int) -> None:
            """Add the products of one tile of rows of `x` and all packed panels to the result."""
            tile_x = self._address(out, x, out.mul(tile, height))
            z_row = self._address(out, "%z", out.mul(out.add(out.mul(tile, height), first_row), columns))
            if full_panels:
                kernel = kernels.write_tile(tile_height, self.panel_width, accumulates=True)
                with out.loop("0", str(full_panels), unrolled=False) as panel:
                    tile_y = self._address(out, packed, out.mul(panel, self._product.inner * self.panel_width))
                    out.call(kernel, tile_x, tile_y, self._address(out, z_row, out.mul(panel, self.panel_width)))
            if columns_left:
                kernel = kernels.write_tile(tile_height, columns_left, accumulates=True)
                tile_y = self._address(out, packed, str(full_panels * self._product.inner * self.panel_width))
                out.call(kernel, tile_x, tile_y, self._address(out, z_row, str(full_panels * self.panel_width)))

        first, last = out.sub("%first", first_tile), out.sub("%last", first_tile)
        start = out.call_c("llvm.smax.i64", "i64", "i64, i64", first, 0)
        if full_tiles:
            with out.loop(start, str(minimum(out, last, full_tiles)), unrolled=False) as tile:
                write_row(tile, height)
        if rows_left:
            with out.if_(out.icmp("sle", first, full_tiles)), out.if_(out.icmp("sgt", last, full_tiles)):
                write_row(str(full_tiles), rows_left)
