"""Wrappers of arithmetic, comparison, maths, reductions and casts, against NumPy."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import autoconv
from autoconv.api import bitwise
from autoconv.api.tensors import arithmetic, casts, comparison, maths, norms, reductions
from autoconv.graph.dtypes import float32, float64, int32, int64, uint8
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.tensors.conversion import constant

X = np.array([[0.5, -1.25, 2.0], [3.5, -0.75, 1.5]], np.float32)


def check(found: Any, expected: Any, rtol: float = 1e-6) -> None:
    assert found.dtype.numpy == np.asarray(expected).dtype
    np.testing.assert_allclose(found.numpy(), expected, rtol=rtol)


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (arithmetic.add, "x y name"),
        (arithmetic.pow, "x y name"),
        (arithmetic.add_n, "inputs name"),
        (comparison.clip_by_value, "t clip_value_min clip_value_max name"),
        (comparison.clip_by_norm, "t clip_norm axes name"),
        (norms.norm, "tensor ord axis keepdims name"),
        (maths.cumsum, "x axis exclusive reverse name"),
        (maths.complex, "real imag name"),
        (reductions.reduce_sum, "input_tensor axis keepdims name"),
        (reductions.argmax, "input axis output_type name"),
        (casts.cast, "x dtype name"),
        (casts.bitcast, "input type name"),
    ],
)
def test_signatures(function: Any, names: str) -> None:
    assert list(inspect.signature(function).parameters) == names.split()


def test_every_wrapper_has_a_docstring() -> None:
    for module in (arithmetic, bitwise, casts, comparison, maths, reductions):
        for name, function in vars(module).items():
            if inspect.isfunction(function) and not name.startswith("_"):
                assert function.__doc__, f"{module.__name__}.{name}"


def test_arithmetic() -> None:
    check(arithmetic.add(X, 1), X + np.float32(1))
    check(arithmetic.subtract([1, 2], [3, 5]), np.array([-2, -3], np.int32))
    check(arithmetic.floordiv([-7, 7], 2), np.array([-4, 3], np.int32))
    check(arithmetic.floormod([-7, 7], 3), np.array([2, 1], np.int32))
    check(arithmetic.pow([2, 3], 2), np.array([4, 9], np.int32))
    check(arithmetic.negative(X), -X)
    check(arithmetic.multiply(Variable(2.0), 3.0), np.float32(6.0))
    check(arithmetic.squared_difference([3.0], [1.0]), np.array([4.0], np.float32))


def test_division_is_pythons() -> None:
    check(arithmetic.divide(1, 2), np.float64(0.5))
    check(arithmetic.divide([1, 2], [4, 4]), np.array([0.25, 0.5]))
    check(arithmetic.truediv(constant([1], int64), 4), np.array([0.25]))
    check(arithmetic.divide(constant([1], uint8), constant([4], uint8)), np.array([0.25], np.float32))
    check(arithmetic.divide(X, [2, 2, 2]), X / np.float32(2))
    check(arithmetic.divide_no_nan([1.0, 2.0], [0.0, 4.0]), np.array([0.0, 0.5], np.float32))
    check(arithmetic.multiply_no_nan([np.inf, 2.0], [0.0, 4.0]), np.array([0.0, 8.0], np.float32))
    check(arithmetic.reciprocal_no_nan([0.0, 4.0]), np.array([0.0, 0.25], np.float32))


def test_add_n() -> None:
    check(arithmetic.add_n([X, X, X]), 3 * X)
    with pytest.raises(ValueError, match="at least one tensor"):
        arithmetic.add_n([])
    with pytest.raises(ValueError, match="tensors of one shape"):
        arithmetic.add_n([[1.0], [1.0, 2.0]])


def test_comparison_and_logic() -> None:
    assert comparison.equal([1, 2], [1, 3]).numpy().tolist() == [True, False]
    assert comparison.equal(["a", "b"], "b").numpy().tolist() == [False, True]
    assert comparison.less(X, 0.0).numpy().tolist() == (X < 0).tolist()
    check(comparison.maximum(X, 0.0), np.maximum(X, 0))
    check(comparison.clip_by_value(X, -1, 1), np.clip(X, -1, 1))
    assert comparison.logical_xor([True, True], [True, False]).numpy().tolist() == [False, True]
    assert comparison.logical_not(True).numpy() == np.False_


def test_clipping_by_norm() -> None:
    check(comparison.clip_by_norm([3.0, 4.0], 1.0), np.array([0.6, 0.8], np.float32))
    check(comparison.clip_by_norm([0.3, 0.4], 1.0), np.array([0.3, 0.4], np.float32))
    check(comparison.clip_by_norm([0.0, 0.0], 1.0), np.zeros(2, np.float32))
    clipped, norm = comparison.clip_by_global_norm([[3.0], None, [4.0]], 1.0)
    check(norm, np.float32(5.0))
    check(clipped[0], np.array([0.6], np.float32))
    assert clipped[1] is None


def test_bitwise() -> None:
    x, y = np.array([12, 10], np.uint8), np.array([10, 3], np.uint8)
    check(bitwise.bitwise_and(x, y), x & y)
    check(bitwise.bitwise_xor(x, y), x ^ y)
    check(bitwise.invert(x), ~x)
    check(bitwise.left_shift(x, np.uint8(1)), x << 1)


@pytest.mark.parametrize(
    "name", ["exp", "log1p", "sin", "tanh", "sqrt", "square", "abs", "sign", "floor", "ceil", "cosh", "rint"]
)
def test_maths_like_numpy(name: str) -> None:
    x = np.abs(X)
    check(getattr(autoconv.math, name)(x), getattr(np, name)(x))


def test_maths() -> None:
    check(maths.round([0.5, 1.5]), np.array([0.0, 2.0], np.float32))
    check(maths.complex([1.0], [2.0]), np.array([1 + 2j], np.complex64))
    check(maths.conj(np.array([1 + 2j])), np.array([1 - 2j]))
    check(maths.polygamma(0, [1.0]), np.array([-0.57721566], np.float32))
    check(maths.log_sigmoid([0.0]), np.array([-np.log(2)], np.float32))
    check(maths.cumsum(X, axis=1, reverse=True), np.cumsum(X[:, ::-1], 1)[:, ::-1])
    check(maths.cumprod([2, 3, 4], exclusive=True), np.array([1, 2, 6], np.int32))
    check(maths.xlogy([0.0, 2.0], [0.0, 1.0]), np.zeros(2, np.float32))
    check(norms.l2_normalize([3.0, 4.0]), np.array([0.6, 0.8], np.float32))


def test_norms() -> None:
    both = (0, 1)
    cases = ((2, None), (1, None), (np.inf, 1), (3, 0), (1, both), (np.inf, both), ("fro", both))
    for order, axis in cases:
        own_order = "euclidean" if order == 2 else order
        flat = X.ravel() if axis is None else X
        check(norms.norm(X, own_order, axis), np.linalg.norm(flat, order, axis), rtol=1e-5)
    check(norms.norm(X, axis=1, keepdims=True), np.linalg.norm(X, axis=1, keepdims=True))
    with pytest.raises(ValueError, match="'ord' must be"):
        norms.norm(X, -1)


def test_reductions() -> None:
    check(reductions.reduce_sum(X), X.sum())
    check(reductions.reduce_sum(X, 1), X.sum(1))
    check(reductions.reduce_sum(X, [0, 1], True), X.sum((0, 1), keepdims=True))
    check(reductions.reduce_sum(X, axis=constant(-1)), X.sum(-1))
    check(reductions.reduce_sum(X, axis=constant([0, 1])), X.sum())
    check(reductions.reduce_mean([1, 2]), np.int32(1))
    check(reductions.reduce_std(X, 0), X.std(0))
    check(reductions.reduce_variance(np.array([1 + 1j, 3 - 1j])), np.float64(2.0))
    check(reductions.argmax(X), np.array([1, 1, 0]))
    check(reductions.argmin(X, 1, int32), np.array([1, 1], np.int32))
    check(reductions.count_nonzero([[0, 1], [2, 0]], 1), np.array([1, 1]))
    check(reductions.zero_fraction([0.0, 1.0]), np.float32(0.5))
    with pytest.raises(TypeError, match="reduce_variance takes floating or complex tensors"):
        reductions.reduce_variance([1, 2])
    with pytest.raises((ValueError, TypeError)):
        reductions.reduce_sum(X, 2)


def test_casts() -> None:
    check(casts.cast(3.7, int32), np.int32(3))
    check(casts.cast([1, 0], "bool"), np.array([True, False]))
    check(casts.cast(True, float64), np.float64(1.0))
    check(casts.saturate_cast([-1.0, 300.0], uint8), np.array([0, 255], np.uint8))
    check(casts.bitcast(np.float32(1.0), int32), np.int32(0x3F800000))
    tensor = constant([1.0])
    assert casts.cast(tensor, float32) is tensor
    check(casts.stop_gradient(casts.identity(X)), X)


def test_functions_that_order_numbers_refuse_complex_ones() -> None:
    z = autoconv.constant([1 + 2j, 3j])
    for function in (
        lambda z: autoconv.maximum(z, z), autoconv.reduce_max, autoconv.argmax, autoconv.nn.softmax,
        lambda z: autoconv.clip_by_value(z, z, z), autoconv.reduce_logsumexp, lambda z: z < z,
    ):  # fmt: skip
        said = []
        for run in (function, autoconv.function(function)):
            with pytest.raises(TypeError, match="complex128") as caught:
                run(z)
            said.append(str(caught.value).splitlines()[0])
        assert said[0] in said[1] or said[1] in said[0]


def test_float8_tensors_store_numbers_and_are_cast() -> None:
    """Stored numbers are those of ml_dtypes; 500 is beyond float8_e4m3fn."""
    x = autoconv.constant([1.5, 2.3, -3.0, 500.0])
    for name, expected in (("float8_e4m3fn", [1.5, 2.25, -3.0, np.nan]), ("float8_e5m2", [1.5, 2.5, -3.0, 512.0])):
        dtype = getattr(autoconv.dtypes.experimental, name)
        assert autoconv.as_dtype(name) is dtype and dtype.size == 1 and dtype.is_floating

        def stored(y: Any, dtype: Any = dtype) -> Any:
            return autoconv.cast(autoconv.reshape(autoconv.cast(y, dtype), [2, 2]), autoconv.float32)

        for run in (stored, autoconv.function(stored)):
            np.testing.assert_array_equal(run(x), np.reshape(expected, (2, 2)))
    limits = [getattr(autoconv.dtypes.experimental, name).max for name in ("float8_e4m3fn", "float8_e5m2")]
    assert [float(limit) for limit in limits] == [448.0, 57344.0]
    assert autoconv.Variable([1.0, 2.0], dtype="float8_e5m2").dtype.name == "float8_e5m2"


def test_unsupported_dtypes_are_refused_eagerly_and_in_graphs() -> None:
    ints, texts, flags = constant([1, 2]), constant(["a", "b"]), constant([True, False])
    for call in (
        lambda: autoconv.atan2(ints, ints), lambda: autoconv.sqrt(ints), lambda: autoconv.maximum(texts, texts),
        lambda: autoconv.less(texts, texts), lambda: autoconv.math.xlogy(ints, ints), lambda: flags - flags,
        lambda: autoconv.reduce_sum(texts), lambda: autoconv.math.lgamma(ints), lambda: autoconv.complex(ints, ints),
        lambda: autoconv.logical_and(ints, ints), lambda: autoconv.floor(ints), lambda: autoconv.add(flags, flags),
        lambda: autoconv.abs(autoconv.cast(ints, "uint8")), lambda: autoconv.sort(flags),
        lambda: autoconv.cast(texts, "int32"),
    ):  # fmt: skip
        for run in (call, autoconv.function(call)):
            with pytest.raises(TypeError):
                run()
    with pytest.raises(autoconv.errors.InvalidArgumentError):  # TensorFlow's class for ops that run eagerly
        autoconv.sqrt(ints)
    with pytest.raises(autoconv.errors.UnimplementedError):
        autoconv.cast(texts, "int32")
    assert autoconv.maximum(ints, 2).numpy().tolist() == [2, 2]


def test_numpy_scalars_keep_their_dtype() -> None:
    assert autoconv.add(np.float64(2.0), [1.0, 2.0]).dtype is autoconv.float64
    assert autoconv.add(3.5, np.float64(1.0)).dtype is autoconv.float64
    assert (constant([1.0]) * np.float64(2.0)).dtype is autoconv.float32
    assert autoconv.math.zeta(np.float64(2.0), [1.0, 2.0]).dtype is autoconv.float64


def test_lists_without_numbers_have_the_dtype_of_the_parameter():
    assert autoconv.reduce_all([]).numpy() and not autoconv.reduce_any([]).numpy()
    assert autoconv.reduce_all([[], []], axis=1).numpy().tolist() == [True, True]
    assert autoconv.logical_and([], []).dtype is autoconv.bool
    assert autoconv.math.approx_max_k([1.0, 2.0], 1).values.numpy().tolist() == [2]
