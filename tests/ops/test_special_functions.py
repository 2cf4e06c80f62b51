"""Special functions against closed forms, integrals and finite differences; eager calls on large arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import autoconv as ac
from autoconv.ops import OPS

X = np.array([1e-3, 0.3, 1.0, 4.5, 30.0])


def test_incomplete_gamma_functions_of_whole_numbers() -> None:
    """P(n, x) = 1 - e^-x · the first n terms of the exponential series."""
    for n in (1, 2, 7, 40):
        upper = np.exp(-X) * sum(X**k / math.factorial(k) for k in range(n))
        np.testing.assert_allclose(ac.math.igammac(float(n), X), upper, rtol=1e-13)
        np.testing.assert_allclose(ac.math.igamma(float(n), X), 1 - upper, rtol=1e-12, atol=1e-15)
    tiny = ac.math.igamma(np.float64(40.0), np.float64(0.5)).numpy()  # 1 - Q would be 0
    assert tiny == pytest.approx(math.exp(-0.5) * sum(0.5**k / math.factorial(k) for k in range(40, 60)), rel=1e-12)


def test_incomplete_gamma_functions_at_their_ends() -> None:
    a = np.array([1.0, 1.0, 0.0, -1.0, 1.0, np.nan], np.float32)
    x = np.array([0.0, np.inf, 2.0, 1.0, -1.0, 1.0], np.float32)
    np.testing.assert_array_equal(ac.math.igamma(a, x), [0, 1, 1, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(ac.math.igammac(a, x), [1, 0, 0, np.nan, np.nan, np.nan])


def test_gradients_of_incomplete_gamma_functions() -> None:
    a, x = ac.constant([0.4, 3.0, 8.0, 60.0], ac.float64), ac.constant([2.0, 0.7, 9.0, 75.0], ac.float64)
    with ac.GradientTape(persistent=True) as tape:
        tape.watch([a, x])
        lower, upper = ac.math.igamma(a, x), ac.math.igammac(a, x)
    h = 1e-4
    for function, result in ((ac.math.igamma, lower), (ac.math.igammac, upper)):
        by_a, by_x = tape.gradient(result, [a, x])
        np.testing.assert_allclose(by_a, (function(a + h, x) - function(a - h, x)) / (2 * h), rtol=1e-6)
        np.testing.assert_allclose(by_x, (function(a, x + h) - function(a, x - h)) / (2 * h), rtol=1e-6)


def test_incomplete_beta_function() -> None:
    x = np.array([0.0, 1e-3, 0.4, 0.999, 1.0])
    np.testing.assert_allclose(ac.math.betainc(2.5, 1.0, x), x**2.5, rtol=1e-13)
    np.testing.assert_allclose(ac.math.betainc(1.0, 0.3, x), 1 - (1 - x) ** 0.3, rtol=1e-12)
    np.testing.assert_allclose(
        ac.math.betainc(200.0, 90.0, x[2]) + ac.math.betainc(90.0, 200.0, 1 - x[2]), 1.0, rtol=1e-12
    )
    assert np.isnan(ac.math.betainc([1.0, -1.0, 1.0], [1.0, 1.0, 1.0], [1.5, 0.5, np.nan])).all()


def test_zeta() -> None:
    np.testing.assert_allclose(ac.math.zeta(np.float64(2.0), [1.0, 2.0]), [math.pi**2 / 6, math.pi**2 / 6 - 1])
    np.testing.assert_allclose(ac.math.zeta(np.float64(4.0), np.float64(1.0)), math.pi**4 / 90, rtol=1e-14)
    for power, point in ((19.0, 10.5), (3.5, 0.25), (60.0, 3.0)):
        k = np.arange(100_000)
        total = math.fsum((point + k) ** -power) + (point + 1e5) ** (1 - power) / (power - 1)
        assert float(ac.math.zeta(np.float64(power), point)) == pytest.approx(total, rel=1e-8)
    np.testing.assert_array_equal(ac.math.zeta([1.0, 0.5, 2.5], [1.0, 1.0, -1.5]), [np.inf, np.nan, np.nan])
    np.testing.assert_array_equal(ac.math.zeta([2.0, 2.0, 2.5], [np.inf, -3.0, np.nan]), [0, np.inf, np.nan])
    orders = np.array([0.0, 1.0, 2.0, 3.0])
    found = ac.math.polygamma(orders, np.full(4, 1.5))
    np.testing.assert_allclose(found, [ac.math.polygamma(int(n), np.float64(1.5)) for n in orders], rtol=1e-12)


def test_functions_with_loops_agree_with_mpmath() -> None:
    """Eager kernels and native code, where series and fractions need few and many terms."""
    mpmath = pytest.importorskip("mpmath")
    a, x = np.array([0.01, 0.4, 3.0, 12.0, 60.0, 1e4]), np.array([5.0, 2.0, 0.7, 12.0, 75.0, 9.9e3])
    b, u = np.array([3.0, 0.75, 4.0, 200.0, 1.0, 90.0]), np.array([0.3, 0.9, 0.01, 0.05, 0.5, 0.99])
    powers, places = np.array([1.001, 2.0, 3.0, 39.5, 51.0, 1000.0]), np.array([20.0, 0.3, 1.0, 4.5, 145.0, 1.5])
    cases: list[tuple[Any, tuple[Any, ...], Any]] = [
        (ac.math.igamma, (a, x), lambda a, x: mpmath.gammainc(a, 0, x, regularized=True)),
        (ac.math.igammac, (a, x), lambda a, x: mpmath.gammainc(a, x, mpmath.inf, regularized=True)),
        (ac.math.betainc, (a, b, u), lambda a, b, u: mpmath.betainc(a, b, 0, u, regularized=True)),
        (ac.math.zeta, (powers, places), mpmath.zeta),
        *((ac.math.polygamma, (np.full(6, float(n)), x), mpmath.polygamma) for n in (1, 4, 30)),
    ]
    with mpmath.workdps(80):
        expected = [[float(function(*map(mpmath.mpf, row))) for row in zip(*arguments, strict=True)]
                  for _, arguments, function in cases]  # fmt: skip

    @ac.function
    def together(operands: Any) -> Any:
        return [function(*arguments) for (function, *_), arguments in zip(cases, operands, strict=True)]

    operands = [[ac.constant(x) for x in arguments] for _, arguments, _ in cases]
    eager = [function(*arguments) for (function, *_), arguments in zip(cases, operands, strict=True)]
    for results in (eager, together(operands)):
        for result, values in zip(results, expected, strict=True):
            np.testing.assert_allclose(result, values, rtol=2e-12)
    assert "by kernels" not in together.explain()


@pytest.mark.parametrize("order", [0, 1])
def test_bessel_functions_are_integrals(order: int) -> None:
    """I(x) is the mean of e^(x·cos t)·cos(order·t) over a turn."""
    t = np.linspace(0, 2 * np.pi, 512, endpoint=False)
    whole, scaled = getattr(ac.math, f"bessel_i{order}"), getattr(ac.math, f"bessel_i{order}e")
    for dtype, bound in ((np.float64, 1e-13), (np.float32, 2e-6)):
        x = np.array([0.0, 1e-3, -0.5, 3.0, 9.9, -10.1, 23.9, 24.1, 85.0], dtype)
        mean = np.mean(np.exp(np.abs(x)[:, None] * (np.cos(t) - 1)) * np.cos(order * t), 1)
        mean = mean * np.sign(x) ** order
        np.testing.assert_allclose(scaled(x), mean, rtol=bound, atol=1e-17)
        np.testing.assert_allclose(whole(x), mean * np.exp(np.abs(x.astype(float))), rtol=2 * bound, atol=1e-17)


@pytest.mark.parametrize(
    "name", ["erf", "erfc", "lgamma", "digamma", "erfinv", "ndtri", "softplus", "bessel_i0e", "bessel_i1"]
)
def test_large_arrays_run_native_code_eagerly(name: str) -> None:
    """Ops whose record says so run natively; results are the kernel's up to rounding, for every shape."""
    op = OPS[name]
    assert op.traits.compiles_eager_calls and op.kernel is not None
    x: Any = np.random.default_rng(0).uniform(0.01, 0.99, (3, 100_000)).astype(np.float32)
    found = getattr(ac.math, name)(x).numpy()
    assert found.shape == x.shape and found.dtype == np.float32
    np.testing.assert_allclose(found, op.kernel(x), rtol=5e-6, atol=1e-7)
    np.testing.assert_allclose(getattr(ac.math, name)(x[:, ::2]), op.kernel(x[:, ::2]), rtol=5e-6, atol=1e-7)
