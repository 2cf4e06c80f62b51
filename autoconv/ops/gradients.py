"""Helpers of gradient rules: static types of operands, sums over broadcast axes, insertion of reduced axes."""

from __future__ import annotations

from typing import Any

from autoconv.graph.dtypes import DType, as_dtype
from autoconv.graph.types import Shape, TensorType
from autoconv.ops.record import Builder


def no_cotangents(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> tuple[None, ...]:
    """Gradient rule of an op that is constant almost everywhere: no cotangents."""
    return (None,) * len(inputs)


def pass_cotangent(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> tuple[Any]:
    """Gradient rule of an op that returns its operand."""
    return (cotangents[0],)


def sum_cotangent(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> tuple[Any, ...]:
    """Gradient rule of an op that broadcasts its first operand."""
    return (b.sum_to_shape_of(cotangents[0], inputs[0]), *(None for _ in inputs[1:]))


def unbroadcast(b: Builder, cotangent: Any, like: Any) -> Any:
    """Sum a cotangent over the axes along which the operand `like` was broadcast, to the shape of `like`."""
    shape = shape_of(like)
    if shape is not None and None not in shape and shape == shape_of(cotangent):
        return cotangent
    return b.sum_to_shape_of(cotangent, like)


def conjugate(b: Builder, x: Any) -> Any:
    """Return the complex conjugate, which is `x` itself if it is real."""
    return b.conjugate(x) if dtype_of(x).is_complex else x


def as_dtype_of(b: Builder, real: Any, like: Any) -> Any:
    """Convert real numbers to the dtype of `like`."""
    return b.complex(real, b.zeros_like(real)) if dtype_of(like).is_complex else real


def restore_reduced_axes(b: Builder, value: Any, x: Any, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
    """Return `value`, a reduction of `x` over `axis`, with the reduced axes as dimensions of size 1.

    If `axis` is None, all axes are reduced, and `value`, a scalar, is returned: it broadcasts as if it had the axes.
    """
    if keepdims or axis is None:
        return value
    shape = shape_of(x)
    if shape is not None:
        axis = tuple(position % len(shape) for position in axis)
    if all(position >= 0 for position in axis):
        sorted_axes = sorted(axis)
    elif all(position < 0 for position in axis):
        sorted_axes = sorted(axis, reverse=True)
    else:  # the rank is unknown, and axes count from both ends: take the shape from another reduction of x
        return b.reshape_like(value, b.reduce_any(b.not_equal(x, x), axis=axis, keepdims=True))
    for position in sorted_axes:
        value = b.expand_dims(value, axis=position)
    return value


def dtype_of(value: Any) -> DType:
    """Return the dtype of a graph's value, a tensor or an array."""
    type_ = getattr(value, "type", None)
    return type_.dtype if isinstance(type_, TensorType) else as_dtype(value.dtype)


def shape_of(value: Any) -> Shape:
    """Return the static shape of a graph's value, a tensor or an array."""
    type_ = getattr(value, "type", None)
    if isinstance(type_, TensorType):
        return type_.shape
    shape = value.shape
    return shape.dims_tuple if hasattr(shape, "dims_tuple") else tuple(shape)
