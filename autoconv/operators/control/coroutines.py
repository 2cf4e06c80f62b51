"""Refuse coroutine functions under trace: their bodies run in an event loop, after the call has returned."""

from __future__ import annotations

import inspect
import types

from autoconv.errors import StagingError
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.recording.tracebacks import place_at_definition


def refuse_coroutine(function: types.FunctionType) -> None:
    """Raise StagingError during a trace for a coroutine function, before it is called.

    Its call would make a coroutine that is dropped with the trace, and Python warns of coroutines that are never
    awaited.
    """
    if inspect.iscoroutinefunction(function) and current_region() is not None:
        raise place_at_definition(
            StagingError(
                f"{function.__qualname__} is asynchronous: its body runs when an event loop awaits its coroutine", None,
                "a function without async for what is computed",
            ), function,
        )  # fmt: skip
