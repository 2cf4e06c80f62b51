"""Representation of mutable arrays (`Memory`): the address, with sizes and strides that are constants or registers.

The object that owns the memory stays alive while the region that created the view runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from autoconv.backends.llvm.analysis.representation import size_of
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.values import Memory, Object, StoredMemory
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, plus, product, row_major_strides
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.target import abi
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Value
from autoconv.graph.types import ArrayType, Dimension, Symbol, TensorType, Type


def advance_pointer(region: LoweringContext, pointer: str, offset: Position) -> str:
    """Return the address `offset` bytes after a pointer."""
    return pointer if offset == 0 else region.out.new(f"getelementptr i8, ptr {pointer}, i64 {offset}")


def memory_of(region: LoweringContext, value: Value) -> Memory:
    """Return the address, sizes and strides of a value that is an array in memory."""
    result = region.representation_of(value)
    assert isinstance(result, Memory), value
    return result


def ndarray_memory(region: LoweringContext, object_: Object, type_: ArrayType) -> Memory:
    """Return the address, sizes and strides of an ndarray object."""
    pointer = region.address(object_)
    sizes = sizes_or_strides(region.out, object_.ir, type_.shape, abi.DIMENSIONS)
    strides = sizes_or_strides(region.out, object_.ir, type_.strides, abi.STRIDES)
    return Memory(object_, pointer, sizes, strides, is_whole="true")


def sizes_or_strides(
    out: FunctionText, array: str, type_numbers: Sequence[Dimension], field_offset: int
) -> tuple[Position, ...]:
    """Return the sizes or strides of an array; `type_numbers` are those in its type.

    Open ones are loaded from the array object: its field at `field_offset` has the address of all sizes or strides.
    """
    positions = [_known_position(number) for number in type_numbers]
    if None in positions:
        first = out.new(f"load ptr, ptr {out.new(f'getelementptr inbounds i8, ptr {array}, i64 {field_offset}')}")
        for axis, number in enumerate(positions):
            if number is None:
                address = out.new(f"getelementptr inbounds i64, ptr {first}, i64 {axis}")
                positions[axis] = out.new(f"load i64, ptr {address}")
    return tuple(number for number in positions if number is not None)


def _known_position(number: Dimension) -> Position | None:
    """Return a size or stride as a constant or as the register of its symbol; None if it is open."""
    return size_of(number) if isinstance(number, Symbol) else number


def byte_bounds(out: FunctionText, x: Memory, itemsize: int) -> tuple[str, str]:
    """Return the addresses of an array's first byte and of the byte after its last."""
    low = high = out.new(f"ptrtoint ptr {x.pointer} to i64")
    if 0 in x.sizes:
        return low, high
    for size, stride in zip(x.sizes, x.strides, strict=True):
        extent = product(out, plus(out, size, -1), stride)
        if isinstance(extent, int):
            low, high = (str(plus(out, low, min(extent, 0))), str(plus(out, high, max(extent, 0))))
            continue
        is_negative = out.new(f"icmp slt i64 {extent}, 0")
        below = out.new(f"select i1 {is_negative}, i64 {extent}, i64 0")
        above = out.new(f"select i1 {is_negative}, i64 0, i64 {extent}")
        low, high = out.new(f"add i64 {low}, {below}"), out.new(f"add i64 {high}, {above}")
    return low, str(plus(out, high, itemsize))


def as_tensor_type(type_: Type) -> Type:
    """Return the tensor type of an array's elements, by which loops keep spare arrays (see frame.Body)."""
    assert isinstance(type_, ArrayType)
    return TensorType(type_.dtype, type_.shape)


def new_memory(region: LoweringContext, dtype: DType, sizes: Sequence[Position]) -> Memory:
    """Return a new C-contiguous array, whose elements are not initialised."""
    out, rank = region.out, len(sizes)
    dimensions = region.body.store_dimensions(sizes) if sizes else "null"
    descriptor = region.body.objects.reference(dtype.numpy)(out)
    array = out.new(f"call ptr @new_array(i32 {rank}, ptr {dimensions}, ptr {descriptor})")
    region.body.fail_if(out.is_null(array))
    owner = region.body.own_reference(array)
    strides = row_major_strides(out, sizes, dtype.size)
    return Memory(owner, region.address(owner), tuple(sizes), strides, is_whole="true")


def new_cells(region: LoweringContext, type_: ArrayType) -> StoredMemory:
    """Allocate cells for a representation of the type."""
    out = region.out
    open_numbers = [number for number in (*type_.shape, *type_.strides) if number is None]
    return StoredMemory(out.slot(), out.alloca("ptr"), out.alloca("i1"), tuple(out.alloca("i64") for _ in open_numbers))


def store_memory(region: LoweringContext, cells: StoredMemory, type_: ArrayType, memory: Memory) -> None:
    """Store a representation in cells; the cells take over the reference to the owner."""
    out = region.out
    out.line(f"store ptr {memory.owner.ir}, ptr {cells.owner}")
    out.line(f"store ptr {memory.pointer}, ptr {cells.pointer}")
    out.line(f"store i1 {memory.is_whole}, ptr {cells.is_whole}")
    type_numbers = (*type_.shape, *type_.strides)
    values = (*memory.sizes, *memory.strides)
    open_values = [value for number, value in zip(type_numbers, values, strict=True) if number is None]
    for cell, value in zip(cells.sizes_and_strides, open_values, strict=True):
        out.line(f"store i64 {value}, ptr {cell}")


def load_memory(region: LoweringContext, cells: StoredMemory, type_: ArrayType) -> Memory:
    """Return the representation in the cells, which keep the reference to the owner."""
    out = region.out
    open_cells = iter(cells.sizes_and_strides)
    positions = map(_known_position, (*type_.shape, *type_.strides))
    values: list[Position] = [
        out.new(f"load i64, ptr {next(open_cells)}") if number is None else number for number in positions
    ]
    owner = Object(out.new(f"load ptr, ptr {cells.owner}"), cells.owner)
    pointer, is_whole = out.new(f"load ptr, ptr {cells.pointer}"), out.new(f"load i1, ptr {cells.is_whole}")
    return Memory(owner, pointer, tuple(values[: type_.rank]), tuple(values[type_.rank :]), is_whole)


def borrowed_memory(memory: Memory) -> Memory:
    """Return a representation whose owner is borrowed."""
    return replace(memory, owner=memory.owner.borrowed())


def with_new_reference(region: LoweringContext, memory: Memory) -> Memory:
    """Return a representation with a new reference to its owner."""
    region.out.line(f"call void @retain(ptr {memory.owner.ir})")
    return borrowed_memory(memory)


def placeholder_memory(region: LoweringContext, type_: ArrayType) -> Memory:
    """Return a placeholder for an absent array, which is never read."""
    owner = Object(region.body.objects.reference(None)(region.out))
    sizes, strides = (tuple(_known_position(n) or 0 for n in numbers) for numbers in (type_.shape, type_.strides))
    return Memory(owner, "null", sizes, strides, is_whole="true")


def as_ndarray(region: LoweringContext, memory: Memory, type_: ArrayType) -> Object:
    """Return an owned reference to the owner if the memory is that whole array, else to a new view."""
    out = region.out
    if memory.is_whole == "true":
        out.line(f"call void @retain(ptr {memory.owner.ir})")
        return region.body.own_reference(memory.owner.ir)
    if memory.is_whole == "false":
        return region.body.own_reference(_new_view_object(region, memory, type_))

    def retain_owner() -> str:
        out.line(f"call void @retain(ptr {memory.owner.ir})")
        return Operand.of(memory.owner.ir, "ptr")

    array = out.either(memory.is_whole, retain_owner, lambda: _new_view_object(region, memory, type_))
    return region.body.own_reference(array)


def _new_view_object(region: LoweringContext, memory: Memory, type_: ArrayType) -> str:
    """Write the creation of a NumPy array that views the memory; return its register."""
    out, rank = region.out, type_.rank
    sizes, strides = (region.body.store_dimensions(numbers) for numbers in (memory.sizes, memory.strides))
    array_class, descriptor = (region.body.objects.reference(item)(out) for item in (np.ndarray, type_.dtype.numpy))
    flags = abi.READ_ONLY_FLAGS if type_.read_only else abi.WRITABLE_FLAGS
    result = out.new(
        f"call ptr @new_view(ptr {array_class}, ptr {descriptor}, i32 {rank}, ptr {sizes}, ptr {strides}, "
        f"ptr {memory.pointer}, ptr {memory.owner.ir}, i32 {flags})"
    )
    region.body.fail_if(out.new(f"icmp eq ptr {result}, null"))
    return result
