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
_MAX_BYTES = 1_400_000  # estimated bytes of all traces, if there are more than `_MIN_KEPT_TRACES`
_TICKS = itertools.count()  # gives each use of a trace the next number


class TraceCache:
    """Traces of one function by their keys; `by_key` may be listed while other threads trace."""

    def __init__(self) -> None:
        self.by_key: dict[Key, list[ConcreteFunction]] = {}

    @property
    def traces(self) -> list[ConcreteFunction]:
        return [concrete for entries in list(self.by_key.values()) for concrete in entries]

    def find(self, key: Key) -> ConcreteFunction | None:
        """Return a trace for that key, or for a wider key, whose guards hold; None if there is none."""
        for concrete in self.by_key.get(key, ()):
            if not concrete.guards.find_change():
                return self.mark_used(concrete)
        for other, entries in list(self.by_key.items()):
            if other != key and accepts(other, key):
                for concrete in entries:
                    if not concrete.guards.find_change():
                        return self.mark_used(concrete)
        return None

    def mark_used(self, concrete: ConcreteFunction) -> ConcreteFunction:
        """Mark the trace as used now."""
        concrete.last_use = next(_TICKS)
        return concrete

    def add(self, concrete: ConcreteFunction) -> bool:
        """Add a trace; return whether its key now has `TRACES_PER_KEY` traces, the most that are kept."""
        entries = [concrete, *self.by_key.get(concrete.key, ())][:TRACES_PER_KEY]
        self.by_key[concrete.key] = entries
        self.mark_used(concrete)
        return len(entries) == TRACES_PER_KEY

    def drop_oldest(self, release: Callable[[list[ConcreteFunction]], None]) -> None:
        """Evict traces beyond the limits; `release` is called with the evicted traces, and must not keep them."""
        keys_by_last_use = sorted(self.by_key, key=lambda key: max(trace.last_use for trace in self.by_key[key]))
        traces = self.traces
        count, weight = len(traces), sum(trace.weight for trace in traces)
        del traces  # no reference may keep evicted traces alive
        for key in keys_by_last_use[:-1]:
            if len(self.by_key) <= MAX_KEYS and (count <= _MIN_KEPT_TRACES or weight <= _MAX_BYTES):
                return
            dropped_entries = self.by_key.pop(key)
            release(dropped_entries)
            count -= len(dropped_entries)
            dropped_weight = sum(trace.weight for trace in dropped_entries)
            weight -= dropped_weight
            del dropped_entries
            DROPPED.add(dropped_weight)
