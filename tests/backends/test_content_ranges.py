"""Ranges of integers in arrays and states: which numbers have one, and that sums that may overflow still warn."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest

import autoconv
from autoconv.ops.analysis.alias import Overlaps
from autoconv.ops.analysis.content_ranges import content_ranges
from autoconv.ops.analysis.integer_ranges import integer_ranges

pytestmark = pytest.mark.optimised
MAX_INT64 = 2**63 - 1


def counted(places: Any) -> Any:
    counts = np.zeros(8, np.int64)
    for i in range(len(places)):
        counts[places[i]] += 1
    return counts


def edited(a: Any) -> Any:
    table, least = np.zeros((len(a) + 1, len(a) + 1), np.int64), 0
    for i in range(1, len(a) + 1):
        for j in range(1, len(a) + 1):
            cost = 0 if a[i - 1] == a[j - 1] else 3
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] - 2, table[i - 1, j - 1] + cost)
            least = min(least, table[i, j])
    return table, least


def rolled(a: Any) -> Any:
    before = np.full(len(a), 5)
    for _ in range(len(a)):
        row = before.copy()
        for j in range(1, len(a)):
            row[j] = max(before[j], row[j - 1] + (a[j] & 3))
        before = row
    return before


def doubled(a: Any) -> Any:
    sums = np.ones(70, np.int64)
    for i in range(69):
        sums[i + 1] = sums[i] + sums[i]
    return sums, a


def near_the_end(a: Any) -> Any:
    found = np.full(len(a), MAX_INT64 - 3)
    for i in range(len(a)):
        for _ in range(i):
            found[i] += 1
    return found


def copied(a: Any) -> Any:
    result = a.copy()
    for i in range(len(result)):
        result[i] += 1
    return result


def written_through_a_view(a: Any) -> Any:
    result, total = np.zeros(len(a), np.int64), 0
    part = result[1:]
    part[:] = a[:-1]
    for i in range(len(a)):
        result[i] += 1
        total = result[i] - 1
    return result, total


def passed_on(a: Any) -> Any:
    first, second, best = np.zeros(len(a), np.int64), np.zeros(len(a), np.int64), np.int64(0)
    for i in range(len(a)):
        best = max(best, a[i])
        first[i] = best
        second[i] = first[i] + 1
    return second


def restarted(a: Any) -> Any:
    run, longest = np.zeros(1, np.int64), 0
    for i in range(len(a)):
        run[0] = run[0] + 1 if a[i] > 2 else 0
        longest = max(longest, run[0])
        if longest > 4:
            longest = a[i]
    return longest + 1, run


def of_32_bits(a: Any) -> Any:
    table = np.zeros((len(a) + 1, 8), np.int32)
    for i in range(1, len(a) + 1):
        for j in range(1, 8):
            cost = 0 if a[i - 1] == j else 1
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + cost)
    return table


def beyond_32_bits(a: Any) -> Any:
    sums, ends = np.zeros(2, np.int32), np.full(len(a), 2**31 - 3, np.int32)
    for i in range(len(a)):
        for _ in range(30):
            sums[0] += np.int32(2**24)
        ends[i] += np.int32(3 * (i % 2))
        sums[1] -= ends[i]
    return sums, ends


def numbered(a: Any) -> Any:
    row, end = np.arange(len(a) + 1), np.arange(MAX_INT64 - 7, MAX_INT64)
    for i in range(1, len(a) + 1):
        before, row[0] = row[0], i
        for j in range(1, len(a) + 1):
            least = min(row[j] + 1, row[j - 1] + 1, before + (a[i - 1] != a[j - 1]))
            before, row[j] = row[j], least
    return row, end


def numbered_near_the_end(a: Any) -> Any:
    rising, falling = np.arange(MAX_INT64 - 7, MAX_INT64), np.arange(3, -4, -1)
    for i in range(len(a)):
        rising[i % 7] += 1 + a[i] % 3
        falling[i % 7] -= 1
    return rising, falling


def call_program(program: Any, a: Any) -> Any:
    argument = copy.deepcopy(a)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = program(argument)
    return result, argument, sorted({str(item.message) for item in found})


@pytest.mark.parametrize(
    "program",
    [counted, edited, rolled, doubled, near_the_end, copied, written_through_a_view, passed_on, restarted, of_32_bits,
     beyond_32_bits, numbered, numbered_near_the_end],
)
def test_sums_that_overflow_warn(program: Any) -> None:
    compiled = autoconv.compile(program)
    draws = np.random.default_rng(0)
    calls = [draws.integers(0, 8, size) for size in (7, 7, 12, 9, 7)]
    if program is not counted:
        calls.append(np.array([3, 3, 3, 3, 3, 3, MAX_INT64]))
        calls.append(np.array([MAX_INT64, 1, 2, -MAX_INT64 - 1, MAX_INT64, MAX_INT64, 0]))
    for a in calls:
        for found, expected in zip(call_program(compiled, a), call_program(program, a), strict=True):
            np.testing.assert_equal(found, expected)


@pytest.mark.parametrize(
    ("program", "bounded"),
    [(counted, True), (edited, True), (rolled, True), (restarted, True), (of_32_bits, True), (beyond_32_bits, False),
     (numbered, True)],
)
def test_numbers_with_a_range(program: Any, bounded: bool) -> None:
    graph = autoconv.compile(program).get_concrete_function(np.arange(7) % 4).optimised
    found = content_ranges(graph, Overlaps(graph), integer_ranges(graph))
    sums = [
        value for node in graph.walk() if node.op.name in ("add", "subtract") and node.results[0].type.shape == ()
        for value in node.results
    ]  # fmt: skip
    assert sums
    assert any(value in found for value in sums) is bounded
    assert all(-(2**62) < low <= high < 2**62 for low, high in found.values())
