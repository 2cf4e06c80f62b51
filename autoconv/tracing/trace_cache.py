"""The traces of one function: found by what a call is made of, bounded, the one used longest ago dropped first."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from autoconv.tracing.concrete import ConcreteFunction
from autoconv.tracing.garbage import DROPPED
from autoconv.tracing.keys import Key, accepts

MOST_KEYS = 256
ENTRIES = 4  # traces a key, which differ in what they read from outside
_SURE_TRACES = 28  # traces that are kept however large they are
_BYTES = 1_400_000  # what more traces than those may weigh together
_TICKS = itertools.count()  # the order in which traces were used


class TraceCache:
    """Holds traces by their keys; `by_key` may be listed while other threads trace."""

    def __init__(self) -> None:
        self.by_key: dict[Key, list[ConcreteFunction]] = {}

    @property
    def traces(self) -> list[ConcreteFunction]:
        return [concrete for entries in list(self.by_key.values()) for concrete in entries]

    def find(self, key: Key) -> ConcreteFunction | None:
        """A trace for that key, or a wider one, of which nothing that it read from outside has changed."""
        for concrete in self.by_key.get(key, ()):
            if not concrete.guards.changed():
                return self.used(concrete)
        for other, entries in list(self.by_key.items()):
            if other != key and accepts(other, key):
                for concrete in entries:
                    if not concrete.guards.changed():
                        return self.used(concrete)
        return None

    def used(self, concrete: ConcreteFunction) -> ConcreteFunction:
        """Notes that the trace was used now."""
        concrete.used = next(_TICKS)
        return concrete

    def add(self, concrete: ConcreteFunction) -> bool:
        """Adds a trace; whether there are as many of its key now as are kept."""
        entries = [concrete, *self.by_key.get(concrete.key, ())][:ENTRIES]
        self.by_key[concrete.key] = entries
        self.used(concrete)
        return len(entries) == ENTRIES

    def drop_oldest(self, let_go: Callable[[list[ConcreteFunction]], None]) -> None:
        """Drops what is too much; `let_go` is told of the traces that go, and must not keep them."""
        oldest = sorted(self.by_key, key=lambda key: max(c.used for c in self.by_key[key]))
        every = self.traces
        count, weight = len(every), sum(c.weight for c in every)
        del every
        for key in oldest[:-1]:
            if len(self.by_key) <= MOST_KEYS and (count <= _SURE_TRACES or weight <= _BYTES):
                return
            dropped = self.by_key.pop(key)
            let_go(dropped)
            count -= len(dropped)
            bytes_ = sum(c.weight for c in dropped)
            weight -= bytes_
            del dropped
            DROPPED.add(bytes_)
