"""Loop-invariant code motion.

    before   graph f(%n: int32[], %x: float32[]) {
               %zero = constant(value=array(int32[], 0)): int32[]
               %while = while(%zero, %x, %n, state=2): int32[], float32[] {
                 graph test(%i: int32[], %x: float32[], %n: int32[]) {
                   %less = less(%i, %n): bool[]
                   return %less
                 }
                 graph body(%i: int32[], %x: float32[], %n: int32[]) {
                   %add = add(%i, %n): int32[]
                   %square = square(%n): int32[]
                   %add_1 = add(%add, %square): int32[]
                   return %add_1, %x
                 }
               }
               return %while:1
             }
    after    graph f(%n: int32[], %x: float32[]) {
               %zero = constant(value=array(int32[], 0)): int32[]
               %square = square(%n): int32[]
               %while = while(%zero, %x, %n, %square, state=2): int32[], float32[] {
                 graph test(%i: int32[], %x: float32[], %n: int32[], %square: int32[]) {
                   %less = less(%i, %n): bool[]
                   return %less
                 }
                 graph body(%i: int32[], %x: float32[], %n: int32[], %square: int32[]) {
                   %add = add(%i, %n): int32[]
                   %add_1 = add(%add, %square): int32[]
                   return %add_1, %x
                 }
               }
               return %while:1
             }
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, append_copy, copy_node, has_recursion
from autoconv.graph.region_flow import state_size
from autoconv.graph.rewrite import begin_copy
from autoconv.graph.rewriter import Rewriter
from autoconv.graph.types import TensorType
from autoconv.ops.analysis.reads import reads_only_shapes
from autoconv.ops.rules import element_count

# Ops that cost nothing in a loop, as views and generated elements: backends do not materialise their results.
_FREE_OPS = frozenset({"constant", "absent", "broadcast_to"})


class _HoistedValue(NamedTuple):
    """A result of a node that has moved out of a region of a loop: the value in the region, and in the outer graph."""

    region: Graph
    value: Value
    outer_value: Value


def hoist_invariants(graph: Graph, contract: str = "function") -> Graph:
    """Move loop-invariant nodes before the loop, out of several loops where possible.

    Nodes that may raise or have other effects stay, so that a loop without an iteration has the same results.
    """
    if has_recursion(graph):  # bodies of recursive functions are shared between calls
        return graph
    return _Hoister(graph, shared=None).run() if any(node.op.traits.repeats for node in graph.walk()) else graph


class _Hoister(Rewriter[None]):
    """The pass over one graph or region; loops are rewritten from the inside out."""

    def rewrite_node(self, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        if not node.op.traits.repeats:
            return None
        inputs, regions = _without_invariants(self.copy, inputs, self.rewritten_regions(node, inputs), state_size(node))
        return copy_node(self.copy, node, inputs, regions).results


def _without_invariants(
    outer: Graph, inputs: list[Value], regions: Sequence[Graph], state_count: int
) -> tuple[list[Value], list[Graph]]:
    """Move the invariant nodes of a loop to `outer`, and return the loop's new inputs and regions."""
    hoisted_values: list[_HoistedValue] = []
    hoisted_nodes: set[Node] = set()
    for region in regions:
        captures = zip(region.parameters[state_count:], inputs[state_count:], strict=True)
        available = _AvailableValues(outer, dict(captures))
        for node in region.nodes:
            if not available.can_hoist(node):
                continue
            traits = node.op.traits
            is_free = traits.view or traits.generates or reads_only_shapes(node) or node.op.name in _FREE_OPS
            if is_free:
                available.free_values.update(node.results)
            elif node.inputs and (not traits.elementwise or _is_result_no_larger(node)):
                hoisted_nodes.add(node)
                hoisted_values += [_HoistedValue(region, *pair) for pair in available.hoist(node)]
    if not hoisted_values:
        return inputs, list(regions)
    remaining_nodes = (node for region in regions for node in region.nodes if node not in hoisted_nodes)
    used_values = {value for node in remaining_nodes for value in node.inputs}
    used_values.update(value for region in regions for value in region.outputs)
    new_captures = [hoisted for hoisted in hoisted_values if hoisted.value in used_values]
    new_regions = [_rebuild(region, hoisted_nodes, new_captures) for region in regions]
    return [*inputs, *(hoisted.outer_value for hoisted in new_captures)], new_regions


class _AvailableValues:
    """The values of a loop's region that are available in `outer`, the graph that contains the loop.

    `available` maps values of the region, captures at first, to those of `outer`. `free_values` can be available: they
    cost nothing in the loop, so that their nodes are copied to `outer` only where a hoisted node reads them.
    """

    def __init__(self, outer: Graph, available: dict[Value, Value]) -> None:
        self._outer = outer
        self._available = available
        self.free_values: set[Value] = set()

    def can_hoist(self, node: Node) -> bool:
        """Return whether a node is pure, and its operands are available before the loop."""
        if node.effects is not Effects.PURE or node.regions or not node.results:
            return False
        if not all(isinstance(value.type, TensorType) for value in (*node.inputs, *node.results)):
            return False
        return all(value in self._available or value in self.free_values for value in node.inputs)

    def hoist(self, node: Node) -> list[tuple[Value, Value]]:
        """Copy the node to `outer`; return pairs of a result in the region and the same result in `outer`."""
        node_copy = copy_node(self._outer, node, [self._hoisted_value(value) for value in node.inputs])
        pairs = list(zip(node.results, node_copy.results, strict=True))
        self._available.update(pairs)
        return pairs

    def _hoisted_value(self, value: Value) -> Value:
        """Return the value in `outer`, to which the node of a free value is copied first."""
        if value not in self._available:
            assert value.node is not None
            self.hoist(value.node)
        return self._available[value]


def _is_result_no_larger(node: Node) -> bool:
    """Return whether the result is known to be no larger than the largest operand.

    The elements of a larger result are cheaper to recompute in the loop than to read from memory.
    """
    result_size, *operand_sizes = [element_count(value.shape) for value in (*node.results, *node.inputs)]
    static_sizes = [size for size in operand_sizes if size is not None]
    return result_size is not None and len(static_sizes) == len(operand_sizes) and result_size <= max(static_sizes)


def _rebuild(region: Graph, hoisted_nodes: set[Node], new_captures: Sequence[_HoistedValue]) -> Graph:
    """Return a copy of a loop's region without the hoisted nodes, and with a parameter for each new capture.

    All regions of the loop get the parameters of all new captures.
    """
    copy, values = begin_copy(region)
    for hoisted in new_captures:
        parameter = copy.add_parameter(hoisted.value.type, hoisted.value.name)
        if hoisted.region is region:
            values[hoisted.value] = parameter
    for node in region.nodes:
        if node not in hoisted_nodes:
            append_copy(copy, node, values)
    copy.outputs = [values[value] for value in region.outputs]
    return copy
