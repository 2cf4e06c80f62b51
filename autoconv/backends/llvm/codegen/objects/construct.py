"""Allocate instances of the user's classes in native code."""

from __future__ import annotations

from autoconv.backends.llvm.codegen.objects.operation import Operation, on_objects, takes_objects
from autoconv.graph.graph import Node


def _is_plainly_made(node: Node) -> bool:
    """Return whether setting these attributes only stores them in the instance's dict."""
    kind, names = node.attributes["kind"], node.attributes["names"]
    own = any(hasattr(type(getattr(kind, name, None)), "__set__") for name in names)
    return takes_objects(node) and kind.__setattr__ is object.__setattr__ and not own


@on_objects("object_make", fits=_is_plainly_made)
def write_make(op: Operation) -> None:
    """Make an instance and set its attributes one by one."""
    kind, new = (op.body.calls.object(one)(op.out) for one in (op.attributes["kind"], object.__new__))
    result = op.out.call_c("PyObject_Vectorcall", "ptr", "ptr, ptr, i64, ptr", new, op.array([kind]), 1, "null")
    op.set_new_reference(result)
    for name, value in zip(op.attributes["names"], op.operands(), strict=True):
        key = op.body.calls.object(name)(op.out)
        op.check(op.out.icmp("slt", op.out.call_c("PyObject_SetAttr", "i32", "ptr, ptr, ptr", result, key, value), 0))
