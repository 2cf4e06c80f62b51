"""Tracebacks as plain Python would give them: the user's frames only, also for what a graph raised."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import re
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any, TypeVar

from autoconv.errors import AutoconvError, Place
from autoconv.graph.graph import Span
from autoconv.runtime.recording import current_region
from autoconv.runtime.spans import is_own_file, is_region, place_of, shown, span_of

Class = TypeVar("Class", bound=type)


def present(error: BaseException) -> None:
    """Gives an error, and those it came from, the tracebacks of the user's frames.

    What a graph raised gets entries for the lines that were traced; an error of this package's own that has no place
    gets the innermost line. Behind it a bare `raise` lets the error go on without an entry for the function that
    called this.
    """
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        each = waiting.pop()
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            _present(each)
            waiting += [each.__cause__, each.__context__]
            waiting += each.exceptions if isinstance(each, BaseExceptionGroup) else ()


def hide(error: BaseException) -> None:
    """Takes the frames of this package from the traceback of one error that passes through an operator in plain code.

    What is being traced is left alone: it is presented where the trace was started.
    """
    if current_region() is None:
        error.__traceback__ = _chained(_users(error.__traceback__))


def presented(function: Callable[..., Any]) -> Any:
    """`function`, whose errors are presented."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            present(error)
            raise

    run.__autoconv_presented__ = True  # type: ignore[attr-defined]
    return run


_PRESENTED: dict[Callable[..., Any], Any] = {}


def present_functions(names: dict[str, Any]) -> None:
    """Makes the public functions of this package among `names` present their errors; one and the same function stays
    one."""
    for name, value in names.items():
        if isinstance(value, FunctionType) and not name.startswith("_") and is_own_file(value.__code__.co_filename):
            names[name] = _PRESENTED.get(value) or _PRESENTED.setdefault(value, _once(value))


def presented_methods(cls: Class) -> Class:
    """The class, whose public methods present their errors."""
    for name, value in vars(cls).copy().items():
        if isinstance(value, FunctionType) and not name.startswith("_"):
            setattr(cls, name, _once(value))
    return cls


def _once(function: Callable[..., Any]) -> Any:
    return function if getattr(function, "__autoconv_presented__", False) else presented(function)


def at_definition(error: BaseException, function: Any) -> BaseException:
    """The error, which is to be presented as raised where that function is defined."""
    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
    if code is not None:
        lines = range(code.co_firstlineno, code.co_firstlineno + 50)  # decorators come first
        defined = (n for n in lines if _DEFINITION.match(linecache.getline(code.co_filename, n)))
        span = Span(code.co_filename, next(defined, code.co_firstlineno), code.co_name)
        error.__dict__["_autoconv_spans"] = [span]
    return error


def place_in(function: Any, error: BaseException) -> Place | None:
    """Where in a function, or in what it called, an error was raised; where it is defined if that was outside."""
    entries = _users(error.__traceback__)
    if not entries:
        present(at_definition(error, function))
        entries = _users(error.__traceback__)
    last = span_of([(entries[-1].tb_frame.f_code, entries[-1].tb_lasti)]) if entries else None
    return place_of(last) if last is not None else None


_DEFINITION = re.compile(r"\s*(async\s+)?def\b|.*\blambda\b")


def _present(error: BaseException) -> None:
    if _raised_by_us(error.__traceback__):
        error.__dict__.setdefault("_autoconv_raised_by_us", True)
    entries = [entry for span in reversed(_recorded_at(error)) for entry in _entries_of(span)]
    entries += _users(error.__traceback__)
    if isinstance(error, AutoconvError) and error.place is None and entries:
        last = span_of([(entries[-1].tb_frame.f_code, entries[-1].tb_lasti)])
        error.place = place_of(last) if last is not None else None
    error.__traceback__ = _chained(entries)


def _raised_by_us(trace: TracebackType | None) -> bool:
    """Whether this package raised the error, rather than the user's code that it called."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and is_own_file(trace.tb_frame.f_code.co_filename)


def raised_by_us(error: BaseException) -> bool:
    """Whether this package raised the error; `present` remembers it, as it takes the frames away."""
    return "_autoconv_raised_by_us" in error.__dict__ or _raised_by_us(error.__traceback__)


def _recorded_at(error: BaseException) -> list[Span]:
    """The spans that a backend put on the error, innermost first; they are taken off, to be told once."""
    spans: list[Span] = error.__dict__.pop("_autoconv_spans", [])
    return spans


def _users(trace: TracebackType | None) -> list[TracebackType]:
    """The user's entries, outermost first; a part of a function takes the place of the function around it."""
    every: list[TracebackType] = []
    while trace is not None:
        every.append(trace)
        trace = trace.tb_next
    entries: list[TracebackType] = []
    for entry, is_users in zip(every, shown([entry.tb_frame.f_code for entry in every]), strict=True):
        if is_users:
            code = entry.tb_frame.f_code
            if is_region(code) and entries and entries[-1].tb_frame.f_code.co_name == code.co_name:
                entries.pop()
            entries.append(entry)
    return entries


def _chained(entries: list[TracebackType]) -> TracebackType | None:
    result: TracebackType | None = None
    for entry in reversed(entries):
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


def _entries_of(span: Span) -> list[TracebackType]:
    """Entries for the lines that recorded what a graph failed in, outermost first."""
    entries: list[TracebackType] = []
    current: Span | None = span
    while current is not None:
        frame, instruction = _frame_of(_raising(current))
        entries.append(TracebackType(None, frame, instruction, current.line))
        current = current.caller
    return entries[::-1]


def _frame_of(code: CodeType) -> tuple[FrameType, int]:
    """A frame that is at the place where its code raises."""
    try:
        exec(code, {"__name__": "__main__"})
    except RuntimeError as error:
        trace = error.__traceback__
        assert trace is not None and trace.tb_next is not None
        return trace.tb_next.tb_frame, trace.tb_next.tb_lasti
    raise AssertionError("the code raises")


@functools.lru_cache(1024)
def _raising(span: Span) -> CodeType:
    """Code of that file and function name which raises at that place."""
    tree = ast.parse("raise RuntimeError")
    last = max(span.end_line, span.line)
    known = span.column > 0 and span.end_column > 0
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr)):
            node.lineno, node.end_lineno = span.line, last
            node.col_offset = _bytes(span.file, span.line, span.column) if known else -1
            node.end_col_offset = _bytes(span.file, last, span.end_column) if known else -1
    name = span.function or "<module>"
    return compile(tree, span.file, "exec", dont_inherit=True).replace(co_name=name, co_qualname=name)


def _bytes(file: str, line: int, column: int) -> int:
    """A column that counts characters from 1 as Python's code objects count them: bytes from 0."""
    return len(linecache.getline(file, line).ljust(column)[: column - 1].encode())
