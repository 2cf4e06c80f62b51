"""Lower typed lists of numbers (see ops/lists/typed_lists.py): items are read and written in place."""

from __future__ import annotations

from typing import Any

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.memory.ops import position_of
from autoconv.backends.llvm.codegen.registry import counted
from autoconv.backends.llvm.codegen.routine import Routine
from autoconv.backends.llvm.codegen.values import Object, RegisterWriter
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter
from autoconv.backends.llvm.ir.types import memory
from autoconv.backends.llvm.target import abi
from autoconv.graph.dtypes import DType, bool_, int64
from autoconv.graph.graph import Node

_LIST, _ITEMS = ", !tbaa !5", ", !tbaa !6"  # alias classes of lists and of their items (see text.METADATA)


class TypedList:
    """A typed list in native code."""

    def __init__(self, out: FunctionText, ir: str, dtype: DType) -> None:
        self.out, self.ir, self.dtype = out, ir, dtype

    def size(self) -> str:
        """Return the size in bytes."""
        return self.out.load("i64", self._at(abi.BYTE_COUNT), _LIST)

    def set_size(self, size: str) -> None:
        self.out.store("i64", size, self._at(abi.BYTE_COUNT), _LIST)

    def length(self) -> str:
        shift = self.dtype.size.bit_length() - 1
        return self.out.op("lshr exact", self.size(), shift) if shift else self.size()

    def start(self) -> str:
        return self.out.load("ptr", self._at(abi.BYTE_START), _LIST)

    def end_of_memory(self) -> str:
        first = self.out.load("ptr", self._at(abi.BYTE_MEMORY), _LIST)
        room = self.out.load("i64", self._at(abi.BYTE_ROOM), _LIST)
        return self.out.gep("i8", first, room, inbounds=False)

    def get(self, index: Position) -> Element:
        return get(self.out, self.start(), index, self.dtype)

    def put(self, index: Position, item: Element) -> None:
        put(self.out, self.start(), index, item)

    def _at(self, offset: int) -> str:
        return self.out.gep("i8", self.ir, offset)


def get(out: FunctionText, start: str, index: Position, dtype: DType) -> Element:
    place = out.gep(memory(dtype), start, index)
    return ElementWriter(out).from_memory(out.load(memory(dtype), place, _ITEMS), dtype)


def put(out: FunctionText, start: str, index: Position, item: Element) -> None:
    kind, ir = memory(item.dtype), item.b.to_memory(item)
    place = out.gep(kind, start, index)
    out.store(kind, ir, place, _ITEMS)


def _is_native(node: Node) -> bool:
    return True


def dtype_of(node: Node) -> DType:
    element: Any = node.attributes["element"]
    result: DType = element.dtype
    return result


def list_of(region: LoweringContext, node: Node) -> TypedList:
    return TypedList(region.out, region.object(node.inputs[0]).ir, dtype_of(node))


def new_list(region: LoweringContext, size: str) -> Object:
    """Make an uninitialised list of `size` bytes."""
    result = region.out.call_c("PyByteArray_FromStringAndSize", "ptr", "ptr, i64", "null", size)
    region.body.check(region.out.is_null(result))
    return region.body.own(result)


@counted("typed_list_make", fits=_is_native)
def _write_make(region: LoweringContext, node: Node) -> None:
    dtype = dtype_of(node)
    items = new_list(region, str(dtype.size * len(node.inputs)))
    if node.inputs:
        start = TypedList(region.out, items.ir, dtype).start()
        for i, value in enumerate(node.inputs):
            put(region.out, start, str(i), region.number(value))
    region.set(node.results[0], items)


@counted("typed_list_repeat", fits=_is_native)
def _write_repeat(region: LoweringContext, node: Node) -> None:
    out, x = region.out, list_of(region, node)
    count = RegisterWriter(region).cast(region.number(node.inputs[1]), int64)
    size = x.size()
    none = out.icmp("slt", count.ir, 0)
    times = out.select(none, 0, count.ir)
    both = out.call_c("llvm.umul.with.overflow.i64", "{ i64, i1 }", "i64, i64", size, times)
    total = out.part(both, 0)
    beyond = out.icmp("ugt", total, 1 << 46)
    region.refuse(node, out.or_(beyond, out.part(both, 1)))
    items = new_list(region, total)
    target = TypedList(out, items.ir, x.dtype).start()
    routine = _repeat_routine(region, x.dtype)
    out.call(routine, target, x.start(), size, times)
    region.set(node.results[0], items)


def _repeat_routine(region: LoweringContext, dtype: DType) -> str:
    """Return a function that repeats items `%times` times."""
    routine = Routine(region, ["ptr noalias %target", "ptr noalias %source", "i64 %size", "i64 %times"])
    out = routine.out

    def one() -> None:
        item = get(out, "%source", "0", dtype)
        with out.loop("0", "%times") as i:
            put(out, "%target", i, item)

    def several() -> None:
        with out.loop("0", "%times") as i:
            place = out.gep("i8", "%target", out.op("mul", i, "%size"), inbounds=False)
            out.copy(place, "%source", "%size")

    out.either(out.icmp("eq", "%size", dtype.size), one, several)
    return routine.finish()


@counted("typed_list_length", fits=_is_native)
def _write_length(region: LoweringContext, node: Node) -> None:
    length = RegisterWriter(region).wrap(int64, list_of(region, node).length())
    region.body.note_range(length, (0, 1 << 60))
    region.set(node.results[0], length)


@counted("typed_list_get", fits=_is_native)
def _write_get(region: LoweringContext, node: Node) -> None:
    x = list_of(region, node)
    index = position_of(region, node, node.inputs[1], x.length())
    region.set(node.results[0], x.get(index))


@counted("typed_list_set", fits=_is_native)
def _write_set(region: LoweringContext, node: Node) -> None:
    x = list_of(region, node)
    index = position_of(region, node, node.inputs[1], x.length())
    x.put(index, region.number(node.inputs[2]))


@counted("typed_list_append", fits=_is_native)
def _write_append(region: LoweringContext, node: Node) -> None:
    out, x = region.out, list_of(region, node)
    size, step = x.size(), x.dtype.size
    after = out.op("add", size, step)
    # One byte more: a bytearray ends with a zero, which other code may write.
    needed = out.gep("i8", x.start(), out.op("add", after, 1), inbounds=False)
    with out.unlikely(out.icmp("ugt", needed, x.end_of_memory())):
        region.body.check(out.call("grow_bytes", x.ir, step + 1))
    place = out.gep("i8", x.start(), size, inbounds=False)
    put(out, place, "0", region.number(node.inputs[1]))
    x.set_size(after)


@counted("typed_list_pop", fits=_is_native)
def _write_pop(region: LoweringContext, node: Node) -> None:
    out, x = region.out, list_of(region, node)
    size, step = x.size(), x.dtype.size
    region.refuse(node, out.icmp("eq", size, 0))
    less = out.op("sub", size, step)
    if len(node.inputs) == 1:
        place = out.gep("i8", x.start(), less, inbounds=False)
        region.set(node.results[0], get(out, place, "0", x.dtype))
        x.set_size(less)
        return
    index = position_of(region, node, node.inputs[1], x.length())
    item = x.get(index)
    offset = out.op("mul", index, step)
    place = out.gep("i8", x.start(), offset, inbounds=False)
    rest = out.gep("i8", place, step, inbounds=False)
    moved = out.op("sub", less, offset)
    out.move(place, rest, moved)
    x.set_size(less)
    region.set(node.results[0], item)


@counted("typed_list_clear", fits=_is_native)
def _write_clear(region: LoweringContext, node: Node) -> None:
    list_of(region, node).set_size("0")


# ---- iteration: a cursor is a list of two numbers, the next position and the current item


@counted("typed_list_cursor", fits=_is_native)
def _write_cursor(region: LoweringContext, node: Node) -> None:
    items = new_list(region, "16")
    put(region.out, TypedList(region.out, items.ir, int64).start(), "0", region.number(node.inputs[0]))
    region.set(node.results[0], items)


@counted("typed_list_advance", fits=_is_native)
def _write_advance(region: LoweringContext, node: Node) -> None:
    out, x, b = region.out, list_of(region, node), RegisterWriter(region)
    cell = TypedList(out, region.object(node.inputs[1]).ir, int64).start()
    position = get(out, cell, "0", int64)
    more = b.wrap(bool_, out.icmp("slt", position.ir, x.length()))
    put(out, cell, "0", b.select(more, position + 1, (1 << 63) - 1))
    with out.if_(more.ir):
        put(out, out.gep("i8", cell, 8, inbounds=False), "0", x.get(position.ir))
    region.set(node.results[0], more)


@counted("typed_list_current", fits=_is_native)
def _write_current(region: LoweringContext, node: Node) -> None:
    out = region.out
    cell = TypedList(out, region.object(node.inputs[0]).ir, int64).start()
    region.set(node.results[0], get(out, out.gep("i8", cell, 8, inbounds=False), "0", dtype_of(node)))


@counted("typed_list_position", fits=_is_native)
def _write_position(region: LoweringContext, node: Node) -> None:
    cell = TypedList(region.out, region.object(node.inputs[0]).ir, int64)
    position = cell.get("0") - 1
    region.body.note_range(position, (0, 1 << 60))
    region.set(node.results[0], position)


@counted("typed_list_row", fits=_is_native)
def _write_row(region: LoweringContext, node: Node) -> None:
    out, rows = region.out, region.object(node.inputs[0]).ir
    count, items = (
        out.load(kind, out.gep("i8", rows, offset), _LIST)
        for kind, offset in (("i64", abi.LIST_COUNT), ("ptr", abi.LIST_ITEMS))
    )
    index = position_of(region, node, node.inputs[1], count)
    item = out.load("ptr", out.gep("ptr", items, index))
    out.call("retain", item)
    region.set(node.results[0], region.body.own(item))
