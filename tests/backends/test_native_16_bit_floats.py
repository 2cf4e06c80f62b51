"""Floats of 16 bits in native code: every bit pattern, compared with NumPy and ml_dtypes."""

from __future__ import annotations

import importlib.util
import operator

import numpy as np
import pytest

import autoconv

NAMES = ("float16", "bfloat16") if importlib.util.find_spec("ml_dtypes") else ("float16",)
EVERY = np.arange(1 << 16, dtype=np.uint16)
OTHER = np.random.default_rng(3).permutation(EVERY)


@pytest.fixture(params=NAMES)
def dtype(request):
    return autoconv.as_dtype(request.param)


def native(function, *arrays):
    """Return the result of native code, which may run no kernels."""
    traced = autoconv.function(function)
    tensors = [autoconv.constant(array) for array in arrays]
    assert traced.get_concrete_function(*tensors).kernels == []
    return traced(*tensors).numpy()


def assert_same_bits(found, expected):
    assert found.dtype == expected.dtype
    is_same = (found.view(np.uint16) == expected.view(np.uint16)) | (np.isnan(found) & np.isnan(expected))
    assert is_same.all(), (found[~is_same][:3], expected[~is_same][:3])


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv"])
def test_arithmetic_is_rounded_as_in_numpy(dtype, name):
    x, y, op = EVERY.view(dtype.numpy), OTHER.view(dtype.numpy), getattr(operator, name)
    with np.errstate(all="ignore"):
        assert_same_bits(native(op, x, y), op(x, y))


def test_each_op_is_rounded(dtype):
    x, y = EVERY.view(dtype.numpy), OTHER.view(dtype.numpy)

    def f(x, y):
        return (x * y + x) * y - x / y

    with np.errstate(all="ignore"):
        assert_same_bits(native(f, x, y), f(x, y))


@pytest.mark.parametrize("target", ["float64", "float32", "int64", "int32", "int8", "uint8", "bool"])
def test_casts(dtype, target):
    rng = np.random.default_rng(5)
    wide = np.concatenate([rng.standard_normal(20_000) * 10.0 ** rng.uniform(-12, 6, 20_000), [np.inf, np.nan, -0.0]])
    half_way = (EVERY.view(np.float16).astype(np.float64)[1:30_000] + EVERY.view(np.float16)[:29_999]) / 2
    wide = np.concatenate([wide, half_way, np.nextafter(half_way, 0), np.nextafter(half_way, np.inf)])
    with np.errstate(all="ignore"):
        argument = wide.astype(target)
        is_by_float32 = dtype is autoconv.bfloat16  # as in TensorFlow; releases of ml_dtypes differ
        rounded_argument = argument.astype(np.float32) if is_by_float32 else argument
        assert_same_bits(native(lambda x: autoconv.cast(x, dtype), argument), rounded_argument.astype(dtype.numpy))
        if target not in ("int8", "uint8"):
            narrow = EVERY.view(dtype.numpy)
            back = native(lambda x: autoconv.cast(x, autoconv.as_dtype(target)), narrow)
            np.testing.assert_array_equal(back, (narrow.astype(np.float32) if is_by_float32 else narrow).astype(target))


def test_square_roots_and_functions_are_within_one_unit(dtype):
    x = EVERY.view(dtype.numpy)
    for function in (autoconv.sqrt, autoconv.exp, autoconv.tanh, autoconv.math.log, autoconv.sin):
        with np.errstate(all="ignore"):
            expected = getattr(np, function.__name__)(x.astype(np.float32)).astype(dtype.numpy)
        found = native(lambda t, f=function: f(t), x)
        error_in_units = np.abs(found.view(np.int16).astype(int) - expected.view(np.int16).astype(int))
        assert error_in_units[~np.isnan(expected)].max() <= 1
        assert np.isnan(found[np.isnan(expected)]).all()


def test_comparisons_and_choices(dtype):
    x, y = EVERY.view(dtype.numpy), OTHER.view(dtype.numpy)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(native(lambda x, y: x < y, x, y), x < y)
        np.testing.assert_array_equal(native(lambda x, y: x == y, x, y), x == y)
    assert_same_bits(native(lambda x: -x, x), -x)
    chosen = native(lambda c, x, y: autoconv.where(c, x, y), EVERY % 3 == 0, x, y)
    assert_same_bits(chosen, np.where(EVERY % 3 == 0, x, y))


def test_sums_are_not_rounded_at_each_step(dtype):
    x = np.random.default_rng(7).uniform(0, 1, (16, 5000)).astype(dtype.numpy)
    exact = x.astype(np.float64)
    unit = {"float16": 2**-11, "bfloat16": 2**-8}[dtype.name]
    for found, expected in (
        (native(lambda t: autoconv.reduce_sum(t, 1), x), exact.sum(1)),
        (native(lambda t: autoconv.reduce_mean(t), x), exact.mean()),
        (native(lambda t: autoconv.reduce_max(t, 1), x), exact.max(1)),
    ):
        np.testing.assert_allclose(np.asarray(found, np.float64), expected, rtol=1.01 * unit)


def test_numbers_in_registers_and_loops(dtype):
    def f(x, n):
        total = x * 0
        while n > 0:
            total, n = total + x * x, n - 1
        return total

    for value in (0.1, 1.0, 300.0):
        x, expected = np.asarray(value).astype(dtype.numpy), np.asarray(0).astype(dtype.numpy)
        for _ in range(5):
            expected = expected + x * x
        assert_same_bits(np.asarray(native(f, x, np.int32(5))), np.asarray(expected))


def test_loops_over_arrays(dtype):
    """Loops whose elements are independent run several iterations at a time."""

    def f(x, n):
        y = x
        while n > 0:
            y, n = autoconv.tanh(y * x + x), n - 1
        return y

    x = np.linspace(-2, 2, 999).astype(dtype.numpy)
    expected = x
    for _ in range(3):
        expected = np.tanh((expected * x + x).astype(np.float32)).astype(dtype.numpy)
    found = native(f, x, np.int32(3))
    np.testing.assert_allclose(found.astype(float), expected.astype(float), rtol=2**-6, atol=2**-8)


def test_gradients_through_loops(dtype):
    @autoconv.function
    def f(x):
        y = x
        for _ in autoconv.range(4):
            y = y * x
        return autoconv.reduce_sum(y)

    x = autoconv.constant(np.array([0.5, 1.0, 1.5]).astype(dtype.numpy))
    with autoconv.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    found = tape.gradient(y, x).numpy()
    np.testing.assert_allclose(found.astype(float), 5 * np.array([0.5, 1.0, 1.5]) ** 4, rtol=2**-5)


def test_parts_are_written_in_place(dtype):
    @autoconv.function
    def f(x, v):
        x[1:3] = v
        x[0] += v
        return x

    x = np.array([1.0, 2.0, 3.0, 4.0]).astype(dtype.numpy)
    found = f(autoconv.constant(x), autoconv.constant(np.asarray(0.1).astype(dtype.numpy))).numpy()
    expected = x.copy()
    expected[1:3] = 0.1
    expected[0] += expected[1]
    assert_same_bits(found, expected)
