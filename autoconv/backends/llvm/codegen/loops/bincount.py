"""Lower bincount: find the greatest number, then count, or add weights, at each."""

from __future__ import annotations

from typing import Any

from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import counted
from autoconv.backends.llvm.codegen.routine import Routine, call, open_dimensions, pointers
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.index_arith import element_count, maximum, times
from autoconv.backends.llvm.ir.scalars import load, store
from autoconv.backends.llvm.ir.types import is_narrow, register
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node

_OUTSIDE = -2  # in place of the greatest number, where one is negative


def _fits(node: Node) -> bool:
    x, least, *weights = node.inputs
    shapes = [sizes(value.type) for value in (x, *weights) if is_dense(value.type)]
    same = len(shapes) == 1 + len(weights) and len(set(shapes)) == 1 and len(shapes[0]) == 1
    return same and is_scalar(least.type) and not any(is_narrow(value.dtype) for value in weights)


@counted("numpy_bincount", fits=_fits)
def write_bincount(region: LoweringContext, node: Node) -> None:
    """The kernel raises where a number is negative, and so does the array's allocation where one is too great."""
    x, least, *weights = node.inputs
    (result,) = node.results
    out, dtype = region.out, result.dtype
    greatest = out.call(_write_maximum(region, x), *region.body.module.sizes, region.data(x))
    bound = RegisterWriter(region).cast(region.number(least), int64).ir
    outside = out.or_(out.icmp("eq", greatest, _OUTSIDE), out.icmp("slt", bound, 0))
    region.refuse(node, outside)
    count = maximum(out, out.add(greatest, 1), bound)
    counts_array = region.body.new_counted(dtype, (count,))
    call_arguments = [
        *open_dimensions(region),
        *pointers(region, x, *weights, counts_array),
        f"{register(int64)} {count}",
    ]
    call(region, _write_counting(region, x, weights, dtype), *call_arguments)
    region.set(result, counts_array)


def _write_maximum(region: LoweringContext, x: Any) -> str:
    """Return the name of a function for the greatest number, -1 of none, `_OUTSIDE` where one is negative."""
    routine = Routine(region, [*open_dimensions(region), "ptr noalias readonly %x"], "i64")
    out, b = routine.out, routine.b
    high, low = out.alloca("i64", "-1"), out.alloca("i64", "0")
    with out.loop("0", str(element_count(out, sizes(x.type)))) as i:
        number = b.cast(load(b, x.dtype, "%x", i), int64)
        for cell, name in ((high, "smax"), (low, "smin")):
            store(b, b.intrinsic(name, load(b, int64, cell, 0), number), cell, 0)
    outside = load(b, int64, low, 0) < 0
    return routine.finish(f"ret i64 {b.select(outside, _OUTSIDE, load(b, int64, high, 0)).ir}")


def _write_counting(region: LoweringContext, x: Any, weights: Any, dtype: Any) -> str:
    names = ["ptr noalias readonly %x", *("ptr noalias readonly %weights" for _ in weights), "ptr noalias %result"]
    routine = Routine(region, [*open_dimensions(region), *names, "i64 %count"])
    out, b = routine.out, routine.b
    out.clear("%result", times(out, "%count", dtype.size))
    with out.loop("0", str(element_count(out, sizes(x.type)))) as i:
        place = b.cast(load(b, x.dtype, "%x", i), int64).ir
        amount = b.cast(load(b, weights[0].dtype, "%weights", i), dtype) if weights else b.constant(1, dtype)
        store(b, load(b, dtype, "%result", place) + amount, "%result", place)
    return routine.finish()
