"""Errors as users see them: one line of their own source, and none of this package's frames."""

from __future__ import annotations

import linecache
from types import TracebackType
from typing import Any

from autoconv.runtime.spans import is_own_file


def located(error: BaseException) -> Any:
    """The error with a note of the user's line where a graph raised it, and only the user's frames."""
    span = getattr(error, "_autoconv_span", None)
    if span is not None and not getattr(error, "_autoconv_noted", False):
        line = linecache.getline(span.file, span.line).strip()
        note = f'  File "{span.file}", line {span.line}, in {span.function}'
        error.add_note(f"raised by the graph, from:\n{note}" + (f"\n    {line}" if line else ""))
        error._autoconv_noted = True  # type: ignore[attr-defined]
    return error.with_traceback(_user_frames(error.__traceback__))


def _user_frames(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames of this package, except for a last one that would leave it empty."""
    frames = []
    current = trace
    while current is not None:
        if not is_own_file(current.tb_frame.f_code.co_filename):
            frames.append(current)
        current = current.tb_next
    result: TracebackType | None = None
    for frame in reversed(frames):
        result = TracebackType(result, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return result
