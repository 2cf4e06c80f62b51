"""Mutable containers from outside that a graph holds as constants and may change.

Traced code read their contents while tracing, so the graph would not see later changes. They have to be inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import ObjectType
from autoconv.ops.python.undo_log import changes_container
from autoconv.runtime.support.structure import raw_items

_CHANGING_METHODS = frozenset(
    {
        "append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "add", "discard", "update",
        "setdefault", "popitem", "appendleft", "extendleft", "popleft", "rotate", "move_to_end", "subtract",
        "intersection_update", "difference_update", "symmetric_difference_update",
    }
)  # fmt: skip
_CONTAINERS = (list, dict, set, tuple, frozenset)
_MAX_VISITED_PARTS = 1000  # visited parts of a constant


def containers_if_changed(graph: Graph) -> list[Any]:
    """Return all containers in the graph's constants if the graph may change one of them; else an empty list."""
    constants = [node for node in graph.walk() if node.op.name == "object_constant"]
    containers = [part for node in constants for part in containers_in(node.attributes["value"])]
    return containers if containers and _may_change(graph, set()) else []


def containers_in(value: Any) -> Iterator[Any]:
    """Iterate over the lists, dicts and sets in a value, at any depth."""
    pending_values, visited_ids = [value], set[int]()
    while pending_values and len(visited_ids) < _MAX_VISITED_PARTS:
        part = pending_values.pop()
        if not isinstance(part, _CONTAINERS) or id(part) in visited_ids:
            continue
        visited_ids.add(id(part))
        if not isinstance(part, (tuple, frozenset)):
            yield part
        pending_values += dict.values(part) if isinstance(part, dict) else raw_items(part)


def _may_change(graph: Graph, values: set[Value]) -> bool:
    """Return whether a node changes one of `values`, or a value that may come from one of them or from a constant.

    Values that may come from constants are added to `values`. The forward analysis is repeated until it adds none,
    because a recursive function is a region that is visited once in each repetition.
    """
    while True:
        value_count = len(values)
        if _visit_nodes(graph, values, {graph}):
            return True
        if len(values) == value_count:
            return False


def _visit_nodes(graph: Graph, values: set[Value], visited_graphs: set[Graph]) -> bool:
    """Add to `values` the values that may come from constant containers; return whether a node changes one of them."""
    for node in graph.nodes:
        if node.op.name == "object_constant":
            values.update(node.results if _is_constant_container(node) else ())
            continue
        comes_from_constant = any(value in values for value in node.inputs)
        if comes_from_constant and node.inputs[0] in values and changes_first_input(node):
            return True
        comes_from_constant = comes_from_constant or any(_has_constant(region) for region in node.regions)
        for region in node.regions:
            if comes_from_constant:
                values.update(filter(_is_object, region.parameters))
            if region not in visited_graphs:
                visited_graphs.add(region)
                if _visit_nodes(region, values, visited_graphs):
                    return True
        if comes_from_constant:
            values.update(filter(_is_object, node.results))
    return False


def _has_constant(region: Graph) -> bool:
    """Return whether the region has a constant with containers."""
    return any(map(_is_constant_container, region.walk()))


def _is_constant_container(node: Node) -> bool:
    """Return whether a node is a constant that is, or contains, a list, dict or set."""
    return node.op.name == "object_constant" and any(True for _ in containers_in(node.attributes["value"]))


def changes_first_input(node: Node) -> bool:
    """Return whether a node calls a method or operator that changes the container in its first input."""
    if node.op.name == "object_method":
        return node.attributes["name"] in _CHANGING_METHODS
    return node.op.name == "object_apply" and changes_container(node.attributes["function"])


def _is_object(value: Value) -> bool:
    """Return whether a value of the graph is a Python object."""
    return isinstance(value.type, ObjectType)
