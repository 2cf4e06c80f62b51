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


def write_overlap_test(region: LoweringContext, first: Value, second: Value) -> str:
    """Return an i1 that is false only if the arrays have no common elements.

    That is known if their byte ranges do not intersect, or if they are in different columns of one array.
    """
    out = region.out
    low, high = array_view.byte_bounds(out, memory_of(region, first), first.dtype.size)
    second_low, second_high = array_view.byte_bounds(out, memory_of(region, second), second.dtype.size)
    ranges_intersect = out.and_(out.icmp("ult", low, second_high), out.icmp("ult", second_low, high))
    row_bytes = _row_bytes_of_common_base(first, second)
    if row_bytes is None:
        return ranges_intersect
    return out.where(ranges_intersect, lambda: _write_column_test(region, first, second, row_bytes), FALSE)


def _row_bytes_of_common_base(first: Value, second: Value) -> int | None:
    """Return the distance in bytes of adjacent rows in the common base of two views; None if there is no such base."""
    base = base_of(first)
    strides = base.type.strides if isinstance(base.type, ArrayType) else ()
    is_known = base is base_of(second) and len(strides) > 1 and isinstance(strides[0], int) and strides[0] > 0
    return strides[0] if is_known else None


def _write_column_test(region: LoweringContext, first: Value, second: Value, row_bytes: int) -> str:
    """Return an i1 that is false only if no column of the common base has elements of both views."""
    base, out = base_of(first), region.out
    start = out.cast("ptrtoint", Operand.of(memory_of(region, base).pointer, "ptr"), "i64")
    column_spans: list[tuple[str, str]] = []
    for value in (first, second):
        x = memory_of(region, value)
        width = _byte_width_in_row(out, x, row_bytes)
        if width is None:
            return TRUE
        address = out.cast("ptrtoint", Operand.of(x.pointer, "ptr"), "i64")
        remainder = out.op("srem", out.op("sub", address, start), row_bytes)
        # It is negative if the view begins before the base's first element, as negative strides allow.
        column = out.select(out.icmp("slt", remainder, 0), out.op("add", remainder, row_bytes), remainder)
        column_spans.append((column, str(plus(out, plus(out, column, width), value.dtype.size))))
    (low, high), (second_low, second_high) = column_spans
    are_separate = out.or_(out.icmp("sle", high, second_low), out.icmp("sle", second_high, low))
    for end in (high, second_high):  # neither view continues in the next row
        are_separate = out.and_(are_separate, out.icmp("sle", end, row_bytes))
    return out.not_(are_separate)


def _byte_width_in_row(out: FunctionText, x: Memory, row_bytes: int) -> Position | None:
    """Return the bytes from the first to the last element in a row of `row_bytes` bytes; None if that is unknown."""
    width: Position = 0
    for size, stride in zip(x.sizes, x.strides, strict=True):
        if not isinstance(stride, int) or stride < 0:
            return None
        if stride % row_bytes:
            width = plus(out, width, product(out, plus(out, size, -1), stride))
    return width
