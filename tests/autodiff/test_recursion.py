"""Gradients through recursive functions whose depth a tensor decides, against derivatives by hand, and against
plain Python runs that a tape records call by call."""

import numpy as np
import pytest

import autoconv as tf
from autoconv.errors import StagingError


def power(x, n):
    if n <= 0:
        return x * 0.0 + 1.0
    return x * power(x, n - 1)


def fibonacci(x, n):
    if n < 2:
        return x * tf.cast(n, tf.float64)
    return fibonacci(x, n - 1) + fibonacci(x, n - 2) * tf.sin(x)


def even(x, n):
    if n == 0:
        return x
    return odd(x * 2.0, n - 1)


def odd(x, n):
    if n == 0:
        return -x
    return even(x * x, n - 1)


def sum_and_product(x, n):
    if n == 0:
        return x, x * x
    first, second = sum_and_product(x * 1.5, n - 1)
    return first + second, first * second


def with_a_loop(x, n):
    if n == 0:
        return tf.exp(-x)
    total = x
    for _ in range(n):
        total = tf.cos(total) * with_a_loop(x * 0.5, n - 1)
    return total


def in_a_loop(x, n):
    total = tf.zeros_like(x)
    while n > 0:
        total += power(x + total * 0.1, n)
        n -= 1
    return total


def descends(x, n):
    depth = n
    while depth > 3:  # the depth depends on a computed number
        depth -= 2
    return power(x, depth) + tf.reduce_sum(vector_tree(tf.stack([x, 2.0 * x]), n))


def vector_tree(v, n):
    if n <= 1:
        return v
    return tf.concat([vector_tree(v * 0.5, n - 1)[:1], tf.sin(v)[1:]], 0) * v


CASES = [
    (power, 3), (fibonacci, 5), (even, 4), (odd, 3), (lambda x, n: sum(sum_and_product(x, n)), 2), (with_a_loop, 2),
    (in_a_loop, 3), (descends, 4),
]  # fmt: skip


def by_python(f, x, n):
    """Return first and second derivatives of a plain Python run of the program, with known numbers."""
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x, n)
        first = inner.gradient(y, x)
    return first.numpy(), outer.gradient(first, x).numpy()


@pytest.mark.parametrize(("f", "n"), CASES, ids=lambda case: getattr(case, "__name__", None))
def test_first_and_second_derivatives(f, n):
    x, count = tf.constant(1.3, tf.float64), tf.constant(n)
    step = 1e-6
    first, second = by_python(f, x, n)
    differences = (f(x + step, n) - f(x - step, n)).numpy() / (2 * step)
    np.testing.assert_allclose(first, differences, rtol=1e-6)
    graph = tf.function(f)
    np.testing.assert_allclose(by_python(graph, x, count), (first, second), rtol=1e-10)

    @tf.function
    def inside(x, n):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x, n)
            first = tape.gradient(y, x)
        return first, outer.gradient(first, x)

    np.testing.assert_allclose([t.numpy() for t in inside(x, count)], (first, second), rtol=1e-10)
    np.testing.assert_allclose(tf.grad(graph)(x, count).numpy(), first, rtol=1e-10)
    assert graph.experimental_get_tracing_count() == 1


def test_gradients_under_compile_are_one_graph():
    compiled = tf.compile(power)
    assert tf.grad(compiled)(3.0, 4) == 4 * 27
    assert "plain Python" not in compiled.explain()


def test_variables_are_read_when_the_function_is_called():
    v, x = tf.Variable(2.0), tf.constant(3.0)

    @tf.function
    def scaled(x, n):
        if n == 0:
            return x
        return v * scaled(x, n - 1)

    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = scaled(x, tf.constant(4))
    v.assign(100.0)
    assert tape.gradient(y, v).numpy() == 4 * 2**3 * 3
    assert tape.gradient(y, x).numpy() == 2**4


def test_deep_calls():
    x = tf.constant(1.0, tf.float64)
    assert tf.grad(tf.function(power))(x, tf.constant(150)).numpy() == 150


def test_effects_that_would_happen_twice_are_refused():
    @tf.function
    def loud(x, n):
        if n == 0:
            return x
        tf.print("down")
        return x * loud(x, n - 1)

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loud(x, tf.constant(2))
    with pytest.raises(StagingError, match="prints"):
        tape.gradient(y, x)


def test_under_compile_effects_that_would_happen_twice_run_plain(capsys):
    @tf.compile
    def loud(x, n):
        if n == 0:
            return x
        print("down", n)
        return x * loud(x, n - 1)

    assert tf.grad(loud)(2.0, 2) == 12.0
    assert capsys.readouterr().out == "down 2\ndown 1\n"
