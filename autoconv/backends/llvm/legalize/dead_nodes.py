"""Remove nodes whose results nothing reads, in place, from a copy that a legalisation has made."""

from __future__ import annotations

from autoconv.backends.llvm.analysis.symbolic_sizes import computed_sizes, defined_sizes
from autoconv.graph.dimensions import ComputedSize
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node
from autoconv.ops.analysis.computed_sizes import has_computed_sizes


def remove_dead_nodes(graph: Graph) -> None:
    """Remove dead nodes of one graph, without its regions: loops would have to store their results."""
    read = set(graph.outputs)
    needed: set[ComputedSize] = set()
    nodes: list[Node] = []
    for node in reversed(graph.nodes):
        lasting = node.effects is not Effects.PURE or node.regions or has_computed_sizes(node)
        if lasting or not read.isdisjoint(node.results) or not needed.isdisjoint(defined_sizes(node)):
            nodes.append(node)
            read.update(node.inputs)
            needed.update(computed_sizes(node))
    graph.nodes = nodes[::-1]
