"""Lists of numbers that only the graph uses become typed lists: results, errors and their lines are plain Python's."""

# ruff: noqa: B007 - the programs are meant as they are written

from __future__ import annotations

from typing import Any

import pytest

import autoconv
from tests.tracing.plain_comparison import case_name, check_case


def fibonacci(n):
    xs = [1, 1]
    while len(xs) < n:
        xs.append((xs[-1] + xs[-2]) % 1000007)
    return sum(xs)


def sieve(n):
    is_prime = [True] * (n + 1)
    is_prime[0] = is_prime[1] = False
    for i in range(2, n + 1):
        if is_prime[i]:
            for j in range(i * i, n + 1, i):
                is_prime[j] = False
    return [i for i, p in enumerate(is_prime) if p]


def stack(n):
    waiting = [n]
    total = 0
    while waiting:
        x = waiting.pop()
        total += x
        if x > 1:
            waiting.append(x // 2)
            waiting.append(x // 3)
    return total


def window_medians(n, k):
    total = 0
    for i in range(n):
        window = []
        for j in range(-k, k + 1):
            if 0 <= i + j < n:
                window.append((i + j) * (i + j) % 7)
        window.sort()
        total += window[len(window) // 2]
    return total


def swaps(n):
    xs = [(i * 7919) % 101 for i in range(n)]
    for i in range(len(xs)):
        for j in range(len(xs) - 1 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
    return xs


def iterates(n):
    xs = []
    for i in range(n):
        xs.append(i * 2)
    total = 0
    for x in xs:
        total += x
    for i, x in enumerate(xs):
        total += i * x
    return total


def grows_meanwhile(n):
    xs = [n]
    seen = 0
    for x in xs:
        if x > 0:
            xs.append(x - 1)
        seen += x
    return seen, xs


def floats(n):
    xs = []
    for i in range(n):
        xs.append(i * 0.5)
    xs[0] = -0.0
    return xs, xs[0], sum(xs), min(xs), max(xs)


def two_names(n):
    xs = [0] * n
    ys = xs
    for i in range(n):
        ys[i] = i
        xs[0] += 1
    return sum(xs), ys[0], len(ys)


def one_of_two(n):
    xs, ys = [0] * n, [1] * n
    for i in range(n):
        zs = xs if i % 2 else ys
        zs[i] += 5
    return sum(xs) * 1000 + sum(ys)


def beyond(n):
    xs = [1]
    for i in range(n):
        xs.append(xs[-1] * 3)
    return xs[-1]


def beyond_in_a_sum(n):
    xs = []
    for i in range(n):
        xs.append(2**62)
    return sum(xs)


def out_of_range(n, at):
    xs = [0] * n
    for i in range(n):
        xs[i] = i
    return xs[at]


def assigned_out_of_range(n, at):
    xs = [0] * n
    for i in range(at):
        xs[i] = i
    return xs


def popped_empty(n):
    xs = [1, 2]
    for i in range(n):
        xs.pop()
    return len(xs)


def popped_at(n, at):
    xs = [i * i for i in range(n)]
    a = xs.pop(0)
    b = xs.pop(at)
    return a, b, xs


def divided(n):
    xs = [5] * n
    ys = []
    for i in range(n):
        ys.append(xs[i] // (3 - i))
    return ys


def bools(n):
    xs = [False] * n
    for i in range(n):
        xs[i] = i % 3 == 0
    count = 0
    for x in xs:
        count += x
    return count, xs[0], xs[1], sum(xs)


def times_too_few(n):
    return len([0] * (n - 5)), [1, 2] * n


def mixed(n):
    xs = [0] * n
    for i in range(n):
        xs[i] = i / 2 if i % 2 else i
    return xs


def nested(n):
    rows = []
    for i in range(n):
        row = []
        for j in range(i):
            row.append(i * j)
        rows.append(row)
    return rows


def text(n):
    xs = []
    for i in range(n):
        xs.append(i)
    return str(xs)


def argument_list(xs, n):
    ys = [0] * n
    for i in range(n):
        xs.append(i)
        ys[i] = xs[i] + 1
    return ys


def none_at_first(n):
    best = None
    xs = [(i * 7) % 5 for i in range(n)]
    for x in xs:
        if best is None or x > best:
            best = x
    return best


def sorts(xs, n):
    ys = []
    for i in range(n):
        ys.append(xs[i])
    ys.sort()
    return ys


def returned_twice(n):
    xs = [0] * n
    for i in range(n):
        xs[i] = i
    return xs, xs


def printed(n):
    xs = [1]
    for i in range(n):
        xs.append(xs[-1] * 3)
        print(i, xs[-1])
    return xs[-1]


CASES = [
    (fibonacci, (30,), True), (sieve, (50,), True), (stack, (40,), True), (window_medians, (20, 3), True),
    (swaps, (12,), True), (iterates, (9,), True), (grows_meanwhile, (5,), True), (floats, (6,), True),
    (two_names, (7,), True), (one_of_two, (6,), True), (beyond, (10,), True), (beyond, (60,), True),
    (beyond_in_a_sum, (1,), True), (beyond_in_a_sum, (3,), True), (out_of_range, (5, -5), True),
    (out_of_range, (5, 5), True), (out_of_range, (5, -6), True), (assigned_out_of_range, (3, 3), True),
    (assigned_out_of_range, (3, 4), True), (popped_empty, (2,), True), (popped_empty, (3,), True),
    (popped_at, (6, 2), True), (popped_at, (6, -1), True), (popped_at, (6, 5), True), (popped_at, (0, 5), True),
    (divided, (3,), True), (divided, (4,), True), (bools, (7,), True), (times_too_few, (3,), True),
    (times_too_few, (6,), True), (mixed, (5,), False), (nested, (4,), False), (text, (4,), False),
    (argument_list, ([9, 9], 4), False), (none_at_first, (6,), False), (returned_twice, (3,), True),
]  # fmt: skip


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("case", CASES, ids=case_name)
@pytest.mark.search
def test_as_plain_python(case: Any, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check_case(case, backend, monkeypatch)


def test_ints_of_any_size_after_a_print(capsys: pytest.CaptureFixture[str]) -> None:
    """After a print a call cannot run again as plain Python, so lists that may exceed 64 bits stay objects."""
    compiled = autoconv.compile(printed)
    assert [compiled(n) for n in (3, 60)] == [3**3, 3**60]
    shown = capsys.readouterr().out
    assert shown == "".join(f"{i} {3 ** (i + 1)}\n" for n in (3, 60) for i in range(n))


def test_two_names_of_a_returned_list() -> None:
    xs, ys = autoconv.compile(returned_twice)(3)
    assert xs is ys
