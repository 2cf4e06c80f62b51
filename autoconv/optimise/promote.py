"""New arrays that nobody writes to: what was computed is read where it would have been read in memory.

    before   graph f(%A: array<float64[4], [8]>, %B: array<float64[4], [8]>) {
               %load = array_load(%A): float64[4]
               %square = square(%load): float64[4]
               %new = array_of(%square): array<float64[4], [8]>
               %again = array_load(%new): float64[4]
               %store = array_store(%B, %again): ()
               return
             }
    after    graph f(%A: array<float64[4], [8]>, %B: array<float64[4], [8]>) {
               %load = array_load(%A): float64[4]
               %square = square(%load): float64[4]
               %store = array_store(%B, %square): ()
               return
             }
"""

from __future__ import annotations

from autoconv.graph.graph import Graph, Node, Value, copied_regions, copy_node, settle_effects
from autoconv.graph.rewrite import begin_copy
from autoconv.ops import OPS
from autoconv.ops.index_spec import INPUT


def promote(graph: Graph, contract: str = "function") -> Graph:
    """The graph without the arrays that are made of a tensor and only read, as a whole or by known slices.

    Only those go that nothing reads beyond the region that makes them.
    """
    copy = _promoted(graph, {})
    settle_effects(copy)
    return copy


def _promoted(graph: Graph, copies: dict[Graph, Graph]) -> Graph:
    copy, values = begin_copy(graph)
    copies[graph] = copy
    gone = _only_read(graph)
    for node in graph.nodes:
        if node in gone:
            continue
        if node.op.name == "array_load" and node.inputs[0].node in gone:
            values[node.results[0]] = _read(copy, node, values)
            continue
        regions = copied_regions(node, copies, lambda region: _promoted(region, copies))
        copied = copy_node(copy, node, [values[value] for value in node.inputs], regions)
        values.update(zip(node.results, copied.results, strict=True))
    copy.outputs = [values[value] for value in graph.outputs]
    return copy


def _read(copy: Graph, load: Node, values: dict[Value, Value]) -> Value:
    """The tensor that the array is made of, or the part of it that a view shows."""
    steps: list[Node] = []
    made = load.inputs[0].node
    while made is not None and made.op.name == "array_view":
        steps.append(made)
        made = made.inputs[0].node
    assert made is not None
    found = values[made.inputs[0]]
    for view in reversed(steps):
        spec = {"spec": view.attributes["spec"]}
        found = copy.add(OPS["get_item"], [found], spec, name=load.name, span=load.span).results[0]
    return found


def _only_read(graph: Graph) -> set[Node]:
    """The nodes that make such arrays, and the views of them."""
    users: dict[Value, list[Node]] = {}
    for node in graph.nodes:
        for value in node.inputs:
            users.setdefault(value, []).append(node)
    outputs = set(graph.outputs)
    found: set[Node] = set()
    for node in reversed(graph.nodes):
        if node.op.name != "array_of" and not _is_known_view(node):
            continue
        (result,) = node.results
        mine = users.get(result, [])
        if result not in outputs and all(user.op.name == "array_load" or user in found for user in mine):
            found.add(node)
    kept = {node for node in found if node.op.name == "array_view" and not _made_in(node, found)}
    return found - kept


def _is_known_view(node: Node) -> bool:
    if node.op.name != "array_view" or node.effects:
        return False
    return not any(INPUT in entry for entry in node.attributes["spec"])


def _made_in(view: Node, found: set[Node]) -> bool:
    """Whether the view is one of an array that goes."""
    made = view.inputs[0].node
    while made is not None and made.op.name == "array_view" and made in found:
        made = made.inputs[0].node
    return made is not None and made.op.name == "array_of" and made in found
