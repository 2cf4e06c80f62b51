"""Graphs as text: printed, and parsed back to the same graph.

    graph halve(%x: float32[?], %n: weak int64[]) {
      %constant = constant(value=array(float32[], 0.5)): float32[]
      %while = while(%x, %n, %constant, state=1): float32[?] {
        graph test(%x: float32[?], %n: weak int64[], %half: float32[]) {
          …
        }
        …
      }
      return %while
    }

A node reads like a call: inputs, then attributes by name, then the types of its results (`()` for none).
The graph of a recursive call is written out once. After that, `again NAME` refers to it: to the innermost graph of that
name around the call, or else to the last one before the call.
`%split:1` is the second result of a node with several. ` on '/device:CPU:0'` is the requested device. Spans
follow as `@ file:line function`; `#` starts a comment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from autoconv.graph.attribute_text import quote, value_text
from autoconv.graph.graph import Graph, Node, Span, Value, is_recursive
from autoconv.graph.text_parser import GraphScope

AttributeSelection = Callable[[Node], Mapping[str, Any]]


def _own_attributes(node: Node) -> Mapping[str, Any]:
    return node.attributes


def to_text(graph: Graph, spans: bool = False, attributes: AttributeSelection = _own_attributes) -> str:
    """Return the text of `graph`, regions included, ending in a newline; `spans` adds source lines.

    `attributes(node)` returns the attributes to write, by default those of the node. Raises ValueError if different
    recursive functions of one name call each other.
    """
    return "\n".join(_graph_lines(graph, spans, attributes, GraphScope())) + "\n"


def _graph_lines(graph: Graph, spans: bool, attributes: AttributeSelection, scope: GraphScope) -> Iterator[str]:
    """Yield the lines of a graph; a call of an enclosing graph refers to it by name."""
    scope.begin(graph)
    parameters = ", ".join(f"{reference(value)}: {value.type}" for value in graph.parameters)
    yield f"graph {quote(graph.name)}({parameters}) {{"
    for node in graph.nodes:
        yield f"  {_node_text(node, spans, attributes(node))}{' {' if node.regions else ''}"
        for region in node.regions:
            if is_recursive(node) and scope.resolve(region.name) is region:
                yield f"    again {quote(region.name)}"
            elif region in scope.enclosing:
                raise ValueError(f"two graphs around the call %{node.name} are named {region.name!r}")
            else:
                yield from (f"    {line}" for line in _graph_lines(region, spans, attributes, scope))
        if node.regions:
            yield "  }"
    yield f"  return {', '.join(map(reference, graph.outputs))}".rstrip()
    yield "}"
    scope.end()


def _node_text(node: Node, spans: bool, attributes: Mapping[str, Any]) -> str:
    """Return the text of a node without its regions, such as `%y = add(%x, %x): int32`."""
    arguments = [reference(value) for value in node.inputs]
    arguments += [f"{name}={value_text(value)}" for name, value in attributes.items()]
    types = ", ".join(str(value.type) for value in node.results) or "()"
    device = f" on {quote(node.device)}" if node.device else ""
    span_suffix = f" @ {_span_text(node.span)}" if spans and node.span is not None else ""
    return f"%{quote(node.name)} = {quote(node.op.name)}({', '.join(arguments)}): {types}{device}{span_suffix}"


def reference(value: Value) -> str:
    """Return `%name`, or `%name:index` for one of several results."""
    has_several_results = value.node is not None and len(value.node.results) > 1
    return f"%{quote(value.name)}:{value.index}" if has_several_results else f"%{quote(value.name)}"


def _span_text(span: Span) -> str:
    text = f"{quote(span.file)}:{span.line}"
    if span.column or span.end_line or span.end_column:
        text += f":{span.column}-{span.end_line}:{span.end_column}"
    return f"{text} {quote(span.function)}" if span.function else text
