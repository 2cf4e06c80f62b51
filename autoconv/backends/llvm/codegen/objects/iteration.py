"""Lower iteration over Python objects."""

from __future__ import annotations

from autoconv.backends.call_form import slot_offset
from autoconv.backends.llvm.codegen.objects.operation import Operation, on_objects, takes_objects
from autoconv.backends.llvm.runtime.objects import OTHER
from autoconv.graph.graph import Node
from autoconv.graph.types import ObjectType
from autoconv.ops.python.iteration import Cursor

_CURRENT_OFFSET, _ITEMS_OFFSET = (slot_offset(Cursor(iter(())), name) for name in ("current", "items"))


@on_objects("object_iterate", fits=lambda node: takes_objects(node) and not node.attributes.get("start"))
def write_iterate(op: Operation) -> None:
    """Allocate a Cursor at the beginning of a built-in container."""
    (items,), out = op.operands(), op.out
    iterator = op.call("object_iterator", items)

    def write_fast_path() -> list[str]:
        op.leave_if_failed(out.is_null(iterator))
        cursor_class, none = (op.body.objects.reference(value)(out) for value in (Cursor, None))
        reference = op.body.own_reference(iterator)
        result = out.call_c("PyType_GenericAlloc", "ptr", "ptr, i64", cursor_class, 0)
        op.leave_if_failed(out.is_null(result))
        out.store("ptr", "null", reference.slot)
        out.call("retain", none)
        for offset, reference in ((_ITEMS_OFFSET, iterator), (_CURRENT_OFFSET, none)):
            out.store("ptr", reference, op.field_address(result, offset))
        return [result]

    op.use_kernel_if(out.is_same(iterator, OTHER), write_fast_path)


def _takes_cursor(node: Node) -> bool:
    return node.inputs[0].type == ObjectType("iterator")


@on_objects("object_advance", fits=_takes_cursor)
def write_advance(op: Operation) -> None:
    """Advance a Cursor; the result is true if there was another item."""
    (cursor,), out = op.operands(), op.out
    items = out.load("ptr", op.field_address(cursor, _ITEMS_OFFSET))
    result = op.call("object_advance", items, op.field_address(cursor, _CURRENT_OFFSET))
    op.leave_if_failed(out.icmp("slt", result, 0))
    op.set(op.node.results[0], out.icmp("ne", result, 0))


@on_objects("object_current", fits=_takes_cursor)
def write_current(op: Operation) -> None:
    """Return the current item of a Cursor."""
    (cursor,), out = op.operands(), op.out
    item = out.load("ptr", op.field_address(cursor, _CURRENT_OFFSET))
    out.call("retain", item)
    op.set(op.node.results[0], item)


@on_objects("object_unpack", fits=lambda node: takes_objects(node) and node.attributes.get("star", -1) < 0)
def write_unpack(op: Operation) -> None:
    """Unpack a tuple with exactly as many items as there are names; the kernel unpacks other objects."""
    (items,), out, count = op.operands(), op.out, op.attributes["count"]
    fits = op.call("object_is_tuple", items, count)

    def write_fast_path() -> list[str]:
        result = [out.call_c("PyTuple_GetItem", "ptr", "ptr, i64", items, i) for i in range(count)]
        for item in result:
            out.call("retain", item)
        return result

    op.use_kernel_if(out.not_(fits), write_fast_path)
