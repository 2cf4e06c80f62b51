"""Presumption, under `compile`, that calls of a new kind run faster as plain Python, until a trace may pay.

A kind of call consists of the types of the arguments and the magnitudes of their sizes: see `call_kinds`. Every new
kind costs a trace, and some calls in which graph and plain Python, the two forms of a call, are timed. So calls of a
new kind run plain at first in two cases: plain Python was faster for all timed kinds of the same types, or several
traces ran so shortly that plain calls cannot take long. Kinds of other types do not count, because their traces do not
fit these calls. In a third case, the first calls of a function wait: an estimate bounds their time (see
`work_estimate`), or they are watched while they run (see `watched_call`).
Once calls of the kind have taken as long as a trace, they are examined: so the total time is at most twice that of the
better choice. Calls that take less time than entering a graph does are not traced at all. A call of a known kind that
needs a further trace, for another text or another length of a list, is treated in the same way; it is called deferred.

The presumption limits how long the plain calls may take. Containers of the new kind may be at most one magnitude
larger than those of a known kind, and integers no larger.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Any

from autoconv.runtime.support.skipped_frames import skipped_by_warnings
from autoconv.tracing.key.bounded_dict import BoundedDict
from autoconv.tracing.specialise.watched_call import ENDED_EARLY, call_watched, may_be_watched
from autoconv.tracing.specialise.work_estimate import estimate_seconds

_MAX_KINDS = 64  # kinds of calls that are presumed to be faster as plain Python
_TRACE_TO_PLAIN_RATIO = 64  # least ratio of the seconds of a trace to those of a plain call, in the timed kinds
_MIN_TRACES = 2  # traces after which new kinds run plain at first, although no form was chosen for any kind
_SMALL_MAGNITUDE = 1  # magnitudes up to this one count as known, even if no known kind has them
_EXAMINATION_SECONDS = 50e-6  # seconds that it takes to find that a call has no trace
FIRST_TRACE_SECONDS = 0.05  # seconds that the first trace of a function is presumed to take
SHORT_ESTIMATE = FIRST_TRACE_SECONDS  # estimated seconds of a plain call, below which it is not traced at once
_WATCHED_CALLS = 8  # first calls that are watched, of a kind for whose time there is no bound
_CALLS_AN_EXAMINATION = 8  # plain calls of presumed kinds for each call that may follow without examination
# Seconds that a call of a graph takes at least: with numbers alone, and with objects or containers.
_ENTRY_SECONDS, _OBJECT_ENTRY_SECONDS = 0.4e-6, 2e-6
_SAMPLES = 32  # latest plain calls of a kind whose times are kept; the longest eighth may have been interrupted
SHORT_CALL_SECONDS = 2e-3  # seconds of a graph's call, below which a plain call takes no longer than a trace


@skipped_by_warnings
class PlainPresumption:
    """The kinds of calls of one function that are known, and those that are presumed to be faster as plain Python.

    `plain_call_seconds` is the time of a plain call of the slowest known kind. `deferred` maps the exact kinds (see
    `call_kinds`) of deferred calls to their kinds.
    """

    def __init__(self) -> None:
        self._graph_types: set[Any] = set()  # kinds without magnitudes for which a graph was faster
        self._traced_types: set[Any] = set()  # kinds without magnitudes that have traces, which may serve other sizes
        self._is_short: BoundedDict[Any, bool] = BoundedDict(_MAX_KINDS)  # kind -> whether the estimate is short
        self._watched_calls: BoundedDict[Any, int] = BoundedDict(_MAX_KINDS)  # kind -> calls that are still watched
        self.may_wait = True  # whether the first calls of a kind may run plain before any trace (see `waits`)
        self._calls = 0  # plain calls of presumed kinds
        self._samples: BoundedDict[Any, deque[float]] = BoundedDict(_MAX_KINDS)  # presumed kind -> seconds of calls
        self._has_choice = False  # whether a form was chosen for some kind
        self.plain_call_seconds = 0.0
        self._largest_magnitudes: dict[type, int] = {}  # the largest magnitudes in the known kinds
        # Presumed kind -> seconds of plain calls.
        self._plain_seconds: BoundedDict[Any, float] = BoundedDict(_MAX_KINDS)
        # The value of `_plain_seconds` at the latest trace of the kind.
        self._plain_seconds_at_trace: BoundedDict[Any, float] = BoundedDict(_MAX_KINDS)
        self.deferred: BoundedDict[Any, Any] = BoundedDict(_MAX_KINDS)

    def record_choice(self, kind: Any, seconds: float, is_plain: bool) -> None:
        """Record whether plain Python or the graph was chosen for a kind, and the seconds of a plain call."""
        if not is_plain:
            self._graph_types.add(_without_magnitudes(kind))
        self._has_choice = True
        self.plain_call_seconds = max(self.plain_call_seconds, seconds)
        self.record_short_kind(kind)

    def record_short_kind(self, kind: Any) -> None:
        """Record that calls of a kind take no longer than a trace, in either form."""
        for cls, magnitude in _magnitudes(kind):
            self._largest_magnitudes[cls] = max(self._largest_magnitudes.get(cls, _SMALL_MAGNITUDE), magnitude)

    def presumes_plain(self, kind: Any, trace_count: int, trace_seconds: float) -> bool:
        """Return whether calls of a kind that was not timed run as plain Python for now.

        `trace_count` is the number of traces of the function, each of which took `trace_seconds`.
        """
        may_have_trace = kind in self._plain_seconds_at_trace or _without_magnitudes(kind) in self._graph_types
        if may_have_trace and not self.is_deferred(kind):
            return False
        return self.runs_without_trace(kind, trace_count, trace_seconds)

    def runs_without_trace(self, kind: Any, trace_count: int, trace_seconds: float) -> bool:
        """Return whether a call for which no trace fits runs as plain Python for now.

        The parameters are those of `presumes_plain`.
        """
        has_experience = self._has_choice or trace_count >= _MIN_TRACES
        if not has_experience or self.plain_call_seconds * _TRACE_TO_PLAIN_RATIO > trace_seconds:
            return False
        if self._plain_seconds.get(kind, 0.0) - self._plain_seconds_at_trace.get(kind, 0.0) >= trace_seconds:
            return False  # the kind's plain calls since its latest trace took as long as another trace
        return all(
            magnitude <= self._largest_magnitudes.get(cls, _SMALL_MAGNITUDE) + _ALLOWED_GROWTH[cls]
            for cls, magnitude in _magnitudes(kind)
        )

    def waits(self, kind: Any, trace_seconds: float, function: Any, args: tuple[Any, ...], kwargs: Any) -> bool:
        """Return whether a call of a kind without calls and traces so far is short, and runs as plain Python for now.

        `trace_seconds` is the time of a trace of the function, 0 before the first one.
        """
        if not self.may_wait or self._plain_seconds.get(kind, 0.0) >= (trace_seconds or FIRST_TRACE_SECONDS):
            return False
        if kind not in self._is_short:
            is_traced = _without_magnitudes(kind) in self._traced_types
            seconds = math.inf if is_traced else estimate_seconds(function, args, kwargs)
            is_watched = seconds == math.inf and not is_traced and may_be_watched(function, args, kwargs)
            self._watched_calls[kind] = _WATCHED_CALLS if is_watched else 0
            self._is_short[kind] = is_watched or seconds < SHORT_ESTIMATE
        return self._is_short[kind]

    def call(self, kind: Any, function: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """Call the plain function and return its result; ENDED_EARLY for a watched call that took too long."""
        watched_calls = self._watched_calls.get(kind, 0)
        if not watched_calls or not may_be_watched(function, args, kwargs):
            return function(*args, **kwargs)
        self._watched_calls[kind] = watched_calls - 1
        result = call_watched(function, args, kwargs)
        if result is ENDED_EARLY:
            self._is_short[kind] = False
        return result

    def trivial_seconds(self, kind: Any, has_objects: bool) -> float:
        """Return the mean seconds of the plain calls of a kind that has waited; 0 if a graph's call may be quicker.

        `has_objects` is true if the function reads another object than its arguments, as a method reads its instance.
        """
        samples = sorted(self._samples.get(kind, ()))[: _SAMPLES - _SAMPLES // 8]
        entry_seconds = _ENTRY_SECONDS if _has_only_numbers(kind) and not has_objects else _OBJECT_ENTRY_SECONDS
        seconds = sum(samples) / len(samples) if len(samples) > _SAMPLES // 2 else 0.0
        return seconds if seconds < entry_seconds else 0.0

    @property
    def unexamined_calls(self) -> int:
        """The number of calls in a row that may run without examination after one of a presumed kind."""
        return self._calls // _CALLS_AN_EXAMINATION

    def is_deferred(self, kind: Any) -> bool:
        """Return whether calls of the kind ran as plain Python since the kind's latest trace."""
        return self._plain_seconds.get(kind, 0.0) > self._plain_seconds_at_trace.get(kind, 0.0)

    def is_new(self, kind: Any) -> bool:
        """Return whether no call of the kind ran under the presumption yet."""
        return kind not in self._plain_seconds

    def record_calls(self, kind: Any, seconds: float, call_count: int) -> None:
        """Record `call_count` plain calls of a presumed kind, and the time of the latest.

        The others are presumed to have taken as long as the median: the latest may have been interrupted.
        """
        self._calls += call_count
        samples = self._samples.get(kind)
        if samples is None:
            samples = self._samples[kind] = deque(maxlen=_SAMPLES)
        samples.append(seconds)
        new_seconds = seconds + (call_count - 1) * sorted(samples)[len(samples) // 2]
        self._plain_seconds[kind] = self._plain_seconds.get(kind, 0.0) + new_seconds
        if seconds < SHORT_CALL_SECONDS:
            self.record_short_kind(kind)

    def record_deferred_call(self, kind: Any, exact_kind: Any, seconds: float, call_count: int = 1) -> None:
        """Record `call_count` deferred calls, and the time of the latest.

        The first call of an exact kind was examined, which took `_EXAMINATION_SECONDS` in addition.
        """
        self.record_calls(kind, seconds + (0.0 if exact_kind in self.deferred else _EXAMINATION_SECONDS), call_count)
        self.deferred[exact_kind] = kind

    def record_trace(self, kind: Any) -> None:
        """Record that a trace was made or tried for a call of the kind."""
        self._plain_seconds_at_trace[kind] = self._plain_seconds.get(kind, 0.0)
        self._traced_types.add(_without_magnitudes(kind))
        self.deferred.clear()


# Magnitudes by which integers (`int`), containers and arrays (`object`) of a new kind may be larger.
_ALLOWED_GROWTH: dict[type, int] = {int: 0, object: 1}


def _without_magnitudes(kind: Any) -> Any:
    """Return a kind without its magnitudes."""
    if not isinstance(kind, tuple):
        return kind
    if _has_magnitude(kind):
        return kind[:-1]
    return tuple(map(_without_magnitudes, kind))


def _has_only_numbers(kind: Any) -> bool:
    """Return whether all arguments of a kind of call are numbers, bools or None."""
    if isinstance(kind, tuple):
        return all(_has_only_numbers(part) for part in kind)
    return kind in (int, float, complex, None) or isinstance(kind, int)  # an int is a bool or a magnitude


def _has_magnitude(kind: tuple[Any, ...]) -> bool:
    """Return whether a tuple is the kind of one argument, a type and at last a magnitude, not a tuple of kinds."""
    return bool(kind) and isinstance(kind[0], type) and type(kind[-1]) is int


def _magnitudes(kind: Any) -> list[tuple[type, int]]:
    """Return the magnitudes in a kind of call, each in a pair with `int`, or with `object` for containers and arrays.
    """
    if not isinstance(kind, tuple):
        return []
    if _has_magnitude(kind):
        return [(int if kind[0] is int else object, kind[-1])]
    return [magnitude for part in kind for magnitude in _magnitudes(part)]
