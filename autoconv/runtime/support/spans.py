"""Source spans of the user's code, with their callers.

The user's frames are those that are neither of this package nor generated.
"""

from __future__ import annotations

import itertools
import linecache
import os
import sys
import sysconfig
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple

import numpy as np

from autoconv.config.paths import PACKAGE, is_own_file
from autoconv.errors import REGION_SUFFIX, Place
from autoconv.graph.graph import Span
from autoconv.runtime.support.skipped_frames import is_skipped_by_warnings

_LIBRARIES = tuple(
    os.path.join(folder, "") for folder in (sysconfig.get_path("stdlib"), os.path.dirname(np.__file__)) if folder
)

# Only these modules call thunks: the lambdas that conversion makes of operands.
_OPERATORS = os.path.join(PACKAGE, "operators", "")
_FILES_THAT_CALL_THUNKS = tuple(
    os.path.join(_OPERATORS, *place)
    for place in (("control", "conditionals.py"), ("support", "deferred_messages.py"), ("values", "items.py"))
)

# The functions that start a trace, or the graph of a recursive function: their callers are not part of spans.
_START_FUNCTIONS = ("trace_function", "trace_recursion")
_MAX_SPANS = 20_000  # spans in `_spans`, before it is cleared
_MAX_STACKS = 2_000  # stacks in `_user_flags`, before it is cleared
_MAX_DEPTH = 150  # frames of a span's chain of callers

_find_columns: Callable[[CodeType, int, int], tuple[int, int] | None] | None = None

Position = tuple[CodeType, int]  # code, and the offset of an instruction in it
# Spans by (id of code, instruction, id of the caller's span); code and caller are kept alive, so ids stay unique.
_spans: dict[tuple[int, int, int], tuple[CodeType, Span | None, Span]] = {}
_plain_spans: dict[int, tuple[Span, Span]] = {}  # `as_plain` by the id of the span
_observed_spans: dict[int, tuple[Span, Span]] = {}  # `as_observed` by the id of the span
_user_flags: dict[tuple[int, ...], tuple[list[CodeType], list[bool]]] = {}  # `are_user_frames` by the ids of the codes


def current_span(plain: bool = False) -> Span | None:
    """Return the span of the user's expression that is running, with its callers within the trace.

    Return None if only this package is on the stack. With `plain`, errors of a node with this span are those of plain
    Python.
    """
    span = span_of(_positions(sys._getframe(1)))
    return as_plain(span) if plain and span is not None else span


def as_plain(span: Span) -> Span:
    """Return the span marked so that errors of a node with it are those of plain Python or NumPy."""
    return span if span.has_plain_errors else _marked(span, "has_plain_errors", _plain_spans)


def as_observed(span: Span) -> Span:
    """Return the span marked so that errors of a node with it show what ran before the node."""
    return span if span.is_observed else _marked(span, "is_observed", _observed_spans)


def _marked(span: Span, mark: str, marked_spans: dict[int, tuple[Span, Span]]) -> Span:
    """Return a copy of the span in which `mark` is true; `marked_spans` has the copies that were made before."""
    entry = marked_spans.get(id(span))
    if entry is None:
        marks: dict[str, Any] = {mark: True}
        entry = marked_spans[id(span)] = span, replace(span, **marks)
    _, marked_span = entry
    return marked_span


def span_of(positions: Iterable[Position]) -> Span | None:
    """Return the span of the first position (code, instruction), with the others as its callers; innermost first."""
    span: Span | None = None
    for code, instruction in reversed(list(_without_regions(positions))):
        key = id(code), instruction, id(span)
        entry = _spans.get(key)
        if entry is None:
            entry = _spans[key] = code, span, _span_at(code, instruction, span)
        _, _, span = entry
    if len(_spans) > _MAX_SPANS:
        _spans.clear()
        _plain_spans.clear()
        _observed_spans.clear()
    return span


def span_of_error(error: BaseException) -> Span | None:
    """Return the span where the user's code raised an error that the caller has caught, with its callers."""
    entries = list(walk_traceback(error.__traceback__))
    user_flags = are_user_frames([entry.tb_frame.f_code for entry in entries])
    user_entries = itertools.compress(entries, user_flags)
    user_positions = [(entry.tb_frame.f_code, entry.tb_lasti) for entry in user_entries]
    # A function whose handler is running is on the stack and in the traceback: its frame counts once.
    frames_in_traceback = {id(entry.tb_frame) for entry in entries}
    return span_of((*reversed(user_positions), *_positions(sys._getframe(1), frames_in_traceback)))


def user_frame() -> FrameType | None:
    """Return the innermost frame outside of this package, or None."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_own_file(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def depth_of_level(level: int) -> int:
    """Convert a stack level in user frames to one of `warnings.warn`; 1 is the caller's caller."""
    frames: list[FrameType] = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    user_flags = reversed(are_user_frames([frame.f_code for frame in reversed(frames)]))
    depth, level_reached, is_caller_of_region = 0, 0, False  # a region and its caller are one function of the user
    for frame, is_user_frame in zip(frames, user_flags, strict=True):
        depth += not is_skipped_by_warnings(frame.f_code)
        if not is_user_frame:
            continue
        if not is_caller_of_region:
            level_reached += 1
            if level_reached == level:
                return depth
        is_caller_of_region = is_region(frame.f_code)
    return depth + level


def current_place() -> Place | None:
    """Return the current place in the user's code, with the text of the line."""
    frame = user_frame()
    span = span_of([(frame.f_code, frame.f_lasti)]) if frame is not None else None
    return place_of(span) if span else None


def place_of(span: Span) -> Place:
    """Return the place of a span, with the text of its line."""
    text = linecache.getline(span.file, span.line).rstrip()
    end = span.end_column if span.end_line in (0, span.line) else len(text) + 1
    return Place(span.file, span.line, span.column, end, text)


def are_user_frames(codes: Sequence[CodeType]) -> list[bool]:
    """Return for each frame, outermost first, whether it is the user's, not of this package or its libraries."""
    result: list[bool] = []
    is_hidden, caller_file = False, ""
    for code in codes:
        file = code.co_filename
        file_kind = _KIND_BY_FILE.get(file) or _file_kind(file)
        is_thunk = code.co_name == "<lambda>" and caller_file in _FILES_THAT_CALL_THUNKS and not is_region(code)
        is_hidden = file_kind == "own" or is_thunk or (is_hidden and file_kind == "library")
        result.append(not is_hidden)
        caller_file = file
    return result


_KIND_BY_FILE: dict[str, str] = {}


def mark_user_file(filename: str) -> None:
    """Treat the code of a converted file as the user's, whatever its path."""
    _KIND_BY_FILE[filename] = "user"
    _user_flags.clear()


def _file_kind(filename: str) -> str:
    """Return the class of a file, as `_classify_file` does, but for files that are marked as the user's."""
    return _KIND_BY_FILE.setdefault(filename, _classify_file(filename))


def _classify_file(filename: str) -> str:
    """Classify a file: "own", "library" (Python's own and NumPy), or "user"."""
    if is_own_file(filename):
        return "own"
    is_installed = "-packages" in filename and not filename.startswith(_LIBRARIES[-1])
    is_library = filename.startswith("<frozen ") or (filename.startswith(_LIBRARIES) and not is_installed)
    return "library" if is_library else "user"


def is_region(code: CodeType) -> bool:
    """Return whether a code object is a region function that conversion extracted from the user's function."""
    return code.co_qualname.endswith(REGION_SUFFIX)


def _positions(frame: FrameType | None, skipped_ids: Collection[int] = ()) -> list[Position]:
    """Return the positions of the user's frames, innermost first, up to the start of the trace or the depth limit.

    Frames whose ids are in `skipped_ids` are left out.
    """
    positions: list[Position] = []  # of frames outside of this package, and of the package's frames that called them
    depth, is_callee_own = 0, True
    while frame is not None and depth < _MAX_DEPTH:
        code = frame.f_code
        is_own = (_KIND_BY_FILE.get(code.co_filename) or _file_kind(code.co_filename)) == "own"
        if is_own and code.co_name in _START_FUNCTIONS:
            break
        if not skipped_ids or id(frame) not in skipped_ids:
            if not (is_own and is_callee_own):
                positions.append((code, frame.f_lasti))
            is_callee_own, depth = is_own, depth + 1
        frame = frame.f_back
    codes = [code for code, _ in positions]
    code_ids = tuple(map(id, codes))
    entry = _user_flags.get(code_ids)
    if entry is None:
        if len(_user_flags) > _MAX_STACKS:
            _user_flags.clear()
        entry = _user_flags[code_ids] = codes, are_user_frames(codes[::-1])[::-1]
    _, user_flags = entry
    return list(itertools.compress(positions, user_flags))


def is_start_of_trace(code: CodeType) -> bool:
    """Return whether the code starts a trace, or the graph of a recursive function."""
    return code.co_name in _START_FUNCTIONS and is_own_file(code.co_filename)


def _without_regions(positions: Iterable[Position]) -> Iterator[Position]:
    """Drop the frames around a region function that belong to the same user's function.

    If `present` has removed the frames already, the next frame is the caller's, whose name differs.
    """
    name_of_region = ""
    for code, instruction in positions:
        if code.co_name != name_of_region:
            yield code, instruction
            name_of_region = code.co_name if is_region(code) else ""
        elif not is_region(code):
            name_of_region = ""


def register_column_finder(find: Callable[[CodeType, int, int], tuple[int, int] | None]) -> None:
    """Register `find(code, instruction, line)`, which returns (column, last column) where a line table has none."""
    global _find_columns
    _find_columns = find


def _span_at(code: CodeType, instruction: int, caller: Span | None) -> Span:
    """Return the span of an instruction; columns are found in the source if the code has none."""
    line, end_line, column, end_column = _instruction_position(code, instruction)
    if line and column is None and _find_columns is not None and instruction >= 0:
        columns = _find_columns(code, instruction, line)
        if columns is not None:
            end_line, (column, end_column) = line, columns
    file, first_line, function = code.co_filename, line or code.co_firstlineno, code.co_name
    if column is None:
        return Span(file, first_line, function, caller=caller)
    first_column = _character_offset(code, line, column) + 1
    last_column = 0 if end_column is None else _character_offset(code, end_line, end_column) + 1
    return Span(file, first_line, function, first_column, end_line or 0, last_column, caller)


class InstructionPosition(NamedTuple):
    """The place of an instruction in its file: lines from 1, columns in bytes from 0; None for what is not recorded."""

    line: int | None
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None


def _instruction_position(code: CodeType, instruction: int) -> InstructionPosition:
    """Return the position of an instruction; for a negative one, the first line of the code."""
    if instruction < 0:
        return InstructionPosition(code.co_firstlineno)
    positions = itertools.islice(code.co_positions(), instruction // 2, None)
    return InstructionPosition(*next(positions, (None, None, None, None)))


def _character_offset(code: CodeType, line: int | None, offset: int) -> int:
    """Convert a column from bytes of UTF-8, as code objects count them, to characters."""
    text = linecache.getline(code.co_filename, line or 0)
    return offset if text.isascii() else len(text.encode()[:offset].decode("utf-8", "replace"))


def walk_traceback(entry: TracebackType | None) -> Iterator[TracebackType]:
    """Iterate over the entries of a traceback, outermost first."""
    while entry is not None:
        yield entry
        entry = entry.tb_next
