"""NumPy's functions of complex numbers, compiled: NumPy's results on special values, without kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv

KINDS = [np.complex128, np.complex64]
UNARY: dict[str, Callable[[Any], Any]] = {
    "arcsin": lambda z: np.arcsin(z), "arccos": lambda z: np.arccos(z), "arctan": lambda z: np.arctan(z),
    "arcsinh": lambda z: np.arcsinh(z), "arccosh": lambda z: np.arccosh(z), "arctanh": lambda z: np.arctanh(z),
    "sinh": lambda z: np.sinh(z), "cosh": lambda z: np.cosh(z), "expm1": lambda z: np.expm1(z),
    "log1p": lambda z: np.log1p(z), "exp2": lambda z: np.exp2(z), "log2": lambda z: np.log2(z),
    "log10": lambda z: np.log10(z), "sign": lambda z: np.sign(z), "rint": lambda z: np.rint(z),
    "round": lambda z: np.round(z, 1), "nan_to_num": lambda z: np.nan_to_num(z, posinf=7.0),
}  # fmt: skip
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "less": lambda x, y: np.less(x, y), "less_equal": lambda x, y: np.less_equal(x, y),
    "greater": lambda x, y: np.greater(x, y), "greater_equal": lambda x, y: np.greater_equal(x, y),
    "maximum": lambda x, y: np.maximum(x, y), "minimum": lambda x, y: np.minimum(x, y),
    "fmax": lambda x, y: np.fmax(x, y), "fmin": lambda x, y: np.fmin(x, y),
}  # fmt: skip


def pairs(values: list[float], dtype: Any) -> np.ndarray:
    """Return all pairs of these numbers as real and imaginary parts."""
    kind = np.finfo(dtype).dtype
    real, imag = np.meshgrid(np.array(values, kind), np.array(values, kind))
    found = np.empty(real.size, dtype)
    found.real, found.imag = real.ravel(), imag.ravel()
    return found


def special(dtype: Any) -> np.ndarray:
    facts = np.finfo(dtype)
    values = [0.0, -0.0, 1.0, -1.0, 0.35, -2.25, 1e-5, -30.0, np.inf, -np.inf, np.nan, facts.tiny]
    return pairs([*map(float, values), float(facts.max)], dtype)


def assert_same(found: Any, expected: Any, units: float) -> None:
    """Compare nan, infinities and signs of zeros exactly, other parts within so many units in the last place."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if found.dtype == bool:
        np.testing.assert_array_equal(found, expected)
        return
    for actual, desired in ((found.real, expected.real), (found.imag, expected.imag)):
        np.testing.assert_array_equal(np.isnan(actual), np.isnan(desired))
        not_nan = ~np.isnan(desired)
        np.testing.assert_array_equal(np.signbit(actual[not_nan]), np.signbit(desired[not_nan]))
        infinite = np.isinf(desired)
        np.testing.assert_array_equal(actual[infinite], desired[infinite])
        finite = np.isfinite(desired)
        rounded, exact = actual[finite].astype(np.longdouble), np.abs(desired[finite])
        unit = exact * np.finfo(desired.dtype).eps + np.finfo(desired.dtype).smallest_subnormal
        assert np.all(np.abs(rounded - desired[finite]) <= units * unit)


def by_numpy_and_natively(function: Callable[..., Any], *arrays: np.ndarray) -> tuple[Any, Any]:
    with np.errstate(all="ignore"):
        expected = function(*arrays)
    compiled = autoconv.compile(function)
    found = compiled(*arrays)
    assert "kernel" not in compiled.explain()
    assert "plain Python" not in compiled.explain()
    return found, expected


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("name", sorted(UNARY))
@pytest.mark.search
def test_functions_of_special_numbers(name: str, dtype: Any) -> None:
    assert_same(*by_numpy_and_natively(UNARY[name], special(dtype)), 8.0)


@pytest.mark.parametrize("name", sorted(BINARY))
def test_the_order_of_special_numbers(name: str) -> None:
    z = pairs([0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan], np.complex128)
    x, y = (np.ascontiguousarray(item.ravel()) for item in np.meshgrid(z, z))
    assert_same(*by_numpy_and_natively(BINARY[name], x, y), 0.0)


ROWS: dict[str, Callable[[Any], Any]] = {
    "sort": lambda z: np.sort(z), "sort_axis": lambda z: np.sort(z, axis=0), "sort_all": lambda z: np.sort(z, None),
    "sort_complex": lambda z: np.sort_complex(z), "argsort": lambda z: np.argsort(z, kind="stable"),
    "argsort_columns": lambda z: np.argsort(z, axis=0), "partition": lambda z: np.partition(z, 5),
    "argpartition": lambda z: np.argpartition(z, 7, axis=-1),
    "max": lambda z: np.max(z), "max_axis": lambda z: z.max(axis=0), "min": lambda z: np.min(z, axis=-1, keepdims=True),
    "argmax": lambda z: np.argmax(z), "argmin": lambda z: z.argmin(axis=1), "any": lambda z: np.any(z, axis=0),
    "all": lambda z: np.all(z, axis=1), "ptp": lambda z: np.ptp(z, axis=0), "median": lambda z: np.median(z, axis=1),
    "round": lambda z: z.round(2), "clip": lambda z: np.clip(z, z[0, 0], z[1, 1]),
    "linspace": lambda z: np.linspace(z[0], z[1], 7),
}  # fmt: skip
CLOSE: dict[str, Callable[[Any], Any]] = {
    "var": lambda z: np.var(z, axis=0), "std": lambda z: z.std(ddof=1), "cov": lambda z: np.cov(z),
    "corrcoef": lambda z: np.corrcoef(z), "svd": lambda z: np.linalg.svd(z)[0], "norm": lambda z: np.linalg.norm(z, 1),
    "svdvals": lambda z: np.linalg.svdvals(z), "qr": lambda z: np.linalg.qr(z)[1], "det": lambda z: np.linalg.det(z),
    "cumprod": lambda z: np.cumprod(z, axis=1), "solve": lambda z: np.linalg.solve(z, z[0]),
    "pinv": lambda z: np.linalg.pinv(z[:, :4]), "cond": lambda z: np.linalg.cond(z),
    "norm_2": lambda z: np.linalg.norm(z, 2),
    "nuclear": lambda z: np.linalg.matrix_norm(z, ord="nuc"), "rank": lambda z: np.linalg.matrix_rank(z[:, :3]),
    "gradient": lambda z: np.gradient(z, 0.5, axis=1), "gradient_2": lambda z: np.gradient(z, edge_order=2)[0],
    "interp": lambda z: np.interp(np.array([0.2, 3.7, 9.0]), np.arange(6.0), z[0]),
    "inverse": lambda z: np.linalg.inv(z), "power": lambda z: np.linalg.matrix_power(z, -2),
}  # fmt: skip


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("name", sorted(ROWS))
@pytest.mark.search
def test_rows_of_few_different_numbers(name: str, dtype: Any) -> None:
    """Sort and search rows with equal numbers, with and without nans."""
    draws = np.random.default_rng(2)
    for values in ([0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan], [0.5, 1.0, 1.5]):
        z = draws.choice(pairs(values, dtype), (9, 31))
        found, expected = by_numpy_and_natively(ROWS[name], z)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found.real, expected.real)
        np.testing.assert_array_equal(found.imag, expected.imag)


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("name", sorted(CLOSE))
@pytest.mark.search
def test_spreads_and_matrices(name: str, dtype: Any) -> None:
    draws = np.random.default_rng(3)
    z = (draws.standard_normal((6, 6)) + 1j * draws.standard_normal((6, 6))).astype(dtype)
    found, expected = by_numpy_and_natively(CLOSE[name], z)
    assert np.asarray(found).dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=100 * np.finfo(np.result_type(expected, dtype)).eps)


def test_sorting_long_rows() -> None:
    draws = np.random.default_rng(4)
    z = draws.integers(0, 40, 3000) + 1j * draws.integers(0, 40, 3000)
    found, expected = by_numpy_and_natively(lambda z: np.sort(z), z)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("x", [np.array([1, 2, 100]), np.array([1.5, 0.0]), np.array([True, False]), np.ones(0)])
def test_reductions_of_real_arrays_to_complex_numbers(x: np.ndarray) -> None:
    def reductions(x: np.ndarray) -> Any:
        return np.prod(x, dtype="c16"), x.sum(dtype="c16"), x.cumsum(dtype="c16"), np.prod(x, keepdims=True, dtype="c8")

    assert repr(autoconv.compile(reductions)(x)) == repr(reductions(x))
