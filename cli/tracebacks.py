"""Tracebacks of a user's program as plain Python would print them: without our frames and without generated
ones."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable

import click

import autoconv
from autoconv.errors import AutoconvError, ConversionError, SourceError

from .diagnostics import code_of, show_error
from .exits import ExitCode

OURS = (
    os.path.dirname(os.path.realpath(autoconv.__file__ or "")),
    os.path.dirname(os.path.realpath(__file__)),
    os.path.dirname(os.path.realpath(click.__file__)),
)


def show_user_traceback(error: BaseException) -> int:
    """Prints an exception that ended the user's program, by their own `sys.excepthook` if they set one, and
    returns the exit code. What cannot be read or converted (of a module that was being imported) is printed
    with its place."""
    if isinstance(error, ConversionError | SourceError):
        show_error(error)
        return code_of(error)
    if "numpy" in sys.modules:  # else the program never came to what the runtime would be asked about
        from autoconv.runtime.tracebacks import present

        present(error)
    if sys.excepthook is not sys.__excepthook__:
        sys.excepthook(type(error), error, error.__traceback__)
    else:
        print("".join(user_traceback(error)), end="", file=sys.stderr, flush=True)
    return ExitCode.INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1


def located(error: Exception) -> AutoconvError | None:
    """The error with its place, where the user's program raised it as it was traced, or did what cannot be traced; None
    for others. A failed assertion of this package is a bug of ours."""
    from autoconv.runtime.tracebacks import place_in, raised_by_us

    if isinstance(error, AutoconvError):
        return error
    if isinstance(error, AssertionError) and raised_by_us(error):
        return None
    trace = error.__traceback__
    error.__traceback__ = trace.tb_next if trace is not None else None  # without the frame of the command
    place = place_in(None, error)
    error.__traceback__ = trace
    return None if place is None else AutoconvError(f"{type(error).__name__}: {error}", place)


def user_traceback(error: BaseException) -> Iterable[str]:
    """The lines of the traceback, chained exceptions and groups included."""
    shown = traceback.TracebackException.from_exception(error, compact=True)
    waiting, seen = [shown], set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        each.stack[:] = [frame for frame in each.stack if not _is_ours(frame.filename)] or list(each.stack)
        waiting += [other for other in (each.__cause__, each.__context__, *(each.exceptions or ())) if other]
    return shown.format()


def _is_ours(filename: str) -> bool:
    if filename.startswith("<frozen ") and ("runpy" in filename or "importlib" in filename):
        return True
    real = os.path.realpath(filename)
    return any(real.startswith(os.path.join(folder, "")) for folder in OURS)
