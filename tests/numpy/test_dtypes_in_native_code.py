"""NumPy's functions of bools, and conversions between kinds of numbers: results of NumPy, in native code."""

import numpy as np
import pytest

import autoconv as ac
from autoconv.config import SETTINGS
from tests.numpy.agreement import check_agreement


@pytest.fixture(autouse=True)
def native_calls(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")


def check_native(function, *makers):
    explanation = check_agreement(function, *makers).explain()
    assert "by kernels" not in explanation and "plain Python" not in explanation


def make_bools(shape):
    return lambda: np.random.default_rng(3).random(shape) < 0.3


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (np.argmax(x), x.argmin()),
        lambda x: np.argmax(x, axis=0),
        lambda x: np.argmin(x, axis=-1, keepdims=True),
        lambda x: np.maximum.accumulate(x),
        lambda x: np.minimum.accumulate(x, axis=-1),
    ],
)
@pytest.mark.parametrize("shape", [(1,), (300,), (4, 70)], ids=str)
def test_positions_and_running_extremes_of_bools(function, shape):
    check_native(function, make_bools(shape))


@pytest.mark.parametrize("shape", [(1,), (300,), (4, 70), (3, 1, 5)], ids=str)
def test_sorted_bools(shape):
    check_native(lambda x: (np.sort(x, axis=0), np.sort(x), np.sort(x, axis=None), np.nanargmax(x)), make_bools(shape))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolutions_of_bools(mode):
    check_native(lambda x, y: (np.convolve(x, y, mode), np.correlate(x, y, mode)), make_bools(40), make_bools(7))


@pytest.mark.parametrize("source", ["bool", "int8", "int64", "float32", "float64", "complex64"])
@pytest.mark.parametrize("target", ["complex64", "complex128"])
def test_conversions_to_complex_numbers(source, target):
    def f(x):
        y = x.astype(target)
        y[0] = 3j
        return y, x.astype(target)

    check_native(f, lambda: (np.random.default_rng(3).normal(size=(5, 3)) * 9).astype(source))


def test_ints_are_rounded_to_themselves():
    def f(x):
        y = np.round(x)
        y[0] = 5
        return y, x.round(2)

    check_native(f, lambda: np.arange(20))


@pytest.mark.parametrize("rows", [1, 5, 40])
@pytest.mark.parametrize("kind", ["complex64", "complex128"])
def test_products_of_complex_vectors(rows, kind):
    def f(a, x, y):
        return x @ y, np.vdot(x, y), np.inner(x, y), a @ x, y @ a.T, a[:1] @ x, np.einsum("i,i->", x, y)

    random = np.random.default_rng(3)
    a, x, y = ((random.random(shape) + 1j * random.random(shape)).astype(kind) for shape in ((rows, 33), 33, 33))
    compiled = ac.compile(f)
    for _ in range(3):
        for found, expected in zip(compiled(a, x, y), f(a, x, y), strict=True):
            assert found.dtype == expected.dtype and np.shape(found) == np.shape(expected)
            np.testing.assert_allclose(found, expected, rtol=1e-5 if kind == "complex64" else 1e-13)
