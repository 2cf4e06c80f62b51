"""Dicts with a value for missing keys, `defaultdict` and `Counter`, and `get` with such a value are native."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest

from tests.tracing.plain_comparison import case_name, check_case


def sums_of_ints(n):
    sums = defaultdict(int)
    for i in range(n):
        sums[i * 7 % 13] += i
    return sums, sums[n], len(sums)


def sums_of_floats(n):
    sums = defaultdict(float)
    for i in range(n):
        sums[i * 7 % 13, i % 2] += i * 0.5
    return sums, sums[77, 1], len(sums), sums.get((99, 1), 2.5)


def seen_before(n):
    seen, count = defaultdict(bool), 0
    for i in range(n):
        if seen[i * i % 11]:
            count += 1
        else:
            seen[i * i % 11] = True
    return count, seen


def read_during_iteration(n):
    """A read of a missing key inserts it, so that the iteration raises."""
    sums, total = defaultdict(int), 0
    for i in range(n):
        sums[i] += i
    for key in sums:
        total += sums[key + 1]
    return total


def counted(n):
    counts = Counter()
    for i in range(n):
        counts[i * i % 13] += 1
    missing = counts[n + 100]
    return counts, missing, len(counts), counts.most_common(3), counts.most_common(), sum(counts.values())


def most_common_of_computed_number(n):
    counts = Counter()
    for i in range(n):
        counts[i % 5, i % 3] -= i
    return counts.most_common(n - 10)


def count_list(numbers):
    counts = Counter(numbers)
    counts[7] += 2
    return counts, counts.most_common(2)


def floats_by_get(n):
    sums, total = {}, 0.0
    for i in range(n):
        sums[i % 7] = sums.get(i % 7, 0) + i * 0.5
    for i in range(n):
        total -= sums.get(i, 0) * 1.5
    return sums, total


def ints_times_floats(n):
    counts, total = {}, 0.0
    for i in range(n):
        counts[i % 7] = counts.get(i % 7, 0) + i
    for i in range(n):
        total += counts.get(i, 0) * 0.5
    return counts, total


def int_default_of_floats(n):
    """The result is an int or a float."""
    halves = {0: 0.5}
    return halves.get(n, 0)


def int_defaults_of_floats(n):
    sums = defaultdict(int)
    for i in range(n):
        sums[i] += i * 0.5
    return sums, sums[n]


def list_factory(n):
    groups = defaultdict(list)
    groups[n].append(n)
    return groups


CASES = [
    (sums_of_ints, (0,), True), (sums_of_ints, (40,), True), (sums_of_floats, (60,), True), (seen_before, (30,), True),
    (read_during_iteration, (1,), True), (read_during_iteration, (5,), True), (counted, (50,), True),
    (counted, (0,), True), (most_common_of_computed_number, (4,), True), (most_common_of_computed_number, (17,), True),
    (count_list, ([*range(9), 3, 4, 3, -1, 7] * 3,), True), (floats_by_get, (20,), True),
    (ints_times_floats, (20,), True), (int_default_of_floats, (0,), False), (int_default_of_floats, (1,), False),
    (int_defaults_of_floats, (3,), False), (list_factory, (3,), False),
]  # fmt: skip


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case_name(case)[:40])
@pytest.mark.search
def test_as_plain_python(case: Any, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check_case(case, backend, monkeypatch)
