"""Run-time tests of whether two arrays in memory may have common elements."""

from __future__ import annotations

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.memory import array_view
from autoconv.backends.llvm.codegen.memory.array_view import memory_of
from autoconv.backends.llvm.codegen.values import Memory
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, plus, product
from autoconv.backends.llvm.ir.operand import FALSE, TRUE, Operand
from autoconv.graph.graph import Value
from autoconv.graph.types import ArrayType
from autoconv.ops.analysis.alias import base_of


def may_overlap(region: LoweringContext, one: Value, other: Value) -> str:
    """Return an i1: whether the arrays may have common elements (conservative).

    They have none if their byte ranges do not intersect, nor if they lie in different columns of one array.
    """
    out = region.out
    low, high = array_view.byte_bounds(out, memory_of(region, one), one.dtype.size)
    other_low, other_high = array_view.byte_bounds(out, memory_of(region, other), other.dtype.size)
    meet = out.and_(out.icmp("ult", low, other_high), out.icmp("ult", other_low, high))
    row = _row_of_common_base(one, other)
    return meet if row is None else out.where(meet, lambda: _may_share_columns(region, one, other, row), FALSE)


def _row_of_common_base(one: Value, other: Value) -> int | None:
    """Return the bytes from a row to the next one in the base of both views; None where there is no such base."""
    base = base_of(one)
    strides = base.type.strides if isinstance(base.type, ArrayType) else ()
    is_known = base is base_of(other) and len(strides) > 1 and isinstance(strides[0], int) and strides[0] > 0
    return strides[0] if is_known else None


def _may_share_columns(region: LoweringContext, one: Value, other: Value, row: int) -> str:
    """Return an i1: whether a column of their base may have elements of both."""
    base, out = base_of(one), region.out
    start = out.cast("ptrtoint", Operand.of(memory_of(region, base).pointer, "ptr"), "i64")
    columns: list[tuple[str, str]] = []
    for value in (one, other):
        x = memory_of(region, value)
        width = _width_in_row(out, x, row)
        if width is None:
            return TRUE
        place = out.cast("ptrtoint", Operand.of(x.pointer, "ptr"), "i64")
        first = out.op("srem", out.op("sub", place, start), row)
        columns.append((first, str(plus(out, plus(out, first, width), value.dtype.size))))
    (low, high), (other_low, other_high) = columns
    apart = out.or_(out.icmp("sle", high, other_low), out.icmp("sle", other_high, low))
    for end in (high, other_high):  # neither goes on in the next row
        apart = out.and_(apart, out.icmp("sle", end, row))
    return out.not_(apart)


def _width_in_row(out: FunctionText, x: Memory, row: int) -> Position | None:
    """Return the bytes from the first element to the last one in a row of so many bytes; None where it is unknown."""
    width: Position = 0
    for size, stride in zip(x.sizes, x.strides, strict=True):
        if not isinstance(stride, int) or stride < 0:
            return None
        if stride % row:
            width = plus(out, width, product(out, plus(out, size, -1), stride))
    return width


__all__ = ["may_overlap"]
