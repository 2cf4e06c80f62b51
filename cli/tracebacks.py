"""Tracebacks of a user's program as plain Python would print them: without our frames and without generated
ones."""

from __future__ import annotations

import functools
import linecache
import os
import sys
import traceback
import warnings
from collections.abc import Iterable
from types import CodeType

import click

import autoconv
from autoconv.errors import ConversionError, SourceError

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
    if sys.excepthook is not sys.__excepthook__:
        sys.excepthook(type(error), error, error.__traceback__)
    else:
        print("".join(user_traceback(error)), end="", file=sys.stderr, flush=True)
    return ExitCode.INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1


def user_traceback(error: BaseException) -> Iterable[str]:
    """The lines of the traceback, chained exceptions and groups included."""
    shown = traceback.TracebackException.from_exception(error, compact=True)
    waiting, seen = [shown], set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        kept = _without_generated([frame for frame in each.stack if not _is_ours(frame.filename)])
        each.stack[:] = kept or list(each.stack)
        waiting += [other for other in (each.__cause__, each.__context__, *(each.exceptions or ())) if other]
    return shown.format()


def _is_ours(filename: str) -> bool:
    if filename.startswith("<frozen ") and ("runpy" in filename or "importlib" in filename):
        return True
    real = os.path.realpath(filename)
    return any(real.startswith(os.path.join(folder, "")) for folder in OURS)


def _without_generated(frames: list[traceback.FrameSummary]) -> list[traceback.FrameSummary]:
    """A frame of a function that is not in the user's source is the place where the function above it is."""
    kept: list[traceback.FrameSummary] = []
    for frame in frames:
        above = kept[-1] if kept else None
        if above is not None and above.filename == frame.filename and _is_generated(frame):
            frame.name = above.name
            kept.pop()
        kept.append(frame)
    return kept


def _is_generated(frame: traceback.FrameSummary) -> bool:
    names = _names_in(frame.filename)
    return bool(names) and frame.name not in names


@functools.cache
def _names_in(filename: str) -> frozenset[str]:
    """The names of all code objects of a source file; empty where it cannot be known."""
    source = "".join(linecache.getlines(filename))
    if not source:
        return frozenset()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            waiting = [compile(source, filename, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return frozenset()
    names = set()
    while waiting:
        code = waiting.pop()
        names.add(code.co_name)
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return frozenset(names)
