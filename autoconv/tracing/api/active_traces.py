"""Active traces: the functions that a thread is tracing, and calls among them that lead back to one of them.

Under `function`, a call in a region is recorded as a call of the callee's own trace. If the callee leads back to a
function whose trace is active, and the call stands in an arm or a loop body, these traces would not end: only the
recursion within one trace becomes a graph function (`recursion_detection.py`). Such a call is recorded inline instead.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from autoconv.errors import InaccessibleTensorError
from autoconv.operators.regions.tracing_signals import AbandonTrace
from autoconv.runtime.recording.regions import Region, current_region


class LeadsBack(AbandonTrace):
    """Unwind the active traces to a call in an arm or a loop body, which is to be recorded inline."""

    def __init__(self, trace: ActiveTrace) -> None:
        self.trace = trace
        super().__init__()


class ActiveTrace:
    """A trace that a thread is making of `function`, for a call in `caller_region`, if any.

    `callees` are functions that lead back to this one.
    """

    def __init__(self, function: Any, caller_region: Region | None) -> None:
        self.function = function
        self.caller_region = caller_region
        self.callees: list[Any] = []

    @property
    def is_conditional(self) -> bool:
        """True if the call that needs this trace stands in an arm or a loop body."""
        return self.caller_region is not None and self.caller_region.parent is not None


class _Traces(threading.local):
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


def leads_back(function: Any, region: Region) -> bool:
    """Return whether a call of `function` in `region` is to be recorded inline, as it leads to an active trace.

    Raises LeadsBack if an enclosing call has to be recorded inline first.
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
            raise LeadsBack(conditional_traces[-1])
    return False


def is_to_be_inlined(function: Any, error: InaccessibleTensorError | LeadsBack, region: Region) -> bool:
    """Return whether a call of `function` in `region` has no trace of its own, for the reason that `error` gives.

    Either its trace leads back to one around it, or it closes over a tensor of one.
    """
    if isinstance(error, LeadsBack):
        return error.trace.function is function and error.trace.caller_region is region
    return region.encloses(error.graph)
