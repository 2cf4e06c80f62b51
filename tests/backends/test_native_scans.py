"""Cumulative sums and products, and recurrences, as native loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv as ac
from tests.backends.native import op, run_both

SHAPES = [(5,), (9000,), (3, 5000), (20, 7), (4, 3, 6), (0,), (3, 0), (0, 3), (1, 1)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_scans_of_integers_are_exact(name: str, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).integers(-9, 9, shape).astype(np.int32)
    for axis in range(len(shape)):
        for exclusive in (False, True):
            for reverse in (False, True):
                (found,) = run_both(op(name, axis=axis, exclusive=exclusive, reverse=reverse), x)
        del found
        (plain,) = run_both(op(name, axis=axis, exclusive=False, reverse=False), x)
        np.testing.assert_array_equal(plain, getattr(np, name)(x, axis, dtype=np.int32))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_scans_of_floats(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).random(shape) - 0.5
    for axis in range(len(shape)):
        (found,) = run_both(op("cumsum", axis=axis, exclusive=False, reverse=True), x, rtol=1e-12)
        np.testing.assert_allclose(found, np.flip(np.cumsum(np.flip(x, axis), axis), axis), rtol=1e-12, atol=1e-12)
        run_both(op("cumprod", axis=axis, exclusive=True, reverse=False), x + 1)  # in the order of the elements


@pytest.mark.parametrize("shape", [(3,), (9, 2), (2, 9)], ids=str)
def test_sums_begin_with_the_first_element(shape: tuple[int, ...]) -> None:
    x = np.full(shape, -0.0)
    x[-1] = 0.0
    for axis in range(len(shape)):
        for build in (op("numpy_cumsum", axis=axis), op("cumsum", axis=axis, exclusive=False, reverse=False)):
            (found,) = run_both(build, x)
            np.testing.assert_array_equal(np.signbit(found), np.signbit(np.cumsum(x, axis)))


def test_nan_and_infinity_do_not_spread_backwards() -> None:
    x = np.ones(8000)
    x[5000], x[7000] = np.inf, -np.inf
    (found,) = run_both(op("cumsum", axis=0, exclusive=False, reverse=False), x)
    assert np.isfinite(found[4999]) and np.all(np.isinf(found[5000:7000])) and np.all(np.isnan(found[7000:]))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_recurrences_and_shifts(axis: int, reverse: bool) -> None:
    random = np.random.default_rng(0)
    x, y = random.random((4, 6)), random.random((4, 6))
    run_both(op("linear_recurrence", axis=axis, reverse=reverse), x, y)
    run_both(op("linear_recurrence", axis=axis, reverse=reverse), x[:1], y)
    run_both(op("shift", axis=axis, reverse=reverse), x)
    run_both(op("shift", axis=0, reverse=reverse), x[:0])
    run_both(op("linear_recurrence", axis=axis, reverse=reverse), x[:0], y[:0])


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_extremes(shape: tuple[int, ...], dtype: str) -> None:
    x = (np.random.default_rng(0).standard_normal(shape) * 50).astype(dtype)
    if x.dtype.kind == "f" and x.size > 4:
        x.flat[x.size // 2] = np.nan
    for axis in range(len(shape)):
        for name, ufunc in (("cummax", np.maximum), ("cummin", np.minimum)):
            (found,) = run_both(op(name, axis=axis), x)
            np.testing.assert_array_equal(found, ufunc.accumulate(x, axis))


def test_numpy_methods() -> None:
    x = np.arange(6, dtype=np.int8).reshape(2, 3)
    assert run_both(op("numpy_cumsum", axis=None), x)[0].tolist() == [0, 1, 3, 6, 10, 15]
    run_both(op("numpy_cumprod", axis=1), x)
    run_both(op("numpy_cumsum", axis=0), x.T[::2])


@pytest.mark.parametrize("exclusive", [False, True])
def test_gradients_are_those_of_finite_differences(exclusive: bool) -> None:
    x = np.array([[1.5, -0.5, 2.0], [0.0, 3.0, -1.0]])
    weights = np.array([[1.0, 2.0, -3.0], [0.5, 4.0, 1.0]])

    @ac.function
    def loss(x: Any) -> Any:
        product = ac.math.cumprod(x, axis=1, exclusive=exclusive)
        return ac.reduce_sum((product + ac.cumsum(x, axis=0, reverse=True, exclusive=exclusive)) * weights)

    def plain(x: Any) -> float:
        def moved(y: Any, axis: int, start: float) -> Any:
            shape = [1 if i == axis else n for i, n in enumerate(y.shape)]
            return np.concatenate([np.full(shape, start), np.delete(y, -1, axis)], axis) if exclusive else y

        product = moved(np.cumprod(x, 1), 1, 1.0)
        total = np.flip(moved(np.cumsum(np.flip(x, 0), 0), 0, 0.0), 0)
        return float(np.sum((product + total) * weights))

    assert float(loss(ac.constant(x))) == pytest.approx(plain(x))
    found = np.asarray(ac.grad(loss)(ac.constant(x)))
    for position in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[position] = 1e-6
        assert found[position] == pytest.approx((plain(x + step) - plain(x - step)) / 2e-6, abs=1e-7)
