"""Arrays that are changed in place, in native code: an address, and sizes and strides in registers where they are not
known. The array that owns the memory is held as long as the region that made it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from autoconv.backends.llvm import abi
from autoconv.backends.llvm.positions import Position, Size, plus, product
from autoconv.backends.llvm.roles import register_of
from autoconv.backends.llvm.scalars import is_native
from autoconv.backends.llvm.text import FunctionText
from autoconv.backends.llvm.values import Cells, Memory, Object
from autoconv.graph.graph import Value
from autoconv.graph.types import ArrayType, Dimension, Symbol, TensorType, Type

if TYPE_CHECKING:
    from autoconv.backends.llvm.regions import Region


def is_memory(type_: Type) -> bool:
    """Whether it is an array in memory, whose elements, or their parts, have registers."""
    return isinstance(type_, ArrayType) and (is_native(type_.dtype) or type_.dtype.is_complex)


def held(region: Region, value: Value) -> Memory:
    found = region.native(value)
    assert isinstance(found, Memory), value
    return found


def of_array(region: Region, object_: Object, type_: ArrayType) -> Memory:
    """An array as it is."""
    pointer = region.address(object_)
    sizes = numbers_of(region.out, object_.ir, type_.shape, abi.DIMENSIONS)
    strides = numbers_of(region.out, object_.ir, type_.strides, abi.STRIDES)
    return Memory(object_, pointer, sizes, strides, "true")


def numbers_of(out: FunctionText, array: str, known: Sequence[Dimension], offset: int) -> tuple[Position, ...]:
    """The sizes or strides of an array, read from it where its type does not say them."""
    found = [_position(number) for number in known]
    if None in found:
        first = out.new(f"load ptr, ptr {out.new(f'getelementptr inbounds i8, ptr {array}, i64 {offset}')}")
        for axis, number in enumerate(found):
            if number is None:
                place = out.new(f"getelementptr inbounds i64, ptr {first}, i64 {axis}")
                found[axis] = out.new(f"load i64, ptr {place}")
    return tuple(number for number in found if number is not None)


def _position(number: Dimension) -> Position | None:
    return Size(register_of(number)) if isinstance(number, Symbol) else number


def ends(out: FunctionText, x: Memory, width: int) -> tuple[str, str]:
    """The addresses of the first byte of an array and of the one behind its last; `width` is that of an element."""
    low = high = out.new(f"ptrtoint ptr {x.pointer} to i64")
    if 0 in x.sizes:
        return low, high
    for size, stride in zip(x.sizes, x.strides, strict=True):
        reach = product(out, plus(out, size, -1), stride)
        if isinstance(reach, int):
            low, high = (str(plus(out, low, min(reach, 0))), str(plus(out, high, max(reach, 0))))
            continue
        back = out.new(f"icmp slt i64 {reach}, 0")
        below = out.new(f"select i1 {back}, i64 {reach}, i64 0")
        above = out.new(f"select i1 {back}, i64 0, i64 {reach}")
        low, high = out.new(f"add i64 {low}, {below}"), out.new(f"add i64 {high}, {above}")
    return low, str(plus(out, high, width))


def as_tensor_type(type_: Type) -> Type:
    """The type of what is in the array: of arrays of such a type some are kept in loops (see values.Body)."""
    assert isinstance(type_, ArrayType)
    return TensorType(type_.dtype, type_.shape)


# ---- between blocks


def cells(region: Region, type_: ArrayType) -> Cells:
    out = region.out
    open_ = [number for number in (*type_.shape, *type_.strides) if number is None]
    return Cells(out.slot(), out.alloca("ptr"), out.alloca("i1"), tuple(out.alloca("i64") for _ in open_))


def fill(region: Region, cells: Cells, type_: ArrayType, memory: Memory) -> None:
    """Puts what `memory` is there; the cells take over the reference to its owner."""
    out = region.out
    out.line(f"store ptr {memory.owner.ir}, ptr {cells.owner}")
    out.line(f"store ptr {memory.pointer}, ptr {cells.pointer}")
    out.line(f"store i1 {memory.whole}, ptr {cells.whole}")
    known = (*type_.shape, *type_.strides)
    values = (*memory.sizes, *memory.strides)
    open_ = [value for number, value in zip(known, values, strict=True) if number is None]
    for cell, value in zip(cells.numbers, open_, strict=True):
        out.line(f"store i64 {value}, ptr {cell}")


def read(region: Region, cells: Cells, type_: ArrayType) -> Memory:
    out = region.out
    numbers = iter(cells.numbers)
    found = map(_position, (*type_.shape, *type_.strides))
    values: list[Position] = [
        out.new(f"load i64, ptr {next(numbers)}") if number is None else number for number in found
    ]
    owner = Object(out.new(f"load ptr, ptr {cells.owner}"), cells.owner)
    pointer, whole = out.new(f"load ptr, ptr {cells.pointer}"), out.new(f"load i1, ptr {cells.whole}")
    return Memory(owner, pointer, tuple(values[: type_.rank]), tuple(values[type_.rank :]), whole)


def lent(memory: Memory) -> Memory:
    """The same, which somebody else holds."""
    return replace(memory, owner=Object(memory.owner.ir))


def taken(region: Region, memory: Memory) -> Memory:
    """The same with a reference of its own."""
    region.out.line(f"call void @retain(ptr {memory.owner.ir})")
    return lent(memory)


def absent(region: Region, type_: ArrayType) -> Memory:
    """Stands for none: never read."""
    owner = Object(region.body.calls.object(None)(region.out))
    sizes, strides = (tuple(_position(n) or 0 for n in numbers) for numbers in (type_.shape, type_.strides))
    return Memory(owner, "null", sizes, strides, "true")


# ---- as an object of Python's


def boxed(region: Region, memory: Memory, type_: ArrayType) -> Object:
    """A new reference to the array itself, or to a view of it, in a slot."""
    out = region.out
    if memory.whole == "true":
        out.line(f"call void @retain(ptr {memory.owner.ir})")
        return region.body.own(memory.owner.ir)
    if memory.whole == "false":
        return region.body.own(_view(region, memory, type_))
    whole, part, done = out.label("whole"), out.label("part"), out.label("boxed")
    out.branch_if(memory.whole, whole, part)
    out.begin(whole)
    out.line(f"call void @retain(ptr {memory.owner.ir})")
    out.branch(done)
    out.begin(part)
    made = _view(region, memory, type_)
    after = out.block
    out.branch(done)
    out.begin(done)
    return region.body.own(out.new(f"phi ptr [ {memory.owner.ir}, %{whole} ], [ {made}, %{after} ]"))


def _view(region: Region, memory: Memory, type_: ArrayType) -> str:
    out, rank = region.out, type_.rank
    lists = []
    for numbers in (memory.sizes, memory.strides):
        cell = out.alloca(f"[{max(rank, 1)} x i64]")
        for axis, number in enumerate(numbers):
            out.line(f"store i64 {number}, ptr {out.new(f'getelementptr inbounds i64, ptr {cell}, i64 {axis}')}")
        lists.append(cell)
    kind, descriptor = (region.body.calls.object(item)(out) for item in (np.ndarray, type_.dtype.numpy))
    flags = abi.READ_ONLY_FLAGS if type_.read_only else abi.WRITABLE_FLAGS
    made = out.new(
        f"call ptr @new_view(ptr {kind}, ptr {descriptor}, i32 {rank}, ptr {lists[0]}, ptr {lists[1]}, "
        f"ptr {memory.pointer}, ptr {memory.owner.ir}, i32 {flags})"
    )
    region.body.check(out.new(f"icmp eq ptr {made}, null"))
    return made
