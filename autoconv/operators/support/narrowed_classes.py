"""Classes of graph objects that an arm may assume because an `isinstance` test selects it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.graph.graph import Node, Value
from autoconv.graph.types import ObjectType
from autoconv.runtime.recording.regions import Region


def record_implied_class(region: Region, test: Any, is_instance: bool) -> None:
    """Register in an arm's region what the `isinstance` test that selects it implies."""
    node = getattr(test.value_in_graph, "node", None)
    while node is not None and node.op.name == "logical_not":
        node, is_instance = node.inputs[0].node, not is_instance
    if node is not None and node.op.name == "object_isinstance":
        region.known_classes.append((origin(node.inputs[0], region), node.attributes["kinds"], is_instance))


def install_class_lookup(lookup: Callable[[Value, Region], Sequence[type]]) -> None:
    """Install `lookup(value, region)`, which returns the user-defined classes that an arm's result may have."""
    global _find_possible_classes
    _find_possible_classes = lookup


_find_possible_classes: Callable[[Value, Region], Sequence[type]] = lambda value, region: ()


def record_result_classes(node: Node, arms: Sequence[Region]) -> None:
    """Register the possible classes of the results of a `cond` node; more is known about them inside of its arms."""
    trace = arms[0].trace
    if not trace.created_classes:
        return
    for position, result in enumerate(node.results):
        if isinstance(result.type, ObjectType):
            kinds = [kind for arm in arms for kind in _find_possible_classes(arm.graph.outputs[position], arm)]
            trace.classes_of_results[result] = frozenset(trace.created_classes), frozenset(kinds)


def origin(value: Value, region: Region) -> Value:
    """Return the value of the outermost region that a value captures; the value itself if it captures none."""
    enclosing_region: Region | None = region
    while enclosing_region is not None and enclosing_region.parent is not None:
        if value.graph is enclosing_region.graph:
            outer_values = (outer for outer, inner in enclosing_region.captures.items() if inner is value)
            value = next((outer for outer in outer_values if outer.graph is enclosing_region.parent.graph), value)
        enclosing_region = enclosing_region.parent
    return value
