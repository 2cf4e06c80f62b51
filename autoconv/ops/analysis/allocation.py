"""Allocation analysis: which objects the current run has allocated (fresh objects). Writes to these need no undo."""

from __future__ import annotations

from autoconv.graph.graph import Graph, Node, Value, is_recursive
from autoconv.graph.region_flow import flow_edges
from autoconv.graph.types import ObjectType

_COPYING_FUNCTIONS = frozenset({"list", "dict", "set", "sorted", "collections.deque"})
_LIST = ObjectType("list")


def fresh_objects(graph: Graph) -> frozenset[Value]:
    """Return the values that can hold only containers and objects allocated by nodes of the graph, in any region.

    A greatest fixed point over region flow. Each object is assumed fresh, with three exceptions: parameters of the
    graph, results of nodes that do not allocate, and values that may hold an object of a value that is not fresh.
    """
    sources_of: dict[Value, list[Value]] = {}
    not_allocated: list[Value] = [value for value in graph.parameters if isinstance(value.type, ObjectType)]
    for node in graph.walk():
        _collect_sources(node, sources_of, not_allocated)
    readers: dict[Value, list[Value]] = {}
    for value, sources in sources_of.items():
        for source in sources:
            readers.setdefault(source, []).append(value)
    not_fresh = set(not_allocated)
    worklist = list(not_allocated)
    while worklist:
        for value in readers.get(worklist.pop(), ()):
            if value not in not_fresh:
                not_fresh.add(value)
                worklist.append(value)
    results = {value for node in graph.walk() for value in node.results if isinstance(value.type, ObjectType)}
    return frozenset((results | set(sources_of)) - not_fresh)


def _collect_sources(node: Node, sources_of: dict[Value, list[Value]], not_allocated: list[Value]) -> None:
    """Collect the sources of the node's results and of its regions' parameters.

    Results and parameters that may hold an object from elsewhere are added to `not_allocated`.
    """
    if node.op.traits.control and not is_recursive(node):
        for source, target in flow_edges(node):
            if source is None:  # the target holds an exception
                not_allocated.append(target)
            elif isinstance(target.type, ObjectType):
                sources_of.setdefault(target, []).append(source)
    elif not _allocates(node):
        parameters = [value for region in node.regions for value in region.parameters]
        not_allocated += [value for value in (*parameters, *node.results) if isinstance(value.type, ObjectType)]


def _allocates(node: Node) -> bool:
    """Return whether the node allocates a new list, dict, set or deque of Python's own classes, or a user's object."""
    if node.op.traits.allocates:
        return True
    if node.op.name != "object_apply":
        return False
    function = node.attributes["function"]
    if function == "mul":  # a list times a boxed number, in either order
        op_names = [value.node.op.name if value.node is not None else "" for value in node.inputs]
        return "object_box" in op_names and _LIST in [value.type for value in node.inputs]
    return function in _COPYING_FUNCTIONS or (function == "add" and all(value.type == _LIST for value in node.inputs))
