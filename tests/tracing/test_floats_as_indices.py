"""Floats as indices of arrays and tuples under `compile`: plain errors, where only the graph shows the floats."""

import numpy as np
import pytest

import autoconv


def doubled(A, a, k):
    if a.sum() > 0:
        k = sum([x * 2 for x in a])  # a NumPy float
        k = k + 2
    A[k] = 3
    return A


def read(A, a, k):
    if a.sum() > 0:
        k = a.sum()
    return A[k]


def of_python(A, a, k):
    if a.sum() > 0:
        k = 2.0
    return A[k]


def as_slice_bound(A, a, k):
    if a.sum() > 0:
        k = 2.0
    return A[k:]


def as_slice_bound_of_object_array(A, a, k):
    if a.sum() > 0:
        k = sum([x * 2 for x in a])
        k = k + 2
    return A[k:]


@pytest.mark.parametrize("function", [doubled, read, of_python, as_slice_bound, as_slice_bound_of_object_array])
def test_floats_are_no_indices(function):
    def outcome(called, total):
        try:
            return "gave", str(called(np.ones(12), np.ones(3) * total, 2))
        except Exception as error:
            return type(error).__name__, str(error)

    compiled = autoconv.compile(function)
    for total in (0, 1, 0):
        assert outcome(compiled, total) == outcome(function, total)


def mixed_items(x, n):
    return (1 if n > 2 else 2.5, n)[x % 2]


def functions(x, n):
    return (abs, float)[x % 2](n)


@pytest.mark.parametrize("function", [mixed_items, functions])
def test_floats_are_no_indices_of_tuples(function):
    compiled = autoconv.compile(function)
    for x, n in ((2.0, 1), (3.0, 4), (2, 3), (True, 1)):
        outcomes = []
        for f in (function, compiled):
            try:
                outcomes.append(f(x, n))
            except TypeError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
    assert "internal error" not in compiled.explain()
