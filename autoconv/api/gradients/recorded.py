"""The nodes that a tape has recorded in a graph being traced, and its sources in that graph."""

from __future__ import annotations

from autoconv.graph.graph import Graph, Node, Value
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording.regions import Region
from autoconv.runtime.tensors.symbolic import SymbolicTensor


class RecordedInterval:
    """The nodes recorded while the interval was open.

    In the graph where it was opened, these are the nodes between opening and closing; in enclosing graphs there are
    none, and in graphs created later these are all nodes. An interval may be opened again; the nodes that were
    recorded while it was closed do not belong to it.
    """

    def __init__(self) -> None:
        # A mark is the last node of the graph at that time, None for an empty graph: see `Graph.mark`.
        self._start_marks: dict[Graph, Node | None] = {}
        self._close_marks: dict[Graph, Node | None] = {}
        self._enclosing_graphs: set[Graph] = set()
        self._excluded_nodes: set[Node] = set()  # recorded while the interval was closed

    def open(self, region: Region | None) -> None:
        """Begin the interval, or begin it again, in the graph being traced."""
        if region is None:
            return
        if region.graph in self._close_marks:
            self._excluded_nodes.update(_nodes_after(region.graph, self._close_marks.pop(region.graph)))
        elif region.graph not in self._start_marks:
            self._start_marks[region.graph] = region.graph.mark()
            outer_region = region.parent
            while outer_region is not None:
                self._enclosing_graphs.add(outer_region.graph)
                outer_region = outer_region.parent

    def close(self, region: Region | None) -> None:
        """End the interval in the graph being traced."""
        if region is not None:
            self._close_marks[region.graph] = region.graph.mark()

    def nodes_in(self, graph: Graph) -> list[Node]:
        """Return the nodes of the graph that belong to the interval."""
        if graph in self._enclosing_graphs and graph not in self._start_marks:
            return []
        nodes = graph.nodes[:]
        if graph in self._start_marks:
            nodes = _nodes_after(graph, self._start_marks[graph])
        if graph in self._close_marks:
            later_nodes = set(_nodes_after(graph, self._close_marks[graph]))
            nodes = [node for node in nodes if node not in later_nodes]
        return [node for node in nodes if node not in self._excluded_nodes] if self._excluded_nodes else nodes


def find_source_value(region: Region, source: TensorLike) -> Value | None:
    """Return the value of a tensor or variable in the graph being traced; None if the graph does not use it."""
    if isinstance(source, SymbolicTensor):
        return source.value_in_graph
    storage = source.storage if isinstance(source, Variable) else source
    root_value = getattr(storage, "value_in_root", None)
    if root_value is not None:
        return root_value  # type: ignore[no-any-return]
    captured = region.trace.captures.get(id(storage))
    if captured is None:
        return None
    _, parameter = captured
    return parameter


def _nodes_after(graph: Graph, mark: Node | None) -> list[Node]:
    """Return the nodes after a mark; all of them if the mark's node has been undone since."""
    return graph.nodes_since(mark) if mark is None or mark in graph.nodes else graph.nodes[:]
