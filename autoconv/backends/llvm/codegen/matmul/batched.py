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
from autoconv.backends.llvm.codegen.matmul.ops import call_product
from autoconv.backends.llvm.codegen.matmul.tile_kernel import ProductText
from autoconv.backends.llvm.codegen.matmul.transpose_kernel import transpose_function
from autoconv.backends.llvm.codegen.parallel.partitioned import run_split
from autoconv.backends.llvm.codegen.registry import native
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
from autoconv.backends.llvm.schedule.matmul_tiling import Product, Sum, tiling
from autoconv.backends.llvm.schedule.partition import Split
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dtypes import float64
from autoconv.graph.graph import Node
from autoconv.graph.types import TensorType

_SHARE = 300_000  # multiplications of a part
_POINTERS = ("ptr noalias readonly %x", "ptr noalias readonly %y", "ptr noalias %z")


def is_one_product(node: Node) -> bool:
    """Return whether y is a single matrix, so that the stacked rows of x form one product with it."""
    x, y = (len(shape_of(value.type)) for value in node.inputs)
    return y == 2 and (x == 2 or not node.attributes.get("transpose_a", False))


def _is_batch(node: Node) -> bool:
    x, y = node.inputs
    if not all(is_array(value.type) and 0 not in sizes(value.type) for value in (x, y)):
        return False
    kinds: list[Any] = [value.type for value in (x, y)]
    has_routine = all(kind.dtype.name in ("float32", "float64") for kind in kinds)
    return has_routine and not is_one_product(node) and (current_target().vectors is not None or has_products(float64))


def _is_open_batch(node: Node) -> bool:
    """Return whether the shapes agree symbolically."""
    x, y = (shape_of(value.type) for value in node.inputs)
    batch = shape_of(node.results[0].type)[:-2]
    flip_x, flip_y = (node.attributes.get(name, False) for name in ("transpose_a", "transpose_b"))
    inner = x[-2 if flip_x else -1], y[-1 if flip_y else -2]
    kinds: list[Any] = [value.type for value in node.inputs]
    has_routine = all(kind.dtype.name in ("float32", "float64") for kind in kinds) and has_products(float64)
    is_product = inner[0] == inner[1] and 0 not in (*x, *y)
    return has_routine and is_product and all(broadcasts_to(shape[:-2], batch) for shape in (x, y))


@native("matmul", fits=_is_batch)
def write_products(region: LoweringContext, node: Node) -> None:
    """Write each product by tiles where they suit, else by the BLAS; each is accumulated as a single product is.

    Products of integers have loops of their own.
    Threads share the matrices and, where these are few, the tiles or rows of each.
    """
    (result,) = node.results
    if integers.fits(node):
        integers.write_products(region, node)
        return
    product, machine = Product(node, batched=True), current_target().vectors
    blas = has_products(product.dtype)
    region.set(result, region.new_array(result.type))
    pointers = [region.data(value) for value in (*node.inputs, result)]
    if machine is not None and (product.suits_tiles() or not blas):
        plan = tiling(product.rows, product.columns, product.dtype, machine)
        turned = (
            _transpose_matrices(region, node, product, machine.size // product.dtype.size) if product.flip_y else None
        )
        if turned is not None:
            pointers[1] = region.address(turned[0])
        steps = (product.width_x, 1) if product.flip_x else (1, product.width_x)
        along = Sum(0, 0, product.inner, steps[0], product.columns)
        one = ProductText(region.body.module, plan, product.dtype, (along,), (steps[1], product.columns)).rows()

        def write(out: FunctionText, places: list[str], tile: str) -> None:
            out.call(one, *places, 0, tile, out.add(tile, 1))

        _run(region, node, product, plan.count, write, pointers)
        if turned is not None:
            region.body.release_or_keep(turned[0].slot, turned[1])
        return

    def by_blas(out: FunctionText, places: list[str], _: str) -> None:
        out.line(call_product(product, out.module, out, places))

    with single_threaded_blas(region.out, product.work > _SHARE or not product.work):
        _run(region, node, product, 1, by_blas, pointers)


def _run(region: LoweringContext, node: Node, product: Product, pieces: int, write: Any, pointers: list[str]) -> None:
    """Run `write(out, pointers, piece)` for every piece of every product."""
    batch = sizes(node.results[0].type)[:-2]
    parameters = [*open_dimensions(region), *_POINTERS]
    body = Routine(region, [*parameters, *PART], "i1")
    out, kind = body.out, register(product.dtype)
    with out.loop("%first", "%last") as number:
        index = unravel(out, number, (*batch, pieces))
        places = []
        for name, value in zip(("%x", "%y", "%z"), (*node.inputs, node.results[0]), strict=True):
            offset = block_offset(out, index[:-1], sizes(value.type), 2)
            places.append(out.gep(kind, name, offset))
        write(out, places, str(index[-1]))
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
    parts = min(product.work * math.prod(batch) // _SHARE, count, 4 * current_target().threads)
    if parts > 1 and current_target().is_parallel:
        whole = Routine(region, parameters)
        run_split(Split(None, count, -(-count // parts)), whole.module, whole.out, name, parameters, has_rare=False)
        call(region, whole.finish(), *call_arguments)
    else:
        region.out.new(f"call i1 @{name}({', '.join(call_arguments)}, i64 0, i64 0, i64 {count})")


def _transpose_matrices(region: LoweringContext, node: Node, product: Product, lanes: int) -> Any:
    """Transpose the matrices of y; return the new array and its type."""
    y = node.inputs[1]
    several, each = sizes(y.type)[:-2], product.inner * product.columns
    if is_known(several):
        type_ = TensorType(product.dtype, (math.prod(several) * each,))
        packed = region.new_array(type_)
    else:
        type_ = TensorType(product.dtype, (None,))
        packed_size = times(region.out, element_count(region.out, several), each)
        packed = region.body.new_sized_array(product.dtype, (packed_size,))
    routine = Routine(region, [*open_dimensions(region), "ptr noalias readonly %y", "ptr noalias %turned"])
    out, kind = routine.out, register(product.dtype)
    count = element_count(out, several)
    turn = transpose_function(out.module, product.dtype, product.columns, product.inner, lanes)
    with out.loop("0", str(count)) as i:
        start = times(out, i, each)
        source, target = (out.gep(kind, p, start) for p in ("%y", "%turned"))
        out.call(turn, source, target)
    pointers = f"ptr {region.data(y)}", f"ptr {region.address(packed)}"
    call(region, routine.finish(), *open_dimensions(region), *pointers)
    return packed, type_


# `matmul` lowers a single product.
def _role(node: Node) -> str | None:
    if integers.fits(node):
        return "whole"
    if not uses_open_sizes(node):
        return "whole" if _is_batch(node) else None
    return None if is_one_product(node) else "whole" if _is_open_batch(node) else "kernel"


CLASSIFIERS["matmul"] = _role
