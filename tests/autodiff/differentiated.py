"""Programs with control flow, and checks of their derivatives against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autoconv as tf
from autoconv.autodiff.vjp import vjp
from autoconv.backends import REFERENCE
from autoconv.graph.graph import Graph, copy_node
from autoconv.graph.verify import verify
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.values.list_value import ListValue
from autoconv.optimise import optimise


def trace(function: Callable[..., Any], x: Any) -> Graph:
    """Return the graph of a function of one float64 tensor like `x`, with captured constants as nodes."""
    concrete = tf.function(function).get_concrete_function(tf.TensorSpec(np.shape(x), tf.float64))
    bound = Graph(concrete.recorded.name)
    parameter, *captured = concrete.recorded.parameters
    values = {parameter: bound.add_parameter(parameter.type, parameter.name)}
    for value, tensor in zip(captured, concrete.captured_inputs, strict=True):
        values[value] = GraphBuilder(bound).constant(value=tensor.numpy())
    for node in concrete.recorded.nodes:
        copied = copy_node(bound, node, [values[value] for value in node.inputs])
        values.update(zip(node.results, copied.results, strict=True))
    bound.outputs = [values[value] for value in concrete.recorded.outputs]
    return bound


def run(graph: Graph, *inputs: Any) -> list[Any]:
    """Optimise a graph, verify every stage, run it, and return the outputs."""
    verify(graph)
    finished = optimise(graph)
    verify(finished)
    return REFERENCE.compile(finished)([x if isinstance(x, ListValue) else np.asarray(x) for x in inputs])


def central_differences(function: Callable[[Any], float], x: Any, h: float = 1e-4) -> Any:
    """Return central differences of fourth order."""
    x = np.asarray(x, float)
    result = np.zeros_like(x)
    for index in np.ndindex(x.shape):

        def at(distance: float, index: Any = index) -> float:
            moved = x.copy()
            moved[index] += distance
            return float(function(moved))

        result[index] = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    return result


def sum_outputs(graph: Graph, shape: tuple[int, ...]) -> Graph:
    """Replace the only output of a graph by a weighted sum of its elements."""
    b = GraphBuilder(graph)
    weights = np.sin(np.arange(float(np.prod(shape, dtype=int))) + 1.0).reshape(shape)
    graph.outputs = [b.reduce_sum(b.multiply(graph.outputs[0], weights), axis=None, keepdims=False)]
    return graph


def check_derivatives(function: Callable[..., Any], x: Any, orders: int = 2) -> None:
    """Compare each derivative with finite differences of the previous one."""
    x = np.asarray(x, float)
    graph = trace(function, x)
    ones: list[float] = []
    for _ in range(orders):
        further = vjp(graph, [0])
        found = run(further, x, *ones, 1.0)[0]
        expected = central_differences(lambda a, graph=graph, ones=ones: run(graph, a, *ones)[0], x)  # type: ignore[misc]
        scale = max(1.0, float(np.max(np.abs(expected))))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * scale)
        graph, ones = sum_outputs(further, x.shape), [*ones, 1.0]


def power_in_a_while(x: Any) -> Any:
    i = tf.constant(0)
    y = tf.constant(1.0, tf.float64)
    while i < 4:
        y = y * x
        i += 1
    return y


def cond(x: Any) -> Any:
    if x > 2.0:
        y = tf.sin(x) * x
    else:
        y = x * x * x
    return y


def ladder(x: Any) -> Any:
    if x < 0.0:
        return x * x
    if x < 1.0:
        return tf.exp(x)
    if x < 2.0:
        return tf.sin(x) * x
    return 1.0 / x


def tensor_array(x: Any) -> Any:
    a = tf.TensorArray(tf.float64, 4)
    for i in tf.range(4):
        a = a.write(i, x ** tf.cast(i, tf.float64))
    return tf.reduce_sum(a.stack())


def loop_with_break(x: Any) -> Any:
    y = x
    for _ in tf.range(10):
        y = y * tf.sin(x) + x
        if y > 3.0:
            break
    return y


def loop_with_return(x: Any) -> Any:
    y = x
    for i in tf.range(10):
        y = y * x
        if y > 5.0:
            return y * tf.cast(i, tf.float64)
    return x


def nested_loops(x: Any) -> Any:
    s = tf.constant(0.0, tf.float64)
    for i in tf.range(3):
        p = x
        for _ in tf.range(i):
            p = p * x + s
        s = s + p
    return s


def no_iterations(x: Any) -> Any:
    y = x * 2.0
    for _ in tf.range(0):
        y = y * x
    return y


def recurrent(x: Any) -> Any:
    h = tf.zeros([2], tf.float64)
    w = tf.reshape(x, [2, 2])
    for _ in tf.range(3):
        h = tf.tanh(tf.linalg.matvec(w, h) + 1.0)
    return tf.reduce_sum(h * h)


@tf.function
def inner(x: Any) -> Any:
    if tf.reduce_sum(x) > 0.0:
        return tf.exp(x) * x
    return x


def calls(x: Any) -> Any:
    return inner(inner(x) * 0.5)


def calls_in_a_loop(x: Any) -> Any:
    s = x
    for _ in tf.range(2):
        s = inner(s) * 0.1 + inner(x)
    return s


def loop_in_cond_in_loop(x: Any) -> Any:
    y = x
    for i in tf.range(4):
        if i % 2 == 0:
            z = y
            for _ in tf.range(2):
                z = z * tf.cos(x) + x
            y = y + z
        else:
            y = tf.sin(y)
    return y


def growing(x: Any) -> Any:
    y = tf.reshape(x, [1])
    for _ in tf.range(3):
        y = tf.concat([y, y[-1:] * x], 0)
    return tf.reduce_sum(y * y)


def items_and_slices(x: Any) -> Any:
    s = tf.constant(0.0, tf.float64)
    for i in tf.range(3):
        s = s * x[i] + x[i] ** 2 + tf.reduce_sum(x[i:])
    return s


def gather_and_scatter(x: Any) -> Any:
    y = x
    for i in tf.range(2):
        rows = tf.gather(y, tf.stack([2, 0, i]))
        y = tf.tensor_scatter_nd_update(y, tf.stack([tf.stack([i]), [2]]), rows[:2] * x[0])
        y = tf.tensor_scatter_nd_add(y, [[1]], rows[2:] ** 2)
    return tf.reduce_sum(y * y)


def recurrence_in_a_list(x: Any) -> Any:
    a = tf.TensorArray(tf.float64, 6, clear_after_read=False).write(0, x).write(1, x * 2.0)
    for i in tf.range(2, 6):
        a = a.write(i, a.read(i - 1) * a.read(i - 2) + tf.sin(a.read(i - 1)))
    return a.read(5)


def python_numbers(x: Any) -> Any:
    s = 0.0
    for _ in tf.range(3):
        s = s + x * s + 1.0 * x
    return s


def raises_in_one_arm(x: Any) -> Any:
    try:
        if x < 0.0:
            raise ValueError("negative")
        y = tf.sqrt(x) * x
    except ValueError:
        y = -x * x
    return y * x


def raises_in_a_loop(x: Any) -> Any:
    s = x
    for i in tf.range(4):
        try:
            if i == 2:
                raise ValueError("now")
            t = tf.sin(s) * x
        except ValueError:
            t = x * x
        s = s + t
    return s


PROGRAMS = [
    (power_in_a_while, 3.0), (cond, 3.0), (cond, 1.0), (ladder, -0.5), (ladder, 0.5), (ladder, 1.5), (ladder, 2.5),
    (tensor_array, 3.0), (loop_with_break, 1.1), (loop_with_return, 1.6), (nested_loops, 1.2), (no_iterations, 2.0),
    (recurrent, [0.1, 0.5, -0.3, 0.7]), (calls, 0.3), (calls, -0.3), (calls_in_a_loop, 0.3),
    (loop_in_cond_in_loop, 0.7), (growing, 1.1), (items_and_slices, [1.0, 2.0, 3.0]),
    (gather_and_scatter, [1.0, 2.0, 3.0]), (recurrence_in_a_list, 1.1), (python_numbers, 1.2),
    (raises_in_one_arm, 1.3), (raises_in_one_arm, -1.3), (raises_in_a_loop, 0.8),
]  # fmt: skip
