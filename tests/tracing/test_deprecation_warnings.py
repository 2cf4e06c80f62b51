"""Warnings of NumPy about its own functions appear on every call, at the program's line."""

import warnings

import numpy as np
import pytest

import autoconv


def cross_of_plane_vectors(x):
    return np.cross(x[:, :2], x[:, 1:])


def rows_by_an_old_name(x):
    return np.row_stack([x, x])


def degenerate_fit(x):
    return np.polyfit(np.arange(3.0), x.sum(axis=0), 4)


def observed(function, x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(x)
    return repr(result), [(w.category, str(w.message), w.filename, w.lineno) for w in caught]


@pytest.mark.parametrize("program", [cross_of_plane_vectors, rows_by_an_old_name, degenerate_fit])
def test_warnings_are_those_of_plain_python(program):
    compiled, x = autoconv.compile(program), np.arange(6.0).reshape(2, 3)
    expected = observed(program, x)
    assert expected[1]
    for _ in range(3):
        assert observed(compiled, x) == expected
