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

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, append_copy, copy_node, has_recursion
from autoconv.graph.region_flow import state_size
from autoconv.graph.rewrite import begin_copy
from autoconv.graph.rewriter import Rewriter
from autoconv.graph.types import TensorType
from autoconv.ops.analysis.reads import reads_only_shapes
from autoconv.ops.rules import element_count

# Ops that cost nothing in a loop, as do views and generated elements: backends do not materialise their results.
_FREE_OPS = frozenset({"constant", "absent", "broadcast_to"})


def hoist_invariants(graph: Graph, contract: str = "function") -> Graph:
    """Move loop-invariant nodes before the loop, out of several loops where possible.

    Only nodes without side effects move: for a loop without an iteration the move costs their computation, nothing
    more. Nodes that may raise stay.
    """
    if has_recursion(graph):  # bodies of recursive functions are shared between calls
        return graph
    return _Hoister(graph, shared=None).run() if any(node.op.traits.repeats for node in graph.walk()) else graph


class _Hoister(Rewriter[None]):
    """The pass over one graph or region; loops are rewritten from the inside out."""

    def rewrite_node(self, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        if not node.op.traits.repeats:
            return None
        inputs, regions = _hoist(self.copy, inputs, self.rewritten_regions(node, inputs), state_size(node))
        return copy_node(self.copy, node, inputs, regions).results


def _hoist(
    outer: Graph, inputs: list[Value], regions: Sequence[Graph], state_count: int
) -> tuple[list[Value], list[Graph]]:
    """Return the inputs and regions of a loop after moving its invariant nodes to `outer`."""
    hoisted_values: list[tuple[Graph, Value, Value]] = []  # (region, value in the region, value in `outer`)
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
            elif node.inputs and (not node.op.traits.elementwise or _is_result_no_larger(node)):
                hoisted_nodes.add(node)
                hoisted_values += [(region, value, hoisted_value) for value, hoisted_value in available.hoist(node)]
    if not hoisted_values:
        return inputs, list(regions)
    remaining_nodes = (node for region in regions for node in region.nodes if node not in hoisted_nodes)
    used_values = {value for node in remaining_nodes for value in node.inputs}
    used_values.update(value for region in regions for value in region.outputs)
    used_by_loop = [(region, value, copy) for region, value, copy in hoisted_values if value in used_values]
    new_regions = [_rebuild(region, hoisted_nodes, used_by_loop) for region in regions]
    return [*inputs, *(outer_value for _, _, outer_value in used_by_loop)], new_regions


class _AvailableValues:
    """The values of a loop region that are available before the loop: captures and hoisted nodes.

    `free_values` cost nothing in the loop; the nodes that compute them are copied to `outer`, the graph that contains
    the loop, only where a hoisted node needs them. `available` maps values of the region to those of `outer`.
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
        """Copy the node to the enclosing graph; return pairs of its results in the region and in that graph."""
        node_copy = copy_node(self._outer, node, [self._hoisted_value(value) for value in node.inputs])
        pairs = list(zip(node.results, node_copy.results, strict=True))
        self._available.update(pairs)
        return pairs

    def _hoisted_value(self, value: Value) -> Value:
        """Return the value in the outer graph, to which a free value's node is copied first."""
        if value not in self._available:
            assert value.node is not None
            self.hoist(value.node)
        return self._available[value]


def _is_result_no_larger(node: Node) -> bool:
    """Return whether the result is no larger than an operand; a larger one is cheaper to recompute than to read."""
    counts = [element_count(value.shape) for value in (*node.results, *node.inputs)]
    static_counts = [count for count in counts if count is not None]
    return len(static_counts) == len(counts) and static_counts[0] <= max(static_counts[1:])


def _rebuild(region: Graph, hoisted_nodes: set[Node], hoisted_values: Sequence[tuple[Graph, Value, Value]]) -> Graph:
    """Return a copy of a region without the hoisted nodes, and with a parameter for each hoisted value.

    `hoisted_values` holds (region, value in the region, value in the outer graph); all regions get all parameters.
    """
    copy, values = begin_copy(region)
    for owner, value, _ in hoisted_values:
        parameter = copy.add_parameter(value.type, value.name)
        if owner is region:
            values[value] = parameter
    for node in region.nodes:
        if node not in hoisted_nodes:
            append_copy(copy, node, values)
    copy.outputs = [values[value] for value in region.outputs]
    return copy
