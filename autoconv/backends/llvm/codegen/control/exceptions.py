"""Lower `try`: any failure in the body branches to the handler, whose first argument is the exception.

The path to the handler first releases the slots of the body, as the exit of a function does. While the handler runs,
the exception is Python's handled exception (`sys.exception()`), so that exceptions raised by the handler get it as
their context.
"""

from __future__ import annotations

from typing import Any

from autoconv.backends.heap_stack import LIMIT_ERRORS
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.control.join_cells import as_borrowed, load_cell, new_cell, store_outputs
from autoconv.backends.llvm.codegen.objects.operation import Operation, object_lowering, takes_objects
from autoconv.backends.llvm.codegen.registry import lowering
from autoconv.backends.llvm.runtime.exceptions import SIGNATURES
from autoconv.graph.graph import Node


@lowering("try")
def write_try(region: LoweringContext, node: Node) -> None:
    """Write the body, the region after its normal end, and the handler; one of the last two has the results."""
    out, body = region.out, region.body
    attempt, normal, handler = node.regions  # the body, the region after its normal end, the handler
    captures = [as_borrowed(region.representation_of(value)) for value in node.inputs]
    result_cells = [new_cell(region, value.type) for value in node.results]
    attempt_cells = [new_cell(region, value.type) for value in attempt.outputs]
    handled_before = out.slot()  # takes the exception that was being handled when the handler began
    caught_label, unhandled_label, done_label = out.label("caught"), out.label("unhandled"), out.label("tried")

    outer_failure_label, body.failure_label, first_slot = body.failure_label, caught_label, out.slot_count
    store_outputs(region, attempt_cells, attempt.outputs, region.write_nested(attempt, captures))
    body.failure_label, slot_count = outer_failure_label, out.slot_count - first_slot
    cells_and_outputs = zip(attempt_cells, attempt.outputs, strict=True)
    attempt_values = [load_cell(region, cell, value.type) for cell, value in cells_and_outputs]
    natives = region.write_nested(normal, [*attempt_values, *captures])
    store_outputs(region, result_cells, node.results, natives)
    out.branch(done_label)

    out.begin(caught_label)
    if slot_count:
        out.call("release_all", f"%slot{first_slot}", slot_count)
    body.release_spares()
    limit_errors = body.objects.reference(LIMIT_ERRORS)(out)
    error = out.call_c("catch_error", *SIGNATURES["catch_error"], limit_errors, handled_before)
    body.fail_if(out.is_null(error))
    body.failure_label = unhandled_label
    natives = region.write_nested(handler, [body.own_reference(error), *captures])
    store_outputs(region, result_cells, node.results, natives)
    body.failure_label = outer_failure_label
    out.call_c("end_handling", *SIGNATURES["end_handling"], handled_before)
    out.branch(done_label)

    out.begin(unhandled_label)  # an exception of the handler goes on to the enclosing failure block
    out.call("end_handling", handled_before)
    out.branch(outer_failure_label)

    out.begin(done_label)
    for value, cell in zip(node.results, result_cells, strict=True):
        region.set(value, load_cell(region, cell, value.type))


def _is_exception_class(classes: Any) -> bool:
    """Return whether `classes` is an exception class, or a nest of tuples of them, as an except clause requires."""
    if isinstance(classes, tuple):
        return all(map(_is_exception_class, classes))
    return isinstance(classes, type) and issubclass(classes, BaseException)


def _has_exception_classes(node: Node) -> bool:
    """Return whether a match has a native lowering: its clauses name exception classes."""
    return takes_objects(node) and _is_exception_class(node.attributes["clauses"])


@object_lowering("object_match", fits=_has_exception_classes)
def write_match(op: Operation) -> None:
    """Compute the index of the first clause that catches the exception, or the number of clauses if none does."""
    (error,) = op.operands()
    op.set(op.node.results[0], op.body.objects.matching_clause(op.out, error, op.attributes["clauses"]))
