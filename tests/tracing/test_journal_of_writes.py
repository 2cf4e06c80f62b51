"""Many writes to objects from before the call, and how they are undone where an int exceeds 64 bits."""

import copy

import pytest

import autoconv


class Account:
    def __init__(self):
        self.balance, self.seen = 1, 0


def items(xs, n):
    p = 3
    for i in range(n):
        xs[i % len(xs)] = p
        p *= 3
    return p


def two_lists(xs, n):
    ys, p = xs[0], 3
    for i in range(n):
        zs = ys if i % 3 else xs[1]
        zs[i % len(zs)] = p
        if i % 5 == 0:
            zs.append(i)
        if i % 7 == 0:
            ys.pop()
        p *= 3
    return p


def entries(table, n):
    p = 3
    for i in range(n):
        table[i % 9] = p
        table.setdefault("last", 0)
        p *= 3
    return p


def elements(seen, n):
    p = 3
    for i in range(n):
        seen.add(p)
        seen.discard(i)
        p *= 3
    return p


def attributes(account, n):
    for i in range(n):
        account.seen = i
        account.balance *= 3
    return account.balance


def deep(xs, n):
    if n == 0:
        return 3
    xs[n % len(xs)] = n
    xs.append(n)
    return deep(xs, n - 1) * 3


def raising(xs, n):
    for i in range(n):
        xs[i % len(xs)] += 1
        if i == 30:
            raise ValueError(f"at {i}")


@pytest.mark.parametrize(
    ("function", "make"),
    [
        (items, lambda: [0] * 5),
        (items, lambda: [0] * 2000),
        (two_lists, lambda: [[0] * 12, [1] * 7]),
        (entries, dict),
        (entries, lambda: {i: -i for i in range(500)}),
        (elements, lambda: {0, 1, 2, 30}),
        (attributes, Account),
        (deep, lambda: [1, 2, 3]),
        (raising, lambda: [2**40] * 3),
    ],
)
def test_changes_are_undone(function, make):
    compiled = autoconv.compile(function)
    for n in (3, 35, 60, 20):
        compiled_argument = make()
        plain_argument = copy.deepcopy(compiled_argument)
        assert _outcome(compiled, compiled_argument, n) == _outcome(function, plain_argument, n)
        assert _describe(compiled_argument) == _describe(plain_argument)


def _outcome(function, *arguments):
    try:
        return function(*arguments)
    except ValueError as error:
        return str(error)


def _describe(value):
    return value.__dict__ if isinstance(value, Account) else list(value.items()) if isinstance(value, dict) else value


def test_a_repeated_call_leaves_no_double_writes():
    calls = []

    def watched(xs, n):
        p = 3
        for i in range(n):
            xs[i] = p
            xs.append(i)
            p *= 3
        return p

    class Watched(list):
        def append(self, item):
            calls.append(item)
            super().append(item)

    compiled_list, plain_list = Watched([0] * 50), Watched([0] * 50)
    assert autoconv.compile(watched)(compiled_list, 45) == watched(plain_list, 45)
    assert compiled_list == plain_list


def test_a_list_that_replaces_another():
    def fill(rows, n):
        for i in range(n):
            rows[i % 2] = [i]
            rows[i % 2].append(-i)
            rows[i % 2][0] = i + 1
        return len(rows)

    compiled_rows, plain_rows = [[0] * 20, [1] * 20], [[0] * 20, [1] * 20]
    assert autoconv.compile(fill)(compiled_rows, 50) == fill(plain_rows, 50)
    assert compiled_rows == plain_rows
