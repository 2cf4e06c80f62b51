"""Sizes of results that a program computes, in contrast to those of existing arrays, and the errors of such sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autoconv.graph.graph import SIZE_ERRORS, Node, Value
from autoconv.graph.types import TensorType
from autoconv.ops.record import Op

# Ops whose results are computed sizes if an operand is, and ops whose results are no computed sizes.
_SIZE_FORWARDING_OPS = frozenset({"stack", "concat", "cast", "python_cast", "identity", "expand_dims"})
_EXISTING_SIZE_OPS = frozenset({"constant", "shape", "array_size", "common_size", "dimension", "rank", "size"})


def may_fail_for_sizes(op: Op, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> bool:
    """Return whether an op may raise for the sizes of its result, apart from the errors that its effects declare."""
    if op.name == "reshape":
        return _may_reshape_fail(inputs, attributes["shape"])
    return _has_computed_sizes(op, inputs)


def has_computed_sizes(node: Node) -> bool:
    """Return whether the program computes sizes of the result, which may be negative or exceed memory."""
    return _has_computed_sizes(node.op, node.inputs)


def _has_computed_sizes(op: Op, inputs: Sequence[Value]) -> bool:
    """Return the result of `has_computed_sizes` for an op on these operands."""
    traits = op.traits
    positions = traits.counted_by if traits.sizes is None else (traits.sizes.position, *traits.counted_by)
    return any(_is_computed(inputs[position]) for position in positions if position < len(inputs))


def _may_reshape_fail(inputs: Sequence[Value], shape: tuple[int | None, ...] | None) -> bool:
    """Return whether the number of elements may differ from that of the new shape at run time."""
    x = inputs[0].type
    assert isinstance(x, TensorType)
    if x.shape is None or shape is None:
        return True
    has_open_sizes = not all(isinstance(size, int) for size in x.shape)
    if len(inputs) == 1:  # a size of -1 is inferred, and accepts any input if all others are 1
        return has_open_sizes and any(size not in (-1, 1) for size in shape)
    return has_open_sizes or not all(isinstance(size, int) and size >= 0 for size in shape)


def _is_computed(value: Value) -> bool:
    """Return whether the program computes the value, in contrast to constants and sizes of existing arrays."""
    if value.node is None:
        return True
    name = value.node.op.name
    if name in _SIZE_FORWARDING_OPS:
        return any(map(_is_computed, value.node.inputs))
    return name not in _EXISTING_SIZE_OPS


SIZE_ERRORS.set(may_fail_for_sizes)

__all__ = ["has_computed_sizes", "may_fail_for_sizes"]
