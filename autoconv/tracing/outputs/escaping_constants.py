"""Escape analysis of constants: containers from outside that a graph returns, stores, raises or compares by identity.

A container among the constants is guarded by its contents. If it escapes, its identity matters as well: another list
with equal items, bound to the same name later, would be another result. Such a container has to be an input instead.

The analysis goes forward from the constants. It is conservative: operands of an operation escape unless it is known to
read them only. An item that is read from a constant counts as a container if the constant holds any.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import flow_edges
from autoconv.graph.types import ObjectType
from autoconv.ops.python.undo_log import reads_only
from autoconv.tracing.guards.changed_constants import containers_in

# Functions of `object_apply` whose operands do not escape; their results may hold items of the operands.
_NON_ESCAPING_FUNCTIONS = frozenset(
    {
        "add", "all", "any", "ascii", "bool", "contains", "dict", "enumerate", "eq", "format", "frozenset", "ge",
        "getitem", "gt", "hasattr", "iadd", "ior", "iter", "last", "le", "len", "list", "lt", "mapping", "mul", "ne",
        "or", "repr", "reversed", "set", "slice", "sorted", "str", "sum", "tuple", "type", "zip",
    }
)  # fmt: skip
# Methods that only read the items of their arguments.
_METHODS_READING_ARGUMENTS = frozenset(
    {"extend", "extendleft", "join", "update", "union", "intersection", "difference"}
)


def find_escaping_containers(graph: Graph) -> list[Any]:
    """Return the containers in the graph's constants, and in the exceptions that it raises, that may escape."""
    raise_nodes = [node for node in graph.walk() if node.op.name == "raise"]
    raised_containers = [container for node in raise_nodes for container in containers_in(_exception_contents(node))]
    constants = {
        node.results[0]: containers
        for node in graph.walk()
        if node.op.name == "object_constant" and (containers := list(containers_in(node.attributes["value"])))
    }
    if not constants:
        return raised_containers
    uses, outputs = _collect_uses(graph), set(graph.outputs)
    escaping = [
        value for value, containers in constants.items()
        if _escapes(value, len(containers) > 1, uses, outputs)  # the constant itself is one of its containers
    ]
    return [*raised_containers, *(container for value in escaping for container in constants[value])]


def find_escaping_values(graph: Graph, values: Collection[Value]) -> list[Value]:
    """Return those of `values`, containers that the graph creates, that may escape."""
    if not values:
        return []
    uses, outputs = _collect_uses(graph), set(graph.outputs)
    return [value for value in values if _escapes(value, holds_containers=True, uses=uses, outputs=outputs)]


def _exception_contents(node: Node) -> tuple[Any, ...]:
    """Return the constant arguments and attributes of the exception of a `raise` node."""
    error = node.attributes["exception"]
    return node.attributes["template"], getattr(error, "args", ()), dict(getattr(error, "__dict__", ()))


def _collect_uses(graph: Graph) -> dict[Value, list[tuple[Node, Value | int]]]:
    """Return the uses of each value, as pairs of a node and the use.

    The use is the position among the node's operands, or, for a node with regions, the value that the operand becomes.
    """
    uses_by_value: dict[Value, list[tuple[Node, Value | int]]] = {}
    for node in graph.walk():
        for position, value in enumerate(() if node.regions else node.inputs):
            uses_by_value.setdefault(value, []).append((node, position))
        for source, target in flow_edges(node):
            if source is not None:
                uses_by_value.setdefault(source, []).append((node, target))
    return uses_by_value


def _escapes(
    value: Value, holds_containers: bool, uses: dict[Value, list[tuple[Node, Value | int]]], outputs: set[Value]
) -> bool:
    """Return whether the value may flow into one of the outputs, or into an operation that may store or return it.

    If `holds_containers` is true, items of the value may be containers, so operations that return items are followed.
    """
    pending, visited = [value], {value}
    while pending:
        value = pending.pop()
        if value in outputs:
            return True
        for node, use in uses.get(value, ()):
            if isinstance(use, int) and not _only_reads(node, use):
                return True
            targets = [use] if isinstance(use, Value) else _forwarded_results(node, holds_containers)
            new_targets = [target for target in targets if target not in visited]
            visited.update(new_targets)
            pending += new_targets
    return False


def _only_reads(node: Node, position: int) -> bool:
    """Return whether the node only reads the operand at that position."""
    if node.op.name == "object_apply":
        return node.attributes["function"] in _NON_ESCAPING_FUNCTIONS
    if node.op.name == "object_method":
        name = node.attributes["name"]
        return reads_only(name) if position == 0 else name in _METHODS_READING_ARGUMENTS
    if node.op.name in ("object_set_attribute", "object_delete_attribute") and position == 0:
        return True  # the object whose attribute is written
    traits = node.op.traits
    writes = not node.results and not traits.prints
    return not (writes or traits.allocates or traits.irreversible)


def _forwarded_results(node: Node, holds_containers: bool) -> list[Value]:
    """Return the results that may be the node's operand itself, or a container in it."""
    is_forwarded = holds_containers or node.op.name in ("identity", "object_check_assigned")
    return [result for result in node.results if is_forwarded and isinstance(result.type, ObjectType)]
