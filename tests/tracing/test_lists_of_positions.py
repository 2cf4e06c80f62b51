"""Lists of numbers of the graph as indices: as NumPy's arrays of positions and masks."""

import numpy as np
import pytest

import autoconv
from tests.tracing.plain_comparison import check_against_plain


def swapped(a, k, p):
    a[[k, p]] = a[[p, k]]
    return a


def columns_swapped(a, k, p):
    for i in range(k):
        a[:, [i, p]] = a[:, [p, i]]
    return a


def grids(a, k, p):
    a[[[k], [p]], [p, k]] = 7
    a[[k, p], 1:3] += 5
    a[[k], [p - 1]] = a[[k], [p]] * 2
    return a[[k, -1]], a[[[k, p], [p, p]]]


def masks(a, k, p):
    a[[k > 0, p > 7, True, False, k == p]] = 3
    return a[[k > 1, p > 1, True, False, k != p]]


def bools_beside_numbers(a, k, p):
    a[[k > 0, p]] = 3
    return a[[p > 9, k, True]]


def out_of_bounds(a, k, p):
    a[0] = 1
    a[[k, p + 3]] = 3
    return a


def halves(a, k, p):
    a[[k, 1.5]] = 3
    return a


def none(a, k, p):
    a[[k, None]] = 3
    return a


def caught(a, k, p):
    try:
        a[[k, p + k]] += 1
    except IndexError as error:
        return str(error)
    return a


PROGRAMS = [swapped, columns_swapped, grids, masks, bools_beside_numbers, out_of_bounds, halves, none, caught]


@pytest.mark.parametrize("function", PROGRAMS)
def test_as_in_numpy(function):
    a = np.arange(20.0).reshape(5, 4)
    compiled = check_against_plain(function, (a, 1, 3), (a + 1, 2, 3), (a, 3, 3), (a * 2, 0, 2), (a, 2, 0))
    assert "as Python objects" not in compiled.explain()
    assert "plain Python" not in compiled.explain() or function is none


def solved(a, b):
    """Gaussian elimination with pivoting, as textbooks write it."""
    a, b, n = a.copy(), b.copy(), len(b)
    for k in range(n):
        pivot = k + np.argmax(np.abs(a[k:, k]))
        if pivot != k:
            a[[k, pivot]] = a[[pivot, k]]
            b[[k, pivot]] = b[[pivot, k]]
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
            b[i] -= factor * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


def test_elimination_with_pivoting_is_a_graph():
    compiled = autoconv.compile(solved)
    random = np.random.default_rng(0)
    for _ in range(3):
        a, b = random.normal(size=(9, 9)), random.normal(size=9)
        np.testing.assert_allclose(compiled(a, b), np.linalg.solve(a, b), rtol=1e-9)
    assert len(compiled.concrete_functions) == 1 and "as Python objects" not in compiled.explain()
