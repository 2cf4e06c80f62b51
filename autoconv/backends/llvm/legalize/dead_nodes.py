"""Remove nodes whose results nothing reads, in place, from a copy that a legalisation has made."""

from __future__ import annotations

from collections.abc import Callable

from autoconv.backends.llvm.analysis.symbolic_sizes import computed_sizes, defined_sizes
from autoconv.graph.dimensions import ComputedSize
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, is_recursive
from autoconv.ops.analysis.requested_sizes import may_fail_for_sizes


def remove_dead_nodes(graph: Graph) -> None:
    """Remove the dead nodes of one graph, whose results loops would otherwise store.

    Nodes with regions stay as they are.
    """
    graph.nodes = _live_nodes(graph, lambda node: bool(node.regions))


def remove_all_dead_nodes(graph: Graph) -> None:
    """Remove dead nodes, regions included; also nodes with regions that have no effects and no readers."""
    graph.nodes = _live_nodes(graph, lambda _: False)
    for node in graph.nodes:
        for region in node.regions if not is_recursive(node) else ():
            remove_all_dead_nodes(region)


def _live_nodes(graph: Graph, must_keep: Callable[[Node], bool]) -> list[Node]:
    """Return the nodes that change state, may raise, define sizes that are needed, or are read."""
    read_values = set(graph.outputs)
    needed_sizes: set[ComputedSize] = set()
    nodes: list[Node] = []
    for node in reversed(graph.nodes):
        is_required = node.effects not in (Effects.PURE, Effects.READ) or must_keep(node)
        is_required |= may_fail_for_sizes(node.op, node.inputs, node.attributes)
        if is_required or not read_values.isdisjoint(node.results) or not needed_sizes.isdisjoint(defined_sizes(node)):
            nodes.append(node)
            read_values.update(node.inputs)
            needed_sizes.update(computed_sizes(node))
    return nodes[::-1]
