"""GradientTape, at once and inside functions."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np
import pytest

import autoconv as tf

X = 2.0


def everywhere(body: Any) -> list[Any]:
    """What body(x) gives at once, as a function, and compiled, with x = 2."""
    return [run(tf.constant(X)) for run in (body, tf.function(body), tf.compile(body))]


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


def test_a_persistent_tape_differentiates_what_it_gave() -> None:
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

    for body, wanted in ((stopped, 12.0), (again, 1.0)):
        for found in (body(tf.constant(X)), tf.function(body)(tf.constant(X))):
            assert found.numpy() == wanted


def test_what_happens_before_and_after_is_not_recorded() -> None:
    def body(x: Any) -> Any:
        before = x * x
        with tf.GradientTape() as tape:
            tape.watch(x)
            inside = before * x
        after = inside * x
        return tape.gradient([inside, after], x)

    for found in (body(tf.constant(X)), tf.function(body)(tf.constant(X))):
        assert found.numpy() == 4.0  # x * x counts as a constant, and nothing leads from what came after


def test_variables_are_watched_where_they_are_trainable() -> None:
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


def test_a_variable_assigned_on_the_way() -> None:
    """Each reading counts with what it read; what was assigned is not gone through."""
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


def test_a_training_loop_inside_of_a_function() -> None:
    w = tf.Variable([0.0, 0.0])
    inputs = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], np.float32)
    wanted = np.array([2.0, -1.0], np.float32)

    @tf.function
    def train(x: Any, y: Any, steps: Any) -> Any:
        loss = 0.0
        for _ in tf.range(steps):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((tf.linalg.matvec(x, w) - y) ** 2)
            w.assign_sub(0.02 * tape.gradient(loss, w))
        return loss

    loss = train(tf.constant(inputs), tf.constant(inputs @ wanted), tf.constant(4000))
    assert loss.numpy() < 1e-4
    np.testing.assert_allclose(w.numpy(), wanted, atol=0.01)


def test_a_gradient_inside_of_an_arm_or_a_loop() -> None:
    """The tape stands around, the gradient is asked for where a tensor decides whether."""

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


def test_jacobians() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    matrix = tf.constant([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]])

    def whole(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.matmul(x, matrix)
        return tape.jacobian(y, x)

    def rows(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.matmul(x, matrix)
        return tape.batch_jacobian(y, x)

    wanted = np.einsum("ik,lj->ijkl", np.eye(3), matrix.numpy())
    unknown = tf.TensorSpec([None, 2], tf.float32)
    for run in (whole, tf.function(whole), tf.function(whole, input_signature=[unknown])):
        np.testing.assert_array_equal(run(x), wanted)
    for run in (rows, tf.function(rows), tf.function(rows, input_signature=[unknown])):
        np.testing.assert_array_equal(run(x), np.broadcast_to(matrix.numpy().T, (3, 3, 2)))


def test_jacobian_of_unconnected_sources() -> None:
    x, other = tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, other])
        y = x * x
    to_x, to_other = tape.jacobian(y, [x, other])
    np.testing.assert_array_equal(to_x, [[2.0, 0.0], [0.0, 4.0]])
    assert to_other is None
    zeros = tape.jacobian(y, other, unconnected_gradients="zero")
    np.testing.assert_array_equal(zeros, np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"Need first dimension of target shape \(\[2\]\) and source shape"):
        tape.batch_jacobian(y, other)


def test_rows_add_up() -> None:
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


def test_tensor_arrays_and_iteration_at_once() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        read = tf.TensorArray(tf.float32, 3).unstack(x)
        written = tf.TensorArray(tf.float32, 3)
        for i in range(3):
            written = written.write(i, read.read(i) ** 2)
        y = tf.reduce_sum(written.stack())
        for row in x:
            y = y + row
        first, *_ = tf.unstack(x)
        y = y + first
    np.testing.assert_array_equal(tape.gradient(y, x), [4.0, 5.0, 7.0])


def test_py_function_is_gone_back_through() -> None:
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


def test_a_tape_around_a_trace_does_not_see_into_it() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.stop_gradient(x) * x

    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        first, second = f(x), f(x)
    assert (tape.gradient(first, x).numpy(), tape.gradient(second, x).numpy()) == (3.0, 3.0)


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


def test_a_derivative_too_many_of_what_has_effects_says_so() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def f(x: Any) -> Any:
        v.assign_add(1.0)
        return x * x * x

    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        slope = tape.gradient(y, x)
        curve = tape.gradient(slope, x)
    with pytest.raises(TypeError, match="a further derivative of"):
        tape.gradient(curve, x)


def test_a_tape_frees_what_it_recorded() -> None:
    x = tf.constant(np.ones(1000))
    with tf.GradientTape() as tape:
        tape.watch(x)
        middle = x * x
        y = tf.reduce_sum(middle)
    held = weakref.ref(middle)
    del middle
    assert held() is not None
    tape.gradient(y, x)
    assert held() is None  # already now, and by counting references alone
    with tf.GradientTape(persistent=True) as kept:
        kept.watch(x)
        middle = x * x
        y = tf.reduce_sum(middle)
    held = weakref.ref(middle)
    del middle
    kept.gradient(y, x)
    assert held() is not None
    del kept
    assert held() is None


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


# ---- what is refused


def test_watching_what_is_no_tensor() -> None:
    with tf.GradientTape() as tape:
        for value in (3.0, "text", np.ones(2)):
            with pytest.raises(ValueError, match=r"not autoconv\.Tensor or autoconv\.Variable") as caught:
                tape.watch(value)
            assert repr(value) in str(caught.value) and type(value).__name__ in str(caught.value)


@pytest.mark.parametrize(("target", "source"), [(3.0, None), (None, 3.0), ("y", None), (None, [1.0])])
def test_gradients_of_what_is_no_tensor(target: Any, source: Any) -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    wrong = target if target is not None else source[0] if isinstance(source, list) else source
    with pytest.raises(ValueError, match="Passed in object") as caught:
        tape.gradient(y if target is None else target, x if source is None else source)
    assert repr(wrong) in str(caught.value)


def test_integers_have_no_gradient(caplog: Any) -> None:
    x, n = tf.constant(2.0), tf.constant(3)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, n])
        y = x * tf.cast(n, tf.float32)
        whole = tf.cast(y, tf.int32)
    assert tape.gradient(y, n) is None
    assert tape.gradient(whole, x) is None
    texts = [record.getMessage() for record in caplog.records]
    assert texts == [
        f"The dtype of the {what} tensor must be floating (e.g. autoconv.float32){when}, got autoconv.int32"
        for what, when in (
            ("watched", ""),
            ("source", " when calling GradientTape.gradient"),
            ("target", " when calling GradientTape.gradient"),
        )
    ]


def test_misuse_of_the_block() -> None:
    tape = tf.GradientTape()
    with pytest.raises(ValueError, match="Tape is not recording"), tape.stop_recording():
        pass
    with tape, pytest.raises(ValueError, match="Tape is still recording"):
        tape.__enter__()
    with pytest.raises(ValueError, match="recompute_every is a number of iterations from 1 on, found 0"):
        tf.GradientTape(recompute_every=0)
    with pytest.raises(ValueError, match="'sometimes' is not a valid UnconnectedGradients"):
        tf.GradientTape().gradient(tf.constant(1.0), tf.constant(1.0), unconnected_gradients="sometimes")


def test_an_op_without_a_gradient_is_named() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.math.nextafter(x, x)
    with pytest.raises(TypeError, match="the op 'nextafter' has no gradient"):
        tape.gradient(y, x)


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


def test_shapes_that_are_not_known() -> None:
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

    def at(w: np.ndarray) -> float:
        state = np.zeros_like(x)
        for _ in range(4):
            state = np.tanh(state @ w + x)
        return float(np.mean(state * state))

    assert value.numpy() == pytest.approx(at(weights.numpy()))
    for index in np.ndindex(2, 2):
        moved = np.zeros((2, 2))
        moved[index] = 1e-6
        wanted = (at(weights.numpy() + moved) - at(weights.numpy() - moved)) / 2e-6
        assert slope[index] == pytest.approx(wanted, rel=1e-6)


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
    wanted = [[2, 4, 6], [9, 4, 2], [6, 6, 5], [12, 3, 2], [2, 1, 0], [0, 4, 0]]
    for body, expected in zip(bodies, wanted, strict=True):
        for run in (body, tf.function(body)):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = run(x)
            np.testing.assert_allclose(tape.gradient(y, x), expected, rtol=1e-6)


def test_complex_numbers() -> None:
    """The cotangent of a complex value is that of its parts: dL/dre + i·dL/dim."""
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


def test_a_gradient_in_a_condition() -> None:
    """Conditions are recorded, taken back and recorded again elsewhere; what the loop keeps for the gradient stays."""

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


def test_calls_that_have_taken_the_short_way_before() -> None:
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


def test_gradients_go_through_lists_of_tensors():
    x, three = tf.constant(3.0), tf.constant([1.0, 2.0])

    def functions():
        yield lambda x: tf.reduce_sum([x * 2, x, 1.0]), 3.0
        yield lambda x: tf.reduce_sum([[x, x], [x * x, 1.0]]), 8.0
        yield lambda x: tf.reduce_sum(three * tf.constant([x * x, x])), 8.0
        yield lambda x: tf.cast(tf.reduce_sum(tf.constant([[x], [1.0]], tf.float64, shape=[1, 2]) * 2.0), x.dtype), 2.0
        yield lambda x: tf.reduce_sum(tf.constant(x * x, shape=[3])), 18.0
        yield lambda x: tf.reduce_sum(three * [x, x]), 3.0
        yield lambda x: tf.reduce_sum(tf.reshape([x, 1.0, x], [3, 1])), 2.0
        yield lambda x: tf.reduce_sum(tf.tensor_scatter_nd_update(three, [[1]], [x * x])), 6.0

    for function, expected in functions():
        for run in (function, tf.function(function)):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = run(x)
            assert tape.gradient(y, x).numpy() == expected


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_a_list_has_the_dtype_of_its_tensors(dtype):
    x = tf.constant(2, dtype)
    for make in (lambda x: [x, 1], lambda x: [1, x], lambda x: [[x], [1]], lambda x: (x, x)):
        for found in everywhere(lambda _: tf.convert_to_tensor(make(x))):  # noqa: B023 - called at once
            assert found.dtype == dtype
    for run in (lambda f: f, tf.function):
        if dtype.startswith("int"):
            with pytest.raises(TypeError, match="Cannot convert"):
                run(lambda: tf.convert_to_tensor([x, 1.5]))()
        else:
            assert run(lambda: tf.convert_to_tensor([x, 1.5]))().numpy().tolist() == [2, 1.5]
