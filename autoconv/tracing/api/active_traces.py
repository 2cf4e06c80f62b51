"""Active traces: the functions that a thread is tracing, and calls that reenter one of these traces.

Under `function`, a call inside a trace is recorded as a call of the callee's own trace. A callee reenters a trace if it
calls, directly or through others, a function whose trace is active. Tracing such a call in an arm or a loop body
would not end, as only recursion within one trace becomes a graph function (`recursion_detection.py`). The callee's
nodes are therefore recorded inline.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from autoconv.errors import InaccessibleTensorError
from autoconv.operators.regions.tracing_signals import AbandonTrace
from autoconv.runtime.recording.regions import Region, current_region


class ReentersTrace(AbandonTrace):
    """Raised to abandon the active traces up to `trace`, so that the call for which it is made is recorded inline."""

    def __init__(self, trace: ActiveTrace) -> None:
        self.trace = trace
        super().__init__()


class ActiveTrace:
    """A trace of `function` that a thread is making, for a call that is recorded in `caller_region`, if any.

    `callees` are functions whose calls reenter this trace.
    """

    def __init__(self, function: Any, caller_region: Region | None) -> None:
        self.function = function
        self.caller_region = caller_region
        self.callees: list[Any] = []

    @property
    def is_conditional(self) -> bool:
        """True if the call for which this trace is made is in an arm or a loop body."""
        return self.caller_region is not None and self.caller_region.parent is not None


class _Traces(threading.local):
    """The traces that this thread is making."""

    active: tuple[ActiveTrace, ...] = ()  # outermost first


_TRACES = _Traces()


@contextlib.contextmanager
def tracing(function: Any) -> Iterator[None]:
    """Mark a trace of `function` as active inside the block."""
    outer_traces = _TRACES.active
    _TRACES.active = (*outer_traces, ActiveTrace(function, current_region()))
    try:
        yield
    finally:
        _TRACES.active = outer_traces


def reenters_trace(function: Any, region: Region) -> bool:
    """Return whether a call of `function` in `region` reenters an active trace and has to be recorded inline.

    Raises ReentersTrace if an enclosing call has to be recorded inline instead.
    """
    active = _TRACES.active
    for position, trace in enumerate(active):
        if trace.function is not function and function not in trace.callees:
            continue
        if region.parent is not None:
            return True
        conditional_traces = [inner for inner in active[position + 1 :] if inner.is_conditional]
        if conditional_traces:
            trace.callees.append(conditional_traces[-1].function)
            raise ReentersTrace(conditional_traces[-1])
    return False


def has_to_be_inlined(function: Any, error: InaccessibleTensorError | ReentersTrace, region: Region) -> bool:
    """Return whether a call of `function` in `region`, whose trace ended with `error`, has to be recorded inline.

    It has to be if the function's trace reenters an enclosing trace, or uses a tensor of an enclosing trace.
    """
    if isinstance(error, ReentersTrace):
        return error.trace.function is function and error.trace.caller_region is region
    return region.encloses(error.graph)
