"""Lower bincount: find the greatest number, then count the occurrences of each number, or add their weights."""

from __future__ import annotations

from typing import Any

from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import data_sized_lowering
from autoconv.backends.llvm.codegen.routine import Routine, call, open_dimensions, pointers
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.index_arith import element_count, maximum, times
from autoconv.backends.llvm.ir.scalars import load, store
from autoconv.backends.llvm.ir.types import is_narrow, register
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node

_HAS_NEGATIVE = -2  # what the search for the greatest number returns if a number is negative


def _is_native(node: Node) -> bool:
    """Return whether a node has a native lowering: x is a vector, and weights, if any, have its shape."""
    x, minimum_length, *weights = node.inputs
    shapes = [sizes(value.type) for value in (x, *weights) if is_dense(value.type)]
    have_equal_shapes = len(shapes) == 1 + len(weights) and len(set(shapes)) == 1 and len(shapes[0]) == 1
    return have_equal_shapes and is_scalar(minimum_length.type) and not any(is_narrow(value.dtype) for value in weights)


@data_sized_lowering("numpy_bincount", fits=_is_native)
def write_bincount(region: LoweringContext, node: Node) -> None:
    """Write the counts of numbers. The kernel raises if a number is negative, the allocation if one is too large."""
    x, minimum_length, *weights = node.inputs
    (result,) = node.results
    out, dtype = region.out, result.dtype
    greatest = out.call(_write_maximum(region, x), *region.body.module.sizes, region.data(x))
    least_count = RegisterWriter(region).cast(region.number(minimum_length), int64).ir
    is_invalid = out.or_(out.icmp("eq", greatest, _HAS_NEGATIVE), out.icmp("slt", least_count, 0))
    region.raise_if(node, is_invalid)
    greatest = out.intrinsic("smin", greatest, (1 << 63) - 2)  # the allocation fails then, and nothing overflows
    count = maximum(out, out.add(greatest, 1), least_count)
    counts_array = region.body.new_sized_array(dtype, (count,))
    call_arguments = [
        *open_dimensions(region),
        *pointers(region, x, *weights, counts_array),
        f"{register(int64)} {count}",
    ]
    call(region, _write_counting(region, x, weights, dtype), *call_arguments)
    region.set(result, counts_array)


def _write_maximum(region: LoweringContext, x: Any) -> str:
    """Return the name of a function that returns the greatest number; -1 if there are none, or `_HAS_NEGATIVE`."""
    routine = Routine(region, [*open_dimensions(region), "ptr noalias readonly %x"], "i64")
    out, b = routine.out, routine.b
    greatest_cell, least_cell = out.alloca("i64", "-1"), out.alloca("i64", "0")
    with out.loop("0", str(element_count(out, sizes(x.type)))) as i:
        number = b.cast(load(b, x.dtype, "%x", i), int64)
        for cell, name in ((greatest_cell, "smax"), (least_cell, "smin")):
            store(b, b.intrinsic(name, load(b, int64, cell, 0), number), cell, 0)
    has_negative = load(b, int64, least_cell, 0) < 0
    return routine.finish(f"ret i64 {b.select(has_negative, _HAS_NEGATIVE, load(b, int64, greatest_cell, 0)).ir}")


def _write_counting(region: LoweringContext, x: Any, weights: Any, dtype: Any) -> str:
    """Return the name of a function that stores `%count` counts, or sums of weights, at `%result`."""
    weights_parameters = ["ptr noalias readonly %weights"] if weights else []
    pointer_parameters = ["ptr noalias readonly %x", *weights_parameters, "ptr noalias %result"]
    routine = Routine(region, [*open_dimensions(region), *pointer_parameters, "i64 %count"])
    out, b = routine.out, routine.b
    out.clear("%result", times(out, "%count", dtype.size))
    with out.loop("0", str(element_count(out, sizes(x.type)))) as i:
        position = b.cast(load(b, x.dtype, "%x", i), int64).ir
        amount = b.cast(load(b, weights[0].dtype, "%weights", i), dtype) if weights else b.constant(1, dtype)
        store(b, load(b, dtype, "%result", position) + amount, "%result", position)
    return routine.finish()
