"""Lower slices of typed lists: reading one, with any step, and replacing one without a step."""

from __future__ import annotations

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.lists.typed import (
    TypedList,
    load_item,
    new_list,
    reserve,
    store_item,
    typed_operand,
)
from autoconv.backends.llvm.codegen.registry import data_sized_lowering
from autoconv.backends.llvm.codegen.routine import Routine
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.scalars import Element
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import TupleType
from autoconv.ops.lists.item_layout import ItemType, fields, item_size


def clamp_bound(region: LoweringContext, bound: Element, length: str, lowest: int = 0, highest: str = "") -> str:
    """Convert a bound of a slice to a position from `lowest` to `highest` (the length if empty), as Python does."""
    out, highest = region.out, highest or length
    position = RegisterWriter(region).cast(bound, int64).ir
    is_negative = out.icmp("slt", position, 0)
    from_start = out.select(is_negative, out.op("add", position, length), position)
    raised = out.select(out.icmp("slt", from_start, lowest), lowest, from_start)
    return out.select(out.icmp("sgt", raised, highest), highest, raised)


def insert_gap(region: LoweringContext, x: TypedList, position: str) -> None:
    """Make a list longer by one item; those from a position on move towards the end."""
    out = region.out
    size, offset = x.size(), out.op("mul", position, x.item_size)
    new_size = out.op("add", size, x.item_size)
    reserve(region, x, new_size)
    address = out.gep("i8", x.start(), offset, inbounds=False)
    out.move(out.gep("i8", address, x.item_size, inbounds=False), address, out.op("sub", size, offset))
    x.set_size(new_size)


def _positions(
    region: LoweringContext, node: Node, bounds: tuple[Value, ...], length: str, step: int
) -> tuple[str, str]:
    """Return the positions of a slice's start and stop; for a step of 1, the stop is not before the start."""
    out = region.out
    has_start, has_stop, _ = node.attributes["has_bounds"]
    lowest, highest = (0, length) if step > 0 else (-1, out.op("sub", length, 1))
    first, last = (str(lowest), highest) if step > 0 else (highest, str(lowest))
    remaining_bounds = iter(bounds)
    start = clamp_bound(region, region.number(next(remaining_bounds)), length, lowest, highest) if has_start else first
    stop = clamp_bound(region, region.number(next(remaining_bounds)), length, lowest, highest) if has_stop else last
    return start, out.select(out.icmp("slt", stop, start), start, stop) if step == 1 else stop


def _step(node: Node) -> int | None:
    """Return the constant step of a slice, or None if it is computed."""
    if not node.attributes["has_bounds"][2]:
        return 1
    constant = node.inputs[-1].node
    return int(constant.attributes["value"]) if constant is not None and constant.op.name == "constant" else None


@data_sized_lowering("typed_list_slice", fits=lambda node: bool(_step(node)))
def _write_slice(region: LoweringContext, node: Node) -> None:
    """Write a new list of the items between two bounds, each or some of them."""
    out, x, step = region.out, typed_operand(region, node), _step(node)
    assert step
    start, stop = _positions(region, node, node.inputs[1:], x.length(), step)
    span = out.op("sub", stop, start) if step > 0 else out.op("sub", start, stop)
    last_step = out.op("sdiv", out.op("add", span, abs(step) - 1), abs(step)) if abs(step) != 1 else span
    count = out.select(out.icmp("sgt", span, 0), last_step, 0)
    size = out.op("mul", count, x.item_size)
    result = new_list(region, size)
    target = TypedList(out, result.ir, x.item).start()
    source = out.gep("i8", x.start(), out.op("mul", start, x.item_size), inbounds=False)
    if step == 1:
        out.copy(target, source, size)
    else:
        out.call(_copy_function(region, x.item, step), target, source, count)
    region.set(node.results[0], result)


def _copy_function(region: LoweringContext, item: ItemType, step: int) -> str:
    """Return the name of a function that copies `%count` items of `%source`, each `step` items after the one before."""
    routine = Routine(region, ["ptr noalias %target", "ptr noalias readonly %source", "i64 %count"])
    out = routine.out
    with out.loop("0", "%count") as i:
        store_item(out, "%target", i, load_item(out, "%source", out.op("mul", i, step), item), item)
    return routine.finish()


@data_sized_lowering("typed_list_replace", fits=lambda node: not node.attributes["has_bounds"][2])
def _write_replace(region: LoweringContext, node: Node) -> None:
    """Write the replacement of the items between two bounds by those of another list, or, by the kernel, of itself."""
    out, x = region.out, typed_operand(region, node)
    y = TypedList(out, region.object(node.inputs[1]).ir, x.item)

    def replace_by_kernel() -> None:
        region.call_kernel(node, is_rare=True)

    def replace() -> None:
        """Replace the items from start to stop by those of `y`: the tail moves first."""
        start, stop = _positions(region, node, node.inputs[2:], x.length(), step=1)
        start_offset, stop_offset = (out.op("mul", position, x.item_size) for position in (start, stop))
        size, added_size = x.size(), y.size()
        tail_size, tail_offset = out.op("sub", size, stop_offset), out.op("add", start_offset, added_size)
        new_size = out.op("add", tail_offset, tail_size)
        reserve(region, x, new_size)
        first = x.start()
        source = out.gep("i8", first, stop_offset, inbounds=False)
        out.move(out.gep("i8", first, tail_offset, inbounds=False), source, tail_size)
        out.copy(out.gep("i8", first, start_offset, inbounds=False), y.start(), added_size)
        x.set_size(new_size)

    out.either(out.icmp("eq", x.ir, y.ir), replace_by_kernel, replace, unlikely=True)


@data_sized_lowering("typed_list_column")
def _write_column(region: LoweringContext, node: Node) -> None:
    """Write a new list of one part_type of each tuple."""
    out, x, position = region.out, typed_operand(region, node), node.attributes["position"]
    assert isinstance(x.item, TupleType)
    part_type: ItemType = x.item.items[position]  # type: ignore[assignment]
    first = len(fields(TupleType(x.item.items[:position])))
    length = x.length()
    result = new_list(region, out.op("mul", length, item_size(part_type)))
    routine = Routine(region, ["ptr noalias %target", "ptr noalias readonly %source", "i64 %count"])
    with routine.out.loop("0", "%count") as i:
        numbers = load_item(routine.out, "%source", i, x.item)[first : first + len(fields(part_type))]
        store_item(routine.out, "%target", i, numbers, part_type)
    out.call(routine.finish(), TypedList(out, result.ir, part_type).start(), x.start(), length)
    region.set(node.results[0], result)
