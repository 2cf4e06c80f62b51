"""Section B: gradients of traces."""

import autoconv as tf


def test_line_062_gradients_through_a_concrete_function():
    v = tf.Variable(2.0)

    @tf.function
    def scaled(x):
        return x * v

    @tf.function
    def product(x, w):
        return x * w

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        result = scaled.get_concrete_function(x)(x)
    assert float(tape.gradient(result, v)) == 2.0

    w = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        result = product.get_concrete_function(x, w)(x, w)
    assert float(tape.gradient(result, w)) == 2.0
