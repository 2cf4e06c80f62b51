"""Calls that are not worth a trace run as plain Python: the results are those of plain Python either way."""

import dataclasses

import pytest

import autoconv
from autoconv.runtime.recording.contracts import ITERATION
from autoconv.tracing.guards.trace_restrictions import RunPlain, TracingBudget


class Body:
    def __init__(self, x, v):
        self.x, self.v = x, v

    @autoconv.compile
    def moved(self, n):
        return fall(self, n)


@dataclasses.dataclass
class Point:
    x: float
    v: float


def fall(body, n):
    for _ in range(n):
        body.v -= body.x * 0.125
        body.x += body.v * 0.125
    return body.x


def traces(function):
    return int(function.explain().split(": ")[1].split()[0])


@pytest.mark.parametrize("kind", [Body, Point])
def test_short_lived_objects_are_traced_a_few_times_only(kind):
    compiled = autoconv.compile(fall)
    for i in range(40):
        body, like = kind(1.0, i), kind(1.0, i)
        assert compiled(body, 40) == fall(like, 40)
        assert vars(body) == vars(like)
    assert traces(compiled) < 20
    assert "each call passes new objects" in compiled.explain()


@pytest.mark.parametrize("kind", [Body, Point])
def test_a_long_lived_object_has_one_trace(kind):
    compiled, body, like = autoconv.compile(fall), kind(1.0, 0.0), kind(1.0, 0.0)
    for i in range(40):
        assert compiled(body, 20 + i) == fall(like, 20 + i)
        assert vars(body) == vars(like)
    assert traces(compiled) == 1
    assert "plain Python" not in compiled.explain()


def test_objects_of_repeated_calls_are_worth_a_trace():
    compiled, bodies = autoconv.compile(fall), [Body(1.0, i) for i in range(12)]
    for body in bodies:
        compiled(body, 40)
    before = traces(compiled)
    for _ in range(60):  # as plain Python these take longer than any trace does
        compiled(bodies[-1], 100_000)
    assert before < 12 and traces(compiled) == before + 1


def test_methods_of_short_lived_instances():
    for i in range(40):
        body, like = Body(1.0, i), Body(1.0, i)
        assert body.moved(40) == fall(like, 40)
        assert vars(like).items() <= vars(body).items()


def test_plain_calls_are_examined_less_and_less_often():
    seen = []

    def reads(x):
        seen.append(id(x))
        return open.__name__ if x else vars()  # an object that a trace cannot hold

    compiled = autoconv.compile(reads)
    for i in range(200):
        assert compiled(1 + i) == "open"
    assert compiled(0) == {"x": 0, "seen": seen}
    assert len(seen) >= 201


def test_a_class_that_each_call_makes():
    def counts(n):
        class Counter:
            total = 0

        for i in range(n):
            Counter.total += i
        return Counter.total

    compiled = autoconv.compile(counts)
    assert [compiled(n) for n in (3, 40)] == [3, 780]
    report = compiled.explain()
    assert "Counter.total is written, and each call creates its class anew" in report or report.startswith("counts: 1")


def test_thousands_of_arguments_are_no_inputs_of_one_graph():
    @autoconv.compile
    def count(*values):
        return len(values), values[0]

    assert count(*range(5000)) == (5000, 0) and "more than 4096 values" in count.explain()
    assert count(1.0, 2.0) == (2, 1.0)


@pytest.mark.parametrize(("times_calls", "serves_same_values", "limit"), [
    (True, True, 1_000), (True, False, 10_000), (False, True, 10_000),
])  # fmt: skip
def test_traces_that_serve_only_the_same_values_may_unroll_fewer_iterations(times_calls, serves_same_values, limit):
    budget = TracingBudget(times_calls=times_calls, serves_same_values=serves_same_values)
    for _ in range(limit):
        budget(ITERATION)
    with pytest.raises(RunPlain, match=f"more than {limit:,} iterations"):
        budget(ITERATION)
