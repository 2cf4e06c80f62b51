"""Assignments under masks in memory, of vectors and numbers: NumPy's elements and errors, from native loops."""

import numpy as np
import pytest

import autoconv
from tests.tracing.plain_comparison import result_or_error


def sorted_part(x, mask, values):
    y = x.copy()
    y[mask] = np.sort(x[mask])
    return y


def given_values(x, mask, values):
    y = x.copy()
    y[mask] = values
    return y


def part_of_a_part(x, mask, values):
    y = x[mask].copy()
    y[y > 1] = values[0]
    y[0:1] = 7
    y[y < 0] = np.cumsum(y[y < 0])
    return y


def column(x, mask, values):
    y = np.zeros((len(x), 3))
    y[:, 1][mask] = values
    return y


VECTOR = np.random.default_rng(6).normal(size=9)
MASK = VECTOR > 0
COUNT = MASK.sum()


@pytest.mark.parametrize("program", [sorted_part, given_values, part_of_a_part, column])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_equal_numpys(program, dtype):
    compiled = autoconv.compile(program)
    x = (VECTOR * 5).astype(dtype)
    for mask in (MASK, ~MASK, np.zeros(9, bool), np.ones(9, bool), np.ones(8, bool)):
        for values in (np.arange(float(COUNT)), np.arange(9.0), np.array([3.0]), np.arange(2.0)):
            found, expected = (result_or_error(function, x, mask, values) for function in (compiled, program))
            assert type(found) is type(expected)
            np.testing.assert_equal(found, expected)


def test_masks_of_matrices():
    def program(x, mask, values):
        y = x.copy()
        y[mask] = values
        y.T[mask.T] += 1
        return y

    compiled = autoconv.compile(program)
    x = np.arange(12.0).reshape(3, 4)
    for mask in (x > 4, x < 3, np.zeros((3, 4), bool)):
        for values in (np.arange(7.0), np.arange(3.0), np.ones(1)):
            found, expected = (result_or_error(function, x, mask, values) for function in (compiled, program))
            np.testing.assert_equal(found, expected)


def test_no_kernels():
    for program in (sorted_part, given_values, part_of_a_part, column):
        compiled = autoconv.compile(program)
        compiled(VECTOR, MASK, np.arange(float(COUNT)))
        assert "kernel" not in compiled.explain() and "plain Python" not in compiled.explain()
