"""Reverse rule of `try`: a backward `cond` on whether the body completed or raised."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autoconv.autodiff.conditionals import Arm, finish, seed
from autoconv.autodiff.cotangents import accumulate, conform
from autoconv.autodiff.dependence import varied_values
from autoconv.autodiff.forward_backward import Inner, Level, Region, clone, extend
from autoconv.graph.dtypes import bool_
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import TensorType
from autoconv.ops.builder import GraphBuilder


def reverse_try(level: Level, node: Node, varied: set[Value], backprop: Callable[..., None]) -> None:
    """Add the backward `cond`: one arm reverses the normal end and then the body, the other the handler.

    A body that raised has no gradient; the values that it had stored for one are discarded.
    """
    captures = node.inputs
    results = [r for r in node.results if r in level.cotangents and r in varied]
    cotangents = [level.cotangents[r] for r in results]
    body, normal, handler = (clone(region) for region in node.regions)
    arms = [
        _reverse_normal(level, body, normal, node, results, varied, backprop),
        _reverse_handler(level, handler, node, results, varied, backprop),
    ]
    for region, ended in ((normal, True), (handler, False)):
        region.outputs.append(GraphBuilder(region).constant(value=np.array(ended)))
    (tag,) = extend(node, captures, (body, normal, handler), [TensorType(bool_, ())])
    finish(level, node, level.resolve(tag), arms, captures, cotangents, varied, body)


def _reverse_normal(
    level: Level, body: Graph, normal: Graph, node: Node, results: list[Value], varied: set[Value],
    backprop: Callable[..., None],
) -> Arm:  # fmt: skip
    """Reverse the normal end and then the body, whose results are the normal end's first parameters."""
    count = len(body.outputs)
    leading, own = list(normal.parameters[:count]), normal.parameters[count:]
    child = Region(level, normal, dict(zip(own, node.inputs, strict=True)))

    def give_out(value: Value) -> Value:
        body.outputs.append(value)
        parameter = normal.add_parameter(value.type, value.name)
        leading.append(parameter)
        return parameter

    inside = Inner(child, body, dict(zip(body.parameters, own, strict=True)), give_out)
    chosen = [p for p, v in zip(body.parameters, node.inputs, strict=True) if v in varied]
    of_body = varied_values(body, chosen, level.heap)
    passed = [p for p, v in zip(leading, body.outputs, strict=True) if v in of_body]
    inner = varied_values(normal, [*passed, *(p for p, v in child.outer.items() if v in varied)], level.heap)
    parameters = seed(child, [(r, normal.outputs[r.index]) for r in results], inner)
    backprop(child, inner)
    for parameter, output in zip(leading[:count], body.outputs[:count], strict=True):
        found = child.cotangents.get(parameter)
        if found is not None and output in of_body:
            accumulate(inside.builder, inside.cotangents, output, conform(inside.builder, found, output.type))
    backprop(inside, of_body)
    for parameter, capture in zip(body.parameters, own, strict=True):
        if parameter in inside.cotangents:
            accumulate(child.builder, child.cotangents, capture, inside.cotangents[parameter])
    return Arm(child, own, parameters, leading)


def _reverse_handler(
    level: Level, handler: Graph, node: Node, results: list[Value], varied: set[Value], backprop: Callable[..., None]
) -> Arm:
    """Reverse the handler. Its first parameter, the exception, varies: a gradient through it is refused."""
    error, *own = handler.parameters
    child = Region(level, handler, dict(zip(own, node.inputs, strict=True)))
    chosen = [p for p, outer in child.outer.items() if outer in varied]
    inner = varied_values(handler, [error, *chosen], level.heap)
    parameters = seed(child, [(r, handler.outputs[r.index]) for r in results], inner)
    backprop(child, inner)
    return Arm(child, own, parameters, [error])
