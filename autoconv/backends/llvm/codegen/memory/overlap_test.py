"""Run-time tests of whether two arrays in memory may have common elements."""

from __future__ import annotations

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.memory import array_view
from autoconv.backends.llvm.codegen.memory.array_view import memory_of
from autoconv.backends.llvm.codegen.values import Memory
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, plus, product
from autoconv.backends.llvm.ir.operand import Operand
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
    apart = _are_in_other_columns(region, one, other)
    return meet if apart is None else out.and_(meet, out.not_(apart))


def _are_in_other_columns(region: LoweringContext, one: Value, other: Value) -> str | None:
    """Return an i1: whether no column of their base has elements of both; None where the layout is unknown."""
    base, out = base_of(one), region.out
    strides = base.type.strides if isinstance(base.type, ArrayType) else ()
    if base is not base_of(other) or len(strides) < 2 or not isinstance(strides[0], int) or strides[0] <= 0:
        return None
    row = strides[0]
    start = out.cast("ptrtoint", Operand.of(memory_of(region, base).pointer, "ptr"), "i64")
    columns: list[tuple[str, str]] = []
    for value in (one, other):
        x = memory_of(region, value)
        width = _width_in_row(out, x, row)
        if width is None:
            return None
        place = out.cast("ptrtoint", Operand.of(x.pointer, "ptr"), "i64")
        first = out.op("srem", out.op("sub", place, start), row)
        columns.append((first, str(plus(out, plus(out, first, width), value.dtype.size))))
    (low, high), (other_low, other_high) = columns
    apart = out.or_(out.icmp("sle", high, other_low), out.icmp("sle", other_high, low))
    for end in (high, other_high):  # neither goes on in the next row
        apart = out.and_(apart, out.icmp("sle", end, row))
    return apart


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
