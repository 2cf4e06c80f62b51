"""Gradients through lists of tensors, tensor arrays and iteration."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as tf
from tests.api.figures import everywhere


def test_eager_tensor_arrays_and_iteration() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        read = tf.TensorArray(tf.float32, 3).unstack(x)
        written = tf.TensorArray(tf.float32, 3)
        for i in range(3):
            written = written.write(i, read.read(i) ** 2)
        y = tf.reduce_sum(written.stack())
        for row in x:
            y = y + row
        first, *_ = tf.unstack(x)
        y = y + first
    np.testing.assert_array_equal(tape.gradient(y, x), [4.0, 5.0, 7.0])


def test_gradients_through_lists_of_tensors():
    x, three = tf.constant(3.0), tf.constant([1.0, 2.0])

    def functions():
        yield lambda x: tf.reduce_sum([x * 2, x, 1.0]), 3.0
        yield lambda x: tf.reduce_sum([[x, x], [x * x, 1.0]]), 8.0
        yield lambda x: tf.reduce_sum(three * tf.constant([x * x, x])), 8.0
        yield lambda x: tf.cast(tf.reduce_sum(tf.constant([[x], [1.0]], tf.float64, shape=[1, 2]) * 2.0), x.dtype), 2.0
        yield lambda x: tf.reduce_sum(tf.constant(x * x, shape=[3])), 18.0
        yield lambda x: tf.reduce_sum(three * [x, x]), 3.0
        yield lambda x: tf.reduce_sum(tf.reshape([x, 1.0, x], [3, 1])), 2.0
        yield lambda x: tf.reduce_sum(tf.tensor_scatter_nd_update(three, [[1]], [x * x])), 6.0

    for function, expected in functions():
        for run in (function, tf.function(function)):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = run(x)
            assert tape.gradient(y, x).numpy() == expected


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_a_list_has_the_dtype_of_its_tensors(dtype):
    x = tf.constant(2, dtype)
    for make in (lambda x: [x, 1], lambda x: [1, x], lambda x: [[x], [1]], lambda x: (x, x)):
        for found in everywhere(lambda _: tf.convert_to_tensor(make(x))):  # noqa: B023 - called at once
            assert found.dtype == dtype
    for run in (lambda f: f, tf.function):
        if dtype.startswith("int"):
            with pytest.raises(TypeError, match="Cannot convert"):
                run(lambda: tf.convert_to_tensor([x, 1.5]))()
        else:
            assert run(lambda: tf.convert_to_tensor([x, 1.5]))().numpy().tolist() == [2, 1.5]


def test_indexed_slices_become_tensors():
    table, weights = tf.Variable([1.0, 2.0, 3.0]), tf.constant([10.0, 20.0, 30.0])
    with tf.GradientTape() as tape:
        y = tf.gather(table, [0, 2, 0]) * weights
    slices = tape.gradient(y, table)
    assert tf.convert_to_tensor(slices).numpy().tolist() == [40.0, 0.0, 20.0]
    assert tf.multiply(slices, 2.0).numpy().tolist() == [80.0, 0.0, 40.0]
    assert table.assign_sub(slices).numpy().tolist() == [-39.0, 2.0, -17.0]
    with pytest.raises(ValueError, match="without a dense_shape"):
        tf.convert_to_tensor(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))
