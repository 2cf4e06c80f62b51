"""Integer arguments that decide what a trace cannot leave open: they become part of its key."""

import numpy as np
import pytest

import autoconv
from tests.tracing.test_masked_elements import compare, outcome


def reshaped(a, rows, columns):
    return np.reshape(a, (rows, columns + 1)) * 2.0


def written(a, rows):
    a[:] = np.reshape(a.reshape(rows, -1) * 2.0, a.shape)


def of_computed_sizes(n):
    grid = np.zeros((n + 1, 2 * n))
    grid[1:, ::2] = 1.0
    return grid.reshape(-1), grid.T.ravel()


def coordinates(a, rows, columns):
    y, x = np.mgrid[0:rows, 0 : columns + 1]
    return x * y * a


def without(a, position):
    return np.delete(a, position - 1)


def in_a_loop(a, n, turns):
    total = np.zeros(n)
    for i in range(turns):
        total += a.reshape(n, -1).sum(axis=1) * i
    return total


def constructed(n):
    found = np.ndarray((n, 3), dtype=np.float32)
    found[:] = 2.0
    return found, found.shape


CASES = [
    (reshaped, [(np.arange(12.0), 3, 3), (np.arange(12.0), 4, 2), (np.arange(12.0), 5, 2)]),
    (written, [(np.arange(12.0), 3), (np.arange(12.0), 4), (np.arange(12.0), 5)]),
    (of_computed_sizes, [(3,), (4,), (0,)]),
    (coordinates, [(np.arange(5.0), 3, 4), (np.arange(3.0), 2, 2)]),
    (without, [(np.arange(5.0), 2), (np.arange(5.0), 0), (np.arange(5.0), 9)]),
    (in_a_loop, [(np.arange(12.0), 3, 100), (np.arange(12.0), 4, 90), (np.arange(12.0), 4, 0)]),
    (constructed, [(3,), (1,), (-2,)]),
]


@pytest.mark.parametrize(("function", "calls"), CASES, ids=[case[0].__name__ for case in CASES])
def test_as_numpy(function, calls):
    compiled = autoconv.compile(function)
    for arguments in calls:
        plain_arguments, compiled_arguments = (
            [np.copy(x) if isinstance(x, np.ndarray) else x for x in arguments] for _ in range(2)
        )
        compare(outcome(compiled, compiled_arguments), outcome(function, plain_arguments))
        compare(tuple(compiled_arguments), tuple(plain_arguments))
    assert compiled.concrete_functions


def test_memory_that_is_given():
    @autoconv.compile
    def view(a):
        return np.ndarray(2, float, a) + 1.0

    np.testing.assert_array_equal(view(np.arange(3.0)), [1.0, 2.0])
