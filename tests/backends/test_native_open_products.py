"""Products of matrices of open sizes by blocked tiles: every edge, beside NumPy's in double precision."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv

SHAPES = [  # rows, inner dimension, columns
    (16, 257, 16), (17, 300, 23), (64, 32, 48), (33, 513, 65), (129, 300, 130), (40, 40, 40), (200, 16, 25),
    (2, 3, 2), (5, 1000, 900), (900, 5, 900), (900, 900, 3),
]  # fmt: skip
PRODUCTS = {
    "ab": lambda x, y: x @ y, "tab": lambda x, y: x.T @ y, "abt": lambda x, y: x @ y.T, "tabt": lambda x, y: x.T @ y.T,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_each_edge_is_reached(name, dtype):
    compiled, random = autoconv.compile(PRODUCTS[name]), np.random.default_rng(0)
    for rows, inner, columns in [(3, 4, 5), (5, 6, 7), *SHAPES]:
        x, y = random.standard_normal((rows, inner)), random.standard_normal((inner, columns))
        x, y = (x.T.copy() if name[0] == "t" else x).astype(dtype), (y.T.copy() if name[-1] == "t" else y).astype(dtype)
        found, wide = compiled(x, y), [array.astype(np.float64) for array in (x, y)]
        bound = PRODUCTS[name](*map(np.abs, wide)) * np.finfo(dtype).eps * (4 + inner**0.5)
        assert found.dtype == dtype
        assert (np.abs(found - PRODUCTS[name](*wide)) <= bound).all(), (rows, inner, columns)


@pytest.mark.parametrize("product", [lambda x: x @ x.T, lambda x: x.T @ x])
def test_products_with_the_own_transpose_are_symmetric(product):
    compiled, random = autoconv.compile(product), np.random.default_rng(1)
    for rows, columns in ((3, 4), (5, 6), (70, 300), (41, 41), (300, 70), (17, 600)):
        x = random.standard_normal((rows, columns))
        found = compiled(x)
        np.testing.assert_allclose(found, product(x), 1e-10, 1e-11)
        np.testing.assert_array_equal(found, found.T)


def test_infinities_spread_as_in_numpy():
    compiled = autoconv.compile(lambda x, y: x @ y)
    for size in (3, 4, 60):
        x, y = np.ones((size, size + 1)), np.ones((size + 1, size))
        x[1, 2], y[2, 1], y[0, 0], x[2, 0] = np.inf, -np.inf, np.nan, 0.0
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(compiled(x, y), x @ y)


def test_products_of_parts_and_in_loops():
    def steps(x, y, count):
        total = np.zeros((len(x), y.shape[1]))
        for i in range(count):
            total += x[:, : len(y)] @ y
            total[i:, i:] += x[i:, i : len(y)] @ y[i:, i:]
        return total

    compiled, random = autoconv.compile(steps), np.random.default_rng(2)
    for rows, inner, columns in ((6, 7, 8), (7, 8, 9), (60, 70, 80), (61, 50, 40)):
        x, y = random.standard_normal((rows, inner + 3)), random.standard_normal((inner, columns))
        for count in (3, 5):
            np.testing.assert_allclose(compiled(x, y, count), steps(x, y, count), 1e-10, 1e-10)


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch):
    found = []
    for threads in (1, 3):
        monkeypatch.setattr(autoconv.config.SETTINGS, "threads", threads)
        compiled, random = autoconv.compile(lambda x, y: (x @ y, x @ x.T)), np.random.default_rng(3)
        for size in (4, 5, 230):
            x, y = random.standard_normal((2, size, size))
            last = compiled(x, y)
        found.append(last)
    for one, several in zip(*found, strict=True):
        np.testing.assert_array_equal(one, several)
