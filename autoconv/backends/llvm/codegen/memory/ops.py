"""Lower ops on mutable arrays: views are address arithmetic, and elements are accessed in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autoconv.backends.llvm.analysis import representation
from autoconv.backends.llvm.analysis.representation import is_scalar, sizes
from autoconv.backends.llvm.analysis.symbolic_sizes import size_range
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.loops.slice_update import take_writable
from autoconv.backends.llvm.codegen.memory import array_view, slice_bounds
from autoconv.backends.llvm.codegen.memory.array_view import advance_pointer, memory_of
from autoconv.backends.llvm.codegen.registry import class_lowering, memory_lowering
from autoconv.backends.llvm.codegen.values import Memory, RegisterWriter
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import (
    ComputedSizeRegister,
    Index,
    Position,
    Size,
    broadcast_index,
    byte_offset,
    element_count,
    linear_offset,
    product,
    row_major_strides,
)
from autoconv.backends.llvm.ir.nested_loops import write_loop_nest
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.graph.dtypes import int64
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import ArrayType, Symbol
from autoconv.ops.index_spec import INPUT, At, NewAxis
from autoconv.ops.numpy.arrays import basic_entries
from autoconv.ops.numpy.shapes import UPDATE, compared_dimensions
from autoconv.ops.rules import is_known_to_broadcast

# For larger sizes, and for negative ones (compared as unsigned numbers), the kernel runs, which raises.
_SIZE_LIMIT = 1 << 40

# ---- views


@memory_lowering("tensor_part", needs_native_values=False)
@memory_lowering("array_view")
def _write_view(region: LoweringContext, node: Node) -> None:
    """Write the address, sizes and strides of a view by ints, slices and new axes."""
    out, (result,) = region.out, node.results
    x = _as_memory(region, node.inputs[0])
    operands = iter(node.inputs[1:])
    view_sizes: list[Position] = []
    view_strides: list[Position] = []
    pointer = x.pointer
    for entry, axis in basic_entries(len(x.sizes), node.attributes["spec"]):
        if isinstance(entry, NewAxis):
            view_sizes.append(1)
            view_strides.append(0)
            continue
        size, stride = x.sizes[axis], x.strides[axis]
        if isinstance(entry, At):
            (index,) = entry.with_operands(operands)
            pointer = element_pointer(out, pointer, normalise_index(region, node, index, size), stride)
        else:
            parts = [write_integer(region, next(operands)) if part == INPUT else part for part in entry.parts]
            start, length, step = slice_bounds.resolve_bounds(region, node, parts, size)
            pointer = advance_pointer(region, pointer, product(out, start, stride))
            view_sizes.append(length)
            view_strides.append(product(out, step, stride))
    region.set(result, Memory(x.owner.borrowed(), pointer, tuple(view_sizes), tuple(view_strides), is_whole="false"))


def element_pointer(out: FunctionText, pointer: str, index: Position, stride: Position) -> str:
    """Return the address of an element at a valid index along an axis.

    The index itself is the operand of the address computation. LLVM would transform products of index and stride in
    different ways at different places, and then not recognise equal addresses.
    """
    if index == 0:
        return pointer
    if isinstance(index, int) or not isinstance(stride, int) or stride <= 0:
        return out.new(f"getelementptr inbounds i8, ptr {pointer}, i64 {product(out, index, stride)}")
    return out.new(f"getelementptr inbounds [{stride} x i8], ptr {pointer}, i64 {index}")


def _as_memory(region: LoweringContext, value: Value) -> Memory:
    """Return the `Memory` of a mutable array or a tensor."""
    if representation.is_memory(value.type):
        return memory_of(region, value)
    shape = sizes(value.type)
    strides = row_major_strides(region.out, shape, value.dtype.size)
    return Memory(region.memory_owner(value), region.data(value), shape, strides, is_whole="true")


def write_integer(region: LoweringContext, value: Value) -> str:
    """Return the register of a scalar, converted to i64."""
    b = RegisterWriter(region)
    return b.cast(region.number(value), int64).ir


def normalise_index(region: LoweringContext, node: Node, index: Any, size: Position) -> Position:
    """Check a single index, a constant or a value; return it normalised to count from the start.

    If it is out of range, the op's kernel is called, which raises.
    """
    b = RegisterWriter(region)
    if isinstance(index, int):
        if isinstance(size, int) and -size <= index < size:
            return index % size
        element = b.wrap(int64, str(index))
    else:
        element = b.cast(region.number(index), int64)
    known_positions, key = region.body.normalised_positions, (element.ir, str(size))
    if key not in known_positions:
        known_positions[key] = _write_checked_index(region, node, element, size)
    return known_positions[key]


def _write_checked_index(region: LoweringContext, node: Node, index: Element, size: Position) -> str:
    """Write the checks of an index that its range does not make redundant; negative indices take a separate branch."""
    out, (low, high) = region.out, region.body.range_of(index)
    if low >= 0:
        if not (high < size if isinstance(size, int) else region.body.is_below(index, size)):
            region.raise_and_leave_if(node, out.icmp("uge", index.ir, size))
        return index.ir

    def wrap() -> str:
        wrapped_index = out.op("add", index.ir, size)  # compared as an unsigned number: too large if still negative
        region.raise_and_leave_if(node, out.icmp("uge", wrapped_index, size))
        return wrapped_index

    return out.where(out.icmp("uge", index.ir, size), wrap, Operand.of(index.ir, "i64"), unlikely=True)


@memory_lowering("array_size")
def _write_size(region: LoweringContext, node: Node) -> None:
    """Return a size of an array, with its range."""
    dimension = memory_of(region, node.inputs[0]).sizes[node.attributes["axis"]]
    size = RegisterWriter(region).wrap(int64, str(dimension))
    region.body.record_range(size, size_range(dimension))
    region.set(node.results[0], size)


@memory_lowering("numpy_shapes")
def _write_shapes(region: LoweringContext, node: Node) -> None:
    """Check the sizes that a rule compares, which have to be equal; if not, the kernel is called, which raises.

    For UPDATE (`x += y`) they are the sizes from the last one on, and a size of y may also be 1.
    """
    first, second = (_sizes_of(region, value) for value in node.inputs)
    rule, out = node.attributes["rule"], region.out
    is_update = rule == UPDATE
    pairs = zip(second[::-1], first[::-1], strict=False) if is_update else compared_dimensions(first, second, rule)
    for size, compared_size in pairs:
        if size == compared_size or (is_update and size == 1):
            continue
        differs = out.new(f"icmp ne i64 {size}, {compared_size}")
        # Of open sizes, only computed ones may be 1; so may numbers that the program computes.
        may_be_1 = isinstance(size, str) and (not isinstance(size, Size) or isinstance(size, ComputedSizeRegister))
        if is_update and may_be_1:
            differs = out.new(f"and i1 {differs}, {out.new(f'icmp ne i64 {size}, 1')}")
        region.raise_if(node, differs)


def _sizes_of(region: LoweringContext, value: Value) -> tuple[Position, ...]:
    """Return the sizes of an array in memory, or of a tensor."""
    return memory_of(region, value).sizes if representation.is_memory(value.type) else sizes(value.type)


# ---- elements


def write_element_address(region: LoweringContext, x: Memory, index: Index) -> str:
    """Return the address of an element."""
    return advance_pointer(region, x.pointer, byte_offset(region.out, index, x.strides))


def write_nested_loops(region: LoweringContext, counts: Sequence[Position], write: Callable[[Index], None]) -> None:
    """Write nested loops into the region's function."""
    region.body.module.has_loops |= bool(counts)
    write_loop_nest(region.out, counts, write)


@memory_lowering("array_load")
def _write_load(region: LoweringContext, node: Node) -> None:
    """Load a number, or copy the elements of an array, unless the array itself can be the value."""
    x, (result,) = memory_of(region, node.inputs[0]), node.results
    type_: Any = result.type
    if is_scalar(type_):
        scopes = region.body.alias_scopes.metadata_of(node.inputs[0])
        region.set(result, load(RegisterWriter(region), type_.dtype, x.pointer, 0, scopes))
        return
    if _is_unwritten_argument(region, node):
        region.set(result, x.owner.borrowed())
        return
    array = region.new_array(type_)
    region.set(result, array)
    write_copy(region, x, region.address(array), type_.dtype)


@class_lowering("lent")
def write_lent_load(region: LoweringContext, node: Node) -> None:
    """Represent a lent load by the array in memory, which its readers read in place."""
    x = memory_of(region, node.inputs[0])
    region.set(node.results[0], replace(x, owner=x.owner.borrowed()))


def _is_unwritten_argument(region: LoweringContext, node: Node) -> bool:
    """Return whether a load can be the array object itself: an argument that is C-contiguous and never written.

    Arguments of recursive functions do not count, because they may overlap.
    """
    value = node.inputs[0]
    assert isinstance(value.type, ArrayType)
    is_whole_argument = value.node is None and memory_of(region, value).is_whole == "true" and value.type.is_dense
    return is_whole_argument and region.body.recursion is None and region.body.writes.is_unwritten(value)


def write_copy(region: LoweringContext, x: Memory, target: str, dtype: Any) -> None:
    """Copy the elements of an array in row-major order to the address `target`."""
    b, shape = RegisterWriter(region), x.sizes
    if is_c_contiguous(x, dtype.size):
        byte_count = product(region.out, element_count(region.out, shape), dtype.size)
        region.out.copy(target, x.pointer, byte_count)
        return

    def write(index: Index) -> None:
        element = load(b, dtype, write_element_address(region, x, index), 0)
        store(b, element, target, linear_offset(region.out, index, shape))  # type: ignore[arg-type]

    write_nested_loops(region, shape, write)


def is_c_contiguous(x: Memory, itemsize: int) -> bool:
    """Return whether the array is known to be C-contiguous."""
    expected_stride: int | None = itemsize
    for size, actual_stride in zip(reversed(x.sizes), reversed(x.strides), strict=True):
        if size != 1 and (expected_stride is None or actual_stride != expected_stride):
            return False
        expected_stride = expected_stride * size if isinstance(size, int) and expected_stride is not None else None
    return True


def _has_native_store(node: Node) -> bool:
    """Return whether native code assigns the value: no complex number to a real one, and no larger rank."""
    types: list[Any] = [value.type for value in node.inputs]
    array_type, value_type = types
    if value_type.dtype.is_complex and not array_type.dtype.is_complex:
        return False
    return isinstance(array_type, ArrayType) and len(value_type.shape) <= array_type.rank


@memory_lowering("array_store", fits=_has_native_store)
def _write_store(region: LoweringContext, node: Node) -> None:
    """Store the elements; if the sizes differ at run time, the kernel runs, which broadcasts or raises."""
    if _changes_nothing(node):
        return
    array_type, value_type = (representation.elements_of(value.type) for value in node.inputs)
    has_computed_sizes = representation.has_computed_sizes(value_type)
    if not has_computed_sizes and is_known_to_broadcast(array_type.shape or (), value_type.shape):
        _write_fitting_store(region, node)
        return
    out, differs = region.out, "false"
    x, value_sizes = memory_of(region, node.inputs[0]), sizes(node.inputs[1].type)
    for size, target_size in zip(reversed(value_sizes), reversed(x.sizes), strict=False):
        if size != 1 and size != target_size:
            differs = out.or_(differs, out.icmp("ne", size, target_size))
    out.either(differs, lambda: _store_by_kernel(region, node), lambda: _write_fitting_store(region, node))


def _changes_nothing(store: Node) -> bool:
    """Return whether an array has the stored elements already: they were loaded from it, and nothing wrote since.

    An exchange of an element with itself consists of such stores.
    """
    array, value = store.inputs
    load = value.node
    if load is None or load.op.name != "array_load" or load.inputs[0] is not array or store not in value.graph.nodes:
        return False
    nodes = value.graph.nodes
    nodes_between = nodes[nodes.index(load) + 1 : nodes.index(store)]
    return all(
        not node.effects & Effects.WRITE or (node.op.name == "array_store" and _changes_nothing(node))
        for node in nodes_between
    )


def _store_by_kernel(region: LoweringContext, node: Node) -> None:
    region.call_kernel(node, is_rare=True)


def _write_fitting_store(region: LoweringContext, node: Node) -> None:
    """Write an assignment of a value whose sizes are known to broadcast."""
    x, value = memory_of(region, node.inputs[0]), node.inputs[1]
    dtype = node.inputs[0].dtype
    b, out = RegisterWriter(region), region.out
    if is_scalar(value.type):
        element, scopes = b.cast(region.number(value), dtype), region.body.alias_scopes.metadata_of(node.inputs[0])

        def write_number(index: Index) -> None:
            store(b, element, write_element_address(region, x, index), 0, scopes)

        write_nested_loops(region, x.sizes, write_number)
        return
    pointer, value_shape = region.data(value), sizes(value.type)

    def write(index: Index) -> None:
        element = load(b, value.dtype, pointer, linear_offset(out, broadcast_index(index, value_shape), value_shape))
        store(b, b.cast(element, dtype), write_element_address(region, x, index), 0)

    write_nested_loops(region, x.sizes, write)


# ---- new arrays


@memory_lowering("array_new")
def _write_new(region: LoweringContext, node: Node) -> None:
    """Allocate an array, and fill it with the attribute "fill", if that is given."""
    (result,), out = node.results, region.out
    type_: Any = result.type
    if not all(isinstance(size, int) for size in (*type_.shape, *node.attributes["shape"])):
        memory = _new_dynamic_memory(region, node, type_)
    elif type_.rank:
        array = region.new_array(array_view.as_tensor_type(type_))
        memory = Memory(array, region.address(array), type_.shape, type_.strides, is_whole="true")
    else:
        memory = array_view.new_memory(region, type_.dtype, ())
    region.set(result, memory)
    fill = node.attributes.get("fill")
    if fill is None:
        return
    b = RegisterWriter(region)
    if not any(np.array(fill, type_.dtype.numpy).tobytes()):  # all bits are 0, other than those of -0.0
        out.clear(memory.pointer, product(out, type_.dtype.size, element_count(out, memory.sizes)))
        return
    element = b.constant(fill, type_.dtype)

    def write(index: Index) -> None:
        store(b, element, write_element_address(region, memory, index), 0)

    write_nested_loops(region, memory.sizes, write)


def _new_dynamic_memory(region: LoweringContext, node: Node, type_: ArrayType) -> Memory:
    """Allocate an array whose sizes the graph computes; for negative sizes the kernel is called, which raises."""
    out, b = region.out, RegisterWriter(region)
    inputs = iter(node.inputs)
    shape: list[Position] = []
    for size, requested_size in zip(type_.shape, node.attributes["shape"], strict=True):
        number = b.cast(region.number(next(inputs)), int64) if requested_size == INPUT else None
        if number is None or isinstance(size, Symbol):
            shape.append(representation.size_of(size) if isinstance(size, Symbol) else size or 0)
            continue
        region.raise_if(node, out.new(f"icmp ugt i64 {number.ir}, {_SIZE_LIMIT}"))
        shape.append(number.ir)
    return array_view.new_memory(region, type_.dtype, shape)


@memory_lowering("array_of", fits=lambda node: not node.attributes.get("read_only"))
def _write_array_of_tensor(region: LoweringContext, node: Node) -> None:
    """Define a mutable array of a tensor's elements: the tensor's own array if nothing else needs it, else a copy."""
    (value,), (result,) = node.inputs, node.results
    type_: Any = result.type
    if is_scalar(value.type):
        memory = array_view.new_memory(region, type_.dtype, ())
        store(RegisterWriter(region), region.number(value), memory.pointer, 0)
        region.set(result, memory)
        return
    if region.is_view(value) or region.object(value).memory:
        array = region.new_array(value.type)
        count = product(region.out, element_count(region.out, sizes(value.type)), type_.dtype.size)
        region.out.copy(region.address(array), region.data(value), count)
    else:
        array = take_writable(region, value, region.remaining_uses[value] == 1)
    region.set(result, array_view.ndarray_memory(region, array, type_))
