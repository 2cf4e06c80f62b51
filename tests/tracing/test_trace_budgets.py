"""Bounds of traces: for calls that differ in values alone, in number, in iterations of Python loops, and in time."""

from __future__ import annotations

import dataclasses
import time

import pytest

import autoconv as ac
from autoconv.config import SETTINGS
from autoconv.tracing.guards import trace_restrictions
from autoconv.tracing.specialise import plain_presumption, tiers


@pytest.fixture(autouse=True)
def measured(monkeypatch):
    """Time calls; first calls do not wait for a trace (see `test_first_calls.py`)."""
    monkeypatch.setattr(SETTINGS, "tiers", "measured")
    monkeypatch.setattr(plain_presumption, "SHORT_ESTIMATE", 0.0)


def traces(function):
    return int(function.explain().split(": ")[1].split()[0])


def vowels(text):
    count = 0
    for letter in text:
        if letter in "aeiou":
            count += 1
    return count


@dataclasses.dataclass
class Item:
    name: str
    weight: float


@pytest.mark.parametrize(
    "function, make_argument",
    [
        (vowels, lambda i: f"the text of number {i}"),
        (lambda d: sum(d.values()), lambda i: {f"key{i}": i, "other": 1}),
        (lambda items: max(item.weight for item in items), lambda i: [Item(f"n{i}", 0.5), Item("other", float(i))]),
        (lambda pair: len(pair), lambda i: (1,) * (1 + i % 15)),
    ],
)
def test_calls_that_differ_in_values_alone_are_traced_twice_at_most(function, make_argument):
    compiled = ac.compile(function)
    for i in range(40):
        assert compiled(make_argument(i)) == function(make_argument(i))
    assert traces(compiled) <= 2
    assert "need a trace each" in compiled.explain() or "runs plain Python" in compiled.explain()


def test_a_repeated_value_gets_a_trace():
    def runs(text, n):
        total = 0
        for i in range(n):
            total += i % len(text)
        return total

    compiled, start = ac.compile(runs), time.perf_counter()
    for text in ("a", "bc"):
        compiled(text, 10)
    end = time.perf_counter()
    last_end = end + 4 * (end - start) + 1  # the trace pays after plain calls have taken as long as one of these
    while traces(compiled) < 3 and time.perf_counter() < last_end:
        assert compiled("def", 100_000) == runs("def", 100_000)
    assert traces(compiled) == 3, compiled.explain()


def test_searches_for_a_trace_do_not_count_as_long_runs_of_its_loops(monkeypatch):
    """Calls with new objects run plain after a search for a trace, which is no measure of the graph's speed."""
    monkeypatch.setattr(tiers, "SHORT_CALL_SECONDS", 0.0)  # any run of a graph with scalar loops counts as long

    def filled(items, room):
        best = [0.0] * (room + 1)
        for item in items:
            for w in range(room, item.weight - 1, -1):
                best[w] = max(best[w], best[w - item.weight] + 1.5)
        return best[room]

    compiled = ac.compile(filled)
    for n in range(60):
        things = [Item(f"thing {n} {k}", 2 + (n + k) % 7) for k in range(5)]
        assert compiled(things, 20) == filled(things, 20)
    assert compiled._gate.is_plain and "as a graph" not in compiled.explain()


def test_traces_have_a_budget():
    holder = {"name": ""}

    def reads(x):
        return x + len(holder["name"])

    compiled = ac.compile(reads)
    for i in range(60):
        holder["name"] = "n" * (i * 7 % 61)
        assert compiled(i) == reads(i)
    assert traces(compiled) <= 24


def test_long_python_loops_end_a_trace():
    words = "the quick brown fox " * 4000

    def counts():
        found = {}
        for word in words.split():
            found[word] = found.get(word, 0) + 1
        return found

    compiled = ac.compile(counts)
    assert compiled() == counts() == compiled()
    assert "iterations" in compiled.explain() and traces(compiled) == 0


def test_a_container_too_long_to_be_compared_on_every_call_makes_calls_plain():
    table = list(range(150_000))
    compiled = ac.compile(lambda i: table[i] + 1)
    assert [compiled(i) for i in (3, 4, 5)] == [4, 5, 6]
    table[3] = 10
    assert compiled(3) == 11
    assert "table (a list of 150,000 items) is read" in compiled.explain() and traces(compiled) == 0


def test_many_calls_with_known_arguments_make_calls_plain():
    """A recursion over texts: all its calls have constants as arguments, and a trace would run them one by one."""

    @ac.compile
    def distance(a, b):
        if not a or not b:
            return len(a) + len(b)
        changed = distance(a[:-1], b[:-1]) + (a[-1] != b[-1])
        return min(changed, distance(a, b[:-1]) + 1, distance(a[:-1], b) + 1)

    assert [distance(*pair) for pair in (("kitten", "sitting"), ("flaw", "lawn"))] == [3, 2]
    assert "tracing runs more than 500 calls of functions" in distance.explain()


def test_a_trace_that_takes_long_to_record_is_abandoned(monkeypatch):
    def unrolled(x, n):
        for _ in range(n):
            x = x * 1.5 if x < 1 else x - 1
        return x

    monkeypatch.setattr(trace_restrictions, "SECONDS_LIMIT", 0.05)
    monkeypatch.setattr(trace_restrictions.TracingBudget, "exceeded_count", 0)
    compiled = ac.compile(lambda x: sum([unrolled(x, k) for k in (20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30)]))
    for x in (0.5, 2.5, -1.0):
        assert compiled(x) == sum(unrolled(x, k) for k in range(20, 31))
    assert "recording the trace takes more than 0.1 s" in compiled.explain() and traces(compiled) == 0
    monkeypatch.setattr(SETTINGS, "tiers", "native")  # where calls have to repeat to the bit, no clock decides
    native = ac.compile(lambda x: sum([unrolled(x, k) for k in (20, 21, 22)]))
    assert native(0.5) == sum(unrolled(0.5, k) for k in (20, 21, 22)) and traces(native) == 1
