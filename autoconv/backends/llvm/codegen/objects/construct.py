"""Lower the allocation of instances of the user's classes."""

from __future__ import annotations

from autoconv.backends.llvm.codegen.objects.operation import Operation, object_lowering, takes_objects
from autoconv.graph.graph import Node


def _has_plain_attributes(node: Node) -> bool:
    """Return whether setting the node's attributes only stores them in the instance's dict."""
    class_, names = node.attributes["class_"], node.attributes["names"]
    has_descriptor = any(hasattr(type(getattr(class_, name, None)), "__set__") for name in names)
    return takes_objects(node) and class_.__setattr__ is object.__setattr__ and not has_descriptor


@object_lowering("object_make", fits=_has_plain_attributes)
def write_make(op: Operation) -> None:
    """Allocate an instance and set its attributes one by one."""
    class_, new = (op.body.objects.reference(object_)(op.out) for object_ in (op.attributes["class_"], object.__new__))
    result = op.out.call_c("PyObject_Vectorcall", "ptr", "ptr, ptr, i64, ptr", new, op.store_array([class_]), 1, "null")
    op.set_new_reference(result)
    for name, value in zip(op.attributes["names"], op.operands(), strict=True):
        key = op.body.objects.reference(name)(op.out)
        status = op.out.call_c("PyObject_SetAttr", "i32", "ptr, ptr, ptr", result, key, value)
        op.leave_if_failed(op.out.icmp("slt", status, 0))
