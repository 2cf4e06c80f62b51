"""Inlining: a called graph's nodes replace the call.

    before   graph f(%x: float32[]) {
               %call = call(%x): float32[] {
                 graph g(%y: float32[]) {
                   %sin = sin(%y): float32[]
                   return %sin
                 }
               }
               return %call
             }
    after    graph f(%x: float32[]) {
               %sin = sin(%x): float32[]
               return %sin
             }
"""

from __future__ import annotations

from dataclasses import replace

from autoconv.graph.graph import (
    Graph,
    Node,
    Span,
    Value,
    clone,
    copy_node,
    copy_regions,
    has_recursion,
    is_recursive,
)
from autoconv.graph.rewrite import can_inline

MAX_NODES = 2000  # of a called graph; calls of larger graphs are not inlined


def inline_calls(graph: Graph, contract: str = "function") -> Graph:
    """Inline all calls, in regions too; graphs with recursive functions stay unchanged.

    Nodes keep their spans, with the span of the call as their caller.
    """
    if has_recursion(graph) or not any(node.op.name == "call" for node in graph.walk()):
        return graph
    return clone(graph, lambda copy, node, inputs: _inline(copy, node, inputs, caller=None))


def _inline(copy: Graph, node: Node, inputs: list[Value], caller: Span | None) -> list[Value] | None:
    """Inline a call into `copy` and return its results; return None for other nodes, and calls that stay.

    `inputs` are the node's operands in `copy`; `caller` is the span of the inlined call that contains the node.
    """
    if node.op.name != "call" or is_recursive(node) or not _may_inline(node, inputs):
        return None
    callee, span = node.regions[0], _append_caller(node.span, caller)
    values = dict(zip(callee.parameters, inputs, strict=True))
    for inner_node in callee.nodes:
        operands = [values[value] for value in inner_node.inputs]
        results = _inline(copy, inner_node, operands, span)
        if results is None:
            regions = copy_regions(inner_node, {}, lambda region: _inline_region(region, span))
            node_copy = copy_node(copy, inner_node, operands, regions)
            node_copy.span = _append_caller(inner_node.span, span)
            results = list(node_copy.results)
        values.update(zip(inner_node.results, results, strict=True))
    return [values[value] for value in callee.outputs]


def _inline_region(region: Graph, caller: Span | None) -> Graph:
    """Inline the calls in a region of a call's graph; `caller` is the span of that call."""
    # Without a caller: the spans of all nodes, inlined ones too, get `caller` below.
    result = clone(region, lambda copy, node, inputs: _inline(copy, node, inputs, caller=None))
    for node in result.walk():
        node.span = _append_caller(node.span, caller)
    return result


def _may_inline(node: Node, inputs: list[Value]) -> bool:
    """Return whether the graph of a call is small enough, and its types fit those of the call."""
    callee = node.regions[0]
    return len(callee.nodes) <= MAX_NODES and can_inline(callee, inputs, node.results)


def _append_caller(span: Span | None, caller: Span | None) -> Span | None:
    """Return the span with `caller` at the end of its chain of callers; if one of them is None, the other."""
    if span is None or caller is None:
        return span or caller
    return replace(span, caller=_append_caller(span.caller, caller))
