"""Tapes around calls of functions, and inside of functions that are traced."""

from __future__ import annotations

from typing import Any

import numpy as np

import autoconv as tf


def test_variables_of_functions_that_are_called() -> None:
    v = tf.Variable(3.0)

    @tf.function
    def f(x: Any) -> Any:
        return x * v * v

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        y = f(x)
    assert tape.watched_variables() == (v,)
    assert tape.gradient(y, [v, x])[0].numpy() == 12.0


def test_variables_as_arguments() -> None:
    v = tf.Variable(3.0)

    def inside(v: Any, x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = v * v * x
        return tape.gradient(y, v)

    @tf.function
    def product(v: Any, x: Any) -> Any:
        return v * v * x

    x = tf.constant(2.0)
    assert tf.function(inside)(v, x).numpy() == 12.0
    with tf.GradientTape() as tape:
        y = product(v, x)
    assert tape.gradient(y, v).numpy() == 12.0


def test_a_training_loop_inside_of_a_function() -> None:
    w = tf.Variable([0.0, 0.0])
    inputs = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], np.float32)
    expected = np.array([2.0, -1.0], np.float32)

    @tf.function
    def train(x: Any, y: Any, steps: Any) -> Any:
        loss = 0.0
        for _ in tf.range(steps):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((tf.linalg.matvec(x, w) - y) ** 2)
            w.assign_sub(0.02 * tape.gradient(loss, w))
        return loss

    loss = train(tf.constant(inputs), tf.constant(inputs @ expected), tf.constant(4000))
    assert loss.numpy() < 1e-4
    np.testing.assert_allclose(w.numpy(), expected, atol=0.01)


def test_a_gradient_inside_of_an_arm_or_a_loop() -> None:
    """The tape encloses a branch on a tensor, in which the gradient is computed."""

    @tf.function
    def f(x: Any, n: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
            for _ in tf.range(n):
                y = y * x
        if x > 0.0:
            slope = tape.gradient(y, x)
        else:
            slope = x
        total = 0.0
        for _ in tf.range(2):
            total += tape.gradient(y, x)
        return slope, total

    slope, total = f(tf.constant(2.0), tf.constant(2))
    assert (slope.numpy(), total.numpy()) == (32.0, 64.0)
    slope, total = f(tf.constant(-2.0), tf.constant(2))
    assert (slope.numpy(), total.numpy()) == (-2.0, -64.0)


def test_a_tape_around_a_trace_does_not_record_it() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.stop_gradient(x) * x

    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        first, second = f(x), f(x)
    assert (tape.gradient(first, x).numpy(), tape.gradient(second, x).numpy()) == (3.0, 3.0)


def test_calls_variables_and_loops_inside_of_a_function() -> None:
    v = tf.Variable(2.0)

    @tf.function
    def step(state: Any) -> Any:
        if state > 100.0:
            return state
        return state * v

    @tf.function
    def f(x: Any, n: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x
                for _ in tf.range(n):
                    y = step(y)
            to_x, to_v = tape.gradient(y, [x, v])
        return y, to_x, to_v, outer.gradient(to_x, [x, v])

    y, to_x, to_v, (twice, mixed) = f(tf.constant(3.0), tf.constant(3))
    assert (y.numpy(), to_x.numpy(), to_v.numpy()) == (72.0, 48.0, 9 * 3 * 4.0)
    assert (twice.numpy(), mixed.numpy()) == (16.0, 6 * 3 * 4.0)
    assert f(tf.constant(8.0), tf.constant(3))[0].numpy() == 128.0


def test_functional_loops() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    bodies = [
        lambda x: tf.reduce_sum(tf.map_fn(lambda r: r * r, x)),
        lambda x: tf.reduce_sum(tf.scan(lambda a, r: a * r, x)),
        lambda x: tf.foldl(lambda a, r: a * r + r, x),
        lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x[i]), [tf.constant(0), x[0]])[1],
        lambda x: tf.cond(x[0] > 0.0, lambda: x[0] * x[1], lambda: x[2]),
        lambda x: tf.switch_case(tf.constant(1), [lambda: x[0], lambda: x[1] * x[1]]),
    ]
    desired = [[2, 4, 6], [9, 4, 2], [6, 6, 5], [12, 3, 2], [2, 1, 0], [0, 4, 0]]
    for body, expected in zip(bodies, desired, strict=True):
        for run in (body, tf.function(body)):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = run(x)
            np.testing.assert_allclose(tape.gradient(y, x), expected, rtol=1e-6)


def test_a_gradient_in_a_condition() -> None:
    """A condition is recorded, dropped and recorded again elsewhere; the loop's stacks for the gradient stay."""

    @tf.function
    def f(x: Any, n: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(n):
                y = y * x
        z = y + 1.0
        if z > 0.0 and tape.gradient(y, x) > 10.0:
            return z
        return -z if tape.gradient(y, x) > 1.0 and z > 0.0 else y

    assert [f(tf.constant(v), tf.constant(2)).numpy() for v in (2.0, 1.0, 0.1)] == [9.0, -2.0, np.float32(0.1) ** 3]


def test_calls_that_were_direct_before() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return x * x

    x = tf.constant(3.0)
    for _ in range(3):
        assert f(x).numpy() == 9.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert tape.gradient(y, x).numpy() == 6.0
    assert f(x).numpy() == 9.0


def test_a_tape_watches_the_variables_that_a_called_function_takes() -> None:
    """The first call traces the inner function; the second one finds its trace. Both use the same variables."""
    weight, bias = tf.Variable(2.0), tf.Variable(1.0)
    inner = tf.function(lambda x, variable: x * variable + bias)
    watched = []

    @tf.function
    def outer(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            y = inner(x, weight)
        watched.append(tape.watched_variables())
        return tape.gradient(y, [weight, bias])

    for x, slopes in ((tf.constant(3.0), [3.0, 1.0]), (tf.constant([3.0, 4.0]), [7.0, 2.0])):
        assert [float(slope) for slope in outer(x)] == slopes
    assert [[id(variable) for variable in variables] for variables in watched] == [[id(weight), id(bias)]] * 2
