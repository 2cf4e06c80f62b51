"""Forward analysis: nodes that may run after an irreversible side effect, such as a print."""

from __future__ import annotations

from autoconv.graph.graph import Graph, Node, is_recursive
from autoconv.ops.python.reversibility import is_irreversible


def late_nodes(graph: Graph) -> set[Node]:
    """Return the nodes that may run after an irreversible side effect, when no call can rerun."""
    nodes_after_effect: set[Node] = set()
    entered_bodies: set[tuple[Graph, bool]] = set()  # (body of a recursive function, whether it was entered late)

    def visit(region: Graph, is_late: bool) -> bool:
        """Add the late nodes of a region; return whether what follows it is late."""
        for node in region.nodes:
            is_inner_late = is_late
            runs_repeatedly = node.op.traits.repeats or is_recursive(node)
            inner_nodes = (inner for inner_region in node.regions for inner in inner_region.walk())
            if runs_repeatedly and any(map(is_irreversible, inner_nodes)):
                is_inner_late = True
            if is_recursive(node):
                entry_key = (node.regions[0], is_inner_late)
                is_late = is_inner_late
                if entry_key not in entered_bodies:
                    entered_bodies.add(entry_key)
                    visit(*entry_key)
                continue
            if is_inner_late and not node.regions:
                nodes_after_effect.add(node)
            is_late_after_region = [visit(inner_region, is_inner_late) for inner_region in node.regions]
            is_late = any(is_late_after_region) or is_late or is_irreversible(node)
        return is_late

    visit(graph, is_late=False)
    return nodes_after_effect
