"""Rows repeated by counts that only the call has, and scatters at positions of such sizes: the same as NumPy's."""

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS


def rows_of_a_sparse_matrix(starts, values, x):
    rows = np.repeat(np.arange(len(x)), np.diff(starts))
    total = np.zeros(len(x))
    np.add.at(total, rows, values)
    return rows, total, np.bincount(rows, weights=values, minlength=len(x)), np.bincount(rows)


def repeated(matrix, counts):
    return np.repeat(matrix[:, 0], counts) * 2, np.repeat(matrix, counts, axis=0), np.repeat(matrix > 3, counts, axis=0)


def scattered(counts, rows):
    positions, total, table = np.repeat(np.arange(4), counts), np.zeros(4), np.zeros((4, 3))
    np.add.at(total, positions, 1.0)
    np.subtract.at(total, positions, rows[0, 0])
    np.add.at(table, positions, rows)
    np.minimum.at(total, positions, -1.0 * positions)
    return total, table


def smallest_labels(first, second, n):
    labels = np.arange(n)
    for _ in range(3):
        smaller = labels.copy()
        np.minimum.at(smaller, first, labels[second])
        labels = smaller
    return labels


def _matrix(rows, columns):
    return np.arange(float(rows * columns)).reshape(rows, columns)


CASES = [
    (rows_of_a_sparse_matrix, (np.array([0, 2, 2, 5]), np.arange(5.0), np.zeros(3))),
    (rows_of_a_sparse_matrix, (np.array([0, 2, 2, 6]), np.arange(5.0), np.zeros(3))),
    (rows_of_a_sparse_matrix, (np.array([0, 0, 0, 0]), np.arange(0.0), np.zeros(3))),
    (rows_of_a_sparse_matrix, (np.array([0, 3, 4, 4]), np.arange(1.0), np.zeros(3))),
    (repeated, (_matrix(4, 3), np.array([2, 0, 3, 1]))),
    (repeated, (_matrix(4, 3), np.array([0, 0, 0, 0], np.int32))),
    (repeated, (_matrix(4, 3), np.array([2, -1, 3, 1]))),
    (repeated, (_matrix(4, 3), np.array([2, 1]))),
    (repeated, (_matrix(3, 2) + 1j, np.array([2, 1, 0]))),
    (scattered, (np.array([2, 0, 3, 1]), _matrix(6, 3))),
    (scattered, (np.array([2, 0, 3, 1]), _matrix(1, 3))),
    (scattered, (np.array([2, 0, 3, 1]), _matrix(2, 3))),
    (smallest_labels, (np.array([0, 3, 3, 1]), np.array([1, 2, 0, 0]), 4)),
]


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_as_numpy(function, arguments):
    compiled = autoconv.compile(function)
    for _ in range(2):
        np.testing.assert_equal(_outcome(compiled, arguments), _outcome(function, arguments))


def _outcome(function, arguments):
    try:
        return function(*arguments)
    except (ValueError, IndexError) as error:
        return str(error)


@pytest.mark.parametrize("number", [0, 4, 9, 12])
def test_no_kernels(number, monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")
    function, arguments = CASES[number]
    compiled = autoconv.compile(function)
    compiled(*arguments)
    assert "by kernels" not in compiled.explain() and "plain" not in compiled.explain()
