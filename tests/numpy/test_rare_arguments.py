"""Rare arguments of NumPy's functions: results with their dtypes, or the exceptions, are NumPy's."""

import copy

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS

ZEROS = [(np.array([0, 0, 1.5]), np.array([0, 2.0])), (np.array([0, 1, 1.5]), np.array([0, 2.0])),
         (np.array([0.0, 0.0]), np.array([2.0]))]  # fmt: skip
INTEGERS = np.array([1, 4, 1])
CALLS = {
    "a number joined to an array": (
        lambda x, n: (np.union1d(x, n), np.union1d(3, x), np.union1d(x, 2.5), np.union1d(x, [3, 4])),
        [(INTEGERS.astype(dtype), n) for dtype in ("uint8", "int32", "float32", "bool") for n in (2, -1)],
    ),
    "leading zeros of polynomials": (lambda x, y: np.polymul(x, y), ZEROS),
    "weights along the last axis": (
        lambda x, weights: np.average(x, axis=-1, weights=weights),
        [(np.array(1.0), np.array(2.0)), (np.ones(3), np.arange(3.0)), (np.ones((2, 3)), np.arange(3.0))],
    ),
    "weights along a tuple of one axis": (
        lambda x, weights: np.average(x, axis=(0,), weights=weights), [(np.ones((3, 2)), np.arange(3.0))],
    ),
    "an axis of an array without dimensions": (
        lambda x: np.average(x, axis=1), [(np.array(1.0),), (np.ones(3),), (np.ones((2, 3)),)],
    ),
    "a Python number without a dtype": (
        lambda x, y: np.common_type(x, y), [(np.ones(2), 2.0), (np.ones(2), np.float32(2))],
    ),
    "norms of matrices without elements": (
        lambda x: (np.linalg.matrix_norm(x, ord=1), np.linalg.norm(x, np.inf)),
        [(np.ones((0, 3)),), (np.ones((3, 0)),), (np.ones((2, 2)),)],
    ),
    "smallest norms of matrices without elements": (
        lambda x: np.linalg.matrix_norm(x, ord=-1), [(np.ones((3, 0)),), (np.ones((2, 2)),)],
    ),
    "a product written into an array of another dtype": (
        lambda x, y, out: (np.dot(x, y, out=out), out),
        [(np.ones(3, dtype), np.ones(3, dtype), np.zeros((), out_dtype))
         for dtype in ("bool", "float32", "float64", "int32") for out_dtype in ("float64", "float32", "int64")],
    ),
    "a product written into a column": (
        lambda x, y, out: (np.dot(x, y, out=out[:, 0]), out), [(np.ones((2, 2)), np.ones(2), np.zeros((2, 2)))],
    ),
    "a product written into a transpose": (
        lambda x, y, out: (np.dot(x, y, out=out.T), out), [(np.ones((2, 2)), np.ones((2, 2)), np.zeros((2, 2)))],
    ),
}  # fmt: skip


def outcome(function, arguments):
    arguments = copy.deepcopy(arguments)
    try:
        result = function(*arguments)
    except Exception as error:
        return type(error).__name__, str(error)
    results = result if isinstance(result, tuple) else (result,)
    return [(getattr(value, "dtype", type(value)), repr(value)) for value in results], repr(arguments)


@pytest.mark.parametrize("name", CALLS)
def test_rare_arguments(name, monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    function, calls = CALLS[name]
    compiled = autoconv.compile(function)
    for arguments in calls:
        assert outcome(compiled, arguments) == outcome(function, arguments), arguments
