"""Gradients through new axes and repetitions: those of the same functions without them, and no kernels."""

import numpy as np
import pytest

import autoconv

RANDOM = np.random.default_rng(4)
X, W = RANDOM.random((7, 3)), RANDOM.random((7, 5))


def pair_energies(x):
    difference = x[:, None] - x[None]
    return np.sqrt((difference * difference).sum(-1) + 1.0).sum()


def pair_energies_by_repetition(x):
    rows, columns = np.repeat(x, len(x), axis=0), np.tile(x, (len(x), 1))
    return np.sqrt(((rows - columns) ** 2).sum(-1) + 1.0).sum()


def selected_columns(w):
    return ((w[..., None, 0] * w[1:4, 2, None].sum() - w[:, 1, None]) ** 2).sum()


def selected_columns_by_reshape(w):
    first, second = np.reshape(w[:, 0], (-1, 1)), np.reshape(w[:, 1], (-1, 1))
    return ((first * w[1:4, 2].sum() - second) ** 2).sum()


@pytest.mark.parametrize(
    ("function", "other", "x"),
    [(pair_energies, pair_energies_by_repetition, X), (selected_columns, selected_columns_by_reshape, W)],
)
def test_gradients_and_kernels(function, other, x):
    compiled = autoconv.compile(autoconv.value_and_grad(function))
    for _ in range(2):
        value, gradient = compiled(x)
    assert "by kernels" not in compiled.explain(), compiled.explain()
    step = 1e-6
    expected = np.empty_like(x)
    for index in np.ndindex(x.shape):
        shift = np.zeros_like(x)
        shift[index] = step
        expected[index] = (other(x + shift) - other(x - shift)) / (2 * step)
    np.testing.assert_allclose(value, other(x), rtol=1e-12)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)


def test_gradients_of_repeated_elements():
    def repeated(x):
        return (np.repeat(x, 3, axis=1) * np.arange(9.0)).sum() + (np.repeat(x[0], 4) ** 2).sum()

    compiled = autoconv.compile(autoconv.value_and_grad(repeated))
    _, gradient = compiled(X)
    expected = np.tile([3.0, 12.0, 21.0], (len(X), 1))
    expected[0] += 8 * X[0]
    np.testing.assert_allclose(gradient, expected, rtol=1e-12)
    assert "by kernels" not in compiled.explain(), compiled.explain()
