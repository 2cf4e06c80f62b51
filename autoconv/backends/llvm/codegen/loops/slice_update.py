"""Updates of a part of an array: in place if nothing else refers to the array, else in a copy."""

from __future__ import annotations

from autoconv.backends.llvm.analysis.index_maps import item_map
from autoconv.backends.llvm.analysis.indexing import item_shape
from autoconv.backends.llvm.analysis.representation import is_scalar, sizes
from autoconv.backends.llvm.analysis.symbolic_sizes import write_dimension
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import class_lowering
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
from autoconv.backends.llvm.ir.scalars import load, store
from autoconv.backends.llvm.target import abi
from autoconv.graph.graph import Node, Value


@class_lowering("update")
def write_update(region: LoweringContext, node: Node) -> None:
    """Write the stores of a value into a part of an array: the array itself if nothing else needs it, else a copy."""
    region.check_positions(node)
    (result,) = node.results
    x, value = node.inputs[:2]
    is_last_use = region.remaining_uses[x] == node.inputs.count(x) == 1
    region.set(result, take_writable(region, x, is_last_use))
    pointer = region.data(result)
    shape = _updated_shape(region, node)
    write_loop_nest(region.out, shape, lambda index: _write_element(region, node, value, pointer, index))


def _updated_shape(region: LoweringContext, node: Node) -> tuple[Position, ...]:
    """Return the sizes of the part that is updated."""
    return tuple(write_dimension(region.out, size) for size in item_shape(node) or ())


def _write_element(region: LoweringContext, node: Node, value: Value, pointer: str, index: Index) -> None:
    """Store one element of the value, at an index of the updated part, or add it to the element there."""
    b = RegisterWriter(region)
    if is_scalar(value.type):
        element = region.number(value)
    else:
        value_shape = sizes(value.type)
        value_offset = linear_offset(region.out, broadcast_index(index, value_shape), value_shape)
        element = load(b, value.dtype, region.data(value), value_offset)
    x = node.inputs[0]
    dtype = x.dtype
    target = item_map(node).write(b, index, region.checked_positions.get(node, []))
    offset = linear_offset(region.out, target, sizes(x.type))
    element = b.cast(element, dtype)
    if node.op.name == "add_at_item":
        element = compute(b, "add", [load(b, dtype, pointer, offset), element], dtype)
    store(b, element, pointer, offset)


def take_writable(region: LoweringContext, value: Value, is_last_use: bool) -> Object:
    """Return an owned reference to a writable array: the value's own if nothing else needs it, else a copy.

    Nothing else needs it if `is_last_use` is true and, at run time, there is no other reference.
    """
    out = region.out
    base_object = region.object(value)
    copied_label, done_label = out.label("copied"), out.label("writable")
    reuse_block = ""
    if is_last_use and base_object.slot is not None:
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
