"""Error functions, steps of one unit and sums by XLA and ONNX Runtime, beside Python's and NumPy's; masks in ONNX."""

import math

import numpy as np
import pytest

import autoconv as ac
from tests.backends.portable_samples import executed

SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0]
X = np.array([*np.linspace(-26.0, 26.0, 1001), *SPECIAL])


def by_xla(function, *arrays):
    pytest.importorskip("jaxlib")
    module = ac.stablehlo.export(ac.function(function), *map(ac.constant, arrays))
    results, word = executed(module.text, arrays, module.types)
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
    np.testing.assert_allclose(erfc, list(map(math.erfc, X)), rtol=1e-13)  # as far as XLA's exp is


@RUNTIMES
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_next_numbers(run, dtype):
    limits = np.finfo(dtype)
    numbers = np.array([*SPECIAL, 1.0, -1.0, limits.smallest_subnormal, -limits.smallest_subnormal, limits.max], dtype)
    x, y = map(np.ravel, np.meshgrid(numbers, numbers))
    (found,) = run(ac.math.nextafter, x, y)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, np.nextafter(x, y))


def test_masks_and_places():
    def taken(x, mask):
        return x[mask], x[x > 0.5], x[mask, 1:3], ac.where(x > 0.5), ac.reduce_sum(x[x > 0.5])

    x, mask = np.random.default_rng(1).random((5, 4)), np.array([True, False, True, True, False])
    wanted = (x[mask], x[x > 0.5], x[mask, 1:3], np.argwhere(x > 0.5), x[x > 0.5].sum())
    for found, expected in zip(by_onnx(taken, x, mask), wanted, strict=True):
        np.testing.assert_allclose(found, expected)


@RUNTIMES
def test_sums_of_inverse_powers(run):
    x = np.array([0.25, 1.0, 3.5, 11.0, 40.0, -0.5, -7.25, math.nan])
    s, q = np.array([1.5, 2.0, 7.0, 1.0, 0.5, 3.0, 3.0]), np.array([0.5, 1.0, 9.0, 2.0, 2.0, -2.0, -0.5])

    def sums(x, s, q):
        return ac.math.polygamma(1, x), ac.math.polygamma(3, x), ac.math.zeta(s, q)

    found, wanted = run(sums, x, s, q), [one.numpy() for one in sums(x, s, q)]
    np.testing.assert_allclose(wanted[2][-1], ac.math.zeta(3.0, np.float64(0.5)) - 8.0, rtol=1e-13)
    for one, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, expected, rtol=1e-13)


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
