"""Generator functions under trace: a loop over one runs the generator's code, with the loop's body at each yield."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

from autoconv.errors import StagingError
from autoconv.operators.control.conditionals import is_staged
from autoconv.operators.control.loop_body import LoopBody
from autoconv.operators.regions.raised_errors import is_tracing_error
from autoconv.operators.support.generator_expressions import GeneratorCall, TracedGenerator
from autoconv.operators.support.protected_names import BREAK
from autoconv.runtime.recording.deferred_stores import is_catchable
from autoconv.runtime.recording.journal import Location
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.spans import current_place


def _is_generator_function(function: Callable[..., Any]) -> bool:
    """Return whether this is a generator function whose loops a trace under `compile` records."""
    region = current_region()
    return (
        region is not None
        and region.contract.objects_in_graph
        and isinstance(function, types.FunctionType)
        and inspect.isgeneratorfunction(function)
    )


def wrap_generator_function(function: Callable[..., Any], convert: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return the function that makes a TracedGenerator where `function` would make a generator; else `function`.

    `convert(function)` is the form of a generator function that calls a consumer at each yield.
    """
    if not _is_generator_function(function):
        return function

    def start(*args: Any, **kwargs: Any) -> Any:
        source = GeneratorCall(function, convert(function), args, kwargs)
        function(*args, **kwargs)  # raises TypeError for arguments that do not fit; starts nothing
        return TracedGenerator(source, GeneratorCall.values)  # type: ignore[arg-type]

    return start


def loop_over_generator(source: GeneratorCall, body: LoopBody, state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Run the generator's code with the loop's body at each yield; return the state after the loop."""
    consumer = Consumer(body, state, source.is_held)
    source.pass_values(consumer, *source.args, **source.kwargs)
    return tuple(consumer.state)


class Consumer:
    """The body of a loop as a callable to which a generator passes its values; each call updates the loop's `state`.

    `is_held()` is true if a name of the program refers to the generator, which could then be resumed after the loop.
    """

    __autoconv_function__ = True

    def __init__(self, body: LoopBody, state: tuple[Any, ...], is_held: Callable[[], bool]) -> None:
        self.body = body
        self.is_held = is_held
        self.state = list(state)
        creating_region = current_region()
        self.locations = [self._location(position, name, creating_region) for position, name in enumerate(body.names)]

    def _location(self, position: int, name: str, creating_region: object) -> Location:
        def write(value: object) -> None:
            self.state[position] = value

        return Location((id(self), position), name, lambda: self.state[position], write, self, creating_region)

    def __call__(self, item: Any, restriction: str = "") -> Any:
        """Run the body for one item and return whether the loop ends.

        `restriction` is what the statement around the yield requires of the loop's body (`emit.generators`).
        "may_not_raise": a try statement would catch an exception of the body. "must_continue": the statement observes
        an early exit.
        """
        region = current_region()
        start = region.graph.mark() if region is not None else None
        try:
            new_state = self.body.step(item, tuple(self.state))
        except Exception as error:
            if restriction and not is_tracing_error(error):
                raise _refusal() from None
            raise
        if restriction and region is not None and any(map(is_catchable, region.graph.nodes_since(start))):
            raise _refusal()
        journal = region.journal if region is not None else None
        if journal is not None:
            for location in self.locations:
                journal.record(location)
        self.state[:] = new_state
        exit_code = self.body.exit_code(new_state)
        may_leave = is_staged(exit_code) or exit_code >= BREAK
        if restriction and may_leave and (restriction == "must_continue" or self.is_held()):
            raise _refusal()
        return exit_code >= BREAK if is_staged(exit_code) else bool(exit_code >= BREAK)


def _refusal() -> StagingError:
    """Return the error for a yield inside of a try or with; the trace ends with it even if the statement catches it."""
    refusal = StagingError(
        "a loop over a generator function may be left where the generator yields inside of a try or with",
        current_place(),
        "a list of what the generator gives, or the yield outside of that statement",
    )
    region = current_region()
    if region is not None:
        region.trace.refusal = refusal  # the surrounding statement may swallow the exception
    return refusal
