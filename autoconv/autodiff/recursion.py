"""Reverse rule of calls of recursive functions: the backward graph is another recursive function.

Other forward graphs store the values that gradients read. A recursive function would have to store them for each nested
call, in order. Instead, its backward function takes the original arguments and recomputes the values in each call:

    def power(x, n):                       def power_back(x, n, cotangent):
        if n == 0:                             if n == 0:
            return 1.0                             return 0.0
        return x * power(x, n - 1)             return cotangent * power(x, n - 1) + power_back(x, n - 1, cotangent * x)

A chain of n calls therefore recomputes n * n / 2 calls. Variables are read before the forward call and passed as
tensors, because they may change before the backward pass. Functions with other side effects have no gradient, since the
backward pass would repeat these.
"""

from __future__ import annotations

from collections.abc import Callable

from autoconv.autodiff.conditionals import add_cotangent_parameters, cotangent_or_zeros, differentiated_results
from autoconv.autodiff.cotangents import (
    accumulate,
    conform,
    cotangent_type,
    is_differentiable,
    missing_gradient_error,
)
from autoconv.autodiff.dependence import varied_values
from autoconv.autodiff.forward_backward import Level, RootLevel, move_before, shallow_copy
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, compute_effects, copy_node
from autoconv.graph.types import ResourceType
from autoconv.ops.record import OPS

_UNREPEATABLE_EFFECTS = Effects.READ | Effects.WRITE | Effects.OUTPUT | Effects.RANDOM


def reverse_recursion(level: Level, node: Node, varied: set[Value], backprop: Callable[..., None]) -> None:
    """Add a call of the function's backward graph."""
    graph = _without_variables(node.regions[0], level, node)
    if graph.effects & _UNREPEATABLE_EFFECTS:
        raise missing_gradient_error(
            node.op, f"the backward pass runs a recursive function again, and it {_effect_text(graph)}", node.span
        )
    results = differentiated_results(level, node, varied)
    positions = [j for j, value in enumerate(node.inputs) if value in varied]
    output_positions = tuple(result.index for result in results)
    backward_graph = _backward_graph(level, graph, tuple(positions), output_positions, backprop)
    inputs = [level.resolve(_value_before_node(level, node, value)) for value in node.inputs]
    cotangents = [
        conform(level.builder, level.cotangents[result], graph.outputs[result.index].type) for result in results
    ]
    call = level.backward.add(
        OPS["call"], [*inputs, *cotangents], {"name": backward_graph.name, "recursive": True}, regions=[backward_graph],
        types=[cotangent_type(graph.parameters[j].type) for j in positions], span=level.builder.span,
    )  # fmt: skip
    for j, cotangent in zip(positions, call.results, strict=True):
        accumulate(level.builder, level.cotangents, node.inputs[j], cotangent, node)


def _effect_text(graph: Graph) -> str:
    """Return a verb phrase for one of the graph's effects that must not be repeated."""
    texts = {
        Effects.WRITE: "writes variables or objects", Effects.OUTPUT: "prints",
        Effects.RANDOM: "draws random numbers", Effects.READ: "reads what may have changed",
    }  # fmt: skip
    return next(text for effect, text in texts.items() if graph.effects & effect)


def _backward_graph(
    level: Level, graph: Graph, positions: tuple[int, ...], output_positions: tuple[int, ...],
    backprop: Callable[..., None],
) -> Graph:  # fmt: skip
    """Return the backward graph of a recursive function.

    It maps parameters and cotangents of the outputs at `output_positions` to cotangents of the parameters at
    `positions`. Recursive calls inside refer to the graph under construction.
    """
    key = graph, positions, output_positions
    backward_graph = level.recursions.get(key)
    if backward_graph is not None:
        return backward_graph
    backward_graph = level.recursions[key] = shallow_copy(graph)
    backward_graph.name = f"{graph.name}_back{len(level.recursions)}"
    parameters, outputs = list(backward_graph.parameters), list(backward_graph.outputs)
    function_level = RootLevel(backward_graph, backward_graph)
    function_level.share_state(level)
    varied = varied_values(backward_graph, [parameters[j] for j in positions], level.heap)
    backward_graph.outputs = []
    add_cotangent_parameters(function_level, [(outputs[i], outputs[i]) for i in output_positions], varied)
    backprop(function_level, varied)
    function_level.builder.span = None
    backward_graph.outputs = [cotangent_or_zeros(function_level, parameters[j], parameters[j].type) for j in positions]
    compute_effects(backward_graph)
    return backward_graph


def _value_before_node(level: Level, node: Node, value: Value) -> Value:
    """Return the value itself, or for a variable its contents before the node."""
    if not isinstance(value.type, ResourceType):
        return value
    count = len(level.forward.nodes)
    read = level.forward.add(OPS["read_variable"], [value], span=node.span)
    move_before(level.forward, node, count)
    return read.results[0]


def _without_variables(graph: Graph, level: Level, call: Node) -> Graph:
    """Return the graph with tensor parameters in place of the variables it reads; the graph itself if it reads none."""
    result = level.copies_without_variables.get(graph)
    if result is None:
        if not any(isinstance(value.type, ResourceType) for value in graph.parameters):
            return level.copies_without_variables.setdefault(graph, graph)
        result = _copy_by_value(graph, level.copies_without_variables, call)
        compute_effects(result)
    return result


def _copy_by_value(graph: Graph, copies: dict[Graph, Graph], call: Node) -> Graph:
    """Copy a function that reads variables, with tensor parameters in place of these; `copies` gets the copy."""
    copy = copies[graph] = Graph(f"{graph.name}_by_value")
    copies[copy] = copy  # backward graphs call the copy, which reads no variable
    values: dict[Value, Value] = {}
    for parameter in graph.parameters:
        values[parameter] = copy.add_parameter(cotangent_type(parameter.type), parameter.name)
    for node in graph.nodes:
        inputs = [values[value] for value in node.inputs]
        if node.op.name == "read_variable" and is_differentiable(node.results[0].type):
            values[node.results[0]] = inputs[0]
            continue
        if not node.regions and any(isinstance(value.type, ResourceType) for value in node.inputs):
            reason = f"the backward pass runs a recursive function again, and it contains {node.op.name!r}"
            raise missing_gradient_error(call.op, reason, call.span)
        regions = [copies.get(region) or _copy_by_value(region, copies, call) for region in node.regions]
        values.update(zip(node.results, copy_node(copy, node, inputs, regions).results, strict=True))
    copy.outputs = [values[value] for value in graph.outputs]
    return copy
