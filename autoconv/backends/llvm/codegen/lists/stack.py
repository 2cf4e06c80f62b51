"""Lower the ops of stacks (see analysis/list_stacks.py): creation, push and pop."""

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
from autoconv.backends.llvm.runtime.library import MEMORY_HANDLER
from autoconv.backends.llvm.target import abi
from autoconv.graph.graph import Node, Value
from autoconv.ops.values.list_value import ListValue

# Offsets in bytes in the header of a buffer: of the capacity and of the elements' address; the length is at 0.
_CAPACITY_OFFSET, _ELEMENTS_OFFSET = 8, 16


@lowering("list_empty")
def write_list_empty(region: LoweringContext, node: Node) -> None:
    """Allocate a stack with the capacity that earlier stacks of its type reached; in a C library, with the default."""
    out, size = region.out, _element_size(region, node.results[0])
    byte_limits = stacks.INITIAL_BYTES_LIMIT, stacks.LEARNED_BYTES_LIMIT
    initial_limit, learned_limit = (_element_capacity(out, byte_limit, size) for byte_limit in byte_limits)
    default_capacity = _initial_capacity(out, initial_limit)
    capacity: Any = default_capacity
    if region.body.objects.has_python:
        learned_capacity = out.load("i64", _learned_capacity_variable(region, node.results[0]))
        is_smaller = out.icmp("slt", learned_capacity, default_capacity)
        fits = out.icmp("sle", learned_capacity, learned_limit)
        capacity = out.select(fits, learned_capacity, default_capacity)
        capacity = out.select(is_smaller, default_capacity, capacity)
    byte_count = out.op("add", out.op("mul nuw nsw", capacity, size), stacks.HEADER_BYTES)
    buffer = _new_bytes(region, byte_count)
    header = _load_header_address(region, buffer.ir)
    out.store("i64", 0, header)
    _set_capacity(region, header, capacity)
    region.set(node.results[0], buffer)


def _learned_capacity_variable(region: LoweringContext, list_: Value) -> str:
    """Return the global variable with the capacity that the latest stack of the list's type reached.

    Threads write it without synchronisation, because it is only a hint.
    """
    element: Any = list_.type.element  # type: ignore[union-attr]
    name = ".".join(map(str, ("known", element.dtype.name, *sizes(element)))).replace("%", "")
    region.body.module.variable(name, "i64")
    return f"@{name}"


@lowering("list_push")
def write_list_push(region: LoweringContext, node: Node) -> None:
    """Store the item in the buffer, which grows if it is full. A borrowed buffer, of capacity 0, is copied first."""
    out, (list_, item), (result,) = region.out, node.inputs, node.results
    stack = _take_buffer(region, list_)
    size = _element_size(region, list_)
    header = _load_header_address(region, stack)
    length, capacity = out.load("i64", header), out.load("i64", _offset_address(region, header, _CAPACITY_OFFSET))
    is_full = out.icmp("uge", length, capacity)
    reference = region.body.own_reference(stack)
    with out.unlikely(is_full):
        eighth = out.op("lshr", length, 3)  # large stacks grow by an eighth, since a copy needs memory too
        small_length = _element_capacity(out, stacks.SMALL_STACK_BYTES, size)
        is_small = out.icmp("slt", length, max(small_length, 8) if isinstance(small_length, int) else small_length)
        half = out.op("add", out.op("lshr", length, 1), 1)
        new_capacity = out.op("add", length, out.select(is_small, half, eighth))
        if region.body.objects.has_python:
            out.store("i64", new_capacity, _learned_capacity_variable(region, list_))
        byte_count = out.op("add", out.op("mul nuw nsw", new_capacity, size), stacks.HEADER_BYTES)

        def copy_buffer() -> None:
            """Replace the buffer in the list's slot by a copy of all elements."""
            new_buffer = _new_bytes(region, byte_count)
            new_header, used_bytes = _load_header_address(region, new_buffer.ir), out.op("mul nuw nsw", length, size)
            target = _offset_address(region, new_header, stacks.HEADER_BYTES)
            out.copy(target, _load_elements_address(region, header), used_bytes)
            out.store("i64", length, new_header)
            region.body.release(reference.slot)
            out.store("ptr", "null", new_buffer.slot)
            out.store("ptr", new_buffer.ir, reference.slot)

        # A large buffer that is not borrowed is reallocated, so that it never exists twice.
        is_large = out.icmp("ugt", byte_count, 2 * stacks.SMALL_STACK_BYTES)
        is_resized = out.and_(is_large, out.icmp("ne", capacity, 0))
        out.either(is_resized, lambda: region.body.fail_if(out.call("resize", stack, byte_count)), copy_buffer)
        _set_capacity(region, _load_header_address(region, out.load("ptr", reference.slot)), new_capacity)
    stack = out.load("ptr", reference.slot)
    header = _load_header_address(region, stack)
    address = _offset_address(region, _load_elements_address(region, header), out.op("mul nuw nsw", length, size))
    if is_scalar(item.type):
        store(ElementWriter(out), region.number(item), address, 0)
    else:
        out.copy(address, region.data(item), size)
    out.store("i64", out.op("add", length, 1), header)
    region.set(result, Object(stack, reference.slot))


@lowering("list_pop")
def write_list_pop(region: LoweringContext, node: Node) -> None:
    """Load the last item and reduce the length; for an empty stack, the kernel raises the error of an empty list."""
    out, (list_,), (shorter_stack, item) = region.out, node.inputs, node.results
    stack = _take_buffer(region, list_)
    reference = region.body.own_reference(stack)
    size = _element_size(region, list_)
    header = _load_header_address(region, stack)
    length = out.load("i64", header)
    empty_label, nonempty_label = out.label("cold"), out.label("fine")
    out.branch_if(out.icmp("sgt", length, 0), nonempty_label, empty_label)
    out.begin(empty_label)
    function = region.body.objects.kernel(node, region.enclosing_calls, is_rare=True)
    arguments = out.alloca("ptr")
    element: Any = list_.type.element  # type: ignore[union-attr]
    empty_list = region.body.objects.reference(ListValue(dtype=element.dtype, shape=element.shape))(out)
    out.store("ptr", empty_list, arguments)
    out.call("call_python", function(out), arguments, 1)
    out.branch(region.body.failure_label)
    out.begin(nonempty_label)
    new_length = out.op("sub", length, 1)
    out.store("i64", new_length, header)
    address = _offset_address(region, _load_elements_address(region, header), out.op("mul nuw nsw", new_length, size))
    if is_scalar(item.type):
        region.set(item, load(ElementWriter(out), item.dtype, address, 0))
    else:
        region.set(item, region.new_array(item.type))
        out.copy(region.data(item), address, size)
    region.set(shorter_stack, reference)


def _take_buffer(region: LoweringContext, value: Value) -> str:
    """Take the buffer of a stack from its slot, which is possible because each version of a stack has a single use."""
    native = region.object(value)
    assert native.slot is not None, "a stack has to be owned by its only use"
    region.out.store("ptr", "null", native.slot)
    return native.ir


def _element_size(region: LoweringContext, list_: Value) -> Position:
    """Return the size of an element in bytes."""
    element: Any = list_.type.element  # type: ignore[union-attr]
    return product(region.out, element_count(region.out, sizes(element)), int(element.dtype.size))


def _element_capacity(out: FunctionText, byte_count: int, size: Position) -> Position:
    """Return how many elements of `size` bytes fit in `byte_count`."""
    return byte_count // max(size, 1) if isinstance(size, int) else out.op("sdiv", byte_count, size)


def _initial_capacity(out: FunctionText, fitting_count: Position) -> Position:
    """Return the default capacity of a new stack, at most `fitting_count`."""
    if isinstance(fitting_count, int):
        return max(1, min(stacks.INITIAL_CAPACITY, fitting_count))
    return out.intrinsic("smax", out.intrinsic("smin", fitting_count, stacks.INITIAL_CAPACITY), 1)


def _new_bytes(region: LoweringContext, size: str) -> Object:
    """Allocate an array of bytes, whose memory is pooled for the next call."""
    out = region.out
    dimension = out.alloca("i64")
    out.store("i64", size, dimension)
    descriptor = region.body.objects.reference(np.dtype(np.uint8))
    memory_handler = region.body.objects.reference(MEMORY_HANDLER)(out)
    result = out.call("new_large_array", 1, dimension, descriptor(out), memory_handler)
    region.body.fail_if(out.is_null(result))
    return region.body.own_reference(result)


def _load_header_address(region: LoweringContext, object_: str) -> str:
    """Return the address of the header of a buffer, an array of bytes."""
    address = region.out.gep("i8", object_, abi.DATA)
    return region.out.load("ptr", address)


def _set_capacity(region: LoweringContext, header: str, capacity: str) -> None:
    """Set the capacity in the header, and the address of the elements, which follow the header."""
    region.out.store("i64", capacity, _offset_address(region, header, _CAPACITY_OFFSET))
    elements = _offset_address(region, header, stacks.HEADER_BYTES)
    region.out.store("ptr", elements, _offset_address(region, header, _ELEMENTS_OFFSET))


def _load_elements_address(region: LoweringContext, header: str) -> str:
    """Load the address of the first element from the header."""
    return region.out.load("ptr", _offset_address(region, header, _ELEMENTS_OFFSET))


def _offset_address(region: LoweringContext, header: str, offset: Position) -> str:
    """Return the address at an offset in bytes from the header."""
    return region.out.gep("i8", header, offset)
