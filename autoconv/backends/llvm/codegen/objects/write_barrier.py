"""Lower writes to objects that existed before the run; the undo log records the changes.

An object is *settled* once the undo log has recorded everything that further writes can change. Kernels write to an
object until it is settled; then native code writes. Each write in the program has a cell with the address of an object
that is settled, initially null. Writes to items of one object share a cell.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from autoconv.backends.llvm.codegen.frame import Body
from autoconv.backends.llvm.codegen.objects.operation import Operation
from autoconv.backends.llvm.ir.operand import NULL
from autoconv.backends.llvm.runtime.objects import OTHER, class_mask
from autoconv.ops.python.undo_log import (
    appends_need_no_log,
    attribute_needs_no_log,
    count_item_write,
    owner_needs_no_log,
)

SITE_CELLS_OFFSET = 24  # bytes before the first cell in the state of recursive functions (see control/recursion.py)
SITE_LIMIT = 32  # most writes in recursive functions that have a cell in the state which all calls share
_CONTAINERS = class_mask("list", "dict", "set", "deque")


def write_item(op: Operation) -> None:
    """Lower `x[i] = y`."""
    _write_with_barrier(op, lambda: op.call("object_set_item", *op.operands()), count_item_write)


def write_attribute(op: Operation, *operands: str) -> None:
    """Lower `x.name = y`, given x, the name and y."""
    name = op.attributes["name"]
    put_attribute = partial(op.call, "object_put_attribute", *operands)
    _write_with_barrier(op, put_attribute, lambda owner: attribute_needs_no_log(owner, name))


def write_method(op: Operation, unlogged_classes: int) -> None:
    """Lower `x.append(y)` and other mutating methods.

    `unlogged_classes` is the mask of the classes for which a call needs no undo log.
    """
    name, operands = op.attributes["name"], op.operands()
    if name == "append" and len(operands) == 2:
        _write_with_barrier(op, lambda: op.call("object_append", *operands), appends_need_no_log)
        return
    method = op.body.objects.reference(name)(op.out)
    call_arguments = method, op.store_array(operands), len(operands), unlogged_classes | _CONTAINERS
    write_change_of_items(op, lambda: op.call("object_call_method", *call_arguments))


def write_change_of_items(op: Operation, write: Callable[[], str]) -> None:
    """Lower an operation that may change any items of its first operand, such as `heapq.heappush(x, y)`."""
    _write_with_barrier(op, write, owner_needs_no_log)


def _write_with_barrier(op: Operation, write: Callable[[], str], is_settled: Callable[[Any], bool]) -> None:
    """Write by native code if the cell has the owner, that is, the object written to; otherwise by the kernel.

    `write` writes the native code. After the kernel, the owner is stored in the cell if the Python function
    `is_settled` returns true for it.
    """
    out, owner = op.out, op.operands()[0]
    cell = _cell_of_items(op.body, owner) if is_settled is count_item_write else _new_site_cell(op.body)
    is_same_owner = out.is_same(owner, out.load("ptr", cell))
    result = out.where(is_same_owner, write, OTHER)

    def update_cell() -> None:
        """Store the object in the cell if `is_settled` is true of it, else null."""
        function = op.body.objects.reference(is_settled)(out)
        is_settled_object = out.call("call_python", function, op.store_array([owner]), 1)
        op.body.fail_if(out.is_null(is_settled_object))
        is_true = out.is_same(is_settled_object, op.body.objects.reference(True)(out))
        out.store("ptr", out.select(is_true, owner, NULL), cell)
        slot = out.alloca("ptr")
        out.store("ptr", is_settled_object, slot)
        op.body.release(slot)

    op.set_result(result, update_cell)


def _cell_of_items(body: Body, owner: str) -> str:
    """Return the address of the cell that all writes to items of the register `owner` share."""
    if body.recursion is not None:
        return _new_site_cell(body)
    if owner not in body.settled_cells:
        body.settled_cells[owner] = _new_site_cell(body)
    return body.settled_cells[owner]


def _new_site_cell(body: Body) -> str:
    """Return the address of a new cell for a settled object."""
    if body.recursion is not None and body.module.site_count < SITE_LIMIT:
        state, _depth = body.recursion
        offset = SITE_CELLS_OFFSET + 8 * body.module.site_count
        body.module.site_count += 1
        return body.out.gep("i8", state, offset)
    return body.out.alloca("ptr", "null")
