"""Lower `repeat` with a count for each row: add the counts, then store each row so many times."""

from __future__ import annotations

from autoconv.backends.llvm.analysis.classify import DATA_SIZED_OPS
from autoconv.backends.llvm.analysis.representation import is_dense, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.loops.relayout import has_dense_shape, has_known_shape, write_repeat
from autoconv.backends.llvm.codegen.registry import native_lowering
from autoconv.backends.llvm.codegen.routine import Routine, call, open_dimensions, pointers
from autoconv.backends.llvm.ir.index_arith import element_count, plus, product
from autoconv.backends.llvm.ir.scalars import load, store
from autoconv.backends.llvm.ir.types import is_native
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node, Value

_HAS_NEGATIVE = -1  # the total of counts if one of them is negative
# Larger counts and totals are cut to this number, so that sums do not overflow. No array is so large.
_COUNT_LIMIT = 1 << 61


def _has_counts(node: Node) -> bool:
    """Return whether there is a vector with a count for each row."""
    if len(node.inputs) != 2 or not all(is_dense(value.type) for value in node.inputs):
        return False
    x, counts = node.inputs
    shape = sizes(x.type)
    return sizes(counts.type) == (shape[node.attributes["axis"] % len(shape)],) and is_native(x.dtype)


DATA_SIZED_OPS["repeat"] = _has_counts


@native_lowering("repeat", fits=has_known_shape, fits_open=has_dense_shape)
def write_repeat_by_number_or_counts(region: LoweringContext, node: Node) -> None:
    """Repeat all rows equally often, or each by its count."""
    (write_repeat if len(node.inputs) == 1 else _write_repeat_by_counts)(region, node)


def _write_repeat_by_counts(region: LoweringContext, node: Node) -> None:
    """Repeat rows by their counts; the kernel raises for negative ones."""
    x, counts = node.inputs
    shape = sizes(x.type)
    axis = node.attributes["axis"] % len(shape)
    name = _write_total(region, counts)
    total = region.out.new(f"call i64 @{name}({', '.join([*open_dimensions(region), *pointers(region, counts)])})")
    region.raise_if(node, region.out.icmp("eq", total, _HAS_NEGATIVE))
    result = region.body.new_sized_array(x.dtype, (*shape[:axis], total, *shape[axis + 1 :]))
    call(region, _write_rows(region, x, counts, axis), *open_dimensions(region), *pointers(region, x, counts, result))
    region.set(node.results[0], result)


def _write_total(region: LoweringContext, counts: Value) -> str:
    """Return the name of a function that returns the sum of the counts, or `_HAS_NEGATIVE`."""
    routine = Routine(region, [*open_dimensions(region), "ptr noalias readonly %counts"], "i64")
    out, b = routine.out, routine.b
    total_cell, least_cell = out.alloca("i64", "0"), out.alloca("i64", "0")
    with out.loop("0", str(element_count(out, sizes(counts.type)))) as i:
        number, limit = b.cast(load(b, counts.dtype, "%counts", i), int64), b.constant(_COUNT_LIMIT, int64)
        total = load(b, int64, total_cell, 0) + b.intrinsic("smin", number, limit)
        store(b, b.intrinsic("smin", total, limit), total_cell, 0)
        store(b, b.intrinsic("smin", load(b, int64, least_cell, 0), number), least_cell, 0)
    total = b.select(load(b, int64, least_cell, 0) < 0, _HAS_NEGATIVE, load(b, int64, total_cell, 0))
    return routine.finish(f"ret i64 {total.ir}")


def _write_rows(region: LoweringContext, x: Value, counts: Value, axis: int) -> str:
    """Return the name of a function that stores the rows; a row has the elements of the dimensions after the axis."""
    shape = sizes(x.type)
    arrays = ("ptr noalias readonly %x", "ptr noalias readonly %counts", "ptr noalias %result")
    routine = Routine(region, [*open_dimensions(region), *arrays])
    out, b = routine.out, routine.b
    row_size, target_cell = element_count(out, shape[axis + 1 :]), out.alloca("i64", "0")
    with out.loop("0", str(element_count(out, shape[:axis]))) as outer, out.loop("0", str(shape[axis])) as i:
        count = b.cast(load(b, counts.dtype, "%counts", i), int64)
        source = product(out, plus(out, product(out, outer, shape[axis]), i), row_size)
        with out.loop("0", count.ir):
            target = load(b, int64, target_cell, 0)
            with out.loop("0", str(row_size)) as j:
                store(b, load(b, x.dtype, "%x", plus(out, source, j)), "%result", plus(out, target.ir, j))
            store(b, target + b.wrap(int64, str(row_size)), target_cell, 0)
    return routine.finish()
