"""Builtins, calls and classes on values known only at run time, under both contracts."""

# ruff: noqa: C417 - the programs are meant as they are written

import dataclasses

import numpy as np
import pytest

import autoconv as ac
from tests.tracing.test_objects import check_calls

CONTRACTS = [ac.function, ac.compile]


def plain(result):
    if isinstance(result, (tuple, list)):
        return type(result)(plain(part) for part in result)
    return np.asarray(result).item() if hasattr(result, "numpy") else result


@pytest.fixture(params=CONTRACTS, ids=["function", "compile"])
def check(request):
    def agree(function, *inputs):
        traced = request.param(function)
        for value in inputs:
            argument = ac.constant(value) if request.param is ac.function else value
            assert plain(traced(argument)) == function(value), value
        if request.param is ac.compile:
            assert "plain Python" not in traced.explain(), traced.explain()

    return agree


def test_type_tests_of_numbers_that_are_loop_state(check):
    def f(n):
        k = 0
        while n > 0:
            k += 1
            n -= 1
        return isinstance(k, int), isinstance(k, float), np.isscalar(k), hasattr(k, "real"), type(k) is int

    check(f, 3, 0)


def test_sorting_a_few_values(check):
    def f(n):
        items = [3, n, 1, n + 2]
        return sorted(items), sorted(items, reverse=True)

    def by_key(n):
        rows = sorted([(n, 1), (2, 2), (n % 3, 3), (2, 4)], key=lambda row: row[0])
        return [second for _, second in rows]

    check(by_key, 5, 1, 2)
    check(f, 5, 1, 2)


def test_map_filter_any_all(check):
    def f(n):
        xs = [n, n + 1, n + 2]
        return (
            list(map(lambda x: x if x > 2 else -x, xs)), list(filter(lambda x: x > 2, xs)), any(x > 3 for x in xs),
            all(x > 1 for x in xs), [x for x in xs if x > 2], sum(filter(None, range(n))), max([n, 1, 7]), min(n, 3),
        )  # fmt: skip

    check(f, 1, 3, 5)


@dataclasses.dataclass
class Point:
    x: int
    y: int = 2

    def __post_init__(self):
        if self.x > 3:
            self.y = 10

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)


def test_dataclasses_with_a_branch_in_post_init(check):
    def f(n):
        point = Point(n) + Point(1, 1)
        if point.x > 3:
            point.x = 0
        return point.x, point.y

    check(f, 5, 1)


class Counter:
    def __init__(self):
        self.k = 0

    @property
    def value(self):
        return self.k if self.k > 0 else -1

    @value.setter
    def value(self, x):
        if x > 2:
            self.k = x

    def __getitem__(self, i):
        return i * 2 if i > 0 else 0

    def __contains__(self, i):
        return i > 3

    def __len__(self):
        return 3

    def __iter__(self):
        return iter([1, 2, self.k])


def test_properties_and_special_methods(check):
    def f(n):
        counter = Counter()
        counter.value = n
        total = 0
        for item in counter:
            total += item
        return counter.value, counter[n], n in counter, n not in counter, len(counter), total

    check(f, 5, 1, -1)


def test_functions_strings_and_none_as_values(check):
    def f(n):
        functions = {"more": lambda x: x + 1, "twice": lambda x: x * 2}
        chosen = functions["more"] if n > 2 else functions["twice"]
        for _ in range(2):
            chosen = (lambda x: x - 3) if chosen is functions["more"] else functions["more"]
        word = "a"
        if n > 2:
            word = "b"
        elif n > 1:
            word = None
        return chosen(n), -1 if word is None else 1 if word == "a" else 2

    check(f, 5, 2, 1)


def test_functions_picked_by_position_or_key():
    class Counter:
        def __init__(self, start):
            self.count = start

        def add(self, step):
            self.count += step
            return self.count

    def positions(i, a):
        choices = [lambda: a, lambda: a * 2, lambda: a - 7]
        counters = [Counter(a), Counter(2)]
        counter = counters[i % 2]
        counter.add(10)
        try:
            found = choices[i]()
        except IndexError as error:
            found = str(error)
        return found, (max, min)[i % 2](a, 3), counter.count, counters[0].count, counters[1].count

    check_calls(positions, (0, 1), (1, 2), (2, 2), (-1, 7), (5, 1), (-4, 2))

    def keys(i, a):
        by_number, by_text = {0: max, 1: min}, {"x": abs, "y": lambda value: value - 1}
        try:
            found = by_number[i](a, 3)
        except KeyError as error:
            found = error.args
        return found, by_text["x" if a > 1 else "y"](-a)

    check_calls(keys, (0, 1), (1, 2), (2, 2))

    def machine(n):
        steps = [lambda value: value + 1, lambda value: value * 2, lambda value: value - 3]
        value = 1
        for _ in range(n):
            value = steps[value % 3](value)
        return value

    check_calls(machine, (0,), (4,), (9,))
    traced = ac.function(machine)
    assert [int(traced(ac.constant(n))) for n in (0, 4, 9)] == [machine(n) for n in (0, 4, 9)]


def test_text_and_tuples_times_a_number():
    def f(n):
        text = "ab"
        text *= n
        try:
            wrong = "a" * (n * 0.5)
        except TypeError as error:
            wrong = str(error)
        return text, n * "cd", (1, n) * n, n * (2,), b"x" * n, "a" * (n > 1), [n] * n, wrong, "%d|%s" % (n, n)  # noqa: UP031

    check_calls(f, (0,), (1,), (3,), (-2,))
