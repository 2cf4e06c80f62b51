"""Products of small matrices, which are written out over their elements: beside NumPy's in double precision."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import autoconv

SHAPES = [  # batch of x, batch of y, rows, inner dimension, columns
    ((50,), (50,), 2, 2, 2), ((20,), (20,), 3, 3, 3), ((7, 5), (5,), 4, 4, 4), ((3, 1), (1, 6), 5, 2, 1),
    ((30,), (1,), 6, 8, 1), ((9,), (9,), 1, 16, 3), ((8,), (8,), 7, 17, 2), ((11,), (11,), 12, 12, 1),
    ((4,), (4,), 9, 6, 7), ((), (), 40, 5, 1), ((), (), 33, 8, 3), ((6,), (), 5, 3, 2), ((), (6,), 5, 3, 2),
    ((0,), (0,), 3, 3, 3), ((5,), (5,), 0, 3, 2), ((5,), (5,), 3, 0, 2), ((), (), 3, 1, 1),
    ((30,), (30,), 1, 9, 1), ((30,), (1,), 1, 70, 1), ((5,), (5,), 1, 600, 1), ((5,), (5,), 1, 0, 1),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_small_products_have_numpys_results(shape, dtype):
    batch_x, batch_y, rows, inner, columns = shape
    random = np.random.default_rng(3)
    for flip_x, flip_y in itertools.product((False, True), repeat=2):
        x = random.standard_normal((*batch_x, inner, rows) if flip_x else (*batch_x, rows, inner)).astype(dtype)
        y = random.standard_normal((*batch_y, columns, inner) if flip_y else (*batch_y, inner, columns)).astype(dtype)

        def multiply(x, y, flip_x=flip_x, flip_y=flip_y):
            return np.matmul(np.swapaxes(x, -1, -2) if flip_x else x, np.swapaxes(y, -1, -2) if flip_y else y)

        exact = multiply(x.astype(np.float64), y.astype(np.float64))
        bound = 4 * max(inner, 1) * np.finfo(dtype).eps * multiply(abs(x).astype(np.float64), abs(y).astype(np.float64))
        compiled = autoconv.compile(multiply)
        for count in (None, 2, 3, 1):  # the later calls have code for any number of matrices or rows
            part = slice(count) if batch_x and len(x) > 3 else slice(None)
            found = compiled(x[part], y[part] if batch_x[:1] == batch_y[:1] else y)
            wanted = exact[part] if batch_x else exact
            assert found.dtype == dtype and found.shape == wanted.shape
            assert (np.abs(found - wanted) <= (bound[part] if batch_x else bound)).all()


@pytest.mark.parametrize(
    "equation", ["nij,nj->ni", "nij,ni->nj", "nij,njk->nik", "nij,nkj->nik", "nji,njk->ki", "nij,nij->n"]
)
def test_contractions_of_small_matrices(equation):
    random = np.random.default_rng(4)
    labels = equation.split("->")[0].split(",")
    x, y = (random.standard_normal([40 if label == "n" else 3 for label in part]) for part in labels)
    compiled = autoconv.compile(lambda x, y: np.einsum(equation, x, y))
    for count in (40, 4, 5, 6):
        expected = np.einsum(equation, x[:count], y[:count])
        np.testing.assert_allclose(compiled(x[:count], y[:count]), expected, 1e-12, 1e-13)


def test_infinities_and_operands_that_are_computed():
    random = np.random.default_rng(5)
    x, y = random.standard_normal((2, 30, 3, 3))
    x[3, 1, 2], x[4, 0, 0], y[5, 2, 2], y[6, 1, 0] = np.nan, np.inf, -np.inf, 0.0

    def chain(x, y):
        return np.exp(x) @ np.sin(y) @ x.transpose(0, 2, 1), (x @ y).sum(axis=0)

    with np.errstate(invalid="ignore"):
        for found, expected in zip(autoconv.compile(chain)(x, y), chain(x, y), strict=True):
            np.testing.assert_allclose(found, expected, 1e-12, 1e-12)


def test_gradients_of_small_products_are_those_of_their_elements():
    random = np.random.default_rng(6)
    x, v = random.standard_normal((8, 3, 3)), random.standard_normal((8, 3))
    gradients = autoconv.grad(autoconv.compile(lambda x, v: (np.einsum("nij,nj->ni", x, v) ** 2).sum()), (0, 1))(x, v)
    images = np.einsum("nij,nj->ni", x, v)
    np.testing.assert_allclose(gradients[0], 2 * images[:, :, None] * v[:, None, :], 1e-12)
    np.testing.assert_allclose(gradients[1], 2 * np.einsum("nij,ni->nj", x, images), 1e-12)
