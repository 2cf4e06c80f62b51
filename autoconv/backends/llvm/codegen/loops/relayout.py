"""Copies, tiling, repetition, rotations, mirrored padding, and the gradient of mirrored padding, `unpad`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from autoconv.backends.llvm.analysis.classify import CLASSIFIERS
from autoconv.backends.llvm.analysis.contiguity import is_rotation
from autoconv.backends.llvm.analysis.representation import has_only_dense, is_static_array, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.loops.slice_update import take_writable
from autoconv.backends.llvm.codegen.registry import lowering, native_lowering
from autoconv.backends.llvm.codegen.routine import Routine, call, open_dimensions, pointers
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.index_arith import (
    Index,
    Position,
    byte_offset,
    element_count,
    linear_offset,
    plus,
    row_major_strides,
    times,
)
from autoconv.backends.llvm.ir.nested_loops import write_loop_nest
from autoconv.backends.llvm.ir.scalars import load, store
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node


def has_known_shape(node: Node) -> bool:
    """Return whether the node has one operand, a dense array of known shape, so that all counts are constants."""
    return len(node.inputs) == 1 and is_static_array(node.inputs[0].type)


def has_dense_shape(node: Node) -> bool:
    """Return whether the node has one operand and all its arrays are dense."""
    return len(node.inputs) == 1 and has_only_dense(node)


def _keeps_dtype(node: Node) -> bool:
    """Return whether the operand and the result are arrays of known shapes and of the same dtype."""
    x, result = node.inputs[0], node.results[0]
    return has_known_shape(node) and is_static_array(result.type) and result.dtype is x.dtype


def _keeps_type(node: Node) -> bool:
    """Return whether the operand and the result are dense arrays of the same type."""
    return has_dense_shape(node) and node.results[0].type == node.inputs[0].type


@native_lowering("numpy_copy", fits=_keeps_dtype, fits_open=_keeps_type)
def write_copy(region: LoweringContext, node: Node) -> None:
    """Copy the elements; if nothing else refers to the operand, the operand itself becomes the result."""
    (x,), (result,) = node.inputs, node.results
    if result.type == x.type and not region.is_view(x) and not region.is_lent(x):
        region.set(result, take_writable(region, x, region.remaining_uses[x] == 1))
        return
    region.set(result, region.new_array(result.type))
    size = math.prod(sizes(x.type)) * x.dtype.size
    region.out.copy(region.data(result), region.data(x), size)


@native_lowering("tile", fits=has_known_shape, fits_open=has_dense_shape)
def write_tile(region: LoweringContext, node: Node) -> None:
    """Write a copy in which each dimension is a loop over repetitions, of stride 0, around one over elements."""
    counts, shape = node.attributes["multiples"], sizes(node.inputs[0].type)
    routine = _copy_routine(region)
    pairs = zip(counts, shape, row_major_strides(routine.out, shape), strict=True)
    dimensions = [loop for count, size, step in pairs for loop in ((count, 0), (size, step))]
    _write_strided_copy(region, node, routine, dimensions)


def write_repeat(region: LoweringContext, node: Node) -> None:
    """Write a copy whose source repeats: a new dimension of stride 0 follows the axis."""
    shape = sizes(node.inputs[0].type)
    axis = node.attributes["axis"] % len(shape)
    routine = _copy_routine(region)
    dimensions: list[tuple[Position, Position]] = list(zip(shape, row_major_strides(routine.out, shape), strict=True))
    dimensions.insert(axis + 1, (node.attributes["repeats"], 0))
    _write_strided_copy(region, node, routine, dimensions)


def _copy_routine(region: LoweringContext) -> Routine:
    """Return a routine from the array `%x` to the array `%result`."""
    return Routine(region, [*open_dimensions(region), "ptr noalias readonly %x", "ptr noalias %result"])


def _write_strided_copy(
    region: LoweringContext, node: Node, routine: Routine, dimensions: Sequence[tuple[Position, Position]]
) -> None:
    """Write and call loops that store the result in row-major order.

    Each of `dimensions`, the outermost loop first, is a pair of the trip count and the stride in the source, in
    elements.
    """
    dimensions = _collapse_loops(dimensions)
    counts, strides = [count for count, _ in dimensions], [stride for _, stride in dimensions]
    out, b = routine.out, routine.b
    target_strides = row_major_strides(out, counts)

    def copy(index: Index) -> None:
        element = load(b, node.inputs[0].dtype, "%x", byte_offset(out, index, strides))
        store(b, element, "%result", byte_offset(out, index, target_strides))

    write_loop_nest(out, counts, copy)
    _call_routine(region, node, routine)


def _call_routine(region: LoweringContext, node: Node, routine: Routine) -> None:
    """Call a routine that writes the node's result."""
    (x,), (result,) = node.inputs, node.results
    region.set(result, region.new_array(result.type))
    call(region, routine.finish(), *open_dimensions(region), *pointers(region, x, result))


def _collapse_loops(dimensions: Sequence[tuple[Position, Position]]) -> list[tuple[Position, Position]]:
    """Collapse each loop with the next inner loop if their strides are known to be those of one loop."""
    result: list[tuple[Position, Position]] = []
    for count, stride in dimensions:
        if count == 1:
            continue
        outer_count, outer_stride = result[-1] if result else ("", "")
        are_known = isinstance(outer_count, int) and isinstance(count, int) and isinstance(stride, int)
        if are_known and outer_stride == count * stride:  # type: ignore[operator]
            result[-1] = (outer_count * count, stride)  # type: ignore[operator]
        else:
            result.append((count, stride))
    return result


# ---- rotations


CLASSIFIERS["roll"] = lambda node: "whole" if is_rotation(node) else None


@lowering("roll")
def write_rotation(region: LoweringContext, node: Node) -> None:
    """Copy the two parts of each row, which change places."""
    (x, shift), (result,) = node.inputs, node.results
    shape, axis = sizes(x.type), node.attributes["axis"][0]
    axis %= len(shape)
    item_bytes = math.prod(shape[axis + 1 :]) * x.dtype.size
    row_bytes = shape[axis] * item_bytes
    routine = Routine(region, ["ptr noalias readonly %x", "ptr noalias %result", "i64 %shift"])
    out = routine.out
    remainder = out.op("srem", "%shift", shape[axis])
    is_negative = out.icmp("slt", remainder, 0)
    count = out.select(is_negative, out.op("add", remainder, shape[axis]), remainder)  # of items that wrap around
    first_bytes = out.op("mul", count, item_bytes)
    last_bytes = out.op("sub", row_bytes, first_bytes)
    with out.loop("0", str(math.prod(shape[:axis]))) as row:
        source, target = (out.gep("i8", array, times(out, row, row_bytes)) for array in ("%x", "%result"))
        out.copy(target, out.gep("i8", source, last_bytes), first_bytes)
        out.copy(out.gep("i8", target, first_bytes), source, last_bytes)
    region.set(result, region.new_array(result.type))
    distance = RegisterWriter(region).cast(region.number(shift), int64).ir
    call(region, routine.finish(), *pointers(region, x, result), f"i64 {distance}")


# ---- mirrored edges


def _is_native_mirrored_pad(node: Node) -> bool:
    """Return whether an array is padded by constant amounts to one that has elements."""
    has_constant_paddings = has_dense_shape(node) and node.attributes["paddings"] is not None
    return has_constant_paddings and 0 not in sizes(node.results[0].type)


def _mirror_position(routine: Routine, position: Position, size: Position, is_symmetric: bool) -> Position:
    """Return the mirror image, at the border, of a position before the first element or after the last.

    Other positions are returned unchanged.
    """
    out = routine.out
    edge = 0 if is_symmetric else 1  # number of elements at each border without a mirror image
    mirrored_start = plus(out, times(out, position, -1), edge - 1)
    mirrored_end = plus(out, times(out, position, -1), plus(out, times(out, size, 2), -1 - edge))
    result = out.new(f"select i1 {out.new(f'icmp slt i64 {position}, 0')}, i64 {mirrored_start}, i64 {position}")
    return out.new(f"select i1 {out.new(f'icmp sge i64 {position}, {size}')}, i64 {mirrored_end}, i64 {result}")


def _loop_over_padded(
    routine: Routine, node: Node, shape: Sequence[Position], write: Callable[[Position, Position], None]
) -> None:
    """Write loops over the padded array; `write(source_offset, padded_offset)` writes the body.

    The offsets are in elements. The middle of the last dimension is a separate loop, without mirroring.
    """
    out, paddings, is_symmetric = routine.out, node.attributes["paddings"], node.attributes["mode"] == "SYMMETRIC"
    padded_shape = [plus(out, size, before + after) for size, (before, after) in zip(shape, paddings, strict=True)]

    def write_from(source_index: Index, padded_index: Index) -> None:
        """Write the loops inside those whose positions the two indices have."""
        depth = len(padded_index)
        if depth == len(shape):
            write(linear_offset(out, source_index, shape), linear_offset(out, padded_index, padded_shape))
            return
        size, (before, _) = shape[depth], paddings[depth]
        if depth < len(shape) - 1:
            ranges: list[tuple[Position, Position, bool]] = [(0, padded_shape[depth], True)]
        else:
            end = plus(out, size, before)
            ranges = [(0, before, True), (before, end, False), (end, padded_shape[depth], True)]
        for start, stop, is_mirrored in ranges:
            if start == stop:
                continue
            with out.loop(str(start), str(stop)) as i:
                position = plus(out, i, -before)
                source_position = _mirror_position(routine, position, size, is_symmetric) if is_mirrored else position
                write_from((*source_index, source_position), (*padded_index, i))

    if 0 not in padded_shape:
        write_from((), ())


def write_mirrored_pad(region: LoweringContext, node: Node) -> None:
    """Copy the element, or its mirror image, to each position of the padded array."""
    routine = _copy_routine(region)
    b, (x,) = routine.b, node.inputs

    def write(source_offset: Position, padded_offset: Position) -> None:
        store(b, load(b, x.dtype, "%x", source_offset), "%result", padded_offset)

    _loop_over_padded(routine, node, sizes(x.type), write)
    _call_routine(region, node, routine)


def _is_native_unpad(node: Node) -> bool:
    return _is_native_mirrored_pad(node) and not node.inputs[0].dtype.is_bool


@native_lowering("unpad", fits=_is_native_unpad, fits_open=_is_native_unpad)
def write_unpad(region: LoweringContext, node: Node) -> None:
    """Add each element and its mirror images, in the order of the padded array."""
    routine = _copy_routine(region)
    out, b, dtype = routine.out, routine.b, node.inputs[0].dtype

    def write(source_offset: Position, padded_offset: Position) -> None:
        total = load(b, dtype, "%result", source_offset) + load(b, dtype, "%x", padded_offset)
        store(b, total, "%result", source_offset)

    shape = sizes(node.results[0].type)
    with out.loop("0", str(element_count(out, shape))) as i:
        store(b, b.constant(0, dtype), "%result", i)
    _loop_over_padded(routine, node, shape, write)
    _call_routine(region, node, routine)


native_lowering("pad", fits=_is_native_mirrored_pad, fits_open=_is_native_mirrored_pad)(write_mirrored_pad)


def _unless_constant_mode(classify: Callable[[Node], str | None]) -> Callable[[Node], str | None]:
    """Return a classifier that leaves padding by a constant to the other rules."""
    return lambda node: None if node.attributes.get("mode", "CONSTANT") == "CONSTANT" else classify(node)


CLASSIFIERS["pad"] = _unless_constant_mode(CLASSIFIERS["pad"])
