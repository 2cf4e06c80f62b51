"""When looking at calls does not pay: under `compile` plain Python is always right, and may be the quicker way.

Calls of one kind that turn out plain, one after the other, are looked at ever more rarely. Where call after call brings
a value that there is no trace for (an object, a text, a dict of other keys), such values have to be worth a trace: a
call of theirs runs as plain Python until those calls took as long as a trace does. All traces of a function have a
budget besides, which grows with its calls.
"""

from __future__ import annotations

import itertools
from typing import Any

from autoconv.tracing.bounded import Bounded
from autoconv.tracing.keys import LeafKey, Literal, Reference
from autoconv.tracing.retracing import Retracing
from autoconv.tracing.signature import Call

_IN_A_ROW = 8  # calls that have to go the same way before it counts
_MOST_SKIPPED = 64
_MOST_KEYS = 256
BY_VALUE = 2  # traces of calls that differ in values alone, before another one has to be worth it
_FREE_TRACES = 16  # that a function has whatever its calls come to
_FREE_SLOW_TRACES, _FREE_SECONDS = 4, 20.0  # as many where they took longer: sizes are open from the third one on
_CALLS_A_TRACE, _CALLS_A_SLOW_TRACE = 8, 64  # that earn one more, behind the one and behind the other


class Bailout:
    """What the last calls of a function came to. Those of one method share the `storm`, as each instance has its own
    traces."""

    __slots__ = ("_kinds", "_left", "_plain", "_spent", "storm")

    def __init__(self, storm: Storm | None = None) -> None:
        self.storm = Storm() if storm is None else storm
        self._kinds: tuple[type, ...] = ()
        self._plain = 0  # calls in a row
        self._left = 0  # of those to come that are not looked at
        self._spent: Bounded[Any, float] = Bounded(_MOST_KEYS)  # on plain calls of doubtful values

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
        return trace is not None and self._spent.get(_exactly(call), 0.0) < trace

    def ran_doubtful(self, call: Call, seconds: float) -> bool:
        """Notes what such a call took as plain Python; whether it was the first one."""
        first, key = not self._spent, _exactly(call)
        self._spent[key] = self._spent.get(key, 0.0) + seconds
        self.storm.compare(call, seconds)
        return first


class Storm:
    """Traces that differ in nothing but values: what objects, texts and structures the calls brought.

    `most` is how many of them are made before the next one has to be worth it. `count` and `total` are the number and
    the seconds of all traces of the function.
    """

    __slots__ = ("_at", "_costs", "_counter", "_made", "_row", "count", "most", "total")

    def __init__(self, most: int = _IN_A_ROW) -> None:
        self.most = most
        self.count, self.total = 0, 0.0
        self._row: tuple[Any, int, float] = None, 0, 0.0  # a pattern, traces one after the other, seconds
        self._made: Bounded[Any, tuple[int, float]] = Bounded(_MOST_KEYS)  # traces and seconds, by pattern
        self._counter: Retracing | None = None  # of calls, and what it said at the last trace
        self._at = 0
        self._costs: dict[Any, float] = {}  # seconds of a trace, by pattern, where too many were made

    def traced(self, call: Call, seconds: float, counter: Retracing) -> None:
        """Note that a trace was made or tried, in `seconds`, by the call that `counter` counted last."""
        pattern = _pattern(call)
        known = self._counter
        between = 0 if known is None else known.calls - self._at - (known is counter)
        self._counter, self._at = counter, counter.calls
        if self.most < _IN_A_ROW:
            count, total = self._made.get(pattern, (0, 0.0))
        else:
            row, count, total = self._row
            if between > 0 or pattern != row:
                count, total = 0, 0.0
        count, total = count + 1, total + seconds
        self._row = pattern, count, total
        self._made[pattern] = count, total
        if count >= self.most:
            self._costs[pattern] = total / count

    def overspent(self, calls: int) -> str:
        """Return why no more traces are made before there were more calls; empty while they may be."""
        is_over = self.count >= _FREE_TRACES and calls < _CALLS_A_TRACE * self.count
        is_slow = self.count >= _FREE_SLOW_TRACES and self.total > _FREE_SECONDS
        is_over |= is_slow and calls < _CALLS_A_SLOW_TRACE * self.count
        if not is_over:
            return ""
        took = f"{self.count} traces in {calls} calls took {self.total:.3g} s"
        return f"calls without a trace run plain until more calls are made: {took}"

    def seconds(self, call: Call) -> float | None:
        """Return what a trace takes, where too many were made."""
        return self._costs.get(_pattern(call)) if self._costs else None

    def compare(self, call: Call, seconds: float) -> None:
        """Where a call took longer than a trace does, the next object gets one at once."""
        pattern = _pattern(call)
        if seconds > self._costs.get(pattern, seconds):
            del self._costs[pattern]
            self._made.pop(pattern, None)
            self._row = None, 0, 0.0


def is_by_value(call: Call) -> bool:
    """Return whether some part of the arguments is known to a trace by its value, or by how it is put together."""
    return any(template is not None for _, template in call.key.templates) or any(
        isinstance(leaf, (Literal, Reference)) for leaf in _leaves(call)
    )


def _pattern(call: Call) -> Any:
    """Return what calls share that differ in values alone.

    Of an argument that is taken apart it is the kind of the container and the kinds of its leaves: other keys of a
    dict, or another length of a list, are other values.
    """
    leaves, found = iter(_leaves(call)), []
    for name, template in call.key.templates:
        count = 1 if template is None else template.leaf_count
        kinds = frozenset(map(_kind, itertools.islice(leaves, count)))
        found.append((name, None if template is None else template.kind, kinds))
    return tuple(found)


def _kind(leaf: LeafKey) -> Any:
    if isinstance(leaf, Reference):
        return leaf.name
    return type(leaf.value).__name__ if isinstance(leaf, Literal) else leaf


def _exactly(call: Call) -> Any:
    return call.key.templates, _leaves(call)


def _leaves(call: Call) -> tuple[LeafKey, ...]:
    """Of the arguments alone: what a trace writes besides comes to light only while it is made."""
    return call.key.leaves[: len(call.key.leaves) - len(call.spots)]
