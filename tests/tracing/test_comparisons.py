"""Comparisons and membership of tuples, lists, dicts and objects that hold a value known only at run time."""

# ruff: noqa: E711, RUF060, SIM300 - what people write is what is tested

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest

import autoconv
from tests.tracing.test_objects import check_calls, outcome

INPUTS = (1, 2), (2, 1), (2, 2), (-3, 7), (0, 0)


@dataclasses.dataclass(order=True)
class Version:
    major: int
    minor: int
    note: str = dataclasses.field(default="", compare=False)


@dataclasses.dataclass
class Size:
    width: int
    height: int


class Pair(NamedTuple):
    left: int
    right: int


class LogsComparisons:
    """An object that logs its comparisons."""

    def __init__(self, value, log):
        self.value = value
        self.log = log

    def __eq__(self, other):
        self.log.append((self.value, other.value))
        return self.value == other.value

    __hash__ = None


def test_equality():
    def f(a, b):
        return (
            (a, b) == (1, 2), (a, b) != (b, a), (a, (b, 1)) == (2, (1, 1)), (a,) == (1, 2), (a, b) == None,
            [a, b] == [1, 2], [a, [b]] != [a, [2]], [a] == [1, 2], (a, "s") == (1, "s"), (a, b) == [1, 2],
            {1: a} == {1: 1}, {a: b} == {1: 2}, {1: a} == {2: a}, {a, b} == {2, 1}, (a, b) == (1, 2) == (b - 1, 2),
        )  # fmt: skip

    check_calls(f, *INPUTS)


def test_order():
    def f(a, b):
        return (
            (a, b) < (b, a), (a, b) <= (a, b), (a, (b, 1)) > (a, (b, 0)), [a, b] >= [a, b, 0], (1, 2, a) > (1, 2),
            (a, "s") < (b, "t"), [a] < [1, 2], (a, 1.5) < (a, b), [a] > [], ((a,), b) <= ((b,), a),
        )  # fmt: skip

    check_calls(f, *INPUTS)


def test_types_that_have_no_order():
    def f(a, b):
        found = []
        for compare in (lambda: (a, b) < (a, None), lambda: (a, b) > [a], lambda: (a, "s") < (a, b), lambda: a > (1,)):
            try:
                found.append(compare())
            except TypeError as error:
                found.append(str(error))
        try:
            if a > 0:
                found.append(a < None)
            found.append(a <= None)
        except TypeError as error:
            found.append(str(error))
        return found

    check_calls(f, *INPUTS)


def test_one_object_is_equal_to_itself():
    def f(x, a):
        return (x,) == (x,), [x, a] == [x, a], x == x, x in (a, x), (x, 1) < (x, 2), (x, a) == (x, a + 0)

    check_calls(f, (float("nan"), 1), (1.5, 2))


def test_named_tuples_and_dataclasses():
    def f(a, b):
        version, swapped = Version(a, b), Version(b, a, "other")
        return (
            version == swapped, version != swapped, version < swapped, version >= swapped, Size(a, b) == Size(1, 2),
            Size(a, b) != Size(b, 2), Pair(a, b) == Pair(1, 2), Pair(a, b) < (b, a), Size(1, 2) == Pair(1, 2),
            version == Size(a, b),
        )  # fmt: skip

    check_calls(f, *INPUTS)


def test_items_after_the_first_difference_are_not_compared():
    def f(a, b):
        log = []
        first, second, third = LogsComparisons(a, log), LogsComparisons(b, log), LogsComparisons(2, log)
        found = (a, first) == (1, second), [first, third] != [second, first], (first, second) == (first, third)
        return found, first in [second, third], log

    check_calls(f, *INPUTS)


def test_membership():
    def f(a, b):
        return (
            (a, b) in [(1, 2), (b, a)], (a, b) not in ((2, 1), (2, 2)), [a] in [[1], [b]], a in (3, b, 0),
            (a, b) in {(1, 2): 3}, (1, 2) in {(a, b)}, b in (i for i in (a, 7)), (a, b) in [],
        )  # fmt: skip

    check_calls(f, *INPUTS)


def test_membership_in_objects():
    class Holder:
        def __init__(self, items):
            self.items = items

        def __contains__(self, item):
            return item * 2 in self.items

    class Iterated:
        def __init__(self, items):
            self.items = items

        def __iter__(self):
            return iter(self.items)

    def f(a, b):
        return a in Holder([b, 4]), b not in Holder((a, 2)), a in Iterated([1, b]), b in Iterated((a, 7))

    check_calls(f, *INPUTS)


def test_searching():
    def f(a, b):
        found = [(a, b, 2).count(2), [a, b, 2].index(2), (a, b, 2).index(2), [a, b, 1].count(b)]
        found.append({(a, b): 5}.get((1, 2)))
        items = [(a, b), (2, 2), (a, b)]
        items.remove((2, 2))
        try:
            found.append((a, b).index(7))
        except ValueError as error:
            found.append(str(error))
        return found, items

    check_calls(f, *INPUTS)


def test_sorting_and_extremes_with_keys():
    def f(a, b):
        pairs = [(b, 1), (a, 2), (2, 3)]
        return (
            sorted(pairs), sorted([b, a, 3], key=lambda t: -t), sorted([b, a, 3, 4], key=lambda t: t % 2, reverse=True),
            min([b, a, 3], key=lambda t: t % 2), max(a, b, 3, key=lambda t: -t), max(pairs, key=lambda p: p[0] * p[1]),
            min((a, b), (b, a)), sorted({3: 1, 2: a}, key=lambda t: t * b), max([3.5, a, b], key=abs),
        )  # fmt: skip

    check_calls(f, *INPUTS)


def test_keys_over_ranges_of_the_graph():
    def f(n, m):
        def key(t):
            return (t % m, -t)

        numbers = [i * 5 % 7 for i in range(n)]
        return (
            sorted(numbers, key=key), sorted(range(n), key=key, reverse=True), min(numbers, key=key, default=None),
            max(range(n), key=lambda t: -t % m, default=-1), sorted((str(i) for i in range(n)), key=len),
        )  # fmt: skip

    check_calls(f, (0, 3), (1, 3), (9, 3), (12, 5))


@pytest.mark.parametrize("last", [1, 2])
def test_a_key_is_called_once_for_each_item_in_order(last):
    def f(a, b):
        log = []

        def key(t):
            log.append(t)
            return -t

        return sorted([b, a, last], key=key), max([a, last, b], key=key), log

    check_calls(f, *INPUTS)


def test_identity_of_numbers_of_different_kinds_and_of_bools():
    def f(a, x, c):
        found = []
        for value in (a, x, c, a > 1, None, "text", True):
            found += [value is True, value is False, value is not True, value is None]
        t, u = a > 2, x > 1
        found += [t is u, t is c, c is c, a is x, a is c, a is not None]
        match a:
            case True:
                found.append("true")
            case 3:
                found.append("three")
        match t:
            case True:
                found.append("true")
            case False:
                found.append("false")
        return found

    check_calls(f, (1, 0.5, True), (3, 2.0, False))


@pytest.mark.parametrize(
    "function",
    [
        lambda a: {0: a}[1],
        lambda a: (a, 1)[5],
        lambda a: [a][5],
        lambda a: "abc"[7] + str(a),
        lambda a: [1].index(2) + a,
        lambda a: {}.popitem()[0] + a,
    ],
)
def test_errors_of_known_containers_are_part_of_the_graph(function):
    check_calls(function, (1,), (2,))


def numpy_items(x):
    return (x[0],) == (1.0,), (x[0],) != (1.0,), x[0] in [3.0, 1.0], x[0] not in (2.0,), (x[0], 2) == (x[1], 2)


def test_containers_of_numpy_scalars_compare_to_bools():
    compiled = autoconv.compile(numpy_items)
    for x in (np.array([1.0, 1.0]), np.array([2.0, 1.0])):
        found = compiled(x)
        assert found == numpy_items(x) and {type(value) for value in found} == {bool}


@pytest.mark.parametrize("function", [lambda x: 1 < x, lambda x: 2.5 >= x, lambda x: "a" <= x, lambda x: None > x])
def test_errors_name_operands_and_operator_in_the_order_of_the_source(function):
    compiled = autoconv.compile(function)
    for argument in ([1, 2], {"a": 1}):
        assert outcome(compiled, (argument,)) == outcome(function, (argument,))
