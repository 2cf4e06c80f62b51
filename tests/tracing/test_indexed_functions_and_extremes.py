"""Functions chosen by an index, and max() and min(), of values known only at run time."""

import numpy as np
import pytest

import autoconv as ac
from tests.tracing.plain_comparison import result_or_error


def by_an_item_of_a_dict(a):
    d = {"p": a}
    d[a] = a
    fs = [lambda: a, lambda: 7, lambda: d]
    return fs[d["p"] % 4]()


def by_a_number_or_text(a):
    d = {"p": "x" if a > 3 else a}
    d[a + 1] = a
    fs = (lambda: a, lambda: 7)
    return fs[d["p"]]()


def extremes_of_items(a):
    d = {"p": a}
    d[a] = a
    items = [d["p"], a, 1]

    def gen(n):
        for i in range(3):
            yield i + a
        yield max(items)

    return (
        max(gen(3), default=1),
        min(gen(3)),
        max(items),
        max(d["p"], a),
        max(d["p"], 2.5),
        max(items, default=2),
        max(items, key=abs),
    )


def next_with_a_default(a):
    def g2(n):
        yield from range(n)

    def gen(n):
        yield from range(n % 4)
        n = next(g2(n), 9)
        yield n

    return sum(gen(a))


@pytest.mark.parametrize(
    "function", [by_an_item_of_a_dict, by_a_number_or_text, extremes_of_items, next_with_a_default]
)
def test_calls_are_part_of_the_graph(function):
    compiled = ac.compile(function)
    for a in (2, 5, 0, 3, -2, 1):
        assert result_or_error(compiled, a) == result_or_error(function, a)
    assert "plain Python" not in compiled.explain()


@pytest.mark.parametrize(
    "function",
    [
        lambda x, k: max(x, k), lambda x, k: min(k, x), lambda x, k: (max(k, x[0]), min(x[0], k)),
        lambda x, k: (min(k, x[0]), max(x[-1], k)), lambda x, k: max(k, x.sum(), 2), lambda x, k: min(2.0, x.sum(), k),
        lambda x, k: max(x, x),
    ],
)  # fmt: skip
def test_extremes_of_numbers_of_python_and_numpy(function, monkeypatch):
    """The first of equal numbers is the result, with its class; arrays of several elements have no truth."""
    monkeypatch.setattr(ac.config.SETTINGS, "tiers", "native")
    compiled = ac.compile(function)
    for x, k in (([[2]], 2), ([3], 3), ([1, 2, 3], 1), ([2.0], 2), ([2.5], 2.5), ([4.0], 1)):
        expected, found = (result_or_error(item, np.array(x), k) for item in (function, compiled))
        assert repr(found) == repr(expected)


def test_arrays_are_not_rounded_by_the_builtin():
    def rounded(x, k):
        x[0] = 1
        return round(x if k > 1 else x[1])

    compiled = ac.compile(rounded)
    for k in (2, 0, 2):
        results = [result_or_error(item, np.array([1.5, 2.5]), k) for item in (compiled, rounded)]
        assert results[0] == results[1]


class Unmeasured:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        raise ValueError("no length")

    def __iter__(self):
        yield self.n
        yield 2


@pytest.mark.parametrize(
    "extreme", [max, min, lambda x: max(x, default=7), lambda x: min(x, key=lambda v: -v), lambda x: max(x, key=abs)]
)
def test_extremes_do_not_read_lengths(extreme):
    compiled = ac.compile(lambda n: extreme(Unmeasured(n)))
    assert [compiled(n) for n in range(5)] == [extreme(Unmeasured(n)) for n in range(5)]
