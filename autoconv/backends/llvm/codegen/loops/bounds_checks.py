"""Bounds checks of the positions of gathers and scatters, which run before the loops that use the positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from autoconv.backends.llvm.analysis.indexing import (
    BoundsCheck,
    bounds_checks,
    has_position_arrays,
    single_positions,
    whole_shape,
)
from autoconv.backends.llvm.analysis.representation import sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.loops.slice_update import take_writable
from autoconv.backends.llvm.codegen.values import Object, RegisterWriter
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, element_count, product
from autoconv.backends.llvm.ir.scalars import ElementWriter, load
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import literal, register
from autoconv.backends.llvm.schedule.plan import Item, Plan
from autoconv.graph.dtypes import DType, int64
from autoconv.graph.graph import Node, Value
from autoconv.ops.index_spec import At, Slice, align


def write_position_checks(region: LoweringContext, node: Node) -> list[Any]:
    """Write the checks of a node's positions; if one is out of range, the op's kernel is called, which raises.

    Return the positions that are scalars, normalised to count from the start.
    """
    if not has_position_arrays(node):
        return [_write_single_position(region, node, value, size) for value, size in _positions_and_sizes(node)]
    groups: dict[Value, list[BoundsCheck]] = {}
    for check in bounds_checks(node):
        groups.setdefault(check.positions, []).append(check)
    shape = whole_shape(node)
    single_registers = [
        _write_single_position(region, node, value, shape[axis]) for value, axis in single_positions(node)
    ]
    for value, group in groups.items():
        region.body.module.has_loops = True
        name = _write_check_function(region, value, group)
        if name:
            index_shape = sizes(value.type) if group[0].vector_size == 1 else sizes(value.type)[:-1]
            count = element_count(region.out, index_shape)
            call_arguments = [f"ptr {region.data(value)}", f"i64 {count}", *_open_sizes(group)]
            region.raise_if(node, region.out.new(f"call i1 @{name}({', '.join(call_arguments)})"))
    return single_registers


def _open_sizes(group: Sequence[BoundsCheck]) -> list[str]:
    """Return the open sizes that the function of a group of checks takes as parameters."""
    return list(dict.fromkeys(f"i64 {check.size}" for check in group if isinstance(check.size, str)))


def _positions_and_sizes(node: Node) -> Iterator[tuple[Value, int]]:
    """Iterate over the operands that are scalar positions, with the sizes of the dimensions that they index."""
    name = node.op.name
    if name not in ("gather", "get_item", "set_item", "add_at_item"):
        return
    shape = sizes(node.inputs[0].type)
    if name == "gather":
        yield node.inputs[1], shape[node.attributes.get("axis", 0) % len(shape)]
        return
    operands = node.inputs[1 if name == "get_item" else 2 :]
    for entry, entry_operands, axis, _ in align(node.attributes["spec"], len(shape), operands):
        if isinstance(entry, (At, Slice)) and entry_operands:
            yield entry_operands[0], shape[axis]


def _write_single_position(region: LoweringContext, node: Node, value: Value, size: Position) -> str:
    """Check a scalar position, and return its register, normalised to count from the start.

    A gather's position that is a tensor must not be negative; one that is a Python number may be.
    """
    b = RegisterWriter(region)
    index = b.cast(region.number(value), int64)
    low, high = region.body.range_of(index)
    is_below = high < size if isinstance(size, int) else region.body.is_below(index, size)
    if low < 0 and (node.op.name != "gather" or value.weak):
        index = b.select(index < 0, index + b.wrap(int64, str(size)), index)
    if low < 0 or not is_below:
        region.raise_if(node, region.out.new(f"icmp uge i64 {index.ir}, {size}"))
    return index.ir


def _write_check_function(region: LoweringContext, value: Value, group: Sequence[BoundsCheck]) -> str:
    """Write a function that returns an i1, true if a position is out of range; return the function's name.

    Return "" if all numbers of the positions' dtype are in range. The function compares the greatest position, as an
    unsigned number, with the size. So a negative position exceeds every size. Positions may be vectors; a check reads
    their entry `column`.
    """
    type_: Any = value.type
    parameters = ["ptr noalias readonly %positions", "i64 %count", *_open_sizes(group)]
    out = FunctionText(region.body.module, Signature("i1", parameters))
    b = ElementWriter(out)
    position_dtype: DType = type_.dtype
    adds_size = any(check.wraps for check in group) and not position_dtype.is_unsigned
    limits = {check: _least_invalid_position(out, check, position_dtype) for check in group}
    if not adds_size and all(limit is None for limit in limits.values()):
        return ""
    dtype = int64 if adds_size or _open_sizes(group) else position_dtype
    ir_type = register(dtype)
    cells = {check: out.alloca(ir_type, "0") for check in group if limits[check] is not None}
    vector_size = group[0].vector_size
    with out.loop("0", "%count") as i:
        first = i if vector_size == 1 else out.new(f"mul nsw i64 {i}, {vector_size}")
        for check, cell in cells.items():
            offset = first if not check.column else out.new(f"add nsw i64 {first}, {check.column}")
            position = b.cast(load(b, position_dtype, "%positions", offset), dtype)
            if adds_size:
                position = position + b.wrap(int64, str(check.size))
            name = out.module.declare(f"llvm.umax.{ir_type}", ir_type, f"{ir_type}, {ir_type}")
            old_greatest = out.new(f"load {ir_type}, ptr {cell}")
            greatest = out.new(f"call {ir_type} {name}({ir_type} {old_greatest}, {ir_type} {position.ir})")
            out.line(f"store {ir_type} {greatest}, ptr {cell}")
    is_any_beyond = "false"
    for check, cell in cells.items():
        greatest = out.new(f"load {ir_type}, ptr {cell}")
        is_beyond = out.new(f"icmp uge {ir_type} {greatest}, {_literal_or_register(limits[check], dtype)}")
        is_any_beyond = out.new(f"or i1 {is_any_beyond}, {is_beyond}")
    has_positions = out.new("icmp ne i64 %count, 0")  # without positions, the initial 0 may reach a limit of 0
    out.line(f"ret i1 {out.new(f'and i1 {is_any_beyond}, {has_positions}')}")
    return out.finish("check")


def _least_invalid_position(out: FunctionText, check: BoundsCheck, dtype: DType) -> Position | None:
    """Return the least position out of range, as an unsigned number; None if no number of the dtype is out of range.

    If negative positions count from the end, the size is added to positions before they are compared.
    """
    if isinstance(check.size, str):
        return out.new(f"shl i64 {check.size}, 1") if check.wraps and not dtype.is_unsigned else check.size
    if dtype.is_unsigned:
        return check.size if check.size <= dtype.max else None
    if check.wraps:
        return 2 * check.size
    return min(check.size, int(dtype.max) + 1)


def _literal_or_register(limit: Position | None, dtype: DType) -> str:
    """Return a register, or the literal of a constant."""
    return limit if isinstance(limit, str) else literal(limit, dtype)


def scatter_base(region: LoweringContext, item: Item, result: Value) -> Object:
    """Return the array that a scatter's loop updates.

    That is the scatter's base if nothing else refers to it, else a copy of the base; zeros if there is no base.
    """
    node = result.node
    assert node is not None and node.op.traits.scatter is not None
    base_position = node.op.traits.scatter.base
    if base_position is None:
        array = region.new_array(result.type)
        type_: Any = result.type
        region.set(result, array)
        byte_count = product(region.out, element_count(region.out, sizes(type_)), type_.dtype.size)
        region.out.clear(region.data(result), byte_count)
        return array
    x = node.inputs[base_position]
    return take_writable(region, x, region.is_last_reader(item, x))


def nodes_to_check(plan: Plan, item: Item) -> list[Node]:
    """Return the nodes whose indices an item's loops need checked: its copies and scatters, and views that it reads."""
    nodes: dict[Node, None] = {}
    for node in item.nodes:
        if plan.classes[node] in ("copy", "scatter"):
            nodes[node] = None
        for operand in node.inputs:
            value: Value | None = operand
            while value is not None and value in plan.views and value.node is not None:
                nodes[value.node] = None
                value = next(iter(value.node.inputs), None)
    return list(nodes)
