"""Run small graphs natively and by the interpreter, and compare results and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.backends import interpreter, llvm
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.graph import Graph
from autoconv.graph.types import TensorType
from autoconv.ops import OPS
from autoconv.ops.builder import GraphBuilder


def graph_of(build: Callable[..., Any], *inputs: Any) -> Graph:
    """Return the graph that `build(b, *values)` makes with the builder `b`, for inputs of these types."""
    graph = Graph("built")
    values = [graph.add_parameter(TensorType(as_dtype(x.dtype), np.shape(x))) for x in map(np.asarray, inputs)]
    found = build(GraphBuilder(graph), *values)
    graph.outputs = list(found) if isinstance(found, tuple) else [found]
    return graph


def run_both(
    build: Callable[..., Any], *inputs: Any, kernels: tuple[str, ...] = (), rtol: float = 0.0
) -> list[np.ndarray]:
    """Return native results that equal the interpreter's; only `kernels` may run, and no argument changes."""
    arrays = [np.asarray(x) for x in inputs]
    copies = [x.copy() for x in arrays]
    graph = graph_of(build, *arrays)
    run = llvm.compile_graph(graph)
    assert isinstance(run, llvm.NativeGraph)
    assert sorted(run.kernels) == sorted(kernels)
    expected = interpreter.compile_graph(graph)(arrays)
    for _ in range(2):
        found = run(arrays)
        for x, y in zip(map(np.asarray, found), map(np.asarray, expected), strict=True):
            assert x.dtype == y.dtype
            assert x.shape == y.shape
            if rtol:
                np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol)
            else:
                np.testing.assert_array_equal(x, y)
    for x, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(x, copy)
    return [np.asarray(x) for x in found]


def op(name: str, **attributes: Any) -> Callable[..., Any]:
    """Return a function that builds a graph of the op `name` alone."""
    assert name in OPS
    return lambda b, *values: getattr(b, name)(*values, **attributes)


def compare_errors(build: Callable[..., Any], *inputs: Any) -> str:
    """Return the message of the error that native code and the interpreter both raise, with one class."""
    errors: list[Exception] = []
    graph = graph_of(build, *inputs)
    for compiled in (interpreter.compile_graph(graph), llvm.compile_graph(graph)):
        try:
            compiled([np.asarray(x) for x in inputs])
        except Exception as error:
            errors.append(error)
    assert len(errors) == 2
    assert type(errors[0]) is type(errors[1])
    assert str(errors[0]) == str(errors[1])
    return str(errors[0])
