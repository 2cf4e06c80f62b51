"""Special functions, steps of one unit and sums by XLA and ONNX Runtime, beside Python's and NumPy's; masks in ONNX."""

import math

import numpy as np
import pytest

import autoconv as ac
from autoconv.ops import OPS
from autoconv.runtime.tensors.dispatch import apply
from tests.backends.portable_samples import run_module

SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0]
X = np.array([*np.linspace(-26.0, 26.0, 1001), *SPECIAL])


def by_xla(function, *arrays):
    pytest.importorskip("jaxlib")
    module = ac.stablehlo.export(ac.function(function), *map(ac.constant, arrays))
    results, word = run_module(module, arrays)
    assert not word
    return results


def by_onnx(function, *arrays):
    pytest.importorskip("onnxruntime")
    results = ac.onnx.load(ac.onnx.export(ac.function(function), *map(ac.constant, arrays)))(*arrays)
    return results if isinstance(results, tuple) else (results,)


RUNTIMES = pytest.mark.parametrize("run", [by_xla, by_onnx])


@RUNTIMES
def test_error_functions(run):
    erf, erfc = run(lambda x: (ac.math.erf(x), ac.math.erfc(x)), X)
    np.testing.assert_allclose(erf, list(map(math.erf, X)), rtol=1e-15)
    np.testing.assert_allclose(erfc, list(map(math.erfc, X)), rtol=1e-13)  # the accuracy of XLA's exp


@RUNTIMES
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_next_numbers(run, dtype):
    limits = np.finfo(dtype)
    numbers = np.array([*SPECIAL, 1.0, -1.0, limits.smallest_subnormal, -limits.smallest_subnormal, limits.max], dtype)
    x, y = map(np.ravel, np.meshgrid(numbers, numbers))
    (found,) = run(ac.math.nextafter, x, y)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, np.nextafter(x, y))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_inverse_functions(dtype):
    """The least normal number is a tolerance because XLA takes smaller ones for 0."""
    names = ("acos", "acosh", "asin", "asinh", "atan", "atanh")
    parts = np.array([*SPECIAL, 1.0, -1.0, 0.5, -2.0, 1e-3, -1e7, 1e20], np.finfo(dtype).dtype)
    real, imag = map(np.ravel, np.meshgrid(parts, parts))
    z = np.empty(real.shape, dtype)
    z.real, z.imag = real, imag
    expected = [OPS[name].kernel(z) for name in names]
    for found, value in zip(by_xla(lambda x: [getattr(ac, name)(x) for name in names], z), expected, strict=True):
        for part, exact in ((np.real(found), np.real(value)), (np.imag(found), np.imag(value))):
            np.testing.assert_allclose(part, exact, rtol=16 * np.finfo(dtype).eps, atol=np.finfo(dtype).tiny)
            ordered = ~np.isnan(exact)
            np.testing.assert_array_equal(np.signbit(part[ordered]), np.signbit(exact[ordered]))


def test_masks_and_places():
    def taken(x, mask):
        return x[mask], x[x > 0.5], x[mask, 1:3], ac.where(x > 0.5), ac.reduce_sum(x[x > 0.5])

    x, mask = np.random.default_rng(1).random((5, 4)), np.array([True, False, True, True, False])
    desired = (x[mask], x[x > 0.5], x[mask, 1:3], np.argwhere(x > 0.5), x[x > 0.5].sum())
    for found, expected in zip(by_onnx(taken, x, mask), desired, strict=True):
        np.testing.assert_allclose(found, expected)


@RUNTIMES
def test_sums_of_inverse_powers(run):
    x = np.array([0.25, 1.0, 3.5, 11.0, 40.0, -0.5, -7.25, math.nan])
    s, q = np.array([1.5, 2.0, 7.0, 1.0, 0.5, 3.0, 3.0]), np.array([0.5, 1.0, 9.0, 2.0, 2.0, -2.0, -0.5])

    def sums(x, s, q):
        one, three = ac.constant(1.0, ac.float64), ac.constant(3.0, ac.float64)
        return ac.math.polygamma(one, x), ac.math.polygamma(three, x), ac.math.zeta(s, q)

    found, desired = run(sums, x, s, q), [actual.numpy() for actual in sums(x, s, q)]
    np.testing.assert_allclose(desired[2][-1], ac.math.zeta(3.0, np.float64(0.5)) - 8.0, rtol=1e-13)
    for actual, expected in zip(found, desired, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-13)


@RUNTIMES
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hyperbolic_functions_of_large_numbers(run, dtype):
    highest = np.finfo(dtype).max
    x = np.array([*np.linspace(-80.0, 80.0, 321), *SPECIAL, highest, -highest], dtype)
    names = ("sinh", "cosh", "asinh", "acosh", "tanh")

    def values(x):
        return tuple(getattr(ac.math, name)(x) for name in names)

    with np.errstate(all="ignore"):
        for name, found in zip(names, run(values, x), strict=True):
            np.testing.assert_allclose(found, getattr(np, f"arc{name[1:]}" if name[0] == "a" else name)(x), rtol=2e-6
                                       if dtype is np.float32 else 2e-15, err_msg=name)


@RUNTIMES
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_incomplete_functions(run, dtype):
    edges = [0.0, 1e-8, 0.4, 1.0, 9.0, 300.0, np.inf, np.nan, -1.0]
    a, x = (item.ravel().astype(dtype) for item in np.meshgrid(edges, edges))
    places = np.clip(np.nan_to_num(x / 300), 0, 1).astype(dtype)

    def values(a, x, places):
        with ac.GradientTape() as tape:
            tape.watch(a)
            lower = ac.math.igamma(a, x)
        beta = ac.math.betainc(ac.abs(a) + 0.1, ac.abs(a) + 2.0, places)
        return lower, ac.math.igammac(a, x), beta, tape.gradient(lower, a)

    desired = values(*map(ac.constant, (a, x, places)))
    for found, expected in zip(run(values, a, x, places), desired, strict=True):
        np.testing.assert_allclose(found, expected.numpy(), rtol=1e-5 if dtype is np.float32 else 1e-11, atol=1e-15)


@RUNTIMES
def test_recurrences(run):
    factors, x = np.array([[np.inf, 0.5, -2.0], [3.0, 0.0, 1.5]]), np.array([[0.0, 1.0, 2.0], [np.nan, 4.0, 5.0]])

    def values(factors, x):
        return tuple(apply("linear_recurrence", factors, x, axis=axis, reverse=axis == 1) for axis in (0, 1))

    expected = [OPS["linear_recurrence"].kernel(factors, x, axis=axis, reverse=axis == 1) for axis in (0, 1)]
    for found, wanted in zip(run(values, factors, x), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-15)


@RUNTIMES
def test_numbers_that_are_drawn_until_they_are_accepted(run):
    """Integers and float32 have the same bits; float64 agrees up to rounding."""
    alpha, mean = np.array([0.1, 0.5, 1.0, 2.0, 1000.0]), np.array([0.0, 0.5, 9.9, 10.0, 500.0])
    counts, chances = np.array([0.0, 5.0, 50.0, 500.0, 20.0]), np.array([0.5, 0.2, 0.9, 0.3, 1.0])

    def values(seed, alpha, mean, counts, chances):
        draw = ac.random
        return (
            draw.stateless_truncated_normal([101], seed),
            draw.stateless_truncated_normal([101], seed, dtype=ac.float64),
            draw.stateless_gamma([20, 5], seed, alpha, dtype=ac.float64),
            draw.stateless_poisson([20, 5], seed, mean, dtype=ac.int64),
            draw.stateless_binomial([20, 5], seed, counts, chances, output_dtype=ac.int64),
        )  # fmt: skip

    arguments = np.array([7, 42]), alpha, mean, counts, chances
    desired = values(*map(ac.constant, arguments))
    for found, expected in zip(run(values, *arguments), desired, strict=True):
        if found.dtype == np.float64:
            np.testing.assert_allclose(found, expected.numpy(), rtol=1e-11)
        else:
            np.testing.assert_array_equal(found, expected.numpy())


@RUNTIMES
@pytest.mark.parametrize("alpha", [0.0, math.nan])
def test_parameters_out_of_range_set_the_error_word(run, alpha):
    with pytest.raises((AssertionError, ac.errors.InvalidArgumentError)):
        run(lambda seed, alpha: ac.random.stateless_gamma([3], seed, alpha), np.array([1, 2]), np.float32(alpha))
