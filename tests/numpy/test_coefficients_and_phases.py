"""NumPy's older functions of polynomials, phases, and the gradients of these and of some products."""

import numpy as np
import pytest

import autoconv as ac
from autoconv.config import SETTINGS
from tests.numpy.agreement import check_agreement


@pytest.fixture
def native_calls(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")


ARITHMETIC = {
    "polyadd": lambda p, q: (np.polyadd(p, q), np.polyadd(q, p), np.polyadd(q, q[::-1])),
    "polysub": lambda p, q: (np.polysub(p, q), np.polysub(q, p)),
    "polymul": lambda p, q: np.polymul(p, q),
    "polyder": lambda p, q: (np.polyder(p), np.polyder(p, 2), np.polyder(q, 9), np.polyder(p, 0)),
    "polyint": lambda p, q: (np.polyint(p), np.polyint(p, 2)),
    "poly": lambda p, q: (np.poly(p), np.poly(q)),
}


@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "complex128", "bool"])
def test_arithmetic_of_polynomials(name, kind, native_calls):
    random = np.random.default_rng(4)
    p, q = (np.ceil(random.uniform(1, 9, size)).astype(kind) for size in (6, 4))
    if (name, kind) == ("polysub", "bool"):
        check_agreement(ARITHMETIC[name], p, q)
        return
    expected = ARITHMETIC[name](p, q)
    compiled = ac.compile(ARITHMETIC[name])
    for _ in range(3):
        found = compiled(p, q)
        for actual, wanted in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True):
            assert actual.dtype == wanted.dtype
            np.testing.assert_allclose(actual, wanted, rtol=1e-6 if kind == "float32" else 1e-13)
    explanation = compiled.explain()
    assert "by kernels" not in explanation
    assert "plain Python" not in explanation or (name, kind) == ("poly", "complex128")


def test_leading_zeros_of_factors_are_dropped():
    check_agreement(lambda p, q: np.polymul(p, q), lambda: np.array([0.0, 1.0, 2.0]), lambda: np.array([3.0, 4.0]))
    check_agreement(lambda p, q: np.polymul(p, q), lambda: np.array([1.0, 1.0, 2.0]), lambda: np.zeros(3))
    check_agreement(lambda p, q: np.polymul(p, q), lambda: np.array([1, 0, 1]) == 1, lambda: np.array([0, 1]) == 1)


def test_polynomials_of_complex_zeros():
    check_agreement(np.poly, lambda: np.array([1 + 2j, 3 - 1j]))
    check_agreement(np.poly, lambda: np.array([1 + 2j, 1 - 2j, 3]))


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize("axis", [0, -1])
def test_phases_without_jumps(kind, axis, native_calls):
    def f(x):
        return np.unwrap(x, axis=axis), np.unwrap(x, axis=axis, period=5), np.unwrap(x[0], discont=4.5)

    phases = (np.random.default_rng(4).normal(size=(5, 30)) * 9).astype(kind)
    phases[1] = phases[0] + np.dtype(kind).type(np.pi)
    assert "by kernels" not in check_agreement(f, lambda: phases.copy()).explain()


GRADIENTS = {
    "polyadd": lambda x: np.polyadd(x[:4], x[4:7]),
    "polymul": lambda x: np.polymul(x[:4], x[4:7]),
    "polyder": lambda x: np.polyder(x, 2),
    "polyint": lambda x: np.polyint(x, 2),
    "poly": lambda x: np.poly(x[:5]),
    "unwrap": lambda x: np.unwrap(x * 5),
    "bincount": lambda x: np.bincount([0, 2, 1, 2, 2, 0, 4, 1], weights=x),
    "matvec": lambda x: np.matvec(x.reshape(4, 2), x[:2]),
    "vecmat": lambda x: np.vecmat(x[:4], x.reshape(4, 2)),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_those_of_finite_differences(name):
    x = np.random.default_rng(6).normal(size=8)
    weights = np.cos(np.arange(40.0))

    def total(x):
        result = GRADIENTS[name](x)
        return np.sum(result.ravel() * weights[: result.size])

    step = 1e-6
    expected = [(total(x + step * unit) - total(x - step * unit)) / (2 * step) for unit in np.eye(8)]
    np.testing.assert_allclose(ac.grad(ac.compile(total))(x), expected, rtol=1e-5, atol=1e-7)
