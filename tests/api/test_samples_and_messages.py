"""Sobol points, glimpses of images, and tensors as protocol buffers, with the values of TensorFlow 2.21."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as tf


def test_sobol_points() -> None:
    first = [[0.5, 0.5, 0.5], [0.75, 0.25, 0.25], [0.25, 0.75, 0.75], [0.375, 0.375, 0.625]]
    assert tf.math.sobol_sample(3, 4).numpy().tolist() == first
    assert tf.function(tf.math.sobol_sample)(3, tf.constant(2), tf.constant(2)).numpy().tolist() == first[2:]
    points = tf.math.sobol_sample(64, 1023, dtype=tf.float64).numpy()
    for column in points.T:  # one point in each of the 1,024 intervals but the first
        assert sorted((column * 1024).astype(int)) == list(range(1, 1024))
    for arguments, message in (((0, 1), "dim has to be"), ((65, 1), "dim has to be"), ((1, 1, 0, tf.int32), "dtype")):
        with pytest.raises(ValueError, match=message):
            tf.math.sobol_sample(*arguments)


def test_glimpses() -> None:
    image = tf.reshape(tf.range(1, 26, dtype=tf.float32), [1, 5, 5, 1])
    for size, offset, centered, normalized, expected in (
        ([3, 3], [1.0, 0.0], True, True, [[17, 18, 19], [22, 23, 24], [0, 0, 0]]),
        ([2, 2], [-1.0, 0.3], True, True, [[0, 0], [3, 4]]),
        ([2, 2], [0.2, -0.2], False, True, [[0, 6], [0, 11]]),
        ([3, 2], [-0.9, 0.7], True, False, [[9, 10], [14, 15], [19, 20]]),
        ([2, 2], [1.5, 2.5], False, False, [[8, 9], [13, 14]]),
    ):
        for run in (tf.image.extract_glimpse, tf.function(tf.image.extract_glimpse)):
            found = run(image, size, [offset], centered, normalized, "zero")
            assert found.numpy()[0, ..., 0].tolist() == expected
    noisy = tf.image.extract_glimpse(image, [2, 2], [[5.0, 5.0]]).numpy()
    assert (noisy.min() >= 0, noisy.max() < 1, np.unique(noisy).size) == (True, True, 4)
    with tf.GradientTape() as tape:
        tape.watch(image)
        total = tf.reduce_sum(tf.image.extract_glimpse(image, [3, 3], [[1.0, 0.0]], noise="gaussian"))
    gradient = tape.gradient(total, image)
    assert gradient is not None
    assert gradient.numpy()[0, ..., 0].sum(1).tolist() == [0, 0, 0, 3, 3]
    with pytest.raises(ValueError, match="noise has to be"):
        tf.image.extract_glimpse(image, [1, 1], [[0.0, 0.0]], noise="none")


def test_tensors_as_messages() -> None:
    pytest.importorskip("tensorboard")
    for value, dtype in (
        (1.5, None), ([1, 2], tf.int64), ([[True]], None), (["a", "b"], None), (1 + 2j, None), ([], tf.float32),
        ([1.0, 2.0], tf.bfloat16), (3, tf.uint8),
    ):  # fmt: skip
        expected = tf.constant(value, dtype)
        message = tf.make_tensor_proto(value, dtype)
        assert [dimension.size for dimension in message.tensor_shape.dim] == expected.shape.as_list()
        np.testing.assert_array_equal(tf.make_ndarray(message), expected.numpy())
        assert type(message).FromString(tf.io.serialize_tensor(expected).numpy()).dtype == message.dtype
    assert tf.make_tensor_proto([1.0, 2.0]).tensor_content == np.float32([1, 2]).tobytes()
    assert tf.make_ndarray(tf.make_tensor_proto(7, shape=[2, 2])).tolist() == [[7, 7], [7, 7]]
    with pytest.raises(TypeError, match="Expected Tensor's shape"):
        tf.make_tensor_proto([1, 2], shape=[2, 1], verify_shape=True)
    with pytest.raises(ValueError, match="Too many elements provided"):
        tf.make_tensor_proto([1, 2, 3], shape=[2])
