"""Complex numbers in native code, beside NumPy: without kernels, special values included."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv
from autoconv.backends import llvm
from autoconv.ops.index_spec import At, Slice
from tests.backends.native import graph_of, op, run_both

KINDS = [np.complex128, np.complex64]
FUNCTIONS = {
    "abs": np.abs, "angle": np.angle, "conjugate": np.conjugate, "cos": np.cos, "cosh": np.cosh, "exp": np.exp,
    "imag": np.imag, "log": np.log, "negative": np.negative, "real": np.real, "sin": np.sin, "sinh": np.sinh,
    "sqrt": np.sqrt, "square": np.square, "tan": np.tan, "tanh": np.tanh,
}  # fmt: skip
UNITS = 10.0  # in the last place of each part, between NumPy's results and native ones


def numbers(*shape: int, dtype: Any = np.complex128, seed: int = 0) -> np.ndarray:
    draws = np.random.default_rng(seed)
    return (draws.standard_normal(shape) + 1j * draws.standard_normal(shape)).astype(dtype)


def special(dtype: Any) -> np.ndarray:
    """Return all pairs of special real and imaginary parts: signed zeros, infinities, nan, large and tiny numbers."""
    kind = np.finfo(dtype).dtype.type
    facts = np.finfo(kind)
    parts = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, np.pi / 2, 1e-5, -30.0, 120.0, 750.0, -750.0, np.inf, -np.inf, np.nan]
    parts += [facts.max, -facts.max, facts.tiny, facts.smallest_subnormal]
    real, imag = np.meshgrid(np.array(parts, kind), np.array(parts, kind))
    found = np.empty(real.size, dtype)
    found.real, found.imag = real.ravel(), imag.ravel()
    return found


def native(build: Callable[..., Any], *inputs: Any) -> np.ndarray:
    run = llvm.compile_graph(graph_of(build, *inputs))
    assert isinstance(run, llvm.NativeGraph)
    assert run.kernels == []
    return np.asarray(run([np.asarray(x) for x in inputs])[0])


def assert_same_parts(found: Any, expected: Any, units: float = 0.0) -> None:
    """Compare nan, infinities and signs of zeros exactly, other parts within so many units in the last place."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    for part in ("real", "imag"):
        found_part, expected_part = getattr(found, part), getattr(expected, part)
        np.testing.assert_array_equal(np.isnan(found_part), np.isnan(expected_part))
        infinite = np.isinf(expected_part)
        np.testing.assert_array_equal(np.isinf(found_part), infinite)
        np.testing.assert_array_equal(found_part[infinite], expected_part[infinite])
        zero = (found_part == 0) & (expected_part == 0)
        np.testing.assert_array_equal(np.signbit(found_part[zero]), np.signbit(expected_part[zero]))
        if not units:
            np.testing.assert_array_equal(found_part, expected_part)
            continue
        finite = np.isfinite(expected_part)
        smallest = np.finfo(expected_part.dtype).tiny
        gap = np.abs(found_part[finite].astype(np.longdouble) - expected_part[finite])
        assert np.all(gap <= units * np.spacing(np.maximum(np.abs(expected_part[finite]), smallest)))


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.search
def test_functions_are_numpys(name: str, dtype: Any) -> None:
    with np.errstate(all="ignore"):
        for x in (special(dtype), 10 * numbers(500, dtype=dtype)):
            assert_same_parts(native(op(name), x), FUNCTIONS[name](x), UNITS)


def assert_close(found: Any, expected: Any, units: float) -> None:
    """Compare finite numbers within so many units of their absolute value, others exactly."""
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(found[~finite].astype(str), expected[~finite].astype(str))
    gap = np.abs(found[finite].astype(np.clongdouble) - expected[finite])
    assert np.all(gap <= units * np.finfo(found.dtype).eps * np.abs(expected[finite]))


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("name", ["expm1", "log1p"])
def test_expm1_and_log1p_are_numpys(name: str, dtype: Any) -> None:
    x = numbers(300, dtype=dtype)
    assert_close(native(op(name), x), getattr(np, name)(x.astype(np.complex128)), UNITS)
    with np.errstate(all="ignore"):
        assert_same_parts(native(op(name), special(dtype)), getattr(np, name)(special(dtype)), UNITS)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 7, 99, -1, -2, -5])
def test_whole_powers_are_numpys_to_the_last_bit(exponent: int) -> None:
    with np.errstate(all="ignore"):
        for x in (numbers(50), special(np.complex128)):
            power = np.array(exponent, np.complex128)
            assert_same_parts(native(lambda b, x: b.power(x, power), x), np.power(x, power))  # noqa: B023
            assert_same_parts(native(op("power"), x, np.full(x.shape, power)), np.power(x, power))


@pytest.mark.parametrize("dtype", KINDS)
def test_powers(dtype: Any) -> None:
    x, y = numbers(300, dtype=dtype), 2 * numbers(300, dtype=dtype, seed=3)
    assert_close(native(op("power"), x, y), np.power(x.astype(np.complex128), y), 40.0)
    assert_close(native(op("power"), x, y[0]), np.power(x.astype(np.complex128), y[0]), 40.0)
    assert_close(native(op("power"), x[0], y), np.power(x[0].astype(np.complex128), y), 40.0)


def test_powers_at_edges() -> None:
    x, y = (item.ravel() for item in np.meshgrid(special(np.complex128)[::3], [0, 0.5, -0.5, 1j, 0.5 - 1j, 2, -3]))
    with np.errstate(all="ignore"):
        found, expected = native(op("power"), x, y), np.power(x, y)
    small = np.abs(expected.real) + np.abs(expected.imag) < 1e-290
    assert_close(found[~small], expected[~small], 4000.0)  # magnitudes of e to 700
    assert np.all(np.abs(found[small]) < 2e-290)


@pytest.mark.parametrize("axis", [(0,), (1,), (0, 1), None])
@pytest.mark.parametrize("keepdims", [False, True])
def test_products_along_axes(axis: Any, keepdims: bool) -> None:
    x = numbers(37, 5)
    found = np.asarray(native(op("reduce_prod", axis=axis, keepdims=keepdims), x))
    np.testing.assert_allclose(found, np.prod(x, axis=axis, keepdims=keepdims), rtol=1e-14)


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_arithmetic_is_numpys_to_the_last_bit(name: str, dtype: Any) -> None:
    x = special(dtype)
    left, right = (item.ravel() for item in np.meshgrid(x[::3], x[1::3]))
    arguments = [(left, right), (numbers(300, dtype=dtype), numbers(300, dtype=dtype, seed=1))]
    with np.errstate(all="ignore"):
        for pair in arguments:
            assert_same_parts(native(op(name), *pair), getattr(np, name)(*pair))


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "sinh", "tanh", "abs"])
def test_single_numbers_are_as_arrays_of_them(name: str) -> None:
    x = special(np.complex128)[::7]
    with np.errstate(all="ignore"):
        found = np.array([native(op(name), item) for item in x])
        assert_same_parts(found, FUNCTIONS[name](x), UNITS)


def test_the_logarithm_near_the_unit_circle_keeps_its_digits() -> None:
    x = np.exp(1j * np.linspace(0.1, 3.0, 200)) * (1 + 1e-9 * np.linspace(-1, 1, 200))
    assert_same_parts(native(op("log"), x), np.log(x), 2.0)


@pytest.mark.parametrize("name", ["equal", "not_equal"])
def test_comparisons(name: str) -> None:
    run_both(op(name), special(np.complex128), np.roll(special(np.complex128), 1))


@pytest.mark.parametrize("name", ["is_nan", "is_inf", "is_finite"])
def test_tests_of_numbers(name: str) -> None:
    run_both(op(name), special(np.complex64))


@pytest.mark.parametrize(
    "build",
    [
        op("reduce_sum", axis=(0,), keepdims=False), op("reduce_sum", axis=None, keepdims=False),
        op("reduce_mean", axis=(1,), keepdims=True), op("transpose", perm=(1, 0)), op("reverse", axis=(1,)),
        op("reshape", shape=(5, 7)), op("cumsum", axis=0, exclusive=False, reverse=False),
        op("get_item", spec=(Slice(1, None, 2), At(2))), op("get_item", spec=(At(1), At(2))),
        op("pad", paddings=((1, 2), (0, 1)), mode="CONSTANT", constant_values=0), op("roll", shift=(2,), axis=(0,)),
        op("cast", dtype=autoconv.complex64), op("tile", multiples=(2, 1)), op("broadcast_to", shape=(2, 7, 5)),
        op("zeros_like"), op("ones_like"), op("sign"), op("reciprocal"), op("rsqrt"),
        op("numpy_sum", axis=None, keepdims=False), op("diag_part"),
    ],
)  # fmt: skip
def test_whole_arrays(build: Callable[..., Any]) -> None:
    run_both(build, numbers(7, 5), rtol=1e-15)


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("dtype", KINDS)
def test_products_of_matrices(dtype: Any, flip: bool) -> None:
    x, y = numbers(9, 17, dtype=dtype), numbers(*((12, 17) if flip else (17, 12)), dtype=dtype)
    found = native(op("matmul", transpose_b=flip), x, y)
    expected = x.astype(np.complex128) @ (y.T if flip else y)
    assert np.abs(found - expected).max() < 20 * np.finfo(dtype).eps * np.abs(expected).max()


def test_a_sum_of_many_is_as_exact_as_numpys() -> None:
    x = numbers(200_000, dtype=np.complex64) + np.complex64(3)
    expected = x.astype(np.complex128).sum()
    assert abs(native(op("reduce_sum", axis=None, keepdims=False), x) - expected) <= 1e-6 * abs(expected)


def test_views_are_read_where_they_lie() -> None:
    def build(b: Any, x: Any, y: Any) -> Any:
        product = b.multiply(b.transpose(x, perm=(1, 0)), b.conjugate(y))
        return b.real(product), b.concat(product, y, axis=0), b.select(b.greater(b.abs(x), 1.0), x, b.zeros_like(x))

    run_both(build, numbers(4, 6), numbers(6, 4), rtol=1e-15)


@autoconv.compile
def escapes(c: Any, steps: int) -> Any:
    z = np.zeros(c.shape, np.complex128)
    count = np.zeros(c.shape, np.int64)
    for _ in range(steps):
        inside = np.abs(z) <= 2.0
        z = np.where(inside, z * z + c, z)
        count = count + inside
    return count, z


def test_loops_carry_both_parts() -> None:
    c = np.linspace(-2, 0.6, 30) + 1j * np.linspace(-1.2, 1.2, 25)[:, None]
    z, count = np.zeros_like(c), np.zeros(c.shape, np.int64)
    for _ in range(20):
        inside = np.abs(z) <= 2.0
        z, count = np.where(inside, z * z + c, z), count + inside
    found = escapes(c, 20)
    np.testing.assert_array_equal(found[0], count)
    np.testing.assert_allclose(found[1], z, rtol=1e-9)
    assert "by kernels" not in escapes.explain()


@autoconv.compile
def rotated(z: Any, times: int) -> Any:
    if times > 2:
        w = z * 1j
    else:
        w = np.conj(z)
    return w + z[0], w.sum()


def test_conditions_choose_between_complex_numbers() -> None:
    z = numbers(6)
    for times, expected in ((1, np.conj(z)), (3, z * 1j)):
        found = rotated(z, times)
        np.testing.assert_allclose(found[0], expected + z[0], rtol=1e-15)
        np.testing.assert_allclose(found[1], expected.sum(), rtol=1e-14)
    assert "by kernels" not in rotated.explain()


@autoconv.compile
def schroedinger(psi: Any, potential: Any, steps: int) -> Any:
    for _ in range(steps):
        psi[1:-1] += 0.1j * (psi[2:] - 2 * psi[1:-1] + psi[:-2]) - 0.01j * potential[1:-1] * psi[1:-1]
        psi *= np.exp(0.01j)
    psi[0] = 3
    psi[1] = 2 - 1j
    psi[2:4] = psi[3:1:-1]
    return np.abs(psi) ** 2


def test_arrays_are_changed_in_place() -> None:
    psi, potential = numbers(30), np.linspace(0, 1, 30)
    compiled_copy, plain_copy = psi.copy(), psi.copy()
    found, expected = schroedinger(compiled_copy, potential, 4), schroedinger.__wrapped__(plain_copy, potential, 4)
    np.testing.assert_allclose(compiled_copy, plain_copy, rtol=1e-13)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert "by kernels" not in schroedinger.explain()


@autoconv.compile
def by_elements(z: Any, c: Any, steps: int) -> Any:
    full = np.full(3, 1 - 2j)
    for i in range(len(z)):
        w = z[i]
        for _ in range(steps):
            w = w * w + c
        z[i] = w
    full[0] = z[1]
    return z, full


def test_elements_are_read_and_written() -> None:
    z = 0.3 * numbers(8)
    compiled_copy, plain_copy = z.copy(), z.copy()
    found = by_elements(compiled_copy, np.complex128(0.1 + 0.2j), 5)
    expected = by_elements.__wrapped__(plain_copy, np.complex128(0.1 + 0.2j), 5)
    np.testing.assert_array_equal(compiled_copy, plain_copy)
    np.testing.assert_array_equal(found[1], expected[1])
    assert "by kernels" not in by_elements.explain()


# ---- gradients: dL/d(real) + i·dL/d(imag), against finite differences


@pytest.mark.parametrize(
    "function",
    [
        lambda z, w: z * w + z / w, lambda z, w: np.exp(z) * np.sin(w), lambda z, w: np.sqrt(z) + np.log(w),
        lambda z, w: np.tanh(z) - np.cos(w), lambda z, w: np.multiply(np.abs(z), w) + np.conj(z),
        lambda z, w: np.fft.fft(z) * np.fft.ifft(w), lambda z, w: np.outer(z, w) @ np.outer(w, z),
        lambda z, w: np.arcsin(z) * np.arctanh(w) + np.arccosh(w), lambda z, w: np.arctan(z * w) + np.arcsinh(w) * z,
        lambda z, w: np.arccos(z - w) + np.sinh(z) * np.expm1(w), lambda z, w: np.log2(z) + np.exp2(w) * np.log1p(z),
        lambda z, w: np.sign(z) * w + np.maximum(z, w), lambda z, w: np.cumprod(z) + np.cumprod(w)[::-1] * z,
        lambda z, w: np.fft.rfft(np.real(z) * np.imag(w)) + z[:3] * w[2],
    ],
)  # fmt: skip
def test_gradients(function: Callable[..., Any]) -> None:
    def loss(z: Any, w: Any) -> Any:
        found = function(z, w)
        return np.sum(np.real(found * np.conj(found)) + np.imag(found))

    z, w = numbers(5) + 2, numbers(5, seed=1) + 1
    found = autoconv.compile(autoconv.grad(loss, argnums=(0, 1)))(z, w)
    for position, gradient in enumerate(found):
        for i in range(5):
            expected = 0.0 + 0.0j
            for unit in (1.0, 1j):
                step = np.zeros(5, complex)
                step[i] = 1e-6 * unit
                ends = [[z, w], [z, w]]
                ends[0][position] = ends[0][position] + step
                ends[1][position] = ends[1][position] - step
                expected += unit * operator.sub(*(float(loss(*end)) for end in ends)) / 2e-6
            np.testing.assert_allclose(np.asarray(gradient)[i], expected, rtol=1e-6, atol=1e-7)
