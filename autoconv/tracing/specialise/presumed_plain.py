"""Presumption, under `compile`, that calls of a further kind run faster as plain Python, until a trace may pay.

Every kind of call (see `tiers`) that is new to a function costs a trace, and some calls in which the two forms are
timed. Calls of a further kind run plain at first in two cases: plain Python was faster for all timed kinds of these
types, or several traces ran so shortly that plain calls cannot take long. A faster graph for arguments of other types
is no reason against it, as its trace does not serve these calls. They are examined once they took as long as a trace
of the function takes: at most twice the shorter time is lost. The same holds for a further trace of a known kind, for
another text or another length of a list: calls without a trace run plain until they took as long as one.

The presumption needs a limit on how long the plain calls may take. Containers of the further kind may be at most one
magnitude larger than those of a known kind, and integers no larger.
"""

from __future__ import annotations

from typing import Any

from autoconv.tracing.key.bounded_mapping import Bounded

_MOST_KINDS = 64  # kinds of calls that are presumed to be faster as plain Python
_SHARE = 64  # a plain call takes at most 1 / _SHARE of the seconds of a trace, in the kinds that were timed
_TRACES = 2  # traces without a choice, after which further kinds run plain at first
_SMALL = 1  # a magnitude that needs no kind that was timed
_EXAMINATION = 50e-6  # seconds that a call takes, besides its plain form, to be found without a trace
SHORT = 2e-3  # seconds of a call, below which its plain form takes no longer than a trace


class PlainPresumption:
    """The kinds of calls of one function that are known, and those that are presumed to be faster as plain Python.

    `seconds` is the time of a plain call, of the kind where it is longest.
    """

    def __init__(self) -> None:
        self._types_of_graphs: set[Any] = set()  # the types of the arguments for which a graph was faster
        self._is_known = False  # whether plain Python was faster for some kind
        self.seconds = 0.0
        self._limits: dict[type, int] = {}  # the largest magnitudes in the known kinds
        self._plain_seconds: Bounded[Any, float] = Bounded(_MOST_KINDS)  # seconds of plain calls, by presumed kind
        self._at_trace: Bounded[Any, float] = Bounded(_MOST_KINDS)  # these seconds at the latest trace of the kind

    def chose(self, kind: Any, seconds: float, is_plain: bool) -> None:
        """Note the form that was chosen for a kind, and the seconds of a plain call."""
        if not is_plain:
            self._types_of_graphs.add(_types(kind))
        self._is_known = True
        self.seconds = max(self.seconds, seconds)
        self.is_short(kind)

    def is_short(self, kind: Any) -> None:
        """Note that calls of a kind take no longer than a trace, in either form."""
        for group, size in _magnitudes(kind):
            self._limits[group] = max(self._limits.get(group, _SMALL), size)

    def holds(self, kind: Any, traces: int, trace_seconds: float) -> bool:
        """Return whether calls of a kind that was not timed run as plain Python for now.

        `traces` is the number of traces of the function, each of which took `trace_seconds`.
        """
        if not self.is_deferred(kind) and (kind in self._at_trace or _types(kind) in self._types_of_graphs):
            return False
        return self.defers(kind, traces, trace_seconds)

    def defers(self, kind: Any, traces: int, trace_seconds: float) -> bool:
        """Return whether a call of a kind, for which no trace fits, runs as plain Python for now; see `holds`."""
        if not (self._is_known or traces >= _TRACES) or self.seconds * _SHARE > trace_seconds:
            return False
        if self._plain_seconds.get(kind, 0.0) - self._at_trace.get(kind, 0.0) >= trace_seconds:
            return False
        return all(size <= self._limits.get(group, _SMALL) + _ALLOWED[group] for group, size in _magnitudes(kind))

    def is_deferred(self, kind: Any) -> bool:
        """Return whether calls of the kind without a trace ran plain since the latest trace of the kind."""
        return self._plain_seconds.get(kind, 0.0) > self._at_trace.get(kind, 0.0)

    def is_new(self, kind: Any) -> bool:
        """Return whether no call of the kind ran under the presumption yet."""
        return kind not in self._plain_seconds

    def ran(self, kind: Any, seconds: float, calls: int) -> None:
        """Note the time of the latest of some plain calls of a presumed kind."""
        self._plain_seconds[kind] = self._plain_seconds.get(kind, 0.0) + calls * seconds
        if seconds < SHORT:
            self.is_short(kind)

    def ran_deferred(self, kind: Any, seconds: float) -> None:
        """Note the time of a plain call for which no trace fits."""
        self.ran(kind, seconds + _EXAMINATION, 1)

    def traced(self, kind: Any) -> None:
        """Note that a trace was made or tried for a call of the kind."""
        self._at_trace[kind] = self._plain_seconds.get(kind, 0.0)


_ALLOWED: dict[type, int] = {int: 0, object: 1}  # by how many magnitudes a further kind may be larger


def _types(kind: Any) -> Any:
    """Return a kind without its magnitudes."""
    if not isinstance(kind, tuple):
        return kind
    if kind and isinstance(kind[0], type) and type(kind[-1]) is int:
        return kind[:-1]
    return tuple(map(_types, kind))


def _magnitudes(kind: Any) -> list[tuple[type, int]]:
    """Return the magnitudes in a kind of call: of integers (`int`), and of containers and arrays (`object`)."""
    if not isinstance(kind, tuple):
        return []
    if kind and isinstance(kind[0], type) and type(kind[-1]) is int:
        return [(int if kind[0] is int else object, kind[-1])]
    return [magnitude for part in kind for magnitude in _magnitudes(part)]


__all__ = ["SHORT", "PlainPresumption"]
