"""When looking at calls does not pay: under `compile` plain Python is always right, and may be the quicker way.

Calls of one kind that turn out plain, one after the other, are looked at ever more rarely. Where call after call brings
an object that there is no trace for, such objects have to be worth one: a call of theirs runs as plain Python until
those calls took as long as a trace does.
"""

from __future__ import annotations

from typing import Any

from autoconv.tracing.bounded import Bounded
from autoconv.tracing.keys import LeafKey, Reference
from autoconv.tracing.retracing import Retracing
from autoconv.tracing.signature import Call

_IN_A_ROW = 8  # calls that have to go the same way before it counts
_MOST_SKIPPED = 64
_MOST_KEYS = 256


class Bailout:
    """What the last calls of a function came to. Those of one method share the `storm`, as each instance has its own
    traces."""

    __slots__ = ("_kinds", "_left", "_plain", "_spent", "storm")

    def __init__(self, storm: Storm | None = None) -> None:
        self.storm = Storm() if storm is None else storm
        self._kinds: tuple[type, ...] = ()
        self._plain = 0  # calls in a row
        self._left = 0  # of those to come that are not looked at
        self._spent: Bounded[tuple[LeafKey, ...], float] = Bounded(_MOST_KEYS)  # on plain calls of doubtful objects

    def skips(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether this call runs as plain Python unseen."""
        if not self._left or kwargs or tuple(map(type, args)) != self._kinds:
            return False
        self._left -= 1
        return True

    def ran_plain(self, args: tuple[Any, ...]) -> None:
        kinds = tuple(map(type, args))
        self._plain = self._plain + 1 if kinds == self._kinds else 1
        self._kinds = kinds
        if self._plain >= _IN_A_ROW:
            self._left = min(1 << (self._plain - _IN_A_ROW), _MOST_SKIPPED)

    def ran_graph(self) -> None:
        self._plain = self._left = 0

    def is_doubtful(self, call: Call) -> bool:
        """Whether a call without a trace is not worth one so far."""
        trace = self.storm.seconds(call)
        return trace is not None and self._spent.get(_leaves(call), 0.0) < trace

    def ran_doubtful(self, call: Call, seconds: float) -> bool:
        """Notes what such a call took as plain Python; whether it was the first one."""
        first, leaves = not self._spent, _leaves(call)
        self._spent[leaves] = self._spent.get(leaves, 0.0) + seconds
        self.storm.compare(call, seconds)
        return first


class Storm:
    """Traces that were made one after the other by calls that differ in objects of the same classes alone."""

    __slots__ = ("_at", "_counter", "_row", "_seconds", "_similar", "_traces")

    def __init__(self) -> None:
        self._row = 0  # traces
        self._seconds = 0.0  # that they took
        self._similar: Any = None  # what they have in common
        self._counter: Retracing | None = None  # of calls, and what it said at the last trace
        self._at = 0
        self._traces: dict[Any, float] = {}  # what one takes, by what calls have in common, where they were too many

    def traced(self, call: Call, seconds: float, counter: Retracing) -> None:
        """A trace was made, in `seconds`, by the call that `counter` counted last."""
        similar = _without_identities(call)
        known = self._counter
        between = 0 if known is None else known.calls - self._at - (known is counter)
        if between > 0 or similar != self._similar:
            self._similar, self._row, self._seconds = similar, 0, 0.0
        self._counter, self._at = counter, counter.calls
        self._row += 1
        self._seconds += seconds
        if self._row == _IN_A_ROW:
            self._traces[similar] = self._seconds / self._row
            self._row, self._seconds = 0, 0.0

    def seconds(self, call: Call) -> float | None:
        """What a trace takes, where too many were made."""
        return self._traces.get(_without_identities(call)) if self._traces else None

    def compare(self, call: Call, seconds: float) -> None:
        """Where a call took longer than a trace does, the next object gets one at once."""
        similar = _without_identities(call)
        if seconds > self._traces.get(similar, seconds):
            del self._traces[similar]


def _without_identities(call: Call) -> Any:
    """What calls have in common that differ in objects of the same classes."""
    leaves = tuple(leaf.name if isinstance(leaf, Reference) else leaf for leaf in _leaves(call))
    return call.key.templates, leaves


def _leaves(call: Call) -> tuple[LeafKey, ...]:
    """Of the arguments alone: what a trace writes besides comes to light only while it is made."""
    return call.key.leaves[: len(call.key.leaves) - len(call.spots)]
