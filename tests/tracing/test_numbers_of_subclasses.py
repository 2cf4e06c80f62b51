"""Numbers of subclasses of int and float, such as members of enumerations, keep their class under `compile`."""

import enum

import numpy as np
import pytest

import autoconv as ac


class Kind(enum.IntEnum):
    OTHER = 0
    LETTER = 1
    DIGIT = 2


class Length(float):
    pass


class Count(int):
    pass


SHORT, LONG, ONE, MANY = Length(1.5), Length(2.0), Count(1), Count(7)


def chosen(n):
    return Kind.LETTER if n > 1 else Kind.OTHER


def returned(n):
    if n == 0:
        return Kind.DIGIT
    if n == 1:
        return Kind.LETTER
    return Kind.OTHER


def beside_numbers(n):
    kind = Kind.LETTER if n > 1 else 5
    return kind, kind + 1, -kind, kind < 3


def of_other_classes(n):
    return (SHORT if n > 1 else LONG), (ONE if n > 2 else MANY), (ONE if n > 0 else True)


def changed_in_a_loop(n):
    kind = Kind.OTHER
    for k in range(n):
        kind = Kind.DIGIT if k % 2 else Kind.LETTER
    return kind, kind == Kind.DIGIT


def counted_up(n):
    kind = Kind.OTHER
    for _ in range(n):
        kind = kind + 1
    return kind


def used(n):
    kind = Kind.LETTER if n > 1 else Kind.OTHER
    return {Kind.LETTER: "x", Kind.OTHER: "y"}[kind], [10, 20][kind], kind.name, kind is Kind.LETTER


def gathered(n):
    return [Kind.LETTER if k % 2 else Kind.DIGIT for k in range(n)]


@pytest.mark.parametrize(
    "function", [chosen, returned, beside_numbers, of_other_classes, changed_in_a_loop, counted_up, used, gathered]
)
def test_results_are_the_same_objects_as_in_plain_python(function):
    compiled = ac.compile(function)
    for n in (0, 1, 2, 3, 5):
        assert repr(compiled(n)) == repr(function(n)), n


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Added(float):
    def __add__(self, other):
        return f"{float(self)} + {other}"


LEVELS, SUMS, SCALARS = [Level.LOW, Level.HIGH], (Added(1), Added(2)), [np.float64(1.5), np.float64(2.5)]


def chosen_level(x, k):
    return LEVELS[k % 2], LEVELS[k % 2] == 2, x


def chosen_and_added(x, k):
    return SUMS[k % 2] + 1, x


def chosen_scalar(x, k):
    return SCALARS[k], SCALARS[k - 1] * 2, SCALARS[k] + x


def levels_of_a_loop(x, k):
    found = [LEVELS[i % 2] for i in range(k)]
    return found, {LEVELS[i % 2]: i for i in range(k)}, max(LEVELS[k % 2], LEVELS[0])


def levels_of_an_argument(x, k, levels=LEVELS):
    return levels[k % 2], levels[0]


@pytest.mark.parametrize(
    "function", [chosen_level, chosen_and_added, chosen_scalar, levels_of_a_loop, levels_of_an_argument]
)
def test_a_number_chooses_an_item_of_a_subclass_of_int_or_float(function):
    compiled = ac.compile(function)
    for x, k in ((1.5, 0), (2.5, 1), (0.5, -1), (3.5, 1), (3.5, 5)):
        found = []
        for run in (function, compiled):
            try:
                found.append(repr(run(x, k)))
            except IndexError as error:
                found.append(str(error))
        assert found[0] == found[1]
