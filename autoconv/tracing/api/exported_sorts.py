"""Replacement of NumPy's argsort, in graphs for export, by a stable sort.

    before   %order = numpy_call(%x, function="argsort", arguments=(("input", 0), ("value", 0), ("value", None)))
    after    %sorted = argsort(%x, axis=0): int32[…]; %order = cast(%sorted, dtype=int64)

The order of equal elements in NumPy's result depends on the processor. In the exported graph they keep the order of
their positions, which NumPy permits. Graphs that run in this process call NumPy's routine, as their results are NumPy's
to the bit.
"""

from __future__ import annotations

from autoconv.graph.dtypes import bool_, int64, uint8
from autoconv.graph.graph import Graph, Node, Value, clone
from autoconv.graph.types import TensorType
from autoconv.ops import OPS


def make_sorts_stable(graph: Graph) -> Graph:
    """Return a graph in which each unstable argsort is an op."""
    return clone(graph, _sort_stably) if any(map(_is_unstable, graph.walk())) else graph


def _is_unstable(node: Node) -> bool:
    """Return whether a node is a call of NumPy's argsort that can be replaced."""
    if node.op.name != "numpy_call" or node.attributes["function"] != "argsort" or node.attributes["keywords"]:
        return False
    type_ = node.inputs[0].type
    return isinstance(type_, TensorType) and not type_.dtype.is_complex and bool(type_.shape)


def _sort_stably(copy: Graph, node: Node, inputs: list[Value]) -> list[Value] | None:
    """Record a stable sort in `copy` in place of an unstable argsort; return None for other nodes."""
    if not _is_unstable(node):
        return None
    (x,), span = inputs, node.span
    _, (_, axis), *_ = node.attributes["arguments"]
    if x.dtype is bool_:
        (x,) = copy.add(OPS["cast"], [x], {"dtype": uint8}, span=span).results
    (order,) = copy.add(OPS["argsort"], [x], {"axis": axis}, span=span).results
    return list(copy.add(OPS["cast"], [order], {"dtype": int64}, span=span).results)


__all__ = ["make_sorts_stable"]
