"""Rules of algebra, and cases where they must not be applied."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autoconv.backends.interpreter import compile_graph
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.graph import Graph
from autoconv.graph.types import TensorType
from autoconv.ops.builder import GraphBuilder
from autoconv.optimise.simplify import simplify_nodes


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_floats_do_not_hold_all_64_bit_integers(dtype: str) -> None:
    """2 ** 53 + 1 is the first integer that float64 rounds."""
    graph, x, b = _graph(dtype)
    graph.outputs = [b.cast(b.cast(x, dtype=as_dtype("float64")), dtype=as_dtype(dtype))]
    assert _simplify_and_run(graph, np.array([2**53 + 1, 7], dtype)).tolist() == [2**53, 7]


def test_a_cast_to_float_and_back_is_removed() -> None:
    graph, x, b = _graph("int32")
    graph.outputs = [b.cast(b.cast(x, dtype=as_dtype("float64")), dtype=as_dtype("int32"))]
    assert simplify_nodes(graph).outputs[0].node is None
    assert _simplify_and_run(graph, np.array([2**31 - 1, -7], "int32")).tolist() == [2**31 - 1, -7]


def test_a_quotient_stays_where_the_inverse_overflows() -> None:
    """2 ** -17 is a float16; its inverse would be infinite, and 0 times it nan."""
    graph, x, b = _graph("float16")
    graph.outputs = [b.divide(x, np.array(2.0**-17, "float16"))]
    assert _simplify_and_run(graph, np.array([0.0, 2.0**-15], "float16")).tolist() == [0.0, 4.0]
    assert "divide" in [node.op.name for node in simplify_nodes(graph).nodes]


def test_the_real_part_of_real_numbers_is_removed() -> None:
    graph, x, b = _graph("float64")
    graph.outputs = [b.real(x)]
    assert simplify_nodes(graph).outputs[0].node is None
    graph, x, b = _graph("complex128")
    graph.outputs = [b.real(x)]
    assert _simplify_and_run(graph, np.array([1 + 2j, -0.0 + 1j])).tolist() == [1.0, -0.0]


def _graph(dtype: str) -> tuple[Graph, Any, GraphBuilder]:
    graph = Graph("f")
    return graph, graph.add_parameter(TensorType(as_dtype(dtype), (2,)), "x"), GraphBuilder(graph)


def _simplify_and_run(graph: Graph, x: np.ndarray) -> np.ndarray:
    (found,) = compile_graph(simplify_nodes(graph))([x])
    return np.asarray(found)
