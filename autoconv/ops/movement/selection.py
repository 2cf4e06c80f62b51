"""Ops that select elements by a condition, make one-hot vectors of indices, and sum elements by segments."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import DType, bool_, float64, int64
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType, are_shapes_compatible
from autoconv.ops.gradients import unbroadcast
from autoconv.ops.movement.gather import check_indices
from autoconv.ops.record import Builder, define, no_gradient, sample
from autoconv.ops.rules import broadcast_shapes, normalised_axis
from autoconv.ops.traits import Indexing, Scatter, SizeOperand

_X = np.array([[0.5, -1.25, 2.0], [3.5, -0.75, 1.5]])
_CONDITION = np.array([True, False, True])


def _check_condition(op: str, condition: TensorType) -> None:
    if condition.dtype is not bool_:
        raise TypeError(f"{op}: the condition has to be of bools, found {condition.dtype.name}")


def _select_type(condition: TensorType, x: TensorType, y: TensorType) -> TensorType:
    _check_condition("select", condition)
    if x.dtype is not y.dtype:
        raise TypeError(f"select: the alternatives are {x.dtype.name} and {y.dtype.name}")
    return TensorType(x.dtype, broadcast_shapes(condition.shape, x.shape, y.shape), x.weak and y.weak)


def _select(condition: Any, x: Any, y: Any) -> Any:
    try:
        return np.where(condition, x, y)
    except ValueError as error:
        shapes = ", ".join(str(list(np.shape(operand))) for operand in (condition, x, y))
        raise InvalidArgumentError(f"select: the shapes {shapes} do not broadcast").with_plain_error(error) from None


def _select_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Pass the cotangent to `x` where the condition is true, to `y` elsewhere."""
    (cotangent,), (condition, x, y) = cotangents, inputs
    zeros = b.zeros_like(cotangent)
    return (
        None,
        unbroadcast(b, b.select(condition, cotangent, zeros), x),
        unbroadcast(b, b.select(condition, zeros, cotangent), y),
    )


def _where_type(condition: TensorType) -> TensorType:
    _check_condition("where", condition)
    return TensorType(int64, (None, condition.rank))


select = define(
    name="select", graphdef="SelectV2", result=_select_type, kernel=_select, gradient=_select_gradient,
    unify=(1, 2), elementwise=True,
    samples=(sample(_CONDITION, _X, _X * 2), sample(_CONDITION[:, None, None], np.array(1.5), _X)),
)  # fmt: skip
where_indices = define(
    name="where_indices", graphdef="Where", result=_where_type,
    kernel=lambda condition: np.argwhere(condition).astype(np.int64),
    gradient=no_gradient("coordinates are integers"), samples=(sample(_CONDITION), sample(_X > 0)), selects_rows=True,
)  # fmt: skip


def _one_hot_type(
    indices: TensorType, on_value: TensorType, off_value: TensorType, depth_tensor: TensorType | None = None,
    *, depth: int | None, axis: int = -1, dtype: DType,
) -> TensorType:  # fmt: skip
    """Return the type: the new dimension `axis` has the size `depth`, or if passed the value of `depth_tensor`."""
    if not indices.dtype.is_integer:
        raise TypeError(f"one_hot: the indices have to be integers, found {indices.dtype.name}")
    if depth_tensor is None and (depth is None or depth < 0):
        raise ValueError(f"one_hot: the depth has to be 0 or more, found {depth}")
    for name, value in (("on_value", on_value), ("off_value", off_value)):
        if value.dtype is not dtype:
            raise TypeError(f"one_hot: {name} is {value.dtype.name}, the result {dtype.name}")
    if indices.shape is None:
        return TensorType(dtype, None)
    new_axis = normalised_axis(axis, len(indices.shape) + 1)
    return TensorType(dtype, (*indices.shape[:new_axis], depth, *indices.shape[new_axis:]))


def _one_hot(
    indices: Any, on_value: Any, off_value: Any, depth_tensor: Any = None,
    *, depth: int | None, axis: int = -1, dtype: DType,
) -> Any:  # fmt: skip
    """Return `on_value` where the position along the new axis equals the index, else `off_value`."""
    resolved_depth = int(depth_tensor) if depth_tensor is not None else depth
    if resolved_depth is None or resolved_depth < 0:
        raise InvalidArgumentError(f"depth must be non-negative, got: {resolved_depth}")
    result_rank = np.ndim(indices) + 1
    new_axis = normalised_axis(axis, result_rank)
    positions = np.arange(resolved_depth).reshape([-1 if i == new_axis else 1 for i in range(result_rank)])
    return np.where(np.expand_dims(indices, new_axis) == positions, on_value, off_value).astype(dtype.numpy)


def _one_hot_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the sums of the cotangents over the elements with `on_value`, and over those with `off_value`."""
    (cotangent,), (indices, on_value, off_value, *depth) = cotangents, inputs
    true, false = (b.constant(value=np.array(value)) for value in (True, False))
    is_hot = b.one_hot(indices, true, false, *depth, **{**attributes, "dtype": bool_})
    zeros = b.zeros_like(cotangent)
    return (
        None,
        b.sum_to_shape_of(b.select(is_hot, cotangent, zeros), on_value),
        b.sum_to_shape_of(b.select(is_hot, zeros, cotangent), off_value),
        *(None for _ in depth),
    )


one_hot = define(
    name="one_hot", graphdef="OneHot", result=_one_hot_type, kernel=_one_hot, gradient=_one_hot_gradient,
    unify=(1, 2),
    samples=(
        sample(np.array([[0, 2], [-1, 1]]), np.array(2.5), np.array(0.5), depth=3, dtype=float64),
        sample(
            np.array([0, 2]), np.array(2.5), np.array(0.5), np.array(4), depth=None, axis=0, dtype=float64
        ),
    ),
    generates=True,
    sizes=SizeOperand("depth", 3, "number"),
)  # fmt: skip


def _segment_sum_type(
    data: TensorType,
    segment_ids: TensorType,
    count_tensor: TensorType | None = None,
    *,
    num_segments: int | None = None,
) -> TensorType:
    """Return the type of the sums: one dimension for the segments replaces the dimensions of the ids."""
    if not segment_ids.dtype.is_integer:
        raise TypeError(f"segment_sum: the segment ids have to be integers, found {segment_ids.dtype.name}")
    if data.shape is None or segment_ids.shape is None:
        return data.with_shape(None)
    segment_rank = len(segment_ids.shape)
    if not are_shapes_compatible(data.shape[:segment_rank], segment_ids.shape):
        raise ValueError(f"segment_sum: the segment ids {segment_ids} do not fit the data {data}")
    return data.with_shape((num_segments, *data.shape[segment_rank:]))


def _segment_sum(data: Any, segment_ids: Any, count_tensor: Any = None, *, num_segments: int | None = None) -> Any:
    """Add the slices of `data` with the same segment id; if no count is passed, the largest id is the last segment."""
    segment_count = int(count_tensor) if count_tensor is not None else num_segments
    if segment_count is None:
        segment_count = int(np.max(segment_ids, initial=-1)) + 1
    data, segment_ids = np.asarray(data), np.asarray(segment_ids)
    check_indices(segment_ids, segment_count, "segment_ids")
    if data.shape[: segment_ids.ndim] != segment_ids.shape:
        raise InvalidArgumentError(
            f"data.shape = {list(data.shape)} does not start with segment_ids.shape = {list(segment_ids.shape)}"
        )
    result = np.zeros((segment_count, *data.shape[segment_ids.ndim :]), data.dtype)
    np.add.at(result, segment_ids, data)
    return result


def _segment_sum_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return b.gather(cotangents[0], inputs[1], axis=0, batch_dims=0), *(None for _ in inputs[1:])


segment_sum = define(
    name="segment_sum", graphdef="UnsortedSegmentSum", result=_segment_sum_type, kernel=_segment_sum,
    gradient=_segment_sum_gradient, effects=Effects.RAISE,
    samples=(
        sample(_X, np.array([1, 1]), num_segments=3),
        sample(_X, np.array([[0, 1, 0], [1, 1, 1]]), np.array(2)),
        sample(_X, np.array([0, 1])),
    ),
    sizes=SizeOperand("num_segments", 2, "number"),
    indexing=Indexing("rows"), scatter=Scatter(0),
)  # fmt: skip
