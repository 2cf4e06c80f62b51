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
from autoconv.backends.llvm.runtime.library import handler
from autoconv.backends.llvm.target import abi
from autoconv.graph.graph import Node, Value
from autoconv.ops.values.list_value import ListValue


@lowering("list_empty")
def write_list_empty(region: LoweringContext, node: Node) -> None:
    """Make a stack, with the capacity that earlier stacks of its type came to need."""
    out, size = region.out, _element_size(region, node.results[0])
    first, most = (_quotient(out, bytes_, size) for bytes_ in (stacks.FIRST_BYTES, stacks.MOST_KNOWN))
    least = _least(out, first)
    known = out.new(f"load i64, ptr {_known(region, node.results[0])}")
    few = out.new(f"icmp slt i64 {known}, {least}")
    fits = out.new(f"icmp sle i64 {known}, {most}")
    room = out.new(f"select i1 {fits}, i64 {known}, i64 {least}")
    room = out.new(f"select i1 {few}, i64 {least}, i64 {room}")
    needed = out.new(f"add i64 {out.new(f'mul nuw nsw i64 {room}, {size}')}, {stacks.HEADER}")
    made = _new_bytes(region, needed)
    data = _data_of(region, made.ir)
    out.line(f"store i64 0, ptr {data}")
    _set_room(region, data, room)
    region.set(node.results[0], made)


def _known(region: LoweringContext, list_: Value) -> str:
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
    given = _taken_stack(region, list_)
    size = _element_size(region, list_)
    data = _data_of(region, given)
    length, room = out.new(f"load i64, ptr {data}"), out.new(f"load i64, ptr {_past(region, data, '8')}")
    full, fits, grow = out.new(f"icmp uge i64 {length}, {room}"), out.label("fits"), out.label("grow")
    held = region.body.own(given)
    assert held.slot is not None
    out.branch_if(full, grow, fits, unlikely=True)
    out.begin(grow)
    more = out.new(f"lshr i64 {length}, 3")  # large stacks grow by an eighth, as the copy's memory counts as well
    few = _quotient(out, stacks.SMALL, size)
    small = out.new(f"icmp slt i64 {length}, {max(few, 8) if isinstance(few, int) else few}")
    half = out.new(f"add i64 {out.new(f'lshr i64 {length}, 1')}, 1")
    larger = out.new(f"add i64 {length}, {out.new(f'select i1 {small}, i64 {half}, i64 {more}')}")
    out.line(f"store i64 {larger}, ptr {_known(region, list_)}")
    needed = out.new(f"add i64 {out.new(f'mul nuw nsw i64 {larger}, {size}')}, {stacks.HEADER}")
    # Reallocated by the system, rather than present twice.
    large = out.new(f"icmp ugt i64 {needed}, {2 * stacks.SMALL}")
    large = out.new(f"and i1 {large}, {out.new(f'icmp ne i64 {room}, 0')}")
    again, anew = out.label("again"), out.label("anew")
    out.branch_if(large, again, anew)
    out.begin(again)
    region.body.check(out.new(f"call i1 @resize(ptr {given}, i64 {needed})"))
    out.branch(grown := out.label("grown"))
    out.begin(anew)
    made = _new_bytes(region, needed)
    assert made.slot is not None
    fresh, used = _data_of(region, made.ir), out.new(f"mul nuw nsw i64 {length}, {size}")
    _copy(region, _past(region, fresh, str(stacks.HEADER)), _elements(region, data), used)
    out.line(f"store i64 {length}, ptr {fresh}")
    region.body.release(held.slot)
    out.line(f"store ptr null, ptr {made.slot}")
    out.line(f"store ptr {made.ir}, ptr {held.slot}")
    out.branch(grown)
    out.begin(grown)
    given = out.new(f"load ptr, ptr {held.slot}")
    _set_room(region, _data_of(region, given), larger)
    out.branch(fits)
    out.begin(fits)
    given = out.new(f"load ptr, ptr {held.slot}")
    data = _data_of(region, given)
    place = _past(region, _elements(region, data), out.new(f"mul nuw nsw i64 {length}, {size}"))
    if is_scalar(item.type):
        store(ElementWriter(out), region.number(item), place, 0)
    else:
        _copy(region, place, region.data(item), str(size))
    out.line(f"store i64 {out.new(f'add i64 {length}, 1')}, ptr {data}")
    region.set(result, Object(given, held.slot))


@lowering("list_pop")
def write_list_pop(region: LoweringContext, node: Node) -> None:
    out, (list_,), (shorter, item) = region.out, node.inputs, node.results
    given = _taken_stack(region, list_)
    held = region.body.own(given)
    size = _element_size(region, list_)
    data = _data_of(region, given)
    length = out.new(f"load i64, ptr {data}")
    cold, fine = out.label("cold"), out.label("fine")
    out.branch_if(out.new(f"icmp sgt i64 {length}, 0"), fine, cold)
    out.begin(cold)
    function = region.body.calls.kernel(node, region.owners, rarely=True)
    nothing = out.alloca("ptr")
    element: Any = list_.type.element  # type: ignore[union-attr]
    empty = region.body.calls.object(ListValue(dtype=element.dtype, shape=element.shape))(out)
    out.line(f"store ptr {empty}, ptr {nothing}")
    out.new(f"call ptr @call_python(ptr {function(out)}, ptr {nothing}, i64 1)")
    out.branch(region.body.failed)
    out.begin(fine)
    left = out.new(f"sub i64 {length}, 1")
    out.line(f"store i64 {left}, ptr {data}")
    place = _past(region, _elements(region, data), out.new(f"mul nuw nsw i64 {left}, {size}"))
    if is_scalar(item.type):
        region.set(item, load(ElementWriter(out), item.dtype, place, 0))
    else:
        region.set(item, region.new_array(item.type))
        _copy(region, region.data(item), place, str(size))
    region.set(shorter, held)


def _taken_stack(region: LoweringContext, value: Value) -> str:
    """Take the buffer out of its slot: each version of a stack is used once."""
    native = region.object(value)
    assert native.slot is not None, "a stack that somebody else holds"
    region.out.line(f"store ptr null, ptr {native.slot}")
    return native.ir


def _element_size(region: LoweringContext, list_: Value) -> Position:
    """Return the size of an element in bytes."""
    element: Any = list_.type.element  # type: ignore[union-attr]
    return product(region.out, element_count(region.out, sizes(element)), int(element.dtype.size))


def _quotient(out: FunctionText, bytes_: int, size: Position) -> Position:
    """Return how many elements of that size fit in that many bytes."""
    return bytes_ // max(size, 1) if isinstance(size, int) else out.new(f"sdiv i64 {bytes_}, {size}")


def _least(out: FunctionText, first: Position) -> Position:
    """Return the capacity of a new stack."""
    if isinstance(first, int):
        return max(1, min(stacks.FIRST_ROOM, first))
    low, high = (out.module.declare(f"llvm.{name}.i64", "i64", "i64, i64") for name in ("smin", "smax"))
    return out.new(f"call i64 {high}(i64 {out.new(f'call i64 {low}(i64 {first}, i64 {stacks.FIRST_ROOM})')}, i64 1)")


def _new_bytes(region: LoweringContext, size: str) -> Object:
    out = region.out
    dimension = out.alloca("i64")
    out.line(f"store i64 {size}, ptr {dimension}")
    descriptor = region.body.calls.object(np.dtype(np.uint8))
    memory = region.body.calls.object(handler())(out)  # pooled for the next call
    made = out.new(f"call ptr @new_large_array(i32 1, ptr {dimension}, ptr {descriptor(out)}, ptr {memory})")
    region.body.check(out.new(f"icmp eq ptr {made}, null"))
    return region.body.own(made)


def _data_of(region: LoweringContext, object_: str) -> str:
    address = region.out.new(f"getelementptr inbounds i8, ptr {object_}, i64 {abi.DATA}")
    return region.out.new(f"load ptr, ptr {address}")


def _set_room(region: LoweringContext, data: str, room: str) -> None:
    """Set the capacity of a buffer that contains its elements itself."""
    region.out.line(f"store i64 {room}, ptr {_past(region, data, '8')}")
    region.out.line(f"store ptr {_past(region, data, str(stacks.HEADER))}, ptr {_past(region, data, '16')}")


def _elements(region: LoweringContext, data: str) -> str:
    """Return the address of the first element."""
    return region.out.new(f"load ptr, ptr {_past(region, data, '16')}")


def _past(region: LoweringContext, data: str, offset: str) -> str:
    return region.out.new(f"getelementptr inbounds i8, ptr {data}, i64 {offset}")


def _copy(region: LoweringContext, target: str, source: str, count: str) -> None:
    region.body.module.declare("llvm.memcpy.p0.p0.i64", "void", "ptr, ptr, i64, i1")
    region.out.line(f'call void @"llvm.memcpy.p0.p0.i64"(ptr {target}, ptr {source}, i64 {count}, i1 false)')
