"""Reverse rules of calls and of nodes with a custom gradient."""

from __future__ import annotations

from collections.abc import Callable

from autoconv.autodiff.conditionals import add_cotangent_parameters, cotangent_or_zeros, differentiated_results
from autoconv.autodiff.cotangents import accumulate, conform, cotangent_type
from autoconv.autodiff.dependence import varied_values
from autoconv.autodiff.forward_backward import Level, SingleRunLevel, extend_node, shallow_copy
from autoconv.autodiff.recursion import reverse_recursion
from autoconv.graph.graph import Graph, Node, Value, is_recursive
from autoconv.ops.record import OPS


def reverse_call(level: Level, node: Node, varied: set[Value], backprop: Callable[..., None]) -> None:
    """Add a call of the backward graph; forward values that it reads become further results of the forward graph."""
    if is_recursive(node):
        reverse_recursion(level, node, varied, backprop)
        return
    forward = shallow_copy(node.regions[0])
    parameters_before = tuple(forward.parameters)
    inputs = node.inputs
    results = differentiated_results(level, node, varied)

    def add_result(value: Value) -> Value:
        forward.outputs.append(value)
        return extend_node(node, node.inputs, node.regions, [value.type])[0]

    child = SingleRunLevel(
        level, forward, dict(zip(parameters_before, inputs, strict=True)), add_result, Graph(f"{forward.name}_back")
    )
    node.regions = (forward,)
    varied_parameters = (parameter for parameter, outer in child.outer.items() if outer in varied)
    varied_in_call = varied_values(forward, varied_parameters, level.heap)
    results_and_outputs = [(result, forward.outputs[result.index]) for result in results]
    cotangent_parameters = add_cotangent_parameters(child, results_and_outputs, varied_in_call)
    backprop(child, varied_in_call)
    positions = [
        j for j, parameter in enumerate(parameters_before) if inputs[j] in varied and parameter in child.cotangents
    ]
    child.backward.outputs = [
        conform(child.builder, child.cotangents[parameters_before[j]], inputs[j].type) for j in positions
    ]
    child.backward.parameters = [*cotangent_parameters, *child.captures.values()]
    cotangents = [conform(level.builder, level.cotangents[result], result.type) for result in results]
    backward_call = level.backward.add(
        OPS["call"], [*cotangents, *(level.resolve(outer) for outer in child.captures)],
        {"name": f"{node.attributes.get('name', 'call')}_back"}, regions=[child.backward],
        types=[cotangent_type(inputs[j].type) for j in positions], span=level.builder.span,
    )  # fmt: skip
    for j, cotangent in zip(positions, backward_call.results, strict=True):
        accumulate(level.builder, level.cotangents, inputs[j], cotangent, node)


def reverse_custom(level: Level, node: Node, varied: set[Value], backprop: Callable[..., None]) -> None:
    """Add a call of the node's region, which is its gradient.

    The node's inputs are its arguments, its results (which it passes through), and the captures of the region.
    The region maps the results' cotangents and captures to cotangents of the arguments at the positions `reached`.
    """
    (gradient,) = node.regions
    argument_count, reached = node.attributes["argument_count"], node.attributes["reached"]
    cotangent_inputs = [cotangent_or_zeros(level, result, result.type) for result in node.results]
    captured_values = [level.resolve(value) for value in node.inputs[argument_count + len(node.results) :]]
    backward_call = level.backward.add(
        OPS["call"], [*cotangent_inputs, *captured_values], {"name": gradient.name}, regions=[gradient],
        types=[value.type for value in gradient.outputs], span=level.builder.span,
    )  # fmt: skip
    for position, cotangent in zip(reached, backward_call.results, strict=True):
        value = node.inputs[position]
        if value in varied:
            accumulate(level.builder, level.cotangents, value, conform(level.builder, cotangent, value.type), node)
