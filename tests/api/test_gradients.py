"""gradients, hessians, custom_gradient, stop_gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv as tf


def test_gradients_in_a_function() -> None:
    @tf.function
    def f(x: Any, y: Any) -> Any:
        z = x * x * y
        w = tf.sin(x)
        return (
            tf.gradients(z, [x, y]),
            tf.gradients([z, w], x, grad_ys=[tf.constant(2.0), tf.constant(1.0)]),
            tf.gradients(z * w, x, stop_gradients=[w]),
            tf.gradients(w, y, unconnected_gradients="zero"),
        )

    sums, weighted, stopped, zero = f(tf.constant(2.0), tf.constant(3.0))
    assert [g.numpy() for g in sums] == [12.0, 4.0]
    assert weighted[0].numpy() == pytest.approx(24.0 + np.cos(2.0))
    assert stopped[0].numpy() == pytest.approx(12.0 * np.sin(2.0), rel=1e-6)
    assert zero[0].numpy() == 0.0


def test_gradients_of_variables_and_loops() -> None:
    v = tf.Variable(2.0)

    @tf.function
    def f(n: Any) -> Any:
        y = 1.0
        for _ in tf.range(n):
            y = y * v
        assert tf.gradients(y, tf.constant(1.0)) == [None]
        return tf.gradients(y, v)

    assert [g.numpy() for g in f(tf.constant(5))] == [80.0]


def test_hessians() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.hessians(tf.reduce_sum(x * x * x) + x[0] * x[1], x)

    (found,) = f(tf.constant([1.0, 2.0]))
    np.testing.assert_array_equal(found, [[6.0, 1.0], [1.0, 12.0]])


def test_gradients_of_objects_that_are_no_tensors() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.gradients(3.0, x)

    with pytest.raises(ValueError, match="takes tensors of the function that is being traced, found"):
        f(tf.constant(1.0))


@tf.custom_gradient
def log1pexp(x: Any) -> Any:
    e = tf.exp(x)

    def grad(upstream: Any) -> Any:
        return upstream * (1 - 1 / (1 + e))

    return tf.math.log(1 + e), grad


def test_a_custom_gradient() -> None:
    """A function whose plain gradient is nan at 100: the custom one is 1, and its derivative that of the sigmoid."""

    def body(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = log1pexp(x)
            slope = tape.gradient(y, x)
        return slope, outer.gradient(slope, x)

    for run in (body, tf.function(body)):
        assert run(tf.constant(100.0))[0].numpy() == 1.0
        slope, curve = run(tf.constant(0.5))
        sigmoid = 1 / (1 + np.exp(-0.5))
        assert slope.numpy() == pytest.approx(sigmoid, rel=1e-6)
        assert curve.numpy() == pytest.approx(sigmoid * (1 - sigmoid), rel=1e-5)


def test_a_custom_gradient_in_a_loop_and_a_call() -> None:
    @tf.custom_gradient
    def doubled_slope(x: Any, y: Any) -> Any:
        return (x * y, x + y), lambda a, b: (2.0 * a * y + b, None)

    @tf.function
    def f(x: Any, n: Any) -> Any:
        s = x
        for _ in tf.range(n):
            product, total = doubled_slope(s, tf.constant(3.0))
            s = product + total
        return s

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, tf.constant(2))
    assert (y.numpy(), tape.gradient(y, x).numpy()) == (31.0, 49.0)  # (2·3 + 1)² in place of (3 + 1)²


def test_a_custom_gradient_with_variables() -> None:
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def scaled(x: Any) -> Any:
        def grad(upstream: Any, variables: Any = None) -> Any:
            assert [item is v for item in variables] == [True]
            return upstream * 100.0, [upstream * 10.0]

        return x * v, grad

    @tf.custom_gradient
    def without(x: Any) -> Any:
        return x * v, lambda upstream: upstream

    def body(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = scaled(x)
        return tape.gradient(y, [x, v])

    x = tf.constant(3.0)
    for run in (body, tf.function(body)):
        assert [g.numpy() for g in run(x)] == [100.0, 10.0]
    with pytest.raises(TypeError, match="grad_fn must accept a 'variables' keyword argument; without reads Variable:0"):
        without(x)


def test_too_few_cotangents() -> None:
    @tf.custom_gradient
    def product(x: Any, y: Any) -> Any:
        return x * y, lambda upstream: upstream

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = product(x, x)
    with pytest.raises(ValueError, match="the gradient of product gives 1 cotangents for 2 arguments"):
        tape.gradient(y, x)


def test_stop_gradient() -> None:
    def body(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * tf.stop_gradient(x * x)
        return tape.gradient(y, x)

    for run in (body, tf.function(body), tf.compile(body)):
        assert run(tf.constant(3.0)).numpy() == 9.0


def test_a_custom_gradient_of_tuples_and_dicts_is_of_each_tensor():
    @tf.custom_gradient
    def f(pair, named, k):
        (x, y), z = pair, named["z"]
        return x * y + z + k, lambda g: (g * y, g * x * 10, [g * 100], g * 1000)

    values = [tf.constant(v) for v in (2.0, 3.0, 4.0, 5.0)]

    def gradients():
        with tf.GradientTape() as tape:
            for value in values:
                tape.watch(value)
            found = f((values[0], values[1]), {"z": values[2]}, values[3])
        return tape.gradient(found, values)

    for found in (gradients(), tf.function(gradients)()):
        assert [float(g) for g in found] == [3.0, 20.0, 100.0, 1000.0]


def test_derivatives_at_their_singular_points_are_those_of_tensorflow():
    x = tf.constant([0.0, 1.0, -1.0])
    for f, expected in (
        (lambda x: tf.where(x > 0, tf.sqrt(tf.abs(x)), 0.0), [0.0, 0.5, 0.0]),
        (tf.nn.selu, [1.050701, 1.050701, 0.64676857]),
        (lambda x: tf.sqrt(x[:1] + 1.0), [0.5, 0.0, 0.0]),
    ):
        for run in (f, tf.function(f)):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = run(x)
            np.testing.assert_allclose(tape.gradient(y, x), expected, rtol=1e-6)


def test_rows_are_clipped_and_scaled_as_rows():
    rows = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant([3, 2]))
    assert rows.shape == (3, 2) and tf.IndexedSlices([1.0], [0]).shape.rank is None
    clipped = tf.clip_by_norm(rows, 1.0)
    np.testing.assert_allclose(clipped.values, [[0.4472136, 0.8944272]], rtol=1e-6)
    (found, clipped_ones), norm = tf.clip_by_global_norm([rows, tf.ones([2])], 1.0)
    np.testing.assert_allclose(norm, 7**0.5, rtol=1e-6)
    np.testing.assert_allclose(found.values, np.array([[1.0, 2.0]]) / 7**0.5, rtol=1e-6)
    assert tf.scalar_mul(2.0, rows).values.numpy().tolist() == [[2.0, 4.0]] and clipped_ones.shape == (2,)


def test_values_with_a_custom_gradient_keep_their_sizes() -> None:
    """Code for any size, and the loops around the function, are as those without a custom gradient."""

    @tf.custom_gradient
    def scaled(x: Any) -> Any:
        return tf.tanh(x), lambda upstream: upstream * 3.0

    @tf.function(input_signature=[tf.TensorSpec([None, 4])])
    def flat(x: Any) -> Any:
        y = scaled(x * 2.0) + 1.0
        return tf.reshape(y, [tf.shape(y)[0] * 4])

    for rows in (2, 5, 3):
        x = np.linspace(-1, 1, rows * 4, dtype=np.float32).reshape(rows, 4)
        np.testing.assert_allclose(flat(x), np.tanh(x * 2).ravel() + 1, rtol=1e-5)
    assert "by kernels" not in flat.explain()
