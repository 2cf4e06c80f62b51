"""Operands of two dtypes, as TensorFlow 2.21 takes or refuses them."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as tf


def test_a_number_takes_the_dtype_of_the_tensor_on_either_side() -> None:
    bytes_ = tf.constant([1, 2], tf.uint8)
    for result in (tf.truncatediv(4, bytes_), tf.truncatediv(bytes_, 1)):
        assert result.dtype is tf.uint8
    assert tf.truncatediv(-7, tf.constant([2])).numpy().tolist() == [-3]
    half = tf.constant([1.0, 2.0], tf.float16)
    assert tf.math.xlog1py(half, 2).dtype is tf.math.xlog1py(2, half).dtype is tf.float16
    np.testing.assert_allclose(tf.math.xlog1py(tf.constant([1.0, 2.0]), 2), np.array([1, 2]) * np.log(3), rtol=1e-6)


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.range(tf.constant(1.0), tf.constant(3 + 1j)),
        lambda: tf.range(3 + 1j),
        lambda: tf.linspace(tf.constant(0.0), tf.constant(3 + 1j), 3),
        lambda: tf.linspace(tf.constant(1), tf.constant(3.0), 3),
        lambda: tf.math.polygamma(tf.constant(1.0), tf.constant(2.0, tf.float64)),
        lambda: tf.truncatediv(tf.constant([2]), tf.constant([2], tf.uint8)),
    ],
)
def test_tensors_of_two_dtypes_are_refused(call) -> None:
    for run in (call, tf.function(call)):
        with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
            run()


INTEGERS, BYTES, BOOLS = tf.constant([1, 2, 3]), tf.constant([1, 2, 3], tf.uint8), tf.constant([True, False, True])


@pytest.mark.parametrize(
    ("call", "dtype", "expected"),
    [
        (lambda: INTEGERS + np.array([1.5, 2.5, 3.5]), tf.int32, [2, 4, 6]),
        (lambda: np.float64(2.5) * INTEGERS, tf.int32, [2, 4, 6]),
        (lambda: tf.less(INTEGERS, np.float64(2.5)), tf.bool, [True, False, False]),
        (lambda: tf.constant([0.5, 1.0]) - np.array([1 + 1j, 2]), tf.float32, [-0.5, -1.0]),
        (lambda: INTEGERS / np.float64(2.5), tf.float64, [0.5, 1.0, 1.5]),
        (lambda: BYTES / 300, tf.float32, [1 / 44, 2 / 44, 3 / 44]),
        (lambda: -1 / BYTES, tf.float32, [255, 127.5, 85]),
        (lambda: INTEGERS / True, tf.float64, [1, 2, 3]),
        (lambda: BOOLS * BOOLS, tf.bool, [True, False, True]),
        (lambda: BOOLS * [0, 1, 1], tf.bool, [False, False, True]),
        (lambda: INTEGERS * BOOLS, tf.bool, [True, False, True]),
        (lambda: tf.reduce_all(np.array([1.5, 0.0])), tf.bool, False),
        (lambda: tf.zeros([tf.constant(1.0), 2]), tf.float32, [[0, 0]]),
        (lambda: tf.tile([1, 2], [tf.constant(2.0)]), tf.int32, [1, 2, 1, 2]),
        (lambda: tf.expand_dims(INTEGERS, [0]), tf.int32, [[1, 2, 3]]),
        (lambda: BYTES**2, tf.uint8, [1, 4, 9]),  # TensorFlow has no kernels; the array API standard asks for these two
        (lambda: -BYTES, tf.uint8, [255, 254, 253]),
    ],
)
def test_operands_take_the_dtype_of_the_tensor(call, dtype, expected) -> None:
    for result in (call(), tf.function(call, autograph=False)()):
        assert result.dtype is dtype
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-6)


def test_add_n_adds_the_rows_of_a_tensor() -> None:
    assert tf.add_n(tf.constant([[1, 2], [3, 4]])).numpy().tolist() == [4, 6]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: INTEGERS / 2.5, TypeError),
        (lambda: 2.5 / BYTES, TypeError),
        (lambda: [1.5, 2.0, 3.0] / INTEGERS, TypeError),
        (lambda: INTEGERS * [1.5, 2.0, 3.0], TypeError),
        (lambda: INTEGERS / BYTES, TypeError),
        (lambda: INTEGERS + 2.5, (TypeError, tf.errors.InvalidArgumentError)),
        (lambda: 2 * BOOLS, TypeError),
        (lambda: BOOLS + BOOLS, (TypeError, tf.errors.InvalidArgumentError)),
        (lambda: BOOLS // True, (TypeError, tf.errors.InvalidArgumentError)),
        (lambda: INTEGERS // 2**40, tf.errors.InvalidArgumentError),
        (lambda: INTEGERS + None, ValueError),
        (lambda: INTEGERS < None, ValueError),
        (lambda: tf.cumsum(INTEGERS, exclusive=1), TypeError),
        (lambda: tf.zeros(tf.constant([2], tf.uint8)), tf.errors.InvalidArgumentError),
        (lambda: tf.one_hot([0], tf.constant(2, tf.int8)), tf.errors.InvalidArgumentError),
        (lambda: tf.as_dtype(None), TypeError),
        (lambda: tf.as_string(INTEGERS, precision=2), tf.errors.InvalidArgumentError),
        (lambda: tf.as_string(INTEGERS, fill=0), TypeError),
        (lambda: tf.random.normal(3), tf.errors.InvalidArgumentError),
        (lambda: tf.random.stateless_normal([2], 7), tf.errors.InvalidArgumentError),
        (lambda: tf.signal.hann_window(tf.constant(4, tf.int64)), (ValueError, tf.errors.InvalidArgumentError)),
        (lambda: tf.image.rgb_to_yuv(tf.constant([[[1, 2, 3]]])), (TypeError, tf.errors.InvalidArgumentError)),
        (lambda: tf.strings.unicode_script(tf.constant([65], tf.int64)), tf.errors.InvalidArgumentError),
        (lambda: tf.ragged.row_splits_to_segment_ids(tf.constant([0.0, 1.0])), ValueError),
    ],
)
def test_operands_that_tensorflow_refuses(call, error) -> None:
    for run in (call, tf.function(call, autograph=False)):
        with pytest.raises(error):
            run()


@pytest.mark.parametrize(
    ("first", "second", "dtype"),
    [
        (1.5, 0, tf.float32), (1.5, True, tf.float32), (2, True, tf.int32), (2**40, 1, tf.int64),
        (1 + 1j, 2, tf.complex128),
    ],
)
def test_numbers_without_a_tensor_have_one_dtype(first, second, dtype) -> None:
    for result, expected in (
        (tf.add(first, second), first + second),
        (tf.multiply(first, second), first * second),
        (tf.where([True, False], first, second), [first, second]),
        (tf.where(False, first, second), second),
    ):
        assert result.dtype is dtype
        np.testing.assert_array_equal(result.numpy(), expected)
    assert not tf.equal(first, second)


@pytest.mark.parametrize(
    ("values", "eager_dtype", "graph_dtype"),
    [
        ([np.int64(1), np.int64(2)], "int32", "int32"),
        ([np.int64(1), 2], "int32", "int32"),
        ([np.int8(1)], "int32", "int8"),
        ([np.int64(2**40)], "int64", "int64"),
        ([np.float64(1.5), 2], "float64", "float32"),
        ([2, np.float64(1.5)], "float32", "float32"),
        ([np.float16(1.5), 2.0], "float16", None),
        ([np.float32(1.5), np.float64(2)], "float32", "float32"),
        ([np.complex64(1j)], "complex128", "complex64"),
        ([[np.float64(1.5)], [2]], "float64", "float32"),
        ([np.array([1, 2])], "int32", None),
        ([np.array([1, 2], np.uint8), np.array([3, 4], np.uint8)], "int32", None),
        ([np.array([1.5])], "float64", None),
    ],
)
def test_lists_of_numpy_numbers(values, eager_dtype, graph_dtype) -> None:
    for result in (tf.constant(values), tf.convert_to_tensor(values), tf.stack(values), tf.identity(values)):
        assert result.dtype.name == eager_dtype
        np.testing.assert_array_equal(result.numpy(), np.array(values))
    if graph_dtype is not None:  # TensorFlow refuses the others in graphs
        assert tf.function(lambda: tf.constant(values))().dtype.name == graph_dtype


def test_lists_of_numpy_numbers_take_the_dtype_of_the_tensor_beside_them() -> None:
    number = tf.constant(1.5)
    for add in (lambda: tf.add(number, [np.float64(1)]), lambda: tf.add([np.int64(1)], number)):
        for run in (add, tf.function(add)):
            assert run().dtype is tf.float32
            assert run().numpy().tolist() == [2.5]
    with pytest.raises((TypeError, ValueError)):
        tf.constant([np.float64(1.5)], tf.int32)


def test_elements_of_datasets_keep_the_dtype_of_arrays_in_lists() -> None:
    assert tf.data.Dataset.from_tensor_slices([np.array([1, 2])]).element_spec.dtype is tf.int64
    assert tf.data.Dataset.from_tensor_slices([np.int64(1), np.int64(2)]).element_spec.dtype is tf.int32
