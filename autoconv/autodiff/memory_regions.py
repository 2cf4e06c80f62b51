"""Regions of a graph under construction, in which arrays in memory become values: the contents of each array.

A region of a node captures the contents, and other values, of the region that encloses the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.autodiff.memory_views import ViewStep
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import ArrayType
from autoconv.lazy_dataclass import dataclass
from autoconv.ops import OPS
from autoconv.ops.builder import GraphBuilder


@dataclass(frozen=True, slots=True)
class Reference:
    """A view, made by `steps`, of one of the arrays `roots`.

    `root_index` is the index of this array at run time; None if there is only one.
    """

    roots: tuple[Value, ...]
    root_index: Value | None = None
    steps: tuple[ViewStep, ...] = ()


class ValueRegion:
    """A region under construction in place of a region of the original graph.

    `values` maps values of the original graph to values of the new one. `references` maps arrays of the original graph
    to references. `contents` maps arrays that are no views to values of the new graph: their current contents.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.b = GraphBuilder(graph)
        self.values: dict[Value, Value] = {}
        self.references: dict[Value, Reference] = {}
        self.contents: dict[Value, Value] = {}


class NodeRegions:
    """The regions of one node; an outer value that one region uses is captured by all of them."""

    def __init__(self, outer: ValueRegion) -> None:
        self._outer = outer
        self._regions: list[CapturingRegion] = []

    def add_region(self, name: str) -> CapturingRegion:
        """Add a region to the node."""
        self._regions.append(CapturingRegion(Graph(name), self._outer))
        return self._regions[-1]

    def bind(self, inner: CapturingRegion, parameter: Value, value: Value) -> None:
        """Bind a parameter of an original region to `value`, which the original node passes to it."""
        if isinstance(value.type, ArrayType):
            reference = self._outer.references[value]
            root_index = None if reference.root_index is None else inner.capture(reference.root_index)
            steps = tuple(
                step._replace(operands=tuple(map(inner.capture, step.operands))) for step in reference.steps
            )
            inner.references[parameter] = Reference(reference.roots, root_index, steps)
        else:
            inner.values[parameter] = inner.capture(self._outer.values[value])

    def record(self, leading_inputs: list[Value], node: Node, attributes: Any, types: Any = None) -> Node:
        """Add a node in place of `node` to the enclosing region, with the captures of its regions as further inputs."""
        all_captures = list(dict.fromkeys(outer for inner in self._regions for outer in inner.captures))
        for inner in self._regions:
            capture_parameters = inner.captures.values()
            other_parameters = [value for value in inner.graph.parameters if value not in capture_parameters]
            inner.graph.parameters = [*other_parameters, *map(inner.capture, all_captures)]
        inputs, graphs = [*leading_inputs, *all_captures], [inner.graph for inner in self._regions]
        return self._outer.graph.add_replacement(node, node.op, inputs, attributes, graphs, types)


class CapturingRegion(ValueRegion):
    """A region that captures contents of arrays, and other values, of the enclosing region at their first use."""

    def __init__(self, graph: Graph, outer: ValueRegion) -> None:
        super().__init__(graph)
        self._outer = outer
        self.captures: dict[Value, Value] = {}  # by outer value: the parameter for it
        self.contents = _CapturedContents(self, outer)

    def capture(self, value: Value) -> Value:
        """Return the parameter of the region for a value of the enclosing region."""
        result = self.captures.get(value)
        if result is None:
            result = self.captures[value] = self.graph.add_parameter(value.type, value.name)
        return result


class _CapturedContents(dict[Value, Value]):
    """Contents of arrays; those of arrays of the enclosing region are captured when they are first read."""

    def __init__(self, inner: CapturingRegion, outer: ValueRegion) -> None:
        super().__init__()
        self._inner = inner
        self._outer = outer

    def __missing__(self, root: Value) -> Value:
        result = self[root] = self._inner.capture(self._outer.contents[root])
        return result

    def __contains__(self, root: object) -> bool:
        return dict.__contains__(self, root) or root in self._outer.contents

    def __iter__(self) -> Any:
        yield from self._outer.contents
        yield from (root for root in dict.__iter__(self) if root not in self._outer.contents)


def select_arm(
    region: ValueRegion, index: Value, arms: Sequence[Sequence[Value]], values: Sequence[Value]
) -> list[Value]:
    """Add a `cond` on `index` whose arms return the values in `arms`; `values` contains the values of all arms."""
    captured_values = list(dict.fromkeys(values))
    graphs = []
    for position, arm in enumerate(arms):
        graph = Graph(f"array_{position}")
        parameter_by_value = {value: graph.add_parameter(value.type, value.name) for value in captured_values}
        graph.outputs = [parameter_by_value[value] for value in arm]
        graphs.append(graph)
    return list(region.graph.add(OPS["cond"], [index, *captured_values], {}, regions=graphs).results)
