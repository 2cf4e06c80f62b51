"""Reductions of rows by segment ids, counts of integers, and inverse permutations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.api.tensors.accepted_dtypes import check_dtype
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import fill, ones_like, zeros
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.gather import (
    increasing_ids,
    move_negative_ids,
    scatter_nd,
    tensor_scatter_nd_max,
    tensor_scatter_nd_min,
    unsorted_segment_sum,
    where,
)
from autoconv.api.tensors.reductions import reduce_all, reduce_max, reduce_prod
from autoconv.api.tensors.shaping import concat, expand_dims, reshape, shape
from autoconv.graph.dtype_sets import COMPLEX, FLOATING, LARGE_INTEGERS, REAL
from autoconv.graph.dtypes import bool_, int32
from autoconv.runtime.annotations import DTypeLike, IntLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def unsorted_segment_max(
    data: TensorLike, segment_ids: TensorLike, num_segments: IntLike, name: str | None = None
) -> Tensor:
    """Row i of the result is the maximum of the rows of `data` whose id is i; the dtype's lowest number if none is.

    Rows with a negative id are dropped.

    >>> autoconv.math.unsorted_segment_max([1, 5, 3], [0, 1, 1], num_segments=2).numpy()
    array([1, 5], dtype=int32)
    """
    scatter = tensor_scatter_nd_max
    return _segment_extreme("unsorted_segment_max", data, segment_ids, num_segments, scatter, lambda dtype: dtype.min)


def unsorted_segment_min(
    data: TensorLike, segment_ids: TensorLike, num_segments: IntLike, name: str | None = None
) -> Tensor:
    """Row i of the result is the minimum of the rows of `data` whose id is i; the dtype's greatest number if none is.

    Rows with a negative id are dropped.

    >>> autoconv.math.unsorted_segment_min([1, 5, 3], [0, 1, 1], num_segments=2).numpy()
    array([1, 3], dtype=int32)
    """
    scatter = tensor_scatter_nd_min
    return _segment_extreme("unsorted_segment_min", data, segment_ids, num_segments, scatter, lambda dtype: dtype.max)


def unsorted_segment_prod(
    data: TensorLike, segment_ids: TensorLike, num_segments: IntLike, name: str | None = None
) -> Tensor:
    """Row i of the result is the product of the rows of `data` whose id is i, 1 where there are none.

    An intermediate tensor has `num_segments` times the elements of `data`. Rows with a negative id are dropped.

    >>> autoconv.math.unsorted_segment_prod([1, 5, 3], [0, 1, 1], num_segments=2).numpy()
    array([ 1, 15], dtype=int32)
    """
    rows, ids = _flatten_ids(data, segment_ids)
    _require(apply("less", ids, cast(num_segments, ids.dtype)), "segment_ids are out of range")
    is_member = apply("equal", expand_dims(tensor_range(cast(num_segments, ids.dtype)), 1), ids)
    for _ in range(len(rows.shape) - 1):
        is_member = expand_dims(is_member, -1)
    return reduce_prod(where(is_member, rows, ones_like(rows)), axis=1)


def unsorted_segment_mean(
    data: TensorLike, segment_ids: TensorLike, num_segments: IntLike, name: str | None = None
) -> Tensor:
    """Row i of the result is the mean of the rows of `data` whose id is i, 0 where there are none.

    >>> autoconv.math.unsorted_segment_mean([1.0, 5.0, 3.0], [0, 1, 1], num_segments=2).numpy()
    array([1., 4.], dtype=float32)
    """
    return _scaled_sum(data, segment_ids, num_segments, lambda count: count)


def unsorted_segment_sqrt_n(
    data: TensorLike, segment_ids: TensorLike, num_segments: IntLike, name: str | None = None
) -> Tensor:
    """Row i of the result is the sum of the rows of `data` whose id is i, divided by the square root of their number.

    >>> autoconv.math.unsorted_segment_sqrt_n([1.0, 5.0, 3.0, 1.0, 1.0], [0, 1, 1, 1, 1], num_segments=2).numpy()
    array([1., 5.], dtype=float32)
    """
    return _scaled_sum(data, segment_ids, num_segments, lambda count: apply("sqrt", count))


def segment_max(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Row i of the result is the maximum of the rows of `data` whose id is i, 0 where there are none.

    `segment_ids` must be sorted; ids may repeat.

    >>> autoconv.math.segment_max([1, 5, 3], [0, 0, 2]).numpy()
    array([5, 0, 3], dtype=int32)
    """
    return _reduce_with_zeros("segment_max", data, segment_ids, tensor_scatter_nd_max, -math.inf)


def segment_min(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Row i of the result is the minimum of the rows of `data` whose id is i, 0 where there are none.

    `segment_ids` must be sorted; ids may repeat.

    >>> autoconv.math.segment_min([1, 5, 3], [0, 0, 2]).numpy()
    array([1, 0, 3], dtype=int32)
    """
    return _reduce_with_zeros("segment_min", data, segment_ids, tensor_scatter_nd_min, math.inf)


def segment_prod(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Row i of the result is the product of the rows of `data` whose id is i, 1 where there are none.

    `segment_ids` must be sorted; ids may repeat.

    >>> autoconv.math.segment_prod([2, 5, 3], [0, 0, 2]).numpy()
    array([10,  1,  3], dtype=int32)
    """
    return unsorted_segment_prod(data, *_checked_ids(segment_ids))


def segment_mean(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Row i of the result is the mean of the rows of `data` whose id is i, 0 where there are none.

    `segment_ids` must be sorted; ids may repeat.

    >>> autoconv.math.segment_mean([1.0, 5.0, 3.0], [0, 0, 1]).numpy()
    array([3., 3.], dtype=float32)
    """
    rows = convert_to_tensor(data)
    means = unsorted_segment_mean(rows, *_checked_ids(segment_ids))
    return cast(means, rows.dtype) if rows.dtype.is_integer else means


def bincount(
    arr: TensorLike, weights: TensorLike | None = None, minlength: IntLike | None = None,
    maxlength: IntLike | None = None, dtype: DTypeLike = int32, name: str | None = None, axis: int | None = None,
    binary_output: bool = False,
) -> Tensor:  # fmt: skip
    """Count how often each number from 0 on is in `arr`, or sum the `weights` of each number, if these are given.

    The result is as long as the greatest number requires, `minlength` at least and `maxlength` at most; greater numbers
    are not counted. With `axis` -1, the numbers of each row of a matrix are counted separately. With `binary_output`
    the result has 1 for each number that occurs, else 0. Raises ValueError for another axis than None, 0 and -1, and
    for `weights` with `binary_output`.

    >>> autoconv.math.bincount([1, 3, 1]).numpy()
    array([0, 2, 0, 1], dtype=int32)
    """
    check_dtype("bincount", FLOATING | COMPLEX | LARGE_INTEGERS | {bool_}, arr)
    numbers = convert_to_tensor(arr)
    if axis not in (None, 0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    if weights is not None and binary_output:
        raise ValueError("Arguments `binary_output` and `weights` are mutually exclusive. Please specify only one.")
    rows = reshape(numbers, [-1]) if axis != -1 or len(numbers.shape) < 2 else numbers
    needed_length = reduce_max(concat([reshape(cast(rows, int32), [-1]), [-1]], 0)) + 1  # 0 without numbers
    length = needed_length if minlength is None else apply("maximum", needed_length, cast(minlength, int32))
    length = length if maxlength is None else apply("minimum", length, cast(maxlength, int32))
    out_dtype = dtype if weights is None else convert_to_tensor(weights).dtype
    weight_values = ones_like(rows, out_dtype) if weights is None else reshape(weights, shape(rows))
    ids = cast(rows, int32)
    _require(apply("greater_equal", ids, 0), "Input arr must be non-negative!")
    ids = where(apply("less", ids, length), ids, -1)  # rows with a negative id are dropped
    if len(rows.shape) == 2:
        row_count = shape(rows)[0]
        ids = where(apply("less", ids, 0), -1, ids + expand_dims(tensor_range(row_count), 1) * length)
        flat_sums = unsorted_segment_sum(reshape(weight_values, [-1]), reshape(ids, [-1]), row_count * length)
        sums = reshape(flat_sums, [row_count, length])
    else:
        sums = unsorted_segment_sum(weight_values, ids, length)
    return cast(apply("not_equal", sums, cast(0, sums.dtype)), out_dtype) if binary_output else sums


def _require(condition: Tensor, message: str) -> None:
    """Raise InvalidArgumentError with the message where an element of the condition is false, at run time in graphs."""
    apply("assert_true", reduce_all(condition), message=(message,), failure="check")


def invert_permutation(x: TensorLike, name: str | None = None) -> Tensor:
    """The permutation y with y[x[i]] == i.

    >>> autoconv.math.invert_permutation([2, 0, 1]).numpy()
    array([1, 2, 0], dtype=int32)
    """
    permutation = convert_to_tensor(x)
    length = shape(permutation, permutation.dtype)
    return scatter_nd(expand_dims(permutation, 1), tensor_range(length[0]), length)


def _flatten_ids(data: TensorLike, segment_ids: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the rows of the data, with all dimensions of the ids merged into one, and the ids as a vector."""
    values, ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
    rank = len(ids.shape)
    if rank != 1:
        values = reshape(values, concat([[-1], shape(values)[rank:]], 0))
        ids = reshape(ids, [-1])
    return values, ids


def _segment_extreme(
    function: str, data: TensorLike, segment_ids: TensorLike, num_segments: IntLike, scatter: Callable[..., Tensor],
    neutral_of: Any,
) -> Tensor:  # fmt: skip
    """Return the maxima or minima of segments; `scatter` is tensor_scatter_nd_max or tensor_scatter_nd_min.

    Segments without rows have `neutral_of(dtype)`, the neutral element of the maximum or minimum. `function` is named
    in errors.
    """
    rows, ids = _flatten_ids(data, segment_ids)
    numpy_dtype = rows.dtype.numpy
    check_dtype(function, REAL, rows)
    neutral_element = neutral_of(rows.dtype)
    segment_count = cast(num_segments, ids.dtype)
    row_ids = move_negative_ids(ids, segment_count)
    # One row more takes the rows of negative ids; it is cut off below.
    sizes = concat([[segment_count + 1], shape(rows, ids.dtype)[1:]], 0)
    initial_rows = fill(sizes, convert_to_tensor(np.array(neutral_element, numpy_dtype)))
    return get_item(scatter(initial_rows, expand_dims(row_ids, 1), rows), slice(None, -1))


def _scaled_sum(
    data: TensorLike, segment_ids: TensorLike, num_segments: IntLike, divisor_of_count: Callable[..., Any]
) -> Tensor:
    """Return each segment's sum divided by `divisor_of_count(max(rows of the segment, 1))`."""
    rows, ids = _flatten_ids(data, segment_ids)
    row_counts = apply("maximum", unsorted_segment_sum(ones_like(ids), ids, num_segments), cast(1, ids.dtype))
    divisors = divisor_of_count(cast(row_counts, rows.dtype))
    for _ in range(len(rows.shape) - 1):
        divisors = expand_dims(divisors, -1)
    return unsorted_segment_sum(rows, ids, num_segments) / divisors


def _checked_ids(segment_ids: TensorLike) -> tuple[Tensor, Tensor]:
    """Return the ids, which must be sorted, and the number of segments: one more than the last id."""
    ids = increasing_ids(segment_ids)
    return ids, get_item(concat([cast([-1], ids.dtype), ids], 0), -1) + 1


def _reduce_with_zeros(
    function: str, data: TensorLike, segment_ids: TensorLike, scatter: Callable[..., Tensor], infinity: float
) -> Tensor:
    """Return the maxima (`infinity` is -inf) or minima (inf) of sorted segments, 0 for segments without rows."""
    rows, (ids, segment_count) = convert_to_tensor(data), _checked_ids(segment_ids)

    def neutral_of(dtype: Any) -> Any:
        finite_extreme = dtype.min if infinity < 0 else dtype.max
        return infinity if dtype.is_floating else finite_extreme

    extremes = _segment_extreme(function, rows, ids, segment_count, scatter, neutral_of)
    row_counts = unsorted_segment_sum(ones_like(ids), ids, segment_count)
    for _ in range(len(rows.shape) - 1):
        row_counts = expand_dims(row_counts, -1)
    return where(apply("greater", row_counts, cast(0, row_counts.dtype)), extremes, zeros((), rows.dtype))
