"""Exceptions that end the tracing of a region early, and the error for a program that discards one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autoconv.errors import StagingError
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.support.spans import current_place


class AbandonTrace(BaseException):
    """Unwind a trace that cannot go on; the code that started the trace chooses what runs instead.

    Subclasses set their attributes before they call this constructor, which stores the exception in the trace. Where
    memory is short, the constructor of a subclass may end at any line.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        region = current_region()
        if region is not None:
            region.trace.refusal = self  # survives a `finally` with an early exit, which would discard this exception


class Suspended(BaseException):
    """Unwind an arm that needs the result of a recursive call whose type is not known yet or that never returns."""

    def __init__(self, region: Region) -> None:
        super().__init__()
        self.trace = region.trace
        self.previous_refusal = region.trace.refusal
        region.trace.refusal = swallowed_signal_error()

    def mark_caught(self) -> None:
        """Withdraw the error with which the trace would end if the program discarded this exception."""
        self.trace.refusal = self.previous_refusal


def swallowed_signal_error() -> StagingError:
    """Return the error for a program that discards the exception which suspends the tracing of a recursive function."""
    return StagingError(
        "a function calls itself inside of a finally or except that is left early, and the depth depends on a tensor",
        current_place(),
        "the call outside of that statement",
    )


@contextmanager
def drop_unraisable_signals() -> Iterator[None]:
    """Suppress Python's report of signals that nothing can catch.

    Python closes the generators of an abandoned trace. If a `finally` of such a generator changes a list, the trace is
    abandoned once more, which Python would print as an ignored exception.
    """
    report = sys.unraisablehook

    def report_others(unraisable: Any) -> None:
        if not isinstance(unraisable.exc_value, AbandonTrace):
            report(unraisable)

    sys.unraisablehook = report_others
    try:
        yield
    finally:
        if sys.unraisablehook is report_others:
            sys.unraisablehook = report
