"""Calls under `compile` run as a graph or as plain Python, whichever was quicker in early calls."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import autoconv as ac
from autoconv.config import SETTINGS
from autoconv.tracing.api import call_paths
from autoconv.tracing.specialise import plain_presumption, program_clock, tiers
from autoconv.tracing.specialise.plain_presumption import PlainPresumption
from autoconv.tracing.specialise.trace_cache import TraceCache


@pytest.fixture(autouse=True)
def measured(monkeypatch):
    """Time calls; first calls do not wait for a trace (see `test_first_calls.py`)."""
    monkeypatch.setattr(SETTINGS, "tiers", "measured")
    monkeypatch.setattr(plain_presumption, "SHORT_ESTIMATE", 0.0)


def traces(function):
    return int(function.explain().split(": ")[1].split()[0])


def kernels(n):
    total = 0
    for i in range(1, n):
        total += math.comb(i, 2) + len(hex(i))
    return total


def elements(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return total


def test_a_graph_that_is_slower_than_python_is_dropped():
    compiled = ac.compile(kernels)
    for _ in range(30):
        assert compiled(400) == kernels(400)
    assert "measured: (int) runs plain Python, which is quicker" in compiled.explain()
    assert traces(compiled) == 1


def test_a_graph_whose_calls_can_all_be_undone_is_timed():
    compiled = ac.compile(lambda x: x.put([0, 2], [-4, -5]))
    for _ in range(30):
        compiled(x := np.arange(5))
        assert x.tolist() == [-4, 1, -5, 3, 4]
    assert compiled._gate.is_plain


def test_a_graph_that_is_quicker_stays():
    compiled, x = ac.compile(elements), np.arange(500.0)
    for _ in range(30):
        assert compiled(x) == elements(x)
    assert "measured: (ndarray) runs the graph" in compiled.explain()
    assert not compiled._gate.is_plain


def test_the_work_of_timing_is_no_part_of_the_time(monkeypatch):
    def shifted(x):
        return x + 1.0

    clock, used = [0.0], TraceCache.mark_used

    def read():
        clock[0] += 1e-6
        return clock[0]

    def slow_used(cache, trace):
        clock[0] += 1.0
        used(cache, trace)

    monkeypatch.setattr(TraceCache, "mark_used", slow_used)
    for module in (call_paths, program_clock):
        monkeypatch.setattr(module, "clock", read)
    compiled = ac.compile(shifted)
    for _ in range(30):
        compiled(np.ones(3))
    monkeypatch.undo()
    assert clock[0] >= 3.0, "some calls were timed"
    assert "runs the graph: 1 µs as a graph, 1 µs as plain Python" in compiled.explain()


def test_a_constant_that_is_written_to_an_array_does_not_keep_calls_from_being_timed():
    def sieve(n):
        is_prime = np.ones(n + 1, bool)
        is_prime[:2] = False
        for k in range(2, int(n**0.5) + 1):
            if is_prime[k]:
                is_prime[k * k :: k] = False
        return np.flatnonzero(is_prime)

    compiled = ac.compile(sieve)
    for _ in range(30):
        assert compiled(50).tolist() == sieve(50).tolist()
    assert "measured: (int) runs" in compiled.explain()


def pairs_below(pairs, limit):
    count = 0
    while pairs[count][0] < limit:
        count += 1
    return count


def test_loops_that_read_objects_only_in_their_tests_are_timed(monkeypatch):
    monkeypatch.setattr(tiers, "SHORT_CALL_SECONDS", 0.0)
    compiled = ac.compile(pairs_below)
    for _ in range(30):
        assert compiled([(i, str(i)) for i in range(500)], 400) == 400
    assert "as plain Python" in compiled.explain()


def test_calls_that_raise_are_timed():
    def reads(d, key):
        try:
            return d[key]
        except KeyError as error:
            raise ValueError(f"no {key}") from error

    compiled = ac.compile(reads)
    for i in range(40):
        with pytest.raises(ValueError, match=f"no {i % 3}"):
            compiled({"a": 1}, i % 3)
    assert "measured: (dict, int) runs plain Python" in compiled.explain()


def test_a_kind_whose_calls_differ_is_judged_by_all_of_them():
    def handled(x):  # a graph takes far longer than Python where the exception is raised and caught
        try:
            return 1 / x
        except ZeroDivisionError as error:
            return str(error)

    for x in (0, 1):
        compiled = ac.compile(handled)
        for i in range(60):
            assert compiled((i + x) % 2) == handled((i + x) % 2)
        assert "runs plain Python" in compiled.explain()


def test_calls_that_graphs_abort_run_plain_in_the_end():
    def power(base, n):
        x = 1
        for _ in range(n):
            x *= base
        return x

    compiled = ac.compile(power)
    for i in range(30):
        assert compiled(2, 20 + i % 5) == power(2, 20 + i % 5)
    for _ in range(60):  # of the same kind, beyond 64 bits
        assert compiled(7, 30) == 7**30
    assert "many calls of the graph failed" in compiled.explain() or "runs plain Python" in compiled.explain()


def test_calls_of_a_new_kind_run_plain_until_they_have_cost_a_trace():
    compiled = ac.compile(kernels)
    for _ in range(20):
        compiled(150)
    for _ in range(20):
        assert compiled(True) == kernels(True)
    assert "measured: (True) runs plain Python until such calls have taken as long as a trace" in compiled.explain()
    assert traces(compiled) == 1
    compiled._tiers.presumption.record_calls((True,), 1e9, 1)
    for _ in range(300):
        assert compiled(True) == kernels(True)
    assert traces(compiled) == 2


def test_a_graph_for_other_types_does_not_cause_a_trace():
    presumption, arrays, texts = PlainPresumption(), ((np.ndarray, 1, 3),), ((list, 2),)
    presumption.record_choice(arrays, 1e-6, is_plain=False)
    assert presumption.presumes_plain(texts, trace_count=2, trace_seconds=0.01)
    assert not presumption.presumes_plain(((np.ndarray, 1, 2),), trace_count=2, trace_seconds=0.01)
    presumption.record_calls(texts, 0.001, call_count=20)  # together they take longer than a trace
    assert not presumption.presumes_plain(texts, trace_count=2, trace_seconds=0.01)


def test_a_further_trace_of_a_known_kind_waits_until_plain_calls_have_cost_one():
    presumption, kind = PlainPresumption(), ((list, 2),)
    presumption.record_trace(kind)
    assert presumption.runs_without_trace(kind, trace_count=2, trace_seconds=0.01)
    assert not presumption.runs_without_trace(kind, trace_count=1, trace_seconds=0.01)
    assert not presumption.presumes_plain(kind, trace_count=2, trace_seconds=0.01)  # the trace may serve the next call
    presumption.record_deferred_call(kind, "of 8", 0.001)
    assert presumption.presumes_plain(kind, trace_count=2, trace_seconds=0.01)
    presumption.record_deferred_call(kind, "of 8", 0.01)
    assert not presumption.runs_without_trace(kind, trace_count=2, trace_seconds=0.01)
    presumption.record_trace(kind)
    assert presumption.runs_without_trace(kind, trace_count=2, trace_seconds=0.01)


def test_short_calls_of_many_lengths_make_few_traces():
    compiled = ac.compile(lambda values: [value + 1 for value in values][::-1])
    for length in range(20):
        assert compiled(list(range(length % 9))) == [value + 1 for value in range(length % 9)][::-1]
    assert len(compiled.concrete_functions) <= 2
    assert compiled.get_concrete_function([1, 2, 3, 4]) is not None  # on request a trace is made at once


def test_a_call_that_has_no_trace_is_known_by_its_sizes(monkeypatch):
    def raised(values):
        values.append(0)
        return [value + 1 for value in values]

    compiled = ac.compile(raised)
    for length in range(20):
        assert compiled(list(range(length % 9))) == [*range(1, length % 9 + 1), 1]
    arguments, kind = ([1] * 8,), ((list, 2),)
    compiled._run_deferred(kind, arguments, {})

    def examine(args, kwargs):
        raise RuntimeError("the call is examined")

    monkeypatch.setattr(compiled._feedback, "bind", examine)
    assert compiled._run_graph(([2] * 8,), {}) == [3] * 8 + [1]
    compiled._tiers.presumption.record_trace(kind)
    with pytest.raises(RuntimeError, match="examined"):
        compiled._run_graph(([2] * 8,), {})


def test_each_kind_of_call_has_its_own_form():
    def either(x):
        return kernels(400) if isinstance(x, int) else elements(x)

    compiled, x = ac.compile(either), np.arange(500.0)
    for _ in range(20):
        assert compiled(1) == kernels(400)
    for _ in range(20):
        assert compiled(x) == elements(x)
    assert not compiled._gate.is_plain
    assert "(ndarray) runs the graph" in compiled.explain()


def test_no_effect_happens_twice_or_never():
    seen = []

    def notes(n):
        seen.append(n)
        return kernels(n)

    compiled = ac.compile(notes)
    for i in range(40):
        assert compiled(200 + i % 3) == kernels(200 + i % 3)
        assert len(seen) == i + 1


def test_a_function_that_calls_itself_is_timed_as_plain_python_is():
    depth = []

    @ac.compile
    def counts(n):
        depth.append(n)
        return 0 if n == 0 else 1 + counts(n - 1)

    for i in range(1, 12):
        assert counts(3) == 3
        assert len(depth) == 4 * i


def test_errors_and_names_are_those_of_the_plain_function():
    compiled = ac.compile(lambda n, scale=1: kernels(n) * scale)
    for _ in range(40):
        assert compiled(300, scale=2) == compiled(n=300) * 2 == compiled(300) * 2
        with pytest.raises(TypeError):
            compiled("text", 3)
        with pytest.raises(TypeError):
            compiled()
    assert "runs plain Python" in compiled.explain()


def test_a_tape_sees_calls_whatever_was_measured():
    compiled, x = ac.compile(lambda x: ac.reduce_sum(x * x) * 2), ac.constant([1.0, 2.0])
    for _ in range(30):
        assert compiled(x).numpy() == 10
    with ac.GradientTape() as tape:
        tape.watch(x)
        y = compiled(x)
    assert tape.gradient(y, x).numpy().tolist() == [4.0, 8.0]


def test_tensors_have_rules_of_their_own_outside_of_graphs():
    compiled = ac.compile(lambda x, y: x + y)
    for _ in range(30):
        assert compiled(ac.constant(1, ac.int32), ac.constant(2.5, ac.float64)).numpy() == 3.5
    assert "measured" not in compiled.explain()


def test_a_trace_includes_a_function_that_runs_plain():
    inner = ac.compile(kernels)
    for _ in range(30):
        inner(400)
    assert inner._gate.is_plain
    outer = ac.compile(lambda n: inner(n) + 1)
    assert outer(50) == kernels(50) + 1 and traces(outer) == 1


def test_the_choice_can_be_fixed():
    code = (
        "import autoconv, math\n"
        "def f(n):\n"
        "    t = 0\n"
        "    for i in range(1, n):\n"
        "        t += math.gcd(i, n)\n"
        "    return t\n"
        "g = autoconv.compile(f)\n"
        "for _ in range(20): assert g(300) == f(300)\n"
        "print('measured' in g.explain())\n"
    )
    for chosen, expected in (("native", "False"), ("measured", "True"), ("neither", "True")):
        environment = {**os.environ, "AUTOCONV_TIERS": chosen}
        # Of a function without a source there is no trace: the text goes to a file.
        found = subprocess.run([sys.executable, "-c", _in_file(code)], env=environment, capture_output=True, text=True)
        assert found.stdout.split() == [expected], found.stderr
        assert ("none of measured, native" in found.stderr) == (chosen == "neither")


def _in_file(code):
    return (
        "import pathlib, runpy, tempfile\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    file = pathlib.Path(folder, 'timed.py')\n"
        f"    file.write_text({code!r})\n"
        "    runpy.run_path(str(file))\n"
    )


def test_under_function_nothing_is_timed():
    function = ac.function(lambda x: x + 1)
    for _ in range(20):
        function(ac.constant(1))
    assert "measured" not in function.explain()


def test_guards_are_checked_while_calls_are_timed():
    holder = {"name": ""}

    def reads(x):
        return x + len(holder["name"])

    for _ in range(4):
        compiled = ac.compile(reads)
        for i in range(40):
            holder["name"] = "n" * (i // 4 % 3)
            assert compiled(i) == reads(i)


def plus(self, k):
    return self.n + k


class Step:
    def __init__(self, n):
        self.n = n


def test_methods_of_many_instances_share_a_function():
    Step.plus = ac.compile(plus)  # here, where calls are timed
    steps = [Step(i) for i in range(200)]
    assert [step.plus(2) for step in steps] == [i + 2 for i in range(200)]
    assert [len(vars(step)) for step in steps[-10:]] == [1] * 10  # the method of an instance is kept in its attributes
    last, method = steps[-1], steps[-1].plus
    assert method == last.plus and hash(method) == hash(last.plus) and method != steps[-2].plus
    assert method.__name__ == "plus" and method.python_function(1) == 200
    assert method.explain().startswith("plus: ") and vars(last) == {"n": last.n}
    assert method(3) == last.plus(3) == 202
    assert pickle.loads(pickle.dumps(steps[-3].plus))(1) == 198


def test_calls_with_new_objects_are_measured_after_a_trace_for_known_sizes():
    class Grid:
        def __init__(self, rows):
            self.rows = rows

    def item(self, key):
        i, j = key
        return self.rows[i][j]

    compiled = ac.compile(item)
    for i in range(60):
        assert compiled(Grid([[1, 2], [3, i]]), (1, i % 2)) == (i if i % 2 else 3)
    assert compiled._gate.is_plain
