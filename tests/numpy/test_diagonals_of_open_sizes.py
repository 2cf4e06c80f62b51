"""Diagonals, traces and diagonal matrices of arrays whose sizes only the call has."""

import numpy as np
import pytest

import autoconv as ac

SHAPES = ((3, 3), (4, 4), (5, 5), (7, 5), (4, 6), (1, 1), (2, 6), (9, 9))
FUNCTIONS = {
    "diag of a matrix": lambda a: np.diag(a, 1) * 2,
    "diag below": lambda a: np.diag(a, -2) + 1,
    "diagonal of a stack": lambda a: np.diagonal(np.stack([a, 2 * a]), 0, 1, 2).sum(axis=0),
    "trace": lambda a: np.trace(a + 1),
    "trace of a stack": lambda a: np.trace(np.stack([a, 2 * a]), 1, 1, 2),
    "diag of a vector": lambda a: np.diag(a.sum(axis=0)),
    "diag of a vector above": lambda a: np.diag(a[0], 2),
    "diag of a vector below": lambda a: np.diag(a[0], -1) @ np.ones(a.shape[1] + 1),
    "diagflat": lambda a: np.diagflat(a[:2]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_compilation_serves_the_sizes(name):
    function = FUNCTIONS[name]
    compiled = ac.compile(function)
    for rows, columns in SHAPES:
        a = np.arange(rows * columns * 1.0).reshape(rows, columns)
        expected, found = function(a), compiled(a)
        assert type(found) is type(expected)
        np.testing.assert_array_equal(found, expected)
    assert compiled.experimental_get_tracing_count() == 3 and "plain" not in compiled.explain()


def test_a_diagonal_shares_memory_with_its_matrix():
    def f(a):
        b = a + 1
        return np.diag(b), b

    compiled = ac.compile(f)
    for n in (3, 4, 5, 6):
        diagonal, matrix = compiled(np.ones((n, n)))
        assert np.shares_memory(diagonal, matrix) and not diagonal.flags.writeable
