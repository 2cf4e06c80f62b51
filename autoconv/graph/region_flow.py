"""Data flow through regions: the edges between operands, parameters, outputs and results of control nodes.

Analyses that follow values through a graph take their edges from this module. An edge (source, target) means that the
target may hold what the source holds: an operand becomes a parameter of a region, an output of a region becomes a
result, or a loop's state of the next iteration.
"""

from __future__ import annotations

from collections.abc import Iterator

from autoconv.graph.graph import Graph, Node, Value


def runs_region_once(node: Node) -> bool:
    """Return whether the node runs its region once, unconditionally: a call."""
    return node.op.name == "call"


def state_size(node: Node) -> int:
    """Return the number of a loop's leading operands that are its state, before the captures; 0 for other nodes."""
    return int(node.attributes.get("state", 0))


def captured_operands(node: Node) -> tuple[Value, ...]:
    """Return the operands that a cond, a loop or a call passes unchanged to the last parameters of its regions.

    These are all operands but the index of a cond and the state of a loop; there are none for other nodes.
    """
    match node.op.name:
        case "cond" | "while" | "call":
            return node.inputs[state_size(node) or int(node.op.traits.selects) :]
    return ()


def flow_edges(node: Node) -> Iterator[tuple[Value | None, Value]]:
    """Iterate over the edges of a control node; none for other nodes.

    A `try` has three regions: the body, the handler, and `normal`, which continues with the outputs of the body if
    nothing was raised. The source is None for the exception that a handler gets, as it comes from outside of the graph.
    A function that calls itself may lack outputs while it is being recorded: then calls of it have fewer edges.
    """
    match node.op.name, node.regions:
        case "cond", arms:
            for arm in arms:
                yield from zip(node.inputs[1:], arm.parameters, strict=False)
                yield from zip(arm.outputs, node.results, strict=False)
        case "call", (body,):
            yield from zip(node.inputs, body.parameters, strict=False)
            yield from zip(body.outputs, node.results, strict=False)
        case "while", (test, body):
            state_count = state_size(node)
            for region in (test, body):
                yield from zip(node.inputs, region.parameters, strict=False)
                yield from zip(body.outputs, region.parameters[:state_count], strict=False)
            yield from zip(node.inputs[:state_count], node.results, strict=False)
            yield from zip(body.outputs, node.results, strict=False)
        case "try", (body, normal, handler):
            yield from zip(node.inputs, body.parameters, strict=False)
            yield from zip((*body.outputs, *node.inputs), normal.parameters, strict=False)
            yield None, handler.parameters[0]
            yield from zip(node.inputs, handler.parameters[1:], strict=False)
            for last_region in (normal, handler):
                yield from zip(last_region.outputs, node.results, strict=False)


def result_sources(node: Node, index: int) -> list[Value]:
    """Return the values that may become a result of a control node; none for other nodes."""
    match node.op.name, node.regions:
        case "while", (_, body):
            final_regions = [body]
        case "try", (_, normal, handler):
            final_regions = [normal, handler]
        case ("cond" | "call"), regions:
            final_regions = list(regions)
        case _:
            return []
    initial_values = [node.inputs[index]] if node.op.name == "while" else []
    return [*initial_values, *(region.outputs[index] for region in final_regions if index < len(region.outputs))]


def parameter_sources(node: Node, region: Graph) -> Iterator[tuple[Value, Value]]:
    """Iterate over (parameter, source) for a region of a control node; sources outside of the graph are left out."""
    parameters = frozenset(region.parameters)
    for source, target in flow_edges(node):
        if source is not None and target in parameters:
            yield target, source


def without_identities(value: Value) -> Value:
    """Return the value to which a chain of identities leads back from this one; the value itself if there is none."""
    while value.node is not None and value.node.op.name == "identity":
        value = value.node.inputs[0]
    return value
