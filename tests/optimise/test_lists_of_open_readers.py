"""Lists that are read without a static shape get the shape of what is written, once an argument's size is known."""

from __future__ import annotations

import numpy as np

import autoconv as tf
from autoconv.graph.dtypes import float32
from autoconv.graph.types import TensorType
from autoconv.optimise.specialise import specialise


def running_products(x):
    """Multiply rows, in a loop over the first axis of `x`, whose other size is unknown; as a recurrent layer does."""
    rows = tf.TensorArray(tf.float32, size=4).unstack(x)
    products = tf.TensorArray(tf.float32, size=4)
    state = tf.ones_like(x[0])
    for i in tf.range(4):
        state = state * rows.read(i)
        products = products.write(i, state)
    return products.stack()


def test_lists_of_open_batches_are_static_for_a_known_one() -> None:
    traced = tf.function(running_products, input_signature=[tf.TensorSpec([4, None], tf.float32)])
    static = specialise(traced.get_concrete_function().optimised, [TensorType(float32, (4, 3))])
    assert static.outputs[0].type == TensorType(float32, (4, 3))
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.testing.assert_array_equal(traced(x), np.cumprod(x, axis=0))
