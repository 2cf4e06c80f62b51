"""Escape analysis of arrays: which ones the program sees after a run."""

from __future__ import annotations

from autoconv.graph.graph import Graph, Value
from autoconv.graph.types import TensorType


def escaping_arrays(graph: Graph) -> set[Value]:
    """Return the arrays visible to the program: outputs, parts of objects, and operands of views that are."""
    result = {value for value in graph.outputs if _is_array(value)}
    for node in reversed(graph.nodes):
        if node.op.traits.view:
            shared = node.inputs[:1] if not result.isdisjoint(node.results) else ()
        else:
            shared = node.inputs if node.regions or node.op.name.startswith("object_") else ()
        result.update(filter(_is_array, shared))
    return result


def _is_array(value: Value) -> bool:
    return isinstance(value.type, TensorType) and not value.weak and value.shape != ()


__all__ = ["escaping_arrays"]
