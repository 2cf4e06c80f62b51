"""Interchange a scalar-controlled loop with the elementwise loops in its body, and strip-mine the result.

    before   while i < n: z, i = z * z + c, i + 1
    after    while i < n: i, trips = i + 1, trips + 1
             for each block of elements: repeat trips times: z = z * z + c

The first loop computes the test and the counters, which are scalars, and raises their errors. The second loop keeps a
block of elements in registers. It carries the attribute `INTERCHANGED`; `codegen/control/interchanged_loop.py` lowers
it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from autoconv.backends.llvm.analysis.classify import lowering_class
from autoconv.backends.llvm.analysis.element_probe import ElementProbe
from autoconv.backends.llvm.analysis.representation import is_complex, is_scalar, is_static_array, sizes
from autoconv.graph.dtypes import int64
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, append_copy, clone, is_recursive
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import TensorType
from autoconv.ops.builder import GraphBuilder

INTERCHANGED = "of_elements"  # attribute that marks the loop over blocks of elements
_MAX_ARRAYS, _MAX_NODES = 6, 40  # most arrays of the state, and most nodes of the body, for which registers suffice


def interchange(graph: Graph) -> Graph:
    """Return the graph, regions included, with each interchangeable loop split in two."""
    if not any(node.op.traits.repeats and _is_interchangeable(node) for node in graph.walk()):
        return graph

    def rewrite(copy: Graph, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        return _split_loop(copy, node, inputs) if node.op.traits.repeats and _is_interchangeable(node) else None

    return clone(graph, rewrite)


def _is_interchangeable(node: Node) -> bool:
    """Return whether a `while` over arrays of one shape has a scalar test and an elementwise body."""
    test, body = node.regions
    state_count = state_size(node)
    state = body.parameters[:state_count]
    arrays = [value for value in state if is_static_array(value.type)]
    if is_recursive(node) or INTERCHANGED in node.attributes or not 0 < len(arrays) <= _MAX_ARRAYS:
        return False
    types = [value.type for value in state]
    if [value.type for value in body.outputs] != types or [value.type for value in node.inputs[:state_count]] != types:
        return False
    if not all(is_static_array(value.type) or is_scalar(value.type) for value in (*state, *node.inputs)):
        return False
    shape = sizes(arrays[0].type)
    if not math.prod(shape) or any(sizes(value.type) != shape for value in arrays):
        return False
    if len(body.nodes) > _MAX_NODES or any(value.dtype.is_bool for value in arrays):
        return False
    counters = {value for value in state if is_scalar(value.type)}
    array_state = {parameter for parameter, value in zip(test.parameters, state, strict=False) if value in arrays}
    scalar_state = {*test.parameters[:state_count]} - array_state
    test_scalars = scalar_state | {value for value in test.parameters[state_count:] if is_scalar(value.type)}
    return _is_scalar_test(test, test_scalars) and _is_elementwise_body(body, counters, shape)


def _computes_number(node: Node) -> bool:
    """Return whether a node computes a scalar without side effects; it may raise."""
    is_constant = node.op.name == "constant" and is_scalar(node.results[0].type)
    return is_constant or (lowering_class(node) == "scalar" and node.effects in (Effects.PURE, Effects.RAISE))


def _is_scalar_test(test: Graph, scalars: set[Value]) -> bool:
    """Return whether the test consists of scalar nodes that read only `scalars` and each other."""
    for node in test.nodes:
        if not _computes_number(node) or not scalars.issuperset(node.inputs):
            return False
        scalars.update(node.results)
    return scalars.issuperset(test.outputs)


def _is_elementwise_body(body: Graph, counters: set[Value], shape: tuple[int, ...]) -> bool:
    """Return whether the body is elementwise, over arrays of the shape and loop-invariant numbers.

    `counters` are the scalars of the loop's state.
    """
    # Values that only the scalar loop computes: counters, numbers that depend on them, and numbers that may raise.
    scalar_loop_values = set(counters)
    has_elements = False
    for node in body.nodes:
        if _computes_number(node):
            if any(is_static_array(value.type) for value in node.inputs):
                return False
            if node.effects is not Effects.PURE or not scalar_loop_values.isdisjoint(node.inputs):
                scalar_loop_values.update(node.results)
            continue
        if lowering_class(node) != "element" or node.effects is not Effects.PURE or _may_leave_loop(node):
            return False
        for value in (*node.inputs, *node.results):
            if value in scalar_loop_values or is_complex(value.type):
                return False
            if is_static_array(value.type) and sizes(value.type) != shape:
                return False
        has_elements = True
    outputs = [value for value in body.outputs if is_static_array(value.type)]
    return has_elements and all(sizes(value.type) == shape for value in outputs)


def _may_leave_loop(node: Node) -> bool:
    """Return whether the node's element rule has a slow path for some operands, or may raise."""
    probe = ElementProbe()
    probe.result(node.op.name, [value.dtype for value in node.inputs], node.results[0].dtype, node.attributes)
    return probe.is_rare or probe.fails


def _split_loop(copy: Graph, node: Node, inputs: list[Value]) -> Sequence[Value]:
    """Add the scalar loop and the loop over blocks of elements; return the results of `node`."""
    test, body = node.regions
    state_count = state_size(node)
    # Indices in the inputs: of numbers and arrays of the state, and of captured numbers.
    scalar_indices = [i for i in range(state_count) if is_scalar(inputs[i].type)]
    array_indices = [i for i in range(state_count) if i not in scalar_indices]
    captured_indices = [i for i in range(state_count, len(inputs)) if is_scalar(inputs[i].type)]
    b = GraphBuilder(copy, node.span)
    zero = b.constant(value=int64.numpy.type(0))
    scalar_regions = [
        _counting_region(graph, scalar_indices, captured_indices, is_body=graph is body) for graph in (test, body)
    ]
    scalar_loop = copy.add(
        node.op, [*(inputs[i] for i in scalar_indices), zero, *(inputs[i] for i in captured_indices)],
        {"state": len(scalar_indices) + 1},
        regions=scalar_regions, types=[*(node.results[i].type for i in scalar_indices), zero.type], span=node.span,
    )  # fmt: skip
    *scalar_results, total_trips = scalar_loop.results
    element_inputs = [zero, *(inputs[i] for i in array_indices), total_trips, *inputs[state_count:]]
    test_copy, body_copy = Graph(test.name), Graph(body.name)
    for graph in (test_copy, body_copy):
        for value in element_inputs:
            graph.add_parameter(value.type)
    trip_in_test, trip_count = test_copy.parameters[0], test_copy.parameters[1 + len(array_indices)]
    test_copy.outputs = [GraphBuilder(test_copy).less(trip_in_test, trip_count)]
    trip_in_body, *state_and_captures = body_copy.parameters
    del state_and_captures[len(array_indices)]  # the trip count, which only the test reads
    positions = [*array_indices, *range(state_count, len(inputs))]
    values = {body.parameters[i]: value for i, value in zip(positions, state_and_captures, strict=True)}
    scalar_loop_values = {body.parameters[i] for i in scalar_indices}  # as in `_is_elementwise_body`
    for body_node in body.nodes:
        if not scalar_loop_values.isdisjoint(body_node.inputs) or body_node.effects is not Effects.PURE:
            scalar_loop_values.update(body_node.results)
            continue
        append_copy(body_copy, body_node, values)
    one = GraphBuilder(body_copy).constant(value=int64.numpy.type(1))
    next_trip = GraphBuilder(body_copy).add(trip_in_body, one)
    body_copy.outputs = [next_trip, *(values[body.outputs[i]] for i in array_indices)]
    element_loop = copy.add(
        node.op, element_inputs, {"state": 1 + len(array_indices), INTERCHANGED: True},
        regions=(test_copy, body_copy), types=[zero.type, *(node.results[i].type for i in array_indices)],
        span=node.span,
    )  # fmt: skip
    result_by_position = dict(zip(scalar_indices, scalar_results, strict=True))
    result_by_position |= dict(zip(array_indices, element_loop.results[1:], strict=True))
    return [result_by_position[i] for i in range(state_count)]


def _counting_region(
    graph: Graph, scalar_indices: Sequence[int], captured_indices: Sequence[int], is_body: bool
) -> Graph:
    """Reduce a region to its scalars, and append a parameter for the trip count, which the body increments.

    The scalars are the parameters at `scalar_indices` and, after the trip count, those at `captured_indices`.
    """
    copy = Graph(graph.name)
    values = {graph.parameters[i]: copy.add_parameter(graph.parameters[i].type) for i in scalar_indices}
    trip_count = copy.add_parameter(TensorType(int64, ()))
    values.update({graph.parameters[i]: copy.add_parameter(graph.parameters[i].type) for i in captured_indices})
    for node in graph.nodes:
        if _computes_number(node):
            append_copy(copy, node, values)
    if is_body:
        b = GraphBuilder(copy)
        next_count = b.add(trip_count, b.constant(value=int64.numpy.type(1)))
        copy.outputs = [*(values[graph.outputs[i]] for i in scalar_indices), next_count]
    else:
        copy.outputs = [values[value] for value in graph.outputs]
    return copy
