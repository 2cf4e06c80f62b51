"""The nodes that a tape has recorded in a graph being traced, and its sources in that graph."""

from __future__ import annotations

from autoconv.graph.graph import Graph, Node, Value
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording.regions import Region
from autoconv.runtime.tensors.symbolic import SymbolicTensor


class RecordedInterval:
    """The nodes recorded while it was open.

    In the graph where it was opened, these are the nodes between opening and closing; in surrounding graphs none, and
    in graphs created later all.
    """

    def __init__(self) -> None:
        self._parts: dict[Graph, Node | None] = {}
        self._around: set[Graph] = set()
        self._left_out: set[Node] = set()
        self._gaps: dict[Graph, Node | None] = {}

    def open(self, region: Region | None) -> None:
        if region is None:
            return
        if region.graph in self._gaps:
            self._left_out.update(_nodes_after(region.graph, self._gaps.pop(region.graph)))
        elif region.graph not in self._parts:
            self._parts[region.graph] = region.graph.mark()
            outer = region.parent
            while outer is not None:
                self._around.add(outer.graph)
                outer = outer.parent

    def close(self, region: Region | None) -> None:
        if region is not None:
            self._gaps[region.graph] = region.graph.mark()

    def within(self, graph: Graph) -> list[Node] | None:
        """Return the nodes of the graph that belong to it, None for all of them."""
        if graph in self._around and graph not in self._parts:
            return []
        nodes = graph.nodes[:]
        if graph in self._parts:
            nodes = _nodes_after(graph, self._parts[graph])
        if graph in self._gaps:
            after = set(_nodes_after(graph, self._gaps[graph]))
            nodes = [node for node in nodes if node not in after]
        return [node for node in nodes if node not in self._left_out] if self._left_out else nodes


def symbolic_source(region: Region, source: TensorLike) -> Value | None:
    """Return the value of a tensor or variable in the graph being traced; None if the graph does not use it."""
    if isinstance(source, SymbolicTensor):
        return source.value_in_graph
    storage = source.storage if isinstance(source, Variable) else source
    own = getattr(storage, "value_in_root", None)
    if own is not None:
        return own  # type: ignore[no-any-return]
    captured = region.trace.captures.get(id(storage))
    return None if captured is None else captured[1]


def _nodes_after(graph: Graph, mark: Node | None) -> list[Node]:
    """Return the nodes after a mark; all of them if the mark's node has been undone since."""
    return graph.since(mark) if mark is None or mark in graph.nodes else graph.nodes[:]
