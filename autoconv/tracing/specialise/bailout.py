"""Bail-out heuristics: under `compile`, run calls as plain Python if tracing them takes longer than it saves.

- After several consecutive plain calls with arguments of the same classes, only some further calls are examined.
- After several calls in a row that no trace served, some run plain without a search for a trace.
- Calls with a new value (an object, a text, a dict with other keys) run as plain Python until together they took as
  long as a trace; they are called doubtful.
- All traces of a function share a budget, which grows with its calls.

An examined call looks for a trace, and makes one if there is none.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from autoconv.graph.types import ArrayType, TensorType
from autoconv.tracing.key.array_keys import ArrayKey
from autoconv.tracing.key.bounded_dict import BoundedDict
from autoconv.tracing.key.cache_key import LeafKey, Literal, Reference, TensorKey
from autoconv.tracing.key.call import Call
from autoconv.tracing.specialise.retracing import CallCounter

_MIN_CONSECUTIVE_CALLS = 8  # consecutive plain calls before the examination of further ones is skipped
_MAX_SKIPPED_CALLS = 64  # consecutive calls that run plain without examination
# Calls in a row without a trace for each further call that may run plain without a search, and the most of these.
# Where traces save more time than searches take, at most one call in nine runs plain although a trace would serve it.
_CALLS_A_SKIPPED_SEARCH, _MAX_SKIPPED_SEARCHES = 8, 256
_SEARCH_SECONDS = 15e-6  # seconds that a search in vain takes
_MAX_KEYS = 256  # exact keys, and patterns, whose seconds are kept
# Traces of one pattern that are made without waiting; later calls with further values are doubtful.
_FREE_CONSECUTIVE_TRACES = 8  # in a row, in functions whose calls are not timed
_FREE_TRACES_IN_ALL = 2  # in all, in functions whose calls are timed
_FREE_TRACES = 16  # traces of a function that are allowed whatever its number of calls
_FREE_FAILURES = 4  # attempts in a row without a trace, after which twice as many calls follow for each further one
_MAX_REFUSALS = 1024  # of these calls, the most in a row
# Traces and seconds of tracing after which a function counts as one with slow traces.
_FREE_SLOW_TRACES, _FREE_SECONDS = 4, 20.0
_CALLS_A_TRACE, _CALLS_A_SLOW_TRACE = 8, 64  # calls per additional trace: in general, and with slow traces


class Bailout:
    """The latest plain calls of a function, and the decision which calls run as plain Python.

    The bound methods of one function share the `trace_budget`, as each instance has its own traces.
    """

    __slots__ = (
        "_argument_classes", "_consecutive_plain_calls", "_latest_unserved_call", "_plain_seconds", "_skipped_searches",
        "_skips_left", "_unserved_calls", "doubtful_seconds", "ran_plain", "represented_calls", "trace_budget",
    )  # fmt: skip

    def __init__(self, trace_budget: TraceBudget | None = None) -> None:
        self.trace_budget = TraceBudget() if trace_budget is None else trace_budget
        self._argument_classes: tuple[type, ...] = ()
        self.ran_plain = False  # whether the last call ran as plain Python
        self.doubtful_seconds = 0.0  # seconds that the last call took as plain Python, if it was doubtful
        self._consecutive_plain_calls = 0
        self._skips_left = 0  # further calls to run plain without examination
        self._unserved_calls = 0  # calls in a row without a trace
        self._latest_unserved_call = 0  # the number of the latest of these calls
        self._skipped_searches = 0  # calls that may run plain without a search after it
        self.represented_calls = 1  # the latest unserved call, and those without a search before it
        self._plain_seconds: BoundedDict[Any, float] = BoundedDict(_MAX_KEYS)  # exact key of doubtful calls -> seconds

    def runs_unexamined(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Return whether this call runs as plain Python without examination; if so, count it."""
        if not self._skips_left or kwargs or tuple(map(type, args)) != self._argument_classes:
            return False
        self._skips_left -= 1
        self.ran_plain = True
        return True

    def record_plain_call(self, args: tuple[Any, ...]) -> None:
        """Record an examined call that ran as plain Python; after several, skip the examination of the next ones."""
        self.ran_plain = True
        classes = tuple(map(type, args))
        self._consecutive_plain_calls = self._consecutive_plain_calls + 1 if classes == self._argument_classes else 1
        self._argument_classes = classes
        if self._consecutive_plain_calls >= _MIN_CONSECUTIVE_CALLS:
            self._skips_left = min(1 << (self._consecutive_plain_calls - _MIN_CONSECUTIVE_CALLS), _MAX_SKIPPED_CALLS)

    def record_graph_call(self) -> None:
        """Record a call that ran as a graph, after which calls are examined again."""
        self.ran_plain = False
        self._consecutive_plain_calls = self._skips_left = 0

    def record_unserved_call(self, call_number: int, gain_seconds: float = math.inf) -> int:
        """Record a call for which no trace was found; return how many further calls may run plain without a search.

        `call_number` counts the calls that searched for a trace, and those that a trace served. The calls without a
        search belong to the row. It ends where the calls that traces served since then, each of which saved
        `gain_seconds`, saved more time than a search takes.
        """
        served_calls = call_number - self._latest_unserved_call - 1
        if served_calls and served_calls * gain_seconds > _SEARCH_SECONDS:
            self._unserved_calls = self._skipped_searches = 0
        self._latest_unserved_call = call_number
        self.represented_calls = 1 + self._skipped_searches
        self._unserved_calls += self.represented_calls
        self._skipped_searches = min(self._unserved_calls // _CALLS_A_SKIPPED_SEARCH, _MAX_SKIPPED_SEARCHES)
        return self._skipped_searches

    def is_doubtful(self, call: Call) -> bool:
        """Return whether plain calls with the values of this call took less time, so far, than a trace takes.

        Then it is doubtful whether a trace would pay.
        """
        trace_seconds = self.trace_budget.seconds_of_pattern(call)
        return trace_seconds is not None and self._plain_seconds.get(_exact_key(call), 0.0) < trace_seconds

    def record_doubtful_call(self, call: Call, seconds: float) -> bool:
        """Record the plain duration of a doubtful call; return whether it was the first one."""
        self.ran_plain, self.doubtful_seconds = True, seconds
        is_first, key = not self._plain_seconds, _exact_key(call)
        self._plain_seconds[key] = self._plain_seconds.get(key, 0.0) + seconds
        self.trace_budget.record_plain_seconds(call, seconds)
        return is_first


class _TraceCost(NamedTuple):
    """The number of some traces, and the seconds that they took in all."""

    traces: int = 0
    seconds: float = 0.0


class TraceBudget:
    """The cost of a function's traces, and the limits for further ones.

    A pattern is shared by calls that differ only in values (see `_pattern`). After `free_traces` traces of one pattern,
    calls with further values are doubtful. If `counts_all_traces` is true, all traces of the pattern count, otherwise
    only those in a row. `count` and `total_seconds` are the number and the seconds of all traces.
    """

    __slots__ = (
        "_calls_at_trace", "_consecutive_cost", "_cost_by_pattern", "_counter_at_trace", "_failures", "_latest_pattern",
        "_mean_seconds", "_refusals", "count", "counts_all_traces", "free_traces", "total_seconds",
    )  # fmt: skip

    def __init__(self, *, counts_all_traces: bool = False) -> None:
        self.counts_all_traces = counts_all_traces
        self.free_traces = _FREE_TRACES_IN_ALL if counts_all_traces else _FREE_CONSECUTIVE_TRACES
        self.count, self.total_seconds = 0, 0.0
        self._failures = 0  # attempts in a row without a trace
        self._refusals = 0  # further calls that make no attempt
        self._latest_pattern: Any = None
        self._consecutive_cost = _TraceCost()  # of the latest pattern's traces in a row
        self._cost_by_pattern: BoundedDict[Any, _TraceCost] = BoundedDict(_MAX_KEYS)  # pattern -> all its traces
        # The counter of calls at the latest trace, and the number of calls that it had counted then.
        self._counter_at_trace: CallCounter | None = None
        self._calls_at_trace = 0
        self._mean_seconds: dict[Any, float] = {}  # pattern without free traces left -> seconds per trace

    def record_trace(self, call: Call, seconds: float, counter: CallCounter) -> None:
        """Record that the call which `counter` counted last made or tried a trace, in `seconds`."""
        pattern = _pattern(call)
        previous = self._counter_at_trace
        is_same_counter = previous is counter  # then the traced call itself is among the calls since the latest trace
        calls_without_trace = 0 if previous is None else previous.calls - self._calls_at_trace - is_same_counter
        self._counter_at_trace, self._calls_at_trace = counter, counter.calls
        if self.counts_all_traces:
            cost_before = self._cost_by_pattern.get(pattern, _TraceCost())
        elif calls_without_trace > 0 or pattern != self._latest_pattern:
            cost_before = _TraceCost()
        else:
            cost_before = self._consecutive_cost
        cost = _TraceCost(cost_before.traces + 1, cost_before.seconds + seconds)
        self._latest_pattern, self._consecutive_cost = pattern, cost
        self._cost_by_pattern[pattern] = cost
        if cost.traces >= self.free_traces:
            self._mean_seconds[pattern] = cost.seconds / cost.traces

    def record_outcome(self, *, has_trace: bool) -> None:
        """Record whether an attempt to trace gave a trace; after some failures in a row, attempts become rarer."""
        self._failures = 0 if has_trace else self._failures + 1
        is_free = self._failures < _FREE_FAILURES
        self._refusals = 0 if is_free else min(2**self._failures, _MAX_REFUSALS)

    def overspending_reason(self, calls: int) -> str:
        """Return the reason why no trace may be made until there are more than `calls` calls; "" if one may be made."""
        if self._refusals:
            self._refusals -= 1
            return "attempts to trace failed in a row: some further calls run as plain Python without an attempt"
        exceeds_budget = self.count >= _FREE_TRACES and calls < _CALLS_A_TRACE * self.count
        is_slow = self.count >= _FREE_SLOW_TRACES and self.total_seconds > _FREE_SECONDS
        exceeds_budget |= is_slow and calls < _CALLS_A_SLOW_TRACE * self.count
        if not exceeds_budget:
            return ""
        cost_text = f"{self.count} traces in {calls} calls took {self.total_seconds:.3g} s"
        return f"calls without a trace run as plain Python until more calls are made: {cost_text}"

    @property
    def seconds_a_trace(self) -> float:
        """The mean duration of the traces of the function; 0 before the first one."""
        return self.total_seconds / self.count if self.count else 0.0

    def seconds_of_pattern(self, call: Call) -> float | None:
        """Return the mean duration of the traces of the call's pattern; None while it has free traces."""
        return self._mean_seconds.get(_pattern(call)) if self._mean_seconds else None

    def record_plain_seconds(self, call: Call, seconds: float) -> None:
        """Record the time of a doubtful call; if it is longer than a trace, the next value gets a trace at once."""
        pattern = _pattern(call)
        if seconds > self._mean_seconds.get(pattern, seconds):
            del self._mean_seconds[pattern]
            self._cost_by_pattern.pop(pattern, None)
            self._latest_pattern, self._consecutive_cost = None, _TraceCost()


def is_by_value(call: Call) -> bool:
    """Return whether the key of the call depends on values or structures of arguments, not on types only."""
    return any(template is not None for _, template in call.key.templates) or any(
        isinstance(leaf, (Literal, Reference)) for leaf in _leaves(call)
    )


def _pattern(call: Call) -> Any:
    """Return a key that calls share which differ only in values.

    It has the kind of each argument's container, and the kinds of its leaves. So it is the same for dicts with other
    keys, lists of other lengths and containers of arrays of other sizes.
    """
    leaves, pattern = _leaves(call), []
    for (name, template), leaf_slice in zip(call.key.templates, call.key.leaf_slices(), strict=True):
        kinds = frozenset(map(_kind if template is None else _kind_of_part, leaves[leaf_slice]))
        pattern.append((name, None if template is None else template.kind, kinds))
    return tuple(pattern)


def _kind(leaf: LeafKey) -> Any:
    """Return the class name if the leaf is keyed by a value; otherwise the leaf key itself."""
    if isinstance(leaf, Reference):
        return leaf.name
    return type(leaf.value).__name__ if isinstance(leaf, Literal) else leaf


def _kind_of_part(leaf: LeafKey) -> Any:
    """Return the kind of a leaf in a flattened argument, without the sizes of arrays."""
    if not isinstance(leaf, (TensorKey, ArrayKey)) or not isinstance(leaf.type, (TensorType, ArrayType)):
        return _kind(leaf)
    shape = leaf.type.shape
    return type(leaf), leaf.type.dtype, None if shape is None else len(shape)


def _exact_key(call: Call) -> Any:
    """Return a key that only calls with equal values share."""
    return call.key.templates, _leaves(call)


def _leaves(call: Call) -> tuple[LeafKey, ...]:
    """Return the keys of the leaves, without those of written locations, which only a trace finds."""
    return call.key.leaves[: len(call.key.leaves) - len(call.locations)]
