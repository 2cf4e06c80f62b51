"""Reverse-mode differentiation of a straight line of nodes: a graph in, a graph out.

Applied to its own result it gives second derivatives, and so on: gradients are written in ops with gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.errors import Place, StagingError
from autoconv.graph.graph import Graph, Node, Span, Value, copy_node
from autoconv.graph.types import TensorType, Type
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.record import NoGradient


def vjp(graph: Graph, wrt: Sequence[int] | None = None, *, with_outputs: bool = False) -> Graph:
    """The graph that carries cotangents of the outputs back to the parameters.

    Its parameters are those of `graph` followed by one cotangent for every output, of the output's type (that
    of an output that is not differentiable is ignored). Its outputs are the cotangents of the parameters at
    the positions `wrt` gives (all of them by default), zeros where nothing connects; `with_outputs` puts the
    outputs of `graph` before them. Raises StagingError for an op without a gradient, or with regions, between
    a chosen parameter and an output.
    """
    result = Graph(f"{graph.name}_vjp")
    values = {p: result.add_parameter(p.type, p.name) for p in graph.parameters}
    for node in graph.nodes:
        copied = copy_node(result, node, [values[value] for value in node.inputs])
        values.update(zip(node.results, copied.results, strict=True))
    builder = GraphBuilder(result)
    chosen = [graph.parameters[i] for i in (range(len(graph.parameters)) if wrt is None else wrt)]
    varied = _varied(graph, chosen)
    cotangents: dict[Value, Value] = {}
    for output in graph.outputs:
        given = result.add_parameter(output.type, "cotangent")
        if output in varied:
            _accumulate(builder, cotangents, output, given, None)
    for node in reversed(graph.nodes):
        if any(r in cotangents for r in node.results) and any(v in varied for v in node.inputs):
            _backward(builder, node, values, cotangents, varied)
    builder.span = None
    gradients = [cotangents[p] if p in cotangents else builder.zeros_like(values[p]) for p in chosen]
    outputs = [values[output] for output in graph.outputs] if with_outputs else []
    result.outputs = outputs + gradients
    return result


def _varied(graph: Graph, parameters: Sequence[Value]) -> set[Value]:
    """The differentiable values that depend on one of the parameters."""
    varied = {p for p in parameters if _is_differentiable(p.type)}
    for node in graph.nodes:
        if any(value in varied for value in node.inputs):
            varied.update(r for r in node.results if _is_differentiable(r.type))
    return varied


def _is_differentiable(type_: Type) -> bool:
    return not isinstance(type_, TensorType) or type_.dtype.is_differentiable


def _backward(
    builder: GraphBuilder,
    node: Node,
    values: dict[Value, Value],
    cotangents: dict[Value, Value],
    varied: set[Value],
) -> None:
    """Adds what one node contributes to the cotangents of its inputs."""
    gradient = node.op.gradient
    if node.regions:
        raise _refused(node, "its bodies are graphs of their own, which this pass does not enter")
    if isinstance(gradient, NoGradient):
        raise _refused(node, gradient.reason)
    builder.span = node.span
    found = gradient(
        builder,
        tuple(values[value] for value in node.inputs),
        tuple(values[value] for value in node.results),
        tuple(cotangents.get(value) for value in node.results),
        node.attributes,
    )
    for value, cotangent in zip(node.inputs, found, strict=True):
        if cotangent is not None and value in varied:
            _accumulate(builder, cotangents, value, cotangent, node)


def _accumulate(
    builder: GraphBuilder, cotangents: dict[Value, Value], value: Value, cotangent: Value, node: Node | None
) -> None:
    before: Any = cotangents.get(value)
    if before is None:
        cotangents[value] = cotangent
    elif isinstance(value.type, TensorType):
        cotangents[value] = builder.add(before, cotangent)
    else:
        raise StagingError(
            f"the gradient of {value.type} used more than once cannot be added up",
            _place(node.span if node is not None else None),
        )


def _refused(node: Node, reason: str) -> StagingError:
    return StagingError(
        f"the op {node.op.name!r} has no gradient: {reason}",
        _place(node.span),
        "autoconv.stop_gradient(…) around what is not to be differentiated",
    )


def _place(span: Span | None) -> Place | None:
    return None if span is None else Place(span.file, span.line, span.column, span.end_column)
