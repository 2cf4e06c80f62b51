"""Activity analysis: find the varied values, which depend differentiably on some chosen values.

`flags` are bools for a sequence of values: true for those that are varied. `outer_graphs` are the graphs that are being
analysed, from the outside inwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from autoconv.autodiff.cotangents import is_differentiable
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import ArrayType, ObjectType


class Heap:
    """One abstract heap for all objects of a running graph: once a varied value is stored, any object may hold it.

    `holds_varied` is true once an object may hold a varied value. `holds_varied_arrays` is true once an array in memory
    may hold one: such a graph has no gradient before `replace_memory`.
    """

    def __init__(self) -> None:
        self.holds_varied = False
        self.holds_varied_arrays = False


def varied_values(
    graph: Graph, values: Iterable[Value], heap: Heap, nodes: Iterable[Node] | None = None
) -> set[Value]:
    """Return `values`, and the values of the graph that depend differentiably on them.

    A forward analysis. Results of a node with regions are varied only if they depend on varied values in its regions;
    loops are iterated to a fixed point. `nodes` restricts the analysis to those nodes.
    """
    return _varied_values(graph, values, heap, (), None if nodes is None else set(nodes))


def _varied_values(
    graph: Graph, values: Iterable[Value], heap: Heap, outer_graphs: tuple[Graph, ...], nodes: set[Node] | None = None
) -> set[Value]:
    """Return the varied values of a graph, as `varied_values` does, in one pass over the nodes in order."""
    varied = {value for value in values if is_differentiable(value.type)}
    for node in graph.nodes:
        if nodes is not None and node not in nodes:
            continue
        objects = [value for value in (*node.inputs, *node.results) if isinstance(value.type, ObjectType)]
        if heap.holds_varied:
            varied.update(objects)
        if not any(value in varied for value in node.inputs):
            continue
        if objects and not node.regions:
            heap.holds_varied = True
            varied.update(objects)
        if not node.regions and any(isinstance(value.type, ArrayType) for value in (*node.inputs, *node.results)):
            heap.holds_varied_arrays = True
        result_flags = _varied_results(node, [value in varied for value in node.inputs], heap, (*outer_graphs, graph))
        varied_results = [result for result, is_varied in zip(node.results, result_flags, strict=True) if is_varied]
        varied.update(result for result in varied_results if is_differentiable(result.type))
    return varied


def _varied_results(
    node: Node, input_flags: Sequence[bool], heap: Heap, outer_graphs: tuple[Graph, ...]
) -> Sequence[bool]:
    """Return which results of a node are varied; `input_flags` are those of its inputs, at least one of them true."""
    rule = _RESULT_RULES.get(node.op.name)
    # All results of a recursive call count as varied.
    if rule is None or any(region in outer_graphs for region in node.regions):
        return [True] * len(node.results)
    return rule(node, input_flags, heap, outer_graphs)


def _varied_outputs(
    region: Graph, parameter_flags: Sequence[bool], heap: Heap, outer_graphs: tuple[Graph, ...]
) -> list[bool]:
    """Return which outputs of a region are varied; `parameter_flags` are those of its parameters."""
    flagged_parameters = zip(region.parameters, parameter_flags, strict=True)
    varied_parameters = [parameter for parameter, is_varied in flagged_parameters if is_varied]
    varied = _varied_values(region, varied_parameters, heap, outer_graphs)
    return [value in varied for value in region.outputs]


def _varied_cond_results(
    node: Node, input_flags: Sequence[bool], heap: Heap, outer_graphs: tuple[Graph, ...]
) -> Sequence[bool]:
    flags_of_arms = [_varied_outputs(region, input_flags[1:], heap, outer_graphs) for region in node.regions]
    return [any(flags) for flags in zip(*flags_of_arms, strict=True)]


def _varied_loop_results(
    node: Node, input_flags: Sequence[bool], heap: Heap, outer_graphs: tuple[Graph, ...]
) -> Sequence[bool]:
    state_count = state_size(node)
    return varied_state(node.regions[1], input_flags, state_count, heap, outer_graphs)[:state_count]


def varied_state(
    body: Graph, input_flags: Sequence[bool], state_count: int, heap: Heap, outer_graphs: tuple[Graph, ...] = ()
) -> list[bool]:
    """Return which parameters of a loop's body are varied in some iteration; `input_flags` are those of the loop."""
    flags = list(input_flags)
    while True:
        heap_held_varied = heap.holds_varied
        output_flags = _varied_outputs(body, flags, heap, outer_graphs)
        state_flags = [before or after for before, after in zip(flags[:state_count], output_flags, strict=True)]
        if state_flags == flags[:state_count] and heap.holds_varied == heap_held_varied:
            return flags
        flags[:state_count] = state_flags


def _varied_call_results(
    node: Node, input_flags: Sequence[bool], heap: Heap, outer_graphs: tuple[Graph, ...]
) -> Sequence[bool]:
    return _varied_outputs(node.regions[0], input_flags, heap, outer_graphs)


def _varied_try_results(
    node: Node, input_flags: Sequence[bool], heap: Heap, outer_graphs: tuple[Graph, ...]
) -> Sequence[bool]:
    """Return, for each result of a `try`, whether it may vary with an input whose flag is true."""
    body, normal_end, handler = node.regions
    normal_results = _varied_outputs(
        normal_end, [*_varied_outputs(body, input_flags, heap, outer_graphs), *input_flags], heap, outer_graphs
    )
    # The first parameter of a handler is the exception, which may hold any value of the body.
    handler_results = _varied_outputs(handler, [any(input_flags), *input_flags], heap, outer_graphs)
    return [any(flags) for flags in zip(normal_results, handler_results, strict=True)]


_RESULT_RULES: dict[str, Callable[[Node, Sequence[bool], Heap, tuple[Graph, ...]], Sequence[bool]]] = {
    "cond": _varied_cond_results,
    "while": _varied_loop_results,
    "call": _varied_call_results,
    "try": _varied_try_results,
}
