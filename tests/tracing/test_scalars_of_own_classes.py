"""Scalars of the program's own classes, of which two may have one text, or be equal, and hold different values."""

from __future__ import annotations

import pytest

import autoconv


class Cents(float):
    def __repr__(self):
        return f"{float(self):.0f} ct"


class Phase(complex):
    def __repr__(self):
        return "phase"


class Count(int):
    def __repr__(self):
        return "many"


class Word(str):
    """A text that equals those that differ in upper and lower case."""

    def __eq__(self, other):
        return str.lower(self) == str.lower(other)

    def __hash__(self):
        return hash(str.lower(self))


class Modular(int):
    def __eq__(self, other):
        return int(self) % 5 == int(other) % 5

    def __hash__(self):
        return int(self) % 5


VALUES = [
    [Cents(1.2), Cents(1.4), Cents(1.2), Cents(-0.0), Cents(0.0)],
    [Phase(1), Phase(2j), Phase(1)],
    [Count(1), Count(2), Count(1)],
    [Word("a"), Word("A"), Word("b"), Word("a")],
    [Modular(1), Modular(6), Modular(2), Modular(1)],
]


@pytest.mark.parametrize("values", VALUES, ids=lambda values: type(values[0]).__name__)
def test_values_that_look_or_compare_equal(values):
    @autoconv.compile
    def doubled(x):
        return x * 2

    @autoconv.compile
    def joined(xs):
        return xs[0] + xs[1]

    @autoconv.compile
    def doubled_from_outside():
        return values[0] * 2

    for value in [*values, *values]:
        assert str(doubled(value)) == str(value * 2)
        assert str(joined([value, value])) == str(value + value)
        values[0] = value
        assert str(doubled_from_outside()) == str(value * 2)
