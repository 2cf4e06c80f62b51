"""Requested sizes: sizes of new arrays that are operands of an op, and the errors of such sizes.

A size operand counts if it is neither a constant nor the size of an existing array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autoconv.graph.graph import SIZE_ERRORS, Node, Value
from autoconv.graph.types import TensorType
from autoconv.ops.record import Op

# Ops whose results are requested sizes if an operand is one, and ops of constants and sizes of existing arrays.
_SIZE_FORWARDING_OPS = frozenset({"stack", "concat", "cast", "python_cast", "identity", "expand_dims"})
_EXISTING_SIZE_OPS = frozenset({"constant", "shape", "array_size", "common_size", "dimension", "rank", "size"})


def may_fail_for_sizes(op: Op, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> bool:
    """Return whether an op may raise for the sizes of its result, apart from the errors that its effects declare."""
    if op.name == "reshape":
        return _may_reshape_fail(inputs, attributes["shape"])
    return _has_requested_sizes(op, inputs)


def has_requested_sizes(node: Node) -> bool:
    """Return whether operands of the node are requested sizes, which may be negative or exceed memory."""
    return _has_requested_sizes(node.op, node.inputs)


def _has_requested_sizes(op: Op, inputs: Sequence[Value]) -> bool:
    """Return whether an op on these operands has requested sizes, as `has_requested_sizes` of its node."""
    traits = op.traits
    size_positions = () if traits.sizes is None else (traits.sizes.position,)
    positions = (*size_positions, *traits.element_count_inputs)
    return any(_is_requested(inputs[position]) for position in positions if position < len(inputs))


def _may_reshape_fail(inputs: Sequence[Value], shape: tuple[int | None, ...] | None) -> bool:
    """Return whether at run time the operand may have another number of elements than the new shape."""
    x = inputs[0].type
    assert isinstance(x, TensorType)
    if x.shape is None or shape is None:
        return True
    has_open_sizes = not all(isinstance(size, int) for size in x.shape)
    if len(inputs) == 1:  # a -1 is inferred; beside it, other sizes than 1 may not divide the number of elements
        return has_open_sizes and (-1 not in shape or any(size not in (-1, 1) for size in shape))
    return has_open_sizes or not all(isinstance(size, int) and size >= 0 for size in shape)


def _is_requested(value: Value) -> bool:
    """Return whether a size operand is neither a constant nor the size of an existing array."""
    if value.node is None:
        return True
    name = value.node.op.name
    if name in _SIZE_FORWARDING_OPS:
        return any(map(_is_requested, value.node.inputs))
    return name not in _EXISTING_SIZE_OPS


SIZE_ERRORS.set(may_fail_for_sizes)
