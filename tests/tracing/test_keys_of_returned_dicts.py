"""Dicts that a call makes and returns, with keys of the program's own classes."""

import collections
import dataclasses
import datetime
import fractions
import re

import pytest

import autoconv


@pytest.fixture(autouse=True)
def native(monkeypatch):
    monkeypatch.setenv("AUTOCONV_TIERS", "native")


class Even:
    def __init__(self, n=0):
        self.n = n

    def __eq__(self, other):
        return isinstance(other, Even) and (self.n - other.n) % 2 == 0

    def __hash__(self):
        return self.n % 2


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: int


class Plain:
    pass


Pair = collections.namedtuple("Pair", "a b")
KEYS = (
    Even(), Point(1, 2), Plain(), Pair(1, 2), (Point(1, 2), 3), frozenset([Even(1)]), fractions.Fraction(1, 3),
    datetime.date(2024, 1, 1), re.compile("a"), int,
)  # fmt: skip


def display(x, key):
    return {key: x}


def nested(x, key):
    return [1, {"a": ({key: [x, 2 * x]}, x)}]


def stored(x, key):
    table = {1: x + 1}
    table[key] = x
    table[key] += x
    return table


def counted(x, key):
    table = {key: 1}
    for n in range(x):
        table[key] = table[key] + n
    return table, key


def chosen(x, key):
    if x > 2:
        return {key: x}
    return {key: -x, 0: x}


@pytest.mark.parametrize("function", [display, nested, stored, counted, chosen])
def test_keys_from_outside(function):
    for key in KEYS:
        compiled = autoconv.compile(function)
        for x in (1, 2, 3, 4):
            expected, actual = function(x, key), compiled(x, key)
            assert actual == expected and repr(actual) == repr(expected)


@pytest.mark.parametrize("make", [Even, Plain, lambda: Point(1, 2), lambda: (Even(), 1)])
def test_keys_that_the_call_makes_are_new_in_each_call(make):
    compiled = autoconv.compile(lambda x: {make(): x})
    results = [compiled(x) for x in (1, 2, 3)]
    assert [[*result.values()] for result in results] == [[1], [2], [3]]
    first_parts = [key[0] if type(key) is tuple else key for result in results for key in result]
    assert len(set(map(id, first_parts))) == 3
