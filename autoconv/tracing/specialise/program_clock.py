"""Time that a thread spends in the program itself, which excludes the traces that its calls make.

A plain call may make traces of the compiled functions that it calls. Its later calls do without them, so their time is
no part of the time of a plain call.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_MIN_PROCESSOR_SECONDS = 1e-3  # calls from this time on are measured in processor time, too


class _TimeInTraces(threading.local):
    """The seconds that a thread has spent making traces, by the wall clock and by the processor's."""

    seconds = processor_seconds = 0.0
    is_tracing = False


_time_in_traces = _TimeInTraces()


def clock() -> float:
    """Return the seconds, from an arbitrary start, that this thread has not spent making traces."""
    return time.perf_counter() - _time_in_traces.seconds


def _processor_clock() -> float:
    """Return the processor seconds of this process, except those in which this thread made traces."""
    return time.process_time() - _time_in_traces.processor_seconds


@contextmanager
def excluded_from_clock() -> Iterator[None]:
    """Stop this thread's clocks in the block, which makes a trace; blocks may be nested."""
    if _time_in_traces.is_tracing:
        yield
        return
    _time_in_traces.is_tracing = True
    start, processor_start = time.perf_counter(), time.process_time()
    try:
        yield
    finally:
        _time_in_traces.seconds += time.perf_counter() - start
        _time_in_traces.processor_seconds += time.process_time() - processor_start
        _time_in_traces.is_tracing = False


class Stopwatch:
    """The seconds since its creation: on a busy machine those of the processor, which other processes do not share."""

    __slots__ = ("_processor_start", "_start")

    def __init__(self) -> None:
        self._processor_start = _processor_clock()
        self._start = clock()

    def seconds(self) -> float:
        """Return the seconds that have passed."""
        seconds = clock() - self._start
        if seconds < _MIN_PROCESSOR_SECONDS:
            return seconds
        return min(seconds, max(_processor_clock() - self._processor_start, _MIN_PROCESSOR_SECONDS))
