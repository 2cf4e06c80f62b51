"""try and with under trace: what a body does until it raises, and then each of its handlers, recorded one by one.

A try statement stands in a loop over `attempts`. Without a trace there is one round, and the statement is what it was.
Under trace the rounds are those of a `Trial`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.errors import StagingError
from autoconv.operators.calls import call
from autoconv.operators.conditionals import is_staged, truth
from autoconv.operators.items import context
from autoconv.operators.layout import Variant
from autoconv.operators.staging import stage_arms
from autoconv.operators.trials import Trial, passes
from autoconv.operators.twins import wants_identity
from autoconv.runtime.objects import StagedException, SymbolicObject, apply_object
from autoconv.runtime.recording import current_region
from autoconv.runtime.spans import place_of
from autoconv.runtime.stores import is_catchable

_ONCE = (None,)


def attempts(handlers: int, read: Callable[[], Any] | None = None, names: tuple[str, ...] = ()) -> Any:
    """The rounds of a try statement with that many except clauses.

    `read` refers to the variables called `names`, and to those that are nobody's business behind the statement."""
    region = current_region()
    return _ONCE if region is None else Trial(region, handlers, read, names).rounds()


def entering(manager: Any, read: Callable[[], Any] | None = None, names: tuple[str, ...] = ()) -> Any:
    """The rounds of a with statement."""
    region = current_region()
    if region is None:
        return _ONCE
    if type(manager) is Variant:
        for one in manager.values:
            wants_identity(one)
    own = isinstance(getattr(type(manager), "__enter__", None), _FUNCTION)
    if not own or type(manager).__module__.partition(".")[0] in ("autoconv", "contextlib"):
        context(manager)
        return _ONCE
    return Trial(region, 0, read, names).rounds()


def caught(trial: Trial | None, number: int, kinds: Any) -> Any:
    """What the except clause of that number takes: `kinds`, unless another round is for it."""
    return kinds if trial is None else trial.caught(number, kinds)


def unwound(trial: Trial | None) -> Any:
    """What the end of a round takes: nothing without a trace."""
    return () if trial is None else trial.unwound()


def exception(error: Any) -> Any:
    """What a handler calls the exception."""
    return error.value if type(error) is StagedException else error


def as_exception(error: Any) -> Any:
    """What is raised, or raised from, as Python needs it."""
    return StagedException(error) if type(error) is SymbolicObject else error


def begin(trial: Trial | None) -> None:
    """The start of the body."""
    if trial is not None:
        trial.begin()


def end(trial: Trial | None) -> None:
    """The end of the body, where what a finally does follows."""
    if trial is not None:
        trial.done()


def watch(statement: str) -> Any:
    """Where the body of a try begins that is not recorded round by round."""
    region = current_region()
    return None if region is None else (region, region.graph.mark(), statement)


def watched(mark: Any, value: Any = None) -> Any:
    """`value`. Refuses a body that recorded what may raise when the graph runs: its handlers would not see it."""
    if mark is None:
        return value
    region, place, statement = mark
    for node in region.graph.since(place):
        if is_catchable(node):
            refusal = StagingError(
                f"{node.op.name!r} may raise when the graph runs, and {statement} around it only sees what is raised "
                "while it is traced",
                place_of(node.span) if node.span else None,
                "a condition that is tested before, instead of the exception",
            )
            region.trace.refusal = refusal  # the statement may swallow it
            raise refusal
    return value


def watching(mark: Any, iterable: Any) -> Any:
    """What a `yield from` there goes over; it is asked before each value, too."""
    if mark is None:
        return (yield from iterable)
    iterator = iter(iterable)
    while True:
        try:
            value = next(iterator)
        except StopIteration as end:
            return end.value
        yield watched(mark, value)


def managed(trial: Trial | None, manager: Any) -> Any:
    """The manager of a with statement in one round of it."""
    return manager if trial is None else _Managed(trial, manager)


class _Managed:
    """A context manager of the user's in one round."""

    def __init__(self, trial: Trial, manager: Any) -> None:
        self.trial = trial
        self.manager = manager

    def __enter__(self) -> Any:
        trial = self.trial
        if trial.state != "escape":
            trial.entered = call(type(self.manager).__enter__)(self.manager)
        return trial.entered

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        trial, leave = self.trial, call(type(self.manager).__exit__)
        if error is None:
            trial.done()
            leave(self.manager, None, None, None)
            return False
        if trial.state == "body":
            trial.failed()
        if trial.passing or passes(error):
            return False
        if trial.state == "failed":
            return True
        if trial.settled:
            answer = leave(self.manager, kind, error, trace)
        else:
            raised = exception(error)
            answer = leave(self.manager, apply_object("type", raised), raised, None)
        if not is_staged(answer):
            return answer

        def again() -> tuple[()]:
            raise error

        stage_arms(truth(answer), [lambda: (), again], [], ())
        return True


_FUNCTION = type(lambda: None)
