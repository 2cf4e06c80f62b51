"""Tuples and numbers that a graph or a loop returns are new objects: programs that compare them by `is` run plain."""

import pytest

import autoconv

ITEMS = [(1, 2.0), (3, 4.0), (2, 0.5)]


def _of_the_largest(items):
    best = items[0]
    for item in items:
        if item > best:
            best = item
    return best is items[0], best is max(items)


def _of_a_selection(items):
    chosen = []
    for item in items:
        if item[0] > 1:
            chosen.append(item)
    return chosen[-1] is items[-1], chosen[0] is items[0]


def _of_new_tuples(items):
    first, second = (items[0][0], 2), (items[0][0], 2)
    return first is second, first is first


def _of_numbers(items):
    first, second = 1.5, 0.5
    for item in items:
        first = 0.0
        second = 0.0 if item else first
    return first is second


@pytest.mark.parametrize("program", [_of_the_largest, _of_a_selection, _of_new_tuples, _of_numbers])
def test_identities_are_those_of_plain_python(program):
    compiled = autoconv.compile(program)
    for items in (ITEMS, ITEMS, ITEMS[::-1]):
        assert compiled(items) == program(items)
