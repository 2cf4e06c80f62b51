"""Elementary functions of native loops against correctly rounded ones: within 4 units in the last place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autoconv.backends import llvm
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.graph import Graph
from autoconv.graph.types import TensorType
from autoconv.ops import OPS

pytestmark = pytest.mark.optimised

mpmath = pytest.importorskip("mpmath")

# By name: the exact function, and the range of random arguments; arguments of random bits are added.
FUNCTIONS = {
    "exp": (mpmath.exp, (-104, 89)),
    "exp2": (lambda x: mpmath.mpf(2) ** x, (-140, 120)),
    "expm1": (mpmath.expm1, (-20, 80)),
    "log": (mpmath.log, (0, 10)),
    "log1p": (mpmath.log1p, (-0.9, 10)),
    "log2": (lambda x: mpmath.log(x) / mpmath.log(2), (0, 10)),
    "log10": (mpmath.log10, (0, 10)),
    "cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), (-10, 10)),
    "sin": (mpmath.sin, (-100, 100)),
    "cos": (mpmath.cos, (-100, 100)),
    "tan": (mpmath.tan, (-100, 100)),
    "tanh": (mpmath.tanh, (-12, 12)),
    "erf": (mpmath.erf, (-6, 6)),
    "atan": (mpmath.atan, (-10, 10)),
    "asin": (mpmath.asin, (-1, 1)),
    "acos": (mpmath.acos, (-1, 1)),
    "sinh": (mpmath.sinh, (-20, 20)),
    "cosh": (mpmath.cosh, (-20, 20)),
    "asinh": (mpmath.asinh, (-20, 20)),
    "acosh": (mpmath.acosh, (1, 20)),
    "atanh": (mpmath.atanh, (-1, 1)),
}
LIMIT = 4.0
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 2.0, 1e-30, -1e-30, 1e30, -1e30, 3e38, 1e-40, 1e-44]


def arguments(dtype: Any, span: tuple[float, float]) -> np.ndarray:
    random = np.random.default_rng(7)
    word = np.uint32 if dtype is np.float32 else np.uint64
    bits = random.integers(0, np.iinfo(word).max, 1500, dtype=word).view(dtype)
    inside = random.uniform(*span, 2500).astype(dtype)
    small = (random.uniform(-1, 1, 1000) * 10.0 ** random.uniform(-12, 0, 1000)).astype(dtype)
    return np.concatenate([np.array(SPECIAL, dtype), bits, inside, small])


def native(name: str, x: np.ndarray) -> np.ndarray:
    graph = Graph(name)
    value = graph.add_parameter(TensorType(as_dtype(x.dtype), x.shape))
    graph.outputs = list(graph.add(OPS[name], [value]).results)
    return np.asarray(llvm.compile_graph(graph)([x])[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@pytest.mark.search
def test_within_four_units_in_the_last_place(name: str, dtype: Any) -> None:
    exact, span = FUNCTIONS[name]
    x = arguments(dtype, span)
    found = native(name, x)
    with np.errstate(all="ignore"):
        rough = np.asarray(OPS[name].kernel(x))  # type: ignore[misc]
    special = ~np.isfinite(rough) | ~np.isfinite(x)
    np.testing.assert_array_equal(found[special & ~np.isfinite(rough)], rough[special & ~np.isfinite(rough)])
    np.testing.assert_array_equal(np.signbit(found[:2]), np.signbit(rough[:2]))
    worst: tuple[float, float] = (0.0, 0.0)
    with mpmath.workprec(200):
        for argument, actual in zip(x[~special], found[~special], strict=True):
            true = exact(mpmath.mpf(float(argument)))
            unit = float(np.spacing(np.abs(dtype(float(true)))))
            error = float(abs(mpmath.mpf(float(actual)) - true) / unit)
            worst = max(worst, (error, float(argument)))
    assert worst[0] <= LIMIT, f"{name}({worst[1]!r}) is {worst[0]:.1f} units off"


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_powers_are_exact(dtype: Any) -> None:
    limits = np.finfo(dtype)
    exponents = np.arange(limits.minexp - limits.nmant, limits.maxexp).astype(dtype)
    np.testing.assert_array_equal(native("log2", np.ldexp(dtype(1), exponents.astype(int))), exponents)
    np.testing.assert_array_equal(native("exp2", exponents), np.ldexp(dtype(1), exponents.astype(int)))
    powers_of_ten = np.arange(23 if dtype is np.float64 else 11)
    np.testing.assert_array_equal(native("log10", np.array([10**int(n) for n in powers_of_ten], dtype)), powers_of_ten)
    roots = np.arange(-200, 200).astype(dtype)
    np.testing.assert_array_equal(native("cbrt", roots**3), roots)


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_angles_of_points(dtype: Any) -> None:
    """Compare the angles of all pairs of special numbers, zeros of both signs, infinities and nan."""
    random = np.random.default_rng(3)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-30, -1e30], dtype)
    wide = (random.normal(size=(2, 2000)) * 10.0 ** random.uniform(-20, 20, (2, 2000))).astype(dtype)
    draws = random.normal(size=(2, 2000)).astype(dtype)
    pairs = [item.ravel() for item in np.meshgrid(special, special)]
    y, x = (np.concatenate([pairs[i], wide[i], draws[i]]) for i in range(2))
    graph = Graph("angles")
    values = [graph.add_parameter(TensorType(as_dtype(x.dtype), x.shape)) for _ in range(2)]
    graph.outputs = list(graph.add(OPS["atan2"], values).results)
    found = np.asarray(llvm.compile_graph(graph)([y, x])[0])
    expected = np.arctan2(y.astype(np.longdouble), x.astype(np.longdouble))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    there = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[there]), np.signbit(expected[there].astype(dtype)))
    units = np.abs(found[there] - expected[there]) / np.spacing(np.abs(expected[there].astype(dtype)))
    assert units.max() <= LIMIT


def _native_powers(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    graph = Graph("powers")
    values = [graph.add_parameter(TensorType(as_dtype(x.dtype), x.shape)) for _ in range(2)]
    graph.outputs = list(graph.add(OPS["power"], values).results)
    return np.asarray(llvm.compile_graph(graph)([x, y])[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_powers_of_regular_numbers(dtype: Any) -> None:
    """Compare powers that are normal numbers, so that the loop does not call the C library."""
    random = np.random.default_rng(5)
    bases = np.concatenate([random.uniform(0, 10, 1000), 1 + random.normal(size=500) * 1e-4, np.zeros(100)])
    bases = np.concatenate([bases, random.uniform(1e-30, 1e30, 400), -random.uniform(0, 10, 400), [np.nan]])
    exponents = random.uniform(-20, 20, bases.size)
    exponents[1000:1500] *= 1e5 if dtype is np.float64 else 1e2
    exponents[1500:1600] = random.uniform(1, 5, 100)
    exponents[1600:2000] = random.uniform(-1, 1, 400)
    exponents[2000:] = random.integers(-9, 9, bases.size - 2000)
    x, y = bases.astype(dtype), exponents.astype(dtype)
    found = _native_powers(x, y)
    with mpmath.workprec(200), np.errstate(over="ignore"):
        for base, exponent, actual in zip(x, y, found, strict=True):
            if np.isnan(base) or base == 0:
                np.testing.assert_array_equal(actual, np.power(base, exponent))
                continue
            true = mpmath.mpf(float(base)) ** mpmath.mpf(float(exponent))
            unit = float(np.spacing(np.abs(dtype(float(true)))))
            assert abs(mpmath.mpf(float(actual)) - true) / unit <= 1.5, (base, exponent)


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_powers_at_edges(dtype: Any) -> None:
    """Compare all pairs of edge numbers: zeros, infinities, nan, odd exponents, powers that overflow."""
    limits = np.finfo(dtype)
    sizes = [0, 1, 2, 3, 0.5, 1.5, 2.0**53 - 1, 1e16, np.inf, limits.max, limits.tiny, limits.smallest_subnormal]
    edges = np.array([*sizes, *(-size for size in sizes), np.nan], dtype)
    for exponent in edges:
        with np.errstate(all="ignore"):
            expected = np.power(edges, np.full_like(edges, exponent))
        found = np.array([_native_powers(np.full(9, base), np.full(9, exponent))[4] for base in edges])
        np.testing.assert_allclose(found, expected, rtol=4 * float(limits.eps), atol=0)
        np.testing.assert_array_equal(np.signbit(found[~np.isnan(found)]), np.signbit(expected[~np.isnan(found)]))


@pytest.mark.parametrize("shape", [(4000, 3), (2, 30, 90, 5), (3, 1300, 4), (2, 3000, 0, 5)], ids=str)
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_mean"])
def test_long_float32_sums_over_leading_axes(shape: tuple[int, ...], name: str) -> None:
    """The error of a running sum is some hundred times larger."""
    x = np.random.default_rng(3).uniform(0.5, 1.5, shape).astype(np.float32)
    axes = (1,) if len(shape) == 3 else tuple(range(len(shape) - 1))
    graph = Graph("sums")
    value = graph.add_parameter(TensorType(as_dtype(x.dtype), shape))
    graph.outputs = list(graph.add(OPS[name], [value], {"axis": axes, "keepdims": False}).results)
    total = np.sum(x.astype(np.float64), axis=axes)
    expected = total / np.prod([shape[axis] for axis in axes]) if name == "reduce_mean" else total
    np.testing.assert_allclose(llvm.compile_graph(graph)([x])[0], expected, rtol=5e-7)
    if axes[0] == 0:
        np.testing.assert_allclose(OPS[name].kernel(x, axis=axes), expected, rtol=5e-7)
