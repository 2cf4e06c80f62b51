"""Loops over elements: negative positions and ones out of range, signs of divisions, ints that grow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autoconv.backends.llvm.codegen.region import Region
from tests.tracing.plain_comparison import check_against_plain

pytestmark = pytest.mark.optimised
LEAST, MOST = -(2**63), 2**63 - 1


def changed_where_large(a: Any, places: Any) -> Any:
    total = 0.0
    for i in range(len(places)):
        total += a[places[i]]
        if a[places[i]] > 2:
            a[places[i]] -= 1
        elif i > 1:
            total += a[places[i - 1]] + a[i - 2]
    return total


def caught(a: Any, places: Any) -> Any:
    total, missed = 0.0, 0
    for i in range(len(places)):
        try:
            total += a[places[i]]
            a[places[i]] = total
        except IndexError:
            missed += i
        total += a[i % len(a)]
    return total, missed


def inserted(a: Any, places: Any) -> Any:
    for i in range(1, len(a)):
        x, j = a[i], i - 1
        while j >= 0 and a[j] > x:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = x
    return a, places


@pytest.mark.parametrize("program", [changed_where_large, caught, inserted])
def test_negative_and_out_of_range_positions(program: Any) -> None:
    draws = np.random.default_rng(0)
    calls = []
    for size, low, high in [(6, 0, 6), (6, -6, 6), (9, -9, 9), (7, -9, 7), (8, -8, 9), (1, -1, 1), (30, -30, 30)]:
        calls.append((draws.integers(0, 5, size).astype(float), draws.integers(low, high, 40)))
    calls += [(np.array([1.0, 3.0]), np.array([0, LEAST])), (np.ones(3), np.array([1, MOST]))]
    check_against_plain(program, *calls)


def divided(xs: Any, ys: Any) -> Any:
    found = np.zeros((4, len(xs)), np.int64)
    for i in range(len(xs)):
        found[0, i], found[1, i] = xs[i] // ys[i], xs[i] % ys[i]
        x, y = int(xs[i]), int(ys[i])
        found[2, i], found[3, i] = x // y, x % y
    return found


def test_signs_of_divisions() -> None:
    numbers = np.array([LEAST, LEAST + 1, -7, -2, -1, 0, 1, 2, 7, 2**31, 2**32 + 1, MOST])
    xs, ys = (item.ravel() for item in np.meshgrid(numbers, numbers[numbers != 0]))
    fits = (xs != LEAST) | (ys != -1)
    check_against_plain(divided, (xs[fits], ys[fits]), (xs[:3], ys[3:6]))
    check_against_plain(divided, (np.array([3, LEAST]), np.array([2, -1])))


def grown(values: Any, start: int) -> Any:
    steps, position, low = 0, start, -start
    while position > 0 and steps < len(values):
        if values[steps] > 2:
            position += 3
        low -= 2
        steps += 1
    return steps, position, low, position * 2 - low


def test_ints_that_grow_beyond_64_bits() -> None:
    values = np.arange(12) % 5
    check_against_plain(grown, *((values, start) for start in (1, 5, 2**62 - 3, MOST - 4, MOST)))


def distance(a: Any, b: Any) -> Any:
    n, m = len(a), len(b)
    table = np.full((n + 1, m + 1), np.inf)
    table[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            table[i, j] = abs(a[i - 1] - b[j - 1]) + min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return table[n, m], table[n - 1 + 1, m - 0]


def convolved(a: Any, b: Any) -> Any:
    n, out = len(a), np.zeros(len(a))
    for i in range(1, n):
        for j in range(1, i + 1):
            out[i] += a[i - j] * a[j] + a[n - 1 - j]
    return out, b


@pytest.mark.parametrize("program", [distance, convolved])
def test_bounds_of_counters_bound_indices(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    checked, write = [], Region.raise_and_leave_if
    monkeypatch.setattr(Region, "raise_and_leave_if", lambda *args: (checked.append(args[1]), write(*args)))
    usual, unusual = [(5, 7), (9, 4), (12, 8), (3, 3), (20, 31)], [(1, 6), (0, 2), (6, 1), (1, 1), (2, 0)]
    check_against_plain(program, *[(np.arange(n) * 1.5, np.sin(np.arange(m))) for n, m in usual])
    assert not [node for node in checked if node.name.startswith("while")]
    check_against_plain(program, *[(np.arange(n) * 1.5, np.sin(np.arange(m))) for n, m in usual + unusual])
