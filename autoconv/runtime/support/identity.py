"""Comparisons by identity that decide about NaN: `in`, `==` of lists, and keys of dicts test identity before equality.

A number stored in a list of the graph is a new object each time. That matters for NaN alone, which is unequal to
itself. So a graph that searches for floats stores no NaN: the call runs as plain Python instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.graph.dtypes import float64
from autoconv.graph.graph import Graph, Value, compute_effects, node_effects
from autoconv.graph.types import ObjectType, TensorType

LOOKED_UP = "looked_up"  # the `boxing` attribute of a box with a NaN check

# Kinds of graph objects that neither are nor contain a NaN.
_KINDS_WITHOUT_FLOATS = frozenset({"int", "bool", "str", "bytes", "NoneType", "slice", "range", "type", "function"})
_SCALAR_KINDS = _KINDS_WITHOUT_FLOATS | {"float"}
_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_KEY_OPERATIONS = frozenset({"getitem", "setitem", "delitem", "contains"})
# Functions that compare all of their operands' items.
_ITEM_COMPARING_FUNCTIONS = frozenset({"set", "frozenset", "dict", "sorted", "min", "max", "collections.Counter",
                    "collections.OrderedDict"})  # fmt: skip
_KEY_METHODS = frozenset({"index", "count", "remove", "get", "pop", "setdefault", "add", "discard"})
_ITEM_COMPARING_METHODS = frozenset(
    {
        "sort", "update", "union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset",
        "isdisjoint", "intersection_update", "difference_update", "symmetric_difference_update", "fromkeys",
    }
)  # fmt: skip


def compares_identity(op: str, inputs: Sequence[Value], attributes: Any) -> bool:
    """Return whether a node over objects may compare a float by identity."""
    kinds = [value.type.kind if isinstance(value.type, ObjectType) else "" for value in inputs]
    if op == "object_build":
        keys_by_class = {"dict": kinds[::2], "set": kinds}  # the inputs of a dict are keys and values in turns
        keys = keys_by_class.get(attributes["class_name"], [])
        return any(kind not in _KINDS_WITHOUT_FLOATS for kind in keys)
    if op == "object_method":
        name = attributes["name"]
        return name in _ITEM_COMPARING_METHODS or (
            name in _KEY_METHODS and any(kind not in _KINDS_WITHOUT_FLOATS for kind in kinds[1:2])
        )
    if op != "object_apply":
        return False
    name = attributes["function"]
    if name in _COMPARISONS:
        return not _SCALAR_KINDS.intersection(kinds)
    if name in _KEY_OPERATIONS:
        has_positions = kinds[0] in ("list", "tuple", "str") and name != "contains"
        return kinds[1] not in _KINDS_WITHOUT_FLOATS and not has_positions
    return name in _ITEM_COMPARING_FUNCTIONS or name.startswith(("heapq.", "bisect."))


def insert_nan_checks(graph: Graph) -> None:
    """Insert a NaN check wherever a float becomes an object of the graph."""
    nodes = list(graph.walk())
    for node in nodes:
        if node.op.name == "object_box" and node.attributes["boxing"] == "number":
            type_ = node.inputs[0].type
            if isinstance(type_, TensorType) and type_.dtype is float64:
                node.attributes = {**node.attributes, "boxing": LOOKED_UP}
    for node in reversed(nodes):  # innermost regions first
        if node.regions or node.op.name == "object_box":
            node.effects = node_effects(node, node.regions)
    compute_effects(graph)
