"""Tracebacks of a user's program as in plain Python, without frames of this package or generated ones."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable

import click

import autoconv
from autoconv.errors import AutoconvError, ConversionError, SourceError

from .diagnostics import exit_code_of, show_error
from .exits import ExitCode

_HIDDEN_FOLDERS = (
    os.path.dirname(os.path.realpath(autoconv.__file__ or "")),
    os.path.dirname(os.path.realpath(__file__)),
    os.path.dirname(os.path.realpath(click.__file__)),
)


def show_user_traceback(error: BaseException) -> int:
    """Print the exception that ended the user's program, and return the exit code.

    The program's own `sys.excepthook` is used if it set one. For a module that cannot be read or converted, the error
    is printed with its position.
    """
    if isinstance(error, ConversionError | SourceError):
        show_error(error)
        return exit_code_of(error)
    if "numpy" in sys.modules:  # otherwise the runtime was never loaded
        from autoconv.runtime.recording.tracebacks import present

        present(error)
    if sys.excepthook is not sys.__excepthook__:
        sys.excepthook(type(error), error, error.__traceback__)
    else:
        print("".join(user_traceback(error)), end="", file=sys.stderr, flush=True)
    return ExitCode.INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1


def with_position(error: Exception) -> AutoconvError | None:
    """Return the error with a position in the user's program, if it was raised there or the program cannot be traced.

    None for other errors, among them failed assertions of this package, which are internal errors.
    """
    from autoconv.runtime.recording.tracebacks import find_place, is_package_error

    if isinstance(error, AutoconvError):
        return error
    if isinstance(error, AssertionError) and is_package_error(error):
        return None
    full_trace = error.__traceback__
    error.__traceback__ = full_trace.tb_next if full_trace is not None else None  # without the frame of the command
    place = find_place(None, error)
    error.__traceback__ = full_trace
    return None if place is None else AutoconvError(f"{type(error).__name__}: {error}", place)


def user_traceback(error: BaseException) -> Iterable[str]:
    """Return the lines of the traceback, including chained exceptions and groups."""
    summary = traceback.TracebackException.from_exception(error, compact=True)
    worklist, visited_ids = [summary], set()
    while worklist:
        current = worklist.pop()
        if id(current) in visited_ids:
            continue
        visited_ids.add(id(current))
        user_frames = [frame for frame in current.stack if not _is_hidden_file(frame.filename)]
        current.stack[:] = user_frames or list(current.stack)
        worklist += [other for other in (current.__cause__, current.__context__, *(current.exceptions or ())) if other]
    return summary.format()


def _is_hidden_file(filename: str) -> bool:
    """Return whether a frame of this file is left out: of this package, of click, or of Python's import system."""
    if filename.startswith("<frozen ") and ("runpy" in filename or "importlib" in filename):
        return True
    real_path = os.path.realpath(filename)
    return any(real_path.startswith(os.path.join(folder, "")) for folder in _HIDDEN_FOLDERS)
