"""Sizes of results that a program computes, in contrast to those of existing arrays."""

from __future__ import annotations

from autoconv.graph.graph import Node, Value

_SIZE_FORWARDING_OPS = frozenset({"stack", "concat", "cast", "python_cast", "identity", "expand_dims"})
_EXISTING_SIZE_OPS = frozenset({"constant", "shape", "array_size", "common_size", "dimension", "rank", "size"})


def has_computed_sizes(node: Node) -> bool:
    """Return whether the program computes sizes of the result, which may be negative or exceed memory."""
    traits = node.op.traits
    positions = traits.counted_by if traits.sizes is None else (traits.sizes.position, *traits.counted_by)
    return any(_is_computed(node.inputs[position]) for position in positions if position < len(node.inputs))


def _is_computed(value: Value) -> bool:
    if value.node is None:
        return True
    name = value.node.op.name
    return any(map(_is_computed, value.node.inputs)) if name in _SIZE_FORWARDING_OPS else name not in _EXISTING_SIZE_OPS


__all__ = ["has_computed_sizes"]
