"""Under `compile`, programs with many objects take about as long as plain Python does, also where no trace serves them.
"""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as ac
from autoconv.config import SETTINGS
from autoconv.runtime.support.attribute_hooks import hooked_class
from autoconv.tracing.guards import guards, reachable_locations
from autoconv.tracing.specialise import tiers
from autoconv.tracing.specialise.bailout import TraceBudget


class State:
    def __init__(self, x):
        self.x, self.cost, self.parent = x, 0.0, None


class Map:
    def __init__(self, size):
        self.states = [[State(i + j) for j in range(size)] for i in range(size)]

    def total(self):
        return sum(state.x for row in self.states for state in row)


def test_the_search_for_inputs_ends_after_some_locations(monkeypatch):
    read = []

    def count(value, visited_ids, depth):
        for location in reachable_locations.locations_in(value, visited_ids, depth):
            read.append(location)
            yield location

    monkeypatch.setattr(guards, "locations_in", count)
    world = Map(100)  # 30,000 attributes
    assert ac.compile(world.total)() == world.total()
    assert 0 < len(read) < 10_000


def test_hooked_objects_are_searched_for_once_in_a_trace():
    world, examined = Map(10), {}
    assert hooked_class([world], examined=examined) is None
    count = len(examined)
    assert count > 100
    assert hooked_class([world.states], examined=examined) is None
    assert len(examined) == count


def test_the_limit_of_a_search_counts_its_own_objects():
    class Counting:
        def __getattribute__(self, name):
            return object.__getattribute__(self, name)

    examined = {}
    assert hooked_class([[0.5] * 3, [[], []]], 8, examined) is None
    assert hooked_class([[[], []], Counting()], 8, examined) is Counting


def test_slow_guards_that_keep_failing_are_checked_rarely(monkeypatch):
    monkeypatch.setattr(guards, "_SLOW_CHECK_SECONDS", 0.0)
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    checks = []
    check = guards.Guards._find_changed_fingerprint
    monkeypatch.setattr(guards.Guards, "_find_changed_fingerprint", lambda self: checks.append(1) or check(self))
    world = State(1)

    @ac.compile
    def scaled(x):
        return x * world.x

    for i in range(200):
        world.parent, world.x = object(), i % 7
        assert scaled(np.float64(3.0)) == 3.0 * (i % 7)
    assert len(checks) < 1000


@pytest.mark.parametrize("graph_seconds, choice", [(0.5, tiers.PLAIN), (0.02, tiers.GRAPH)])
def test_a_costly_graph_is_compared_with_plain_python_at_once(monkeypatch, graph_seconds, choice):
    monkeypatch.setattr(tiers, "COSTLY_SECONDS", 0.01)
    timing = tiers.Timing()
    assert timing.choose_form() == tiers.GRAPH
    timing.record_time(tiers.GRAPH, graph_seconds)
    assert timing.choose_form() == tiers.PLAIN
    timing.record_time(tiers.PLAIN, 0.1)
    assert timing.choice == choice


def test_failed_attempts_to_trace_become_rarer():
    budget = TraceBudget()
    attempts = 0
    for _ in range(2000):
        if not budget.overspending_reason(calls=10_000):
            attempts += 1
            budget.record_outcome(has_trace=False)
    assert 4 <= attempts < 16
    budget.record_outcome(has_trace=True)
    assert not budget.overspending_reason(calls=10_000)
