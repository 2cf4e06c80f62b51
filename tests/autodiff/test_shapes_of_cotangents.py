"""Cotangents that come out of a list whose elements have no known shape, where the way forward knew the shape."""

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
def test_gradient_of_what_a_tensor_array_collects(step: Callable[..., tf.Tensor]) -> None:
    run, n = total(step), tf.constant(9)
    x = tf.constant(1.7, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = run(x, n)

    def at(x: float) -> float:
        return float(run(tf.constant(x, tf.float64), n))

    slope = (at(1.7 + 1e-6) - at(1.7 - 1e-6)) / 2e-6
    np.testing.assert_allclose(tape.gradient(y, x), slope, rtol=1e-6)
