"""Finds the user's line, and the lines that led to it: frames that are neither this package's own nor generated."""

from __future__ import annotations

import itertools
import linecache
import os
import sys
import sysconfig
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from types import CodeType, FrameType, TracebackType

import numpy as np

from autoconv.errors import REGION, Place
from autoconv.graph.graph import Span

_LIBRARIES = tuple(
    os.path.join(folder, "") for folder in (sysconfig.get_path("stdlib"), os.path.dirname(np.__file__)) if folder
)
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

# They call the lambdas that conversion made of operands; those of the user are called from elsewhere.
_OPERATORS = os.path.join(_PACKAGE, "operators", "")
_CALL_THUNKS = (f"{_OPERATORS}conditionals.py", f"{_OPERATORS}deferred.py", f"{_OPERATORS}items.py")

# The functions that start a trace, or the graph of a function that calls itself: what called them is no part of it.
_STARTS = ("trace_function", "trace_recursion")
_KNOWN_LIMIT = 20_000
_DEPTH_LIMIT = 150

_find_columns: Callable[[CodeType, int, int], tuple[int, int] | None] | None = None

Position = tuple[CodeType, int]
# Spans by the identities of code and caller, which are kept so that no other object gets them.
_known: dict[tuple[int, int, int], tuple[CodeType, Span | None, Span]] = {}


def current_span() -> Span | None:
    """The span of the user's expression that is running now, with its callers as far as they are being traced; None
    when only this package is on the stack."""
    return span_of(_positions(sys._getframe(1)))


def span_of(positions: Iterable[Position]) -> Span | None:
    """The innermost of some positions (code, instruction), innermost first, with the others as its callers."""
    span: Span | None = None
    for code, instruction in reversed(list(_without_regions(positions))):
        key = id(code), instruction, id(span)
        known = _known.get(key)
        if known is None:
            known = _known[key] = code, span, _span_at(code, instruction, span)
        span = known[2]
    if len(_known) > _KNOWN_LIMIT:
        _known.clear()
    return span


def span_of_error(error: BaseException) -> Span | None:
    """Where the user's code raised an error that was caught here, with its callers."""
    entries = list(_entries(error.__traceback__))
    users = shown([entry.tb_frame.f_code for entry in entries])
    raised = [(e.tb_frame.f_code, e.tb_lasti) for e, is_users in zip(entries, users, strict=True) if is_users]
    passed = {id(entry.tb_frame) for entry in entries}  # a function whose handler runs is in the traceback already
    return span_of((*reversed(raised), *_positions(sys._getframe(1), passed)))


def user_frame() -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_own_file(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def depth_of_level(level: int) -> int:
    """How many frames up from its caller's caller (1) the user's function is that is `level` of theirs up."""
    frames: list[FrameType] = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    users = reversed(shown([frame.f_code for frame in reversed(frames)]))
    counted, inside = 0, False
    for depth, (frame, is_users) in enumerate(zip(frames, users, strict=True), 1):
        if not is_users:
            continue
        if not inside:
            counted += 1
            if counted == level:
                return depth
        inside = is_region(frame.f_code)
    return len(frames) + level


def current_place() -> Place | None:
    """Where the user's code is now, with the text of the line."""
    frame = user_frame()
    span = span_of([(frame.f_code, frame.f_lasti)]) if frame is not None else None
    return place_of(span) if span else None


def place_of(span: Span) -> Place:
    text = linecache.getline(span.file, span.line).rstrip()
    end = span.end_column if span.end_line in (0, span.line) else len(text) + 1
    return Place(span.file, span.line, span.column, end, text)


def is_own_file(filename: str) -> bool:
    """Whether a file belongs to this package."""
    return filename.startswith(_PACKAGE)


def shown(codes: Sequence[CodeType]) -> list[bool]:
    """Which frames, outermost first, are the user's: not this package's own, nor those of a library that it calls."""
    found: list[bool] = []
    hidden, before = False, ""
    for code in codes:
        file = code.co_filename
        kind = _KINDS.get(file) or _KINDS.setdefault(file, _kind(file))
        thunk = code.co_name == "<lambda>" and before in _CALL_THUNKS and not is_region(code)
        hidden = kind == "own" or thunk or (hidden and kind == "library")
        found.append(not hidden)
        before = file
    return found


_KINDS: dict[str, str] = {}


def count_as_users(filename: str) -> None:
    """Says that the code of a file is the user's wherever it lies: it was converted."""
    _KINDS[filename] = "user"


def _kind(filename: str) -> str:
    """Whose a file is: "own", "library" (Python's own and NumPy), or "user"."""
    if is_own_file(filename):
        return "own"
    installed = "-packages" in filename and not filename.startswith(_LIBRARIES[-1])
    known = filename.startswith("<frozen ") or (filename.startswith(_LIBRARIES) and not installed)
    return "library" if known else "user"


def is_region(code: CodeType) -> bool:
    """Whether a code object is a part of the user's function that conversion made a function of its own."""
    return code.co_qualname.endswith(REGION)


def _positions(frame: FrameType | None, left_out: Collection[int] = ()) -> list[Position]:
    """The user's frames but those left out by identity, innermost first, up to where the trace starts, or as many as
    are worth telling."""
    found: list[Position] = []
    while frame is not None and len(found) < _DEPTH_LIMIT:
        if is_start(frame.f_code):
            break
        if id(frame) not in left_out:
            found.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    users = shown([code for code, _ in reversed(found)])
    return [position for position, is_users in zip(found, reversed(users), strict=True) if is_users]


def is_start(code: CodeType) -> bool:
    """Whether a trace starts there, or the graph of a function that calls itself."""
    return code.co_name in _STARTS and is_own_file(code.co_filename)


def _without_regions(positions: Iterable[Position]) -> Iterator[Position]:
    """A part of a function stands for the function: what is around it in the same function is left out."""
    inside = False
    for code, instruction in positions:
        if not inside:
            yield code, instruction
            inside = is_region(code)
        elif not is_region(code):
            inside = False


def find_columns_by(find: Callable[[CodeType, int, int], tuple[int, int] | None]) -> None:
    """Has `find(code, instruction, line)` asked for (column, last column) where a line table has none."""
    global _find_columns
    _find_columns = find


def _span_at(code: CodeType, instruction: int, caller: Span | None) -> Span:
    line, end_line, column, end_column = position_in(code, instruction)
    if line and column is None and _find_columns is not None and instruction >= 0:
        found = _find_columns(code, instruction, line)
        if found is not None:
            end_line, (column, end_column) = line, found
    return Span(
        code.co_filename,
        line or code.co_firstlineno,
        code.co_name,
        0 if column is None else _characters(code, line, column) + 1,
        end_line or 0 if column is not None else 0,
        0 if end_column is None or column is None else _characters(code, end_line, end_column) + 1,
        caller,
    )


def position_in(code: CodeType, instruction: int) -> tuple[int | None, int | None, int | None, int | None]:
    """(line, last line, column, last column) of an instruction; columns count bytes from 0."""
    if instruction < 0:
        return code.co_firstlineno, None, None, None
    return next(itertools.islice(code.co_positions(), instruction // 2, None), (None, None, None, None))


def _characters(code: CodeType, line: int | None, offset: int) -> int:
    """Code objects count columns in bytes of UTF-8."""
    text = linecache.getline(code.co_filename, line or 0)
    return offset if text.isascii() else len(text.encode()[:offset].decode("utf-8", "replace"))


def _entries(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next
