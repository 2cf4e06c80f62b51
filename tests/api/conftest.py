"""Run a function of tensors eagerly, and traced with unknown shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autoconv.backends.interpreter import compile_graph, node_function
from autoconv.graph.graph import Graph
from autoconv.graph.types import ResourceType, TensorType, are_shapes_compatible
from autoconv.runtime.recording.regions import new_trace, recording
from autoconv.runtime.support.structure import flatten
from autoconv.runtime.tensors.conversion import constant, convert_to_tensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor


def evaluate(graph: Graph, arguments: list[Any]) -> list[Any]:
    """Return the outputs of a graph; each node runs by itself, and result types are checked."""
    values: dict[Any, Any] = dict(zip(graph.parameters, arguments, strict=True))
    for node in graph.nodes:
        found = node_function(node, compile_graph)(*(values[v] for v in node.inputs))
        results = found if isinstance(found, tuple) else (found,)
        for value, result in zip(node.results, results, strict=True):
            if isinstance(value.type, TensorType):
                assert are_shapes_compatible(value.type.shape, np.shape(result)), f"{node}: {value.type}"
                assert value.type.dtype.numpy == result.dtype, f"{node}: {value.type} but {result.dtype}"
            values[value] = result
    return [values[v] for v in graph.outputs]


def run_traced(function: Callable[..., Any], arrays: list[Any], shapes: list[Any]) -> list[Any]:
    """Trace a function for parameters of these shapes, run it, and return the leaves of its result."""
    trace = new_trace("test")
    graph = trace.root.graph
    inputs = [constant(a) for a in arrays]
    parameters = [
        graph.add_parameter(TensorType(t.dtype, shape)) for t, shape in zip(inputs, shapes, strict=True)
    ]
    with recording(trace.root):
        leaves, _ = flatten(function(*map(SymbolicTensor, parameters)))
        outputs = [convert_to_tensor(leaf) for leaf in leaves]
        graph.outputs = [trace.root.lift(t.value_in_graph) for t in outputs]  # type: ignore[attr-defined]
    extra = [obj for obj, _ in trace.captures.values()]
    assert not any(isinstance(p.type, ResourceType) for p in graph.parameters)
    return evaluate(graph, [*(t.numpy() for t in inputs), *(obj.numpy() for obj in extra)])


@pytest.fixture
def run_and_trace() -> Callable[..., Any]:
    """Return `run_and_trace(function, *arrays)`: eager results, compared with traces of known and unknown shapes."""

    def check(function: Callable[..., Any], *arrays: Any, unknown_rank: bool = True) -> Any:
        eager = function(*map(constant, arrays))
        leaves = [convert_to_tensor(x) for x in flatten(eager)[0]]
        known = [constant(a).shape.dims_tuple for a in arrays]
        forms: list[Any] = [known, [tuple(None for _ in shape) for shape in known]]  # type: ignore[union-attr]
        if unknown_rank:
            forms.append([None for _ in known])
        for shapes in forms:
            found = run_traced(function, list(arrays), shapes)
            assert len(found) == len(leaves)
            for actual, expected in zip(leaves, found, strict=True):
                assert actual.dtype.numpy == expected.dtype
                np.testing.assert_array_equal(actual.numpy(), expected)  # type: ignore[attr-defined]
        return eager

    return check
