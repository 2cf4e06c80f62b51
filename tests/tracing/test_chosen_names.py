"""Names of attributes that a condition chooses: `setattr`, `attrgetter` and similar functions support each name."""

from __future__ import annotations

import operator

import pytest

import autoconv


class Pair:
    left, right = 1, 2

    def __init__(self, left=5):
        self.left = left

    def up(self, k):
        return k + 1

    def down(self, k):
        return k - 1


def read(x, y):
    return operator.attrgetter("left" if x < y else "right")(Pair)


def read_of_list(x, y):
    return operator.attrgetter(["left", "right"][x % 2])(Pair), x + y


def read_two(x, y):
    return operator.attrgetter("right", "left" if x < y else "right")(Pair())


def assigned(x, y):
    pair, side = Pair(), "left" if x < y else "right"
    setattr(pair, side, x)
    setattr(pair, side, getattr(pair, side) + y)
    return pair.left, pair.right


def deleted(x, y):
    pair, side = Pair(), "left" if x < y else "right"
    delattr(pair, side)
    return pair.left + x


def called(x, y):
    return operator.methodcaller("up" if x < y else "down", y)(Pair())


def in_a_loop(x, y):
    total = 0
    for k in range(x):
        total += operator.attrgetter("left" if k < y else "right")(Pair)
    return total


@pytest.mark.parametrize("function", [read, read_of_list, read_two, assigned, deleted, called, in_a_loop])
def test_chosen_name(function):
    compiled = autoconv.compile(function)
    for arguments in ((3, 4), (4, 3), (3, 4), (0, 0)):
        assert _outcome(compiled, arguments) == _outcome(function, arguments)


def test_arguments_are_changed():
    def set_side(pair, x, y):
        setattr(pair, "left" if x < y else "right", x)

    compiled, first, second = autoconv.compile(set_side), Pair(), Pair()
    for x, y in ((3, 4), (4, 3), (7, 8)):
        set_side(first, x, y)
        compiled(second, x, y)
        assert vars(first) == vars(second)


def _outcome(function, arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return type(error), str(error)
