"""Cotangents: their types, sums and zeros."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.errors import Place, StagingError
from autoconv.graph.graph import Node, Span, Value
from autoconv.graph.types import (
    ListType,
    ObjectType,
    ResourceType,
    TensorType,
    TupleType,
    Type,
    VariantType,
    is_static_shape,
    is_subtype,
)
from autoconv.ops.record import Builder, NoGradient, Op

Cotangents = dict[Value, Value]  # by value: the sum of its cotangents


def is_differentiable(type_: Type) -> bool:
    """Return whether a value of the type may carry a gradient.

    Objects may, because they may hold tensors: the op that reads a tensor from an object has a gradient, or refuses it.
    """
    if isinstance(type_, TensorType):
        return type_.dtype.is_differentiable
    if isinstance(type_, ListType):
        return is_differentiable(type_.element)
    if isinstance(type_, ResourceType):
        return is_differentiable(type_.value)
    if isinstance(type_, TupleType):
        return any(map(is_differentiable, type_.items))
    return isinstance(type_, (ObjectType, VariantType))


def cotangent_type(type_: Type) -> Type:
    """Return the type of a value's cotangent: its own type; for a variable, the type of its contents."""
    return type_.value if isinstance(type_, ResourceType) else type_


def zeros_of(b: Any, value: Value) -> Value:
    """Return the zero cotangent of `value`, which is not read if its type has a static shape."""
    type_ = cotangent_type(value.type)
    if isinstance(type_, ListType):
        return b.list_zeros_like(value)  # type: ignore[no-any-return]
    if isinstance(type_, TensorType) and is_static_shape(type_.shape):
        return b.constant(value=zero_array(type_), weak=type_.weak)  # type: ignore[no-any-return]
    return b.zeros_like(b.read_variable(value) if isinstance(value.type, ResourceType) else value)  # type: ignore[no-any-return]


def zero_array(type_: TensorType) -> np.ndarray:
    """Return zeros of a type with a static shape: a broadcast scalar, which takes no memory for its elements."""
    zero = np.zeros((), type_.dtype.numpy)
    return np.broadcast_to(zero, type_.shape) if type_.shape else zero  # type: ignore[arg-type]


def accumulate(b: Builder, cotangents: Cotangents, value: Value, cotangent: Value, node: Node | None = None) -> None:
    """Add `cotangent` to the entry of `value` in `cotangents`; `node` is the user of the value, for errors."""
    previous_cotangent = cotangents.get(value)
    type_ = cotangent_type(value.type)
    if previous_cotangent is None:
        cotangents[value] = cotangent
    elif isinstance(type_, TensorType):
        cotangents[value] = _add_cotangents(b, previous_cotangent, cotangent)
    elif isinstance(type_, ListType):
        cotangents[value] = b.list_add(previous_cotangent, cotangent)
    else:
        raise StagingError(
            f"the gradient of {value.type} used more than once cannot be added up",
            place_of(None if node is None else node.span),
        )


def _add_cotangents(b: Builder, previous_cotangent: Value, cotangent: Value) -> Value:
    """Add two cotangents; add(x, add_at_item(zeros, y)) becomes add_at_item(x, y)."""
    node = cotangent.node
    is_update = node is not None and node.op.name == "add_at_item" and previous_cotangent.type == cotangent.type
    if node is not None and is_update and _is_zeros(node.inputs[0]):
        return b.add_at_item(previous_cotangent, *node.inputs[1:], **node.attributes)  # type: ignore[no-any-return]
    return b.add(previous_cotangent, cotangent)  # type: ignore[no-any-return]


def _is_zeros(value: Value) -> bool:
    """Return whether the value is known to consist of zeros."""
    if value.node is None or value.node.op.name not in ("zeros_like", "constant"):
        return False
    if value.node.op.name == "zeros_like":
        return True
    array = np.asarray(value.node.attributes["value"])
    # Only a broadcast scalar is examined, such as one of `zero_array`.
    return not any(array.strides) and array.size > 0 and array.flat[0] == 0


def conform(b: Builder, cotangent: Value, type_: Type) -> Value:
    """Convert the cotangent of a value of type `type_` to `cotangent_type(type_)`, as the border of a region requires.

    Only dtypes, weakness and sizes of tensors are converted.
    """
    required_type, present_type = cotangent_type(type_), cotangent.type
    if is_subtype(present_type, required_type):
        return cotangent
    if not (isinstance(required_type, TensorType) and isinstance(present_type, TensorType)):
        return cotangent
    if present_type.dtype is not required_type.dtype or present_type.weak != required_type.weak:
        cotangent = b.python_cast(cotangent, dtype=required_type.dtype, weak=required_type.weak)
    if not is_subtype(cotangent.type, required_type):
        sizes = required_type.shape
        shape = None if sizes is None else tuple(size if isinstance(size, int) else None for size in sizes)
        cotangent = b.ensure_shape(cotangent, shape=shape)
    return cotangent


def cotangents_of_inputs(
    op: Op, b: Builder, inputs: Sequence[Any], results: Sequence[Any], cotangents: Sequence[Any],
    attributes: Mapping[str, Any], span: Span | None = None,
) -> Sequence[Any]:  # fmt: skip
    """Return the cotangents of an op's inputs; raise an error if the op has no gradient with these attributes."""
    gradient = op.gradient
    found = gradient if isinstance(gradient, NoGradient) else gradient(b, inputs, results, cotangents, attributes)
    if isinstance(found, NoGradient):
        raise missing_gradient_error(op, found.reason, span)
    return found  # type: ignore[no-any-return]


def missing_gradient_error(op: Op, reason: str, span: Span | None = None) -> StagingError:
    """Return the error for an op without a gradient; `span` is that of its node."""
    return StagingError(
        f"the op {op.name!r} has no gradient: {reason}",
        place_of(span),
        "autoconv.stop_gradient(…) around what is not to be differentiated",
    )


def place_of(span: Span | None) -> Place | None:
    return None if span is None else Place(span.file, span.line, span.column, span.end_column)
