"""Tracebacks mark the same columns as plain Python where a store or a deletion fails in native code."""

import traceback

import numpy as np
import pytest

import autoconv as ac


def store(a, i):
    a[i] = 2


def store_in_row(a, i):
    a[0][i] = len(a)


def store_slice(a, i):
    a[i:9] = 3


def delete(a, i):
    x = i; del a[x]  # noqa: E702


def raised_line(function, *args):
    """Return the last line of the traceback's source, with its carets, and the error's text."""
    with pytest.raises((IndexError, TypeError)) as error:
        function(*args)
    return traceback.format_exception(error.value)[-2:]


@pytest.mark.parametrize(
    ("function", "make"),
    [(store, lambda: [1]), (store, lambda: np.ones(2)), (store_in_row, lambda: [[1]]), (store_slice, lambda: [1, 2]),
     (delete, lambda: [1])],
)  # fmt: skip
def test_columns_of_failed_stores(function, make):
    assert raised_line(ac.compile(function), make(), 7) == raised_line(function, make(), 7)
