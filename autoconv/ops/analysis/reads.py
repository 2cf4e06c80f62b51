"""Analysis of the inputs of nodes: those read element by element, and those read for their shape or sizes only."""

from __future__ import annotations

from autoconv.graph.graph import Node, Value


def read_inputs(node: Node) -> tuple[Value, ...]:
    """Return the inputs whose elements the node reads; sizes and inputs read for their shapes only are left out."""
    traits = node.op.traits
    inputs = node.inputs if traits.sizes is None else node.inputs[: traits.sizes.position]
    return tuple(value for i, value in enumerate(inputs) if i not in traits.shape_only)


def reads_only_shapes(node: Node) -> bool:
    """Return whether the results follow from the shapes of the inputs, whatever their elements."""
    return bool(node.inputs) and len(node.op.traits.shape_only) == len(node.inputs)
