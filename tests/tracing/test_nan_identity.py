"""Containers compare identity before equality: they find a NaN only if it is the same object."""

from __future__ import annotations

import pytest

from autoconv.config import SETTINGS
from tests.tracing.plain_comparison import check_against_plain

NAN = float("nan")


class Holder:
    def __init__(self, value):
        self.value = value


def same(x):
    return x


def known_lists(x):
    y = x + 0.0
    a = [x, y]
    return x in a, y in [x], a == [x, y], [x] == [x], (x,) == (x,), [same(x)] == [x], abs(x) in [x]


def searched(x):
    y = x + 0.0
    a = [y, x]
    a.remove(x)
    return a.count(y), a.index(y), a.count(x)


def grown(x, n):
    a = []
    for _ in range(n):
        a.append(x)
    return x in a, a.count(x), a == [x] * n


def keys(x, n):
    d = {}
    for i in range(n):
        d[x] = i
        d[x * 2] = i
    return len(d), d.get(x), x in d, x in {x, x * 1.0}


def branches(x, n):
    y = x if n > 1 else -x
    p = Holder(y)
    return y in [x], (y, n) == (x, n), [p.value] == [x], {"a": p.value} == {"a": x}


def test_nan_is_found_as_in_python_and_other_numbers_are_staged(monkeypatch):
    for backend in ("reference", "llvm"):
        monkeypatch.setattr(SETTINGS, "backend", backend)
        for program, more in ((known_lists, ()), (searched, ()), (grown, (2,)), (keys, (2,)), (branches, (2,))):
            compiled = check_against_plain(program, (1.5, *more), (NAN, *more), (-2.0, *more))
            assert compiled.experimental_get_tracing_count() == 1
            assert compiled.explain().count("one call: ") == 1, "the one with a NaN"


def test_nan_that_is_not_searched_stays_in_the_graph():
    def program(x, n):
        a = []
        for _ in range(n):
            a.append(x)
        return a, max(x, 1.0), {"x": x}["x"]

    compiled = check_against_plain(program, (NAN, 2), (1.0, 3))
    assert "plain Python" not in compiled.explain()


@pytest.mark.parametrize("n", [1, 3])
def test_a_repeated_run_prints_no_line_twice(n, capsys):
    import autoconv

    @autoconv.compile
    def program(x, n):
        print("here")
        a = []
        for _ in range(n):
            a.append(x)
        return x in a

    assert program(1.0, n) is True
    assert program(NAN, n) is True
    assert capsys.readouterr().out == "here\n" * 2


def test_displays_of_numbers_that_are_compared_by_identity_as_well():
    check_against_plain(
        lambda x, y: (x is y, [x] == [y], (x, 1) == (y, 1), {1: x} == {1: y}, [x] != [y]),
        (NAN, NAN), (NAN, float("nan")), (1.5, NAN), (2.5, 2.5),
    )  # fmt: skip
