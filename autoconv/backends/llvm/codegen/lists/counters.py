"""Lower counts of the items of a list in a typed dict, and the order of its entries by their values."""

from __future__ import annotations

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.lists.hashed import find_function, keys_of, write_update
from autoconv.backends.llvm.codegen.lists.typed import (
    TypedList,
    append_item,
    item_of,
    load_item,
    new_list,
    store_item,
    typed_operand,
)
from autoconv.backends.llvm.codegen.registry import data_sized_lowering
from autoconv.backends.llvm.codegen.routine import Routine
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.scalars import ElementWriter
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node
from autoconv.graph.types import TensorType, TupleType
from autoconv.ops.lists.item_layout import item_size


@data_sized_lowering("typed_dict_count")
def _write_count(region: LoweringContext, node: Node) -> None:
    """Write the loop that adds 1 to the value of each item of a list."""
    out, key = region.out, keys_of(node)
    items = TypedList(out, region.object(node.inputs[2]).ir, key)
    find, b = find_function(region, item_of(node), key), RegisterWriter(region)
    with out.loop("0", items.length(), unrolled=False) as i:
        entries, index = write_update(region, node)
        numbers = items.load(i)
        position = out.call(find, entries.start(), index.start(), *(number.ir for number in numbers))

        def add_one() -> None:
            *_, count = entries.load(position)
            entries.store(position, [*numbers, b.wrap(int64, out.op("add", count.ir, 1))])

        out.either(
            out.icmp("slt", position, 0), lambda: append_item(region, entries, [*numbers, b.wrap(int64, "1")]), add_one
        )


@data_sized_lowering("typed_dict_ranking")
def _write_ranking(region: LoweringContext, node: Node) -> None:
    """Write a new list of the values and their positions, negated."""
    out, entries = region.out, typed_operand(region, node)
    pair = TupleType((entries.item.items[1], TensorType(int64)))  # type: ignore[union-attr]
    result = new_list(region, out.op("mul", entries.length(), item_size(pair)))
    routine = Routine(region, ["ptr noalias %target", "ptr noalias readonly %source", "i64 %count"])
    with routine.out.loop("0", "%count") as i:
        *_, value = load_item(routine.out, "%source", i, entries.item)
        negative = ElementWriter(routine.out).wrap(int64, routine.out.op("sub", 0, i))
        store_item(routine.out, "%target", i, [value, negative], pair)
    out.call(routine.finish(), TypedList(out, result.ir, pair).start(), entries.start(), entries.length())
    region.set(node.results[0], result)


@data_sized_lowering("typed_dict_ranked")
def _write_ranked(region: LoweringContext, node: Node) -> None:
    """Write a new list of the entries at the positions of a ranking."""
    out, entries = region.out, typed_operand(region, node)
    pair = TupleType((entries.item.items[1], TensorType(int64)))  # type: ignore[union-attr]
    ranking = TypedList(out, region.object(node.inputs[2]).ir, pair)
    count = ranking.length()
    if len(node.inputs) == 4:
        limit = out.intrinsic("smax", region.number(node.inputs[3]).ir, 0)
        count = out.intrinsic("smin", count, limit)
    result = new_list(region, out.op("mul", count, entries.item_size))
    routine = Routine(region, ["ptr noalias %target", "ptr readonly %entries", "ptr readonly %ranking", "i64 %count"])
    with routine.out.loop("0", "%count") as i:
        *_, negative = load_item(routine.out, "%ranking", i, pair)
        entry = load_item(routine.out, "%entries", routine.out.op("sub", 0, negative.ir), entries.item)
        store_item(routine.out, "%target", i, entry, entries.item)
    out.call(
        routine.finish(), TypedList(out, result.ir, entries.item).start(), entries.start(), ranking.start(), count
    )
    region.set(node.results[0], result)
