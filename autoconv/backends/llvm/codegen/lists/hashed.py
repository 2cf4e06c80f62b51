"""Lower typed dicts and sets (see ops/lists/typed_dicts.py): searches in the index of their keys.

The index has the hashes, the slots and the sizes of CPython's sets, so that its order is that of a set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import NamedTuple

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.lists.typed import (
    TypedList,
    append_item,
    load_item,
    new_list,
    set_item,
    store_item,
    typed_operand,
)
from autoconv.backends.llvm.codegen.registry import data_sized_lowering
from autoconv.backends.llvm.codegen.routine import Routine
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position
from autoconv.backends.llvm.ir.operand import FALSE, TRUE
from autoconv.backends.llvm.ir.types import register
from autoconv.graph.dtypes import bool_, int64
from autoconv.graph.graph import Node
from autoconv.graph.types import TensorType
from autoconv.ops.lists.item_layout import ItemType, fields
from autoconv.ops.lists.set_tables import (
    COUNT,
    FILL,
    FREE,
    HOLES,
    INDEX_HEADER,
    LARGE_SET,
    LINEAR_PROBES,
    MASK,
    MIN_SLOTS,
    PERTURB_SHIFT,
    REMOVALS,
    REMOVED,
    SLOT_SIZE,
)
from autoconv.ops.lists.typed_dicts import key_type

# Constants of CPython's hashes of ints and tuples.
_INT_MODULUS = (1 << 61) - 1
_TUPLE_PRIMES = (11400714785074694791, 14029467366897019727, 2870177450012600261)
_TUPLE_ROTATION, _TUPLE_LENGTH_MASK, _TUPLE_HASH_OF_ERROR = 31, 3527539, 1546275796


def _signed(number: int) -> int:
    """Return the signed integer with the 64 bits of an unsigned one."""
    return number - (1 << 64) if number >= 1 << 63 else number


def _write_hash(out: FunctionText, numbers: Sequence[str], item: ItemType) -> str:
    """Write Python's hash of an int or of a tuple of ints."""
    remaining = iter(numbers)

    def hash_of(item: ItemType) -> str:
        """Write the hash of the next numbers, which are an item of this type."""
        if isinstance(item, TensorType):
            return _write_hash_of_int(out, next(remaining))
        first_prime, second_prime, last_prime = _TUPLE_PRIMES
        total: str | int = last_prime
        for item_type in item.items:
            total = out.op("add", out.op("mul", hash_of(item_type), _signed(second_prime)), total)  # type: ignore[arg-type]
            total = out.intrinsic("fshl", total, total, _TUPLE_ROTATION)
            total = out.op("mul", total, _signed(first_prime))
        total = out.op("add", total, len(item.items) ^ (last_prime ^ _TUPLE_LENGTH_MASK))
        return str(out.select(out.icmp("eq", total, -1), _TUPLE_HASH_OF_ERROR, total))

    return hash_of(item)


def _write_hash_of_int(out: FunctionText, number: str) -> str:
    """Write the remainder by 2 ** 61 - 1, with the number's sign; -1 becomes -2."""
    is_negative = out.icmp("slt", number, 0)
    magnitude = out.select(is_negative, out.op("sub", 0, number), number)
    folded = out.op("add", out.op("and", magnitude, _INT_MODULUS), out.op("lshr", magnitude, 61))
    is_beyond = out.icmp("uge", folded, _INT_MODULUS)
    remainder = out.select(is_beyond, out.op("sub", folded, _INT_MODULUS), folded)
    result = out.select(is_negative, out.op("sub", 0, remainder), remainder)
    return str(out.select(out.icmp("eq", result, -1), -2, result))


class Index:
    """A writer of accesses to the index whose bytes begin at `start`."""

    def __init__(self, out: FunctionText, start: str) -> None:
        self.out, self.start = out, start
        self.slots = out.gep("i8", start, INDEX_HEADER)

    def field(self, position: int) -> str:
        """Return a number of the header."""
        return self.out.load("i64", self.out.gep("i64", self.start, position))

    def set_field(self, position: int, number: str) -> None:
        self.out.store("i64", number, self.out.gep("i64", self.start, position))

    def add_to(self, position: int, number: Position) -> None:
        """Add to a number of the header."""
        self.set_field(position, self.out.op("add", self.field(position), number))

    def entry_number(self, slot: str) -> str:
        """Return the number of the entry in a slot, from 1, or else FREE or REMOVED."""
        return self.out.cast("zext", self.out.load("i32", self.out.gep("i32", self.slots, slot)), "i64")

    def set_entry_number(self, slot: str, number: str) -> None:
        self.out.store("i32", number, self.out.gep("i32", self.slots, slot))

    def probe(self, hash_: str, visit: Callable[[str, str], None]) -> None:
        """Write a loop over the slots of a hash; `visit` gets a slot and its entry number, and leaves the function."""
        out, mask = self.out, self.field(MASK)
        base, offset, perturb = out.alloca("i64"), out.alloca("i64", "0"), out.alloca("i64")
        out.store("i64", hash_, perturb)
        out.store("i64", out.op("and", hash_, mask), base)

        def jump() -> None:
            """Continue at the next base of CPython's probe sequence, which mixes in more bits of the hash."""
            out.store("i64", out.op("lshr", out.load("i64", perturb), PERTURB_SHIFT), perturb)
            next_base = out.op("add", out.op("mul", out.load("i64", base), 5), 1)
            next_base = out.op("add", next_base, out.load("i64", perturb))
            out.store("i64", out.op("and", next_base, mask), base)
            out.store("i64", "0", offset)

        with out.while_(lambda: TRUE):
            first, step = out.load("i64", base), out.load("i64", offset)
            slot = out.op("add", first, step)
            visit(slot, self.entry_number(slot))
            has_run = out.icmp("ule", out.op("add", first, LINEAR_PROBES), mask)
            is_in_run = out.icmp("ult", step, out.select(has_run, LINEAR_PROBES, 0))
            out.either(is_in_run, lambda: out.store("i64", out.op("add", step, 1), offset), jump)


def keys_of(node: Node) -> ItemType:
    """Return the type of the keys of the dict or set that a node uses."""
    return key_type(node.attributes["element"], node.attributes.get("has_values", False))


def is_entry(out: FunctionText, number: str) -> str:
    """Return the i1 of whether a slot with this number has an entry."""
    return out.op("and", out.icmp("ne", number, FREE), out.icmp("ne", number, REMOVED))


def find_slot_function(region: LoweringContext, element: ItemType, key: ItemType) -> str:
    """Return the name of a function that returns the slot of the entry with a key, or -1."""
    return find_function(region, element, key, returns_slot=True)


def find_function(region: LoweringContext, element: ItemType, key: ItemType, returns_slot: bool = False) -> str:
    """Return the name of a function that returns the position of the entry with a key, or its slot; -1 for none."""
    names = [f"%key{i}" for i in range(len(fields(key)))]
    routine = Routine(region, ["ptr readonly %entries", "ptr readonly %index", *(f"i64 {x}" for x in names)], "i64")
    out = routine.out

    def visit(slot: str, number: str) -> None:
        """Leave with -1 for a free slot, or with the position or the slot of an equal key."""
        with out.leaving(out.icmp("eq", number, FREE)):
            out.ret("-1")
        with out.if_(out.icmp("ne", number, REMOVED)):
            position = out.op("sub", number, 1)
            numbers = load_item(out, "%entries", position, element)[: len(names)]
            flags = [out.icmp("eq", name, found.ir) for name, found in zip(names, numbers, strict=True)]
            with out.leaving(reduce(lambda x, y: out.op("and", x, y), flags)):
                out.ret(slot if returns_slot else position)

    Index(out, "%index").probe(_write_hash(out, names, key), visit)
    return routine.finish("ret i64 -1")


def _place_function(region: LoweringContext, element: ItemType, key: ItemType) -> str:
    """Return the name of a routine that puts an entry, whose key is not in the index, into its slot.

    That is the last removed slot on the way to a free one, or else the free one.
    """
    routine = Routine(region, ["ptr readonly %entries", "ptr %index", "i64 %position"])
    out = routine.out
    index, removed_slot = Index(out, "%index"), out.alloca("i64", "-1")

    def visit(slot: str, number: str) -> None:
        """Leave with the entry in its slot if this slot is free."""
        with out.if_(out.icmp("eq", number, REMOVED)):
            out.store("i64", slot, removed_slot)
        with out.leaving(out.icmp("eq", number, FREE)):
            reused_slot = out.load("i64", removed_slot)
            has_none = out.icmp("slt", reused_slot, 0)
            new_number = out.cast("trunc", out.op("add", "%position", 1), "i32")
            index.set_entry_number(out.select(has_none, slot, reused_slot), new_number)
            index.add_to(FILL, out.cast("zext", has_none, "i64"))
            out.line("ret void")

    numbers = [number.ir for number in load_item(out, "%entries", "%position", element)[: len(fields(key))]]
    index.probe(_write_hash(out, numbers, key), visit)
    return routine.finish()


def _grow_function(region: LoweringContext, element: ItemType, key: ItemType) -> str:
    """Return the name of a function that makes room for `%count` entries and as many again, and more for few.

    It returns whether memory ran out. The entries keep the order of their slots.
    """
    place = _place_function(region, element, key)
    routine = Routine(region, ["ptr readonly %entries", "ptr %index_list", "i64 %count"], "i1")
    out = routine.out
    list_ = TypedList(out, "%index_list", TensorType(int64))
    old_count = out.op("add", Index(out, list_.start()).field(MASK), 1)
    is_large = out.icmp("ugt", "%count", LARGE_SET)
    least_size = out.op("shl", "%count", out.select(is_large, 1, 2))
    leading_zeros = out.call_c("llvm.ctlz.i64", "i64", "i64, i1", least_size, "false")
    new_count = out.op("shl", 1, out.op("sub", 64, leading_zeros))
    new_size, old_size = (out.op("mul", count, SLOT_SIZE) for count in (new_count, old_count))
    # The old slots lie behind the new ones until these are filled.
    size = out.op("add", new_size, INDEX_HEADER)
    added_size = out.op("add", old_size, out.op("sub", size, list_.size()))
    with out.leaving(out.call("grow_bytes", "%index_list", added_size), unlikely=True):
        out.ret(TRUE)
    start = list_.start()
    index, old_slots = Index(out, start), out.gep("i8", start, size, inbounds=False)
    out.copy(old_slots, index.slots, old_size)
    out.clear(index.slots, new_size)
    index.set_field(MASK, out.op("sub", new_count, 1))
    index.set_field(FILL, "0")
    with out.loop("0", old_count) as slot:
        number = out.cast("zext", out.load("i32", out.gep("i32", old_slots, slot)), "i64")
        with out.if_(is_entry(out, number)):
            out.call(place, "%entries", start, out.op("sub", number, 1))
    list_.set_size(size)
    return routine.finish("ret i1 false")


def _update_function(region: LoweringContext, element: ItemType, key: ItemType) -> str:
    """Return the name of a function that puts the latest entries into the index.

    It returns whether memory ran out.
    """
    place, grow = _place_function(region, element, key), _grow_function(region, element, key)
    routine = Routine(region, ["ptr %entry_list", "ptr %index_list"], "i1")
    out = routine.out
    entries, list_ = TypedList(out, "%entry_list", element), TypedList(out, "%index_list", TensorType(int64))
    count, start = entries.length(), entries.start()
    first = Index(out, list_.start()).field(COUNT)
    with out.loop(first, count, unrolled=False) as position:
        index_start = list_.start()
        out.call(place, start, index_start, position)
        new_count, index = out.op("add", position, 1), Index(out, index_start)
        is_full = out.icmp("uge", out.op("mul", index.field(FILL), 5), out.op("mul", index.field(MASK), 3))
        has_failed = out.where(is_full, partial(out.call, grow, start, "%index_list", new_count), FALSE)
        with out.leaving(has_failed, unlikely=True):
            out.ret(TRUE)
    Index(out, list_.start()).set_field(COUNT, count)
    return routine.finish("ret i1 false")


def write_update(region: LoweringContext, node: Node) -> tuple[TypedList, TypedList]:
    """Bring the index up to date; return the lists of the entries and of the index."""
    out, entries = region.out, typed_operand(region, node)
    index = TypedList(out, region.object(node.inputs[1]).ir, TensorType(int64))
    with out.if_(out.icmp("ne", entries.length(), Index(out, index.start()).field(COUNT))):
        function = _update_function(region, entries.item, keys_of(node))
        region.body.fail_if(out.call(function, entries.ir, index.ir))
    return entries, index


class FoundKey(NamedTuple):
    """The result of a search: the lists of the entries and of the index, and the place of the key, or -1."""

    entries: TypedList
    index_list: TypedList
    place: str


def find_key(region: LoweringContext, node: Node, returns_slot: bool = False, key_start: int = 2) -> FoundKey:
    """Write the search for a key; its place is the position of its entry, or its slot.

    The numbers of the key are the node's operands from `key_start` on.
    """
    entries, index = write_update(region, node)
    key = keys_of(node)
    numbers = [region.number(value).ir for value in node.inputs[key_start : key_start + len(fields(key))]]
    function = find_function(region, entries.item, key, returns_slot)
    return FoundKey(entries, index, region.out.call(function, entries.start(), index.start(), *numbers))


@data_sized_lowering("typed_dict_index")
def _write_index(region: LoweringContext, node: Node) -> None:
    """Write a new index without entries."""
    out, size = region.out, INDEX_HEADER + MIN_SLOTS * SLOT_SIZE
    result = new_list(region, str(size))
    index = Index(out, TypedList(out, result.ir, TensorType(int64)).start())
    out.clear(index.start, size)
    index.set_field(MASK, str(MIN_SLOTS - 1))
    region.set(node.results[0], result)


@data_sized_lowering("typed_dict_contains")
def _write_contains(region: LoweringContext, node: Node) -> None:
    """Write a test whether a key is in the dict or set."""
    *_, position = find_key(region, node)
    region.set(node.results[0], RegisterWriter(region).wrap(bool_, region.out.icmp("sge", position, 0)))


@data_sized_lowering("typed_dict_get")
def _write_get(region: LoweringContext, node: Node) -> None:
    """Write the load of a value, or of the default, which may be inserted; else the kernel raises KeyError."""
    out, b = region.out, RegisterWriter(region)
    entries, _, position = find_key(region, node)
    width = len(fields(keys_of(node)))
    defaults = [region.number(value) for value in node.inputs[2 + width :]]
    if not defaults:
        region.raise_and_leave_if(node, out.icmp("slt", position, 0))
        set_item(region, node, entries.load(position)[width:])
        return
    cells = [out.alloca(register(default.dtype)) for default in defaults]
    for cell, default in zip(cells, defaults, strict=True):
        out.store(register(default.dtype), default.ir, cell)

    def load_value() -> None:
        for cell, number in zip(cells, entries.load(position)[width:], strict=True):
            out.store(register(number.dtype), number.ir, cell)

    def insert_default() -> None:
        if node.attributes.get("inserts"):
            append_item(region, entries, [region.number(value) for value in node.inputs[2:]])

    out.either(out.icmp("sge", position, 0), load_value, insert_default)
    loads = [b.wrap(x.dtype, out.load(register(x.dtype), cell)) for x, cell in zip(defaults, cells, strict=True)]
    set_item(region, node, loads)


@data_sized_lowering("typed_dict_set")
def _write_set(region: LoweringContext, node: Node) -> None:
    """Write the store of a value, or the addition of a key to a set."""
    entries, _, position = find_key(region, node)
    numbers = [region.number(value) for value in node.inputs[2:]]
    region.out.either(
        region.out.icmp("slt", position, 0), lambda: append_item(region, entries, numbers),
        lambda: entries.store(position, numbers) if node.attributes["has_values"] else None,
    )  # fmt: skip


@data_sized_lowering("typed_dict_check_size")
def _write_check_size(region: LoweringContext, node: Node) -> None:
    """Write the test of an iteration's size, and of the number of removals."""
    out, length = region.out, typed_operand(region, node).length()
    index = Index(out, TypedList(out, region.object(node.inputs[1]).ir, TensorType(int64)).start())
    size, *removals = [region.number(value).ir for value in node.inputs[2:]]
    if not removals:
        region.raise_if(node, out.icmp("ne", length, size))
        return
    has_other_size = out.icmp("ne", out.op("sub", length, index.field(HOLES)), size)
    region.raise_if(node, out.or_(has_other_size, out.icmp("ne", index.field(REMOVALS), removals[0])))


@data_sized_lowering("typed_dict_keys_of_set")
def _write_keys_of_set(region: LoweringContext, node: Node) -> None:
    """Write a new list of the keys, in the order of the slots."""
    out, (entries, index) = region.out, write_update(region, node)
    result = new_list(region, entries.size())
    routine = Routine(region, ["ptr readonly %entries", "ptr readonly %index", "ptr %keys"])
    index_text, cell = Index(routine.out, "%index"), routine.out.alloca("i64", "0")
    slot_count = routine.out.op("add", index_text.field(MASK), 1)
    with routine.out.loop("0", slot_count, unrolled=False) as slot:
        number = index_text.entry_number(slot)
        with routine.out.if_(is_entry(routine.out, number)):
            count = routine.out.load("i64", cell)
            key = load_item(routine.out, "%entries", routine.out.op("sub", number, 1), entries.item)
            store_item(routine.out, "%keys", count, key, entries.item)
            routine.out.store("i64", routine.out.op("add", count, 1), cell)
    name = routine.finish()
    out.call(name, entries.start(), index.start(), TypedList(out, result.ir, entries.item).start())
    region.set(node.results[0], result)
