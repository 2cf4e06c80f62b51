"""Dispatch of a call of a compiled function to a trace or to the plain function, by the shortest path.

The entries of the latest traces are tried first, in native code where possible (see `make_native_slot`). Under
`compile` the gate selects some calls for examination: these are timed until the faster form of their kind is known
(see `tiers`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

from autoconv.config import DETOUR, SETTINGS
from autoconv.ops.python.revocable_run import Revoked
from autoconv.runtime.recording.activity import BUSY
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.recording.tracebacks import present
from autoconv.runtime.support.skipped_frames import skipped_by_warnings
from autoconv.tracing.execute.compiled_trace import ConcreteFunction
from autoconv.tracing.execute.native_dispatch import is_installed, make_native_slot, native_entries
from autoconv.tracing.execute.plain_rerun import reruns_plain
from autoconv.tracing.guards.numpy_error_state import ERROR_STATE
from autoconv.tracing.guards.plain_conditions import reason_for_plain_calls
from autoconv.tracing.key.call import Call
from autoconv.tracing.key.signature import Signature, is_method
from autoconv.tracing.specialise.bailout import Bailout
from autoconv.tracing.specialise.call_kinds import exact_kind_of, kind_of, kind_text
from autoconv.tracing.specialise.program_clock import Stopwatch, clock
from autoconv.tracing.specialise.tiers import (
    COSTLY_SECONDS,
    FOREVER,
    GRAPH,
    MAX_INTERVAL,
    PLAIN,
    RERUNS,
    SHORT_CALL_SECONDS,
    Gate,
    Tiers,
    Timing,
    may_sample,
    next_interval,
    time_text,
)
from autoconv.tracing.specialise.trace_cache import TraceCache
from autoconv.tracing.specialise.watched_call import ENDED_EARLY
from autoconv.tracing.views.explain import Explanation

P = ParamSpec("P")
R = TypeVar("R", covariant=True)

_MAX_DIRECT_TRACES = 4  # direct traces: those whose entries a call tries before its arguments are examined


@skipped_by_warnings
class CallDispatch(Generic[P, R]):
    """The part of a Function through which every call passes."""

    python_function: Callable[..., R]
    _signature: Signature
    _explanation: Explanation
    _trace_cache: TraceCache
    _bailout: Bailout
    _native_entries: tuple[Any, ...]  # a slot of the class, read by native code
    _attribute_name: str
    takes_instances: bool | None
    _run_recursively: Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]
    _run_unserved: Callable[[tuple[Any, ...], dict[str, Any]], Any]

    def _initialise_dispatch(
        self, call_count_cell: ctypes.c_int64, *, times_calls: bool, checks_float_state: bool
    ) -> None:
        """Create the gate and the tables of entries; `call_count_cell` counts the calls that ran as graphs."""
        self._call_count_cell = call_count_cell
        self._direct_traces: tuple[tuple[ConcreteFunction, Callable[..., Any]], ...] = ()  # each with its entry
        self._native_entries = ()
        self._first_entries: tuple[Callable[..., Any], ...] = ()  # the entries of the first direct trace
        self._tiers = Tiers()
        self._times_calls = times_calls  # to choose between a graph and plain Python, see `tiers`
        self._checks_float_state = checks_float_state
        self._gate = Gate(0 if times_calls else FOREVER, self._signature.max_positional)
        self._examination_interval = 1  # calls from one examination to the next
        self._attempt_count = 0  # number of attempts to make a trace
        self._is_call_time_typical = True  # False after a timed call whose time says nothing about its kind

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            if self._attribute_name and args and self.takes_instances:
                method = self.method_for_call(args)
                if method is not None:
                    return method(*args[1:], **kwargs)  # type: ignore[no-any-return]
            is_changed_by_settings = SETTINGS.run_eagerly or SETTINGS.check_numerics
            if self._times_calls and not BUSY.value and not is_changed_by_settings:
                if not self._gate.take_unexamined():
                    return self._run_in_chosen_form(args, kwargs)
                if self._gate.is_plain:
                    return self.python_function(*args, **kwargs)
            return self._run_graph(args, kwargs)
        except BaseException as error:
            if current_region() is None:  # otherwise the trace that is being made needs all frames, and presents them
                present(error)
            raise

    def _run_graph(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call by an entry of the traces that are tried first, or else by its cache key.

        Under `compile`, run it as plain Python while a condition of `plain_conditions` holds.
        """
        reason = reason_for_plain_calls() if self._checks_float_state and not BUSY.value else ""
        if reason:
            if reason not in self._explanation.plain:
                self._explanation.plain.append(reason)
            return self.python_function(*args, **kwargs)
        if self._direct_traces and not DETOUR.value:
            positional = self._signature.arguments_by_position(args, kwargs)
            for concrete, entry in self._direct_traces:
                if positional is None:
                    break
                checked = concrete.guards if concrete.checks_guards_in_python else None
                if checked and (checked.is_slow or checked.find_change() or concrete.overlap_with_outside(positional)):
                    continue
                failure: Exception | None = None
                try:
                    result = entry(*positional)
                except Exception as error:
                    if not reruns_plain(concrete, error):
                        self._stop_direct_calls(concrete)
                        raise
                    failure = error
                if failure is not None:  # outside of the handler, or exceptions of the rerun would have it as context
                    return self._rerun_plain(failure, args, kwargs)
                if result is not NotImplemented:
                    self._call_count_cell.value += 1
                    return self._check_float_flags(concrete, result, args, kwargs)
        deferred_kinds = self._tiers.presumption.deferred
        if deferred_kinds and self._times_calls and not BUSY.value:  # an earlier search found no trace for such calls
            kind = deferred_kinds.get(exact_kind_of(args, kwargs))
            if kind is not None and self._is_deferred(kind):
                self._call_count_cell.value += 1
                return self._run_deferred(kind, args, kwargs)
        return self._call_by_trace(args, kwargs)

    def _check_float_flags(
        self, concrete: ConcreteFunction, result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Return the result of a call that the trace ran, or of its rerun as plain Python (see `float_warnings`)."""
        flags = concrete.float_errors.take_flags()
        if concrete.float_errors.is_slow_for_now:
            self._is_call_time_typical = False
        return self._handle_float_flags(flags, concrete, result, args, kwargs) if flags else result

    def _handle_float_flags(self, flags: int, concrete: ConcreteFunction, result: Any, args: Any, kwargs: Any) -> Any:
        """Return the result of a call that set floating-point flags: `result`, or that of its rerun as plain Python."""
        if BUSY.value or not concrete.float_errors.must_rerun(flags):  # if BUSY is set, a tape has recorded the results
            self._stop_direct_calls(concrete)
            return result
        self._is_call_time_typical = False  # the time of the call is not that of its graph
        return self.python_function(*args, **kwargs)

    def _stop_direct_calls(self, concrete: ConcreteFunction) -> None:
        """Remove a trace from the direct ones if its later calls are to be undone where they set flags."""
        if concrete.float_errors.undoable_calls:
            self._set_direct_traces(*(pair for pair in self._direct_traces if pair[0] is not concrete))

    def _handle_raised_flags(self, entry: Callable[..., Any], result: Any, flags: int, *args: Any) -> Any:
        """Return what `_handle_float_flags` returns, for a call that native dispatch passed to an entry."""
        try:
            concrete = self._trace_of_entry(entry)
            call = self._signature.split_positions(args)
            return result if concrete is None else self._handle_float_flags(flags, concrete, result, *call)
        except BaseException as error:
            present(error)
            raise

    def _handle_failure(self, entry: Callable[..., Any], error: BaseException, *args: Any) -> Any:
        """Handle an error of a call that native dispatch passed to an entry: rerun it as plain Python, or raise."""
        context = error.__context__
        try:
            concrete = self._trace_of_entry(entry)
            if concrete is not None:
                if reruns_plain(concrete, error):
                    return self._rerun_plain(error, *self._signature.split_positions(args))
                self._stop_direct_calls(concrete)
            raise error
        except BaseException as raised:
            if raised is error:
                error.__context__ = context  # the statement `raise error` has replaced it
            present(raised)
            raise

    def _trace_of_entry(self, entry: Callable[..., Any]) -> ConcreteFunction | None:
        """Return the direct trace that has the entry; None if it is no longer one."""
        pairs = self._direct_traces
        return next((trace for trace, first_entry in pairs if first_entry is entry or entry in trace.entries), None)

    def _call_by_trace(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        raise NotImplementedError

    def method_for_call(self, args: tuple[Any, ...]) -> Any:
        raise NotImplementedError

    def _rerun_plain(self, error: BaseException, args: Any, kwargs: Any) -> Any:
        raise NotImplementedError

    # ---- choice between graph and plain Python

    def _run_in_chosen_form(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call in the form chosen for its kind, or time one of the two forms if none is chosen yet."""
        if self._tiers.is_sampling():
            return self.python_function(*args, **kwargs)
        if self._checks_float_state and reason_for_plain_calls():
            return self._run_graph(args, kwargs)
        kind = kind_of(args, kwargs)
        timing = self._tiers.timing(kind)
        budget, presumption = self._bailout.trace_budget, self._tiers.presumption
        may_be_presumed = timing.may_be_presumed(presumption.plain_call_seconds)
        may_be_presumed |= not timing.choice and presumption.is_deferred(kind)
        if may_be_presumed and presumption.presumes_plain(kind, budget.count, budget.seconds_a_trace):
            return self._run_presumed(kind, args, kwargs)
        if timing.is_new and presumption.waits(kind, budget.seconds_a_trace, self.python_function, args, kwargs):
            result = self._run_presumed(kind, args, kwargs)
            if result is not ENDED_EARLY:
                return result
        elif timing.is_new and (seconds := presumption.trivial_seconds(kind, is_method(self.python_function))):
            timing.choice = PLAIN
            self._explanation.record_times(kind_text(kind), f"{time_text(seconds)} as plain Python", is_plain=True)
        form = timing.choose_form()
        if timing.choice:
            self._tiers.latest_form = form
            is_form_unchanged = self._gate.is_plain == (form == PLAIN)
            self._examination_interval = next_interval(self._examination_interval, form) if is_form_unchanged else 1
            self._open_gate(self._examination_interval, form)
            return self.python_function(*args, **kwargs) if form == PLAIN else self._run_graph(args, kwargs)
        self._examination_interval = 1
        try:
            if form == GRAPH:
                return self._time_graph(timing, kind, args, kwargs)
            self._open_gate(FOREVER, PLAIN)  # for recursive calls of the function
            try:
                return self._tiers.sample(self.python_function, args, kwargs, timing)
            finally:
                self._gate.open(0, GRAPH)
        finally:
            self._apply_choice(timing, kind)

    def _run_presumed(self, kind: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call of a kind that is presumed to be faster as plain Python, and record its time."""
        # Calls since the last examination, which are taken to have been of the same kind.
        unexamined_calls = self._examination_interval if self._gate.is_plain else 0
        self._examination_interval = min(self._tiers.presumption.unexamined_calls, MAX_INTERVAL[PLAIN])
        self._tiers.latest_form = PLAIN
        self._gate.open(FOREVER, PLAIN)  # for recursive calls of the function
        if self._tiers.presumption.is_new(kind):
            self._explanation.record_presumption(kind_text(kind))
        start = clock()
        try:
            return self._tiers.presumption.call(kind, self.python_function, args, kwargs)
        finally:
            self._tiers.presumption.record_calls(kind, clock() - start, unexamined_calls + 1)
            self._open_gate(self._examination_interval, PLAIN)

    def _deferred_kind(self, call: Call) -> Any:
        """Return the kind of a call for which no trace fits, if the call is deferred; else None."""
        if not self._times_calls:
            return None
        kind = kind_of(call.args, call.kwargs)
        return kind if self._is_deferred(kind) else None

    def _is_deferred(self, kind: Any) -> bool:
        """Return whether calls of the kind that have no trace are deferred (see `plain_presumption`)."""
        budget = self._bailout.trace_budget
        return self._tiers.presumption.runs_without_trace(kind, budget.count, budget.seconds_a_trace)

    def _run_deferred(self, kind: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a deferred call as plain Python, and record its time."""
        presumption = self._tiers.presumption
        if presumption.is_new(kind):
            self._explanation.record_presumption(kind_text(kind))
        exact_kind = exact_kind_of(args, kwargs)  # before the call changes them
        start = clock()
        try:
            return self._run_unserved(args, kwargs)
        finally:
            presumption.record_deferred_call(kind, exact_kind, clock() - start, self._bailout.represented_calls)
            self._is_call_time_typical = False  # the time of the call is not that of its graph
            self._tiers.timing(kind).discount_call()

    def _apply_choice(self, timing: Timing, kind: Any) -> None:
        """Record the choice of a form, if it was made, and open the gate for the next call."""
        if timing.choice:
            self._open_gate(1, timing.choice)
            seconds = timing.plain_seconds if timing.is_measured else 0.0
            self._tiers.presumption.record_choice(kind, seconds, timing.choice == PLAIN)
            if timing.is_measured and timing.has_trace:
                self._explanation.record_times(kind_text(kind), timing.text(), timing.choice == PLAIN)

    def _time_graph(self, timing: Timing, kind: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a call as a graph, and record its time unless a trace was made for it."""
        attempts_before, stopwatch, seconds = self._attempt_count, Stopwatch(), 0.0
        self._bailout.ran_plain, self._bailout.doubtful_seconds, self._is_call_time_typical = False, 0.0, True
        is_positional = not kwargs and len(args) <= self._signature.max_positional
        entries = native_entries(self._native_entries) if is_positional else ()  # their guards need no Python code
        try:
            for entry in entries:  # only the entry is timed, because later calls go to it directly
                failure: BaseException | None = None
                try:
                    result = entry(*args)
                except BaseException as error:
                    failure = error
                if failure is not None:
                    return self._handle_failure(entry, failure, *args)
                if result is not NotImplemented:
                    seconds = stopwatch.seconds()
                    for concrete in (concrete for concrete, _ in self._direct_traces if entry in concrete.entries):
                        self._trace_cache.mark_used(concrete)
                        result = self._check_float_flags(concrete, result, args, kwargs)
                    return result
            stopwatch = Stopwatch()
            return self._run_graph(args, kwargs)
        finally:
            seconds = seconds or stopwatch.seconds()
            has_traced = self._attempt_count != attempts_before
            is_costly = seconds > COSTLY_SECONDS and not timing.is_discounted
            if not (self._is_call_time_typical or has_traced or is_costly):
                timing.record_untypical_time(seconds)
            elif (is_costly or not has_traced) and not timing.choice:
                self._record_graph_time(timing, kind, seconds, is_costly)

    def _record_graph_time(self, timing: Timing, kind: Any, seconds: float, is_costly: bool) -> None:
        """Record a graph's time, that of a trace's first run only if costly; choose the graph if plain may be slow."""
        latest_trace = max(self._trace_cache.traces, key=lambda concrete: concrete.last_use, default=None)
        run_trace = None if self._bailout.ran_plain else latest_trace
        if run_trace is not None and not _may_sample_plain(run_trace, seconds):
            timing.choice = GRAPH
        elif latest_trace is None or not timing.record_run(latest_trace.number) or is_costly:
            timing.has_trace |= run_trace is not None
            if self._bailout.doubtful_seconds:
                timing.record_search(seconds - self._bailout.doubtful_seconds)
            timing.record_time(GRAPH, seconds)
            if seconds < SHORT_CALL_SECONDS:
                self._tiers.presumption.record_short_kind(kind)

    def _record_rerun(self, error: BaseException, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Record that a call reran as plain Python; if such calls are frequent, choose plain Python for its kind.

        Calls that are undone only for their warnings do not count.
        """
        if isinstance(error, Revoked):
            self._is_call_time_typical = False  # the time of the call is not that of its graph
        elif self._times_calls and not self._tiers.is_sampling():
            kind = kind_of(args, kwargs)
            if self._tiers.timing(kind).record_rerun(self._call_count_cell.value):
                self._gate.open(0, GRAPH)
                self._explanation.record_times(kind_text(kind), RERUNS, is_plain=True)

    def _open_gate(self, call_count: int, form: str) -> None:
        """Open the gate for that many calls in this form, without examination."""
        self._gate.open(call_count, form)
        may_load = is_installed() or call_count >= MAX_INTERVAL[PLAIN]  # native code pays for many calls
        if form == PLAIN and not self._native_entries and may_load:
            self._native_entries = self._make_native_entries(())

    # ---- direct traces

    def _make_first_direct(self, concrete: ConcreteFunction) -> None:
        """Make a trace the first direct one, if it has an entry; narrow traces precede wide ones."""
        # An entry checks no settings and no replica, and its calls cannot be undone.
        if concrete.guards.check_numerics or concrete.key.replica or concrete.float_errors.undoable_calls:
            return
        first_trace = next((trace for trace, _ in self._direct_traces), None)
        is_first = first_trace is concrete and self._first_entries == concrete.entries
        if concrete.entry is not None and not is_first:
            other_pairs = [pair for pair in self._direct_traces if pair[0] is not concrete]
            pairs = [(concrete, concrete.entry), *other_pairs[: _MAX_DIRECT_TRACES - 1]]
            self._set_direct_traces(*sorted(pairs, key=lambda pair: not pair[0].is_narrow))

    def _set_direct_traces(self, *pairs: tuple[ConcreteFunction, Callable[..., Any]]) -> None:
        """Set the direct traces, and the entries that native dispatch calls."""
        self._direct_traces = pairs
        self._first_entries = next((trace.entries for trace, _ in pairs), ())
        may_set_flags = any(concrete.float_errors.may_occur for concrete, _ in pairs)
        self._gate.set_variable_check(self._checks_float_state and may_set_flags and ERROR_STATE is not None)
        native_candidates = [entry for concrete, _ in pairs for entry in concrete.entries]
        self._native_entries = ()
        needs_python = any(trace.checks_guards_in_python or trace.float_errors.is_certain for trace, _ in pairs)
        if self._signature.has_positional_form and not needs_python:
            self._native_entries = self._make_native_entries(native_candidates)

    def _make_native_entries(self, entry_functions: Any) -> tuple[Any, ...]:
        """Return the contents of the slot `_native_entries`, from which native code dispatches a call."""
        names, cells = self._signature.native_names, (self._call_count_cell, self._gate.cell)
        return make_native_slot(type(self), *cells, self.python_function, names, entry_functions)


def _may_sample_plain(concrete: ConcreteFunction, seconds: float) -> bool:
    """Return whether plain Python may be timed for a call that the trace ran in `seconds` (see `may_sample`)."""
    certainly_pays = not may_sample(seconds, concrete.optimised, dict(concrete.fallback_kernel_calls))
    return not concrete.uses_tensors and (concrete.guards.is_slow or not certainly_pays)
