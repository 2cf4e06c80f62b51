"""Sets under `compile` iterate in the order that they have in plain Python, which depends on how they were filled."""

from __future__ import annotations

import marshal
import random
import types

import pytest

import autoconv
from autoconv.runtime.objects.set_order import insertion_order


def one_by_one(x, y):
    found = set()
    for item in x:
        found.add(item)
    return found, list(found)


def comprehension(x, y):
    return {item for item in x if item} | {item for item in y if item}


def display(x, y):
    return {*x, *y, 3}, list({*y, 1, *x})


def display_of_sets(x, y):
    first, second = {item for item in x if item}, frozenset(y)
    return {*first, *second}, list({*second, 5, *first}), {*dict.fromkeys(y), *first}


def operators(x, y):
    first, second = set(x), set(y)
    first |= second
    return first ^ {x[0]}, first - second, first & second, list(first)


def removed(x, y):
    found = set(x)
    for item in y:
        if item in found:
            found.discard(item)
        else:
            found.add(item)
    return found, list(found)


def symbolic(x, n):
    found = {item for item in x if item is not None}
    if n > 3:
        found.add(n)
    else:
        found.add(x[0])
    return found, list(found)


DRAWS = {
    "texts": lambda draws: f"s{draws.randrange(40)}",
    "numbers": lambda draws: 8 * draws.randrange(20),
    "tuples": lambda draws: (draws.randrange(9), f"s{draws.randrange(9)}"),
}


@pytest.mark.parametrize("kind", DRAWS)
@pytest.mark.parametrize(
    "function", [one_by_one, comprehension, display, display_of_sets, operators, removed, symbolic]
)
def test_order(function, kind):
    draws = random.Random(f"{function.__name__} {kind}")
    compiled = autoconv.compile(function)
    for _ in range(6):
        x, y = ([DRAWS[kind](draws) for _ in range(draws.choice([5, 9, 12]))] for _ in range(2))
        args = (x, draws.randrange(8)) if function is symbolic else (x, y)
        assert _orders(compiled(*args)) == _orders(function(*args))


def test_a_result_grows_in_the_order_of_plain_python():
    """The hash table of a result has the size of plain Python's, so that later elements come in the same order."""

    def filled(x):
        return {item for item in x if item}

    draws = random.Random(0)
    for _ in range(30):
        # The hashes of these numbers are the same in each process.
        x = [1 + 37 * draws.randrange(40) for _ in range(draws.choice([3, 5, 8, 18]))]
        expected, found = filled(x), autoconv.compile(filled)(x)
        for item in range(0, 620, 31):
            expected.add(item)
            found.add(item)
        assert list(found) == list(expected)


def test_order_after_growth():
    """Sets whose hash tables differ from plain Python's run plain: later elements would come in another order."""
    draws = random.Random(0)
    found_orders = 0
    for _ in range(300):
        pool = [draws.getrandbits(60) for _ in range(40)]
        elements = set(draws.choices(pool, k=draws.choice([5, 9, 12])))
        for item in draws.choices(pool, k=draws.choice([0, 5])):
            elements ^= {item}
        for one_by_one in (False, True):
            order = insertion_order(elements, one_by_one=one_by_one)
            if order is not None:
                found_orders += 1
                assert list(set(order) | set(pool)) == list(elements | set(pool))
                assert list(set(order)) == list(elements)
    assert found_orders > 300


def _orders(value):
    if isinstance(value, tuple):
        return [_orders(part) for part in value]
    return type(value).__name__, list(value)


def sets_of_constants(n):
    whole, appended = {64, 128, 8, 16, 32}, []
    whole.add(n)
    for item in {64, 128, 8, 16, 32}:
        appended.append(item + n)
    for first, second in {(0, 1), (1, 0), (-1, 0), (0, -1)}:
        appended.append(first + 2 * second)
    return list(whole), appended, [item + 1 for item in {40, 24, 8, 0}]


def more_sets_of_constants(n):
    whole = {88, 128, 8, 16, 72}
    return [item + n for item in whole], [item for item in {8, 72, 16, 128, 88, 40} if item != n]


def test_displays_of_constants():
    """Python makes frozensets of these displays, whose order the loading of a file changes; conversions keep each."""
    loaded_code = marshal.loads(marshal.dumps(more_sets_of_constants.__code__))
    for function in (sets_of_constants, types.FunctionType(loaded_code, globals())):
        assert autoconv.compile(function)(256) == function(256)
