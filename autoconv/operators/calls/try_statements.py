"""try and with statements under trace: the body is recorded up to where it raises, then each of the handlers.

A try statement stands in a loop over `attempts`. Without a trace there is one round, which runs the statement
unchanged. Under trace the rounds are those of a `TryRecorder`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

from autoconv.errors import StagingError
from autoconv.graph.graph import Node
from autoconv.operators.calls.call import call
from autoconv.operators.control.conditionals import is_staged, truth
from autoconv.operators.control.staging import stage_arms
from autoconv.operators.control.try_rounds import TryRecorder
from autoconv.operators.control.variants import raise_all_but_last
from autoconv.operators.regions.layout import Variant
from autoconv.operators.regions.raised_errors import bypasses_handlers
from autoconv.operators.regions.shared_identity import require_identity
from autoconv.operators.regions.tracing_signals import Suspended
from autoconv.operators.support import deferred_messages
from autoconv.operators.values.items import context
from autoconv.runtime.objects.staged_exceptions import StagedException
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, apply_object
from autoconv.runtime.recording.deferred_stores import is_catchable
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.support.spans import current_place, place_of

_ONE_PLAIN_ROUND = (None,)  # the recorder of each round without a trace


def attempts(handler_count: int, read: Callable[[], Any] | None = None, names: tuple[str, ...] = ()) -> Any:
    """Return the rounds of a try statement with `handler_count` except clauses.

    `read` is a closure over the variables called `names`, and over those that are local to the statement.
    """
    region = current_region()
    return _ONE_PLAIN_ROUND if region is None else TryRecorder(region, handler_count, read, names).rounds()


def with_attempts(manager: object, read: Callable[[], Any] | None = None, names: tuple[str, ...] = ()) -> Any:
    """Return the rounds of a with statement."""
    region = current_region()
    if region is None:
        return _ONE_PLAIN_ROUND
    if type(manager) is Variant:
        for alternative in manager.values:
            require_identity(alternative)
    is_user_defined = isinstance(getattr(type(manager), "__enter__", None), FunctionType)
    if not is_user_defined or type(manager).__module__.partition(".")[0] in ("autoconv", "contextlib"):
        context(manager)
        return _ONE_PLAIN_ROUND
    return TryRecorder(region, 0, read, names).rounds()


def caught_classes(recorder: TryRecorder | None, number: int, classes: Any) -> Any:
    """Return the classes that the except clause of that number catches: none in the round of another clause."""
    return classes if recorder is None else recorder.classes_of_clause(number, classes)


def unwinding_classes(recorder: TryRecorder | None) -> Any:
    """Return the classes caught at the end of a round: none without a trace."""
    return () if recorder is None else recorder.classes_of_unwinding()


def exception(error: Any) -> Any:
    """Return the exception for the name of a handler, or for a link to another exception."""
    return error.value if type(error) is StagedException else error


def as_exception(error: Any, cause: Callable[[], Any] | None = None) -> Any:
    """Convert the operand of `raise` or `from` to a Python exception.

    For a variant, record a raise of each alternative but the last, under its condition, and return the last. `cause`
    returns the operand of the statement's `from`.
    """
    if type(error) is Variant:
        error = raise_all_but_last(error, lambda alternative: _link_cause(alternative, cause))
    return StagedException(error) if type(error) is SymbolicObject else error


def as_cause(error: Any) -> Any:
    """Convert the operand of `from` to a Python exception."""
    if type(error) is Variant:
        raise StagingError(
            "which exception `raise … from` links depends on a value of the graph", current_place(),
            "a raise statement for each, in an if statement",
        )  # fmt: skip
    return as_exception(error)


def make_exception(make: Callable[[], Any], cause: Callable[[], Any] | None = None) -> Any:
    """Evaluate the call of a raise statement, whose message may hold values of the graph."""
    return as_exception(deferred_messages.evaluate_exception(make), cause)


def _link_cause(error: Any, cause: Callable[[], Any] | None) -> BaseException:
    """Return the exception that `raise error from cause()` raises."""
    try:
        if cause is None:
            raise as_exception(error)
        raise as_exception(error) from as_cause(cause())
    except BaseException as raised:
        return raised.with_traceback(None)


def begin(recorder: TryRecorder | None) -> None:
    """Mark the start of the body of a try statement for its recorder."""
    if recorder is not None:
        recorder.begin()


def end(recorder: TryRecorder | None) -> None:
    """Mark the end of the body of a try statement for its recorder, before the code of a finally clause."""
    if recorder is not None:
        recorder.finish_body()


class _Watch(NamedTuple):
    """The start of a try body that is not recorded in rounds."""

    region: Region
    start: Node | None  # last node of the graph before the body
    statement: str  # words for error messages


def watch(statement: str) -> _Watch | None:
    """Mark the start of a try body that is not recorded in rounds; return None without a trace."""
    region = current_region()
    return None if region is None else _Watch(region, region.graph.mark(), statement)


def check_watched(body: _Watch | None, value: object = None) -> Any:
    """Return `value`; raise StagingError if the body recorded ops that may raise at run time, which no handler sees."""
    if body is None:
        return value
    for node in body.region.graph.nodes_since(body.start):
        if is_catchable(node):
            refusal = StagingError(
                f"{node.op.name!r} may raise at run time, and {body.statement} around it catches only what is raised "
                "while tracing",
                place_of(node.span) if node.span else None,
                "a condition tested before, instead of the exception",
            )
            body.region.trace.refusal = refusal  # the statement may catch the exception
            raise refusal
    return value


def watched_classes(body: _Watch | None, classes: Any) -> Any:
    """Return the classes that an except clause of a watched body catches: none for an error of tracing itself.

    If all paths of the body end with exceptions of the graph, raise StagingError, because no handler would see them.
    """
    region, error = current_region(), sys.exc_info()[1]
    if type(error) is Suspended:
        return check_watched(body, classes)
    if region is None or not region.contract.python_exceptions or not bypasses_handlers(error):
        return classes
    return ()


def watch_iteration(body: _Watch | None, iterable: Any) -> Any:
    """Iterate for a `yield from` in a `body` that `watch` marked, with a check before each value."""
    if body is None:
        return (yield from iterable)
    iterator = iter(iterable)
    while True:
        try:
            value = next(iterator)
        except StopIteration as end:
            return end.value
        yield check_watched(body, value)


def managed_context(recorder: TryRecorder | None, manager: object) -> Any:
    """Return the context manager for one round of a with statement."""
    return manager if recorder is None else _ManagedRound(recorder, manager)


class _ManagedRound:
    """A user-defined context manager in one round."""

    def __init__(self, recorder: TryRecorder, manager: Any) -> None:
        self.recorder = recorder
        self.manager = manager

    def __enter__(self) -> Any:
        recorder = self.recorder
        if recorder.state != "escape":
            recorder.entered_value = call(type(self.manager).__enter__)(self.manager)
        return recorder.entered_value

    def __exit__(self, error_class: Any, error: Any, traceback: Any) -> Any:
        recorder, exit_manager = self.recorder, call(type(self.manager).__exit__)
        if error is None:
            recorder.finish_body()
            exit_manager(self.manager, None, None, None)
            return False
        if recorder.state == "body":
            recorder.handle_exception()
        if recorder.is_passing or bypasses_handlers(error):
            return False
        if recorder.state == "failed":
            return True
        if recorder.is_finished:
            result = exit_manager(self.manager, error_class, error, traceback)
        else:
            raised = exception(error)
            result = exit_manager(self.manager, apply_object("type", raised), raised, None)
        if not is_staged(result):
            return result

        def reraise() -> tuple[()]:
            raise error

        stage_arms(truth(result), [lambda: (), reraise], [], ())
        return True
