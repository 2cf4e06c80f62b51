"""Refusal of writes to objects that are known only at run time, such as to an item of a list that is an input.

The target may alias an object, or a list in its attributes, that was known while tracing. The values of such an object
are constants of the graph or flattened arguments, so the graph would miss the write. The call runs as plain Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import flow_edges, result_sources
from autoconv.graph.types import ObjectType
from autoconv.operators.calls.call import is_user_code
from autoconv.ops.python.objects import FUNCTIONS
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN
from autoconv.runtime.support.attributes import attributes_of
from autoconv.runtime.support.structure import mutable_parts
from autoconv.tracing.guards.changed_constants import changes_first_input
from autoconv.tracing.guards.trace_restrictions import RunPlain

# In-place forms of operators, such as "iadd" of "add".
_IN_PLACE_FUNCTIONS = frozenset(name for name in FUNCTIONS if name.startswith("i") and name[1:] in FUNCTIONS)
# Operations that return an item of a container, or an iterator over items; Python's other functions and methods
# return new objects.
_ITEM_FUNCTIONS = frozenset({"getitem", "reversed", "iter", "next", "min", "max", "slice", "zip", "enumerate"})
_ITEM_METHODS = frozenset({"get", "pop", "popitem", "popleft", "setdefault", "values", "items", "most_common"})
_CONTAINERS = (list, dict, set, *TRACED_TO_PLAIN)


def refuse_unknown_writes(
    graph: Graph, reached_objects: Sequence[Any], rebuilt_arguments: Iterable[Any], arguments: Iterable[Any]
) -> bool:
    """Raise RunPlain if the target of a write may be one of the `reached_objects` of guards, or a rebuilt argument.

    A rebuilt argument is the trace's copy of an argument; `arguments` are the arguments that are objects of the graph.
    Return whether an input or a part of one is changed. If so, later calls have to check that it is not a container
    that guards reach.
    """
    origins = _Origins(graph)
    attribute_names: set[str] = set()
    written_origins: set[str] = set()
    for node in graph.walk():
        if node.op.name in ("object_set_attribute", "object_delete_attribute"):
            if origins.origin_of(node.inputs[0]) not in ("constant", "new"):
                attribute_names.add(node.attributes["name"])
        elif _changes_container(node):
            written_origins.add(origins.origin_of(node.inputs[0]))
    values = [*reached_objects, *rebuilt_arguments]
    if attribute_names:
        _refuse_attributes(attribute_names, values)
    if "attribute" in written_origins and any(isinstance(value, _CONTAINERS) for value in values):
        raise RunPlain("a list known only at run time is changed, and may be another one that the call reads")
    if written_origins & {"parameter", "item"}:
        part_ids = {id(part) for value in arguments for part in mutable_parts(value)}
        if any(isinstance(value, _CONTAINERS) and id(value) in part_ids for value in reached_objects):
            raise RunPlain("an argument is changed that is also read by another name")
        return True
    return False


def _refuse_attributes(names: set[str], values: Iterable[Any]) -> None:
    """Raise RunPlain if one of the objects has an attribute of a written name."""
    for value in values:
        if is_user_code(type(value)) and not isinstance(value, type):
            changed_names = names & attributes_of(value).keys()
            if changed_names:
                raise RunPlain(
                    f"the attribute {min(changed_names)!r} of an object known only at run time is written, which may "
                    f"be the {type(value).__name__} that the call also reads"
                )


def _changes_container(node: Node) -> bool:
    """Return whether a node changes the container, not an array, in its first input."""
    return bool(node.inputs) and node.inputs[0].type != ObjectType("ndarray") and changes_first_input(node)


def _may_return_item(node: Node) -> bool:
    """Return whether the node's result may be an item of a container, not a new object."""
    if node.op.name == "object_apply":
        return node.attributes["function"] in _ITEM_FUNCTIONS
    if node.op.name == "object_method":
        return node.attributes["name"] in _ITEM_METHODS
    return True


class _Origins:
    """Demand-driven analysis of the origins of objects, to a fixed point.

    The lattice is "new" (created by the graph) < "constant" < "parameter" (an input of the graph) < "item" (of one of
    these) < "attribute" (any object). Where sources join, the highest origin counts.
    """

    def __init__(self, graph: Graph) -> None:
        self._root = graph
        self._origins: dict[Value, str] = {}
        self._visited: set[Value] = set()  # the values that the current round of the fixed point has visited
        self._sources: dict[Value, list[Value]] = {}
        self._reads_attributes = any(node.op.name == "object_get_attribute" for node in graph.walk())
        for node in graph.walk():
            for source, target in flow_edges(node):
                if source is not None and target.node is None:
                    self._sources.setdefault(target, []).append(source)

    def origin_of(self, value: Value) -> str:
        """Return the origin of a value."""
        if value not in self._origins:
            finished = set(self._origins)
            previous: dict[Value, str] | None = None
            while previous != self._origins:  # in loops, origins that were found early rise with later ones
                previous, self._visited = dict(self._origins), set(finished)
                self._visit(value)
        return self._origins[value]

    def _visit(self, value: Value) -> str:
        """Return the origin, computed anew unless this round has visited the value."""
        if value not in self._visited:
            self._visited.add(value)
            self._origins[value] = self._compute_origin(value)
        return self._origins.get(value, "new")

    def _compute_origin(self, value: Value) -> str:
        """Compute the origin of a value from its definition."""
        node = value.node
        if node is None:
            if value.graph is self._root:
                return "parameter"
            return self._join_origins(self._sources.get(value))
        if node.regions:
            return self._join_origins(_sources(node, value.index) or None)
        if node.op.name == "object_constant":
            return "constant"
        if node.op.traits.allocates or node.op.name == "object_box":
            return "new"
        if node.op.name == "identity":
            return self._visit(node.inputs[0])
        if node.op.name == "object_get_attribute" or not node.inputs:
            return "attribute"
        if node.op.name == "object_apply" and node.attributes["function"] in _IN_PLACE_FUNCTIONS:
            return self._visit(node.inputs[0])
        if not _may_return_item(node):
            return "new"
        origin = self._join_origins(node.inputs)
        if origin == "new" and self._reads_attributes:  # an attribute's object may be in a container made by the graph
            return "attribute"
        return "attribute" if origin == "attribute" else "item"

    def _join_origins(self, values: Sequence[Value] | None) -> str:
        """Return the highest origin of the values; "attribute" if there are none."""
        origins = {self._visit(value) for value in values} if values else {"attribute"}
        return next(origin for origin in ("attribute", "item", "parameter", "constant", "new") if origin in origins)


def _sources(node: Node, index: int) -> list[Value]:
    """Return the possible sources of a result of a node with regions."""
    if node.op.traits.control:
        return result_sources(node, index)
    return [region.outputs[index] for region in node.regions if index < len(region.outputs)]
