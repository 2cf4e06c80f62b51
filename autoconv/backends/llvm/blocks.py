"""Nodes over whole arrays that are no loop nests of their own: products, joins, searches."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from autoconv.backends.llvm import abi
from autoconv.backends.llvm.kernels import load, store
from autoconv.backends.llvm.positions import Index, linear, plus
from autoconv.backends.llvm.roles import is_scalar, sizes
from autoconv.backends.llvm.scalars import Element, literal, memory
from autoconv.backends.llvm.values import RegisterWriter
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node, Value

if TYPE_CHECKING:
    from autoconv.backends.llvm.regions import Region


def write_join(region: Region, node: Node) -> None:
    """Each input copied to its part of the result."""
    (result,) = node.results
    region.set(result, region.new_array(result.type))
    target, shape = region.data(result), sizes(result.type)
    axis = node.attributes["axis"] % len(shape)
    start = 0
    for value in node.inputs:
        _copy_part(region, value, target, shape, axis, start, ())
        start += sizes(value.type)[axis]


def _copy_part(
    region: Region, value: Value, target: str, shape: tuple[int, ...], axis: int, start: int, index: Index
) -> None:
    own = sizes(value.type)
    if len(index) < len(own):
        with region.out.loop("0", str(own[len(index)])) as i:
            _copy_part(region, value, target, shape, axis, start, (*index, i))
        return
    b = RegisterWriter(region)
    element = load(b, value.type.dtype, region.data(value), linear(region.out, index, own))  # type: ignore[union-attr]
    place = (*index[:axis], plus(region.out, index[axis], start), *index[axis + 1 :])
    store(b, element, target, linear(region.out, place, shape))


def write_search(region: Region, node: Node) -> None:
    """argmax and argmin: the first of the best, or the first nan."""
    (x,), (result,) = node.inputs, node.results
    shape = sizes(x.type)
    axis = node.attributes.get("axis", 0) % len(shape)
    out, b, dtype = region.out, RegisterWriter(region), x.type.dtype  # type: ignore[union-attr]
    if is_scalar(result.type):
        target = out.alloca(memory(result.type.dtype))  # type: ignore[union-attr]
    else:
        region.set(result, region.new_array(result.type))
        target = region.data(result)
    source = region.data(x)
    best, where = out.alloca(memory(dtype)), out.alloca("i64")
    test = "gt" if node.op.name == "argmax" else "lt"

    def search(index: Index) -> None:
        if len(index) < len(shape) - 1:
            with out.loop("0", str(shape[len(index) + (len(index) >= axis)])) as i:
                search((*index, i))
            return

        def at(position: Any) -> Element:
            return load(b, dtype, source, linear(out, (*index[:axis], position, *index[axis:]), shape))

        store(b, at(0), best, 0)
        out.line(f"store i64 0, ptr {where}")
        with out.loop("1", str(shape[axis])) as i:
            here, before = at(i), load(b, dtype, best, 0)
            better = b.compare(test, here, before)
            if dtype.is_floating:
                better = (better | b.is_nan(here)) & ~b.is_nan(before)
            store(b, b.select(better, here, before), best, 0)
            old = out.new(f"load i64, ptr {where}")
            out.line(f"store i64 {out.new(f'select i1 {better.ir}, i64 {i}, i64 {old}')}, ptr {where}")
        found = b.cast(b.wrap(int64, out.new(f"load i64, ptr {where}")), result.type.dtype)  # type: ignore[union-attr]
        left = tuple(size for d, size in enumerate(shape) if d != axis)
        store(b, found, target, linear(out, index, left))

    search(())
    if is_scalar(result.type):
        region.set(result, load(b, result.type.dtype, target, 0))  # type: ignore[union-attr]


def write_matmul(region: Region, node: Node) -> None:
    """The BLAS that NumPy brought along; its own matmul where there is none."""
    x, y = node.inputs
    (result,) = node.results
    name = "sgemm" if x.type.dtype.name == "float32" else "dgemm"  # type: ignore[union-attr]
    *several, columns = sizes(result.type)
    rows = math.prod(several)
    flip_x, flip_y = node.attributes.get("transpose_a", False), node.attributes.get("transpose_b", False)
    inner = sizes(x.type)[0 if flip_x else -1]
    if f"cblas_{name}" not in abi.symbols() or not rows * columns * inner:
        region.write_kernel(node)
        return
    kind = "float" if name == "sgemm" else "double"
    region.body.module.declare(
        f"cblas_{name}", "void",
        f"i32, i32, i32, i64, i64, i64, {kind}, ptr, i64, ptr, i64, {kind}, ptr, i64",
    )  # fmt: skip
    region.set(result, region.new_array(result.type))
    dtype = x.type.dtype  # type: ignore[union-attr]
    region.out.line(
        f'call void @"cblas_{name}"(i32 101, i32 {112 if flip_x else 111}, i32 {112 if flip_y else 111}, '
        f"i64 {rows}, i64 {columns}, i64 {inner}, {kind} {literal(1, dtype)}, ptr {region.data(x)}, "
        f"i64 {sizes(x.type)[-1]}, ptr {region.data(y)}, i64 {sizes(y.type)[1]}, {kind} {literal(0, dtype)}, "
        f"ptr {region.data(result)}, i64 {columns})"
    )
