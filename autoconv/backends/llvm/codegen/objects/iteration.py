"""Lower iteration over Python objects by a `Cursor`: an iterator with its current item."""

from __future__ import annotations

from autoconv.backends.call_form import slot_offset
from autoconv.backends.llvm.codegen.objects.operation import Operation, object_lowering, takes_objects
from autoconv.backends.llvm.runtime.objects import OTHER
from autoconv.graph.graph import Node
from autoconv.graph.types import ObjectType
from autoconv.ops.python.iteration import Cursor

_CURRENT_OFFSET, _ITERATOR_OFFSET = (slot_offset(Cursor(iter(())), name) for name in ("current", "iterator"))


@object_lowering("object_iterate", fits=lambda node: takes_objects(node) and not node.attributes.get("start"))
def write_iterate(op: Operation) -> None:
    """Allocate a Cursor at the beginning of a built-in container."""
    (container,), out = op.operands(), op.out
    iterator = op.call("object_iterator", container)

    def write_fast_path() -> list[str]:
        """Make a cursor of the iterator, with None as the current item."""
        op.leave_if_failed(out.is_null(iterator))
        cursor_class, none = (op.body.objects.reference(value)(out) for value in (Cursor, None))
        owned_iterator = op.body.own_reference(iterator)
        result = out.call_c("PyType_GenericAlloc", "ptr", "ptr, i64", cursor_class, 0)
        op.leave_if_failed(out.is_null(result))
        out.store("ptr", "null", owned_iterator.slot)
        out.call("retain", none)
        for offset, object_ in ((_ITERATOR_OFFSET, iterator), (_CURRENT_OFFSET, none)):
            out.store("ptr", object_, op.field_address(result, offset))
        return [result]

    op.use_kernel_if(out.is_same(iterator, OTHER), write_fast_path)


def _takes_cursor(node: Node) -> bool:
    """Return whether the operand is a Cursor."""
    return node.inputs[0].type == ObjectType("iterator")


@object_lowering("object_advance", fits=_takes_cursor)
def write_advance(op: Operation) -> None:
    """Advance a Cursor to the next item; the result is true if there is one."""
    (cursor,), out = op.operands(), op.out
    iterator = out.load("ptr", op.field_address(cursor, _ITERATOR_OFFSET))
    result = op.call("object_advance", iterator, op.field_address(cursor, _CURRENT_OFFSET))
    op.leave_if_failed(out.icmp("slt", result, 0))
    op.set(op.node.results[0], out.icmp("ne", result, 0))


@object_lowering("object_current", fits=_takes_cursor)
def write_current(op: Operation) -> None:
    """Return the current item of a Cursor."""
    (cursor,), out = op.operands(), op.out
    item = out.load("ptr", op.field_address(cursor, _CURRENT_OFFSET))
    out.call("retain", item)
    op.set(op.node.results[0], item)


@object_lowering("object_unpack", fits=lambda node: takes_objects(node) and node.attributes.get("star", -1) < 0)
def write_unpack(op: Operation) -> None:
    """Unpack a tuple with exactly as many items as targets; the kernel unpacks other objects."""
    (object_,), out, count = op.operands(), op.out, op.attributes["count"]
    is_tuple = op.call("object_is_tuple", object_, count)

    def write_fast_path() -> list[str]:
        items = [out.call_c("PyTuple_GetItem", "ptr", "ptr, i64", object_, i) for i in range(count)]
        for item in items:
            out.call("retain", item)
        return items

    op.use_kernel_if(out.not_(is_tuple), write_fast_path)
