"""Calls that no trace serves, in functions whose calls are faster as graphs: most run plain without a search."""

from __future__ import annotations

import autoconv as ac
from autoconv.config import SETTINGS
from autoconv.tracing.specialise.bailout import Bailout
from autoconv.tracing.specialise.tiers import GRAPH, kind_of


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
