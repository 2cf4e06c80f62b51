"""Predicates for nodes that fused statements can contain: gathers, slices and elementwise ops of unknown size."""

from __future__ import annotations

from autoconv.backends.llvm.analysis.classify import has_element_rule
from autoconv.backends.llvm.analysis.representation import is_dense
from autoconv.backends.llvm.ir.types import is_native
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Node, op_effects
from autoconv.graph.types import TensorType
from autoconv.ops.index_spec import Gather, is_basic


def is_gather(node: Node) -> bool:
    """Return whether a node takes the elements of a vector at positions whose number is unknown."""
    if node.op.name != "get_item" or node.attributes["spec"] != (Gather(),):
        return False
    base, positions = (value.type for value in node.inputs)
    if not is_dense(base) or len(base.shape or ()) != 1 or not is_native(base.dtype):
        return False
    shape = getattr(positions, "shape", None)
    return bool(shape) and None in shape and positions.dtype.is_integer  # type: ignore[operator, union-attr]


def is_open_slice(node: Node) -> bool:
    """Return whether a node takes a slice of a tensor (a view in NumPy) whose size is unknown."""
    return _is_slice(node) and None in (node.results[0].type.shape or ())  # type: ignore[union-attr]


def is_safe_slice(node: Node) -> bool:
    """Return whether it is safe that a statement reads, in place, the slice of a tensor that a node takes.

    The memory of a computed tensor is no array of the program, so no statement writes to it.
    """
    source = node.inputs[0].node if _is_slice(node) else None
    return is_open_slice(node) or (source is not None and is_pure_elementwise(source))


def _is_slice(node: Node) -> bool:
    """Return whether a node takes a slice of a tensor that is in native memory."""
    if node.op.name != "get_item" or not is_basic(node.attributes["spec"]):
        return False
    source = node.inputs[0].type
    return is_dense(source) and is_native(source.dtype)


def is_pure_elementwise(node: Node) -> bool:
    """Return whether a node computes its result elementwise, without effects."""
    if len(node.results) != 1 or not node.op.traits.elementwise:
        return False
    if op_effects(node.op, node.attributes, node.inputs) is not Effects.PURE:  # the fused node checks sizes itself
        return False
    types = [value.type for value in node.inputs]
    return all(isinstance(type_, TensorType) and is_native(type_.dtype) for type_ in types) and has_element_rule(node)
