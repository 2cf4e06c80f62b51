"""The catalogue's lines on gradients."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import autoconv as tf


def test_line_128_gradient_of_a_function_that_reads_a_variable() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def add(a: Any, b: Any) -> Any:
        return a + b

    with tf.GradientTape() as tape:
        result = add(v, 1.0)
    slope = tape.gradient(result, v)
    assert (slope.numpy(), slope.shape, slope.dtype) == (1.0, (), tf.float32)


def test_line_128_second_derivative() -> None:
    v = tf.Variable(1.0)
    x = tf.constant(1.0)

    @tf.function
    def product(x: Any) -> Any:
        return x * x * v

    for f in (product, product.python_function):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            slope = inner.gradient(y, x)
        assert outer.gradient(slope, x).numpy() == 2.0


def test_line_128_through_while() -> None:
    @tf.function
    def fourth_power(x: Any) -> Any:
        i, y = 0, tf.constant(1.0)
        while i < tf.constant(4):
            y = y * x
            i += 1
        return y

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = fourth_power(x)
    assert (y.numpy(), tape.gradient(y, x).numpy()) == (81.0, 108.0)


def test_line_128_through_cond() -> None:
    @tf.function
    def f(x: Any) -> Any:
        if x > 0.0:
            y = x * x
        else:
            y = -x
        return y

    for value, expected in ((3.0, 6.0), (-3.0, -1.0)):
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert tape.gradient(y, x).numpy() == expected


def test_line_128_through_a_tensor_array() -> None:
    @tf.function
    def powers(x: Any) -> Any:
        array = tf.TensorArray(tf.float32, size=4)
        power = tf.constant(1.0)
        for i in tf.range(4):
            array = array.write(i, power)
            power = power * x
        return tf.reduce_sum(array.stack())

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = powers(x)
    assert (y.numpy(), tape.gradient(y, x).numpy()) == (40.0, 34.0)


def test_line_128_through_nested_functions() -> None:
    @tf.function
    def square(x: Any) -> Any:
        return x * x

    @tf.function
    def f(x: Any) -> Any:
        return square(x) * square(x + 1.0)

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert (y.numpy(), tape.gradient(y, x).numpy()) == (36.0, 60.0)


def test_line_128_jacobian_in_a_function() -> None:
    @tf.function
    def jacobian(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * tf.reduce_sum(x)
        return tape.jacobian(y, x)

    np.testing.assert_array_equal(jacobian(tf.constant([1.0, 2.0])), [[4.0, 1.0], [2.0, 5.0]])


def test_line_129_a_tape_is_used_once() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x).numpy() == 6.0
    message = (
        "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
    )
    for again in (tape.gradient, tape.jacobian):
        with pytest.raises(RuntimeError) as caught:
            again(y, x)
        assert message in str(caught.value)
    with tf.GradientTape(persistent=True) as persistent_tape:
        persistent_tape.watch(x)
        y = x * x
        z = y * y
    assert (persistent_tape.gradient(z, x).numpy(), persistent_tape.gradient(y, x).numpy()) == (108.0, 6.0)


def test_line_129_unrelated_targets() -> None:
    x, unwatched = tf.constant(3.0), tf.constant(4.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, unwatched])
        y = x * x
    assert tape.gradient(y, unwatched) is None
    zero = tape.gradient(y, unwatched, unconnected_gradients="zero")
    assert (zero.numpy(), zero.dtype) == (0.0, tf.float32)
    assert tape.gradient(y, unwatched, unconnected_gradients=tf.UnconnectedGradients.ZERO).numpy() == 0.0


def test_line_129_the_gradient_of_gather_is_of_rows() -> None:
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        rows = tf.gather(table, [0, 2, 0])
        loss = tf.reduce_sum(rows * rows)
    slope = tape.gradient(loss, table)
    assert isinstance(slope, tf.IndexedSlices)
    np.testing.assert_array_equal(slope.indices, [0, 2, 0])
    np.testing.assert_array_equal(slope.values, [[2.0, 4.0], [10.0, 12.0], [2.0, 4.0]])
    np.testing.assert_array_equal(slope.dense_shape, [3, 2])


def test_line_129_watching_integers_warns(caplog: Any) -> None:
    with caplog.at_level(logging.WARNING, logger="autoconv"), tf.GradientTape() as tape:
        tape.watch(tf.constant(3))
    expected = "The dtype of the watched tensor must be floating (e.g. tf.float32), got tf.int32"
    assert [record.getMessage() for record in caplog.records] == [expected.replace("tf.", "autoconv.")]


def test_line_130_gradients() -> None:
    @tf.function
    def slope(x: Any) -> Any:
        return tf.gradients(x * x * x, x)

    assert [g.numpy() for g in slope(tf.constant(2.0))] == [12.0]
    x = tf.constant(2.0)
    expected = "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."
    with pytest.raises(RuntimeError) as caught:
        tf.gradients(x * x, x)
    assert str(caught.value) == expected.replace("tf.", "autoconv.")
