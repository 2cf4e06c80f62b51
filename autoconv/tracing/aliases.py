"""Which outputs of a graph may share memory with its array arguments, as NumPy's views do."""

from __future__ import annotations

from collections.abc import Collection

from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import TensorType
from autoconv.ops.views import VIEWS


def aliased_outputs(graph: Graph, arrays: Collection[Value]) -> set[int]:
    """Positions of the outputs that may be, or be a view of, one of the parameters `arrays`."""
    aliases: set[Value] = set(arrays)
    for node in graph.nodes:
        for position in _aliased_results(node, aliases):
            if _has_elements(node.results[position]):
                aliases.add(node.results[position])
    return {position for position, value in enumerate(graph.outputs) if value in aliases}


def _aliased_results(node: Node, aliases: set[Value]) -> set[int]:
    if node.op.name == "get_item" and any(entry[0] in ("array", "mask") for entry in node.attributes["spec"]):
        return set()  # what arrays pick is a copy
    if node.op.name in VIEWS or node.op.name == "broadcast_to":
        return set(range(len(node.results))) if node.inputs[0] in aliases else set()
    if node.op.name == "cond":
        return _through_regions(node, node.inputs[1:], aliases, 0)
    if node.op.name == "while":
        return _through_regions(node, node.inputs, aliases, node.attributes["state"])
    return set(range(len(node.results))) if node.op.name in ("call", "try") and aliases & set(node.inputs) else set()


def _through_regions(node: Node, inputs: tuple[Value, ...], aliases: set[Value], state: int) -> set[int]:
    """The results that a region may give its captures (or, for a loop, its state) out as."""
    found = {position for position in range(state) if inputs[position] in aliases}
    while True:
        before = set(found)
        for region in node.regions if not state else node.regions[1:]:
            inner = {p for p, outer in zip(region.parameters, inputs, strict=True) if outer in aliases}
            inner |= {region.parameters[position] for position in found if state}
            found |= aliased_outputs(region, inner)
        if found == before:
            return found


def _has_elements(value: Value) -> bool:
    """Items of arrays are NumPy scalars, which share nothing."""
    return isinstance(value.type, TensorType) and value.type.shape != ()
