"""The time of calls is measured without the traces that they make, and without other processes."""

import threading
import time

import numpy as np
import pytest

import autoconv as ac
from autoconv.tracing.specialise import program_clock


def test_long_calls_are_timed_without_the_time_of_other_processes(monkeypatch):
    times = {"wall": 0.0, "processor": 0.0}
    monkeypatch.setattr(program_clock, "clock", lambda: times["wall"])
    monkeypatch.setattr(program_clock.time, "process_time", lambda: times["processor"])
    for wall, processor, seconds in ((0.5, 0.1, 0.1), (0.1, 0.2, 0.1), (5e-4, 1e-4, 5e-4), (0.5, 0.0, 1e-3)):
        stopwatch = program_clock.Stopwatch()
        times["wall"] += wall
        times["processor"] += processor
        assert stopwatch.seconds() == pytest.approx(seconds)


def test_time_of_traces_made_by_a_call_is_no_part_of_its_time():
    """A plain call that made traces of the functions it calls would count as slow, and be traced again and again."""
    inner = ac.compile(lambda x: np.sin(x) + 1.0)
    start, stopwatch = time.perf_counter(), program_clock.Stopwatch()
    inner(np.ones(3))
    seconds, measured_seconds = time.perf_counter() - start, stopwatch.seconds()
    (trace,) = inner._trace_cache.traces
    assert 0 < trace.seconds < seconds and measured_seconds <= seconds - trace.seconds


def test_clocks_stop_in_nested_blocks_of_one_thread():
    stopwatch = program_clock.Stopwatch()
    with program_clock.excluded_from_clock():
        with pytest.raises(KeyError), program_clock.excluded_from_clock():
            raise KeyError
        time.sleep(0.02)
        found = []
        thread = threading.Thread(target=lambda: found.append(program_clock.clock()))
        thread.start()
        thread.join()
        assert found[0] == pytest.approx(time.perf_counter(), abs=10.0)
    assert stopwatch.seconds() < 0.02
