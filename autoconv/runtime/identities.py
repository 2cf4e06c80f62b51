"""Where Python tells objects apart: `in`, `==` of lists, keys and the like ask whether two objects are one before they
ask whether they are equal. A number that is put into a list of the graph is a new object each time, which makes a
difference for NaN alone, which is unlike itself. So in a graph that looks floats up, a NaN is not put into anything:
the call runs as plain Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.graph.dtypes import float64
from autoconv.graph.graph import Graph, Value, node_effects, settle_effects
from autoconv.graph.types import ObjectType, TensorType

# What no NaN is, or is in.
_NO_FLOATS = frozenset({"int", "bool", "str", "bytes", "NoneType", "slice", "range", "type", "function"})
_SCALARS = _NO_FLOATS | {"float"}
_COMPARING = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_BY_KEY = frozenset({"getitem", "setitem", "delitem", "contains"})
# These compare all that they are given.
_WHOLE = frozenset({"set", "frozenset", "dict", "sorted", "min", "max", "collections.Counter",
                    "collections.OrderedDict"})  # fmt: skip
_METHODS_BY_KEY = frozenset({"index", "count", "remove", "get", "pop", "setdefault", "add", "discard"})
_METHODS_WHOLE = frozenset(
    {
        "sort", "update", "union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset",
        "isdisjoint", "intersection_update", "difference_update", "symmetric_difference_update", "fromkeys",
    }
)  # fmt: skip


def tells_apart(op: str, inputs: Sequence[Value], attributes: Any) -> bool:
    """Whether a node over objects may ask whether a float is one object with another."""
    kinds = [value.type.kind if isinstance(value.type, ObjectType) else "" for value in inputs]
    if op == "object_build":
        keys = kinds[::2] if attributes["kind"] == "dict" else kinds if attributes["kind"] == "set" else []
        return any(kind not in _NO_FLOATS for kind in keys)
    if op == "object_method":
        name = attributes["name"]
        return name in _METHODS_WHOLE or (name in _METHODS_BY_KEY and any(k not in _NO_FLOATS for k in kinds[1:2]))
    if op != "object_apply":
        return False
    name = attributes["function"]
    if name in _COMPARING:
        return not _SCALARS.intersection(kinds)
    if name in _BY_KEY:
        return kinds[1] not in _NO_FLOATS and not (kinds[0] in ("list", "tuple", "str") and name != "contains")
    return name in _WHOLE or name.startswith(("heapq.", "bisect."))


def refuse_nans(graph: Graph) -> None:
    """Has floats that become objects of the graph tested."""
    nodes = list(graph.walk())
    for node in nodes:
        if node.op.name == "object_box" and node.attributes["how"] == "number":
            type_ = node.inputs[0].type
            if isinstance(type_, TensorType) and type_.dtype is float64:
                node.attributes = {**node.attributes, "how": IDENTIFIED}
    for node in reversed(nodes):  # the innermost first
        if node.regions or node.op.name == "object_box":
            node.effects = node_effects(node.op, node.regions, node.attributes, node.inputs)
    settle_effects(graph)


IDENTIFIED = "identified"  # how such a float is boxed

__all__ = ["IDENTIFIED", "refuse_nans", "tells_apart"]
