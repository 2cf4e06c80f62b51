"""Operands of two dtypes, as TensorFlow 2.21 takes or refuses them."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as tf


def test_a_number_takes_the_dtype_of_the_tensor_on_either_side() -> None:
    bytes_ = tf.constant([1, 2], tf.uint8)
    for result in (tf.truncatediv(4, bytes_), tf.truncatediv(bytes_, 1), tf.truncatemod(4, bytes_)):
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
