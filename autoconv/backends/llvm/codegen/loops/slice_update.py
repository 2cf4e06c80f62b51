"""Updates of a part of an array: in place if nothing else refers to the array, else in a copy."""

from __future__ import annotations

import math
from collections.abc import Sequence

from autoconv.backends.llvm.analysis.index_maps import item_map
from autoconv.backends.llvm.analysis.indexing import item_shape, updates_in_routine
from autoconv.backends.llvm.analysis.representation import is_scalar, sizes
from autoconv.backends.llvm.analysis.symbolic_sizes import write_dimension
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import class_lowering
from autoconv.backends.llvm.codegen.routine import PartRoutine, call, open_dimensions, split_routine
from autoconv.backends.llvm.codegen.values import Object, RegisterWriter
from autoconv.backends.llvm.ir.element_rules import compute
from autoconv.backends.llvm.ir.index_arith import (
    Index,
    Position,
    broadcast_index,
    element_count,
    linear_offset,
    product,
)
from autoconv.backends.llvm.ir.nested_loops import write_loop_nest
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, load, store
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.target import abi
from autoconv.graph.graph import Node, Value
from autoconv.lazy_dataclass import dataclass

_ELEMENT_COST = 8  # time of one element, in units of 0.05 ns


@class_lowering("update")
def write_update(region: LoweringContext, node: Node) -> None:
    """Write the stores of a value into a part of an array: the array itself if nothing else needs it, else a copy.

    The loops over a long part are a routine, which LLVM optimises even if the function of the graph is too long for it.
    """
    region.check_positions(node)
    (result,) = node.results
    x, value = node.inputs[:2]
    is_last_use = region.remaining_uses[x] == node.inputs.count(x) == 1
    region.set(result, take_writable(region, x, is_last_use))
    positions = region.checked_positions.get(node, [])
    if updates_in_routine(node, "update"):
        _call_routine(region, node, positions)
        return
    number = region.number(value) if is_scalar(value.type) else None
    address = "" if number is not None else region.data(value)
    update = _ElementUpdate(RegisterWriter(region), node, region.data(result), number, address, positions)
    shape = [write_dimension(region.out, size) for size in item_shape(node) or ()]
    write_loop_nest(region.out, shape, update.write)


def _call_routine(region: LoweringContext, node: Node, positions: Sequence[Position]) -> None:
    """Write and call a routine of the loops; threads share the outermost one."""
    value = node.inputs[1]
    is_number = is_scalar(value.type)
    value_type = register(value.dtype) if is_number else "ptr"
    registers = [position for position in positions if isinstance(position, str)]
    names = {position: f"%position{i}" for i, position in enumerate(dict.fromkeys(registers))}
    sizes_in_routine = open_dimensions(region)
    position_parameters = [f"i64 {name}" for name in names.values()]
    parameters = [*sizes_in_routine, "ptr %target", f"{value_type} %value", *position_parameters]
    routine = PartRoutine(region, parameters)
    number = routine.b.wrap(value.dtype, "%value") if is_number else None
    routine_positions = [names[position] if isinstance(position, str) else position for position in positions]
    update = _ElementUpdate(routine.b, node, "%target", number, "%value", routine_positions)
    shape = [int(size) for size in item_shape(node) or ()]  # type: ignore[arg-type]
    outermost_axis = next(axis for axis, size in enumerate(shape) if size > 1)
    write_loop_nest(routine.out, shape, update.write, ("%first", "%last"), (0,) * outermost_axis)
    name = split_routine(region, parameters, routine, shape[outermost_axis], _ELEMENT_COST * math.prod(shape))
    argument = region.number(value).ir if is_number else region.data(value)
    position_arguments = [f"i64 {position}" for position in names]
    target = f"ptr {region.data(node.results[0])}"
    call(region, name, *sizes_in_routine, target, f"{value_type} {argument}", *position_arguments)


@dataclass
class _ElementUpdate:
    """A writer of the store of one element of the value into the updated part, or of its addition to the element there.

    The value is a `number`, or the array at `value_address`. `positions` are the checked ones of the subscript.
    """

    b: ElementWriter
    node: Node
    target: str
    number: Element | None
    value_address: str
    positions: Sequence[Position]

    def write(self, index: Index) -> None:
        """Store the element of the value at `index` in the target's slice, or add it there."""
        b, x, value = self.b, self.node.inputs[0], self.node.inputs[1]
        element = self.number
        if element is None:
            value_shape = sizes(value.type)
            value_offset = linear_offset(b.out, broadcast_index(index, value_shape), value_shape)
            element = load(b, value.dtype, self.value_address, value_offset)
        target = item_map(self.node).write(b, index, self.positions)
        offset = linear_offset(b.out, target, sizes(x.type))
        element = b.cast(element, x.dtype)
        if self.node.op.name == "add_at_item":
            element = compute(b, "add", [load(b, x.dtype, self.target, offset), element], x.dtype)
        store(b, element, self.target, offset)


def take_writable(region: LoweringContext, value: Value, is_last_use: bool) -> Object:
    """Return an owned reference to a writable array: the value's own array if nothing else needs it, else a copy.

    Nothing else needs it if `is_last_use` is true and, at run time, there is no other reference. An array that was
    allocated with another shape than the value's is copied.
    """
    out = region.out
    base_object = region.object(value)
    copied_label, done_label = out.label("copied"), out.label("writable")
    reuse_block = ""
    if is_last_use and base_object.slot is not None and base_object.original_type is None:
        is_sole_owner = out.new(f"call i1 @is_alone(ptr {base_object.ir})")
        reused_label = out.label("taken")
        out.branch_if(is_sole_owner, reused_label, copied_label)
        out.begin(reused_label)
        out.line(f"store ptr null, ptr {base_object.slot}")
        reuse_block = reused_label
        out.branch(done_label)
    else:
        out.branch(copied_label)
    out.begin(copied_label)
    shape = sizes(value.type)
    array = region.new_array(value.type)
    out.line(f"store ptr null, ptr {array.slot}")
    byte_count = product(out, element_count(out, shape), value.dtype.size)
    address = out.new(f"getelementptr inbounds i8, ptr {array.ir}, i64 {abi.DATA}")
    out.copy(out.load("ptr", address), region.data(value), byte_count)
    copy_block = out.block
    out.branch(done_label)
    out.begin(done_label)
    incoming = f"[ {array.ir}, %{copy_block} ]" + (f", [ {base_object.ir}, %{reuse_block} ]" if reuse_block else "")
    return region.body.own_reference(out.new(f"phi ptr {incoming}"))
