"""Rotate loops whose test reads arrays: the test moves to the end of the body, whose loops over arrays it can share.

    before   while test(state): state = body(state)
    after    going = test(state)
             while going:
                 state = body(state)
                 going = test(state)

Tests and bodies run as often as before, and in the same order. Values that the body computes and the test reads (the
distance of the next guess from a solution, for example) need not be read from memory again.
"""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.analysis.classify import lowering_class
from autoconv.backends.llvm.analysis.representation import is_scalar
from autoconv.graph.graph import Graph, Node, Value, clone, copy_node, copy_regions, leads_to_recursion
from autoconv.graph.region_flow import state_size

_LOOP_CLASSES = frozenset({"element", "reduce"})


def rotate_loops(graph: Graph) -> Graph:
    """Return the graph, regions included, with loops rotated whose test reads arrays."""
    if not any(_is_rotatable(node) for node in graph.walk()):
        return graph

    def rewrite(copy: Graph, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        return _rotate_loop(copy, node, inputs) if _is_rotatable(node) else None

    return clone(graph, rewrite)


def _is_rotatable(node: Node) -> bool:
    """Return whether a node is a loop whose test has loops over arrays, and whose types do not change."""
    if not node.op.traits.repeats or leads_to_recursion(node):
        return False
    test, body = node.regions
    state_count = state_size(node)
    parameter_types = [value.type for value in test.parameters]
    outputs_fit_state = [value.type for value in body.outputs] == parameter_types[:state_count]
    inputs_fit_parameters = [value.type for value in node.inputs] == parameter_types
    has_loops = any(lowering_class(inner) in _LOOP_CLASSES for inner in test.nodes)
    return outputs_fit_state and inputs_fit_parameters and is_scalar(test.outputs[0].type) and has_loops


def _rotate_loop(copy: Graph, node: Node, inputs: list[Value]) -> Sequence[Value]:
    """Add a first run of the test, then the rotated loop; return the values that replace the results of `node`."""
    test, body = node.regions
    state_count = state_size(node)
    (condition,) = _inline(copy, test, inputs)
    new_test, new_body = Graph(test.name), Graph(body.name)
    for graph in (new_test, new_body):
        graph.add_parameter(condition.type, "going")
        for value in body.parameters:
            graph.add_parameter(value.type, value.name)
    new_test.outputs = new_test.parameters[:1]
    state = _inline(new_body, body, new_body.parameters[1:])
    new_body.outputs = [*_inline(new_body, test, [*state, *new_body.parameters[1 + state_count :]]), *state]
    loop = copy.add_replacement(
        node, node.op, [condition, *inputs], {**node.attributes, "state": state_count + 1},
        regions=(new_test, new_body), types=[condition.type, *(value.type for value in node.results)],
    )  # fmt: skip
    return loop.results[1:]


def _inline(copy: Graph, graph: Graph, arguments: Sequence[Value]) -> list[Value]:
    """Add the nodes of a region, with rotated loops, to `copy`; return the region's outputs."""
    values = dict(zip(graph.parameters, arguments, strict=True))
    for node in graph.nodes:
        inputs = [values[value] for value in node.inputs]
        if _is_rotatable(node):
            results = _rotate_loop(copy, node, inputs)
        else:
            results = copy_node(copy, node, inputs, copy_regions(node, {}, rotate_loops)).results
        values.update(zip(node.results, results, strict=True))
    return [values[value] for value in graph.outputs]
