"""Patterns: subclasses of Python's own classes, too many positional patterns, starred parts of other sequences."""

import collections
import itertools

import pytest

import autoconv as ac


class Count(int):
    pass


class Point:
    __match_args__ = ("x",)

    def __init__(self, x):
        self.x = x


class Bare:
    pass


class Listed:
    __match_args__ = ["x"]  # noqa: RUF012 - the error is tested
    x = 1


def names_in_a_list(a):
    match Listed():
        case Listed(x):
            return x + a


def subclass_of_int(a):
    match Count(5):
        case Count(x):
            return x + a
    return a


def too_many_for_another_class(a):
    match 5:
        case Point(1, 2):
            return a
        case _:
            return 2 + a


def too_many_for_a_point(a):
    match Point(a):
        case Point(1, 2):
            return a


def too_many_for_an_int(a):
    match 5:
        case int(1, 2):
            return a


def one_for_a_bare_object(a):
    match Bare():
        case Bare(1):
            return a


@pytest.mark.parametrize("contract", [ac.compile, ac.function])
def test_results(contract):
    for function in (subclass_of_int, too_many_for_another_class):
        assert int(contract(function)(3)) == function(3)


@pytest.mark.parametrize("contract", [ac.compile, ac.function])
@pytest.mark.parametrize(
    "function", [too_many_for_a_point, too_many_for_an_int, one_for_a_bare_object, names_in_a_list]
)
def test_errors(contract, function):
    with pytest.raises(TypeError) as expected:
        function(3)
    with pytest.raises(TypeError) as raised:
        contract(function)(3)
    assert str(raised.value) == str(expected.value)


def starred_part_of_a_deque(a):
    match collections.deque([a, a + 1, a + 2, a + 3]):
        case [first, *middle, last]:
            return [first, *middle, last], len(middle)


@pytest.mark.parametrize("contract", [ac.compile, ac.function])
def test_starred_pattern_of_a_sequence_without_slices(contract):
    items, count = contract(starred_part_of_a_deque)(3)
    assert ([int(item) for item in items], int(count)) == starred_part_of_a_deque(3)


def test_islice_skips_to_its_start_even_beyond_its_stop():
    def f(a):
        numbers = (x * a for x in range(6))
        return list(itertools.islice(numbers, 4, 2)), next(numbers)

    assert ac.compile(f)(3) == f(3)
