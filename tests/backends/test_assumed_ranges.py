"""Native code assumes small ints for calls; those with larger ones give the same results as plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv

pytestmark = pytest.mark.optimised
LIMIT = 2**31
NUMBERS = (3, LIMIT - 1, LIMIT, -LIMIT, -LIMIT - 1, 2**40, -(2**62), 2**63 - 1, -(2**63), 5)


def sum_of_products(count: int, factor: int) -> int:
    total = 0
    for i in range(count):
        total += i * factor
    return total


def moved(x: Any, offset: int) -> Any:
    for i in range(len(x)):
        x[i] += x[(i * 7 + offset) % len(x)]
    return x, offset * 2


def last_position(x: list[float], offset: int) -> Any:
    for i in range(len(x)):
        if x[i] > offset - i:
            return i, x
    return -1, x


@pytest.mark.parametrize("number", NUMBERS)
def test_ints_of_all_sizes(number: int) -> None:
    compiled = autoconv.compile(sum_of_products)
    for count in (6, 1):
        assert compiled(count, number) == sum_of_products(count, number)
        assert compiled(count, 2) == sum_of_products(count, 2)


def test_arrays_are_changed_once() -> None:
    compiled = autoconv.compile(moved)
    for number in NUMBERS:
        for layout in (np.arange(6.0), np.arange(12.0)[::2], np.arange(6)):
            x, y = layout.copy(), layout.copy()
            (result, double), expected = compiled(x, number), moved(y, number)
            assert result is x
            assert (x.tolist(), double) == (y.tolist(), expected[1])


def test_lists_and_captured_ints() -> None:
    numbers = [0.5, -3.0, 1e19, 4.0]
    compiled = autoconv.compile(last_position)
    for number in NUMBERS:
        assert compiled(list(numbers), number) == last_position(list(numbers), number)

    limit = 3

    @autoconv.compile
    def below(x: Any) -> int:
        count = 0
        for i in range(len(x)):
            if x[i] * 2 < limit + i:
                count += 1
        return count

    for limit in NUMBERS:  # the closure reads it
        assert below(np.array([1, 2, 3])) == sum(2 * x < limit + i for i, x in enumerate((1, 2, 3)))
