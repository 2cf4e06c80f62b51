"""Zips of lists of numbers and tuples are native: they end with the shortest list, and see changes of the lists."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tracing.plain_comparison import case_name, check_case


def unequal_lengths(n):
    pairs = [(i, i * i) for i in range(n)]
    numbers = [(i * 3) % 7 for i in range(n + 2)]
    total = 0
    for (a, b), x in zip(pairs, numbers):  # noqa: B905
        total += a * x - b
    for x, (a, b), y in zip(numbers, pairs, numbers):  # noqa: B905
        total = total * 3 % 1000003 + a * y - b + x
    for (x,) in zip(numbers):
        total += x
    return total


def neighbours(n):
    numbers = [i * 7919 % 13 * 0.5 for i in range(n)]
    total = 0.0
    for x, y in zip(numbers, numbers[1:]):  # noqa: B905, RUF007
        total += x * y
    return total


def plain_zips(n):
    numbers = [i * 7 % 5 for i in range(n)]
    pairs = [(i, -i) for i in range(n)]
    total = 0
    for round_number in range(3):
        for x, (a, b) in zip(numbers, pairs):  # noqa: B905
            total += x * a - b + round_number
    return total


def changed_meanwhile(n):
    numbers = [i for i in range(n)]  # noqa: C416
    pairs = [(i, 0) for i in range(n)]
    total = 0
    for x, (a, b) in zip(numbers, pairs):  # noqa: B905
        total = total * 5 % 1000003 + x + a * b
        pairs[-1] = (x, 3)
        if len(numbers) < 2 * n:
            numbers.append(x)
        if len(pairs) < n + 2:
            pairs.append((x, 2))
    return total, len(numbers), len(pairs)


def held(n):
    numbers, pairs = [i for i in range(n)], [(i, 2) for i in range(n)]  # noqa: C416
    pairs_of_items = iter(zip(numbers, pairs))  # noqa: B905
    total = 0
    for x, (a, b) in pairs_of_items:
        total += x * a + b
        if total > 5:
            break
    for x, _ in pairs_of_items:
        total += 100 * x
    return total


def rows(n):
    matrix = [[i, i + 1] for i in range(n)]
    numbers = [i * 2 for i in range(n)]
    total = 0
    for row, x in zip(matrix, numbers):  # noqa: B905
        total += row[0] * x
    return total


CASES = [
    (plain_zips, (0,), True), (plain_zips, (7,), True), (changed_meanwhile, (1,), True),
    (changed_meanwhile, (6,), True), (unequal_lengths, (5,), True), (neighbours, (9,), True), (held, (9,), False),
    (rows, (4,), False),
]  # fmt: skip


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case_name(case)[:40])
def test_as_plain_python(case: Any, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check_case(case, backend, monkeypatch)
