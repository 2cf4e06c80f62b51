"""The cache is bounded, and dropped functions are freed; `retrace_memory.py` has the figures of longer runs."""

import gc
import itertools
import logging
import sys
import types
import weakref
from pathlib import Path

import pytest

import autoconv
from autoconv.tracing.specialise import trace_cache

sys.path.insert(0, str(Path(__file__).resolve().parent))

from retrace_memory import are_dropped_objects_freed, dropped_growth, live_growth, resident_growth_of_fresh_process


@pytest.fixture(autouse=True)
def quiet():
    logging.getLogger("autoconv").setLevel(logging.ERROR)
    yield
    logging.getLogger("autoconv").setLevel(logging.NOTSET)


def test_retraces_of_a_live_function_take_bounded_memory(monkeypatch):
    monkeypatch.setattr(trace_cache, "_MIN_KEPT_TRACES", 8)
    monkeypatch.setattr(trace_cache, "_MAX_BYTES", 1 << 19)
    assert live_growth(30) < 700_000  # measured: 470,000, and 1,380,000 without a bound


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_trace_takes_few_kilobytes():
    assert resident_growth_of_fresh_process(24) < 24 * 90_000  # 140 KB with LLVM's linker, 50 in Python objects


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_evicted_traces_free_their_machine_code():
    # the first 28 traces stay; of each further one stay 1 to 3 KB, where a trace takes 70
    assert resident_growth_of_fresh_process(30, first=40, rounds=2) < 30 * 8_000


def test_dropped_traces_are_collected_before_they_are_many(monkeypatch):
    monkeypatch.setattr(trace_cache, "_MIN_KEPT_TRACES", 2)
    monkeypatch.setattr(trace_cache, "_MAX_BYTES", 0)
    garbage = sys.modules[type(trace_cache.DROPPED).__module__]
    monkeypatch.setattr(garbage, "_MAX_DROPPED_BYTES", 0)
    seconds = itertools.count()  # a collection takes 1 second, and so does all that is between two
    monkeypatch.setattr(garbage, "time", types.SimpleNamespace(monotonic=lambda: float(next(seconds))))
    trace_cache.DROPPED.__init__()
    f = autoconv.function(lambda x, n: x + n)
    x = autoconv.constant(1)
    graphs = []
    for n in range(4):
        f(x, n)
        graphs.append(weakref.ref(f.concrete_functions[-1].recorded))
    # The first that is dropped is collected at once; the second later, as collections take a tenth of the time.
    assert [reference() is None for reference in graphs].count(True) == 1


def test_dropped_functions_leave_nothing():
    assert dropped_growth(10) < 10 * 2000
    assert are_dropped_objects_freed()


def test_the_least_recently_used_signature_goes_first(monkeypatch):
    monkeypatch.setattr(trace_cache, "_MIN_KEPT_TRACES", 2)
    monkeypatch.setattr(trace_cache, "_MAX_BYTES", 0)
    f = autoconv.function(lambda x, n: x + n)
    x = autoconv.constant(1)
    for n in (1, 2, 1, 3):  # 1 was used after 2
        f(x, n)
    assert f.experimental_get_tracing_count() == 3
    f(x, 1)
    assert f.experimental_get_tracing_count() == 3
    f(x, 2)
    assert f.experimental_get_tracing_count() == 4


def test_a_dropped_instance_takes_the_caches_of_its_methods_along():
    class Plain:
        @autoconv.function
        def scaled(self, x):
            return x * 2

    class Slotted(Plain):
        __slots__ = ()

    instance = Plain()
    assert instance.scaled(autoconv.constant(2)).numpy() == 4
    left = weakref.ref(instance), weakref.ref(instance.scaled)
    del instance
    gc.collect()
    assert [reference() for reference in left] == [None, None]


def test_methods_of_slotted_instances_keep_their_cache():
    class Slotted:
        __slots__ = ("n",)

        def __init__(self, n):
            self.n = n

        @autoconv.function
        def scaled(self, x):
            return x * self.n

    two, three = Slotted(2), Slotted(3)
    assert two.scaled is two.scaled
    assert [two.scaled(autoconv.constant(2)).numpy(), three.scaled(autoconv.constant(2)).numpy()] == [4, 6]
    assert two.scaled.experimental_get_tracing_count() == 1
