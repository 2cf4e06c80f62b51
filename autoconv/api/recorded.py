"""What a tape recorded of a graph that is being traced, and what its sources are there."""

from __future__ import annotations

from typing import Any

from autoconv.graph.graph import Graph, Node, Value
from autoconv.runtime.recording import Region
from autoconv.runtime.tensor import SymbolicTensor
from autoconv.runtime.variable import Variable


class Window:
    """The nodes that were recorded while it was open.

    Of the graph that it was opened in these are the nodes between; of graphs around that none, and of those that came
    later all.
    """

    def __init__(self) -> None:
        self._parts: dict[Graph, list[tuple[Node | None, Node | None, bool]]] = {}
        self._around: set[Graph] = set()
        self._left_out: set[Node] = set()
        self._gaps: dict[Graph, Node | None] = {}

    def open(self, region: Region | None) -> None:
        if region is None:
            return
        if region.graph in self._gaps:
            self._left_out.update(_after(region.graph.nodes, self._gaps.pop(region.graph)))
        elif region.graph not in self._parts:
            self._parts[region.graph] = [(_last(region), None, True)]
            outer = region.parent
            while outer is not None:
                self._around.add(outer.graph)
                outer = outer.parent

    def close(self, region: Region | None) -> None:
        if region is not None:
            self._gaps[region.graph] = _last(region)

    def within(self, graph: Graph) -> list[Node] | None:
        """The nodes of the graph that count, None for all of them."""
        if graph in self._around and graph not in self._parts:
            return []
        nodes = graph.nodes[:]
        if graph in self._parts:
            nodes = _after(nodes, self._parts[graph][0][0])
        if graph in self._gaps:
            after = set(_after(graph.nodes, self._gaps[graph]))
            nodes = [node for node in nodes if node not in after]
        return [node for node in nodes if node not in self._left_out] if self._left_out else nodes


def symbolic_source(region: Region, source: Any) -> Value | None:
    """The value that a tensor or variable is in the graph being traced; None for one that it does not use."""
    if isinstance(source, SymbolicTensor):
        return source.value_in_graph
    held = source.storage if isinstance(source, Variable) else source
    own = getattr(held, "value_in_root", None)
    if own is not None:
        return own  # type: ignore[no-any-return]
    captured = region.trace.captures.get(id(held))
    return None if captured is None else captured[1]


def _last(region: Region) -> Node | None:
    return region.graph.nodes[-1] if region.graph.nodes else None


def _after(nodes: list[Node], marker: Node | None) -> list[Node]:
    return nodes[:] if marker is None or marker not in nodes else nodes[nodes.index(marker) + 1 :]
