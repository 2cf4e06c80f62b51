"""Distinct elements of a vector, by a hash table (open addressing, linear probing)."""

from __future__ import annotations

from typing import Any

from autoconv.backends.llvm.analysis.representation import is_array, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import data_sized_lowering
from autoconv.backends.llvm.codegen.routine import Routine, call
from autoconv.backends.llvm.codegen.sort.sort_keys import to_key
from autoconv.backends.llvm.ir.scalars import load, store
from autoconv.graph.dtypes import int32, int64, uint64
from autoconv.graph.graph import Node
from autoconv.graph.types import TensorType

_MULTIPLIER = 0x9E3779B97F4A7C15  # 2**64 over the golden ratio (Knuth, The Art of Computer Programming 3, 6.4)


def _is_native(node: Node) -> bool:
    kind: Any = node.inputs[0].type
    return is_array(kind) and not kind.dtype.is_complex and 0 < sizes(kind)[0] < 2**30


@data_sized_lowering("unique", fits=_is_native)
def write_unique(region: LoweringContext, node: Node) -> None:
    """Lower `unique`: values in the order of first occurrence. Each nan is distinct; 0.0 and -0.0 are equal."""
    (x,), (values, indices, counts) = node.inputs, node.results
    kind: Any = x.type
    dtype, to, (size,) = kind.dtype, indices.dtype, sizes(kind)
    bits = max((2 * size - 1).bit_length(), 4)
    types = [TensorType(int32, (1 << bits,)), TensorType(int32, (size,)), TensorType(to, (size,))]
    table, first, many = (region.new_array(type_) for type_ in types)
    region.set(indices, region.new_array(indices.type))
    names = ("table", "first", "many", "indices")
    routine = Routine(region, ["ptr noalias readonly %x", *(f"ptr noalias %{name}" for name in names)], "i64")
    out, b = routine.out, routine.b
    out.clear("%table", 4 << bits)
    hit, slot = out.alloca("i64", "0"), out.alloca("i64")
    with out.loop("0", str(size)) as i:
        number = load(b, dtype, "%x", i)
        key = to_key(b, number, False, zeros_alike=True)
        hashed = b.bits("lshr", b.cast(key, uint64) * _MULTIPLIER, 64 - bits)
        store(b, b.wrap(int64, hashed.ir), slot, 0)
        look, compare, on, new, done = (out.label(stem) for stem in ("look", "compare", "next", "new", "known"))
        if dtype.is_floating:
            out.branch_if(b.is_nan(number).ir, new, look, unlikely=True)
        else:
            out.branch(look)
        out.begin(look)
        at = load(b, int64, slot, 0)
        element = load(b, int32, "%table", at.ir)
        out.branch_if(element.same(0).ir, new, compare)
        out.begin(compare)
        entry_number = b.cast(element, int64) - 1
        other = load(b, dtype, "%x", b.cast(load(b, int32, "%first", entry_number.ir), int64).ir)
        out.branch_if(to_key(b, other, False, zeros_alike=True).same(key).ir, done, on)
        out.begin(on)
        store(b, b.bits("and", at + 1, (1 << bits) - 1), slot, 0)
        out.branch(look)
        out.begin(new)
        count = load(b, int64, hit, 0)
        # A nan is not probed for, so another element may hold its slot. That entry stays: no lookup finds a nan.
        entry = b.cast(count + 1, int32)
        place = load(b, int64, slot, 0)
        kept = load(b, int32, "%table", place.ir)
        store(b, b.select(kept.same(0), entry, kept) if dtype.is_floating else entry, "%table", place.ir)
        store(b, b.cast(b.wrap(int64, i), int32), "%first", count.ir)
        store(b, b.constant(0, to), "%many", count.ir)
        store(b, count + 1, hit, 0)
        out.branch(done)
        out.begin(done)
        which = b.wrap(int64, out.phi((entry_number.ir, compare), (count.ir, new)))
        store(b, b.cast(which, to), "%indices", i)
        store(b, load(b, to, "%many", which.ir) + 1, "%many", which.ir)
    name = routine.finish(f"ret i64 {load(b, int64, hit, 0).ir}")
    pointers = [region.data(x), *(region.address(one) for one in (table, first, many)), region.data(indices)]
    total = region.out.call(name, *pointers)
    arrays = [region.body.new_sized_array(kind_, (total,)) for kind_ in (dtype, to)]
    _gather(region, total, dtype, to, [pointers[0], pointers[2], pointers[3], *(region.address(one) for one in arrays)])
    for value, one in zip((values, counts), arrays, strict=True):
        region.set(value, one)
    for one, type_ in zip((table, first, many), types, strict=True):
        region.body.release_or_keep(one.slot, type_)


def _gather(region: LoweringContext, total: str, dtype: Any, to: Any, pointers: list[str]) -> None:
    """Gather the distinct elements and their counts."""
    names = ("ptr noalias readonly %x", "ptr noalias readonly %first", "ptr noalias readonly %many")
    routine = Routine(region, [*names, "ptr noalias %values", "ptr noalias %counts", "i64 %total"])
    out, b = routine.out, routine.b
    with out.loop("0", "%total") as i:
        place = b.cast(load(b, int32, "%first", i), int64)
        store(b, load(b, dtype, "%x", place.ir), "%values", i)
        store(b, load(b, to, "%many", i), "%counts", i)
    call(region, routine.finish(), *(f"ptr {pointer}" for pointer in pointers), f"i64 {total}")
