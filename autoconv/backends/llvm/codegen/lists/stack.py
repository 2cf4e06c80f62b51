"""Lower stacks (see `stacks`): creation, push and pop."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.backends.llvm.analysis import list_stacks as stacks
from autoconv.backends.llvm.analysis.representation import is_scalar, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import lowering
from autoconv.backends.llvm.codegen.values import Object
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, element_count, product
from autoconv.backends.llvm.ir.scalars import ElementWriter, load, store
from autoconv.backends.llvm.runtime.library import HANDLER
from autoconv.backends.llvm.target import abi
from autoconv.graph.graph import Node, Value
from autoconv.ops.values.list_value import ListValue


@lowering("list_empty")
def write_list_empty(region: LoweringContext, node: Node) -> None:
    """Make a stack, with the capacity that earlier stacks of its type came to need. A library keeps no such number."""
    out, size = region.out, _element_size(region, node.results[0])
    first, most = (_quotient(out, bytes_, size) for bytes_ in (stacks.FIRST_BYTES, stacks.MOST_KNOWN))
    least = _initial_capacity(out, first)
    room: Any = least
    if region.body.calls.has_python:
        usual = out.load("i64", _usual_capacity(region, node.results[0]))
        few = out.icmp("slt", usual, least)
        fits = out.icmp("sle", usual, most)
        room = out.select(fits, usual, least)
        room = out.select(few, least, room)
    needed = out.op("add", out.op("mul nuw nsw", room, size), stacks.HEADER)
    made = _new_bytes(region, needed)
    data = _data_of(region, made.ir)
    out.store("i64", 0, data)
    _set_room(region, data, room)
    region.set(node.results[0], made)


def _usual_capacity(region: LoweringContext, list_: Value) -> str:
    """Return the variable with the number of elements that stacks of that type came to need.

    The next stack need not grow then. It is only a hint, which threads write without synchronisation.
    """
    element: Any = list_.type.element  # type: ignore[union-attr]
    name = ".".join(map(str, ("known", element.dtype.name, *sizes(element)))).replace("%", "")
    region.body.module.variable(name, "i64")
    return f"@{name}"


@lowering("list_push")
def write_list_push(region: LoweringContext, node: Node) -> None:
    """Store the item in the buffer, which grows if it is full. A borrowed buffer has no capacity."""
    out, (list_, item), (result,) = region.out, node.inputs, node.results
    stack = _taken_stack(region, list_)
    size = _element_size(region, list_)
    data = _data_of(region, stack)
    length, room = out.load("i64", data), out.load("i64", _address_behind(region, data, 8))
    full = out.icmp("uge", length, room)
    reference = region.body.own(stack)
    with out.unlikely(full):
        more = out.op("lshr", length, 3)  # large stacks grow by an eighth, as the copy's memory counts as well
        few = _quotient(out, stacks.SMALL, size)
        small = out.icmp("slt", length, max(few, 8) if isinstance(few, int) else few)
        half = out.op("add", out.op("lshr", length, 1), 1)
        larger = out.op("add", length, out.select(small, half, more))
        if region.body.calls.has_python:
            out.store("i64", larger, _usual_capacity(region, list_))
        needed = out.op("add", out.op("mul nuw nsw", larger, size), stacks.HEADER)

        def copied() -> None:
            bytes_ = _new_bytes(region, needed)
            fresh, used = _data_of(region, bytes_.ir), out.op("mul nuw nsw", length, size)
            out.copy(_address_behind(region, fresh, stacks.HEADER), _elements(region, data), used)
            out.store("i64", length, fresh)
            region.body.release(reference.slot)
            out.store("ptr", "null", bytes_.slot)
            out.store("ptr", bytes_.ir, reference.slot)

        # Reallocated by the system, rather than present twice.
        large = out.icmp("ugt", needed, 2 * stacks.SMALL)
        large = out.and_(large, out.icmp("ne", room, 0))
        out.either(large, lambda: region.body.check(out.call("resize", stack, needed)), copied)
        _set_room(region, _data_of(region, out.load("ptr", reference.slot)), larger)
    stack = out.load("ptr", reference.slot)
    data = _data_of(region, stack)
    place = _address_behind(region, _elements(region, data), out.op("mul nuw nsw", length, size))
    if is_scalar(item.type):
        store(ElementWriter(out), region.number(item), place, 0)
    else:
        out.copy(place, region.data(item), size)
    out.store("i64", out.op("add", length, 1), data)
    region.set(result, Object(stack, reference.slot))


@lowering("list_pop")
def write_list_pop(region: LoweringContext, node: Node) -> None:
    out, (list_,), (shorter, item) = region.out, node.inputs, node.results
    stack = _taken_stack(region, list_)
    reference = region.body.own(stack)
    size = _element_size(region, list_)
    data = _data_of(region, stack)
    length = out.load("i64", data)
    cold, fine = out.label("cold"), out.label("fine")
    out.branch_if(out.icmp("sgt", length, 0), fine, cold)
    out.begin(cold)
    function = region.body.calls.kernel(node, region.call_sites, rarely=True)
    nothing = out.alloca("ptr")
    element: Any = list_.type.element  # type: ignore[union-attr]
    empty = region.body.calls.object(ListValue(dtype=element.dtype, shape=element.shape))(out)
    out.store("ptr", empty, nothing)
    out.call("call_python", function(out), nothing, 1)
    out.branch(region.body.failed)
    out.begin(fine)
    left = out.op("sub", length, 1)
    out.store("i64", left, data)
    place = _address_behind(region, _elements(region, data), out.op("mul nuw nsw", left, size))
    if is_scalar(item.type):
        region.set(item, load(ElementWriter(out), item.dtype, place, 0))
    else:
        region.set(item, region.new_array(item.type))
        out.copy(region.data(item), place, size)
    region.set(shorter, reference)


def _taken_stack(region: LoweringContext, value: Value) -> str:
    """Take the buffer out of its slot: each version of a stack is used once."""
    native = region.object(value)
    assert native.slot is not None, "a stack that somebody else holds"
    region.out.store("ptr", "null", native.slot)
    return native.ir


def _element_size(region: LoweringContext, list_: Value) -> Position:
    """Return the size of an element in bytes."""
    element: Any = list_.type.element  # type: ignore[union-attr]
    return product(region.out, element_count(region.out, sizes(element)), int(element.dtype.size))


def _quotient(out: FunctionText, bytes_: int, size: Position) -> Position:
    """Return how many elements of that size fit in that many bytes."""
    return bytes_ // max(size, 1) if isinstance(size, int) else out.op("sdiv", bytes_, size)


def _initial_capacity(out: FunctionText, first: Position) -> Position:
    """Return the capacity of a new stack."""
    if isinstance(first, int):
        return max(1, min(stacks.FIRST_ROOM, first))
    return out.intrinsic("smax", out.intrinsic("smin", first, stacks.FIRST_ROOM), 1)


def _new_bytes(region: LoweringContext, size: str) -> Object:
    out = region.out
    dimension = out.alloca("i64")
    out.store("i64", size, dimension)
    descriptor = region.body.calls.object(np.dtype(np.uint8))
    memory = region.body.calls.object(HANDLER)(out)  # pooled for the next call
    result = out.call("new_large_array", 1, dimension, descriptor(out), memory)
    region.body.check(out.is_null(result))
    return region.body.own(result)


def _data_of(region: LoweringContext, object_: str) -> str:
    address = region.out.gep("i8", object_, abi.DATA)
    return region.out.load("ptr", address)


def _set_room(region: LoweringContext, data: str, room: str) -> None:
    """Set the capacity of a buffer that contains its elements itself."""
    region.out.store("i64", room, _address_behind(region, data, 8))
    region.out.store("ptr", _address_behind(region, data, stacks.HEADER), _address_behind(region, data, 16))


def _elements(region: LoweringContext, data: str) -> str:
    """Return the address of the first element."""
    return region.out.load("ptr", _address_behind(region, data, 16))


def _address_behind(region: LoweringContext, data: str, offset: Position) -> str:
    return region.out.gep("i8", data, offset)
