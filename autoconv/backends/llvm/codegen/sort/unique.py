"""Distinct elements of a vector, by a hash table with open addressing and linear probing.

An entry of the table is the number of a distinct element plus 1; 0 marks a free entry.
"""

from __future__ import annotations

from typing import Any

from autoconv.backends.llvm.analysis.representation import is_static_array, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import data_sized_lowering
from autoconv.backends.llvm.codegen.routine import Routine, call
from autoconv.backends.llvm.codegen.sort.sort_keys import to_key
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, load, store
from autoconv.graph.dtypes import int32, int64, uint64
from autoconv.graph.graph import Node
from autoconv.graph.types import TensorType

_MULTIPLIER = 0x9E3779B97F4A7C15  # 2**64 over the golden ratio (Knuth, The Art of Computer Programming 3, 6.4)
_LABEL_STEMS = ("look", "compare", "next", "new", "known")


def _is_native(node: Node) -> bool:
    """Return whether the operand is a vector of known size, neither empty nor huge, of real numbers."""
    type_: Any = node.inputs[0].type
    return is_static_array(type_) and not type_.dtype.is_complex and 0 < sizes(type_)[0] < 2**30


@data_sized_lowering("unique", fits=_is_native)
def write_unique(region: LoweringContext, node: Node) -> None:
    """Compute the distinct values, each element's index among these, and the counts; -0.0 is 0.0, each nan is new."""
    (x,), (values, indices, counts) = node.inputs, node.results
    type_: Any = x.type
    dtype, count_dtype, (size,) = type_.dtype, indices.dtype, sizes(type_)
    table_bits = max((2 * size - 1).bit_length(), 4)
    types = [TensorType(int32, (1 << table_bits,)), TensorType(int32, (size,)), TensorType(count_dtype, (size,))]
    table, first_positions, occurrences = (region.new_array(type_) for type_ in types)
    region.set(indices, region.new_array(indices.type))
    names = ("table", "first", "occurrences", "indices")
    routine = Routine(region, ["ptr noalias readonly %x", *(f"ptr noalias %{name}" for name in names)], "i64")
    out, b = routine.out, routine.b
    total_cell, slot_cell = out.alloca("i64", "0"), out.alloca("i64")
    out.clear("%table", 4 << table_bits)
    with out.loop("0", str(size)) as i:
        number = load(b, dtype, "%x", i)
        key = _key_of(b, number)
        hash_ = b.bits("lshr", b.cast(key, uint64) * _MULTIPLIER, 64 - table_bits)
        store(b, b.wrap(int64, hash_.ir), slot_cell, 0)
        probe_label, compare_label, advance_label, new_label, done_label = map(out.label, _LABEL_STEMS)
        if dtype.is_floating:
            out.branch_if(b.is_nan(number).ir, new_label, probe_label, unlikely=True)
        else:
            out.branch(probe_label)
        out.begin(probe_label)
        position = load(b, int64, slot_cell, 0)
        element = load(b, int32, "%table", position.ir)
        out.branch_if(element.same(0).ir, new_label, compare_label)
        out.begin(compare_label)
        entry_number = b.cast(element, int64) - 1
        entry_element = load(b, dtype, "%x", b.cast(load(b, int32, "%first", entry_number.ir), int64).ir)
        out.branch_if(_key_of(b, entry_element).same(key).ir, done_label, advance_label)
        out.begin(advance_label)
        store(b, b.bits("and", position + 1, (1 << table_bits) - 1), slot_cell, 0)
        out.branch(probe_label)
        out.begin(new_label)
        count = load(b, int64, total_cell, 0)
        # A nan is new without probing. An old entry at its position stays, since no search looks for a nan.
        entry, insertion_slot = b.cast(count + 1, int32), load(b, int64, slot_cell, 0)
        old_entry = load(b, int32, "%table", insertion_slot.ir)
        entry = b.select(old_entry.same(0), entry, old_entry) if dtype.is_floating else entry
        store(b, entry, "%table", insertion_slot.ir)
        store(b, b.cast(b.wrap(int64, i), int32), "%first", count.ir)
        store(b, b.constant(0, count_dtype), "%occurrences", count.ir)
        store(b, count + 1, total_cell, 0)
        out.branch(done_label)
        out.begin(done_label)
        value_number = b.wrap(int64, out.phi((entry_number.ir, compare_label), (count.ir, new_label)))
        store(b, b.cast(value_number, count_dtype), "%indices", i)
        store(b, load(b, count_dtype, "%occurrences", value_number.ir) + 1, "%occurrences", value_number.ir)
    name = routine.finish(f"ret i64 {load(b, int64, total_cell, 0).ir}")
    buffers = (table, first_positions, occurrences)
    pointers = [region.data(x), *map(region.address, buffers), region.data(indices)]
    total = region.out.call(name, *pointers)
    arrays = [region.body.new_sized_array(result_dtype, (total,)) for result_dtype in (dtype, count_dtype)]
    _gather(region, total, dtype, count_dtype, [pointers[0], *pointers[2:4], *map(region.address, arrays)])
    for value, array in zip((values, counts), arrays, strict=True):
        region.set(value, array)
    for array, type_ in zip(buffers, types, strict=True):
        region.body.release_or_keep(array.slot, type_)


def _key_of(b: ElementWriter, number: Element) -> Element:
    """Return the key by which elements are compared."""
    return to_key(b, number, is_descending=False, zeros_are_equal=True)


def _gather(region: LoweringContext, total: str, dtype: Any, count_dtype: Any, pointers: list[str]) -> None:
    """Gather the distinct elements and their counts."""
    names = ("ptr noalias readonly %x", "ptr noalias readonly %first", "ptr noalias readonly %occurrences")
    routine = Routine(region, [*names, "ptr noalias %values", "ptr noalias %counts", "i64 %total"])
    out, b = routine.out, routine.b
    with out.loop("0", "%total") as i:
        position = b.cast(load(b, int32, "%first", i), int64)
        store(b, load(b, dtype, "%x", position.ir), "%values", i)
        store(b, load(b, count_dtype, "%occurrences", i), "%counts", i)
    call(region, routine.finish(), *(f"ptr {pointer}" for pointer in pointers), f"i64 {total}")
