"""Tracebacks as in plain Python: only the user's frames, also for errors raised by a graph."""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import linecache
import re
from collections.abc import Callable, Collection, Iterator
from types import CodeType, FunctionType, TracebackType
from typing import Any, TypeVar

from autoconv.config.paths import is_own_file
from autoconv.errors import AutoconvError, Place
from autoconv.graph.graph import Span
from autoconv.ops.python.exceptions import set_traceback_provider
from autoconv.runtime.recording.api_dispatch import handler_of
from autoconv.runtime.recording.parameter_conditions import argument_check
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.spans import are_user_frames, is_region, place_of, span_of, walk_traceback

Class = TypeVar("Class", bound=type)


def present(error: BaseException) -> None:
    """Reduce the tracebacks of an error, its causes and its contexts to the user's frames.

    An error raised by a graph gets entries for the traced lines. An error of this package without a place gets the
    innermost line. A bare `raise` after this call adds no entry for the calling function.
    """
    for linked_error in walk_links(error):
        _present(linked_error)


def drop_package_frames(error: BaseException) -> None:
    """Drop this package's frames from the traceback of an error that passes through an operator in plain code.

    Errors during a trace are left alone: they are presented where the trace was started.
    """
    if current_region() is None:
        error.__traceback__ = _link_entries(_user_entries(error.__traceback__))


def drop_callers_of_loops(error: BaseException, code: CodeType, loop_codes: Collection[CodeType]) -> None:
    """Drop the entries of a function with this code that called a graph, or plain code, for one of its loops.

    The entry of the loop's own line takes their place, as in plain Python. `loop_codes` is the plain code of the loops.
    The error's causes and contexts are treated likewise.
    """

    def calls_loop(entry: TracebackType, callee: TracebackType | None) -> bool:
        if callee is None or entry.tb_frame.f_code is not code:
            return False
        return callee.tb_frame.f_code in loop_codes or _is_graph_entry(callee, code.co_name)

    for linked_error in walk_links(error):
        entries = list(walk_traceback(linked_error.__traceback__))
        callees = [*entries[1:], None]
        kept_entries = [entry for entry, callee in zip(entries, callees, strict=True) if not calls_loop(entry, callee)]
        if len(kept_entries) < len(entries):
            linked_error.__traceback__ = _link_entries(kept_entries)


def _is_graph_entry(entry: TracebackType, name: str) -> bool:
    """Return whether an entry was built for a traced line of a function with this name."""
    return entry.tb_frame.f_globals is _GRAPH_GLOBALS and entry.tb_frame.f_code.co_name == name


_GRAPH_GLOBALS = {"__name__": "__main__"}  # the global names of all entries that are built for traced lines


def present_errors(function: Callable[..., Any]) -> Any:
    """Wrap `function` so that its errors are presented, and composite tensors are left to the function's handlers.

    The conditions on its arguments are checked first.
    """
    check = argument_check(function)

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        """Check the arguments, call the function, and present errors; a handler may return the result instead."""
        if check is not None:
            try:
                check(args, kwargs)
            except Exception as error:
                present(error)
                raise
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            handler = handler_of(run, args, kwargs) if isinstance(error, Exception) else None
            if handler is None:
                present(error)
                raise
        try:  # outside of the handler of the first error, which is no context of later ones
            return handler(*args, **kwargs)
        except BaseException as error:
            present(error)
            raise

    run.__autoconv_presents_errors__ = True  # type: ignore[attr-defined]
    return run


def attach_traceback(error: BaseException, caller_count: int) -> None:
    """Turn the places that a backend attached to an exception into its traceback, as a handler begins.

    As in Python the traceback starts with the function of the `try`. The entries of that function's callers in the
    graph, the first `caller_count` ones, are left out. Tracebacks of causes and contexts are treated likewise.
    """
    for linked_error in walk_links(error):
        spans = _take_spans(linked_error)
        if spans:
            entries = [entry for span in reversed(spans) for entry in _entries_of(span)][caller_count:]
            linked_error.__traceback__ = _link_entries([*entries, *_user_entries(linked_error.__traceback__)])


set_traceback_provider(attach_traceback)


def walk_links(error: BaseException) -> Iterator[BaseException]:
    """Iterate over the error, its causes, its contexts, and the errors of groups."""
    worklist: list[BaseException | None] = [error]
    visited_ids: set[int] = set()
    while worklist:
        linked_error = worklist.pop()
        if linked_error is not None and id(linked_error) not in visited_ids:
            visited_ids.add(id(linked_error))
            yield linked_error
            worklist += [linked_error.__cause__, linked_error.__context__]
            worklist += linked_error.exceptions if isinstance(linked_error, BaseExceptionGroup) else ()


_WRAPPER_BY_FUNCTION: dict[Callable[..., Any], Any] = {}


def wrap_public_functions(namespace: dict[str, Any]) -> None:
    """Wrap the public functions of this package among `namespace` with `present_errors`; one function gets one wrapper.

    `namespace` is that of a module. The wrapper is pickled by its name in the first module that has it, and shows the
    function's signature to those who do not follow `__wrapped__`.
    """
    for name, value in namespace.items():
        if isinstance(value, FunctionType) and not name.startswith("_") and is_own_file(value.__code__.co_filename):
            if value not in _WRAPPER_BY_FUNCTION:
                _WRAPPER_BY_FUNCTION[value] = _named_wrapper(value, namespace["__name__"], name)
            namespace[name] = _WRAPPER_BY_FUNCTION[value]


def _named_wrapper(function: Callable[..., Any], module: str, name: str) -> Any:
    """Wrap a public function so that it presents its errors, under this module and name."""
    result = _wrapped_once(function)
    if result is not function:
        result.__module__, result.__qualname__ = module, name
        result.__signature__ = inspect.signature(function)
    return result


def wrap_public_methods(cls: Class) -> Class:
    """Wrap the public methods of the class with `present_errors`."""
    for name, value in vars(cls).copy().items():
        if isinstance(value, FunctionType) and not name.startswith("_"):
            setattr(cls, name, _wrapped_once(value))
    return cls


def _wrapped_once(function: Callable[..., Any]) -> Any:
    """Return the function wrapped by `present_errors`, or unchanged if it is wrapped already."""
    return function if getattr(function, "__autoconv_presents_errors__", False) else present_errors(function)


def place_at_definition(error: BaseException, function: Callable[..., Any]) -> BaseException:
    """Mark the error to be presented as raised at the definition of the function, and return it."""
    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
    if code is not None:
        lines = range(code.co_firstlineno, code.co_firstlineno + 50)  # skip decorators, at most 50 lines
        definition_lines = (n for n in lines if _DEFINITION.match(linecache.getline(code.co_filename, n)))
        span = Span(code.co_filename, next(definition_lines, code.co_firstlineno), code.co_name)
        error.__dict__["_autoconv_spans"] = [span]
    return error


def find_place(function: Any, error: BaseException) -> Place | None:
    """Return the place in a function or its callees where an error was raised; else the place of its definition."""
    entries = _user_entries(error.__traceback__)
    if not entries:
        present(place_at_definition(error, function))
        entries = _user_entries(error.__traceback__)
    # Methods that `dataclasses` and others generate have no source to show.
    written_entries = [entry for entry in entries if entry.tb_frame.f_code.co_filename != _GENERATED_FILE] or entries
    if not written_entries:
        return None
    return _place_of_entry(written_entries[-1])


def _place_of_entry(entry: TracebackType) -> Place | None:
    """Return the place of an entry of a traceback."""
    span = span_of([(entry.tb_frame.f_code, entry.tb_lasti)])
    return place_of(span) if span is not None else None


_GENERATED_FILE = "<string>"  # the file of methods that `dataclasses` and others generate
_DEFINITION = re.compile(r"\s*(async\s+)?def\b|.*\blambda\b")


def _present(error: BaseException) -> None:
    """Reduce the traceback of one error, without its causes and contexts; see `present`."""
    is_from_package = _is_from_package(error.__traceback__)
    entries = [entry for span in reversed(_take_spans(error)) for entry in _entries_of(span)]
    entries += _user_entries(error.__traceback__)
    if isinstance(error, AutoconvError) and error.place is None and entries:
        error.place = _place_of_entry(entries[-1])
    error.__traceback__ = _link_entries(entries)
    if current_region() is None:
        _remove_marks(error)
    elif is_from_package:
        error.__dict__["_autoconv_raised_by_us"] = True  # a mark for `is_package_error`, as the frames are removed


def _remove_marks(error: BaseException) -> None:
    """Remove the package's own attributes from an error that reaches the program.

    Only the place in this package is kept, which a report of an internal error needs.
    """
    for name in [name for name in error.__dict__ if name.startswith("_autoconv_") and name != "_autoconv_place"]:
        del error.__dict__[name]


def _is_from_package(traceback: TracebackType | None) -> bool:
    """Return whether the error was raised in this package, not in user's code called from it."""
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and is_own_file(traceback.tb_frame.f_code.co_filename)


def is_package_error(error: BaseException) -> bool:
    """Return whether this package raised the error: by a mark of `present`, which removes frames, or by its frames."""
    return "_autoconv_raised_by_us" in error.__dict__ or _is_from_package(error.__traceback__)


def _take_spans(error: BaseException) -> list[Span]:
    """Remove and return the spans that a backend attached to the error, innermost first; each is presented once."""
    spans: list[Span] = error.__dict__.pop("_autoconv_spans", [])
    return spans


def _user_entries(traceback: TracebackType | None) -> list[TracebackType]:
    """Return the user's entries, outermost first; a region function replaces its enclosing function."""
    all_entries = list(walk_traceback(traceback))
    entries: list[TracebackType] = []
    user_flags = are_user_frames([entry.tb_frame.f_code for entry in all_entries])
    for entry, is_of_user in zip(all_entries, user_flags, strict=True):
        if is_of_user:
            code = entry.tb_frame.f_code
            if is_region(code) and entries and entries[-1].tb_frame.f_code.co_name == code.co_name:
                entries.pop()
            entries.append(entry)
    return entries


def _link_entries(traceback_entries: list[TracebackType]) -> TracebackType | None:
    """Return a new traceback with the frames of the entries, outermost first; None for an empty list."""
    result: TracebackType | None = None
    for entry in reversed(traceback_entries):
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


def _entries_of(span: Span) -> list[TracebackType]:
    """Build entries for the traced lines of a failed node, outermost first."""
    entries: list[TracebackType] = []
    current: Span | None = span
    while current is not None:
        code, instruction = _raising_code(current)
        # The frame of a generator that has not started has no callers, whose variables it would keep alive.
        frame = FunctionType(code, _GRAPH_GLOBALS)().gi_frame
        entries.append(TracebackType(None, frame, instruction, current.line))
        current = current.caller
    return entries[::-1]


@functools.lru_cache(1024)
def _raising_code(span: Span) -> tuple[CodeType, int]:
    """Return the code of a generator with the span's file and function name, and the offset of its `raise`.

    All lines and columns of the code are those of the span.
    """
    tree = ast.parse("def name():\n raise RuntimeError\n yield")
    last_line = max(span.end_line, span.line)
    has_columns = span.column > 0 and span.end_column > 0
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr)):
            node.lineno, node.end_lineno = span.line, last_line
            node.col_offset = _byte_offset(span.file, span.line, span.column) if has_columns else -1
            node.end_col_offset = _byte_offset(span.file, last_line, span.end_column) if has_columns else -1
    name = span.function or "<module>"
    code: CodeType = compile(tree, span.file, "exec", dont_inherit=True).co_consts[0]
    offset = next(step.offset for step in dis.get_instructions(code) if step.opname == "RAISE_VARARGS")
    return code.replace(co_name=name, co_qualname=name), offset


def _byte_offset(file: str, line: int, column: int) -> int:
    """Convert a column from characters counted from 1 to bytes counted from 0, as code objects count."""
    return len(linecache.getline(file, line).ljust(column)[: column - 1].encode())
