"""Dicts whose values are lists of numbers or tuples are native: results, identities and errors are plain Python's."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import pytest

import autoconv
from autoconv.config import SETTINGS
from tests.tracing.plain_comparison import case_name, check_case


def grouped(n):
    groups = defaultdict(list)
    for i in range(n):
        groups[i * 7 % 5].append(i)
    return groups, len(groups)


def grouped_by_membership(n):
    groups = {}
    for i in range(n):
        key = i * 7 % 5, -1
        if key not in groups:
            groups[key] = []
        groups[key].append(i)
    total = 0
    for (a, b), numbers in groups.items():
        for number in numbers:
            total += a * b * number
    return total, groups


def grouped_tuples(n):
    groups = {}
    for i in range(n):
        groups.setdefault(i % 3, []).append((i, i * 0.5))
    longest = max(len(pairs) for pairs in groups.values())
    return longest, groups, sorted(groups), 2 in groups, list(groups), max(groups)


def components(n):
    neighbours, seen, count = {}, set(), 0
    for i in range(n):
        other = (i * i + 1) % n
        neighbours.setdefault(i, []).append(other)
        neighbours.setdefault(other, []).append(i)
    for start in neighbours:
        if start not in seen:
            count += 1
            seen.add(start)
            waiting = [start]
            while waiting:
                node = waiting.pop()
                for other in neighbours.get(node, []):
                    if other not in seen:
                        seen.add(other)
                        waiting.append(other)
    return count


def parts_of_entries(n):
    groups, total = defaultdict(list), 0
    for i in range(n):
        groups[i % 4, i % 3].append(i)
    for entry in groups.items():
        total += len(entry[1]) * entry[0][0]
    for numbers in groups.values():
        total += sum(numbers)
    return total, {key: len(numbers) for key, numbers in groups.items()}


def replaced(n):
    groups = {1: [1, 2], 2: [3]}
    for i in range(n):
        groups[i % 4] = [i, i]
    first = groups[1]
    first.append(7)
    return groups, first[0]


def replaced_by_itself(n):
    groups = {1: [n]}
    for _ in range(n):
        groups[1] = groups[1]
        groups[1].append(n)
    return groups


def kept_after_replacement(n):
    groups = {0: [n]}
    first = groups[0]
    groups[0] = [1]
    first.append(2)
    groups[0].append(3)
    return len(first) * 10 + sum(first), groups


def two_keys_of_one_list(n):
    groups = {}
    groups[1] = [n]
    groups[2] = groups[1]
    groups[2].append(3)
    return groups


def with_a_returned_list(n):
    groups = {}
    for i in range(n):
        groups[i] = [i]
    return groups, groups[0]


def with_an_argument(numbers):
    groups = {}
    for i in range(len(numbers)):
        groups[i % 3] = numbers
    groups[1].append(7)
    return groups


def missing(n):
    groups = {1: [1, 2], 2: [3]}
    return groups[n]


def default_is_not_inserted(n):
    groups = {1: [1]}
    groups.get(n, []).append(5)
    return groups, len(groups.get(7, []))


def added_during_iteration(n):
    groups, total = defaultdict(list), 0
    for i in range(n):
        groups[i].append(1)
    for key in groups:
        total += len(groups[key + 1])
    return total


def deleted(n):
    groups = {}
    for i in range(n):
        groups.setdefault(i % 5, []).append(i)
        if i % 7 == 6:
            del groups[i % 5]
    return groups


def cleared(n):
    groups = {}
    for i in range(n):
        groups.setdefault(i % 5, []).append(i)
        if i % 7 == 6:
            groups.clear()
    return groups


def numbers_and_lists(n):
    values = {0: [1]}
    values[n] = n
    return values


def lists_of_two_kinds(n):
    values = {}
    for i in range(n):
        values[i] = [i] if i % 2 else [0.5]
    values[0].append(n)
    return values


def copied_items(n):
    groups = {n: [n]}
    return list(groups.items()), list(groups.values()), sorted(groups.items())


def popped(n):
    groups = {n: [n], 1: [2]}
    last = groups.pop(n)
    last.append(3)
    return last, groups


def chosen(n):
    groups = {}
    for i in range(n + 2):
        groups[i % 2] = [i]
    target = groups[0] if n > 3 else groups[1]
    target.append(n)
    return groups


CASES = [
    (grouped, (0,)), (grouped, (30,)), (grouped_by_membership, (30,)), (grouped_tuples, (20,)), (components, (40,)),
    (parts_of_entries, (40,)), (replaced, (9,)), (replaced_by_itself, (3,)), (kept_after_replacement, (4,)),
    (two_keys_of_one_list, (1,)), (with_a_returned_list, (1,)), (with_an_argument, ([*range(20)],)), (missing, (1,)),
    (missing, (5,)), (default_is_not_inserted, (1,)), (default_is_not_inserted, (2,)), (added_during_iteration, (0,)),
    (added_during_iteration, (3,)), (deleted, (30,)), (cleared, (30,)), (numbers_and_lists, (3,)),
    (lists_of_two_kinds, (3,)), (copied_items, (3,)), (popped, (3,)), (chosen, (1,)), (chosen, (5,)),
]  # fmt: skip
# Some of the containers of these stay Python objects.
OBJECTS = {"numbers_and_lists", "lists_of_two_kinds", "copied_items", "popped", "with_an_argument",
           "with_a_returned_list"}  # fmt: skip


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case_name(case)[:40])
@pytest.mark.search
def test_as_plain_python(case: Any, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, arguments = case
    check_case((function, arguments, function.__name__ not in OBJECTS), backend, monkeypatch, lists_may_be_built=True)


def test_shared_lists_stay_shared() -> None:
    compiled = autoconv.compile(two_keys_of_one_list)
    for _ in range(3):
        result = compiled(1)
        assert result[1] is result[2]
    groups, first = autoconv.compile(with_a_returned_list)(1)
    assert groups[0] is first
    numbers = [*range(20)]
    groups = autoconv.compile(with_an_argument)(numbers)
    assert groups[0] is groups[1] is numbers


def run_commands(kinds, keys):
    """Apply a list of commands to a dict of lists and a defaultdict of lists, and return what they read."""
    groups, others, out = {}, defaultdict(list), []
    for i, kind in enumerate(kinds):
        key = keys[i]
        if kind == 0:
            groups[key] = [key, i]
        elif kind == 1:
            groups.setdefault(key, []).append(i)
        elif kind == 2:
            others[key].append(i)
        elif kind == 3:
            out.append(len(groups.get(key, [])))
        elif kind == 4:
            if key in groups:
                numbers = groups[key]
                groups[key + 1] = numbers
                numbers.append(-i)
        elif kind == 5:
            if key in groups and len(out) % 4:
                del groups[key]
        elif kind == 6:
            for other, numbers in groups.items():
                out.append(other * 31 + len(numbers))
        elif kind == 7:
            for numbers in others.values():
                if numbers:
                    out.append(numbers[-1])
        elif kind == 8 and key % 20 == 0:
            groups.clear()
        elif kind == 9 and len(others[key]) > 2:
            others[key] = [i]
    return out, groups, others, sorted(groups), [len(numbers) for numbers in others.values()]


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_random_commands(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SETTINGS, "backend", backend)
    compiled = autoconv.compile(run_commands)
    for seed in range(40):
        draw = random.Random(seed)
        size, count = draw.choice([4, 40, 1000]), draw.randrange(20, 300)
        kinds = [draw.randrange(10) for _ in range(count)]
        keys = [draw.randrange(-size // 4, size) for _ in range(count)]
        assert compiled([*kinds], [*keys]) == run_commands(kinds, keys)
