"""Calls and traces from many threads; `thread_stress.py` runs longer."""

import logging
import sys
import threading
from pathlib import Path

import pytest

import autoconv

sys.path.insert(0, str(Path(__file__).resolve().parent))

from thread_stress import run


@pytest.fixture(autouse=True)
def quiet():
    logging.getLogger("autoconv").setLevel(logging.ERROR)
    yield
    logging.getLogger("autoconv").setLevel(logging.NOTSET)


def test_results_are_right_and_nothing_is_traced_twice():
    report = run(threads=16, functions=20, seconds=4.0)
    assert report.failures == []
    assert report.stuck == 0
    assert report.calls >= 16


def test_mutual_first_calls_do_not_wait_for_each_other():
    @autoconv.function
    def f(x, n):
        return x if n == 0 else g(x + 1, n - 1)

    @autoconv.function
    def g(x, n):
        return x if n == 0 else f(x * 2, n - 1)

    barrier, results = threading.Barrier(2), {}

    def call(name, function):
        barrier.wait()
        results[name] = int(function(autoconv.constant(1), 6).numpy())

    threads = [threading.Thread(target=call, args=pair, daemon=True) for pair in (("f", f), ("g", g))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert results == {"f": 22, "g": 15}
