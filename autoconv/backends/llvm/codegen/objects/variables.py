"""Lower reads and assignments of variables, whose arrays are the attribute `value` of Python objects."""

from __future__ import annotations

import numpy as np

from autoconv.backends.llvm.analysis.representation import is_scalar, is_static_array, sizes
from autoconv.backends.llvm.codegen.objects.operation import Operation, object_lowering
from autoconv.backends.llvm.codegen.values import Object
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, load
from autoconv.backends.llvm.target import abi
from autoconv.graph.graph import Node
from autoconv.graph.types import ResourceType


def _has_known_shape(node: Node) -> bool:
    """Return whether the node uses a variable, and its arrays have known shapes."""
    return isinstance(node.inputs[0].type, ResourceType) and all(
        is_static_array(value.type) or is_scalar(value.type) for value in (*node.inputs[1:], *node.results)
    )


@object_lowering("read_variable", fits=_has_known_shape)
def write_read(op: Operation) -> None:
    """Read the attribute; the kernel converts a value that is no plain array."""
    out, objects, (result,) = op.out, op.body.objects, op.node.results
    shape, dtype = sizes(result.type), result.dtype
    name, array_class, descriptor = (objects.reference(item)(out) for item in ("value", np.ndarray, dtype.numpy))
    variable, dimensions = op.region.object(op.node.inputs[0]).ir, objects.shape(shape) if shape else "null"
    kernel = objects.kernel(op.node, op.region.enclosing_calls, is_rare=True)(out)
    array = out.call("array_attribute", variable, name, array_class, descriptor, len(shape), dimensions, kernel)
    op.body.fail_if(out.is_null(array))
    if is_scalar(result.type):
        owned_array = op.body.own_reference(array)
        number = load(ElementWriter(out), dtype, out.load("ptr", out.gep("i8", array, abi.DATA)), 0)
        op.body.release(owned_array.slot)
        op.set(result, number.ir)
    else:
        op.set(result, array)


@object_lowering("assign_variable", fits=_has_known_shape)
def write_assign(op: Operation) -> None:
    """Set the attribute: the types of the graph have been checked. A value in another form goes to the kernel."""
    out, (variable, value) = op.out, op.node.inputs
    native = op.region.representation_of(value)
    array = op.region.box(native) if isinstance(native, Element) else native
    if not isinstance(array, Object) or array.original_type is not None:
        op.region.write_kernel(op.node)
        return
    name = op.body.objects.reference("value")(out)
    kernel = op.body.objects.kernel(op.node, op.region.enclosing_calls, is_rare=True)(out)
    result = out.call("set_attribute", op.region.object(variable).ir, name, array.ir, kernel)
    op.body.fail_if(out.is_null(result))
    if isinstance(native, Element):
        for slot in (op.body.own_reference(result).slot, array.slot):
            op.body.release(slot)
        result = native.ir
    op.set(op.node.results[0], result)
