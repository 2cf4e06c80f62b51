"""Gradients of graphs of several nodes without control flow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autoconv.autodiff.vjp import vjp
from autoconv.errors import StagingError
from autoconv.graph.dtypes import float64, int32
from autoconv.graph.graph import Graph, Span, Value
from autoconv.graph.types import TensorType
from autoconv.ops import OPS
from autoconv.ops.builder import GraphBuilder

SCALAR = TensorType(float64, ())


def evaluate(graph: Graph, *arguments: Any) -> list[Any]:
    values: dict[Value, Any] = dict(zip(graph.parameters, arguments, strict=True))
    for node in graph.nodes:
        assert node.op.kernel is not None
        results = node.op.kernel(*(values[v] for v in node.inputs), **node.attributes)
        values.update(zip(node.results, results if isinstance(results, tuple) else (results,), strict=True))
    return [values[output] for output in graph.outputs]


def graph_of(types: list[Any], body: Any) -> Graph:
    graph = Graph("f")
    outputs = body(GraphBuilder(graph), *(graph.add_parameter(t) for t in types))
    graph.outputs = list(outputs) if isinstance(outputs, tuple) else [outputs]
    return graph


def test_cotangents_of_several_uses_and_outputs_are_summed() -> None:
    graph = graph_of([SCALAR, SCALAR], lambda b, x, y: (b.multiply(x, x), b.multiply(x, y)))
    x, y = np.array(3.0), np.array(5.0)
    assert evaluate(vjp(graph), x, y, np.array(1.0), np.array(10.0)) == [2 * 3 + 10 * 5, 10 * 3]


def test_chosen_parameters_and_outputs() -> None:
    graph = graph_of([SCALAR, SCALAR], lambda b, x, y: b.multiply(x, y))
    found = evaluate(vjp(graph, [1], with_outputs=True), np.array(3.0), np.array(5.0), np.array(1.0))
    assert found == [15.0, 3.0]


def test_unconnected_is_zero() -> None:
    graph = graph_of([SCALAR, SCALAR, TensorType(int32, (2,))], lambda b, x, y, i: b.sin(x))
    *_, y, i = evaluate(vjp(graph), np.array(0.0), np.array(5.0), np.zeros(2, np.int32), np.array(1.0))
    assert y == 0.0 and i.tolist() == [0, 0]


def test_stopped_and_piecewise_constant_values_do_not_flow() -> None:
    graph = graph_of([SCALAR], lambda b, x: b.multiply(b.stop_gradient(x), b.add(x, b.floor(x))))
    assert evaluate(vjp(graph), np.array(2.5), np.array(1.0)) == [2.5]


def test_higher_derivatives() -> None:
    graph = graph_of([SCALAR], lambda b, x: b.power(x, 4.0))
    for expected in (4 * 8.0, 12 * 4.0, 24 * 2.0, 24.0, 0.0):
        graph = vjp(graph, [0])
        ones = [np.array(1.0)] * (len(graph.parameters) - 1)
        assert evaluate(graph, np.array(2.0), *ones)[0] == pytest.approx(expected)


def test_derivatives_of_products_with_zeros() -> None:
    vector = TensorType(float64, (4,))
    graph = graph_of([vector], lambda b, x: b.reduce_prod(x, axis=None, keepdims=False))
    x = np.array([2.0, 0.0, 3.0, 4.0])
    assert evaluate(vjp(graph), x, np.array(1.0))[0].tolist() == [0.0, 24.0, 0.0, 0.0]


def test_unknown_shapes() -> None:
    unknown = TensorType(float64, None)
    graph = graph_of(
        [unknown, unknown], lambda b, x, y: b.reduce_mean(b.multiply(x, y), axis=(0,), keepdims=False)
    )
    x, y = np.ones((4, 3)), np.full(3, 2.0)
    to_x, to_y = evaluate(vjp(graph), x, y, np.ones(3))
    np.testing.assert_allclose(to_x, np.full((4, 3), 0.5))
    np.testing.assert_allclose(to_y, np.ones(3))


def test_axes_from_both_ends_of_unknown_rank() -> None:
    unknown = TensorType(float64, None)
    graph = graph_of([unknown], lambda b, x: b.reduce_sum(b.square(x), axis=(0, -1), keepdims=False))
    x = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_allclose(evaluate(vjp(graph), x, np.ones(3))[0], 2 * x)


def test_no_gradient_names_op_reason_and_place() -> None:
    graph = Graph("f")
    x = graph.add_parameter(TensorType(float64, (3,)))
    node = graph.add(OPS["random_shuffle"], [x], span=Span("user.py", 7))
    graph.outputs = [node.results[0]]
    with pytest.raises(StagingError, match=r"user\.py:7: the op 'random_shuffle' has no gradient: the permutation"):
        vjp(graph)


def test_builder_refuses_unknown_ops() -> None:
    with pytest.raises(AttributeError, match="there is no op named 'nonsense'"):
        GraphBuilder(Graph("f")).nonsense()
