"""Removals from dicts and sets are native: what remains, its order and the errors are plain Python's."""

from __future__ import annotations

import random
from typing import Any

import pytest

import autoconv
from autoconv.config import SETTINGS
from tests.tracing.plain_comparison import case_name, check_case


def deleted(n):
    values = {}
    for i in range(n):
        values[i * 7919 % 501] = i
        if i % 3 == 0:
            key = (i // 3) * 7919 % 501
            if key in values and i > key:
                del values[key]
    return values, len(values), bool(values), sum(values.values()), list(values), sorted(values.items())


def all_deleted(n):
    values = {}
    for i in range(n):
        values[i, -i] = i * 0.5
    for i in range(n):
        del values[i, -i]
    is_empty = not values
    values[1, 1] = 2.0
    return values, is_empty, len(values)


def popped(n):
    values, total = {}, 0
    for i in range(n):
        values[i * 7919 % 51] = i
        total += values.pop(i * 31 % 51, -1)
        values.pop(i * 17 % 51, None)
    return total, values


def popped_tuples(n):
    values = {}
    for i in range(n):
        values[i] = i, i * 0.5
    return values.pop(n // 2), values, values.pop(0, (7, 7.5)), values.get(0, (8, 8.5))


def missing_key(n):
    values = {-1: 1}
    for i in range(n):
        values[i] = i
    del values[0]
    del values[n - 1]
    return values.pop(0)


def missing_after_deletion(n):
    values = {}
    for i in range(n):
        values[i, i] = i
    del values[1, 1]
    return values[1, 1]


def missing_key_to_delete(n):
    values = {}
    for i in range(n):
        values[i] = i
    del values[n]
    return values


def popped_items(n):
    values, total = {}, 0
    for i in range(n):
        values[i] = i * i
        if i % 4 == 1:
            del values[i - 1]
        if i % 5 == 4:
            key, value = values.popitem()
            total = total * 3 % 10007 + key - value
    while values:
        key, value = values.popitem()
        total = total * 3 % 10007 + key - value
    return total, values


def popitem_of_empty(n):
    values = {n: n}
    values.popitem()
    return values.popitem()


def deleted_during_iteration(n):
    values = {}
    for i in range(n):
        values[i] = i
    for key in values:
        if key % 3 == 0:
            del values[key]
    return values


def deleted_and_left(n):
    values = {}
    for i in range(n):
        values[i] = i
    for key in values:
        if key % 3 == 2:
            del values[key]
            break
    return values


def replaced_during_iteration(n):
    """The size stays, so that Python goes on, in the order of its own table."""
    values, seen = {}, []
    for i in range(n):
        values[i] = i
    for key in values:
        seen.append(key)
        if key < n:
            del values[key]
            values[key + n] = key
    return seen, values


def deleted_over_a_copy(n):
    values = {}
    for i in range(n):
        values[i] = i * i % 7
    for key in list(values):
        if values[key] == 2:
            del values[key]
    total = 0
    for key, value in values.items():
        total = total * 3 % 10007 + key - value
    return values, total, max(values), min(values.values())


def queue(n):
    """The oldest entry is removed for each new one."""
    values, total = {}, 0
    for i in range(n):
        values[i] = i * 3
        if i >= 10:
            total += values.pop(i - 10)
    return values, total


def cleared(n):
    values, keys = {}, set()
    for i in range(n):
        values[i] = i
        keys.add(i)
        if i % 7 == 6:
            del values[i - 1]
            keys.discard(i - 1)
            values.clear()
            keys.clear()
    order = []
    for key in keys:
        order.append(key)
    return values, order


def sieve(n):
    numbers = set()
    for i in range(2, n):
        numbers.add(i)
    for i in range(2, n):
        if i in numbers:
            for j in range(i * i, n, i):
                numbers.discard(j)
    order = []
    for number in numbers:
        order.append(number)
    return order, len(numbers)


def ordered_set(n):
    """Removed slots are used again, and the table grows without them."""
    numbers, order = set(), []
    for i in range(n):
        numbers.add(i * 7919 % 1009)
        numbers.discard(i * 31 % 1009)
        numbers.add(i * i % 97)
        if i % 5 == 4:
            numbers.remove(i * i % 97)
        if i % 11 == 10:
            order.append(numbers.pop())
    for number in numbers:
        order.append(number)
    return order, sorted(numbers), list(numbers)


def popped_set(n):
    pairs, total = set(), 0
    for i in range(n):
        pairs.add((i * 7919 % 101, -i))
    while pairs:
        a, b = pairs.pop()
        total = (total * 31 + a - b) % 1000003
        if a % 3 == 0 and b > -50:
            pairs.add((a + 1, b - 1000))
    return total


def pop_of_empty_set(n):
    numbers = {n}
    numbers.remove(n)
    return numbers.pop()


def missing_in_set(n):
    numbers = {n}
    numbers.discard(n + 1)
    numbers.remove((n + 1) * 2)
    return len(numbers)


def set_changed_during_iteration(n):
    numbers, seen = set(), 0
    for i in range(n):
        numbers.add(i)
    for number in numbers:
        seen += 1
        numbers.remove(number)
        numbers.add(number + 1000)
        if seen > 50:
            break
    return seen


def returned_set(n):
    """A set made of the remaining keys would have another order."""
    numbers = set()
    for i in range(n):
        numbers.add(i * 5)
        numbers.discard(i * 3)
    return numbers


CASES = [
    (deleted, (0,), True), (deleted, (900,), True), (all_deleted, (0,), True), (all_deleted, (70,), True),
    (popped, (200,), True), (popped_tuples, (5,), False), (missing_key, (1,), True), (missing_key, (9,), True),
    (missing_after_deletion, (2,), True), (missing_after_deletion, (5,), True), (missing_key_to_delete, (4,), True),
    (popped_items, (0,), True), (popped_items, (60,), True), (popitem_of_empty, (3,), False),
    (deleted_during_iteration, (0,), True), (deleted_during_iteration, (5,), True), (deleted_and_left, (9,), True),
    (replaced_during_iteration, (9,), True), (deleted_over_a_copy, (50,), True), (queue, (400,), True),
    (cleared, (20,), True), (cleared, (21,), True), (sieve, (300,), True), (ordered_set, (700,), True),
    (popped_set, (300,), True), (pop_of_empty_set, (3,), True), (missing_in_set, (3,), True),
    (set_changed_during_iteration, (9,), True), (returned_set, (40,), False),
]  # fmt: skip


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case_name(case)[:40])
@pytest.mark.search
def test_as_plain_python(case: Any, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check_case(case, backend, monkeypatch)


def run_commands(kinds, keys):
    """Apply a list of commands to a dict and a set, and return what they read."""
    values, members, out = {}, set(), []
    for i, kind in enumerate(kinds):
        key = keys[i]
        if kind < 4:
            values[key] = len(out)
        elif kind == 4:
            out.append(values.pop(key, -1))
        elif kind == 5:
            if key in values:
                out.append(values[key])
                del values[key]
        elif kind == 6:
            if values:
                last, value = values.popitem()
                out.append(last * 1000 + value)
        elif kind == 7:
            for other in values:
                out.append(other)
        elif kind < 12:
            members.add(key)
        elif kind < 15:
            members.discard(key)
        elif kind == 15:
            if members:
                out.append(members.pop())
        elif kind == 16:
            for other in members:
                out.append(other)
        elif kind == 17:
            out.append(len(values) * 1000 + len(members))
        elif kind == 18 and key % 40 == 0:
            values.clear()
            members.clear()
    return out, values, sum(values.values()), sorted(members), list(members)


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_random_commands(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SETTINGS, "backend", backend)
    compiled = autoconv.compile(run_commands)
    for seed in range(40):
        draw = random.Random(seed)
        size = draw.choice([4, 40, 1000, 10**12])
        count = draw.randrange(20, 600)
        kinds = [draw.randrange(19) for _ in range(count)]
        keys = [draw.randrange(-size // 4, size) * draw.choice([1, 8]) for _ in range(count)]
        assert compiled([*kinds], [*keys]) == run_commands(kinds, keys)
