"""Escape analysis of arrays: which ones the program sees after a run."""

from __future__ import annotations

from autoconv.graph.graph import Graph, Value
from autoconv.graph.types import TensorType


def escaping_arrays(graph: Graph) -> set[Value]:
    """Return the arrays that the program may see after a run.

    These are arrays among the outputs and the inputs of object ops and of nodes with regions, and the bases of escaping
    views.
    """
    result = {value for value in graph.outputs if _is_array(value)}
    for node in reversed(graph.nodes):
        if node.op.traits.view:
            escaping_inputs = node.inputs[:1] if not result.isdisjoint(node.results) else ()
        else:
            escaping_inputs = node.inputs if node.regions or node.op.name.startswith("object_") else ()
        result.update(filter(_is_array, escaping_inputs))
    return result


def _is_array(value: Value) -> bool:
    """Return whether Python holds the value as an array, not as a number or scalar."""
    return isinstance(value.type, TensorType) and not value.weak and value.shape != ()
