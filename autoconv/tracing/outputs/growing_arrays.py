"""Refusal of graphs with arrays that may exceed memory.

NumPy would raise MemoryError for such an array, but a graph may fuse or remove its computation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.ops.analysis.array_growth import MAX_UNREAD_BYTES, is_too_large, may_exceed_inputs
from autoconv.ops.analysis.reads import read_inputs
from autoconv.optimise.dead import unused_nodes
from autoconv.tracing.guards.trace_restrictions import RunPlain


def refuse_growing_arrays(graph: Graph) -> None:
    """Raise RunPlain for an array that is too large.

    An array that nothing reads is refused as well if it may be larger than the node's inputs, as a graph would not make
    it. Arrays of open size that are read are checked by the code for open sizes, see `size_limits`.
    """
    growing_nodes = []  # nodes whose results exceed memory for some sizes, or where little memory is free
    for node in graph.walk():
        if is_too_large(node):
            raise RunPlain(f"an array{_line_text(node)} may be larger than memory")
        if may_exceed_inputs(node) or is_too_large(node, MAX_UNREAD_BYTES):
            growing_nodes.append(node)
    values_read = read_values(graph) if growing_nodes else set()
    values_used = {value for node in graph.walk() for value in node.inputs} if growing_nodes else set()
    for node in growing_nodes:
        # A call of NumPy's function is not removed or fused if its result is used: it raises MemoryError itself.
        is_made_by_numpy = node.op.name == "numpy_call" and not values_used.isdisjoint(node.results)
        if values_read.isdisjoint(node.results) and not is_made_by_numpy:
            raise RunPlain(f"an array{_line_text(node)} that nothing reads may be larger than memory")


def read_values(graph: Graph, inputs: Callable[[Node], Sequence[Value]] = read_inputs) -> set[Value]:
    """Return the values whose elements the program may use.

    The analysis goes backward from the outputs, and conservatively counts all outputs of regions as used. `inputs`
    returns the inputs whose elements a node reads.
    """
    unused = set(unused_nodes(graph, "compile"))
    used_nodes = [node for node in graph.walk() if node not in unused]
    result = {*graph.outputs, *(value for node in used_nodes for region in node.regions for value in region.outputs)}
    for node in reversed(used_nodes):
        has_effect = node.effects.must_run or bool(node.effects & Effects.RAISE)
        if (has_effect and not node.op.traits.allocates) or not result.isdisjoint(node.results):
            result.update(node.inputs if node.regions else inputs(node))
    return result


def _line_text(node: Node) -> str:
    """Return " in line N" for a node with a span, else ""."""
    return "" if node.span is None else f" in line {node.span.line}"
