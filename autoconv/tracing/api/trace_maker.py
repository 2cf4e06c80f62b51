"""Creation of the trace for a call that has none: attempts to trace, each of which determines the next step."""

from __future__ import annotations

import enum
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from autoconv.errors import AutoconvError
from autoconv.operators.regions.tracing_signals import drop_unraisable_signals
from autoconv.runtime.recording.tracebacks import find_place
from autoconv.runtime.support.logs import log
from autoconv.tracing.execute.compiled_trace import ConcreteFunction
from autoconv.tracing.execute.internal_errors import note_fault
from autoconv.tracing.execute.plain_rerun import public_error_text
from autoconv.tracing.guards.external_writes import RestartTrace
from autoconv.tracing.guards.trace_restrictions import RunPlain, Specialise, WorkLimitExceeded
from autoconv.tracing.key.argument_structure import CannotFlatten
from autoconv.tracing.key.bounded_dict import BoundedDict
from autoconv.tracing.key.cache_key import Key
from autoconv.tracing.key.call import Call
from autoconv.tracing.key.signature import Signature
from autoconv.tracing.specialise.bailout import Bailout, is_by_value
from autoconv.tracing.specialise.call_kinds import kind_of
from autoconv.tracing.specialise.program_clock import excluded_from_clock
from autoconv.tracing.specialise.retracing import CallCounter, open_sizes_at_once
from autoconv.tracing.specialise.session_contract import SessionContract
from autoconv.tracing.specialise.tiers import Tiers
from autoconv.tracing.specialise.trace import LOCK
from autoconv.tracing.specialise.trace_cache import TraceCache
from autoconv.tracing.specialise.trace_feedback import TraceFeedback
from autoconv.tracing.views.explain import Explanation, Row
from autoconv.tracing.views.logs import log_trace
from autoconv.tracing.views.numpy_hint import point_to_compile

_MAX_RESTART_SECONDS = 3.0  # processor seconds that a call may spend on traces that are restarted
_SLOW_RESTARTS = "restarts of the trace took {:.1f} s, because of what it writes or what its objects are"


class NextStep(enum.Enum):
    """The next step for a call that has no trace yet."""

    FIND_TRACE = "look for a trace with the key of the call, which another trace may serve now"
    MAKE_TRACE = "make a trace"
    RUN_PLAIN = "run the call as plain Python"


class TraceMaker:
    """Mixin of `Function` that makes its traces.

    `_plain_reasons` maps the keys of calls that run plain to the reason, and the place in the program or None.
    """

    python_function: Callable[..., Any]
    _contract: type[SessionContract]
    _reduce_retracing: bool
    _times_calls: bool
    _signature: Signature
    _trace_cache: TraceCache
    _feedback: TraceFeedback
    _bailout: Bailout
    _call_counter: CallCounter
    _tiers: Tiers
    _explanation: Explanation
    _plain_reasons: BoundedDict[Key, tuple[str, Any]]
    _outlines_loops: bool
    _attempt_count: int
    _trace_count: int

    def _trace_call(self, call: Call) -> ConcreteFunction:
        raise NotImplementedError

    def _decide_to_trace(self, call: Call) -> bool:
        raise NotImplementedError

    def _is_for_object(self, key: Key) -> bool:
        raise NotImplementedError

    def _store_trace(self, concrete: ConcreteFunction) -> None:
        raise NotImplementedError

    def _find_or_make_trace(self, call: Call) -> ConcreteFunction | None:
        """Find or make the trace for a call; return None if the call has to run as plain Python."""
        if not self._may_trace(call):
            return None
        with excluded_from_clock(), LOCK, drop_unraisable_signals():
            result: ConcreteFunction | NextStep = NextStep.FIND_TRACE
            while isinstance(result, NextStep):
                if result is NextStep.FIND_TRACE:
                    next_step = NextStep.MAKE_TRACE if self._may_trace(call) else NextStep.RUN_PLAIN
                    result = self._trace_cache.find(call.key) or next_step
                elif result is NextStep.MAKE_TRACE:
                    result = self._attempt_trace(call)
                else:
                    return None
            return result

    def _may_trace(self, call: Call) -> bool:
        """Return whether to make a trace: no attempt has failed for the call's key, and the call is worth a trace."""
        return call.key not in self._plain_reasons and (call.must_trace or self._decide_to_trace(call))

    def _attempt_trace(self, call: Call) -> ConcreteFunction | NextStep:
        """Make one attempt to trace; return the trace, or the next step for the call, whose key may have changed.

        The trace refers to the error that abandoned it. The error's traceback is removed, or its frames would keep the
        callers' variables alive until a collection.
        """
        start, processor_start = time.perf_counter(), time.thread_time()
        self._attempt_count += 1
        reason = call.trace_reason = call.trace_reason or self._explanation.why(call, self._trace_cache.by_key)
        traces = self._trace_cache.by_key.get(call.key, ())
        if self._contract.runs_plain and self._feedback.promote_changing_values(call, traces):
            return NextStep.FIND_TRACE
        exact_key = self._widen(call)
        try:
            with self._keep_other_traces_valid(), log_trace(self._signature.name, self._trace_count + 1, reason):
                concrete = self._trace_call(call)
        except Specialise as request:
            request.__traceback__ = None
            if not self._feedback.undo_promotion(call):
                self._feedback.specialise(call, request.positions)
            return NextStep.FIND_TRACE
        except RestartTrace as request:
            request.__traceback__ = None
            call.restart_seconds += time.thread_time() - processor_start
            return self._bind_again(call, request)
        except MemoryError:
            if not self._contract.runs_plain:
                raise
            self._record_memory_error(call)
            return NextStep.RUN_PLAIN
        except (RunPlain, Exception) as error:
            self._record_cost(call, start)
            next_step = self._choose_step_after_failure(call, exact_key, error)
            if next_step is None:
                point_to_compile(error, call.args, call.kwargs)
                raise
            if isinstance(error, RunPlain):
                error.__traceback__ = None
            return next_step
        self._explanation.add(Row(reason, concrete))
        self._call_counter.record_trace(self.python_function, under_compile=self._contract.runs_plain)
        self._record_cost(call, start)
        self._bailout.trace_budget.record_outcome(has_trace=True)
        self._store_trace(concrete)
        return concrete

    def _widen(self, call: Call) -> Key:
        """Leave sizes open in the call's key if earlier calls had other sizes; return the key with exact sizes."""
        if self._reduce_retracing:
            call.key = open_sizes_at_once(call.key, reversed(list(self._trace_cache.by_key)))
        exact_key = call.key
        if self._contract.runs_plain:
            call.key = self._feedback.open_sizes(exact_key, self._trace_cache.by_key)
        return exact_key

    def _bind_again(self, call: Call, restart: RestartTrace) -> NextStep:
        """Bind the call again, with the inputs or facts that the abandoned trace needs."""
        refusal_reason = self._feedback.refusal(call, restart)
        if self._times_calls and call.restart_seconds > _MAX_RESTART_SECONDS:
            refusal_reason = refusal_reason or _SLOW_RESTARTS.format(call.restart_seconds)
        if refusal_reason:
            self._record_plain(call, refusal_reason, place=None)
            return NextStep.RUN_PLAIN
        try:
            self._feedback.bind_for_restart(call, restart)
        except CannotFlatten as error:
            self._record_plain(call, str(error), place=None)
            return NextStep.RUN_PLAIN
        return NextStep.FIND_TRACE

    def _choose_step_after_failure(self, call: Call, exact_key: Key, error: Exception | RunPlain) -> NextStep | None:
        """Return the next step after an error of the trace; None if the error is raised to the caller.

        The next attempt has exact sizes in place of open ones, constants in place of promoted inputs, or objects in
        place of flattened containers or arrays as memory. If this attempt had none of these, the call runs plain.
        """
        if not isinstance(error, RunPlain) and note_fault(error):
            call.fault = error
        if self._feedback.fall_back_to_exact_sizes(call, exact_key, str(error)) or self._feedback.undo_promotion(call):
            return NextStep.FIND_TRACE
        if isinstance(error, RunPlain):
            reason, place = str(error), find_place(self.python_function, error)
        elif self._contract.runs_plain:
            own_place = error.place if isinstance(error, AutoconvError) else None
            place = own_place or find_place(self.python_function, error)
            reason = f"{type(error).__name__}: {public_error_text(error)}"
        else:
            return None
        if self._feedback.try_opaque_containers(call):
            return NextStep.FIND_TRACE
        if self._feedback.try_arrays_as_objects(call, reason, place):
            return NextStep.FIND_TRACE
        self._record_plain(call, reason, place)
        self._outlines_loops |= not isinstance(error, WorkLimitExceeded)
        return NextStep.RUN_PLAIN

    def _record_cost(self, call: Call, start: float) -> None:
        """Record the time, since `start`, of a trace that was made or abandoned."""
        if not self._contract.runs_plain:
            return
        budget, seconds = self._bailout.trace_budget, time.perf_counter() - start
        budget.count, budget.total_seconds = budget.count + 1, budget.total_seconds + seconds
        self._tiers.presumption.record_trace(kind_of(call.args, call.kwargs))
        if self._is_for_object(call.key) or (self._times_calls and is_by_value(call)):
            budget.record_trace(call, seconds, self._call_counter)

    @contextmanager
    def _keep_other_traces_valid(self) -> Iterator[None]:
        """Keep the outside changes of a trace, such as an append to a list, from invalidating other traces.

        Under the contract `function` such a change happens once per trace, and belongs to it.
        """
        traces = [] if self._contract.effects_each_call else self._trace_cache.traces
        valid_traces = [concrete for concrete in traces if not concrete.guards.find_change()]
        try:
            yield
        finally:
            for concrete in valid_traces:
                concrete.guards.refresh()

    def _record_plain(self, call: Call, reason: str, place: Any) -> None:
        """Record that calls with the key of this one run plain; `place` is the line of the program that causes it."""
        self._bailout.trace_budget.record_outcome(has_trace=False)
        self._plain_reasons[call.key] = reason, place
        log("retraces", f"{self._signature.name} runs as plain Python: {f'{place}: ' if place else ''}{reason}")
        self._explanation.plain.append(f"{place}: {reason}" if place else reason)

    def _explain_once(self, reason: str) -> None:
        """Add to the explanation the reason why calls run plain from now on, with the line of the function."""
        code = getattr(self.python_function, "__code__", None)
        place = f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}: " if code is not None else ""
        # Reasons with the same beginning differ only in numbers.
        if not any(entry.startswith(place + reason[:20]) for entry in self._explanation.plain):
            log("retraces", f"{self._signature.name} runs as plain Python: {place}{reason}")
            self._explanation.plain.append(place + reason)

    def _record_memory_error(self, call: Call) -> None:
        """Record that a trace ran out of memory; calls with the key run plain if that happened before to any trace."""
        reason = "there was no memory for a trace"
        if reason in self._explanation.plain:
            self._record_plain(call, reason, place=None)
        else:
            self._explanation.plain.append(reason)
