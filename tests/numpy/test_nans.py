"""Functions that ignore nans: NumPy's results, dtypes, errors and warnings, from native code."""

import numpy as np
import pytest

import autoconv
from tests.numpy.agreement import outcome

DRAW = np.random.default_rng(8)
MATRIX = np.where(DRAW.random((9, 7)) < 0.2, np.nan, DRAW.normal(size=(9, 7)))
SPREAD = (MATRIX, MATRIX[:, ::2], MATRIX.T, np.float32(MATRIX), DRAW.integers(0, 9, (4, 6)), np.abs(MATRIX) + np.inf)
OTHERS = np.full((2, 3), np.nan), np.array([[np.nan, 1.0]]), np.zeros((0, 3)), MATRIX * 1j


def spreads(x):
    return np.nanstd(x), np.nanvar(x, axis=0), np.nanstd(x, axis=1, ddof=1, keepdims=True)


def positions(x):
    return np.nanargmax(x), np.nanargmin(x, axis=0), np.nanargmax(x, axis=1, keepdims=True)


def medians(x):
    return np.nanmedian(x), np.nanmedian(x, axis=0), np.nanmedian(x, axis=-1)


def scans(x):
    return np.nancumsum(x), np.nancumprod(x, axis=0), np.nancumsum(x, axis=1, dtype=np.float32)


@pytest.mark.parametrize("program", [spreads, positions, medians, scans])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_equal_numpys(program):
    compiled = autoconv.compile(program)
    for x in SPREAD:
        for found, expected in zip(compiled(x), program(x), strict=True):
            assert type(found) is type(expected) and found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, rtol=1e-4 if found.dtype == np.float32 else 1e-12)
    assert "plain Python" not in compiled.explain()
    for x in OTHERS:
        if program is not medians or x.dtype == float:
            np.testing.assert_equal(outcome(compiled, [x]), outcome(program, [x]))


@pytest.mark.parametrize("program", [spreads, positions, medians, scans])
def test_no_kernels(program):
    compiled = autoconv.compile(program)
    compiled(MATRIX)
    assert "kernel" not in compiled.explain()


def test_a_row_of_nans_warns():
    compiled = autoconv.compile(lambda x: (np.nanstd(x, axis=0), np.nanmedian(x, axis=0)))
    compiled(np.ones((3, 2)))
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="Degrees of freedom|All-NaN"):
            compiled(np.array([[np.nan, 1.0], [np.nan, 2.0], [np.nan, 3.0]]))


@pytest.mark.parametrize("function", [np.nanmax, np.nanmin])
def test_extremes_of_no_elements(function):
    compiled = autoconv.compile(lambda x: function(x, axis=1))
    for shape in ((3, 0), (0, 3), (0, 0)):
        x = np.ones(shape)
        np.testing.assert_equal(outcome(compiled, [x]), outcome(lambda x: function(x, axis=1), [x]))
