"""Lower `try`: any failure in the body branches to the handler, with the exception as its first argument.

The handler first releases the slots of the body, as the exit of a function does. While it runs, the exception is the
one that Python considers handled, so that exceptions raised by the handler get it as their context.
"""

from __future__ import annotations

from typing import Any

from autoconv.backends.heap_stack import LIMITS
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.control.join_slots import as_borrowed, fill, new_cell, read
from autoconv.backends.llvm.codegen.objects.operation import Operation, on_objects, takes_objects
from autoconv.backends.llvm.codegen.registry import lowering
from autoconv.backends.llvm.runtime.exceptions import FUNCTIONS
from autoconv.graph.graph import Node


@lowering("try")
def write_try(region: LoweringContext, node: Node) -> None:
    """Write a body, what follows its normal end, and the handler; either of the last two yields the results."""
    out, body = region.out, region.body
    attempt, normal, handler = node.regions
    captures = [as_borrowed(region.native(value)) for value in node.inputs]
    results = [new_cell(region, value.type) for value in node.results]
    cells = [new_cell(region, value.type) for value in attempt.outputs]
    before = out.slot()
    caught, unhandled, done = out.label("caught"), out.label("unhandled"), out.label("tried")

    outer, body.failed, first = body.failed, caught, out.slots
    fill(region, cells, attempt.outputs, attempt.outputs, region.inner(attempt, captures))
    body.failed, slot_count = outer, out.slots - first
    values = [read(region, cell, value.type) for cell, value in zip(cells, attempt.outputs, strict=True)]
    fill(region, results, node.results, normal.outputs, region.inner(normal, [*values, *captures]))
    out.branch(done)

    out.begin(caught)
    if slot_count:
        out.call("release_all", f"%slot{first}", slot_count)
    body.release_spares()
    limits = body.calls.object(LIMITS)(out)
    error = out.call_c("catch_error", *FUNCTIONS["catch_error"], limits, before)
    body.check(out.is_null(error))
    body.failed = unhandled
    fill(region, results, node.results, handler.outputs, region.inner(handler, [body.own(error), *captures]))
    body.failed = outer
    out.call_c("end_handling", *FUNCTIONS["end_handling"], before)
    out.branch(done)

    out.begin(unhandled)
    out.call("end_handling", before)
    out.branch(outer)

    out.begin(done)
    for value, cell in zip(node.results, results, strict=True):
        region.set(value, read(region, cell, value.type))


def _names_exceptions(kinds: Any) -> bool:
    """Return whether the object is a class of exceptions, or a tuple of such, as an except clause requires."""
    if isinstance(kinds, tuple):
        return all(map(_names_exceptions, kinds))
    return isinstance(kinds, type) and issubclass(kinds, BaseException)


@on_objects("object_match", fits=lambda node: takes_objects(node) and _names_exceptions(node.attributes["clauses"]))
def write_match(op: Operation) -> None:
    """Compute the number of the first clause that catches the exception, or the number of clauses if none does."""
    (error,) = op.operands()
    op.set(op.node.results[0], op.body.calls.match(op.out, error, op.attributes["clauses"]))
