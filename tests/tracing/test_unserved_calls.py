"""Calls that no trace serves, in functions whose calls are faster as graphs: most run plain without a search."""

from __future__ import annotations

import numpy as np

import autoconv as ac
from autoconv.config import SETTINGS
from autoconv.tracing.specialise.bailout import Bailout
from autoconv.tracing.specialise.call_kinds import kind_of
from autoconv.tracing.specialise.tiers import FOREVER, GRAPH


def test_calls_with_new_closures_run_plain_without_a_search_for_a_trace(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "measured")
    searches = []

    def made(slope):
        return lambda x: slope * x

    def step(function, x):
        return function(x) + function(x + 1.0)

    compiled = ac.compile(step)
    run_graph = compiled._run_graph
    monkeypatch.setattr(compiled, "_run_graph", lambda args, kwargs: searches.append(args) or run_graph(args, kwargs))
    first, kind = made(3.0), kind_of((made(3.0), 1.0), {})
    compiled._tiers.timing(kind).choice = GRAPH
    compiled._tiers.presumption.record_choice(kind, 1e-6, is_plain=False)
    assert compiled(first, 1.0) == step(first, 1.0)
    assert len(compiled.concrete_functions) == 1
    for slope in range(100):
        function = made(slope)
        for x in range(20):
            assert compiled(function, x * 1.0) == step(function, x * 1.0)
    assert len(searches) < 200  # of 2,000 calls
    results = {compiled(first, 2.0) for _ in range(600)}
    assert results == {15.0} and not compiled._gate.is_plain  # the trace runs again


def test_the_calls_without_a_search_are_a_part_of_a_row_without_traces():
    bailout, call_number = Bailout(), 0
    skipped_searches = []
    for _ in range(40):
        call_number += 1
        skipped_searches.append(bailout.record_unserved_call(call_number))
    assert skipped_searches[:10] == [0, 0, 0, 0, 0, 0, 0, 1, 1, 1]
    assert skipped_searches == sorted(skipped_searches) and skipped_searches[-1] > 50
    total = sum(skipped_searches[:-1]) + len(skipped_searches)
    assert skipped_searches[-1] <= total / 8
    assert bailout.record_unserved_call(call_number + 2) == 0  # a trace has served a call in between
    for number in range(call_number + 3, call_number + 200):
        latest = bailout.record_unserved_call(number)
    assert latest == 256


def test_a_row_ends_where_traces_have_saved_more_time_than_a_search_takes():
    for served_calls, gain_seconds, is_ended in ((5, 1e-6, False), (20, 1e-6, True), (1, 1e-3, True), (9, 0.0, False)):
        bailout = Bailout()
        for call_number in range(1, 11):
            bailout.record_unserved_call(call_number, gain_seconds)
        latest = bailout.record_unserved_call(call_number + served_calls + 1, gain_seconds)
        assert (latest == 0) is is_ended


def test_lists_among_arrays_run_plain_without_a_search(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "measured")

    def mean(values):
        return sum(values) / len(values)

    compiled, array, searches = ac.compile(mean), np.arange(3.0), []
    timing = compiled._tiers.timing(kind_of((array,), {}))
    timing.choice, timing._graph_times, timing._plain_times = GRAPH, [1e-6], [2e-6]
    compiled._tiers.presumption.record_choice(kind_of((array,), {}), 2e-6, is_plain=False)
    assert compiled(array) == compiled(array) == 1.0
    compiled._open_gate(FOREVER, GRAPH)  # as after many calls with arrays
    run_graph = compiled._run_graph
    monkeypatch.setattr(compiled, "_run_graph", lambda args, kwargs: searches.append(args) or run_graph(args, kwargs))
    for i in range(2000):
        values = [1.0, 2.0, i] if i % 2 else array
        assert compiled(values) == mean(values)
    assert sum(type(values) is list for (values,) in searches) < 200
