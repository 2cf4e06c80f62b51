"""Gradients through control flow, first and second order and beyond, against finite differences."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autoconv as tf
from autoconv.autodiff.vjp import split, vjp
from autoconv.optimise import optimise

sys.path.insert(0, str(Path(__file__).resolve().parent))

import differentiated as programs

CASES = [pytest.param(f, x, id=f"{f.__name__}-{x}") for f, x in programs.PROGRAMS]


@pytest.mark.parametrize(("function", "x"), CASES)
@pytest.mark.search
def test_first_and_second_derivatives(function: Any, x: Any) -> None:
    programs.check_derivatives(function, x)


@pytest.mark.parametrize(
    ("function", "x"),
    [
        (programs.power_in_a_while, 3.0),
        (programs.cond, 3.0),
        (programs.nested_loops, 1.2),
        (programs.recurrence_in_a_list, 1.1),
    ],
)
def test_third_derivatives(function: Any, x: float) -> None:
    programs.check_derivatives(function, x, orders=3)


@pytest.mark.parametrize(("function", "x"), CASES)
@pytest.mark.search
def test_in_two_parts_and_with_segments(function: Any, x: Any) -> None:
    """Separate graphs for forward and backward, and loops that recompute, have the same results."""
    graph = programs.trace(function, x)
    expected = programs.run(vjp(graph, [0]), x, 1.0)[0]
    for every in (None, 1, 2, 3):
        parts = split(graph, [0], recompute_every=every)
        results = programs.run(parts.forward, x)
        assert parts.parameter_positions == (0,)
        found = programs.run(parts.backward, 1.0, *results[parts.output_count :])[0]
        np.testing.assert_allclose(found, expected, rtol=1e-13)
        np.testing.assert_allclose(
            programs.run(vjp(graph, [0], recompute_every=every), x, 1.0)[0], expected, rtol=1e-13
        )


def test_quoted_values() -> None:
    for function, x, expected in (
        (programs.power_in_a_while, 3.0, 108.0),
        (programs.tensor_array, 3.0, 34.0),
    ):
        assert programs.run(vjp(programs.trace(function, x), [0]), x, 1.0) == [expected]


def pushed_ops(graph: Any) -> Counter[str]:
    """Return the ops whose results the optimised graph pushes, and the number of nodes by op."""
    return Counter(node.op.name for node in optimise(graph).walk())


def test_only_values_that_the_gradient_reads_are_stored() -> None:
    """The gradient of sin(h)·1.01 + cos(h) reads only h, one stack; that of h + x reads nothing."""

    def waves(x: Any) -> Any:
        h = x
        for _ in tf.range(5):
            h = tf.sin(h) * 1.01 + tf.cos(h)
        return h

    def sums(x: Any) -> Any:
        h = x
        for _ in tf.range(5):
            h = h + x * 3.0
        return h

    assert pushed_ops(vjp(programs.trace(waves, 1.0), [0]))["list_push"] == 1
    assert pushed_ops(vjp(programs.trace(sums, 1.0), [0]))["list_push"] == 0


def test_loop_invariants_are_not_stored() -> None:
    """The cosine of a loop invariant is recomputed, not stored for every iteration."""

    def invariant(x: Any) -> Any:
        h = x * 0.0
        for _ in tf.range(5):
            h = h + tf.sin(x * x)
        return h

    graph = vjp(programs.trace(invariant, 1.0), [0])
    assert pushed_ops(graph)["list_push"] == 0
    assert programs.run(graph, 0.7, 1.0)[0] == pytest.approx(5 * np.cos(0.49) * 1.4)


def test_only_shapes_of_broadcast_operands_are_stored() -> None:
    """Broadcasting back needs the shape of an operand, not its elements."""

    def broadcast(x: Any) -> Any:
        y = tf.reshape(x, [1])
        for _ in tf.range(3):
            y = tf.concat([y, y], 0) + x
        return tf.reduce_sum(y)

    counts = pushed_ops(vjp(programs.trace(broadcast, 1.0), [0]))
    assert counts["shape_placeholder"] > 0
    programs.check_derivatives(broadcast, 1.5)


def test_nested_loops_share_one_flat_stack() -> None:
    def nested(x: Any) -> Any:
        h = x
        for _ in tf.range(3):
            for _ in tf.range(4):
                h = tf.sin(h)
        return h

    graph = optimise(vjp(programs.trace(nested, 1.0), [0]))
    pushes = [node for node in graph.walk() if node.op.name == "list_push"]
    values = [node for node in pushes if str(node.inputs[1].type) == "float64[]"]
    assert len(values) == 1  # and the number of inner iterations, once for each outer iteration
    assert len(pushes) == 2


def test_an_absent_arm_is_never_computed() -> None:
    """The gradient of the logarithm at zero is infinite, and must not be computed for an arm that was not taken."""

    @tf.function
    def guarded(x: Any) -> Any:
        if x > 0.0:
            y = tf.math.log(x)
        else:
            y = x * 2.0
        return y

    x = tf.constant(0.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = guarded(x)
    assert tape.gradient(y, x).numpy() == 2.0


def test_effects_of_the_forward_pass_happen_once(capsys: Any) -> None:
    v = tf.Variable(2.0)

    @tf.function
    def f(x: Any) -> Any:
        s = 0.0
        for i in tf.range(3):
            tf.print("iteration", i)
            s = s + v * x
            v.assign_add(1.0)
        return s

    x = tf.constant(5.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    slopes = tape.gradient(y, [x, v])
    assert [g.numpy() for g in slopes] == [2 + 3 + 4, 15.0]
    assert (y.numpy(), v.numpy()) == (45.0, 5.0)


def test_memory_of_a_reversed_loop_and_of_segments() -> None:
    """m iterations store m values; with segments of n iterations they store m/n + n."""
    import tracemalloc

    size, m, n = 2000, 400, 20
    peaks = {}
    for every in (None, n):

        @tf.function
        def slope(x: Any, count: Any, every: Any = every) -> Any:
            with tf.GradientTape(recompute_every=every) as tape:
                tape.watch(x)
                h = x
                for _ in tf.range(count):
                    h = tf.sin(h) * 1.01 + tf.cos(h)
                y = tf.reduce_sum(h)
            return tape.gradient(y, x)

        x, count = tf.constant(np.linspace(0.0, 1.0, size)), tf.constant(m)
        slope(x, count)
        tracemalloc.start()
        found = slope(x, count)
        peaks[every] = tracemalloc.get_traced_memory()[1], found.numpy()
        tracemalloc.stop()
    np.testing.assert_array_equal(peaks[None][1], peaks[n][1])
    values = size * 8
    assert m * values < peaks[None][0] < 1.25 * m * values
    assert peaks[n][0] < 2 * (m / n + n) * values


def test_segments_read_variables_that_were_read_before() -> None:
    """A recurrent network reads its weights once: its loop stores m/n states, and results do not change."""
    v = tf.Variable(np.array([[0.3, -0.2], [0.1, 0.4]]))
    x = tf.constant(np.array([1.0, -1.0]))
    slopes, pushes = [], []
    for every in (None, 3):

        @tf.function
        def slope(x: Any, n: Any, every: Any = every) -> Any:
            with tf.GradientTape(recompute_every=every) as tape:
                w = v.read_value()
                h = tf.zeros([2], tf.float64)
                for _ in tf.range(n):
                    h = tf.tanh(tf.linalg.matvec(w, h) + x)
                y = tf.reduce_sum(h * h)
            return tape.gradient(y, v)

        slopes.append(slope(x, tf.constant(7)).numpy())
        loops = [n for n in slope.concrete_functions[0].optimised.nodes if n.op.name == "while"]
        bodies = [loop.regions[1].nodes for loop in loops]
        pushes.append([[str(n.inputs[1].type) for n in body if n.op.name == "list_push"] for body in bodies])
    np.testing.assert_allclose(slopes[0], slopes[1], rtol=1e-13)
    vector = "float64[2]"
    assert set(pushes[0][0]) == {vector, "float64[2,1]"} and pushes[0][1:] == [[]]  # h after tanh; before, a column
    assert set(pushes[1][0]) == {vector, "weak int64[]"} and pushes[1][1:] == [[]]  # the state: h and the index

    def at(w: np.ndarray) -> float:
        h = np.zeros(2)
        for _ in range(7):
            h = np.tanh(w @ h + x.numpy())
        return float(h @ h)

    np.testing.assert_allclose(slopes[0], programs.central_differences(at, v.numpy()), rtol=1e-8)
