"""Reverse rule of `try`: a backward `cond` on whether the body completed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autoconv.autodiff.conditionals import Arm, add_backward_cond, add_cotangent_parameters, differentiated_results
from autoconv.autodiff.cotangents import accumulate, conform
from autoconv.autodiff.dependence import varied_values
from autoconv.autodiff.forward_backward import Level, Region, SingleRunLevel, extend_node, shallow_copy
from autoconv.graph.dtypes import bool_
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import TensorType
from autoconv.ops.builder import GraphBuilder


def reverse_try(level: Level, node: Node, varied: set[Value], backprop: Callable[..., None]) -> None:
    """Add the backward `cond`: one arm reverses the normal end and then the body, the other the handler.

    A body that raised has no gradient, and the values that it had stored for the backward pass are discarded.
    """
    captures = node.inputs
    results = differentiated_results(level, node, varied)
    cotangents = [level.cotangents[result] for result in results]
    body, normal_end, handler = (shallow_copy(region) for region in node.regions)
    arms = [
        _reverse_normal_end(level, body, normal_end, node, results, varied, backprop),
        _reverse_handler(level, handler, node, results, varied, backprop),
    ]
    for region, is_normal in ((normal_end, True), (handler, False)):
        region.outputs.append(GraphBuilder(region).constant(value=np.array(is_normal)))
    (has_completed,) = extend_node(node, captures, (body, normal_end, handler), [TensorType(bool_, ())])
    add_backward_cond(level, node, level.resolve(has_completed), arms, captures, cotangents, varied, body)


def _reverse_normal_end(
    level: Level, body: Graph, normal_end: Graph, node: Node, results: list[Value], varied: set[Value],
    backprop: Callable[..., None],
) -> Arm:  # fmt: skip
    """Reverse the normal end and then the body, whose results are the first parameters of the normal end."""
    output_count = len(body.outputs)
    leading_parameters, captures = list(normal_end.parameters[:output_count]), normal_end.parameters[output_count:]
    child = Region(level, normal_end, dict(zip(captures, node.inputs, strict=True)))

    def add_result(value: Value) -> Value:
        body.outputs.append(value)
        parameter = normal_end.add_parameter(value.type, value.name)
        leading_parameters.append(parameter)
        return parameter

    body_level = SingleRunLevel(child, body, dict(zip(body.parameters, captures, strict=True)), add_result)
    input_pairs = zip(body.parameters, node.inputs, strict=True)
    varied_parameters = [parameter for parameter, value in input_pairs if value in varied]
    varied_in_body = varied_values(body, varied_parameters, level.heap)
    output_pairs = zip(leading_parameters, body.outputs, strict=True)
    varied_body_results = [parameter for parameter, output in output_pairs if output in varied_in_body]
    varied_captures = [parameter for parameter, outer in child.outer.items() if outer in varied]
    varied_in_end = varied_values(normal_end, [*varied_body_results, *varied_captures], level.heap)
    pairs = [(result, normal_end.outputs[result.index]) for result in results]
    cotangent_parameters = add_cotangent_parameters(child, pairs, varied_in_end)
    backprop(child, varied_in_end)
    for parameter, output in zip(leading_parameters[:output_count], body.outputs[:output_count], strict=True):
        cotangent = child.cotangents.get(parameter)
        if cotangent is not None and output in varied_in_body:
            accumulate(
                body_level.builder, body_level.cotangents, output, conform(body_level.builder, cotangent, output.type)
            )
    backprop(body_level, varied_in_body)
    for parameter, capture_parameter in zip(body.parameters, captures, strict=True):
        if parameter in body_level.cotangents:
            accumulate(child.builder, child.cotangents, capture_parameter, body_level.cotangents[parameter])
    return Arm(child, captures, cotangent_parameters, leading_parameters)


def _reverse_handler(
    level: Level, handler: Graph, node: Node, results: list[Value], varied: set[Value], backprop: Callable[..., None]
) -> Arm:
    """Reverse the handler. Its first parameter, the exception, counts as varied: a gradient through it is refused."""
    error, *capture_parameters = handler.parameters
    child = Region(level, handler, dict(zip(capture_parameters, node.inputs, strict=True)))
    varied_captures = [parameter for parameter, outer in child.outer.items() if outer in varied]
    varied_in_handler = varied_values(handler, [error, *varied_captures], level.heap)
    pairs = [(result, handler.outputs[result.index]) for result in results]
    cotangent_parameters = add_cotangent_parameters(child, pairs, varied_in_handler)
    backprop(child, varied_in_handler)
    return Arm(child, capture_parameters, cotangent_parameters, [error])
