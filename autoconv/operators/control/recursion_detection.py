"""Recursion detection: calls of user functions are tracked while they run, so that recursion becomes a graph function.

A recursive call in an arm or loop body, with arguments of the same layout, would never end the trace. The outermost
of the calls is then undone and recorded as a graph of its own (`recursive_graphs.py`). Recursion that a Python
condition ends has layouts that differ from call to call, and is recorded inline.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from autoconv.errors import StagingError
from autoconv.operators.control.recursive_graphs import Call, RecursiveFunction
from autoconv.operators.regions.layout import Layout, Static
from autoconv.operators.regions.recursive_signature import bound_arguments, holds_only_data, join_arguments
from autoconv.operators.regions.tracing_signals import swallowed_signal_error
from autoconv.operators.support.call_graph import may_call_itself
from autoconv.operators.support.speculation import Attempt
from autoconv.runtime.recording.contracts import CALL
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.support.code_signature import code_signature

# By contract, the number of recursive calls that are recorded inline if their arguments differ in static values.
_INLINE_LIMITS = {"compile": 3, "function": 24}
# Largest depth of recursion without a tensor condition in between.
_MAX_UNCONDITIONAL_DEPTH = 40
_LAZY_CODE_FLAGS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Restart(BaseException):
    """Unwind to a call that has to be recorded as a recursive function, with arguments of these layouts."""

    def __init__(self, call: Call, layouts: Sequence[Layout]) -> None:
        super().__init__()
        self.call = call
        self.layouts = layouts


def track_calls(function: FunctionType, target: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `target`, the converted form of the user's `function`, so that its calls are tracked while they run."""
    if function.__code__.co_flags & _LAZY_CODE_FLAGS or function.__code__ is _WRAPPER_CODE:
        return target

    def tracked_call(*args: Any, **kwargs: Any) -> Any:
        region = current_region()
        return target(*args, **kwargs) if region is None else _record_call(function, target, args, kwargs, region)

    return tracked_call


_WRAPPER_CODE = next(
    constant for constant in track_calls.__code__.co_consts if getattr(constant, "co_name", "") == "tracked_call"
)


def is_tracked(function: FunctionType) -> bool:
    """Return whether the function is the result of `track_calls`."""
    return function.__code__ is _WRAPPER_CODE


def _record_call(function: FunctionType, target: Any, args: Any, kwargs: Any, region: Region) -> Any:
    """Return the result of a call, recorded in one of three ways.

    It is recorded inline, or as a call of a recursive function, or an outer call is restarted as such a function.
    """
    region.contract.count_step(CALL)
    call = Call(function, target, args, kwargs, region)
    running_calls = region.trace.calls
    active_calls = [
        outer for outer in running_calls if outer.identity == call.identity and region.is_inside(outer.region)
    ]
    # Calls in the same region have no tensor condition in between; they count only if they are many.
    is_deep = len(active_calls) > _MAX_UNCONDITIONAL_DEPTH
    enclosing_calls = active_calls if is_deep else [outer for outer in active_calls if outer.region is not region]
    if enclosing_calls:
        try:
            layouts = call.layouts()
        except TypeError:  # the arguments do not fit: the function raises for that
            return target(*args, **kwargs)
        decision = _decide_recording(call, enclosing_calls, layouts)
        if isinstance(decision, RecursiveFunction):
            return decision.call(bound_arguments(function, args, kwargs), region)
        if decision is not None:
            wider_layouts = decision.layouts
            if decision.call.may_restart:
                # The error of the trace, unless the Restart arrives: a `finally` or `except` may discard that.
                region.trace.refusal = swallowed_signal_error()
                raise decision
            return RecursiveFunction(call, wider_layouts).record()
    recursion = region.trace.recursions.get(call.identity)
    if recursion is not None and not active_calls and call.has_layouts_of(recursion):
        return RecursiveFunction(call, recursion.layouts()).record()
    call.may_restart = may_call_itself(function, args)
    return _record_inline(call, running_calls)


def _record_inline(call: Call, running_calls: list[Any]) -> Any:
    """Record the call inline and return its result; if a Restart ends it, record it as a recursive function."""
    attempt = Attempt() if call.may_restart else None
    running_calls.append(call)
    try:
        result = call.target(*call.args, **call.kwargs)
    except Restart as restart:
        if attempt is not None:
            attempt.undo()
        if restart.call is not call:
            raise
        call.region.trace.refusal = None
        wider_layouts = restart.layouts
    except BaseException:
        if attempt is not None:
            attempt.keep()
        raise
    else:
        if attempt is not None:
            attempt.keep()
        return result
    finally:
        running_calls.remove(call)
    return RecursiveFunction(call, wider_layouts).record()


def _decide_recording(
    call: Call, enclosing_calls: Sequence[Call], layouts: list[Layout]
) -> RecursiveFunction | Restart | None:
    """Decide how to record a recursive call inside an arm or loop body of one of `enclosing_calls`.

    Returns the recursive function to call, a Restart to create one, or None to record the call inline.
    """
    for outer_call in reversed(enclosing_calls):
        if (
            isinstance(outer_call, RecursiveFunction)
            and _join_arguments(outer_call, layouts, call) == outer_call.layouts()
        ):
            return outer_call
    inline_count = enclosing_calls[0].inline_count = enclosing_calls[0].inline_count + 1
    for outer_call in enclosing_calls:
        wider_layouts = _join_arguments(outer_call, layouts, call)
        if wider_layouts is None:
            continue
        if wider_layouts == outer_call.layouts():
            return Restart(outer_call, wider_layouts)
        changed_layouts = [new for old, new in zip(outer_call.layouts(), layouts, strict=True) if old != new]
        changes_static = any(type(layout) is Static for layout in changed_layouts)
        if not changes_static or inline_count > _INLINE_LIMITS[call.region.contract.name]:
            if isinstance(outer_call, RecursiveFunction):
                return outer_call.widen(wider_layouts)
            return Restart(outer_call, wider_layouts)
    return None


def _join_arguments(outer_call: Call, layouts: list[Layout], call: Call) -> list[Layout] | None:
    """Return the joined layouts of both calls' arguments; None if static values in them must stay distinct."""
    outer_layouts = outer_call.layouts()
    names = list(code_signature(call.function).parameters)
    if len(outer_layouts) != len(layouts):
        return None
    try:
        joined_layouts = [
            old if old == new else join_arguments(old, new, name, call.region.contract)
            for old, new, name in zip(outer_layouts, layouts, names, strict=True)
        ]
    except StagingError:
        return None
    changed_layouts = [new for old, new in zip(outer_layouts, joined_layouts, strict=True) if old != new]
    return joined_layouts if all(map(holds_only_data, changed_layouts)) else None
