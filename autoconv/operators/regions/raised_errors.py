"""Errors that arise while a region is recorded: which become part of the graph, and how they are recorded."""

from __future__ import annotations

import dis
import re
import signal
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from autoconv.config.paths import is_own_file
from autoconv.errors import (
    AssertionFailedError,
    AutoconvError,
    ConversionError,
    InaccessibleTensorError,
    OperatorNotAllowedInGraphError,
    Place,
    StagingError,
)
from autoconv.graph.graph import Span
from autoconv.operators.regions.layout import Variant
from autoconv.operators.regions.tracing_signals import AbandonTrace, Suspended
from autoconv.operators.regions.value_layout import has_leaves
from autoconv.operators.support.deferred_messages import template_of
from autoconv.ops.program_errors import is_marked_as_program_error
from autoconv.ops.python.exception_groups import leaves_of_group
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN
from autoconv.runtime.objects.rebuilt_arguments import is_rebuilt
from autoconv.runtime.objects.staged_exceptions import StagedException
from autoconv.runtime.objects.symbol_search import holds_created_objects, holds_symbols, varies_by_call
from autoconv.runtime.objects.symbolic_objects import apply_object, box, record_object
from autoconv.runtime.recording.regions import Region, current_region, recording
from autoconv.runtime.recording.tracebacks import is_package_error, walk_links
from autoconv.runtime.support.spans import place_of, span_of_error
from autoconv.runtime.support.structure import is_structure, mutable_parts
from autoconv.runtime.tensors.symbolic import SymbolicTensor

# Errors of tracing itself, which never become exceptions raised by the graph.
TRACING_ERRORS = (StagingError, ConversionError, InaccessibleTensorError, OperatorNotAllowedInGraphError)

# Errors that the operators raise on behalf of the user's code; others of this package are errors of tracing.
_RUN_TIME_ERRORS = (LookupError, UnboundLocalError, ArithmeticError, StopIteration, AssertionFailedError)

# Errors that Python's operations raise on symbolic tensors; under TensorFlow's contract, handlers may catch them.
_SYMBOLIC_TENSOR_ERRORS = (InaccessibleTensorError, OperatorNotAllowedInGraphError, AttributeError)


def cannot_be_caught(error: BaseException) -> bool:
    """Return whether no except clause of the program may catch the error, because it is an error of tracing.

    Under TensorFlow's contract a clause may catch what an operation of Python raises on a symbolic tensor.
    """
    region = current_region()
    if region is not None and not region.contract.python_exceptions and isinstance(error, _SYMBOLIC_TENSOR_ERRORS):
        return False
    if isinstance(error, TRACING_ERRORS) or not _may_come_from_program(error) or _is_too_deep(error):
        return True
    return getattr(error, "_autoconv_uncatchable_in_trace", False) or _mentions_placeholder(error)


def _is_too_deep(error: BaseException) -> bool:
    """Return whether the error may come from Python's recursion limit, as a trace uses more frames than the program."""
    region = current_region()
    return type(error) is RecursionError and (region is None or region.contract.runs_plain)


_PLACEHOLDER_NAMES = re.compile(
    r"\b(Symbolic(Tensor|Object|Array)|Variant|(Array|Instance|Number|Object)Method|ArrayMember|NotAssigned|HeldIterator)\b"
    r"|\b(Traced(List|Dict|Set)|DictView|Staged(Range|Tensor|Count|Array|Numbers|List|Sequence|Zip|Enumerate|Reversed|Map))\b"
    # raised by Python without the name of the class, or with the name of another one
    r"|vars\(\) argument must have __dict__ attribute|super\(type, obj\): obj (must be|\(instance of)"
)


def _mentions_placeholder(error: BaseException) -> bool:
    """Return whether the message names one of our placeholder classes in place of a class of the program."""
    if type(error) not in (TypeError, AttributeError, ValueError):
        return False
    return any(isinstance(part, str) and _PLACEHOLDER_NAMES.search(part) for part in error.args)


def _may_come_from_program(error: BaseException) -> bool:
    """Return whether the error may come from the program: for most errors True.

    MemoryError, interrupts and the end of a generator come from it only if one of its `raise` statements raised them:
    tracing may run out of memory where the program does not.
    """
    if isinstance(error, (Exception, SystemExit)) and not isinstance(error, MemoryError):
        return True
    if isinstance(error, (AbandonTrace, Suspended)):
        return False
    innermost_frame = error.__traceback__
    if innermost_frame is None:
        return True  # `record_raise` has removed it
    signal_handler_codes = {getattr(signal.getsignal(number), "__code__", None) for number in signal.valid_signals()}
    while innermost_frame.tb_next is not None:
        innermost_frame = innermost_frame.tb_next
    code = innermost_frame.tb_frame.f_code
    return (
        code.co_code[innermost_frame.tb_lasti] == _RAISE_OPCODE
        and not is_own_file(code.co_filename)
        and code not in signal_handler_codes
    )


_RAISE_OPCODE = dis.opmap["RAISE_VARARGS"]


def is_raised_for_program(error: BaseException) -> bool:
    """Return whether this package raised the error on behalf of the program: by its mark, or in a call of sys.exit."""
    return is_marked_as_program_error(error) or isinstance(error, SystemExit)


def is_tracing_error(error: BaseException) -> bool:
    """Return whether the error is one of tracing itself, which plain Python would not raise."""
    if cannot_be_caught(error):
        return True
    if type(error) is StagedException:
        return False
    if is_raised_for_program(error):
        return False
    return is_package_error(error) and not isinstance(error, _RUN_TIME_ERRORS)


def bypasses_handlers(error: BaseException | None) -> bool:
    """Return whether the exception bypasses the program's except clauses; True where `error` is None."""
    region = current_region()
    if type(error) is Suspended:
        return False  # the end of the body is unknown, and the handlers may be reached
    if error is None or cannot_be_caught(error):
        return True
    return region is not None and region.contract.python_exceptions and is_tracing_error(error)


def record_raise(region: Region, error: BaseException) -> None:
    """Record a node that raises the exception; symbolic values in its message are formatted at run time."""
    span = span_of_error(error)
    if type(error) is StagedException:  # `again` marks an exception that a handler has caught, and raises again
        attributes: dict[str, Any] = {"again": True} if error.is_handled else {}
        contexts = [] if error.is_handled else _record_links_of_staged(region, error)
        attributes |= {"linked": "context"} if contexts else {}
        inputs = [region.lift(x.value_in_graph) for x in (error.value, *contexts)]
        region.record("object_raise", inputs, attributes, span=span)
        return
    has_values_in_attributes = False
    arguments = error.args
    if region.contract.objects_in_graph:
        with recording(region):
            error.args = tuple(box(x) if _is_built_from_symbols(x) else x for x in arguments)
            has_values_in_attributes = any(map(holds_created_objects, vars(error).values()))
    elif any(is_structure(argument) and has_leaves(argument, region) for argument in arguments):
        raise StagingError(
            f"{type(error).__name__} is raised with a list, dict or object of values that are known only when the "
            "graph runs", place_of(span) if span is not None else None, "the values themselves as its arguments",
        ) from None  # fmt: skip
    template, tensors = template_of(error)
    if error.__cause__ is None and error.__context__ is None:
        error.args = arguments  # an existing exception may be raised on other paths too
    has_values_in_attributes |= any(isinstance(value, (SymbolicTensor, Variant)) for value in vars(error).values())
    _refuse_values_out_of_reach(error, has_values_in_attributes, template is not None, span)
    error.__traceback__ = None
    if _record_link(region, error, tensors, span):
        return
    inputs = [region.lift(tensor.value_in_graph) for tensor in tensors]
    exception = error if template is None else type(error)
    attributes = {"exception": exception, "template": template}
    links = error.__cause__, error.__context__
    if template is not None and (error.__suppress_context__ or any(link is not None for link in links)):
        attributes["chain"] = error
    region.record("raise", inputs, attributes, span=span)


def _record_links_of_staged(region: Region, error: StagedException) -> list[Any]:
    """Record the cause that `raise … from` gives an exception of the graph; return its context, if there is one."""
    context: Any = error.__context__
    with recording(region):
        if error.__suppress_context__:
            record_object("object_set_attribute", [error.value, error.__cause__], name="__cause__")
        if type(context) is StagedException:
            return [box(context)]
        if context is None or is_tracing_error(context):
            return []
        return [record_object("object_exception", [], exception=context)]


def _refuse_values_out_of_reach(
    error: BaseException, has_values_in_attributes: bool, has_values_in_arguments: bool, span: Span | None
) -> None:
    """Raise StagingError for an exception with values of the graph that are not arguments of Python's constructor.

    Such values are in attributes, in arguments of a user-defined constructor, or in the exceptions of a group. The
    graph, which builds the exception at run time, could not insert them.
    """
    place = place_of(span) if span is not None else None
    has_own_constructor = isinstance(type(error).__init__, FunctionType) and not isinstance(error, AutoconvError)
    if has_values_in_attributes or (has_values_in_arguments and has_own_constructor):
        raise StagingError(
            f"{type(error).__name__} has its own constructor, and the values it is raised with are known only when "
            "the graph runs",
            place,
            "an exception of Python's own, with the values as its arguments",
        ) from None
    for linked_error in walk_links(error):
        refuse_graph_values_in_group(linked_error, place)


def refuse_graph_values_in_group(error: object, place: Place | None) -> None:
    """Raise StagingError for an exception group in which an exception has values of the graph."""
    parts = leaves_of_group(error) if isinstance(error, BaseExceptionGroup) else ()
    if any(tensors for _, tensors in map(template_of, parts)):
        raise StagingError(
            "an exception in a group has values that are known only at run time",
            place,
            "exceptions whose arguments are constants",
        ) from None


def _record_link(region: Region, error: BaseException, tensors: Sequence[Any], span: Span | None) -> bool:
    """Record the exception with its cause or context if that contains values of the graph; return whether it did.

    Under `function`, which may keep the message alone, the cause and the context are dropped instead.
    """
    for link_kind, link in (("cause", error.__cause__), ("context", error.__context__)):
        if type(link) is not StagedException and not _has_numbers_of_graph(link):
            continue
        is_kept = region.contract.python_exceptions or type(link) is StagedException
        if not is_kept or (not region.contract.python_exceptions and not all(tensor.weak for tensor in tensors)):
            error.__cause__ = error.__context__ = None
            error.__suppress_context__ = False
        else:
            _record_with_link(region, error, link_kind, link, span)
            return True
    return False


def _is_built_from_symbols(value: object) -> bool:
    """Return whether an argument of an exception contains symbolic values, or is an object of the program."""
    if holds_created_objects(value) or is_rebuilt(value) or varies_by_call(value):
        return True
    if any(type(part) in TRACED_TO_PLAIN for part in mutable_parts(value)):
        return True
    return isinstance(value, (Variant, tuple, list, dict, set)) and holds_symbols((value,))


def _has_numbers_of_graph(error: BaseException | None) -> bool:
    """Return whether numbers of the graph are arguments of the exception or of one that it is linked to."""
    while error is not None:
        if type(error) is StagedException or any(isinstance(x, (SymbolicTensor, Variant)) for x in error.args):
            return True
        error = error.__cause__ or error.__context__
    return False


def _record_with_link(region: Region, error: BaseException, link_kind: str, link: Any, span: Any) -> None:
    """Record the raise of an exception whose cause or context is known only at run time."""
    template, tensors = template_of(error)
    cause = error.__cause__ if link_kind == "context" else None
    suppresses_context = error.__suppress_context__
    error.__cause__ = error.__context__ = None
    error.__suppress_context__ = suppresses_context  # the assignment of a cause has set this flag
    with recording(region):
        arguments = [_build_argument(entry, tensors) for entry in template or ()]
        result = record_object("object_exception", arguments, exception=error if template is None else type(error))
        if cause is not None:
            record_object("object_set_attribute", [result, cause], name="__cause__")
        elif suppresses_context and link_kind == "context" and template is not None:
            record_object("object_set_attribute", [result, True], name="__suppress_context__")
        inputs = [region.lift(x.value_in_graph) for x in (result, box(link))]
        region.record("object_raise", inputs, {"linked": link_kind}, span=span)


def _build_argument(entry: Any, tensors: Sequence[Any]) -> Any:
    """Build one argument of an exception from its entry in a template (see `deferred_messages.template_of`).

    A number is the position of a tensor, (None, value) a constant; other tuples have the pieces of a text.
    """
    if isinstance(entry, int):
        return tensors[entry]
    if entry and entry[0] is None:
        return entry[1]
    text: Any = ""
    for piece in entry:
        text = text + (piece if isinstance(piece, str) else apply_object("str", tensors[piece]))
    return text
