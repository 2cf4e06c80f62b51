"""The bounded cache of one function's traces, by keys; the least recently used trace is evicted first."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from autoconv.tracing.execute.compiled_trace import ConcreteFunction
from autoconv.tracing.key.cache_key import Key, accepts
from autoconv.tracing.outputs.garbage import DROPPED

MAX_KEYS = 256  # keys per function
TRACES_PER_KEY = 4  # traces per key, which differ in their guards
_MIN_KEPT_TRACES = 28  # number of traces that are kept, whatever their size
_MAX_BYTES = 1_400_000  # limit of the sum of the traces' `weight`, in bytes; `_MIN_KEPT_TRACES` may exceed it
_USE_NUMBERS = itertools.count()  # gives each use of a trace the next number


class TraceCache:
    """Traces of one function by their keys; `by_key` may be copied (`list`) while other threads add traces."""

    def __init__(self) -> None:
        self.by_key: dict[Key, list[ConcreteFunction]] = {}

    @property
    def traces(self) -> list[ConcreteFunction]:
        """All traces, key by key."""
        return [concrete for traces_of_key in list(self.by_key.values()) for concrete in traces_of_key]

    def find(self, key: Key) -> ConcreteFunction | None:
        """Return a trace for that key, or for a wider key, whose guards hold; None if there is none."""
        for concrete in self.by_key.get(key, ()):
            if not concrete.guards.find_change():
                return self.mark_used(concrete)
        for other, traces in list(self.by_key.items()):
            if other != key and accepts(other, key):
                for concrete in traces:
                    if not concrete.guards.find_change():
                        return self.mark_used(concrete)
        return None

    def mark_used(self, concrete: ConcreteFunction) -> ConcreteFunction:
        """Mark the trace as used now."""
        concrete.last_use = next(_USE_NUMBERS)
        return concrete

    def add(self, concrete: ConcreteFunction) -> bool:
        """Add a trace; return whether its key now has `TRACES_PER_KEY` traces, the most that are kept."""
        traces = [concrete, *self.by_key.get(concrete.key, ())][:TRACES_PER_KEY]
        self.by_key[concrete.key] = traces
        self.mark_used(concrete)
        return len(traces) == TRACES_PER_KEY

    def evict(self, release: Callable[[list[ConcreteFunction]], None]) -> None:
        """Evict the least recently used keys while limits are exceeded.

        `release` is called with the traces of each evicted key, and must not keep references to them.
        """
        keys_by_last_use = sorted(self.by_key, key=lambda key: max(trace.last_use for trace in self.by_key[key]))
        traces = self.traces
        count, weight = len(traces), sum(trace.weight for trace in traces)
        del traces  # no reference may keep evicted traces alive
        for key in keys_by_last_use[:-1]:
            if len(self.by_key) <= MAX_KEYS and (count <= _MIN_KEPT_TRACES or weight <= _MAX_BYTES):
                return
            evicted_traces = self.by_key.pop(key)
            release(evicted_traces)
            count -= len(evicted_traces)
            evicted_weight = sum(trace.weight for trace in evicted_traces)
            weight -= evicted_weight
            del evicted_traces
            DROPPED.add(evicted_weight)  # triggers a garbage collection once enough was evicted
