"""Extent analysis: find values of a graph with equal sizes, even if these are known only at run time."""

from __future__ import annotations

from typing import Any

from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import ArrayType, TensorType
from autoconv.ops.index_spec import Mask


class Extents:
    """The extents of a graph's values. An extent is a key: values with equal keys have equal shapes in each run.

    An elementwise result has the extent of its operands. The extent of elements selected by a mask is made of that of
    the mask and the shape of the other dimensions. Conservative: any other value is its own extent.
    """

    def __init__(self, graph: Graph) -> None:
        self._extents: dict[Value, Any] = {}
        for node in graph.nodes:
            for value in node.results:
                self._extents[value] = self._extent_of_result(node, value)

    def are_equal(self, first: Value, second: Value) -> bool:
        """Return whether two values are known to have equal shapes in each run."""
        return bool(self.of(first) == self.of(second))

    def of(self, value: Value) -> Any:
        """Return the extent of a value."""
        return self._extents.get(value, value)

    def _extent_of_result(self, node: Node, value: Value) -> Any:
        """Return the extent of a node's result; the extents of its operands are known."""
        if node.op.name in ("array_of", "array_load", "cast"):
            return self.of(node.inputs[0])
        if node.op.name == "get_item" and node.attributes["spec"] == (Mask(),):
            x, mask = node.inputs
            return "where", self.of(mask), (x.shape or ())[len(mask.shape or ()) :]
        if not node.op.traits.elementwise:
            return value
        extents = {self.of(operand) for operand in node.inputs if _shape(operand) != ()}
        shapes = {_shape(operand) for operand in node.inputs} - {()}
        return extents.pop() if len(extents) == 1 and shapes == {_shape(value)} else value


def _shape(value: Value) -> Any:
    """Return the shape of a tensor or array, None for other values."""
    return value.type.shape if isinstance(value.type, (TensorType, ArrayType)) else None
