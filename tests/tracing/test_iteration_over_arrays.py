"""Under `compile`, iteration over arrays by builtins and comprehensions: Python's results, long ones as graph loops."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv


def numbered(a):
    found = 0
    for i, x in enumerate(a, 1):
        found += i * x
    return found


def numbered_and_changed(a):
    for i, x in enumerate(a):
        a[i] = x + i
    return a


def products_of_neighbours(a):
    found = 0
    for x, y in zip(a, a[1:]):  # noqa: B905, RUF007
        found += x * y
    return found


def products_with_a_copy(a):
    b = a.copy()
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        b[i] = x * y + 1
    return b


def zipped_with_a_range(a):
    found = 0
    for x, y in zip(a, range(5)):  # noqa: B905
        found += x * y
    return found


def from_the_end(a):
    found = 0
    for x in reversed(a):
        found = found * 0.5 + x
    a[:1] = found
    return found


def mapped(a):
    return sum(map(lambda x: x * 2, a))  # noqa: C417


def filtered(a):
    return sum(filter(lambda x: x > 2, a))


def listed(a):
    a *= 2
    return list(a), [x + 1 for x in a], [a[i] for i in range(len(a)) if a[i] > 3]


def quantified(a):
    return any(x > 5 for x in a), all(a), sum(x * x for x in a)


def by_position(a):
    return {i: x for i, x in enumerate(a)}  # noqa: C416


def twice(a):
    pairs = enumerate(a)
    for _, x in pairs:
        if x > 1:
            break
    found = 0
    for i, x in pairs:
        found = found + i * x
    return found


def twice_by_zip(a):
    a += 1
    pairs = zip(a, a, strict=True)
    for x, _ in pairs:
        if x > 2:
            break
    return [x for x, _ in pairs]


def in_an_arm(a):
    pairs = zip(a, a, strict=True)
    found = 0
    if a[0] > 0:
        for x, y in pairs:
            found = found + x * y
    for x, _ in pairs:
        found = found - x
    return found


def unlike_lengths(a):
    found = 0
    for x, y in zip(a, a[1:], strict=True):  # noqa: RUF007
        found += x * y
    return found


def added_up(a):
    return sum(a), sum(a, 5)


FUNCTIONS = [
    numbered, numbered_and_changed, products_of_neighbours, products_with_a_copy, zipped_with_a_range, from_the_end,
    mapped, filtered, listed, quantified, by_position, twice, twice_by_zip, in_an_arm, unlike_lengths, added_up,
]  # fmt: skip


def outcome(function, a):
    try:
        return plain(function(a)), a.tolist()
    except Exception as error:
        return type(error), str(error), a.tolist()


def plain(value):
    if isinstance(value, (list, tuple)):
        return type(value), [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return (type(value), np.asarray(value).tolist())


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.search
def test_results_are_those_of_python(function):
    compiled = autoconv.compile(function)
    for size in (4, 70, 2, 3, 0, 1):
        assert outcome(compiled, np.arange(size) * 1.0) == outcome(function, np.arange(size) * 1.0)


@pytest.mark.parametrize(
    "function", [numbered, products_with_a_copy, mapped, filtered, listed, quantified, by_position]
)
def test_many_items_are_one_loop(function):
    compiled = autoconv.compile(function)
    assert outcome(compiled, np.arange(5000) * 1.0) == outcome(function, np.arange(5000) * 1.0)
    assert len(list(compiled.get_concrete_function(np.arange(5000) * 1.0).recorded.walk())) < 1000


def over_a_range(a):
    found = [a[i] * 2 for i in range(len(a))]
    return found, sum(a[i] * a[i - 1] for i in range(1, len(a))), [a[i] for i in range(len(a) - 1, 0, -2)]


def rest_of_a_range(a):
    doubled = (a[i] * 2 for i in range(100))
    first = next(doubled)
    numbers = iter(range(90))
    second = [a[i] for i in numbers]
    return first, sum(doubled), second, list(numbers)


def counted(a):
    n = 0

    def step(i):
        nonlocal n
        n += 1
        return a[i % 10] * n

    return [step(i) for i in range(90)], n


def table_of_python(a):
    table = [i * i for i in range(100)]
    return a[table[3]] + table[7], "".join(chr(65 + i % 26) for i in range(80))


@pytest.mark.parametrize("function", [over_a_range, rest_of_a_range, counted, table_of_python])
def test_comprehensions_over_ranges(function):
    compiled = autoconv.compile(function)
    for size in (120, 130, 140, 150):
        assert outcome(compiled, np.arange(size) * 1.0) == outcome(function, np.arange(size) * 1.0)
    assert "plain Python" not in compiled.explain()
