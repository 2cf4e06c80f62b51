"""Rewrite a graph by rebuilding it node by node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from autoconv.graph.graph import Graph, Node, Value, compute_effects, copy_node, copy_regions
from autoconv.graph.types import Type

Shared = TypeVar("Shared")


class Rewriter(Generic[Shared]):
    """A pass over one graph that builds a copy; each region has its own rewriter.

    Subclasses override `rewrite_node`, which returns the replacements of a node's results, or None to copy the node.
    `shared` is the state that the rewriters of a graph and its regions share; `values` maps values of `graph` to values
    of `copy`. Passes without state of their own for each graph use `clone` with a function instead.
    """

    def __init__(self, graph: Graph, shared: Shared, copies: dict[Graph, Graph] | None = None) -> None:
        self.graph = graph
        self.shared = shared
        # The copies of graphs by original, so that recursive calls share the copy of a region that they share.
        self.copies = {} if copies is None else copies
        self.copy = self.copies[graph] = Graph(graph.name)
        self.values = {value: self.copy.add_parameter(self.type_of(value), value.name) for value in graph.parameters}

    def rewrite_node(self, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        """Return values in place of the results of a node, after adding nodes to `copy`; None to copy the node."""
        return None

    def type_of(self, value: Value) -> Type:
        """Return the type of a parameter in the copy."""
        return value.type

    def rewritten_output(self, position: int, value: Value) -> Value:
        """Return an output of the copy."""
        return self.values[value]

    def region_rewriter(self, node: Node, inputs: Sequence[Value], region: Graph) -> Rewriter[Shared]:
        """Return the rewriter of a region of a node."""
        return type(self)(region, self.shared, self.copies)

    def run(self) -> Graph:
        """Return the rewritten graph."""
        copy = self.rebuild()
        compute_effects(copy)
        return copy

    def rebuild(self) -> Graph:
        """Build and return the copy, without computing effects."""
        self.append_rewritten(self.graph.nodes)
        self.copy.outputs = [self.rewritten_output(i, value) for i, value in enumerate(self.graph.outputs)]
        return self.copy

    def append_rewritten(self, nodes: Iterable[Node]) -> None:
        """Append the rewritten nodes to the copy."""
        for node in nodes:
            inputs = [self.values[value] for value in node.inputs]
            outer_device, self.copy.device = self.copy.device, node.device or self.copy.device
            results = self.rewrite_node(node, inputs)
            if results is None:
                results = copy_node(self.copy, node, inputs, self.rewritten_regions(node, inputs)).results
            self.copy.device = outer_device
            self.values.update(zip(node.results, results, strict=True))

    def rewritten_regions(self, node: Node, inputs: Sequence[Value]) -> list[Graph]:
        """Return the regions of a node, rewritten."""
        return copy_regions(node, self.copies, lambda region: self.region_rewriter(node, inputs, region).rebuild())
