"""Least squares and fitted polynomials: NumPy's results, dtypes and warnings, by factors in native code."""

import warnings

import numpy as np
import pytest

import autoconv


def solved(a, b):
    return np.linalg.lstsq(a, b, rcond=None)


DRAW = np.random.default_rng(3)


@pytest.mark.parametrize("shape", [(7, 6), (40, 3), (5, 5), (3, 8), (1, 1), (2, 1), (30, 20)])
@pytest.mark.parametrize("columns", [None, 1, 4])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int64"])
def test_least_squares(shape, columns, dtype):
    compiled = autoconv.compile(solved)
    for _ in range(2):
        a = (DRAW.normal(size=shape) * 9).astype(dtype)
        b = (DRAW.normal(size=shape[:1] if columns is None else (shape[0], columns)) * 9).astype(dtype)
        tolerance = 1e-3 if dtype == "float32" else 1e-8
        for found, expected in zip(compiled(a, b), solved(a, b), strict=True):
            assert np.asarray(found).dtype == np.asarray(expected).dtype and np.shape(found) == np.shape(expected)
            np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_a_matrix_of_lower_rank_and_a_given_bound():
    a = np.outer(np.arange(1.0, 7), [1.0, 2.0, 3.0])
    compiled = autoconv.compile(lambda a, b: np.linalg.lstsq(a, b, rcond=1e-9))
    for matrix in (a + np.eye(6, 3), a, a.T):
        b = np.arange(float(len(matrix)))
        for found, expected in zip(compiled(matrix, b), np.linalg.lstsq(matrix, b, rcond=1e-9), strict=True):
            assert np.shape(found) == np.shape(expected)
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def fitted(x, y, at):
    coefficients = np.polyfit(x, y, 2)
    return coefficients, np.polyval(coefficients, at), np.vander(x, 3), np.vander(x, 4, increasing=True)


@pytest.mark.parametrize("count", [3, 4, 50])
@pytest.mark.parametrize("dtype", ["float64", "int64"])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_fitted_polynomials(count, dtype, shape):
    compiled = autoconv.compile(fitted)
    x, y = np.arange(count).astype(dtype), DRAW.normal(size=(count, *shape))
    for found, expected in zip(compiled(x, y, 1.5), fitted(x, y, 1.5), strict=True):
        assert np.asarray(found).dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)
    assert "kernels" not in compiled.explain() and "plain Python" not in compiled.explain()


def test_a_poor_fit_warns():
    compiled = autoconv.compile(lambda x, y: np.polyfit(x, y, 3))
    compiled(np.arange(9.0), np.ones(9))
    for _ in range(2):
        with pytest.warns(np.exceptions.RankWarning):
            compiled(np.ones(9), np.ones(9))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(np.arange(9.0), np.arange(9.0))


def test_gradients():
    def slope(a, b):
        return np.linalg.lstsq(a, b, rcond=None)[0][0]

    a, b = DRAW.normal(size=(9, 2)), DRAW.normal(size=9)
    gradient = autoconv.grad(autoconv.compile(slope), argnums=1)(a, b)
    np.testing.assert_allclose(gradient, np.linalg.pinv(a)[0], rtol=1e-8)
