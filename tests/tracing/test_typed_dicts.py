"""Dicts and sets with ints or tuples of ints as keys become typed dicts: results, orders, errors are plain Python's."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

import autoconv
from tests.tracing.plain_comparison import case_name, check_case


def distances(n):
    distance = {(0, 0): 0}
    waiting = deque([(0, 0)])
    while waiting:
        row, column = waiting.popleft()
        for a, b in ((row, column + 1), (row + 1, column), (row, column - 1)):
            if 0 <= a < n and 0 <= b < n and (a, b) not in distance and (a * 7 + b * 3) % 5:
                distance[a, b] = distance[row, column] + 1
                waiting.append((a, b))
    return distance


def life(n):
    cells = set()
    for i in range(n):
        cells.add((i, i * i % n))
    for _ in range(3):
        counts = {}
        for x, y in cells:
            for dx in (-1, 0, 1):
                for dy in (-1, 0, 1):
                    if dx or dy:
                        cell = (x + dx, y + dy)
                        counts[cell] = counts.get(cell, 0) + 1
        cells = set()
        for cell, count in counts.items():
            if count == 3 or count == 2:
                cells.add(cell)
    return cells


def lattice_paths(n):
    memo = {}

    def paths(i, j):
        if i == 0 or j == 0:
            return 1
        if (i, j) in memo:
            return memo[i, j]
        memo[i, j] = paths(i - 1, j) + paths(i, j - 1)
        return memo[i, j]

    return paths(n, n), len(memo)


def sets_of_ints(n):
    """Hashes of ints are remainders by 2 ** 61 - 1, and that of -1 is -2."""
    numbers = {-2, -1}
    for i in range(n):
        numbers.add((i * 7919 - 3000) * (1 << i % 62))
    numbers.add((1 << 61) - 1)
    numbers.add(-(1 << 61))
    order = []
    for x in numbers:
        order.append(x)
    return order, numbers, bool(numbers)


def nested_keys(n):
    values = {}
    for i in range(n):
        values[i % 5, (i % 3, -i)] = (i * 0.5, i % 2 == 0)
    total = 0.0
    for (a, (b, c)), (x, is_even) in values.items():
        total += a + b * c + x + is_even
    return total, values


def parts(n):
    squares = dict()  # noqa: C408
    for i in range(n):
        squares[i * 5 % 7] = i * i
        squares.setdefault(i, -1)
    out = []
    for key in squares:
        out.append(key)
    for key in squares.keys():  # noqa: SIM118
        squares[key] = squares[key] + 1
    for value in squares.values():
        out.append(value)
    if squares:
        squares.clear()
    out.append(len(squares))
    squares[1] = 5
    return out, squares, squares.get(2, 7), squares.get(1, 8)


def functions_of_views(n):
    counts, halves, members = {}, {}, set()
    for i in range(n):
        counts[i * i % 23, i % 3] = counts.get((i * i % 23, i % 3), 0) + i
        halves[i * 7 % 31] = i * 0.5
        members.add((i * 5 % 13, -i % 4))
    ordered = sorted(counts), sorted(counts.items()), sorted(members), sorted(halves.values(), reverse=True)
    listed = list(counts.keys()), list(halves.values()), list(members), list(halves), list(counts.items())
    ends = max(counts.values()), min(counts), max(counts.items()), max(members), min(halves.values())
    ordered[0].append((7, 7))
    listed[4].append(((7, 7), 7))
    return ordered, listed, ends, sum(counts.values()), sum(halves.values()), len(counts.items()), any(halves)


def extremes_by_value(n):
    counts = {}
    for i in range(n):
        counts[i % 7] = counts.get(i % 7, 0) + i * i % 11
    by_value = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return max(counts, key=lambda key: counts[key]), min(counts.items(), key=lambda entry: entry[1]), by_value


def empty_values(n):
    counts = {0: 0}
    if n:
        counts.clear()
    return max(counts.values())


def shared(n):
    first = {1: 2}
    second = first
    for i in range(n):
        second[i] = i
    return first, len(second)


def missing_key(n):
    values = {(0, 1): 2}
    for i in range(n):
        values[i, i] = i
    return values[n, n]


def missing_in_a_try(n):
    values = {0: 0.5}
    total = 0.0
    for i in range(n):
        try:
            total += values[i % 3]
        except KeyError:
            total += 100.0
            values[i] = 0.25
    return total, values


def added_during_iteration(n):
    values = {0: 0}
    for i in range(n):
        values[i] = i
    for key in values:
        values[key + n - 1] = 0
    return values


def added_to_a_set_during_iteration(n):
    values = {0}
    for key in values:
        values.add(key + n)
    return len(values)


def grown(n):
    values = set()
    for i in range(n):
        values.add((i * 7919 % 10007, -i))
    total = 0
    for a, b in values:
        total = (total * 31 + a - b) % 1000003
    return total


def values_of_two_kinds(n):
    values = {0: 1}
    for i in range(n):
        values[i] = i * 0.5
    return values


def keys_of_two_kinds(n):
    values = {True: 1}
    for i in range(n):
        values[i] = i
    return values, {1.0: 2}.get(n, 3)


def removals(n):
    values, members = {}, set()
    for i in range(n):
        values[i] = i
        members.add((i, i))
        if i % 3 == 0:
            del values[i // 2]
            members.discard((i // 2, i // 2))
    return values, members


def union(n):
    values = {n: 0}
    values |= {n + 1: 1}
    return values


def in_a_list(n):
    dicts = []
    for i in range(n):
        dicts.append({i: i})
    return dicts


def ints_beyond(n):
    powers = {0: 1}
    for i in range(n):
        powers[i + 1] = powers[i] * 3
    return powers[n]


CASES = [
    (distances, (6,), True), (life, (9,), True), (lattice_paths, (6,), True), (sets_of_ints, (0,), True),
    (sets_of_ints, (200,), True), (nested_keys, (9,), True), (parts, (9,), True), (functions_of_views, (40,), False),
    (functions_of_views, (90,), False), (extremes_by_value, (30,), False), (empty_values, (0,), True),
    (empty_values, (1,), True), (shared, (4,), True),
    (missing_key, (1,), True), (missing_key, (3,), True), (missing_in_a_try, (9,), False),
    (added_during_iteration, (1,), True), (added_during_iteration, (4,), True),
    (added_to_a_set_during_iteration, (0,), True), (added_to_a_set_during_iteration, (3,), True),
    (grown, (3000,), True), (values_of_two_kinds, (4,), False), (keys_of_two_kinds, (3,), False),
    (removals, (1,), False), (removals, (9,), False), (in_a_list, (3,), False), (ints_beyond, (9,), True),
    (ints_beyond, (60,), True),
]  # fmt: skip


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case_name(case)[:40])
@pytest.mark.search
def test_as_plain_python(case: Any, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check_case(case, backend, monkeypatch)


def test_large_set_in_its_order() -> None:
    """Above 50,000 elements, a set grows by half as much."""
    def program(n):
        numbers = set()
        for i in range(n):
            numbers.add(i * 7919 % 1000003)
        total = 0
        for x in numbers:
            total = (total * 31 + x) % 1000003
        return total

    compiled = autoconv.compile(program)
    assert [compiled(70000) for _ in range(2)] == [program(70000)] * 2


def test_explain_names_why_a_dict_stays_an_object() -> None:
    compiled = autoconv.compile(union)
    assert repr(compiled(1)) == repr(union(1))
    assert "a dict stays an object: ior has no native form for these operands" in compiled.explain()
