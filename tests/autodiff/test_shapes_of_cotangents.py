"""Cotangents from lists whose elements have no known shape, where the forward pass had known shapes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import autoconv as tf


def halved_or_multiplied(x: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
    if value > 10.0:
        value = value / 2.0
    else:
        value = value * x
    return value


def in_a_handler(x: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
    try:
        if value > 10.0:
            raise ValueError("too large")
        following = value * x
    except ValueError:
        following = value - 9.0 * x
    return following


@tf.function
def called(x: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
    return tf.sin(value) * x + x


@tf.custom_gradient
def with_its_own(x: tf.Tensor, value: tf.Tensor) -> tuple[tf.Tensor, Callable[..., object]]:
    return x * value, lambda upstream: (upstream * value, upstream * x)


def total(step: Callable[..., tf.Tensor]) -> Callable[..., tf.Tensor]:
    @tf.function
    def run(x: tf.Tensor, n: tf.Tensor) -> tf.Tensor:
        values = tf.TensorArray(tf.float64, size=0, dynamic_size=True)
        value = x
        for i in tf.range(n):
            value = step(x, value)
            values = values.write(i, value)
        return tf.reduce_sum(values.stack())

    return run


@pytest.mark.parametrize("step", [halved_or_multiplied, in_a_handler, called, with_its_own])
def test_gradient_of_a_tensor_array(step: Callable[..., tf.Tensor]) -> None:
    run, n = total(step), tf.constant(9)
    x = tf.constant(1.7, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = run(x, n)

    def at(x: float) -> float:
        return float(run(tf.constant(x, tf.float64), n))

    slope = (at(1.7 + 1e-6) - at(1.7 - 1e-6)) / 2e-6
    np.testing.assert_allclose(tape.gradient(y, x), slope, rtol=1e-6)


def test_lists_in_a_cond_whose_predicate_has_no_known_shape():
    @tf.function(input_signature=[tf.TensorSpec(None, tf.float64), tf.TensorSpec([], tf.int32)])
    def slope(x: tf.Tensor, n: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            values = tf.TensorArray(tf.float64, size=5, clear_after_read=False).write(0, x)
            for i in tf.range(1, n):
                before = values.read(i - 1)
                if before > 2.0:
                    values = values.write(i, tf.sqrt(before))
                else:
                    values = values.write(i, before * before + 0.1)
            last = values.read(n - 1)
        return tape.gradient(last, x)

    def plain(x: float) -> float:
        for _ in range(4):
            x = x**0.5 if x > 2.0 else x * x + 0.1
        return x

    expected = (plain(1.3 + 1e-6) - plain(1.3 - 1e-6)) / 2e-6
    np.testing.assert_allclose(slope(1.3, 5), expected, rtol=1e-6)
