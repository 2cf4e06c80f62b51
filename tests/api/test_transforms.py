"""grad, value_and_grad, jacobian, hessian, vjp, jvp and ForwardAccumulator."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

import autoconv as tf


def rosenbrock(x: Any) -> Any:
    return (1.0 - x[0]) ** 2 + 100.0 * (x[1] - x[0] ** 2) ** 2


ROSENBROCK_AT = np.array([0.5, 2.0])
ROSENBROCK_SLOPE = np.array([-1.0 - 400 * 0.5 * 1.75, 200 * 1.75])
ROSENBROCK_CURVE = np.array([[2 - 400 * (2.0 - 3 * 0.25), -200.0], [-200.0, 200.0]])


def test_gradient_and_second_derivatives() -> None:
    for f in (rosenbrock, tf.function(rosenbrock), tf.compile(rosenbrock)):
        value, slope = tf.value_and_grad(f)(tf.constant(ROSENBROCK_AT))
        assert value.numpy() == rosenbrock(ROSENBROCK_AT)
        np.testing.assert_allclose(slope, ROSENBROCK_SLOPE)
        np.testing.assert_allclose(tf.hessian(f)(tf.constant(ROSENBROCK_AT)), ROSENBROCK_CURVE)


def test_gradients_by_selected_rows_are_dense() -> None:
    """The tape has IndexedSlices of what only `gather` reads."""
    f: Any = lambda x: tf.reduce_sum(tf.gather(x, [0, 2, 0]) ** 2)
    for argument in (np.array([1.0, 3.0, 5.0]), tf.constant([1.0, 3.0, 5.0])):
        np.testing.assert_array_equal(tf.grad(f)(argument), [4.0, 0.0, 10.0])
        np.testing.assert_array_equal(tf.vjp(f, argument)[1](1.0)[0], [4.0, 0.0, 10.0])
        np.testing.assert_array_equal(tf.hessian(f)(argument), np.diag([4.0, 0.0, 2.0]))
    np.testing.assert_array_equal(tf.grad(lambda x: np.delete(x, 1).sum())(np.array([1.0, 3.0, 5.0])), [1.0, 0.0, 1.0])


def test_array_arguments() -> None:
    for f in (rosenbrock, tf.function(rosenbrock)):
        np.testing.assert_allclose(tf.grad(f)(ROSENBROCK_AT), ROSENBROCK_SLOPE)


def test_float_arguments_have_float_gradients() -> None:
    found = [4 * 8.0, 12 * 4.0, 24 * 2.0, 24.0, 0.0]
    f: Any = lambda x: x**4
    for expected in found:
        f = tf.grad(f)
        slope = f(2.0)
        assert type(slope) is float and slope == expected


def test_gradients_of_compiled_programs() -> None:
    """Under `compile`, gradients flow through Python numbers and functions of math."""

    @tf.compile
    def newton(x: Any, n: Any) -> Any:
        guess = x
        for _ in range(n):
            guess = 0.5 * (guess + x / guess)
        return guess

    @tf.compile
    def series(x: Any, n: Any) -> Any:
        s = 0
        for i in range(n):
            s = s + x**i / (i + 1)
        return s * math.sin(x) + math.exp(-x)

    @tf.compile
    def escape(x: Any) -> Any:
        y = x
        while y < 100:
            if y > 10:
                y = y * y / 3
            else:
                y = y + x * 2
        return y

    assert tf.grad(newton)(2.0, 20) == pytest.approx(0.5 / math.sqrt(2.0))
    for f, x, shape in ((series, 1.3, (4,)), (escape, 1.7, ())):
        h = 1e-5
        plain = f.python_function
        expected = (plain(x + h, *shape) - plain(x - h, *shape)) / (2 * h)
        slope = tf.grad(f)
        assert slope(x, *shape) == slope(x, *shape) == pytest.approx(expected, rel=1e-7)
        assert slope.experimental_get_tracing_count() == 1


def test_several_arguments_and_structures() -> None:
    def loss(weights: Any, x: Any, scale: Any) -> Any:
        return tf.reduce_sum(weights["w"] * x + weights["b"][0]) * scale

    weights = {"w": np.array([1.0, 2.0]), "b": [np.array(3.0)]}
    value, (to_weights, to_scale) = tf.value_and_grad(loss, argnums=(0, 2))(weights, np.array([5.0, 7.0]), 2.0)
    assert value == 2 * (5 + 14 + 6)
    np.testing.assert_array_equal(to_weights["w"], [10.0, 14.0])
    assert to_weights["b"][0] == 4.0
    assert to_scale == 25.0


def test_in_a_function() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.grad(lambda z: tf.sin(z) * z)(x), tf.hessian(lambda z: tf.reduce_sum(z**3))(tf.stack([x, x]))

    slope, curve = f(tf.constant(1.0))
    assert slope.numpy() == pytest.approx(math.sin(1.0) + math.cos(1.0))
    np.testing.assert_allclose(curve, [[6.0, 0.0], [0.0, 6.0]])


def test_jacobian() -> None:
    found = tf.jacobian(lambda x: tf.stack([x[0] * x[1], tf.sin(x[0]), x[1]]))(np.array([2.0, 3.0]))
    np.testing.assert_allclose(found, [[3.0, 2.0], [math.cos(2.0), 0.0], [0.0, 1.0]])
    assert tf.jacobian(lambda x: x * x)(3.0) == 6.0


def test_products_with_the_jacobian() -> None:
    def f(x: Any, y: Any) -> Any:
        return tf.stack([x * y, x + y])

    value, back = tf.vjp(f, tf.constant(2.0), tf.constant(3.0))
    np.testing.assert_array_equal(value, [6.0, 5.0])
    assert [g.numpy() for g in back([1.0, 10.0])] == [13.0, 12.0]
    value, change = tf.jvp(f, [tf.constant(2.0), tf.constant(3.0)], [tf.constant(1.0), tf.constant(10.0)])
    np.testing.assert_array_equal(change, [23.0, 11.0])


def test_forward_accumulator() -> None:
    def body(x: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
            y = x
            for _ in tf.range(3):
                y = y * x
            with tf.GradientTape() as tape:
                tape.watch(x)
                z = x**3
            slope = tape.gradient(z, x)
        return accumulator.jvp(y), accumulator.jvp(slope), accumulator.jvp(tf.constant(1.0), "zero")

    for run in (body, tf.function(body)):
        assert [v.numpy() for v in run(tf.constant(2.0))] == [32.0, 12.0, 0.0]


def test_forward_accumulator_over_a_function_and_variables() -> None:
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f(x: Any) -> Any:
        if tf.reduce_sum(x) > 0.0:
            return v * x * x
        return x

    x = tf.constant([3.0, 4.0])
    with tf.autodiff.ForwardAccumulator([x, v], [tf.constant([1.0, 0.0]), tf.constant([0.0, 1.0])]) as accumulator:
        y = f(x)
    np.testing.assert_array_equal(accumulator.jvp(y), [6.0, 16.0])
    assert accumulator.jvp(tf.constant(1.0)) is None


def test_gradient_of_a_forward_product() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
            y = x**3
        change = accumulator.jvp(y)
    assert tape.gradient(change, x).numpy() == 12.0


def test_tangents_have_to_fit() -> None:
    x = tf.constant([1.0, 2.0])
    with pytest.raises(ValueError, match=r"a primal has the shape \(2,\), its tangent \(3,\)"):
        tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match="different structures"):
        tf.autodiff.ForwardAccumulator([x], x)


@pytest.mark.parametrize(
    ("f", "argument", "message"),
    [
        (lambda x: x * 2.0, np.array([1.0, 2.0]), r"a scalar, <lambda> gave a tensor of shape \(2,\)"),
        (lambda x: x * 2, 3, "differentiated by a tensor, an array or a float, found 3"),
        (lambda x: x * 2, tf.constant(3), "by a floating tensor, found one of int32"),
        (lambda x: "text", 1.0, "a gradient is taken of a scalar, <lambda> gave 'text'"),
        (lambda x: math.sin(x), 1.0, "converts the argument to a Python number or a NumPy array"),
        (lambda x: np.sum(np.asarray(x)), np.ones(2), "converts the argument to a Python number or a NumPy array"),
        (lambda x: tf.cast(x, tf.int32), tf.constant(1.0), "of a floating scalar, <lambda> gave one of int32"),
    ],
)
def test_functions_without_a_gradient(f: Any, argument: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        tf.grad(f)(argument)


@pytest.mark.parametrize(
    "term",
    [
        lambda x: float(x[0]),
        lambda x: math.sin(x[0]),
        lambda x: np.asarray(x)[0],
        lambda x: np.piecewise(x, [x < 0], [np.square, np.abs]).sum(),
    ],
)
def test_terms_that_no_gradient_reaches_beside_others(term: Any) -> None:
    """A part of the gradient would be missing: an error, and the whole gradient under `compile`."""
    x = np.array([0.5, -1.5])

    def total(x: Any) -> Any:
        return np.sum(x * x) + term(x)

    for transform in (tf.grad, tf.hessian, tf.jacobian, tf.vjp, lambda f: lambda x: tf.jvp(f, [x], [x])):
        with pytest.raises(TypeError, match="total converts the argument to a Python number or a NumPy array"):
            transform(total, x) if transform is tf.vjp else transform(total)(x)
    steps = np.eye(2) * 1e-6
    differences = [(total(x + step) - total(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(tf.grad(tf.compile(total))(x), differences, rtol=1e-6)


def test_values_that_a_function_only_looks_at() -> None:
    def total(x: Any) -> Any:
        scale = float(tf.stop_gradient(x[0])) + float(np.floor(x[1]))
        return scale * np.sum(x)

    np.testing.assert_allclose(tf.grad(total)(np.array([2.5, 3.5])), [5.5, 5.5])


def test_misuse() -> None:
    with pytest.raises(TypeError, match="derivatives are taken of a function, found 3"):
        tf.vjp(3, 1.0)
    with pytest.raises(TypeError, match="there is no argument 2 to differentiate by: <lambda> got 1"):
        tf.grad(lambda x: x, argnums=2)(1.0)


def test_programs_that_tapes_cannot_follow_in_a_graph_run_plain() -> None:
    """The differentiated values are in a list known only at run time."""

    @tf.compile
    def through_a_list(x: Any, n: Any) -> Any:
        parts = []
        for _ in range(n):
            parts.append(x * x)
        return sum(parts)

    assert tf.grad(through_a_list)(2.0, 3) == 12.0
    assert "a tape records it, and a differentiated value is stored in a Python object" in through_a_list.explain()
    assert through_a_list(2.0, 3) == 12.0  # as a graph


def test_the_gradient_of_a_constant_is_zero() -> None:
    assert tf.grad(lambda x: tf.constant(3.0))(1.0) == 0.0


def test_gradients_of_compiled_functions_of_arrays() -> None:
    """Under `compile` arrays are NumPy arrays to the program, and have gradients all the same."""

    @tf.compile
    def energy(x: Any) -> Any:
        total = 0.0
        for i in range(len(x)):
            if x[i] > 0:
                total = total + x[i] ** 3
        return total + (x * x).sum()

    x = np.array([1.0, -2.0, 3.0])
    np.testing.assert_allclose(tf.grad(energy)(x), [5.0, -4.0, 33.0])
    np.testing.assert_allclose(tf.hessian(energy)(x), np.diag([8.0, 2.0, 20.0]))
    value, change = tf.jvp(energy, [x], [np.array([1.0, 1.0, 0.0])])
    assert (float(value), float(change)) == (42.0, 1.0)

    @tf.compile
    def by_numpy(x: Any) -> Any:
        return float(np.linalg.norm(x))

    np.testing.assert_allclose(tf.grad(by_numpy)(x), x / np.linalg.norm(x))

    @tf.compile
    def by_python(x: Any) -> Any:
        return float(np.apply_along_axis(sum, 0, x))

    with pytest.raises(TypeError, match="by_python converts the argument to a Python number or a NumPy array"):
        tf.grad(by_python)(x)


def test_derivatives_of_a_compiled_function_are_compiled_as_any_function_is() -> None:
    """The derivative of a compiled function is another function, with traces of its own."""

    @tf.compile
    def curve(x: Any) -> Any:
        return x * x * x

    slope = tf.grad(curve)
    assert float(slope(2.0)) == 12.0
    assert float(tf.compile(slope)(2.0)) == 12.0
    assert float(tf.function(slope)(2.0)) == 12.0

    @functools.wraps(curve)
    def doubled(x: Any) -> Any:
        return 2 * curve(x)

    assert tf.compile(doubled)(2.0) == 16.0


def test_gradients_by_values_that_were_constant_before() -> None:
    x = tf.constant([2.5, 3.5])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        floor = tf.floor(x)
        total = tf.reduce_sum(floor * floor * x)
    np.testing.assert_array_equal(tape.gradient(total, floor), [10.0, 21.0])
    np.testing.assert_array_equal(tape.gradient(total, x), [4.0, 9.0])
    assert tape.gradient(floor, x) is None
