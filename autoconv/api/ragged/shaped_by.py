"""Functions that take a shape, such as `zeros`, for a DynamicRaggedShape: their results are ragged."""

from __future__ import annotations

from typing import Any

from autoconv.api.ragged.broadcasting import elementwise
from autoconv.api.ragged.dynamic_shape import DynamicRaggedShape
from autoconv.api.ragged.tensor import RaggedLike, RaggedTensor
from autoconv.api.tensors import constants, shaping
from autoconv.api.tensors.casts import cast
from autoconv.graph.dtypes import float32
from autoconv.runtime.annotations import DTypeLike, TensorLike
from autoconv.runtime.recording.api_dispatch import handles
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def _with_partitions(values: Tensor, shape: DynamicRaggedShape) -> RaggedLike:
    """Return the tensor, ragged if the shape has row partitions, that has these flat values and this shape."""
    result: Any = values
    for partition in reversed(shape.row_partitions):
        result = RaggedTensor.from_row_splits(result, partition.row_splits(), validate=False)
    return result


@handles(constants.ones, composite=DynamicRaggedShape)
def _ones(shape: DynamicRaggedShape, dtype: DTypeLike = float32, name: str | None = None, layout: Any = None) -> Any:
    return _with_partitions(constants.ones(shape.inner_shape, dtype), shape)


@handles(constants.zeros, composite=DynamicRaggedShape)
def _zeros(shape: DynamicRaggedShape, dtype: DTypeLike = float32, name: str | None = None, layout: Any = None) -> Any:
    return _with_partitions(constants.zeros(shape.inner_shape, dtype), shape)


@handles(constants.fill, composite=DynamicRaggedShape)
def _fill(dims: DynamicRaggedShape, value: TensorLike, name: str | None = None, layout: Any = None) -> Any:
    return _with_partitions(constants.fill(dims.inner_shape, value), dims)


@handles(shaping.reshape, composite=DynamicRaggedShape)
def _reshape(tensor: RaggedLike, shape: DynamicRaggedShape, name: str | None = None) -> Any:
    """Return a tensor, ragged or not, with another shape and the same values in order."""
    values = tensor.flat_values if isinstance(tensor, RaggedTensor) else convert_to_tensor(tensor)
    return _with_partitions(shaping.reshape(values, cast(shape.inner_shape, shape.dtype)), shape)


@handles(shaping.broadcast_to, composite=DynamicRaggedShape)
def _broadcast_to(input: RaggedLike, shape: DynamicRaggedShape, name: str | None = None) -> Any:
    if not shape.row_partitions:
        return shaping.broadcast_to(input, shape.inner_shape)  # type: ignore[arg-type]
    operand = input if isinstance(input, RaggedTensor) else convert_to_tensor(input)
    rows: Any = _zeros(shape, operand.dtype) if not operand.dtype.is_string else _fill(shape, "")
    if not isinstance(operand, RaggedTensor) and operand.shape.rank == 1 and shape.inner_rank == 1:
        check_row_lengths(operand, rows)
    return elementwise(_broadcast_like, operand, rows)


def check_row_lengths(operand: Tensor, rows: RaggedTensor) -> None:
    """Assert that each row has as many values as the vector `operand`, unless this has one element."""
    if operand.shape[0] == 1:
        return
    has_length = apply("equal", rows.row_lengths(), cast(shaping.size(operand), rows.row_splits.dtype))
    message = "a vector is broadcast to rows of another length"
    apply("assert_true", apply("reduce_all", has_length, axis=None, keepdims=False), message=message, failure="check")


def _broadcast_like(values: Tensor, template: Tensor) -> Tensor:
    """Return the values, broadcast to the shape of `template`."""
    return shaping.broadcast_to(values, shaping.shape(template))
