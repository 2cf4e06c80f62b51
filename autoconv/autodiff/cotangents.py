"""Cotangents: what type they have, how they add up, and the zeros that stand where nothing flows."""

from __future__ import annotations

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
    is_subtype,
)
from autoconv.ops.record import Builder

Cotangents = dict[Value, Value]


def carries(type_: Type) -> bool:
    """Whether what is differentiated may flow through a value of that type.

    An object of Python's own may hold anything, so it carries: an op that reads a tensor out of one has to say what
    happens to its gradient.
    """
    if isinstance(type_, TensorType):
        return type_.dtype.is_differentiable
    if isinstance(type_, ListType):
        return carries(type_.element)
    if isinstance(type_, ResourceType):
        return carries(type_.value)
    if isinstance(type_, TupleType):
        return any(map(carries, type_.items))
    return isinstance(type_, (ObjectType, VariantType))


def cotangent_type(type_: Type) -> Type:
    """That of the value; for a variable that of what it holds."""
    return type_.value if isinstance(type_, ResourceType) else type_


def zeros_of(b: Any, value: Value) -> Value:
    """The cotangent of `value` where nothing flows; reads nothing where the type says the shape."""
    type_ = cotangent_type(value.type)
    if isinstance(type_, ListType):
        return b.list_zeros_like(value)  # type: ignore[no-any-return]
    if isinstance(type_, TensorType) and is_static(type_):
        return b.constant(value=_zeros(type_), weak=type_.weak)  # type: ignore[no-any-return]
    return b.zeros_like(b.read_variable(value) if isinstance(value.type, ResourceType) else value)  # type: ignore[no-any-return]


def is_static(type_: TensorType) -> bool:
    return type_.shape is not None and all(isinstance(d, int) for d in type_.shape)


def _zeros(type_: TensorType) -> np.ndarray:
    zero = np.zeros((), type_.dtype.numpy)
    return np.broadcast_to(zero, type_.shape) if type_.shape else zero  # type: ignore[arg-type]


def accumulate(b: Builder, found: Cotangents, value: Value, cotangent: Value, node: Node | None = None) -> None:
    """Adds to the cotangent of `value`."""
    before = found.get(value)
    kind = cotangent_type(value.type)
    if before is None:
        found[value] = cotangent
    elif isinstance(kind, TensorType):
        found[value] = _sum(b, before, cotangent)
    elif isinstance(kind, ListType):
        found[value] = b.list_add(before, cotangent)
    else:
        raise StagingError(
            f"the gradient of {value.type} used more than once cannot be added up",
            place_of(None if node is None else node.span),
        )


def _sum(b: Builder, before: Value, cotangent: Value) -> Value:
    """Of two cotangents. What was added to zeros, at a part of a tensor, is added to the first one there."""
    node = cotangent.node
    whole = node is not None and node.op.name == "add_at_item" and before.type == cotangent.type
    if node is not None and whole and _is_zeros(node.inputs[0]):
        return b.add_at_item(before, *node.inputs[1:], **node.attributes)  # type: ignore[no-any-return]
    return b.add(before, cotangent)  # type: ignore[no-any-return]


def _is_zeros(value: Value) -> bool:
    if value.node is None or value.node.op.name not in ("zeros_like", "constant"):
        return False
    if value.node.op.name == "zeros_like":
        return True
    array = np.asarray(value.node.attributes["value"])
    return not any(array.strides) and array.size > 0 and array.flat[0] == 0


def conformed(b: Builder, cotangent: Value, type_: Type) -> Value:
    """The cotangent with the type that the border of a region asks for."""
    wanted, found = cotangent_type(type_), cotangent.type
    if is_subtype(found, wanted) or not (isinstance(wanted, TensorType) and isinstance(found, TensorType)):
        return cotangent
    if found.dtype is not wanted.dtype or found.weak != wanted.weak:
        cotangent = b.python_cast(cotangent, dtype=wanted.dtype, weak=wanted.weak)
    if not is_subtype(cotangent.type, wanted):
        shape = None if wanted.shape is None else tuple(d if isinstance(d, int) else None for d in wanted.shape)
        cotangent = b.ensure_shape(cotangent, shape=shape)
    return cotangent


def refused(node: Node, reason: str) -> StagingError:
    """What is raised for a node that has no gradient."""
    return StagingError(
        f"the op {node.op.name!r} has no gradient: {reason}",
        place_of(node.span),
        "autoconv.stop_gradient(…) around what is not to be differentiated",
    )


def place_of(span: Span | None) -> Place | None:
    return None if span is None else Place(span.file, span.line, span.column, span.end_column)
