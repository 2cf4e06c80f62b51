"""Calls of Python that a graph makes each time it runs, in the order of the program."""

from __future__ import annotations

from collections.abc import Callable

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.runtime.recording.regions import current_region


def call_on_run(call: Callable[[], object]) -> None:
    """Make the call at once; in a traced function, each time that its graph runs."""
    if current_region() is None:
        call()
    else:
        numpy_function(Effect(call), [], [])


class Effect:
    """A host function that makes a call without arguments, and has no results."""

    graphdef_name = "FlushSummaryWriter"

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call

    def __call__(self) -> None:
        self._call()
