"""Reductions of ragged tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.api.nn.layers import softmax
from autoconv.api.ragged import partitions
from autoconv.api.ragged.joining import ragged_expand_dims
from autoconv.api.ragged.rows import gather_rows
from autoconv.api.ragged.tensor import RaggedLike, RaggedTensor
from autoconv.api.tensors import reductions
from autoconv.api.tensors.arguments import static_axes
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import ones_like, zeros
from autoconv.api.tensors.gather import gather, unsorted_segment_sum
from autoconv.api.tensors.maths import cumsum, exp, log, sqrt, square
from autoconv.api.tensors.segments import unsorted_segment_max, unsorted_segment_min, unsorted_segment_prod
from autoconv.api.tensors.shaping import concat
from autoconv.graph.dtypes import bool_, float32, float64, int32, int64
from autoconv.runtime.annotations import AxisLike
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

SegmentReduction = Callable[..., Any]  # (data, segment id of each row, number of segments) -> reduced segments


def segment_any(data: Tensor, ids: Any, count: Any) -> Any:
    """Return whether any row of each segment is true."""
    return unsorted_segment_sum(cast(data, int32), ids, count) > 0


def segment_all(data: Tensor, ids: Any, count: Any) -> Any:
    """Return whether all rows of each segment are true."""
    return apply("equal", unsorted_segment_sum(cast(apply("logical_not", data), int32), ids, count), 0)


def segment_logsumexp(data: Tensor, ids: Any, count: Any) -> Any:
    """Return log(sum(exp(x))) over the rows of each segment, without overflow; -inf without rows."""
    maxima = unsorted_segment_max(data, ids, count)
    offsets = apply("select", apply("is_finite", maxima), maxima, apply("zeros_like", maxima))
    return log(unsorted_segment_sum(exp(data - gather(offsets, ids)), ids, count)) + offsets


_SEGMENT_REDUCTION_BY_FUNCTION: dict[Callable[..., Any], SegmentReduction] = {
    reductions.reduce_sum: unsorted_segment_sum,
    reductions.reduce_prod: unsorted_segment_prod,
    reductions.reduce_max: unsorted_segment_max,
    reductions.reduce_min: unsorted_segment_min,
    reductions.reduce_any: segment_any,
    reductions.reduce_all: segment_all,
    reductions.reduce_logsumexp: segment_logsumexp,
}


def ragged_reduce(
    function: Callable[..., Any], value: RaggedTensor, axis: AxisLike | None = None, keepdims: bool | None = False,
    name: str | None = None, **options: Any,
) -> Any:  # fmt: skip
    """Return `function`, one of REDUCTIONS, of a ragged tensor along `axis`, by default of all its elements.

    The result is dense if no ragged dimension is left. A reduction along axis 0 is as long as the longest row. Means,
    variances and similar reductions of integers are floats; those of no elements are nan.
    """
    gives_floats = function in _COMPOSITE_REDUCTION_BY_FUNCTION or function is reductions.reduce_logsumexp
    if gives_floats and value.dtype.is_integer:
        quotient_dtype = float32 if value.dtype.size <= 2 else float64  # the dtype of a / b
        value = value.with_flat_values(cast(value.flat_values, quotient_dtype))
    if function in (reductions.reduce_any, reductions.reduce_all):
        value = value.with_flat_values(cast(value.flat_values, bool_))
    if axis is None:
        result = function(value.flat_values)
        if keepdims:
            return apply("reshape", result, shape=(1,) * (value.shape.rank or 1))
        return result
    given_axes = static_axes(axis)
    rank = value.shape.rank
    if rank is None and any(dimension < 0 for dimension in given_axes or ()):
        raise ValueError("a negative axis needs a ragged tensor of known rank")
    axes = sorted({dimension + rank if dimension < 0 else dimension for dimension in given_axes or ()})  # type: ignore[operator]
    if any(dimension < 0 or (rank is not None and dimension >= rank) for dimension in axes):
        raise ValueError(f"axis {axis!r} is out of range for {rank} dimensions")
    if not axes:
        return value
    if rank is not None and len(axes) == rank:
        return ragged_reduce(function, value, keepdims=keepdims)
    return _COMPOSITE_REDUCTION_BY_FUNCTION.get(function, _reduce_axes)(function, value, axes, bool(keepdims))


def _reduce_axes(function: Callable[..., Any], value: RaggedLike, axes: list[int], keepdims: bool) -> Any:
    """Return the value reduced along one axis after the other, the last one first."""
    for axis in reversed(axes):
        value = _reduce_axis(function, value, axis)
    return _insert_axes(value, axes) if keepdims else value


def _insert_axes(value: RaggedLike, axes: list[int]) -> Any:
    """Return the value with dimensions of size 1 at these positions."""
    for axis in axes:
        value = ragged_expand_dims(value, axis)
    return value


def _reduce_axis(function: Callable[..., Any], value: RaggedLike, axis: int) -> Any:
    """Return the value reduced along one axis by the reduction for segments of `function`."""
    if not isinstance(value, RaggedTensor):
        return function(value, axis)
    segment_reduction = _SEGMENT_REDUCTION_BY_FUNCTION[function]
    if axis == 0:
        max_length = reductions.reduce_max(concat([zeros([1], value.row_splits.dtype), partitions.lengths(value)], 0))
        return reduce_segments(segment_reduction, value.values, partitions.positions_in_rows(value), max_length)
    if axis == 1:
        return reduce_segments(segment_reduction, value.values, partitions.rowids(value), _row_count(value))
    return value.with_values(_reduce_axis(function, value.values, axis - 1))


def _row_count(value: RaggedTensor) -> Any:
    """Return the number of rows, an int if it is static."""
    static_count = value.shape[0]
    return partitions.ragged_row_count(value) if static_count is None else static_count


def reduce_segments(reduce: SegmentReduction, data: RaggedLike, ids: Tensor, count: Any) -> Any:
    """Return for each segment the reduction of its rows.

    Ragged rows are reduced position by position: the result is as long as the longest of them.
    """
    if not isinstance(data, RaggedTensor):
        return reduce(data, ids, count)
    lengths = partitions.lengths(data)
    max_lengths = apply("maximum", unsorted_segment_max(lengths, ids, count), np.zeros((), lengths.dtype.numpy))
    splits = partitions.splits_of_lengths(max_lengths)
    segment_begins = gather_rows(splits, gather_rows(ids, partitions.rowids(data)))
    reduced = reduce_segments(reduce, data.values, segment_begins + partitions.positions_in_rows(data), splits[-1])
    return RaggedTensor(reduced, splits)


# Reductions composed of others: they have the parameters of `_reduce_axes`, and ignore `function`.


def _mean(function: Callable[..., Any], value: RaggedTensor, axes: list[int], keepdims: bool) -> Any:
    total = _reduce_axes(reductions.reduce_sum, value, axes, keepdims)
    count = _reduce_axes(reductions.reduce_sum, value.with_flat_values(ones_like(value.flat_values)), axes, keepdims)
    return _elementwise(lambda dividend, divisor: dividend / divisor, total, count)


def _variance(function: Callable[..., Any], value: RaggedTensor, axes: list[int], keepdims: bool) -> Any:
    squares = value.with_flat_values(square(value.flat_values))
    mean = _mean(function, value, axes, keepdims)
    mean_of_squares = _mean(function, squares, axes, keepdims)
    compute_variance = lambda square_mean, mean: apply("maximum", square_mean - square(mean), apply("zeros_like", mean))
    return _elementwise(compute_variance, mean_of_squares, mean)


def _standard_deviation(function: Callable[..., Any], value: RaggedTensor, axes: list[int], keepdims: bool) -> Any:
    variance = _variance(function, value, axes, keepdims)
    return (
        variance.with_flat_values(sqrt(variance.flat_values)) if isinstance(variance, RaggedTensor) else sqrt(variance)
    )


def _elementwise(function: Callable[[Any, Any], Any], first: Any, second: Any) -> Any:
    """Return function(first, second), for tensors or for ragged tensors of the same rows."""
    if isinstance(first, RaggedTensor):
        return first.with_flat_values(function(first.flat_values, second.flat_values))
    return function(first, second)


_COMPOSITE_REDUCTION_BY_FUNCTION: dict[Callable[..., Any], Callable[..., Any]] = {
    reductions.reduce_mean: _mean,
    reductions.reduce_variance: _variance,
    reductions.reduce_std: _standard_deviation,
}

REDUCTIONS = (*_SEGMENT_REDUCTION_BY_FUNCTION, *_COMPOSITE_REDUCTION_BY_FUNCTION)


def ragged_softmax(rows: RaggedTensor, axis: int) -> RaggedTensor:
    """Return the softmax along the innermost ragged dimension or a uniform one after it; `axis` is its number."""
    if axis > 1:
        inner_softmax = ragged_softmax if isinstance(rows.values, RaggedTensor) else softmax
        return rows.with_values(inner_softmax(rows.values, axis - 1))
    if axis == 0 or isinstance(rows.values, RaggedTensor):
        raise NotImplementedError("softmax of a ragged tensor works along its innermost ragged dimension only")
    ids, count = partitions.rowids(rows), _row_count(rows)
    values = rows.values
    powers = exp(values - gather_rows(unsorted_segment_max(values, ids, count), ids))
    return rows.with_values(powers / gather_rows(unsorted_segment_sum(powers, ids, count), ids))


def ragged_cumsum(rows: RaggedLike, axis: int, exclusive: bool, reverse: bool) -> Any:
    """Return the cumulative sums along the innermost ragged dimension or a uniform one after it."""
    if not isinstance(rows, RaggedTensor):
        return cumsum(rows, axis, exclusive, reverse)
    if axis > 1:
        return rows.with_values(ragged_cumsum(rows.values, axis - 1, exclusive, reverse))
    if axis == 0 or isinstance(rows.values, RaggedTensor):
        raise NotImplementedError("cumsum of a ragged tensor works along its innermost ragged dimension only")
    dense = rows.to_tensor()
    sums = cumsum(dense, 1, exclusive, reverse)
    positions = apply("stack", partitions.rowids(rows), partitions.positions_in_rows(rows), axis=1)
    return rows.with_values(apply("gather_nd", sums, cast(positions, int64), batch_dims=0))
