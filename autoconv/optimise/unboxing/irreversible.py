"""Forward analysis: nodes that may run after an irreversible side effect, such as a print."""

from __future__ import annotations

from autoconv.graph.graph import Graph, Node, is_recursive
from autoconv.ops.python.reversibility import is_irreversible


def late_nodes(graph: Graph) -> set[Node]:
    """Return the nodes that may run after an irreversible side effect: there a call cannot rerun as plain Python."""
    result: set[Node] = set()
    entered: set[tuple[Graph, bool]] = set()  # bodies of recursive functions

    def visit(region: Graph, late: bool) -> bool:
        for node in region.nodes:
            inner = late
            again = node.op.traits.repeats or is_recursive(node)
            if again and any(is_irreversible(one) for part in node.regions for one in part.walk()):
                inner = True
            if is_recursive(node):
                entry_key = (node.regions[0], inner)
                late = inner
                if entry_key not in entered:
                    entered.add(entry_key)
                    visit(*entry_key)
                continue
            if inner and not node.regions:
                result.add(node)
            after = [visit(part, inner) for part in node.regions]
            late = any(after) or late or is_irreversible(node)
        return late

    visit(graph, False)
    return result


__all__ = ["late_nodes"]
