"""Objects that have items and no `__iter__`: Python iterates over them by position until an IndexError."""

from __future__ import annotations

import pytest

import autoconv
from autoconv.errors import StagingError
from tests.tracing.plain_comparison import check_against_plain


class Doubles:
    def __init__(self, n):
        self.n = n

    def __getitem__(self, i):
        if i >= self.n:
            raise IndexError(i)
        return i * 2


class Held:
    def __init__(self, items):
        self.items = items

    def __getitem__(self, i):
        return self.items[i]


def total(n):
    s = 0
    for x in Doubles(n):
        s += x
    return s


def left_early(n):
    s = 0
    for x in Doubles(n):
        if x > n:
            break
        s += x
    else:
        s = -1
    return s


def comprehension(n):
    return sum([x + 1 for x in Doubles(n)])


def of_known_length(n):
    return [x * 2 for x in Held((n, 3))], 3 in Held([1, n]), list(Held([n, 1]))


def of_a_list_that_moved(n):
    squares = []
    for i in range(n):
        squares.append(i * i)
    s = 0
    for x in Held(squares):
        s += x
    return s


@pytest.mark.parametrize("program", [total, left_early, comprehension, of_known_length, of_a_list_that_moved])
def test_iteration_is_one_graph(program):
    compiled = check_against_plain(program, (3,), (4,), (0,), (7,))
    assert compiled.experimental_get_tracing_count() == 1
    assert "plain Python" not in compiled.explain()


def test_calls_of_python_itself_run_plain_or_are_refused():
    def contains(n):
        return 10 in Doubles(n), 4 in Doubles(n)

    compiled = autoconv.compile(contains)
    assert [compiled(n) for n in (3, 2, 6)] == [(False, True), (False, False), (True, True)]
    with pytest.raises(StagingError, match="may raise at run time"):
        autoconv.function(contains)(autoconv.constant(3))
    assert not hasattr(Doubles, "__iter__")
