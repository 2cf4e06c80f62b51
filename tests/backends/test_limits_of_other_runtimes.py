"""Powers, folds, sorts and casts at the limits of dtypes, by XLA and ONNX Runtime, beside NumPy's."""

import numpy as np
import pytest

import autoconv as ac
from tests.backends.test_special_functions_of_other_runtimes import RUNTIMES, by_onnx, by_xla


@RUNTIMES
@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64, np.uint8, np.uint64])
def test_powers(run, dtype):
    largest = np.iinfo(dtype).max
    bases, exponents = np.array([0, 1, 2, 3, 7, largest], dtype), np.array([0, 1, 2, 63, 64, largest // 2], dtype)
    base, exponent = np.meshgrid(bases, exponents)
    (found,) = run(lambda x, y: x**y, base, exponent)
    np.testing.assert_array_equal(found, base**exponent)


@pytest.mark.parametrize("run", [by_xla, by_onnx])
def test_a_negative_exponent_sets_the_error_word(run):
    with pytest.raises((AssertionError, ac.errors.InvalidArgumentError)):
        run(lambda x, y: x**y, np.array([2, 2]), np.array([1, -1]))


@RUNTIMES
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint64])
def test_folds_wrap_and_are_exact(run, dtype):
    limits = np.iinfo(dtype)
    x = np.random.default_rng(3).integers(limits.min, limits.max, (3, 4), dtype)

    def folds(x):
        sums = ac.reduce_sum(x), ac.reduce_sum(x, axis=0), ac.reduce_prod(x, axis=1), ac.reduce_prod(x)
        return (*sums, ac.reduce_max(x, axis=0), ac.reduce_min(x))

    with np.errstate(over="ignore"):
        sums = x.sum(dtype=dtype), x.sum(0, dtype=dtype), x.prod(1, dtype=dtype), x.prod(dtype=dtype)
    for found, expected in zip(run(folds, x), (*sums, x.max(0), x.min()), strict=True):
        np.testing.assert_array_equal(found, expected)


@RUNTIMES
def test_nan_is_above_all_numbers(run):
    x = np.array([1.0, np.nan, -np.inf, np.inf, 2.0])
    upwards, downwards, largest, places = run(
        lambda x: (ac.sort(x), ac.sort(x, direction="DESCENDING"), *ac.math.top_k(x, 2)), x
    )
    np.testing.assert_array_equal(upwards, [-np.inf, 1.0, 2.0, np.inf, np.nan])
    np.testing.assert_array_equal(downwards, [np.nan, np.inf, 2.0, 1.0, -np.inf])
    np.testing.assert_array_equal(largest, [np.nan, np.inf])
    assert places.tolist() == [1, 3]


@RUNTIMES
@pytest.mark.parametrize("target", ["int8", "uint8", "int32", "uint32", "int64", "float16"])
def test_saturated_casts(run, target):
    x = np.array([0.5, -2.5, 300.0, 7e4, -(2.0**40), 2.0**31, 2.0**63, 1e30, np.inf, -np.inf])
    limits = np.finfo(target) if target.startswith("f") else np.iinfo(target)
    inside = (x > float(limits.min)) & (x < float(limits.max))
    expected = np.where(x > 0, limits.max, limits.min).astype(target)
    expected[inside] = x[inside].astype(target)
    for source in (np.float64, np.float32):
        (found,) = run(lambda x: ac.saturate_cast(x, target), x.astype(source))
        largest = source(limits.max)
        if np.issubdtype(target, np.integer) and int(largest) > limits.max:  # TensorFlow clips to a source number
            largest = np.nextafter(largest, source(0))
        np.testing.assert_array_equal(found, np.minimum(expected, np.array(largest).astype(target)))


def test_saturated_casts_of_bfloat16():
    x = ac.constant([0.5, 1.5, -2.5, 300.0, -1e9, 1e30, np.nan], ac.bfloat16)
    assert ac.saturate_cast(x, ac.int8).numpy().tolist() == [0, 1, -2, 127, -128, 127, 0]
    assert ac.saturate_cast(x, ac.uint8).numpy().tolist() == [0, 1, 0, 255, 0, 255, 0]


@RUNTIMES
def test_numbers_of_bfloat16(run):
    """Each op computes in float32 and rounds its result, as in native code."""

    def values(x, y):
        turns = x
        while ac.reduce_max(turns) < ac.cast(9.0, ac.bfloat16):
            turns = turns * y + ac.constant(0.5, ac.bfloat16)
        largest, places = ac.math.top_k(x, 2)
        moved = ac.concat([x, y], 0)[1:, ::2], ac.gather(x, [1, 0]), ac.where(x > y, x, ac.zeros_like(x))
        functions = ac.exp(x), x / y - ac.tanh(y), x @ y, ac.sort(x), ac.reduce_max(x, 0), ac.cast(x, ac.float32)
        return (turns, largest, places, *moved, *functions)

    dtype = ac.bfloat16.numpy
    x, y = (np.array(item).astype(dtype) for item in ([[0.5, -1.5], [2.25, 3.0]], [[1.5, 2.0], [1.75, 1.25]]))
    for found, expected in zip(run(values, x, y), values(ac.constant(x), ac.constant(y)), strict=True):
        expected = expected.numpy()
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found.astype(np.float64), expected.astype(np.float64))
