"""First calls that are short in plain Python run plain until they have taken as long as a trace; others are traced."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import autoconv as ac
from autoconv.config import SETTINGS
from autoconv.tracing.specialise import plain_presumption
from autoconv.tracing.specialise.work_estimate import estimate_seconds


@pytest.fixture(autouse=True)
def measured(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "measured")


@dataclasses.dataclass
class Item:
    name: str
    weight: float

    def cost(self):
        return self.weight * 1.5


def words(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def total(items):
    return sum(item.cost() for item in items)


def root(a):
    x = a
    while abs(x * x - a) > 1e-9:
        x = 0.5 * (x + a / x)
    return x


def squares(n):
    result = 0
    for i in range(n):
        for j in range(n):
            result += i * j
    return result


def depth(tree):
    return 0 if tree is None else 1 + max(depth(tree[0]), depth(tree[1]))


def power(base, n):
    return 1 if n == 0 else base * power(base, n - 1)


def scaled(x):
    return ac.reduce_sum(ac.constant([1.0, 2.0])) * x


@pytest.mark.parametrize(
    "function, arguments",
    [
        (words, ("a b a",)), (total, ([Item("a", 2.0)],)), (squares, (9,)), (depth, (((None, None), None),)),
        (lambda x: x + 1, (2.5,)), (len, ("abc",)), (root, (2.0,)), (power, (2, 5)),
    ],
)
def test_short_calls_run_plain_at_first(monkeypatch, function, arguments):
    monkeypatch.setattr(plain_presumption, "FIRST_TRACE_SECONDS", 60.0)  # however busy the machine is
    compiled = ac.compile(function)
    for _ in range(100):
        assert compiled(*arguments) == function(*arguments)
    assert len(compiled.concrete_functions) == 0
    assert "runs plain Python until such calls have taken as long as a trace" in compiled.explain()


@pytest.mark.parametrize(
    "function, arguments",
    [
        (lambda x: x + 1, (np.arange(3.0),)), (lambda items: items[0].sum(), ([np.arange(3.0)],)),
        (squares, (3_000,)), (power, (2, np.int64(5))), (scaled, (2.0,)),
    ],
)  # fmt: skip
def test_other_calls_are_traced_at_once(function, arguments):
    assert estimate_seconds(function, arguments, {}) > plain_presumption.SHORT_ESTIMATE
    compiled = ac.compile(function)
    compiled(*arguments)
    assert len(compiled.concrete_functions) == 1 or "plain Python: " in compiled.explain()


def test_an_estimate_follows_loops_in_named_functions_and_methods():
    class Grid:
        def __init__(self, size):
            self.size = size

        def row(self):
            return [k * k for k in range(self.size)]

        def all(self):
            return [self.row() for _ in range(self.size)]

    small, large = (estimate_seconds(Grid(size).all, (), {}) for size in (10, 1_000))
    assert small < 1e-3 and large > 1e-2
    assert estimate_seconds(lambda grid: grid.all(), (Grid(1_000),), {}) > 1e-2
    assert estimate_seconds(lambda n: squares(n), (3_000,), {}) > 1e-2
    assert estimate_seconds(lambda n, table=(1,) * 10**6: [n for _ in table], (1,), {}) > 1e-2
    assert estimate_seconds(lambda numbers: [n + 1 for n in numbers], (range(10**6, 0, -1),), {}) > 1e-2
    assert math.isinf(estimate_seconds(lambda n: power(2, n), (9,), {}))


def test_calls_that_have_taken_as_long_as_a_trace_get_one(monkeypatch):
    monkeypatch.setattr(plain_presumption, "FIRST_TRACE_SECONDS", 1e-4)
    compiled = ac.compile(words)
    for _ in range(400):
        assert compiled("to be or not " * 40) == words("to be or not " * 40)
    assert len(compiled.concrete_functions) == 1


def test_calls_shorter_than_the_entry_of_a_graph_get_no_trace(monkeypatch):
    monkeypatch.setattr(plain_presumption, "FIRST_TRACE_SECONDS", 1e-9)
    monkeypatch.setattr(plain_presumption, "_ENTRY_SECONDS", 1e-3)
    compiled = ac.compile(lambda x: x + 1)
    presumption = compiled._tiers.presumption
    for _ in range(40):  # the first of them wait
        presumption.record_calls((int,), 1e-6, 0)
    assert presumption.trivial_seconds((int,), has_objects=False) == pytest.approx(1e-6)
    presumption.record_calls((str,), 1.0, 0)
    assert presumption.trivial_seconds((str,), has_objects=False) == 0.0, "one call says little"
    kind = ((int, 0),)
    for _ in range(40):
        presumption.record_calls(kind, 1e-6, 1)
    assert [compiled(i % 8) for i in range(40)] == [i % 8 + 1 for i in range(40)]
    assert len(compiled.concrete_functions) == 0
    assert "runs plain Python, which is quicker: 1 µs as plain Python" in compiled.explain()


def test_a_trace_of_the_same_types_serves_short_calls():
    compiled = ac.compile(squares)
    for n in (3_000, 3_000, 9):
        assert compiled(n) == squares(n)
    assert "until such calls" not in compiled.explain()


def test_a_later_call_that_is_long_is_traced():
    compiled = ac.compile(squares)
    for n in (3, 4, 5, 6, 2_500):
        assert compiled(n) == squares(n)
    assert len(compiled.concrete_functions) == 1


def test_an_estimate_reads_no_attributes_of_the_program():
    reads = []

    class Watched:
        def __getattr__(self, name):
            reads.append(name)
            raise AttributeError(name)

        @property
        def __class__(self):
            reads.append("__class__")
            return int

    class Meta(type):
        def __getattribute__(cls, name):
            reads.append(name)
            return super().__getattribute__(name)

    class Owner(metaclass=Meta):
        part = Watched()

        def method(self):
            return self.part

    class Items(list):
        def __len__(self):
            reads.append("__len__")
            return 0

    class Number(int):
        def __abs__(self):
            reads.append("__abs__")
            return 0

        __int__ = __abs__

    watched, owner = Watched(), Owner()
    reads.clear()
    for values in ((watched,), (owner,), ([watched, owner], {"k": watched}), (Owner,), (Items([1]), Number(3))):
        estimate_seconds(lambda *values: (watched, owner.method, Owner), values, {})
    estimate_seconds(watched, (1,), {})
    assert reads == []


def test_effects_of_first_calls_happen_once(capsys):
    seen = []

    @ac.compile
    def note(text):
        seen.append(text)
        print(text)
        if not text:
            raise ValueError("empty")
        return seen

    for i in range(20):
        assert note(f"text {i}") is seen
    with pytest.raises(ValueError, match="empty"):
        note("")
    assert seen == [*(f"text {i}" for i in range(20)), ""]
    assert capsys.readouterr().out == "".join(f"{text}\n" for text in seen)


class Proxy:
    """An object that notes each use, as proxies of web frameworks and mocks do."""

    def __getattr__(self, name):
        print("read", name)
        return 1

    @property
    def __class__(self):
        print("class")
        raise RuntimeError("working outside of a context")


class Words(list):
    def __len__(self):
        print("length")
        return super().__len__()


PROXY, WORDS = Proxy(), Words(["a", "b"])


def test_an_estimate_runs_no_code_of_the_program(capsys):
    def shout(text):
        return text.upper() if text else (PROXY, WORDS)

    assert ac.compile(shout)("a") == "A"
    assert estimate_seconds(shout, ("a",), {}) > 0
    assert capsys.readouterr().out == ""
