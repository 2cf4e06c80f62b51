"""Batched matrix products, with broadcast batch dimensions."""

from __future__ import annotations

import math
from typing import Any

from autoconv.backends.llvm.analysis.classify import CLASSIFIERS
from autoconv.backends.llvm.analysis.classify_indexing import broadcasts_to, shape_of
from autoconv.backends.llvm.analysis.representation import is_array, sizes, uses_open_sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.matmul import integers
from autoconv.backends.llvm.codegen.matmul.blas import has_products, single_threaded_blas
from autoconv.backends.llvm.codegen.matmul.ops import blas_call
from autoconv.backends.llvm.codegen.matmul.tile_kernel import TileKernelWriter
from autoconv.backends.llvm.codegen.matmul.transpose_kernel import transpose_function
from autoconv.backends.llvm.codegen.parallel.partitioned import run_split
from autoconv.backends.llvm.codegen.registry import native_lowering
from autoconv.backends.llvm.codegen.routine import PART, Routine, call, open_dimensions, partitioned_routine
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

_PART_MULTIPLICATIONS = 300_000  # multiplications of a part
_POINTERS = ("ptr noalias readonly %x", "ptr noalias readonly %y", "ptr noalias %z")


def is_one_product(node: Node) -> bool:
    """Return whether y is a single matrix, so that the stacked rows of x form one product with it."""
    x, y = (len(shape_of(value.type)) for value in node.inputs)
    return y == 2 and (x == 2 or not node.attributes.get("transpose_a", False))


def _is_batch(node: Node) -> bool:
    x, y = node.inputs
    if not all(is_array(value.type) and 0 not in sizes(value.type) for value in (x, y)):
        return False
    types: list[Any] = [value.type for value in (x, y)]
    has_routine = all(type_.dtype.name in ("float32", "float64") for type_ in types)
    is_supported = current_target().vector_registers is not None or has_products(float64)
    return has_routine and not is_one_product(node) and is_supported


def _is_open_batch(node: Node) -> bool:
    """Return whether the node multiplies batches whose open shapes agree symbolically, by BLAS."""
    x, y = (shape_of(value.type) for value in node.inputs)
    batch = shape_of(node.results[0].type)[:-2]
    flip_x, flip_y = (node.attributes.get(name, False) for name in ("transpose_a", "transpose_b"))
    inner = x[-2 if flip_x else -1], y[-1 if flip_y else -2]
    types: list[Any] = [value.type for value in node.inputs]
    has_routine = all(type_.dtype.name in ("float32", "float64") for type_ in types) and has_products(float64)
    is_product = inner[0] == inner[1] and 0 not in (*x, *y)
    return has_routine and is_product and all(broadcasts_to(shape[:-2], batch) for shape in (x, y))


@native_lowering("matmul", fits=_is_batch)
def write_products(region: LoweringContext, node: Node) -> None:
    """Compute each product of a batch by tiles if they suit, else by BLAS, in the order of a single product.

    Products of integers have separate loops. Threads share the matrices, and the tiles of each matrix.
    """
    (result,) = node.results
    if integers.fits(node):
        integers.write_products(region, node)
        return
    product, machine = Product(node, batched=True), current_target().vector_registers
    blas = has_products(product.dtype)
    region.set(result, region.new_array(result.type))
    pointers = [region.data(value) for value in (*node.inputs, result)]
    if machine is not None and (product.suits_tiles() or not blas):
        plan = choose_tiling(product.rows, product.columns, product.dtype, machine)
        transposed = (
            _transpose_matrices(region, node, product, machine.size // product.dtype.size) if product.flip_y else None
        )
        if transposed is not None:
            pointers[1] = region.address(transposed[0])
        steps = (product.width_x, 1) if product.flip_x else (1, product.width_x)
        inner_sum = Sum(0, 0, product.inner, steps[0], product.columns)
        row_steps = steps[1], product.columns
        tile_routine = TileKernelWriter(region.body.module, plan, product.dtype, (inner_sum,), row_steps).write()

        def write_tile(out: FunctionText, addresses: list[str], tile: str) -> None:
            out.call(tile_routine, *addresses, 0, tile, out.add(tile, 1))

        _run_pieces(region, node, product, plan.count, write_tile, pointers)
        if transposed is not None:
            region.body.release_or_keep(transposed[0].slot, transposed[1])
        return

    def write_blas_call(out: FunctionText, addresses: list[str], _: str) -> None:
        out.line(blas_call(product, out.module, out, addresses))

    with single_threaded_blas(region.out, product.work > _PART_MULTIPLICATIONS or not product.work):
        _run_pieces(region, node, product, 1, write_blas_call, pointers)


def _run_pieces(
    region: LoweringContext, node: Node, product: Product, pieces: int, write: Any, pointers: list[str]
) -> None:
    """Write and call a loop over all pieces of all products, with a body by `write(out, addresses, piece)`."""
    batch = sizes(node.results[0].type)[:-2]
    parameters = [*open_dimensions(region), *_POINTERS]
    body = Routine(region, [*parameters, *PART], "i1")
    out, ir_type = body.out, register(product.dtype)
    with out.loop("%first", "%last") as number:
        index = unravel(out, number, (*batch, pieces))
        addresses = []
        for name, value in zip(("%x", "%y", "%z"), (*node.inputs, node.results[0]), strict=True):
            offset = block_offset(out, index[:-1], sizes(value.type), 2)
            addresses.append(out.gep(ir_type, name, offset))
        write(out, addresses, str(index[-1]))
    call_arguments = [*open_dimensions(region), *(f"ptr {pointer}" for pointer in pointers)]
    if not is_known(batch) or not product.work:
        sides = product.rows, product.columns, product.inner
        call(
            region,
            partitioned_routine(region, parameters, body, (*batch, pieces), 1, (*batch, *sides)),
            *call_arguments,
        )
        return
    name, count = body.finish("ret i1 false"), math.prod(batch) * pieces
    parts = min(product.work * math.prod(batch) // _PART_MULTIPLICATIONS, count, 4 * current_target().threads)
    if parts > 1 and current_target().is_parallel:
        routine = Routine(region, parameters)
        run_split(Split(None, count, -(-count // parts)), routine.module, routine.out, name, parameters, has_rare=False)
        call(region, routine.finish(), *call_arguments)
    else:
        region.out.new(f"call i1 @{name}({', '.join(call_arguments)}, i64 0, i64 0, i64 {count})")


def _transpose_matrices(region: LoweringContext, node: Node, product: Product, lanes: int) -> Any:
    """Transpose the matrices of y; return the new array and its type."""
    y = node.inputs[1]
    batch, matrix_size = sizes(y.type)[:-2], product.inner * product.columns
    if is_known(batch):
        type_ = TensorType(product.dtype, (math.prod(batch) * matrix_size,))
        packed = region.new_array(type_)
    else:
        type_ = TensorType(product.dtype, (None,))
        packed_size = times(region.out, element_count(region.out, batch), matrix_size)
        packed = region.body.new_sized_array(product.dtype, (packed_size,))
    routine = Routine(region, [*open_dimensions(region), "ptr noalias readonly %y", "ptr noalias %turned"])
    out, ir_type = routine.out, register(product.dtype)
    count = element_count(out, batch)
    transpose = transpose_function(out.module, product.dtype, product.columns, product.inner, lanes)
    with out.loop("0", str(count)) as i:
        start = times(out, i, matrix_size)
        source, target = (out.gep(ir_type, p, start) for p in ("%y", "%turned"))
        out.call(transpose, source, target)
    pointers = f"ptr {region.data(y)}", f"ptr {region.address(packed)}"
    call(region, routine.finish(), *open_dimensions(region), *pointers)
    return packed, type_


# A single product keeps the rule of `analysis/classify.py`.
def _classify_batched(node: Node) -> str | None:
    if integers.fits(node):
        return "whole"
    if not uses_open_sizes(node):
        return "whole" if _is_batch(node) else None
    return None if is_one_product(node) else "whole" if _is_open_batch(node) else "kernel"


CLASSIFIERS["matmul"] = _classify_batched
