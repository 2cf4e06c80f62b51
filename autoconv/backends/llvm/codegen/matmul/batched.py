"""Batched matrix products, with broadcast batch dimensions."""

from __future__ import annotations

import math
from typing import Any

from autoconv.backends.llvm.analysis.classify import CLASSIFIERS
from autoconv.backends.llvm.analysis.classify_indexing import broadcasts_to, shape_of
from autoconv.backends.llvm.analysis.representation import is_static_array, sizes, uses_open_sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.matmul import integers
from autoconv.backends.llvm.codegen.matmul.blas import has_products, single_threaded_blas
from autoconv.backends.llvm.codegen.matmul.ops import blas_call
from autoconv.backends.llvm.codegen.matmul.tile_kernel import TileKernelWriter
from autoconv.backends.llvm.codegen.matmul.transpose_kernel import transpose_function
from autoconv.backends.llvm.codegen.parallel.partitioned import call_parts
from autoconv.backends.llvm.codegen.registry import native_lowering
from autoconv.backends.llvm.codegen.routine import (
    PartRoutine,
    Routine,
    call,
    open_dimensions,
    split_routine,
    whole_loop,
)
from autoconv.backends.llvm.codegen.values import Object
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import (
    block_offset,
    element_count,
    is_known,
    times,
    unravel,
)
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.schedule.matmul_tiling import Product, Sum, choose_tiling
from autoconv.backends.llvm.schedule.partition import Split
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dtypes import float64
from autoconv.graph.graph import Node
from autoconv.graph.types import TensorType

_PART_MULTIPLICATIONS = 300_000  # least multiplications of a part
_MAX_STACK_ELEMENTS = 1024  # most elements of a matrix that is transposed on the stack
_POINTER_PARAMETERS = ("ptr noalias readonly %x", "ptr noalias readonly %y", "ptr noalias %z")


def is_one_product(node: Node) -> bool:
    """Return whether a batch is computed as one product, of the rows of all matrices of x with a single matrix y."""
    rank_x, rank_y = (len(shape_of(value.type)) for value in node.inputs)
    return rank_y == 2 and (rank_x == 2 or not node.attributes.get("transpose_a", False))


def _is_native_batch(node: Node) -> bool:
    """Return whether native code multiplies these matrices one by one."""
    x, y = node.inputs
    if not all(is_static_array(value.type) and 0 not in sizes(value.type) for value in (x, y)):
        return False
    types: list[Any] = [value.type for value in (x, y)]
    are_floats = all(type_.dtype.name in ("float32", "float64") for type_ in types)
    is_supported = current_target().vector_registers is not None or has_products(float64)
    return are_floats and not is_one_product(node) and is_supported


def _is_open_batch(node: Node) -> bool:
    """Return whether BLAS can multiply the batches: their open shapes agree as symbols."""
    x, y = (shape_of(value.type) for value in node.inputs)
    batch = shape_of(node.results[0].type)[:-2]
    flip_x, flip_y = (node.attributes.get(name, False) for name in ("transpose_a", "transpose_b"))
    inner = x[-2 if flip_x else -1], y[-1 if flip_y else -2]
    types: list[Any] = [value.type for value in node.inputs]
    has_routine = all(type_.dtype.name in ("float32", "float64") for type_ in types) and has_products(float64)
    is_product = inner[0] == inner[1] and 0 not in (*x, *y)
    return has_routine and is_product and all(broadcasts_to(shape[:-2], batch) for shape in (x, y))


@native_lowering("matmul", fits=_is_native_batch)
def write_products(region: LoweringContext, node: Node) -> None:
    """Compute each product of a batch by tiles if they suit and its sides are known, else by BLAS.

    Sums are added in the same order as in a product of two matrices. Products of integers have loops of their own. The
    matrices, and the tiles of each, are divided among threads.
    """
    (result,) = node.results
    if integers.fits(node):
        integers.write_products(region, node)
        return
    product, registers = Product(node, is_batched=True), current_target().vector_registers
    has_blas = has_products(product.dtype)
    region.set(result, region.new_array(result.type))
    pointers = [region.data(value) for value in (*node.inputs, result)]
    if registers is not None and ((product.work and product.suits_tiles()) or not has_blas):
        tiling = choose_tiling(product.rows, product.columns, product.dtype, registers)
        y_count = product.inner * product.columns if product.work else 0
        # If only one tile reads the transposed matrix, that tile transposes it.
        is_y_on_stack = product.is_y_transposed and tiling.count == 1 and 0 < y_count <= _MAX_STACK_ELEMENTS
        if product.is_y_transposed and not is_y_on_stack:
            transposed_y, type_ = _transpose_matrices(region, node, product, registers.size // product.dtype.size)
            pointers[1] = region.address(transposed_y)
        inner_sum = Sum(0, 0, product.inner, product.x_step, product.columns)
        row_steps = product.x_row_step, product.columns
        tile_routine = TileKernelWriter(region.body.module, tiling, product.dtype, (inner_sum,), row_steps).write()

        def write_tile(out: FunctionText, addresses: list[str], tile: str) -> None:
            """Write the product of one tile of rows, after the transposition of `y` on the stack, if it is there."""
            x, y, z = addresses
            if is_y_on_stack:
                y, lanes = out.alloca(f"[{y_count} x {register(product.dtype)}]"), registers.size // product.dtype.size
                transpose = transpose_function(out.module, product.dtype, product.columns, product.inner, lanes)
                out.call(transpose, addresses[1], y)
            out.call(tile_routine, x, y, z, 0, tile, out.add(tile, 1))

        _run_units(region, node, product, tiling.count, write_tile, pointers)
        if product.is_y_transposed and not is_y_on_stack:
            region.body.release_or_keep(transposed_y.slot, type_)
        return

    def write_blas_call(out: FunctionText, addresses: list[str], _: str) -> None:
        out.line(blas_call(product, out.module, out, addresses))

    with single_threaded_blas(region.out, product.work > _PART_MULTIPLICATIONS or not product.work):
        _run_units(region, node, product, 1, write_blas_call, pointers)


def _run_units(
    region: LoweringContext, node: Node, product: Product, unit_count: int, write_unit: Any, pointers: list[str]
) -> None:
    """Write and call a loop over all units of all products; `write_unit(out, addresses, unit)` writes the body.

    A unit is a row of tiles, or a whole product; `unit_count` is the number of units of one product. `addresses` are
    those of the current matrices of x, y and z.
    """
    batch = sizes(node.results[0].type)[:-2]
    parameters = [*open_dimensions(region), *_POINTER_PARAMETERS]
    part_routine = PartRoutine(region, parameters)
    out, ir_type = part_routine.out, register(product.dtype)
    with out.loop("%first", "%last") as unit_number:
        *batch_index, unit = unravel(out, unit_number, (*batch, unit_count))
        addresses = []
        for name, value in zip(("%x", "%y", "%z"), (*node.inputs, node.results[0]), strict=True):
            offset = block_offset(out, batch_index, sizes(value.type), 2)
            addresses.append(out.gep(ir_type, name, offset))
        write_unit(out, addresses, str(unit))
    call_arguments = [*open_dimensions(region), *(f"ptr {pointer}" for pointer in pointers)]
    if not is_known(batch) or not product.work:
        shape = (*batch, product.rows, product.columns, product.inner)
        name = split_routine(region, parameters, part_routine, (*batch, unit_count), 1, shape)
        call(region, name, *call_arguments)
        return
    name, count = part_routine.finish("ret i1 false"), math.prod(batch) * unit_count
    parts = min(product.work * math.prod(batch) // _PART_MULTIPLICATIONS, count, 4 * current_target().threads)
    if parts > 1 and current_target().is_parallel:
        routine = Routine(region, parameters)
        split = Split(dimension=None, size=count, step=-(-count // parts))
        call_parts(split, routine.module, routine.out, name, parameters, has_rare=False)
        call(region, routine.finish(), *call_arguments)
    else:
        region.out.new(f"call i1 @{name}({', '.join([*call_arguments, *whole_loop(count)])})")


def _transpose_matrices(
    region: LoweringContext, node: Node, product: Product, lanes: int
) -> tuple[Object, TensorType]:
    """Write code that transposes all matrices of y; return the new array and its type."""
    y = node.inputs[1]
    batch, matrix_size = sizes(y.type)[:-2], product.inner * product.columns
    if is_known(batch):
        type_ = TensorType(product.dtype, (math.prod(batch) * matrix_size,))
        packed_array = region.new_array(type_)
    else:
        type_ = TensorType(product.dtype, (None,))
        packed_size = times(region.out, element_count(region.out, batch), matrix_size)
        packed_array = region.body.new_sized_array(product.dtype, (packed_size,))
    routine = Routine(region, [*open_dimensions(region), "ptr noalias readonly %y", "ptr noalias %transposed"])
    out, ir_type = routine.out, register(product.dtype)
    count = element_count(out, batch)
    transpose = transpose_function(out.module, product.dtype, product.columns, product.inner, lanes)
    with out.loop("0", str(count)) as i:
        start = times(out, i, matrix_size)
        source, target = (out.gep(ir_type, name, start) for name in ("%y", "%transposed"))
        out.call(transpose, source, target)
    pointers = f"ptr {region.data(y)}", f"ptr {region.address(packed_array)}"
    call(region, routine.finish(), *open_dimensions(region), *pointers)
    return packed_array, type_


def _classify_batched(node: Node) -> str | None:
    """Return the lowering class of a product; None for one that `analysis/classify.py` classifies."""
    if integers.fits(node):
        return "whole"
    if not uses_open_sizes(node):
        return "whole" if _is_native_batch(node) else None
    if is_one_product(node):
        return None
    return "whole" if _is_open_batch(node) else "kernel"


CLASSIFIERS["matmul"] = _classify_batched
