"""Finds the user's line: the innermost frame that is not this package's own."""

from __future__ import annotations

import linecache
import os
import sys
from types import FrameType

from autoconv.errors import Place
from autoconv.graph.graph import Span

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def current_span() -> Span | None:
    """The span of the user's statement that is running now, None when only this package is on the stack."""
    frame = user_frame()
    if frame is None:
        return None
    return Span(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def user_frame() -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame


def current_place() -> Place | None:
    """Where the user's code is now, with the text of the line."""
    span = current_span()
    return place_of(span) if span else None


def place_of(span: Span) -> Place:
    return Place(span.file, span.line, span.column, span.end_column, linecache.getline(span.file, span.line).rstrip())


def is_own_file(filename: str) -> bool:
    """Whether a file belongs to this package."""
    return filename.startswith(_PACKAGE)
