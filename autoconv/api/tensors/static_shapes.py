"""Values and shapes that are known while tracing, and shapes that broadcast."""

from __future__ import annotations

from typing import Any

from autoconv.graph.dtypes import int32
from autoconv.ops.rules import broadcast_shapes
from autoconv.runtime.annotations import ShapeLike, TensorLike
from autoconv.runtime.support.shape import TensorShape, as_shape
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import partial_value, static_value
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor


def get_static_value(tensor: TensorLike, partial: bool = False) -> Any:
    """Return the value of a tensor as an array, None if it is not known while tracing.

    With `partial`, a vector with some known elements is a list, with None for the others.

    >>> autoconv.get_static_value(autoconv.constant([1, 2]))
    array([1, 2], dtype=int32)
    """
    constant = static_value(tensor)
    if constant is not None or not isinstance(tensor, SymbolicTensor):
        return constant
    partial_result = partial_value(tensor.value_in_graph)
    if partial_result is None:
        return None
    values, mask = partial_result
    if mask.all():
        return values[()]
    if partial and values.ndim == 1:
        return [value if is_known else None for value, is_known in zip(values, mask, strict=True)]
    return None


def broadcast_static_shape(shape_x: ShapeLike, shape_y: ShapeLike) -> TensorShape:
    """Return the shape of `x + y` for tensors of two static shapes; raises ValueError if they do not broadcast.

    >>> autoconv.broadcast_static_shape(autoconv.TensorShape([1, 3]), autoconv.TensorShape([2, 1]))
    TensorShape([2, 3])
    """
    first, second = TensorShape(as_shape(shape_x)), TensorShape(as_shape(shape_y))
    try:
        return TensorShape(broadcast_shapes(first.dims_tuple, second.dims_tuple))
    except ValueError:
        raise ValueError(f"Incompatible shapes for broadcasting: {first} and {second}.") from None


def broadcast_dynamic_shape(shape_x: TensorLike, shape_y: TensorLike) -> Tensor:
    """Return the shape of `x + y` as a tensor, for tensors of two shapes; raises an error if they do not broadcast.

    >>> autoconv.broadcast_dynamic_shape([1, 3], [2, 1]).numpy()
    array([2, 3], dtype=int32)
    """
    dtype = next((shape.dtype for shape in (shape_x, shape_y) if isinstance(shape, Tensor)), int32)
    first, second = (convert_to_tensor(shape, dtype_hint=dtype) for shape in (shape_x, shape_y))
    return apply("broadcast_shape", first, second)
