"""Escape analysis of constants: containers from outside that a graph returns, stores, raises or compares by identity.

A container of the constants is guarded by its contents. Where it escapes, its identity matters as well: another list
with equal items, bound to the same name later, is another result. Such a container has to be an input instead.

The analysis goes forward from the constants. It is conservative: operands of an operation escape unless it is known to
read them only. An item that is read from a constant counts as a container if the constant holds any.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from typing import Any

from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import flow_edges
from autoconv.graph.types import ObjectType
from autoconv.ops.python.undo_log import reads_only
from autoconv.tracing.guards.changed_constants import containers_in

# Functions of `object_apply` whose operands do not escape; their results may hold items of the operands.
_READING = frozenset(
    {
        "add", "all", "any", "ascii", "bool", "contains", "dict", "enumerate", "eq", "format", "frozenset", "ge",
        "getitem", "gt", "hasattr", "iadd", "ior", "iter", "last", "le", "len", "list", "lt", "mapping", "mul", "ne",
        "or", "repr", "reversed", "set", "slice", "sorted", "str", "sum", "tuple", "type", "zip",
    }
)  # fmt: skip
_TAKING_ITEMS = frozenset({"extend", "extendleft", "join", "update", "union", "intersection", "difference"})


def escaping_constants(graph: Graph) -> list[Any]:
    """Return the containers in the graph's constants, and in the exceptions that it raises, that may escape."""
    raised = [part for node in graph.walk() if node.op.name == "raise" for part in containers_in(_contents(node))]
    constants = {
        node.results[0]: parts
        for node in graph.walk()
        if node.op.name == "object_constant" and (parts := list(containers_in(node.attributes["value"])))
    }
    if not constants:
        return raised
    uses, returned = _uses(graph), set(graph.outputs)
    held = [parts for value, parts in constants.items() if _escapes(value, len(parts) > 1, uses, returned)]
    return [*raised, *itertools.chain.from_iterable(held)]


def escaping_values(graph: Graph, values: Collection[Value]) -> list[Value]:
    """Return those of the values, containers made in the graph, that may escape."""
    if not values:
        return []
    uses, returned = _uses(graph), set(graph.outputs)
    return [value for value in values if _escapes(value, True, uses, returned)]


def _contents(node: Node) -> tuple[Any, ...]:
    """Return what a node that raises holds of its exception: constant arguments and attributes."""
    error = node.attributes["exception"]
    return node.attributes["template"], getattr(error, "args", ()), dict(getattr(error, "__dict__", ()))


def _uses(graph: Graph) -> dict[Value, list[tuple[Node, Value | int]]]:
    """Return the uses of each value: as (node, place among the operands), or as (node, value that it flows into)."""
    found: dict[Value, list[tuple[Node, Value | int]]] = {}
    for node in graph.walk():
        for place, value in enumerate(() if node.regions else node.inputs):
            found.setdefault(value, []).append((node, place))
        for source, target in flow_edges(node):
            if source is not None:
                found.setdefault(source, []).append((node, target))
    return found


def _escapes(
    value: Value, holds_containers: bool, uses: dict[Value, list[tuple[Node, Value | int]]], returned: set[Value]
) -> bool:
    pending, seen = [value], {value}
    while pending:
        value = pending.pop()
        if value in returned:
            return True
        for node, use in uses.get(value, ()):
            if isinstance(use, int) and not _reads(node, use):
                return True
            passed = [use] if isinstance(use, Value) else _objects_given(node, holds_containers)
            new = [one for one in passed if one not in seen]
            seen.update(new)
            pending += new
    return False


def _reads(node: Node, place: int) -> bool:
    """Return whether the node only reads the operand at that place."""
    if node.op.name == "object_apply":
        return node.attributes["function"] in _READING
    if node.op.name == "object_method":
        name = node.attributes["name"]
        return reads_only(name) if place == 0 else name in _TAKING_ITEMS
    if node.op.name in ("object_set_attribute", "object_delete_attribute") and place == 0:
        return True  # the object whose attribute is written
    traits = node.op.traits
    return (bool(node.results) or traits.prints) and not (traits.allocates or traits.irreversible)


def _objects_given(node: Node, holds_containers: bool) -> list[Value]:
    """Return the results that may be the node's operand, or a container in it."""
    given = holds_containers or node.op.name in ("identity", "object_defined")
    return [result for result in node.results if given and isinstance(result.type, ObjectType)]


__all__ = ["escaping_constants", "escaping_values"]
