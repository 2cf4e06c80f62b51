"""Activity analysis: values that depend differentiably on chosen ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from autoconv.autodiff.cotangents import carries
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import state_size
from autoconv.graph.types import ArrayType, ObjectType


class Heap:
    """One abstract heap for all objects of a running graph: once a varied value is stored, any object may hold it.

    `has_arrays`: a varied value was stored in an array in memory, through which no gradient flows here.
    """

    def __init__(self) -> None:
        self.varied = False
        self.has_arrays = False


def varied_values(
    graph: Graph, values: Iterable[Value], heap: Heap, within: Iterable[Node] | None = None
) -> set[Value]:
    """Return the values that depend differentiably on `values`, these included.

    A forward analysis. Results of a node with regions are varied only if its regions connect them; loops are iterated
    to a fixed point. `within` restricts it to those nodes.
    """
    return _varied_values(graph, values, heap, (), None if within is None else set(within))


def _varied_values(
    graph: Graph, values: Iterable[Value], heap: Heap, enclosing: tuple[Graph, ...], within: set[Node] | None = None
) -> set[Value]:
    varied = {value for value in values if carries(value.type)}
    for node in graph.nodes:
        if within is not None and node not in within:
            continue
        objects = [value for value in (*node.inputs, *node.results) if isinstance(value.type, ObjectType)]
        if heap.varied:
            varied.update(objects)
        if not any(value in varied for value in node.inputs):
            continue
        if objects and not node.regions:
            heap.varied = True
            varied.update(objects)
        if not node.regions and any(isinstance(value.type, ArrayType) for value in (*node.inputs, *node.results)):
            heap.has_arrays = True
        flags = _varied_results(node, [value in varied for value in node.inputs], heap, (*enclosing, graph))
        varied.update(r for r, flag in zip(node.results, flags, strict=True) if flag and carries(r.type))
    return varied


def _varied_results(node: Node, inputs: Sequence[bool], heap: Heap, enclosing: tuple[Graph, ...]) -> Sequence[bool]:
    rule = _RULES.get(node.op.name)
    # A call inside of its own function: conservatively all results.
    if rule is None or any(region in enclosing for region in node.regions):
        return [True] * len(node.results)
    return rule(node, inputs, heap, enclosing)


def _outputs(region: Graph, parameters: Sequence[bool], heap: Heap, enclosing: tuple[Graph, ...]) -> list[bool]:
    varied_parameters = [p for p, flag in zip(region.parameters, parameters, strict=True) if flag]
    varied = _varied_values(region, varied_parameters, heap, enclosing)
    return [value in varied for value in region.outputs]


def _cond(node: Node, inputs: Sequence[bool], heap: Heap, enclosing: tuple[Graph, ...]) -> Sequence[bool]:
    arms = [_outputs(region, inputs[1:], heap, enclosing) for region in node.regions]
    return [any(flags) for flags in zip(*arms, strict=True)]


def _while(node: Node, inputs: Sequence[bool], heap: Heap, enclosing: tuple[Graph, ...]) -> Sequence[bool]:
    size = state_size(node)
    return state_flags(node.regions[1], inputs, size, heap, enclosing)[:size]


def state_flags(
    body: Graph, inputs: Sequence[bool], size: int, heap: Heap, enclosing: tuple[Graph, ...] = ()
) -> list[bool]:
    """Return which parameters of a loop's body are varied in some iteration, given the varied inputs of the loop."""
    flags = list(inputs)
    while True:
        before = heap.varied
        after = _outputs(body, flags, heap, enclosing)
        wider = [a or b for a, b in zip(flags[:size], after, strict=True)]
        if wider == flags[:size] and heap.varied == before:
            return flags
        flags[:size] = wider


def _call(node: Node, inputs: Sequence[bool], heap: Heap, enclosing: tuple[Graph, ...]) -> Sequence[bool]:
    return _outputs(node.regions[0], inputs, heap, enclosing)


def _try(node: Node, inputs: Sequence[bool], heap: Heap, enclosing: tuple[Graph, ...]) -> Sequence[bool]:
    body, normal, handler = node.regions
    ends = _outputs(normal, [*_outputs(body, inputs, heap, enclosing), *inputs], heap, enclosing)
    others = _outputs(handler, [any(inputs), *inputs], heap, enclosing)
    return [a or b for a, b in zip(ends, others, strict=True)]


_RULES: dict[str, Callable[[Node, Sequence[bool], Heap, tuple[Graph, ...]], Sequence[bool]]] = {
    "cond": _cond,
    "while": _while,
    "call": _call,
    "try": _try,
}
