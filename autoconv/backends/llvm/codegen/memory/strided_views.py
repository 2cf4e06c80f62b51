"""Lower views with other strides or dtypes than the viewed array: transpositions, diagonals, windows, bits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.memory.array_view import advance_pointer, memory_of
from autoconv.backends.llvm.codegen.registry import memory_lowering
from autoconv.backends.llvm.codegen.values import Memory
from autoconv.backends.llvm.ir.index_arith import maximum, minimum, plus, product
from autoconv.graph.graph import Node


@memory_lowering("array_strided", fits=lambda node: node.inputs[0].shape is not None)
def _write_strided(region: LoweringContext, node: Node) -> None:
    """View an array with the offset in bytes, shape and strides that the attributes have."""
    x, attributes = memory_of(region, node.inputs[0]), node.attributes
    pointer = advance_pointer(region, x.pointer, attributes["offset"])
    view = Memory(x.owner.borrowed(), pointer, attributes["shape"], attributes["strides"], is_whole="false")
    region.set(node.results[0], view)


@memory_lowering("array_transpose")
def _write_transpose(region: LoweringContext, node: Node) -> None:
    """Set the result to a view whose sizes and strides are permuted."""
    x, perm = memory_of(region, node.inputs[0]), node.attributes["perm"]
    view = replace(
        x, owner=x.owner.borrowed(), is_whole="false", sizes=tuple(x.sizes[axis] for axis in perm),
        strides=tuple(x.strides[axis] for axis in perm),
    )  # fmt: skip
    region.set(node.results[0], view)


@memory_lowering("array_windows")
def _write_windows(region: LoweringContext, node: Node) -> None:
    """View sliding windows; the stride along a window is the stride of its axis."""
    x, axes, lengths = memory_of(region, node.inputs[0]), node.attributes["axes"], node.attributes["lengths"]
    shape = list(x.sizes)
    for axis, length in zip(axes, lengths, strict=True):
        shape[axis] = plus(region.out, shape[axis], 1 - length)
    view = replace(
        x, owner=x.owner.borrowed(), is_whole="false", sizes=(*shape, *lengths),
        strides=(*x.strides, *(x.strides[axis] for axis in axes)),
    )  # fmt: skip
    region.set(node.results[0], view)


@memory_lowering("array_diagonal")
def _write_diagonal(region: LoweringContext, node: Node) -> None:
    """View the diagonals of the matrices in the last two dimensions; a step along one is a row and a column."""
    x, out = memory_of(region, node.inputs[0]), region.out
    diagonal_offset = node.attributes["offset"]
    (*outer, rows, columns), (*strides, row_stride, column_stride) = x.sizes, x.strides
    length = minimum(out, plus(out, rows, min(diagonal_offset, 0)), plus(out, columns, -max(diagonal_offset, 0)))
    if diagonal_offset:  # the diagonal may be outside of the matrix, where the length would be negative
        length = maximum(out, length, 0)
    start_stride = column_stride if diagonal_offset > 0 else row_stride
    pointer = advance_pointer(region, x.pointer, product(out, abs(diagonal_offset), start_stride))
    view = replace(
        x, owner=x.owner.borrowed(), is_whole="false", pointer=pointer, sizes=(*outer, length),
        strides=(*strides, plus(out, row_stride, column_stride)),
    )  # fmt: skip
    region.set(node.results[0], view)


@memory_lowering("array_bits")
def _write_bits(region: LoweringContext, node: Node) -> None:
    """View the same bytes as elements of another dtype."""
    x, (result,) = memory_of(region, node.inputs[0]), node.results
    sizes, strides = x.sizes, x.strides
    if result.dtype.size != node.inputs[0].dtype.size:
        last_size: Any = (result.shape or ())[-1]
        sizes, strides = (*sizes[:-1], last_size), (*strides[:-1], result.dtype.size)
    region.set(result, replace(x, owner=x.owner.borrowed(), is_whole="false", sizes=sizes, strides=strides))


@memory_lowering("array_part")
def _write_part(region: LoweringContext, node: Node) -> None:
    """View the real or the imaginary parts in place."""
    x, (result,) = memory_of(region, node.inputs[0]), node.results
    offset = result.dtype.size if node.attributes["part_name"] == "imag" else 0
    pointer = advance_pointer(region, x.pointer, offset)
    region.set(result, replace(x, owner=x.owner.borrowed(), is_whole="false", pointer=pointer))
