"""What an arm knows of an object of the graph because `isinstance` decided that the arm runs."""

from __future__ import annotations

from typing import Any

from autoconv.graph.graph import Value
from autoconv.runtime.recording import Region


def note_class(region: Region, test: Any, holds: bool) -> None:
    """What the arm that the region is knows, where `isinstance` decided that it runs."""
    node = getattr(test.value_in_graph, "node", None)
    while node is not None and node.op.name == "logical_not":
        node, holds = node.inputs[0].node, not holds
    if node is not None and node.op.name == "object_isinstance":
        region.known_classes.append((origin(node.inputs[0], region), node.attributes["kinds"], holds))


def origin(value: Value, region: Region) -> Value:
    """The value outside of all regions into which it was captured."""
    around: Region | None = region
    while around is not None and around.parent is not None:
        if value.graph is around.graph:
            outside = (outer for outer, inner in around.captures.items() if inner is value)
            value = next((outer for outer in outside if outer.graph is around.parent.graph), value)
        around = around.parent
    return value


__all__ = ["note_class", "origin"]
