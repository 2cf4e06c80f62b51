"""Numbers that are an int constant or a float, by the path, in loops: results and their classes are plain Python's."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS


def largest(xs):
    best = 0
    for x in xs:
        if x > best:
            best = x
    return best


def largest_position(xs):
    best, position = -1, None
    for i in range(len(xs)):
        if not xs[i] <= best:
            best, position = xs[i], i
    return best, position


def least(xs):
    least = 10**9
    for x in xs:
        least = min(least, x)
    return least


def restarts(xs):
    total = best = 0
    for x in xs:
        total = max(0, total + x)
        best = max(best, total)
    return total, best


def resets(xs):
    level = 0
    for x in xs:
        if level + x > 2:
            level = 0
        elif x > 0:
            level = level + x
    return level


def two_numbers(xs):
    low = high = 0
    for x in xs:
        if x < low:
            low = x
        if x > high:
            high = x
        elif x == high:
            low = 0
    return low, high


def divides(xs):
    scale = 1
    for x in xs:
        if x / scale > 2:
            scale = x
    return scale


def an_int_that_changes(xs):
    found = 0
    for count, x in enumerate(xs, 1):
        found = x if x > found else count
    return found


def in_an_outer_loop(xs):
    best = 0
    for i in range(len(xs)):
        total = 0
        for x in xs[: i + 1]:
            if total + x > total:
                total = x
        if total > best:
            best = total
    return best


def two_ints(xs):
    first, second = 0, -1
    for x in xs:
        if x > 1:
            first, second = x, x
        elif x < -1:
            first, second = 0, -1
        elif x > first:
            first = x
        elif x > second:
            second = x
    return first, second


def deep_arms(xs):
    level = 0
    for x in xs:
        if x > 0:
            if x > 1:
                level = level + x if x < level + 9 else 0
            elif level > 1:
                level = 0
        elif x < -1 and level < 2:
            level = x
    return level


def read_after_the_loop(xs):
    best = 0
    for x in xs:
        if x > best:
            best = x
    return best if best else best + 1, best * 2, type(best).__name__


def largest_in_a_nest(xs):
    best, where = 0, None
    for i in range(3):
        for j in range(len(xs)):
            if xs[j] - i > best:
                best, where = xs[j] - i, (i, j)
    return best, where


def least_in_a_deep_nest(xs):
    least = 2
    for i in range(2):
        for j in range(2):
            for x in xs:
                if x + i * j < least:
                    least = x + i * j
    return least


def changed_between_loops(xs):
    best = 0
    for i in range(3):
        for x in xs:
            if x > best:
                best = x
        if best > i:
            best = 0
    return best


def changed_before_inner_loops(xs):
    best = 0
    for i in range(3):
        if i == 2:
            best = 0.5
        for _ in range(2):
            for x in xs:
                best = x if x < best else best
    return best


def tag_of_an_outer_loop(xs):
    low = high = 0
    for i in range(3):
        for x in xs:
            if x < low:
                low = x
            for y in xs[:1]:
                if y + i > high:
                    high, low = y + i, 0
    return low, high


def least_from_infinity(xs):
    least = float("inf")
    for x in xs:
        least = min(least, x)
    return least


def least_or_greatest(xs):
    least, greatest, between = 0.5, 0.5, 0
    for x in xs:
        if x > greatest:
            greatest = x
        elif x < least:
            least = x
        elif x != 0:
            between = x
    return least, greatest, between


def greatest_below(xs):
    greatest = -5.0
    for x in xs:
        if x < 2.0 and not x <= greatest:
            greatest = x
    return greatest


def greatest_with_resets(xs):
    greatest = 0.5
    for x in xs:
        if x > greatest:
            greatest = x
        elif x == -1.5:
            greatest = 0.5
    return greatest


def both_directions(xs):
    last = 0.0
    for x in xs:
        if x > last:
            last = x
        elif x < last:
            last = x * 1
    return last


def read_in_the_loop(xs):
    greatest, floats = 0.0, 0
    for x in xs:
        greatest = max(greatest, x)
        floats += type(greatest) is float
    return greatest, floats


def greatest_of_each_row(xs):
    total, worst = 0, -1
    for i in range(3):
        best = -1
        for x in xs:
            best = max(best, x - i)
        total += best
        worst = min(worst, best)
    return total, worst


FUNCTIONS = [
    largest, largest_position, least, restarts, resets, two_numbers, divides, an_int_that_changes, in_an_outer_loop,
    two_ints, deep_arms, read_after_the_loop, largest_in_a_nest, least_in_a_deep_nest, changed_between_loops,
    changed_before_inner_loops, tag_of_an_outer_loop, least_from_infinity, greatest_below, greatest_with_resets,
    least_or_greatest, both_directions, read_in_the_loop, greatest_of_each_row,
]  # fmt: skip
ROWS = [[], [1.0], [-1.0], [-0.0], [0.0, -0.0], [float("nan")], [1.0, float("nan"), 2.0], [float("inf"), -1.0]]
ROWS += [list(row) for row in itertools.product([-1.5, 0.0, 0.5, 3.0], repeat=3)]


def outcome(function: Callable[..., Any], row: Any) -> str:
    with np.errstate(all="ignore"):
        try:
            return repr(function(row))
        except ZeroDivisionError as error:
            return repr(error)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("kind", ["float64", "float32", "floats", "ints"])
def test_results_and_their_classes(function, kind, monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    compiled = autoconv.compile(function)
    for row in ROWS:
        if kind == "ints":
            row = [int(x) for x in row if np.isfinite(x)]
        values = np.array(row, kind) if kind.startswith("float") and kind != "floats" else row
        assert outcome(compiled, values) == outcome(function, values), row
