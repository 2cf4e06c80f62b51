"""Lower removals from typed dicts and sets (see ops/lists/set_tables.py).

In a set, the last entry takes the place of a removed one. In a dict, whose entries keep their order, a removed entry
that is not the last one leaves a hole: no slot has its number. `compact` closes the holes before a traversal, and when
they are most of the entries.
"""

from __future__ import annotations

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.lists.hashed import (
    Index,
    find_key,
    find_slot_function,
    is_entry,
    keys_of,
    write_update,
)
from autoconv.backends.llvm.codegen.lists.typed import (
    TypedList,
    load_item,
    set_item,
    store_item,
    typed_operand,
)
from autoconv.backends.llvm.codegen.registry import data_sized_lowering
from autoconv.backends.llvm.codegen.routine import Routine
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.operand import TRUE
from autoconv.backends.llvm.ir.types import register
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node
from autoconv.graph.types import TensorType
from autoconv.ops.lists.item_layout import ItemType, fields
from autoconv.ops.lists.set_tables import (
    COUNT,
    FILL,
    FINGER,
    HOLES,
    MASK,
    MIN_SLOTS,
    REMOVALS,
    REMOVED,
    SLOT_SIZE,
)

_MAX_FEW_HOLES = 16  # a dict with no more holes than these, and its entries, is not compacted


def _index_of(out: FunctionText, index_list: str) -> Index:
    return Index(out, TypedList(out, index_list, TensorType(int64)).start())


def _remove_function(region: LoweringContext, element: ItemType, key: ItemType, is_dict: bool) -> str:
    """Return the name of a function that removes the entry in a slot.

    It returns the position at which the entry's numbers are until the next change.
    """
    routine = Routine(region, ["ptr %entry_list", "ptr %index_list", "i64 %slot"], "i64")
    out = routine.out
    entries, index = TypedList(out, "%entry_list", element), _index_of(out, "%index_list")
    position, last = out.op("sub", index.entry_number("%slot"), 1), out.op("sub", entries.length(), 1)
    index.set_entry_number("%slot", str(REMOVED - (1 << 32)))
    index.add_to(REMOVALS, 1)

    def shorten() -> None:
        entries.set_size(out.op("mul", last, entries.item_size))
        index.set_field(COUNT, last)

    if is_dict:
        out.either(out.icmp("eq", position, last), shorten, lambda: index.add_to(HOLES, 1))
        return routine.finish(f"ret i64 {position}")
    with out.if_(out.icmp("ne", position, last)):
        moved, removed = entries.load(last), entries.load(position)
        find_slot = find_slot_function(region, element, key)
        numbers = [number.ir for number in moved[: len(fields(key))]]
        moved_slot = out.call(find_slot, entries.start(), index.start, *numbers)
        index.set_entry_number(moved_slot, out.cast("trunc", out.op("add", position, 1), "i32"))
        entries.store(position, moved)
        entries.store(last, removed)
    shorten()
    return routine.finish(f"ret i64 {last}")


def _compact_function(region: LoweringContext, element: ItemType, key: ItemType) -> str:
    """Return the name of a routine that closes the holes of a dict whose index is up to date, and empties the index."""
    routine = Routine(region, ["ptr %entry_list", "ptr %index_list"])
    out = routine.out
    entries, index = TypedList(out, "%entry_list", element), _index_of(out, "%index_list")
    find_slot, start, cell = find_slot_function(region, element, key), entries.start(), out.alloca("i64", "0")
    with out.loop("0", entries.length(), unrolled=False) as position:
        entry = load_item(out, start, position, element)
        slot = out.call(find_slot, start, index.start, *(number.ir for number in entry[: len(fields(key))]))
        with out.if_(out.icmp("sge", slot, 0)), out.if_(
            out.icmp("eq", index.entry_number(slot), out.op("add", position, 1))
        ):
            count = out.load("i64", cell)
            store_item(out, start, count, entry, element)
            out.store("i64", out.op("add", count, 1), cell)
    entries.set_size(out.op("mul", out.load("i64", cell), entries.item_size))
    out.clear(index.slots, out.op("mul", out.op("add", index.field(MASK), 1), SLOT_SIZE))
    for field in (COUNT, FILL, HOLES):
        index.set_field(field, "0")
    return routine.finish()


def _write_compaction(region: LoweringContext, node: Node, least_holes: str = "1") -> tuple[TypedList, Index]:
    """Close the holes of a dict if it has as many; return its entries and its index, which are up to date."""
    out, (entries, index_list) = region.out, write_update(region, node)
    index = _index_of(out, index_list.ir)
    with out.unlikely(out.icmp("uge", index.field(HOLES), least_holes)):
        out.call(_compact_function(region, entries.item, keys_of(node)), entries.ir, index_list.ir)
        write_update(region, node)
    return entries, _index_of(out, index_list.ir)


@data_sized_lowering("typed_dict_compact")
def _write_compact(region: LoweringContext, node: Node) -> None:
    _write_compaction(region, node)


@data_sized_lowering("typed_dict_length")
def _write_length(region: LoweringContext, node: Node) -> None:
    """Write the number of entries without the holes."""
    out, entries = region.out, typed_operand(region, node)
    index = _index_of(out, region.object(node.inputs[1]).ir)
    length = out.op("sub", entries.length(), index.field(HOLES))
    region.set(node.results[0], RegisterWriter(region).wrap(int64, length))


@data_sized_lowering("typed_dict_removals")
def _write_removals(region: LoweringContext, node: Node) -> None:
    count = _index_of(region.out, region.object(node.inputs[1]).ir).field(REMOVALS)
    region.set(node.results[0], RegisterWriter(region).wrap(int64, count))


@data_sized_lowering("typed_dict_remove")
def _write_remove(region: LoweringContext, node: Node) -> None:
    """Write the removal of a key; its value, or the default, is the result of `pop`."""
    out, b, is_dict = region.out, RegisterWriter(region), node.attributes["has_values"]
    element, key = node.attributes["element"], keys_of(node)
    if is_dict:
        half = out.op("lshr", typed_operand(region, node).length(), 1)
        _write_compaction(region, node, out.op("add", half, _MAX_FEW_HOLES))
    entries, index_list, slot = find_key(region, node, returns_slot=True)
    defaults = [region.number(value) for value in node.inputs[2 + len(fields(key)) :]]
    remove = _remove_function(region, element, key, is_dict)
    if node.attributes["is_checked"] and not defaults:
        region.raise_and_leave_if(node, out.icmp("slt", slot, 0))
    cells = [out.alloca(register(default.dtype)) for default in defaults]
    for cell, default in zip(cells, defaults, strict=True):
        out.store(register(default.dtype), default.ir, cell)
    with out.if_(out.icmp("sge", slot, 0) if defaults or not node.attributes["is_checked"] else TRUE):
        position = out.call(remove, entries.ir, index_list.ir, slot)
        for cell, number in zip(cells, entries.load(position)[len(fields(key)) :], strict=False):
            out.store(register(number.dtype), number.ir, cell)
        if node.results and not defaults:
            set_item(region, node, entries.load(position)[len(fields(key)) :])
    if node.results and defaults:
        loads = [b.wrap(x.dtype, out.load(register(x.dtype), cell)) for x, cell in zip(defaults, cells, strict=True)]
        set_item(region, node, loads)


def _last_slot_function(region: LoweringContext, element: ItemType, key: ItemType) -> str:
    """Return the name of a function that drops the holes at the end of a dict, which has entries.

    It returns the slot of the last entry.
    """
    routine = Routine(region, ["ptr %entry_list", "ptr %index_list"], "i64")
    out = routine.out
    entries, index = TypedList(out, "%entry_list", element), _index_of(out, "%index_list")
    find_slot = find_slot_function(region, element, key)
    with out.while_(lambda: TRUE):
        count = entries.length()
        last = out.op("sub", count, 1)
        numbers = [number.ir for number in entries.load(last)[: len(fields(key))]]
        slot = out.call(find_slot, entries.start(), index.start, *numbers)
        is_found = out.icmp("sge", slot, 0)
        number = out.where(is_found, lambda: index.entry_number(slot), 0)
        with out.leaving(out.icmp("eq", number, count)):
            out.ret(slot)
        entries.set_size(out.op("mul", last, entries.item_size))
        index.set_field(COUNT, last)
        index.add_to(HOLES, -1)
    return routine.finish("ret i64 -1")


def _finger_slot_function(region: LoweringContext) -> str:
    """Return the name of a function that moves the finger of a set, which has entries, behind the next one.

    It returns the slot of that entry.
    """
    routine = Routine(region, ["ptr %index_list"], "i64")
    out = routine.out
    index = _index_of(out, "%index_list")
    mask = index.field(MASK)
    cell = out.alloca("i64")
    out.store("i64", out.op("and", index.field(FINGER), mask), cell)
    with out.while_(lambda: TRUE):
        slot = out.load("i64", cell)
        next_slot = out.op("add", slot, 1)
        with out.leaving(is_entry(out, index.entry_number(slot))):
            index.set_field(FINGER, next_slot)
            out.ret(slot)
        out.store("i64", out.op("and", next_slot, mask), cell)
    return routine.finish("ret i64 -1")


@data_sized_lowering("typed_dict_popitem")
def _write_popitem(region: LoweringContext, node: Node) -> None:
    """Write the removal of the last entry of a dict, or of the next one of a set; the kernel raises for none."""
    out, (entries, index_list) = region.out, write_update(region, node)
    element, key, is_dict = entries.item, keys_of(node), node.attributes["has_values"]
    holes = _index_of(out, index_list.ir).field(HOLES)
    region.raise_and_leave_if(node, out.icmp("eq", entries.length(), holes))
    if is_dict:
        slot = out.call(_last_slot_function(region, element, key), entries.ir, index_list.ir)
    else:
        slot = out.call(_finger_slot_function(region), index_list.ir)
    position = out.call(_remove_function(region, element, key, is_dict), entries.ir, index_list.ir, slot)
    set_item(region, node, entries.load(position))


@data_sized_lowering("typed_dict_clear")
def _write_clear(region: LoweringContext, node: Node) -> None:
    """Write the removal of all entries; the finger stays."""
    out, entries = region.out, typed_operand(region, node)
    index = _index_of(out, region.object(node.inputs[1]).ir)
    entries.set_size("0")
    out.clear(index.slots, str(MIN_SLOTS * SLOT_SIZE))
    index.set_field(MASK, str(MIN_SLOTS - 1))
    for field in (COUNT, FILL, HOLES):
        index.set_field(field, "0")
    index.add_to(REMOVALS, 1)
