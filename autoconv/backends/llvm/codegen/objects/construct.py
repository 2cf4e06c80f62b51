"""Lower the allocation of instances of the user's classes."""

from __future__ import annotations

from autoconv.backends.llvm.codegen.objects.operation import Operation, object_lowering, takes_objects
from autoconv.graph.graph import Node


def _stores_attributes_directly(node: Node) -> bool:
    """Return whether setting the attributes that the node names only stores them in the instance's dict."""
    cls, names = node.attributes["class_"], node.attributes["names"]
    has_descriptor = any(hasattr(type(getattr(cls, name, None)), "__set__") for name in names)
    return takes_objects(node) and cls.__setattr__ is object.__setattr__ and not has_descriptor


@object_lowering("object_make", fits=_stores_attributes_directly)
def write_make(op: Operation) -> None:
    """Allocate an instance and set its attributes one by one."""
    cls, new = (op.body.objects.reference(object_)(op.out) for object_ in (op.attributes["class_"], object.__new__))
    result = op.out.call_c("PyObject_Vectorcall", "ptr", "ptr, ptr, i64, ptr", new, op.store_array([cls]), 1, "null")
    op.set_new_reference(result)
    for name, value in zip(op.attributes["names"], op.operands(), strict=True):
        key = op.body.objects.reference(name)(op.out)
        status = op.out.call_c("PyObject_SetAttr", "i32", "ptr, ptr, ptr", result, key, value)
        op.leave_if_failed(op.out.icmp("slt", status, 0))
