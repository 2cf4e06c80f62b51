"""Lower writes to objects older than the run: kernels log how to undo them, until nothing is left to log.

From then on native code writes. Each write in the program has a cell that holds such an object, initially null.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.backends.llvm.codegen.frame import Body
from autoconv.backends.llvm.codegen.objects.operation import Operation
from autoconv.backends.llvm.ir.operand import NULL
from autoconv.backends.llvm.runtime.objects import OTHER, mask
from autoconv.ops.python.undo_log import attribute_is_settled, items_are_settled, length_is_settled, owner_is_settled

FIRST_SITE = 24  # bytes before the first cell in the state of recursive functions (see control/recursion.py)
SITES = 32  # places in recursive functions whose cells all calls share
_CONTAINERS = mask("list", "dict", "set")


def write_item(op: Operation) -> None:
    """Lower `x[i] = y`."""
    _write(op, lambda: op.call("object_set_item", *op.operands()), items_are_settled)


def write_attribute(op: Operation, *operands: str) -> None:
    """Lower `x.name = y`, given x, the name and y."""
    name = op.attributes["name"]
    _write(op, lambda: op.call("object_put_attribute", *operands), lambda owner: attribute_is_settled(owner, name))


def write_method(op: Operation, owners: int) -> None:
    """Lower `x.append(y)` and other mutating methods of containers."""
    name, operands = op.attributes["name"], op.operands()
    if name == "append" and len(operands) == 2:
        _write(op, lambda: op.call("object_append", *operands), length_is_settled)
        return
    method = op.body.calls.object(name)(op.out)
    call_arguments = method, op.array(operands), len(operands), owners | _CONTAINERS
    _write(op, lambda: op.call("object_call_method", *call_arguments), owner_is_settled)


def _write(op: Operation, write: Callable[[], str], settled: Callable[[Any], bool]) -> None:
    out, owner = op.out, op.operands()[0]
    cell = _object_cell(op.body)
    is_same_owner = out.is_same(owner, out.load("ptr", cell))
    found = out.where(is_same_owner, write, OTHER)

    def ask() -> None:
        answer = out.call("call_python", op.body.calls.object(settled)(out), op.array([owner]), 1)
        op.body.fail_if(out.is_null(answer))
        yes = out.is_same(answer, op.body.calls.object(True)(out))
        out.store("ptr", out.select(yes, owner, NULL), cell)
        slot = out.alloca("ptr")
        out.store("ptr", answer, slot)
        op.body.release(slot)

    op.set_result(found, ask)


def _object_cell(body: Body) -> str:
    """Return the address of the cell for the object, initially null."""
    if body.recursion is not None and len(body.module.sites) < SITES:
        body.module.sites.append(None)
        offset = FIRST_SITE + 8 * (len(body.module.sites) - 1)
        return body.out.gep("i8", body.recursion[0], offset)
    return body.out.alloca("ptr", "null")


__all__ = ["FIRST_SITE", "SITES", "write_attribute", "write_item", "write_method"]
