"""Runs single ops natively beside their kernels."""

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
    """The graph that `build(b, *values)` makes with the builder `b`, for inputs of those types."""
    graph = Graph("built")
    values = [graph.add_parameter(TensorType(as_dtype(x.dtype), np.shape(x))) for x in map(np.asarray, inputs)]
    found = build(GraphBuilder(graph), *values)
    graph.outputs = list(found) if isinstance(found, tuple) else [found]
    return graph


def alike(
    build: Callable[..., Any], *inputs: Any, kernels: tuple[str, ...] = (), rtol: float = 0.0
) -> list[np.ndarray]:
    """Native results: equal to the reference's, arguments left alone, by those kernels only."""
    arrays = [np.asarray(x) for x in inputs]
    before = [x.copy() for x in arrays]
    graph = graph_of(build, *arrays)
    run = llvm.compile_graph(graph)
    assert isinstance(run, llvm.NativeGraph)
    assert sorted(run.kernels) == sorted(kernels)
    expected = interpreter.compile_graph(graph)(arrays)
    for _ in range(2):
        found = run(arrays)
        for one, other in zip(map(np.asarray, found), map(np.asarray, expected), strict=True):
            assert one.dtype == other.dtype
            assert one.shape == other.shape
            if rtol:
                np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)
            else:
                np.testing.assert_array_equal(one, other)
    for one, other in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(one, other)
    return [np.asarray(x) for x in found]


def op(name: str, **attributes: Any) -> Callable[..., Any]:
    """What builds a graph of that op alone."""
    assert name in OPS
    return lambda b, *values: getattr(b, name)(*values, **attributes)


def same_error(build: Callable[..., Any], *inputs: Any) -> str:
    """The message with which both fail, of one class."""
    errors = []
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
