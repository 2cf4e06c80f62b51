"""Keys of graphs: graphs with equal keys compute the same, and name the same lines of the program in errors.

    %a = add(%x, %y): float32[]        at line 3        equal key, whatever object the graph is
    %a = add(%x, %y): float32[]        at line 4        another key

Objects without value semantics, such as functions, are compared by identity. They have to outlive the key.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator

from autoconv.graph.graph import Graph, Node, Span, Value, has_recursion
from autoconv.optimise.common import attributes_key_of


def graph_key(graph: Graph) -> Hashable:
    """Return the key of a graph; None for a graph with recursive functions."""
    return None if has_recursion(graph) else _key(graph)


def _key(graph: Graph) -> Hashable:
    numbers = dict(zip(graph.parameters, itertools.count(), strict=False))
    nodes = [_node_key(node, numbers) for node in graph.nodes]
    parameters = tuple((value.name, value.type) for value in graph.parameters)
    return graph.name, parameters, tuple(nodes), tuple(numbers[value] for value in graph.outputs)


def _node_key(node: Node, numbers: dict[Value, int]) -> Hashable:
    """Return the key of a node, and give the next numbers to its results."""
    inputs = tuple(numbers[value] for value in node.inputs)
    for value in node.results:
        numbers[value] = len(numbers)
    types = tuple(value.type for value in node.results)
    spans, regions = tuple(_spans(node.span)), tuple(map(_key, node.regions))
    return node.op.name, node.name, node.device, inputs, attributes_key_of(node), types, spans, regions


def _spans(span: Span | None) -> Iterator[Hashable]:
    """Yield the span, and the spans of the calls around it, which the equality of spans leaves out."""
    while span is not None:
        yield span, span.has_plain_errors, span.is_observed
        span = span.caller
