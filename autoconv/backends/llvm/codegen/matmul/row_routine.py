"""The function that computes rows of a matrix product by tiles, for the product itself and for blocks of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from autoconv.backends.llvm.analysis.representation import sizes
from autoconv.backends.llvm.analysis.symbolic_sizes import write_dimension
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.matmul.tile_kernel import TileKernelWriter
from autoconv.backends.llvm.codegen.matmul.transposed_operand import transpose_operand
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, element_count
from autoconv.backends.llvm.schedule.implicit_im2col import Patches
from autoconv.backends.llvm.schedule.matmul_tiling import Product, Sum, choose_tiling
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.types import Dimension


class RowRoutine(NamedTuple):
    """A function that takes `arguments`, and then a part, a first and a last unit.

    A unit is a row of tiles or a line of patches, and has `unit_height` rows.
    """

    name: str
    arguments: list[str]
    unit_height: Position


def write_row_routine(region: LoweringContext, product: Product, block_height: int = 0) -> RowRoutine:
    """Write the function that computes rows of a product by tiles; their height divides a nonzero `block_height`."""
    registers, out, patches = current_target().vector_registers, region.out, product.patches
    assert registers is not None
    y_value, (result,) = product.node.inputs[1], product.node.results
    open_sizes: dict[str, Position] = {}

    def size_operand(size: Position) -> Position:
        """Return a size as an operand in the function: a constant, or the register of a new parameter."""
        if isinstance(size, int):
            return size
        name = f"%open_size.{len(open_sizes)}"
        open_sizes[name] = size
        return name

    rows = row_count(out, product) if patches is None else write_dimension(out, patches.rows[-1][0])
    if patches is not None:
        block_height = 0  # a unit is a whole line, whatever the height of its tiles
    tiling = choose_tiling(size_operand(rows), product.columns, product.dtype, registers, block_height)
    y = transpose_operand(region, y_value, tiling.lanes) if product.is_y_transposed else region.data(y_value)
    lines: Sequence[tuple[Position, Position]] = ()
    if patches is None:
        x = product.node.inputs[0]
        row_step = product.x_row_step
        sums: Sequence[Sum] = [Sum(0, 0, size_operand(product.inner), product.x_step, product.columns)]
    else:
        x = patches.base
        sums, lines, row_step = _patch_offsets(
            patches, product.columns, lambda size: size_operand(write_dimension(out, size))
        )
    row_steps = row_step, product.columns
    writer = TileKernelWriter(
        region.body.module, tiling, product.dtype, tuple(sums), row_steps, tuple(lines), tuple(open_sizes)
    )
    call_arguments = [f"ptr {pointer}" for pointer in (region.data(x), y, region.data(result))]
    call_arguments += [f"i64 {size}" for size in open_sizes.values()]
    return RowRoutine(writer.write(), call_arguments, rows if patches else tiling.height)


def row_count(out: FunctionText, product: Product) -> Position:
    """Return the number of rows of all matrices of the result, perhaps as a register."""
    return element_count(out, sizes(product.node.results[0].type)[:-1])


class _PatchOffsets(NamedTuple):
    """The sums over a patch, the sizes and steps of the loops over lines, and the step between patches of a line.

    Steps are in elements.
    """

    sums: Sequence[Sum]
    line_steps: Sequence[tuple[Position, Position]]
    patch_step: int


def _patch_offsets(
    patches: Patches, columns: int, size_operand: Callable[[Dimension], Position]
) -> _PatchOffsets:
    """Return the offsets of the patches; `size_operand` turns a size into an operand of the function."""
    *lines, (_, patch_step) = patches.rows
    sums, columns_before = [], 0
    for offset, count in patches.stretches:
        sums.append(Sum(size_operand(offset), columns_before * columns, count, 1, columns))
        columns_before += count
    # The outermost size is not needed, because the number of lines is an argument.
    line_steps = [(size_operand(size) if depth else 1, size_operand(step)) for depth, (size, step) in enumerate(lines)]
    assert isinstance(patch_step, int)
    return _PatchOffsets(sums, line_steps, patch_step)
