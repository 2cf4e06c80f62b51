"""Sizes that are no ints, and methods that NumPy's scalars lack: the errors of NumPy under `compile`."""

import linecache

import numpy as np
import pytest

import autoconv as ac

EXPRESSIONS = (
    "np.ones(x.min())", "np.ones((2, x.min()))", "np.zeros(x[0])", "np.ones((x.mean(),))", "np.full(x.max(), 2)",
    "np.ones(k > 1)", "np.ones((2, k > 0))", "np.arange(6.0).reshape(x.min(), 6)", "x[0].dot(x)", "x.dot(x)",
    "hasattr(x[0], 'dot')", "x[0].partition(1)",
)  # fmt: skip


def outcome(function, *arguments):
    try:
        return repr(function(*arguments))
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_as_numpy(expression):
    text, name = f"def f(x, k):\n    return {expression}\n", f"<odd size {expression}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"np": np}
    exec(compile(text, name, "exec"), space)
    compiled = ac.compile(space["f"])
    for x in (np.array([True, True]), np.array([1.0, 2.0]), np.array([1, 2])):
        for _ in range(2):
            assert outcome(compiled, x, 1) == outcome(space["f"], x, 1)


def made_for_nothing(n):
    np.empty(n)
    return n + 1


def filled_for_nothing(n):
    np.full((2, n), 1.5)
    return n + 1


def counted_for_nothing(n):
    np.arange(n) * 2.0
    return n + 1


def repeated_for_nothing(n):
    np.repeat(np.ones(2), n)
    return n + 1


def spread_for_nothing(n):
    np.linspace(0, 1, n)
    return n + 1


def diagonal_for_nothing(n):
    np.eye(n, 3)
    return n + 1


@pytest.mark.parametrize(
    "function",
    [
        made_for_nothing,
        filled_for_nothing,
        counted_for_nothing,
        repeated_for_nothing,
        spread_for_nothing,
        diagonal_for_nothing,
    ],
)
def test_unused_arrays_of_impossible_sizes(function):
    """An unused array raises where its size, known only at run time, is negative or more than memory holds."""
    compiled = ac.compile(function)
    for n in (3, 4, 5, -1, 2**60 - 1, 2**42, 6):
        if n == 2**60 - 1 and function in (spread_for_nothing, diagonal_for_nothing):
            continue  # NumPy raises ValueError for sizes that it cannot multiply, and MemoryError below that
        expected = _error_or_result(function, n)
        assert _error_or_result(compiled, n) == expected


def _error_or_result(function, n):
    try:
        return function(n)
    except (ValueError, MemoryError) as error:
        return type(error)
