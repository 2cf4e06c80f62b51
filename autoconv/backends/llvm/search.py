"""Searches for the first of the best along an axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autoconv.backends.llvm.positions import Index, linear
from autoconv.backends.llvm.roles import is_scalar, sizes
from autoconv.backends.llvm.scalars import Element, load, memory, store
from autoconv.backends.llvm.values import RegisterWriter
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node

if TYPE_CHECKING:
    from autoconv.backends.llvm.regions import Region


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
