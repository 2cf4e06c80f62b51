"""Numbers of subclasses of Python's own, members of enumerations first of all, stay what they are under `compile`."""

import enum

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
def test_they_are_the_very_objects_that_plain_python_gives(function):
    compiled = ac.compile(function)
    for n in (0, 1, 2, 3, 5):
        assert repr(compiled(n)) == repr(function(n)), n
