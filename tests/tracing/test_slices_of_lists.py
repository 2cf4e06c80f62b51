"""Slices of lists of numbers are read with steps, replaced and deleted, and items inserted, as in plain Python."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import autoconv

BOUNDS = (-9, -4, -1, 0, 2, 5, 9)


def read(n, start, stop):
    xs = [i * 3 for i in range(n)]
    return xs[start:stop:-1], xs[start:stop:2], xs[stop::-2], xs[:start:-3], xs[start::3], xs[::-1], xs[:stop]


def reversed_prefixes(n):
    xs = [0.5 * i for i in range(n)]
    flips = 0
    for k in range(n):
        xs[: k + 1] = xs[k::-1]
        flips += 1
    return xs, flips


def replace(n, start, stop, count):
    xs = list(range(n))
    ys = [-i for i in range(count)]
    xs[start:stop] = ys
    xs[stop:] = [7, 8]
    xs[:0] = xs
    return xs, ys, len(xs)


def replace_itself(n, start, stop):
    xs = [i % 2 == 0 for i in range(n)]
    xs[start:stop] = xs
    return xs


def replace_with_step(n, count):
    xs = list(range(n))
    xs[::2] = [9] * count
    return xs


def insert_and_delete(n, position, index):
    xs = [float(i) for i in range(n)]
    for i in range(20):
        xs.insert(position, -float(i))
    del xs[index]
    return xs, xs.pop(index)


def permute(n):
    xs = list(range(n))
    insert, pop = xs.insert, xs.pop
    for r in range(n):
        insert(r, pop(0))
        insert(-1, pop())
    return xs


CASES = [
    *((read, (n, *bounds)) for n in (0, 1, 6) for bounds in itertools.product(BOUNDS, BOUNDS)),
    *((reversed_prefixes, (n,)) for n in (0, 1, 9)),
    *((replace, (n, *bounds, 3)) for n in (0, 6) for bounds in itertools.product(BOUNDS, BOUNDS)),
    *((replace, (6, 2, 4, count)) for count in (0, 1, 2, 40)),
    *((replace_itself, (n, *bounds)) for n in (0, 6) for bounds in itertools.product(BOUNDS, BOUNDS)),
    *((replace_with_step, (n, count)) for n in (0, 5, 6) for count in (0, 3, 4)),
    *((insert_and_delete, (4, position, index)) for position in BOUNDS for index in (*BOUNDS, 30)),
    *((permute, (n,)) for n in (1, 2, 7)),
]


def outcome(function: Any, arguments: tuple[int, ...]) -> object:
    try:
        return function(*arguments)
    except (IndexError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.parametrize(
    "function", [read, reversed_prefixes, replace, replace_itself, replace_with_step, insert_and_delete, permute]
)
def test_slices(function):
    compiled = autoconv.compile(function)
    for case_function, arguments in CASES:
        if case_function is function:
            expected, found = outcome(function, arguments), outcome(compiled, arguments)
            assert (arguments, found, repr(found)) == (arguments, expected, repr(expected))
    explanation = compiled.explain()
    assert "1 trace" in explanation and "plain Python:" not in explanation
    assert ("typed_list_replace" in explanation) is (function is replace_with_step)
    assert "typed_list_slice" not in explanation and "typed_list_change" not in explanation
