"""Measured choice, per kind of call, between running a graph and running plain Python.

Under `compile` both forms, graph and plain Python, give the same results, so the quicker one may run. The first calls
of each kind are timed, each in one form. Then the choice is fixed, and no later call of that kind reads a clock. A kind
consists of the types of the arguments and the magnitudes of their sizes. Only some calls are examined, which finds
their kind; the others run in the form of the latest examined call. Examinations become rarer while they find the
expected kind.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable, Iterable
from typing import Any

from autoconv.graph.graph import Graph, Node, Value, is_recursive
from autoconv.graph.types import TensorType
from autoconv.runtime.support.skipped_frames import skipped_by_warnings
from autoconv.tracing.key.bounded_dict import BoundedDict
from autoconv.tracing.specialise.plain_presumption import SHORT_CALL_SECONDS, PlainPresumption
from autoconv.tracing.specialise.program_clock import Stopwatch

GRAPH, PLAIN = "graph", "plain"
RERUNS = "many calls of the graph failed and ran again as plain Python"
FOREVER = 2**62  # a number of calls that is never reached

_MAX_KINDS = 64  # kinds of calls whose timings are kept
_MAX_EXAMINED_CALLS = 24  # calls of one kind without a choice, some of which trace or raise
_MAX_UNTYPICAL_CALLS = 16  # untimed calls of one kind as graphs, from which on such calls count as typical
_TIMED_PAIRS = 4  # timed calls of each form, after which any difference decides
_CLEAR_RATIO = 2.0  # ratio of the two forms' times that decides after fewer timed calls
_LARGE_RATIO = 8.0  # ratio of a graph's time to that of plain calls of other kinds, above which the graph is doubted
_UNEVEN_RATIO = 4.0  # ratio of the times of one form, above which means of twice as many timed calls decide
_MIN_RERUNS = 8  # calls of one kind that ran again as plain Python, before their share is examined
_RERUN_SHARE = 4  # one rerun in this number of calls of the function is too many
COSTLY_SECONDS = 0.05  # seconds above which a timed call is not repeated if the two forms are far apart
_MIN_RATIO, _NOISE_SECONDS = 1.05, 0.1e-6  # factor, and seconds in addition, by which a graph must be slower
MAX_INTERVAL = {GRAPH: 2**20, PLAIN: 256}  # calls between two examinations, by form


class Gate:
    """The number of further calls that run without examination, which native code counts down, and their form.

    `cell` holds four integers: this number, 1 if the form is plain Python, 1 if NumPy's error state is checked, and the
    largest number of positional arguments (see backends/llvm/runtime/call_dispatch.py).
    """

    __slots__ = ("cell",)

    def __init__(self, call_count: int, max_positional: int) -> None:
        self.cell = (ctypes.c_int64 * 4)(call_count, 0, 0, max_positional)

    def take_unexamined(self) -> bool:
        """Count a call; return whether it runs without examination."""
        remaining_count = self.cell[0]
        if remaining_count > 0:
            self.cell[0] = remaining_count - 1
        return remaining_count > 0

    @property
    def is_plain(self) -> bool:
        """True if the further calls run as plain Python."""
        return bool(self.cell[1])

    @property
    def is_always_plain(self) -> bool:
        """True if all further calls run as plain Python."""
        return self.is_plain and self.cell[0] >= FOREVER // 2

    def set_variable_check(self, is_enabled: bool) -> None:
        """Make native code skip graphs while NumPy's error state is not the default (see `numpy_error_state`)."""
        self.cell[2] = is_enabled

    def open(self, call_count: int, form: str) -> None:
        """Allow `call_count` further calls, in this form, without examination."""
        self.cell[0], self.cell[1] = call_count, form == PLAIN

    @property
    def state(self) -> tuple[int, int]:
        """The number of further calls, and 1 if their form is plain Python."""
        return self.cell[0], self.cell[1]

    @state.setter
    def state(self, value: tuple[int, int]) -> None:
        self.cell[0], self.cell[1] = value


class Timing:
    """Times of the two forms for calls of one kind, and `choice`, the form for later calls ("" before it is made).

    Two calls of one form are followed by two of the other, so that alternating arguments are timed in both; a costly
    call of the graph is followed by a plain one. The shortest times are compared, because the others may have been
    interrupted. If times of one form are far apart, calls take different paths through the function, and means are
    compared.
    """

    __slots__ = (
        "_calls_at_first_rerun", "_examined_calls", "_form", "_graph_times", "_plain_times", "_reruns",
        "_search_seconds", "_untypical_calls", "_warm_traces", "choice", "has_trace", "is_discounted",
    )  # fmt: skip

    def __init__(self) -> None:
        self.choice = ""
        self.is_discounted = False  # whether the latest call ran in neither of the forms
        self.has_trace = False  # whether a call timed as a graph ran a trace, and did not only search for one
        self._warm_traces: set[int] = set()  # numbers of the traces that ran once
        self._graph_times: list[float] = []  # seconds
        self._plain_times: list[float] = []
        self._search_seconds = math.inf  # the shortest search for a trace by a call that then ran plain
        self._form = GRAPH
        self._examined_calls = self._untypical_calls = self._reruns = self._calls_at_first_rerun = 0

    def choose_form(self) -> str:
        """Count an examined call, and return the form in which it runs."""
        self._examined_calls += 1
        self.is_discounted = False
        if not self.choice and self._examined_calls > _MAX_EXAMINED_CALLS:
            self.choice = GRAPH
        graph_lead = len(self._graph_times) - len(self._plain_times)
        if self._form == GRAPH and (
            graph_lead > 1 or (graph_lead == 1 and self._graph_times[-1] > COSTLY_SECONDS)
        ):
            self._form = PLAIN
        elif len(self._plain_times) >= len(self._graph_times):
            self._form = GRAPH
        return self.choice or self._form

    def discount_call(self) -> None:
        """Do not count the latest call, which ran in neither of the forms.

        When it ends, its time is recorded as an untypical one, which must not count either.
        """
        self._examined_calls -= 1
        self._untypical_calls -= 1
        self.is_discounted = True

    def record_run(self, trace_number: int) -> bool:
        """Record a timed run of a trace; return whether it is the first one, which fills caches for later ones."""
        if trace_number in self._warm_traces:
            return False
        self._warm_traces.add(trace_number)
        return True

    def record_search(self, seconds: float) -> None:
        """Record how long a call searched for a trace, before it ran as plain Python because none pays yet."""
        self._search_seconds = min(self._search_seconds, seconds)

    def record_untypical_time(self, seconds: float) -> None:
        """Record the time of a call as a graph that did more work than later calls are expected to do.

        After many such calls their times count, because the extra work is typical then.
        """
        self._untypical_calls += 1
        if self._untypical_calls > _MAX_UNTYPICAL_CALLS and not self.choice:
            self.has_trace = True
            self.record_time(GRAPH, seconds)

    def record_time(self, form: str, seconds: float) -> None:
        """Record the time of a call, and choose once the times are decisive."""
        (self._graph_times if form == GRAPH else self._plain_times).append(seconds)
        if form == GRAPH or not self._graph_times:
            return
        graph_seconds, plain_seconds = self._call_seconds()
        ratio = max(graph_seconds / plain_seconds, plain_seconds / graph_seconds)
        is_costly = ratio > _CLEAR_RATIO and max(graph_seconds, plain_seconds) > COSTLY_SECONDS
        # Two calls of each form are the least unless they are costly: one may have been interrupted, or filled caches.
        needed_pairs = 1 if is_costly else 2 if ratio > _CLEAR_RATIO else _TIMED_PAIRS
        if self._is_uneven and sum(self._graph_times) + sum(self._plain_times) < COSTLY_SECONDS:
            needed_pairs = 2 * _TIMED_PAIRS
        if len(self._plain_times) >= needed_pairs:
            self.choice = PLAIN if graph_seconds > plain_seconds * _MIN_RATIO + _NOISE_SECONDS else GRAPH

    def record_rerun(self, call_count: int) -> bool:
        """Record that a graph failed and its call ran again as plain Python; return whether plain Python is chosen now.

        `call_count` is the number of calls of the function so far.
        """
        if not self._reruns:
            self._calls_at_first_rerun = call_count
        self._reruns += 1
        is_rare = call_count - self._calls_at_first_rerun > _RERUN_SHARE * self._reruns
        if self._reruns < _MIN_RERUNS or is_rare or self.choice == PLAIN:
            return False
        self.choice = PLAIN
        return True

    @property
    def _is_uneven(self) -> bool:
        """True if times of one form are far apart, and the ranges of the two forms overlap."""
        shortest_graph, longest_graph = min(self._graph_times), max(self._graph_times)
        shortest_plain, longest_plain = min(self._plain_times), max(self._plain_times)
        is_spread = longest_graph > _UNEVEN_RATIO * shortest_graph or longest_plain > _UNEVEN_RATIO * shortest_plain
        return is_spread and shortest_graph <= longest_plain and shortest_plain <= longest_graph

    def _call_seconds(self) -> tuple[float, float]:
        """Return the seconds of a call as a graph, and as plain Python.

        If the calls that were to run as a graph found no trace, they ran as plain Python after a search for one.
        """
        if not self.has_trace and self._search_seconds < math.inf:
            return self.plain_seconds + self._search_seconds, self.plain_seconds
        if self._is_uneven:
            return _trimmed_mean(self._graph_times), _trimmed_mean(self._plain_times)
        return min(self._graph_times), min(self._plain_times)

    @property
    def is_measured(self) -> bool:
        """True if both forms were timed."""
        return bool(self._graph_times and self._plain_times)

    @property
    def gain_seconds(self) -> float:
        """The seconds that a call saves as a graph; infinite if only one form was timed."""
        if not self.is_measured:
            return math.inf
        graph_seconds, plain_seconds = self._call_seconds()
        return plain_seconds - graph_seconds

    @property
    def plain_seconds(self) -> float:
        """The seconds of the shortest plain call."""
        return min(self._plain_times)

    @property
    def is_new(self) -> bool:
        """True if no form is chosen yet, and no call of the kind was examined."""
        return not self.choice and not self._examined_calls

    def may_be_presumed(self, seconds: float) -> bool:
        """Return whether calls of the kind may be presumed to be faster as plain Python.

        No form may be chosen yet. Either no call of the kind was examined, or its graph takes far longer than
        `seconds`, the time of plain calls of other kinds.
        """
        is_graph_slow = bool(self._graph_times) and 0.0 < seconds * _LARGE_RATIO < min(self._graph_times)
        return self.is_new or (not self.choice and is_graph_slow)

    def text(self) -> str:
        """Return the times as text for users."""
        graph_seconds, plain_seconds = self._call_seconds()
        return f"{time_text(graph_seconds)} as a graph, {time_text(plain_seconds)} as plain Python"


def _trimmed_mean(times: list[float]) -> float:
    """Return the mean of the times without the longest quarter: these calls may have been interrupted."""
    shortest_times = sorted(times)[: len(times) - len(times) // 4]
    return sum(shortest_times) / len(shortest_times)


@skipped_by_warnings
class Tiers:
    """The timings of one Python function, by kinds of calls; instances of a class share those of its methods."""

    def __init__(self) -> None:
        self._timings: BoundedDict[Any, Timing] = BoundedDict(_MAX_KINDS)
        self._sampling_threads: set[int] = set()  # threads that are timing a call of the plain function
        self.examined_calls = 0
        self.latest_form = GRAPH  # the form of the latest examined call whose kind has a choice
        self.presumption = PlainPresumption()

    def timing(self, kind: Any) -> Timing:
        """Return the timing of a kind, for an examined call; it is created at the first one."""
        self.examined_calls += 1
        result = self._timings.get(kind)
        if result is None:
            result = self._timings[kind] = Timing()
        return result

    def largest_gain(self) -> float:
        """Return the most seconds that a call saves as a graph, in kinds that run as graphs; infinite if unknown."""
        timings = tuple(self._timings.values())
        return max((timing.gain_seconds for timing in timings if timing.choice == GRAPH), default=math.inf)

    def is_sampling(self) -> bool:
        """Return whether this thread runs a timed call of the plain function, which may call itself."""
        return bool(self._sampling_threads) and threading.get_ident() in self._sampling_threads

    def sample(self, function: Callable[..., Any], args: Any, kwargs: Any, timing: Timing) -> Any:
        """Run the plain function and record its time."""
        thread = threading.get_ident()
        self._sampling_threads.add(thread)
        stopwatch = Stopwatch()
        try:
            return function(*args, **kwargs)
        finally:  # calls that raise are timed as well
            timing.record_time(PLAIN, stopwatch.seconds())
            self._sampling_threads.discard(thread)


def next_interval(interval: int, form: str) -> int:
    """Return the number of calls until the next examination, after one that found the expected kind."""
    return min(2 * interval, MAX_INTERVAL[form])


def may_sample(seconds: float, graph: Graph, kernels: Iterable[str]) -> bool:
    """Return whether a plain call may be timed, where a call of the graph took `seconds`.

    Loops over single numbers may run a hundred times as long in Python. A graph with such loops, and none over objects,
    is certainly quicker. So a long call is not run in Python just to measure it. `kernels` are the names of the ops
    that run by kernels.
    """
    return seconds < SHORT_CALL_SECONDS or not _has_only_quick_loops(graph, frozenset(kernels))


def _has_only_quick_loops(graph: Graph, kernels: frozenset[str]) -> bool:
    """Return whether the graph has innermost loops or recursive functions over single numbers, and none over objects.

    Loops over whole arrays may be among them.
    """
    loops = [node.regions for node in graph.walk() if node.op.traits.repeats]
    loops += [node.regions[:1] for node in graph.walk() if is_recursive(node) and node.regions]
    bodies = [[node for region in regions for node in region.walk()] for regions in loops]
    innermost = [nodes for nodes in bodies if not any(node.op.traits.repeats for node in nodes)]
    return any(_computes_single_numbers(nodes, kernels) for nodes in innermost) and not any(
        node.op.name.startswith("object_") for nodes in innermost for node in nodes
    )


def _computes_single_numbers(nodes: list[Node], kernels: frozenset[str]) -> bool:
    """Return whether all nodes compute single numbers, without kernels."""
    return all(node.op.name not in kernels and all(map(_is_number, node.results)) for node in nodes)


def _is_number(value: Value) -> bool:
    """Return whether a value has no dimensions."""
    return isinstance(value.type, TensorType) and value.type.shape == ()


def time_text(seconds: float) -> str:
    """Return a duration in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"
