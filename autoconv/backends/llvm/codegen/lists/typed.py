"""Lower typed lists of numbers (see ops/lists/typed_lists.py), whose items are read and written in place."""

from __future__ import annotations

from typing import Any

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.memory.ops import normalise_index
from autoconv.backends.llvm.codegen.registry import data_sized_lowering
from autoconv.backends.llvm.codegen.routine import Routine
from autoconv.backends.llvm.codegen.values import Object, RegisterWriter
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter
from autoconv.backends.llvm.ir.types import memory_type
from autoconv.backends.llvm.target import abi
from autoconv.graph.dtypes import DType, bool_, int64
from autoconv.graph.graph import Node

LENGTH_RANGE = (0, 1 << 60)  # range of the lengths of lists
BYTES_LIMIT = 1 << 46  # larger lists are left to the kernel, which raises an error
_LIST_ALIAS, _ITEM_ALIAS = ", !tbaa !5", ", !tbaa !6"  # alias classes of lists and their items (see ir/metadata.py)


class TypedList:
    """A writer of accesses to a typed list, the bytearray at the address in register `ir`, with items of `dtype`."""

    def __init__(self, out: FunctionText, ir: str, dtype: DType) -> None:
        self.out, self.ir, self.dtype = out, ir, dtype

    def size(self) -> str:
        """Return the size in bytes."""
        return self.out.load("i64", self._field_address(abi.BYTE_COUNT), _LIST_ALIAS)

    def set_size(self, size: str) -> None:
        self.out.store("i64", size, self._field_address(abi.BYTE_COUNT), _LIST_ALIAS)

    def length(self) -> str:
        """Return the number of items."""
        shift = self.dtype.size.bit_length() - 1  # the size of an item is a power of two
        return self.out.op("lshr exact", self.size(), shift) if shift else self.size()

    def start(self) -> str:
        """Return the address of the first item."""
        return self.out.load("ptr", self._field_address(abi.BYTE_START), _LIST_ALIAS)

    def end_of_memory(self) -> str:
        """Return the address of the end of the allocated memory."""
        first = self.out.load("ptr", self._field_address(abi.BYTE_MEMORY), _LIST_ALIAS)
        capacity = self.out.load("i64", self._field_address(abi.BYTE_CAPACITY), _LIST_ALIAS)
        return self.out.gep("i8", first, capacity, inbounds=False)

    def load(self, index: Position) -> Element:
        return load_item(self.out, self.start(), index, self.dtype)

    def store(self, index: Position, item: Element) -> None:
        store_item(self.out, self.start(), index, item)

    def _field_address(self, offset: int) -> str:
        return self.out.gep("i8", self.ir, offset)


def load_item(out: FunctionText, start: str, index: Position, dtype: DType) -> Element:
    address = out.gep(memory_type(dtype), start, index)
    return ElementWriter(out).from_memory(out.load(memory_type(dtype), address, _ITEM_ALIAS), dtype)


def store_item(out: FunctionText, start: str, index: Position, item: Element) -> None:
    """Store an item of a typed list at an index."""
    ir_type, ir = memory_type(item.dtype), item.b.to_memory(item)
    address = out.gep(ir_type, start, index)
    out.store(ir_type, ir, address, _ITEM_ALIAS)


def dtype_of(node: Node) -> DType:
    """Return the dtype of a typed list's items."""
    element: Any = node.attributes["element"]
    result: DType = element.dtype
    return result


def typed_operand(region: LoweringContext, node: Node) -> TypedList:
    """Return the typed list that is a node's first operand."""
    return TypedList(region.out, region.object(node.inputs[0]).ir, dtype_of(node))


def new_list(region: LoweringContext, size: str) -> Object:
    """Allocate a typed list of `size` bytes, whose items are not set."""
    result = region.out.call_c("PyByteArray_FromStringAndSize", "ptr", "ptr, i64", "null", size)
    region.body.fail_if(region.out.is_null(result))
    return region.body.own_reference(result)


def reserve(region: LoweringContext, x: TypedList, new_size: str) -> None:
    """Allocate memory for that many bytes of items if the list has less."""
    out = region.out
    # CPython keeps a zero byte after the last item.
    needed_end = out.gep("i8", x.start(), out.op("add", new_size, 1), inbounds=False)
    with out.unlikely(out.icmp("ugt", needed_end, x.end_of_memory())):
        added_size = out.op("sub", new_size, x.size())
        region.body.fail_if(out.call("grow_bytes", x.ir, out.op("add", added_size, 1)))


def remove_item(x: TypedList, index: Position) -> None:
    """Move the items behind an index to the item before them, and shorten the list."""
    out, item_size = x.out, x.dtype.size
    new_size, offset = out.op("sub", x.size(), item_size), out.op("mul", index, item_size)
    address = out.gep("i8", x.start(), offset, inbounds=False)
    out.move(address, out.gep("i8", address, item_size, inbounds=False), out.op("sub", new_size, offset))
    x.set_size(new_size)


@data_sized_lowering("typed_list_make")
def _write_make(region: LoweringContext, node: Node) -> None:
    """Write a new list of the node's inputs."""
    dtype = dtype_of(node)
    result = new_list(region, str(dtype.size * len(node.inputs)))
    if node.inputs:
        start = TypedList(region.out, result.ir, dtype).start()
        for i, value in enumerate(node.inputs):
            store_item(region.out, start, str(i), region.number(value))
    region.set(node.results[0], result)


@data_sized_lowering("typed_list_repeat")
def _write_repeat(region: LoweringContext, node: Node) -> None:
    """Write a new list that repeats a list; it fails if the size is beyond the limit."""
    out, x = region.out, typed_operand(region, node)
    count = RegisterWriter(region).cast(region.number(node.inputs[1]), int64)
    size = x.size()
    is_negative = out.icmp("slt", count.ir, 0)
    repeats = out.select(is_negative, 0, count.ir)
    product = out.call_c("llvm.umul.with.overflow.i64", "{ i64, i1 }", "i64, i64", size, repeats)
    total_size = out.part(product, 0)
    is_too_large = out.icmp("ugt", total_size, BYTES_LIMIT)
    region.raise_if(node, out.or_(is_too_large, out.part(product, 1)))
    result = new_list(region, total_size)
    target = TypedList(out, result.ir, x.dtype).start()
    routine = _repeat_routine(region, x.dtype)
    out.call(routine, target, x.start(), size, repeats)
    region.set(node.results[0], result)


def _repeat_routine(region: LoweringContext, dtype: DType) -> str:
    """Return the name of a function that stores `%size` bytes of items `%times` times at `%target`."""
    routine = Routine(region, ["ptr noalias %target", "ptr noalias %source", "i64 %size", "i64 %times"])
    out = routine.out

    def repeat_item() -> None:
        item = load_item(out, "%source", "0", dtype)
        with out.loop("0", "%times") as i:
            store_item(out, "%target", i, item)

    def copy_items() -> None:
        with out.loop("0", "%times") as i:
            address = out.gep("i8", "%target", out.op("mul", i, "%size"), inbounds=False)
            out.copy(address, "%source", "%size")

    out.either(out.icmp("eq", "%size", dtype.size), repeat_item, copy_items)
    return routine.finish()


@data_sized_lowering("typed_list_length")
def _write_length(region: LoweringContext, node: Node) -> None:
    length = RegisterWriter(region).wrap(int64, typed_operand(region, node).length())
    region.body.record_range(length, LENGTH_RANGE)
    region.set(node.results[0], length)


@data_sized_lowering("typed_list_get")
def _write_get(region: LoweringContext, node: Node) -> None:
    """Write the load of an item."""
    x = typed_operand(region, node)
    index = normalise_index(region, node, node.inputs[1], x.length())
    region.set(node.results[0], x.load(index))


@data_sized_lowering("typed_list_set")
def _write_set(region: LoweringContext, node: Node) -> None:
    """Write the store of an item."""
    x = typed_operand(region, node)
    index = normalise_index(region, node, node.inputs[1], x.length())
    x.store(index, region.number(node.inputs[2]))


@data_sized_lowering("typed_list_append")
def _write_append(region: LoweringContext, node: Node) -> None:
    """Write an append, which allocates more memory if necessary."""
    out, x = region.out, typed_operand(region, node)
    size = x.size()
    new_size = out.op("add", size, x.dtype.size)
    reserve(region, x, new_size)
    address = out.gep("i8", x.start(), size, inbounds=False)
    store_item(out, address, "0", region.number(node.inputs[1]))
    x.set_size(new_size)


@data_sized_lowering("typed_list_pop")
def _write_pop(region: LoweringContext, node: Node) -> None:
    """Write the removal of the last item, or of the item at an index."""
    out, x = region.out, typed_operand(region, node)
    size = x.size()
    region.raise_if(node, out.icmp("eq", size, 0))
    if len(node.inputs) == 1:
        new_size = out.op("sub", size, x.dtype.size)
        address = out.gep("i8", x.start(), new_size, inbounds=False)
        region.set(node.results[0], load_item(out, address, "0", x.dtype))
        x.set_size(new_size)
        return
    index = normalise_index(region, node, node.inputs[1], x.length())
    item = x.load(index)
    remove_item(x, index)
    region.set(node.results[0], item)


@data_sized_lowering("typed_list_clear")
def _write_clear(region: LoweringContext, node: Node) -> None:
    typed_operand(region, node).set_size("0")


# ---- iteration: a cursor is a list of two numbers, the next position and the current item


@data_sized_lowering("typed_list_cursor")
def _write_cursor(region: LoweringContext, node: Node) -> None:
    """Write a new cursor; the node's operand is its first position."""
    cursor = new_list(region, "16")
    store_item(region.out, TypedList(region.out, cursor.ir, int64).start(), "0", region.number(node.inputs[0]))
    region.set(node.results[0], cursor)


@data_sized_lowering("typed_list_advance")
def _write_advance(region: LoweringContext, node: Node) -> None:
    """Write the step of a cursor to the next item, whose existence is the result: False at the end of the list."""
    out, x, b = region.out, typed_operand(region, node), RegisterWriter(region)
    cursor = TypedList(out, region.object(node.inputs[1]).ir, int64).start()
    position = load_item(out, cursor, "0", int64)
    has_next = b.wrap(bool_, out.icmp("slt", position.ir, x.length()))
    # At the end, the position becomes the greatest: a finished iteration yields no items that are appended later.
    store_item(out, cursor, "0", b.select(has_next, position + 1, (1 << 63) - 1))
    with out.if_(has_next.ir):
        store_item(out, out.gep("i8", cursor, 8, inbounds=False), "0", x.load(position.ir))
    region.set(node.results[0], has_next)


@data_sized_lowering("typed_list_current")
def _write_current(region: LoweringContext, node: Node) -> None:
    """Load the current item of a cursor, to which the latest step moved."""
    out = region.out
    cursor = TypedList(out, region.object(node.inputs[0]).ir, int64).start()
    region.set(node.results[0], load_item(out, out.gep("i8", cursor, 8, inbounds=False), "0", dtype_of(node)))


@data_sized_lowering("typed_list_position")
def _write_position(region: LoweringContext, node: Node) -> None:
    """Load the position of a cursor's current item."""
    cursor = TypedList(region.out, region.object(node.inputs[0]).ir, int64)
    position = cursor.load("0") - 1
    region.body.record_range(position, LENGTH_RANGE)
    region.set(node.results[0], position)


@data_sized_lowering("typed_list_row")
def _write_row(region: LoweringContext, node: Node) -> None:
    """Load an item of a Python list of typed lists."""
    out, rows = region.out, region.object(node.inputs[0]).ir
    count, items = (
        out.load(ir_type, out.gep("i8", rows, offset), _LIST_ALIAS)
        for ir_type, offset in (("i64", abi.LIST_COUNT), ("ptr", abi.LIST_ITEMS))
    )
    index = normalise_index(region, node, node.inputs[1], count)
    item = out.load("ptr", out.gep("ptr", items, index))
    out.call("retain", item)
    region.set(node.results[0], region.body.own_reference(item))
