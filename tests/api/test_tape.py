"""GradientTape, eagerly and inside functions."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np
import pytest

import autoconv as tf
from tests.api.figures import X, everywhere


def test_powers_with_nested_tapes() -> None:
    def body(x: Any) -> Any:
        with tf.GradientTape() as third:
            third.watch(x)
            with tf.GradientTape() as second:
                second.watch(x)
                with tf.GradientTape() as first:
                    first.watch(x)
                    y = x**4
                slope = first.gradient(y, x)
            curve = second.gradient(slope, x)
        return y, slope, curve, third.gradient(curve, x)

    for found in everywhere(body):
        np.testing.assert_allclose([v.numpy() for v in found], [16.0, 32.0, 48.0, 48.0], rtol=1e-6)


def test_a_persistent_tape_differentiates_its_gradients() -> None:
    def body(x: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
            z = y * y
            slope = tape.gradient(z, x)
        return tape.gradient(z, x), tape.gradient(z, y), tape.gradient(slope, x)

    for found in everywhere(body):
        assert [v.numpy() for v in found] == [32.0, 8.0, 48.0]


def test_structures_of_targets_and_sources() -> None:
    def body(x: Any) -> Any:
        y = x + 1.0
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            target = {"a": x * y, "b": (x * x,)}
        return tape.gradient(target, {"x": x, "rest": [y]})

    for found in (body(tf.constant(X)), tf.function(body)(tf.constant(X))):
        assert (found["x"].numpy(), found["rest"][0].numpy()) == (3.0 + 4.0, 2.0)


def test_output_gradients_and_shapes() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    np.testing.assert_array_equal(
        tape.gradient(y, x, output_gradients=tf.constant([1.0, 10.0])), [2.0, 40.0]
    )
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(ValueError, match=r"a target has the shape \(2,\), its output_gradients have \(3,\)"):
        tape.gradient(y, x, output_gradients=tf.constant([1.0, 2.0, 3.0]))


def test_stop_recording_and_reset() -> None:
    def stopped(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            with tape.stop_recording():
                z = y * y
            total = y * 3.0 + z
        return tape.gradient(total, x)

    def again(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            tape.reset()
            tape.watch(x)
            y = y + x
        return tape.gradient(y, x)

    for body, expected in ((stopped, 12.0), (again, 1.0)):
        for found in (body(tf.constant(X)), tf.function(body)(tf.constant(X))):
            assert found.numpy() == expected


def test_ops_before_and_after_are_not_recorded() -> None:
    def body(x: Any) -> Any:
        before = x * x
        with tf.GradientTape() as tape:
            tape.watch(x)
            inside = before * x
        after = inside * x
        return tape.gradient([inside, after], x)

    for found in (body(tf.constant(X)), tf.function(body)(tf.constant(X))):
        assert found.numpy() == 4.0  # x * x is a constant for the tape, and later ops are not recorded


def test_trainable_variables_are_watched() -> None:
    a, b = tf.Variable(2.0), tf.Variable(3.0, trainable=False)

    def body() -> Any:
        with tf.GradientTape(persistent=True) as tape:
            y = a * a * b
        assert tape.watched_variables() == (a,)
        return tape.gradient(y, [a, b])

    def by_hand() -> Any:
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(b)
            y = a * a * b
        assert tape.watched_variables() == (b,)
        return tape.gradient(y, [a, b])

    for run in (body, tf.function(body)):
        to_a, to_b = run()
        assert to_a.numpy() == 12.0 and to_b is None
    for run in (by_hand, tf.function(by_hand)):
        to_a, to_b = run()
        assert to_a is None and to_b.numpy() == 4.0


def test_a_variable_that_is_assigned_in_between() -> None:
    """Each read has its own gradient, and no gradient flows through the assignment."""
    for decorate in (lambda f: f, tf.function):
        v = tf.Variable(2.0)

        def f(x: Any, v: Any = v) -> Any:
            y = v * x
            v.assign(y * 10.0)
            return y + v * x

        x = tf.constant(3.0)
        run = decorate(f) if decorate is not tf.function else tf.function(lambda x, f=f: f(x))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run(x)
        to_x, to_v = tape.gradient(y, [x, v])
        assert (y.numpy(), to_x.numpy(), to_v.numpy()) == (186.0, 2.0 + 60.0, 6.0)


def test_jacobians() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    matrix = tf.constant([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]])

    def full_jacobian(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.matmul(x, matrix)
        return tape.jacobian(y, x)

    def rows(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.matmul(x, matrix)
        return tape.batch_jacobian(y, x)

    expected = np.einsum("ik,lj->ijkl", np.eye(3), matrix.numpy())
    unknown = tf.TensorSpec([None, 2], tf.float32)
    for run in (full_jacobian, tf.function(full_jacobian), tf.function(full_jacobian, input_signature=[unknown])):
        np.testing.assert_array_equal(run(x), expected)
    for run in (rows, tf.function(rows), tf.function(rows, input_signature=[unknown])):
        np.testing.assert_array_equal(run(x), np.broadcast_to(matrix.numpy().T, (3, 3, 2)))


def test_jacobian_of_unconnected_sources() -> None:
    x, unused = tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, unused])
        y = x * x
    to_x, to_other = tape.jacobian(y, [x, unused])
    np.testing.assert_array_equal(to_x, [[2.0, 0.0], [0.0, 4.0]])
    assert to_other is None
    zeros = tape.jacobian(y, unused, unconnected_gradients="zero")
    np.testing.assert_array_equal(zeros, np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"Need first dimension of target shape \(\[2\]\) and source shape"):
        tape.batch_jacobian(y, unused)
    with pytest.raises(ValueError, match="two dimensions or more"):
        tape.batch_jacobian(y, x)


def test_gradients_of_rows_are_summed() -> None:
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        picked = tf.reduce_sum(tf.gather(table, [0, 2])) + 2.0 * tf.reduce_sum(tf.gather(table, [2]))
        everything = picked + tf.reduce_sum(table * table)
    slices = tape.gradient(picked, table)
    np.testing.assert_array_equal(slices.indices, [2, 0, 2])
    np.testing.assert_array_equal(slices.values, [[2.0, 2.0], [1.0, 1.0], [1.0, 1.0]])
    np.testing.assert_array_equal(
        tape.gradient(everything, table), [[3.0, 5.0], [6.0, 8.0], [13.0, 15.0]]
    )
    table.scatter_sub(slices)


def test_gradients_through_py_function() -> None:
    def cube(x: Any) -> Any:
        return x * x * x

    @tf.function
    def f(x: Any) -> Any:
        return tf.py_function(cube, [x], tf.float32)

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        slope = tape.gradient(y, x)
    assert (slope.numpy(), outer.gradient(slope, x).numpy()) == (12.0, 12.0)


def test_effects_happen_once_for_derivatives_of_any_order(capfd: Any) -> None:
    v = tf.Variable(1.0)

    @tf.function
    def f(x: Any) -> Any:
        tf.print("runs")
        v.assign_add(1.0)
        return x * x * x

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        slope = tape.gradient(y, x)
    assert (slope.numpy(), outer.gradient(slope, x).numpy(), v.numpy()) == (12.0, 12.0, 2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        slope = tape.gradient(y, x)
    assert (tape.gradient(slope, x).numpy(), v.numpy()) == (12.0, 3.0)
    assert capfd.readouterr().err == "runs\nruns\n"


def test_a_tape_frees_what_it_recorded() -> None:
    x = tf.constant(np.ones(1000))
    with tf.GradientTape() as tape:
        tape.watch(x)
        middle = x * x
        y = tf.reduce_sum(middle)
    reference = weakref.ref(middle)
    del middle
    assert reference() is not None
    tape.gradient(y, x)
    assert reference() is None  # at once, by reference counting alone
    with tf.GradientTape(persistent=True) as persistent_tape:
        persistent_tape.watch(x)
        middle = x * x
        y = tf.reduce_sum(middle)
    reference = weakref.ref(middle)
    del middle
    persistent_tape.gradient(y, x)
    assert reference() is not None
    del persistent_tape
    assert reference() is None


def test_threads_have_tapes_of_their_own() -> None:
    found: dict[int, float] = {}

    def work(number: int) -> None:
        for _ in range(20):
            x = tf.constant(float(number))
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x
            found[number] = float(tape.gradient(y, x))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {i: 2.0 * i for i in range(8)}


def test_unknown_shapes() -> None:
    weights = tf.Variable(np.linspace(-1.0, 1.0, 4).reshape(2, 2))
    x = np.array([[0.1, 0.2], [0.3, -0.4], [0.5, 0.6]])

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float64), tf.TensorSpec([], tf.int32)])
    def loss(x: Any, n: Any) -> Any:
        state = tf.zeros_like(x)
        for _ in tf.range(n):
            state = tf.tanh(tf.matmul(state, weights) + x)
        return tf.reduce_mean(state * state)

    with tf.GradientTape() as tape:
        value = loss(tf.constant(x), tf.constant(4))
    slope = tape.gradient(value, weights).numpy()

    def loss_at(w: np.ndarray) -> float:
        state = np.zeros_like(x)
        for _ in range(4):
            state = np.tanh(state @ w + x)
        return float(np.mean(state * state))

    assert value.numpy() == pytest.approx(loss_at(weights.numpy()))
    for index in np.ndindex(2, 2):
        moved = np.zeros((2, 2))
        moved[index] = 1e-6
        expected = (loss_at(weights.numpy() + moved) - loss_at(weights.numpy() - moved)) / 2e-6
        assert slope[index] == pytest.approx(expected, rel=1e-6)


def test_complex_numbers() -> None:
    """The cotangent of a complex value combines those of its parts: dL/dre + i·dL/dim."""
    z = tf.constant(1.0 + 2.0j, tf.complex128)

    def body(z: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(z)
            w = z
            for _ in tf.range(2):
                w = w * z
            y = tf.math.real(w)
        return tape.gradient(y, z)

    assert tf.function(body)(z).numpy() == pytest.approx(np.conj(3 * (1 + 2j) ** 2))


def test_variables_that_are_arguments_of_functions_inside_of_a_function():
    weight, square = tf.Variable(2.0), tf.function(lambda a: a * a)

    @tf.function
    def slope():
        with tf.GradientTape() as tape:
            result = square(weight)
        return tape.gradient(result, weight)

    assert slope().numpy() == 4.0
