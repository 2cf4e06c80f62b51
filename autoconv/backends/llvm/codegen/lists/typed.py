"""Lower typed lists (see ops/lists/typed_lists.py), whose items are read and written in place.

An item is a list of elements: one number, or the numbers of a tuple.
"""

from __future__ import annotations

from collections.abc import Sequence

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
from autoconv.graph.types import TensorType
from autoconv.ops.lists.item_layout import FIELD_SIZE, ItemType, fields, item_size

LENGTH_RANGE = (0, 1 << 60)  # range of the lengths of lists
BYTES_LIMIT = 1 << 46  # larger lists are left to the kernel, which raises an error
_POSITION = TensorType(int64)
_LIST_ALIAS, _ITEM_ALIAS = ", !tbaa !5", ", !tbaa !6"  # alias classes of lists and their items (see ir/metadata.py)


class TypedList:
    """A writer of accesses to a typed list of items of type `item`, the bytearray at the address in register `ir`."""

    def __init__(self, out: FunctionText, ir: str, item: ItemType) -> None:
        self.out, self.ir, self.item, self.item_size = out, ir, item, item_size(item)

    def size(self) -> str:
        """Return the size in bytes."""
        return self.out.load("i64", self._field_address(abi.BYTE_COUNT), _LIST_ALIAS)

    def set_size(self, size: str) -> None:
        self.out.store("i64", size, self._field_address(abi.BYTE_COUNT), _LIST_ALIAS)

    def length(self) -> str:
        """Return the number of items."""
        shift = self.item_size.bit_length() - 1
        if self.item_size > 1 << shift:
            return self.out.op("udiv exact", self.size(), self.item_size)
        return self.out.op("lshr exact", self.size(), shift) if shift else self.size()

    def start(self) -> str:
        """Return the address of the first item."""
        return self.out.load("ptr", self._field_address(abi.BYTE_START), _LIST_ALIAS)

    def set_start(self, start: str) -> None:
        self.out.store("ptr", start, self._field_address(abi.BYTE_START), _LIST_ALIAS)

    def start_of_memory(self) -> str:
        """Return the address of the allocated memory, in which the first item may have a later place."""
        return self.out.load("ptr", self._field_address(abi.BYTE_MEMORY), _LIST_ALIAS)

    def end_of_memory(self) -> str:
        """Return the address of the end of the allocated memory."""
        first = self.start_of_memory()
        capacity = self.out.load("i64", self._field_address(abi.BYTE_CAPACITY), _LIST_ALIAS)
        return self.out.gep("i8", first, capacity, inbounds=False)

    def load(self, index: Position) -> list[Element]:
        return load_item(self.out, self.start(), index, self.item)

    def store(self, index: Position, elements: Sequence[Element]) -> None:
        store_item(self.out, self.start(), index, elements, self.item)

    def _field_address(self, offset: int) -> str:
        return self.out.gep("i8", self.ir, offset)


def load_item(out: FunctionText, start: str, index: Position, item: ItemType) -> list[Element]:
    """Load the numbers of the item at an index."""
    b = ElementWriter(out)
    return [
        b.from_memory(out.load(memory_type(dtype), address, _ITEM_ALIAS), dtype)
        for address, dtype in _addresses(out, start, index, item)
    ]


def store_item(out: FunctionText, start: str, index: Position, elements: Sequence[Element], item: ItemType) -> None:
    """Store the numbers of an item at an index."""
    for element, (address, dtype) in zip(elements, _addresses(out, start, index, item), strict=True):
        out.store(memory_type(dtype), element.b.to_memory(element), address, _ITEM_ALIAS)


def _addresses(out: FunctionText, start: str, index: Position, item: ItemType) -> list[tuple[str, DType]]:
    """Return the address and the dtype of each number of the item at an index."""
    if isinstance(item, TensorType):
        return [(out.gep(memory_type(item.dtype), start, index), item.dtype)]
    address = out.gep(f"[{item_size(item)} x i8]", start, index)
    return [
        (out.gep("i8", address, FIELD_SIZE * i) if i else address, field.dtype) for i, field in enumerate(fields(item))
    ]


def item_of(node: Node) -> ItemType:
    """Return the type of a typed list's items."""
    result: ItemType = node.attributes["element"]
    return result


def dtype_of(node: Node) -> DType:
    """Return the dtype of a typed list's items, which are numbers."""
    item = item_of(node)
    assert isinstance(item, TensorType)
    return item.dtype


def set_item(region: LoweringContext, node: Node, elements: Sequence[Element]) -> None:
    """Define the node's results, the numbers of an item."""
    for value, element in zip(node.results, elements, strict=True):
        region.set(value, element)


def typed_operand(region: LoweringContext, node: Node) -> TypedList:
    """Return the typed list that is a node's first operand."""
    return TypedList(region.out, region.object(node.inputs[0]).ir, item_of(node))


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
    out = x.out
    new_size, offset = out.op("sub", x.size(), x.item_size), out.op("mul", index, x.item_size)
    address = out.gep("i8", x.start(), offset, inbounds=False)
    out.move(address, out.gep("i8", address, x.item_size, inbounds=False), out.op("sub", new_size, offset))
    x.set_size(new_size)


@data_sized_lowering("typed_list_make")
def _write_make(region: LoweringContext, node: Node) -> None:
    """Write a new list of the node's inputs."""
    item, numbers = item_of(node), [region.number(value) for value in node.inputs]
    width = len(fields(item))
    count = len(numbers) // width
    result = new_list(region, str(item_size(item) * count))
    if numbers:
        start = TypedList(region.out, result.ir, item).start()
        for i in range(count):
            store_item(region.out, start, str(i), numbers[i * width : (i + 1) * width], item)
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
    target = TypedList(out, result.ir, x.item).start()
    routine = _repeat_routine(region, x.item)
    out.call(routine, target, x.start(), size, repeats)
    region.set(node.results[0], result)


def _repeat_routine(region: LoweringContext, item: ItemType) -> str:
    """Return the name of a function that stores `%size` bytes of items `%times` times at `%target`."""
    routine = Routine(region, ["ptr noalias %target", "ptr noalias %source", "i64 %size", "i64 %times"])
    out = routine.out

    def repeat_item() -> None:
        elements = load_item(out, "%source", "0", item)
        with out.loop("0", "%times") as i:
            store_item(out, "%target", i, elements, item)

    def copy_items() -> None:
        with out.loop("0", "%times") as i:
            address = out.gep("i8", "%target", out.op("mul", i, "%size"), inbounds=False)
            out.copy(address, "%source", "%size")

    out.either(out.icmp("eq", "%size", item_size(item)), repeat_item, copy_items)
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
    set_item(region, node, x.load(index))


@data_sized_lowering("typed_list_set")
def _write_set(region: LoweringContext, node: Node) -> None:
    """Write the store of an item."""
    x = typed_operand(region, node)
    index = normalise_index(region, node, node.inputs[1], x.length())
    x.store(index, [region.number(value) for value in node.inputs[2:]])


@data_sized_lowering("typed_list_append")
def _write_append(region: LoweringContext, node: Node) -> None:
    """Write an append, which allocates more memory if necessary."""
    x = typed_operand(region, node)
    append_item(region, x, [region.number(value) for value in node.inputs[1:]])


def append_item(region: LoweringContext, x: TypedList, elements: Sequence[Element]) -> None:
    """Append the elements of one item, in place."""
    out, size = region.out, x.size()
    new_size = out.op("add", size, x.item_size)
    reserve(region, x, new_size)
    address = out.gep("i8", x.start(), size, inbounds=False)
    store_item(out, address, "0", elements, x.item)
    x.set_size(new_size)


@data_sized_lowering("typed_list_pop")
def _write_pop(region: LoweringContext, node: Node) -> None:
    """Write the removal of the last item, or of the item at an index."""
    out, x = region.out, typed_operand(region, node)
    size = x.size()
    region.raise_if(node, out.icmp("eq", size, 0))
    if len(node.inputs) == 1:
        new_size = out.op("sub", size, x.item_size)
        address = out.gep("i8", x.start(), new_size, inbounds=False)
        set_item(region, node, load_item(out, address, "0", x.item))
        x.set_size(new_size)
        return
    index = normalise_index(region, node, node.inputs[1], x.length())
    elements = x.load(index)
    remove_item(x, index)
    set_item(region, node, elements)


@data_sized_lowering("typed_list_clear")
def _write_clear(region: LoweringContext, node: Node) -> None:
    typed_operand(region, node).set_size("0")


# ---- iteration: a cursor is the next position, 8 bytes, and the current item


@data_sized_lowering("typed_list_cursor")
def _write_cursor(region: LoweringContext, node: Node) -> None:
    """Write a new cursor; the node's operand is its first position."""
    cursor = new_list(region, str(8 + max(8, item_size(item_of(node)))))
    TypedList(region.out, cursor.ir, _POSITION).store("0", [region.number(node.inputs[0])])
    region.set(node.results[0], cursor)


@data_sized_lowering("typed_list_advance")
def _write_advance(region: LoweringContext, node: Node) -> None:
    """Write the step of a cursor to the next item, whose existence is the result: False at the end of the list."""
    out, x, b = region.out, typed_operand(region, node), RegisterWriter(region)
    cursor = TypedList(out, region.object(node.inputs[1]).ir, _POSITION).start()
    (position,) = load_item(out, cursor, "0", _POSITION)
    has_next = b.wrap(bool_, out.icmp("slt", position.ir, x.length()))
    # At the end, the position becomes the greatest: a finished iteration yields no items that are appended later.
    store_item(out, cursor, "0", [b.select(has_next, position + 1, (1 << 63) - 1)], _POSITION)
    with out.if_(has_next.ir):
        store_item(out, out.gep("i8", cursor, 8, inbounds=False), "0", x.load(position.ir), x.item)
    region.set(node.results[0], has_next)


@data_sized_lowering("typed_list_current")
def _write_current(region: LoweringContext, node: Node) -> None:
    """Load the current item of a cursor, to which the latest step moved."""
    out = region.out
    cursor = TypedList(out, region.object(node.inputs[0]).ir, _POSITION).start()
    set_item(region, node, load_item(out, out.gep("i8", cursor, 8, inbounds=False), "0", item_of(node)))


@data_sized_lowering("typed_list_position")
def _write_position(region: LoweringContext, node: Node) -> None:
    """Load the position of a cursor's current item."""
    (position,) = TypedList(region.out, region.object(node.inputs[0]).ir, _POSITION).load("0")
    position = position - 1
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
