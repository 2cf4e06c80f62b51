"""Checkpointing of loops: store the state at every n-th iteration, and recompute the iterations in between.

A reversed loop stores one copy per iteration of each body value that a gradient reads. With `recompute_every=n` it
becomes a loop over segments of n iterations. The forward pass stores only the state at the start of each segment. The
backward pass runs each segment once more, stores the values, and then reverses the segment. For m iterations, m/n
states and the values of n iterations are stored, at the cost of one more forward run. Memory is least at n = √m.
(A. Griewank, "Achieving logarithmic growth of temporal and spatial complexity in reverse automatic differentiation",
1992; this is one level of his scheme.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from autoconv.autodiff.cotangents import accumulate, conform
from autoconv.autodiff.forward_backward import Region, RootLevel, shallow_copy
from autoconv.graph.dtypes import int64
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, append_copy, node_effects
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import TensorType
from autoconv.ops.builder import GraphBuilder


def try_divide_into_segments(node: Node, segment_length: int) -> bool:
    """Replace a loop by a loop over segments of `segment_length` iterations.

    Return False, without a change, for a loop whose side effects would be repeated.
    """
    if node.effects & ~Effects.RAISE:
        return False
    state_count = state_size(node)
    test, body = node.regions
    segment = Graph(body.name)
    parameters = [segment.add_parameter(parameter.type, parameter.name) for parameter in body.parameters]
    zero = GraphBuilder(segment).constant(value=np.array(0, np.int64))
    inner_loop = segment.add(
        node.op, [*parameters[:state_count], zero, *parameters[state_count:]], {"state": state_count + 1},
        regions=[_limit_iterations(test, state_count, segment_length), _count_iterations(body, state_count)],
        types=[*(parameter.type for parameter in body.parameters[:state_count]), TensorType(int64, ())], span=node.span,
    )  # fmt: skip
    segment.outputs = list(inner_loop.results[:state_count])
    node.regions = (test, segment)
    node.effects = node_effects(node, node.regions)
    return True


def recompute_and_reverse(
    region: Region, parameters: Sequence[Value], seeded_outputs: Sequence[tuple[Value, Value]], varied: set[Value],
    backprop: Callable[..., None],
) -> None:  # fmt: skip
    """Copy the region's forward graph into its backward graph, and reverse the copy.

    `seeded_outputs` are pairs of an output and its cotangent. Only the parameters of the region are stored.
    """
    forward_nodes = region.forward.nodes[:]  # before `resolve` adds pushes of stored parameters
    copies: dict[Value, Value] = {}
    for parameter in parameters:
        if parameter in varied or _is_used(region.forward, parameter):
            outer_value = region.resolve(parameter)
            is_tensor = isinstance(outer_value.type, TensorType)
            # Two parameters must not have the same value, as cotangents are recorded by value.
            copies[parameter] = region.builder.identity(outer_value) if is_tensor else outer_value
    nodes = [append_copy(region.backward, node, copies) for node in forward_nodes]
    copied_root = RootLevel(region.backward, region.backward)
    copied_root.heap = region.heap
    for output, cotangent in seeded_outputs:
        if output in varied:
            converted_cotangent = conform(copied_root.builder, cotangent, output.type)
            accumulate(copied_root.builder, copied_root.cotangents, copies[output], converted_cotangent)
    backprop(copied_root, {copies[value] for value in varied if value in copies}, nodes)
    for parameter in parameters:
        cotangent_of_copy = copied_root.cotangents.get(copies[parameter]) if parameter in copies else None
        if cotangent_of_copy is not None:
            region.cotangents[parameter] = cotangent_of_copy


def _is_used(graph: Graph, parameter: Value) -> bool:
    """Return whether the parameter is an output, or an input of a node outside of regions."""
    return parameter in graph.outputs or any(parameter in node.inputs for node in graph.nodes)


def _add_iteration_parameter(graph: Graph, state_count: int) -> Value:
    """Add the number of the iteration within its segment to the parameters, at the end of the state."""
    iteration = graph.add_parameter(TensorType(int64, ()), "iteration")
    graph.parameters.insert(state_count, graph.parameters.pop())
    return iteration


def _limit_iterations(test: Graph, state_count: int, segment_length: int) -> Graph:
    """Return the test of a loop over one segment."""
    limited_test = shallow_copy(test)
    b = GraphBuilder(limited_test)
    iteration = _add_iteration_parameter(limited_test, state_count)
    is_inside_segment = b.less(iteration, np.array(segment_length, np.int64))
    limited_test.outputs = [b.logical_and(is_inside_segment, limited_test.outputs[0])]
    return limited_test


def _count_iterations(body: Graph, state_count: int) -> Graph:
    """Return the body of a loop over one segment, which counts the iterations within the segment."""
    counting_body = shallow_copy(body)
    iteration = _add_iteration_parameter(counting_body, state_count)
    counting_body.outputs.append(GraphBuilder(counting_body).add(iteration, np.array(1, np.int64)))
    return counting_body
