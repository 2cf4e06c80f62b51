"""Warnings of NumPy about its own functions appear on every call, at the program's line.

So do the errors of versions of NumPy that have removed what earlier versions warn of.
"""

import warnings

import numpy as np
import pytest

import autoconv


def cross_of_plane_vectors(x):
    return np.cross(x[:, :2], x[:, 1:])


def rows_by_an_old_name(x):
    return np.row_stack([x, x])


def rounded_towards_zero(x):
    return np.fix(x / 2)


def lower_part_by_a_float(x):
    return np.tril(x, 1.0)


def taken_into_ints(x):
    return np.take(x, [0, 1], out=np.zeros(2, int))


def taken_into_floats(x):
    return np.take(x.astype(int), [0, 1], out=np.zeros(2))


def positions_below_a_float(x):
    return np.tril_indices(3, 1.0), np.tril_indices_from(x, 1.0)


def counts_of_floats(x):
    return np.bincount(x[0])


def degenerate_fit(x):
    return np.polyfit(np.arange(3.0), x.sum(axis=0), 4)


def observed(function, x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(x)
        except (AttributeError, TypeError, ValueError) as error:
            result = error
    return repr(result), [(w.category, str(w.message), w.filename, w.lineno) for w in caught]


@pytest.mark.parametrize("program", [
    cross_of_plane_vectors, rows_by_an_old_name, rounded_towards_zero, lower_part_by_a_float, taken_into_ints,
    taken_into_floats, positions_below_a_float, counts_of_floats, degenerate_fit,
])  # fmt: skip
def test_warnings_are_those_of_plain_python(program):
    compiled, x = autoconv.compile(program), np.arange(6.0).reshape(2, 3)
    expected = observed(program, x)
    for _ in range(3):
        assert observed(compiled, x) == expected
