"""Reading and writing rows and elements by index arrays, and selection between tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.api.tensors.accepted_dtypes import as_indices, check_dtype
from autoconv.api.tensors.arguments import shape_argument, static_int
from autoconv.api.tensors.axis_choice import accepts_run_time_axes
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtype_sets import INDICES, LARGE_INTEGERS, NUMERIC
from autoconv.graph.dtypes import as_dtype, bool_, float32, int8, int32, int64, uint8
from autoconv.runtime.annotations import AxisLike, DTypeLike, ShapeLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor, has_symbolic_or_variable
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


@accepts_run_time_axes()
def gather(
    params: TensorLike, indices: TensorLike, validate_indices: Any = None, axis: AxisLike | None = None,
    batch_dims: AxisLike = 0,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The slices of `params` along `axis` at `indices`; the first `batch_dims` dimensions of both are a common batch.

    `axis` is `batch_dims` by default; a negative `batch_dims` is counted from the rank of `indices`. Raises
    InvalidArgumentError for an index that is not in [0, size). `validate_indices` has no effect.

    >>> autoconv.gather([[1, 2], [3, 4], [5, 6]], [2, 0]).numpy()
    array([[5, 6],
           [1, 2]], dtype=int32)
    """
    check_dtype("gather", INDICES, indices)
    batch_rank = static_int(batch_dims, "batch_dims")
    if batch_rank < 0:
        rank = convert_to_tensor(indices).shape.rank
        if rank is None:
            raise ValueError("a negative batch_dims needs indices of known rank")
        batch_rank += rank
    gather_axis = static_int(batch_dims, "batch_dims") if axis is None else static_int(axis, "axis")
    return apply("gather", params, _index_array(indices), axis=gather_axis, batch_dims=batch_rank, name=name)


def _index_array(indices: TensorLike) -> Any:
    """Return indices unchanged, but an empty list as an int32 array of its shape: as a tensor it would be floats."""
    if isinstance(indices, (list, tuple)) and not has_symbolic_or_variable(indices) and not np.size(indices):
        return np.zeros(np.shape(indices), np.int32)
    return indices


def gather_nd(
    params: TensorLike, indices: TensorLike, batch_dims: AxisLike = 0, name: str | None = None,
    bad_indices_policy: str = ""
) -> Tensor:
    """The elements or slices at the coordinates in the last dimension of `indices`.

    Raises InvalidArgumentError for coordinates out of range.

    >>> autoconv.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy()
    array([2, 3], dtype=int32)
    """
    _refuse_ignored_indices(bad_indices_policy)
    check_dtype("gather_nd", INDICES, indices)
    batch_rank = static_int(batch_dims, "batch_dims")
    return apply("gather_nd", params, _index_array(indices), batch_dims=batch_rank, name=name)


def _refuse_ignored_indices(policy: str) -> None:
    """Raise NotImplementedError for the policy "IGNORE": indices out of range always raise InvalidArgumentError."""
    if policy == "IGNORE":
        raise NotImplementedError("bad_indices_policy='IGNORE': remove the indices that are out of range before")


def scatter_nd(indices: TensorLike, updates: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Zeros of that shape, with `updates` added at the coordinates in the last dimension of `indices`.

    >>> autoconv.scatter_nd([[1], [3]], [7, 8], shape=[4]).numpy()
    array([0, 7, 0, 8], dtype=int32)
    """
    check_dtype("scatter_nd", INDICES, indices)
    operands, static_shape = shape_argument(shape)
    return apply("scatter_nd", indices, updates, *operands, shape=static_shape, name=name)


def tensor_scatter_nd_update(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """A copy of `tensor` with `updates` at the coordinates in `indices`; of several for one element, the last one.

    >>> autoconv.tensor_scatter_nd_update([1, 2, 3], [[1]], [9]).numpy()
    array([1, 9, 3], dtype=int32)
    """
    return apply("tensor_scatter_nd_update", tensor, indices, updates, name=name)


def tensor_scatter_nd_add(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """A copy of `tensor` with `updates` added at the coordinates in `indices`.

    >>> autoconv.tensor_scatter_nd_add([1, 2, 3], [[1]], [9]).numpy()
    array([ 1, 11,  3], dtype=int32)
    """
    _refuse_ignored_indices(bad_indices_policy)
    return apply("tensor_scatter_nd_add", tensor, indices, updates, name=name)


def tensor_scatter_nd_sub(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """A copy of `tensor` with `updates` subtracted at the coordinates in `indices`.

    >>> autoconv.tensor_scatter_nd_sub([1, 2, 3], [[1]], [9]).numpy()
    array([ 1, -7,  3], dtype=int32)
    """
    _refuse_ignored_indices(bad_indices_policy)
    return apply("tensor_scatter_nd_sub", tensor, indices, updates, name=name)


def tensor_scatter_nd_min(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """A copy of `tensor` with the minimum of it and `updates` at the coordinates in `indices`.

    >>> autoconv.tensor_scatter_nd_min([1, 2, 3], [[1]], [0]).numpy()
    array([1, 0, 3], dtype=int32)
    """
    _refuse_ignored_indices(bad_indices_policy)
    return apply("tensor_scatter_nd_min", tensor, indices, updates, name=name)


def tensor_scatter_nd_max(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """A copy of `tensor` with the maximum of it and `updates` at the coordinates in `indices`.

    >>> autoconv.tensor_scatter_nd_max([1, 2, 3], [[1]], [9]).numpy()
    array([1, 9, 3], dtype=int32)
    """
    _refuse_ignored_indices(bad_indices_policy)
    return apply("tensor_scatter_nd_max", tensor, indices, updates, name=name)


def where(
    condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """`x` where the condition is true, else `y`, all broadcast; without `x` and `y`, the coordinates of true elements.

    The coordinates are int64, of shape [number of true elements, rank of the condition]. Raises ValueError if only one
    of x and y is given.

    >>> autoconv.where([True, False], [1, 2], [3, 4]).numpy()
    array([1, 4], dtype=int32)
    >>> autoconv.where([[False, True], [True, False]]).numpy()
    array([[0, 1],
           [1, 0]])
    """
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None.")
    if x is not None:
        return apply("select", condition, x, y, name=name)
    mask = convert_to_tensor(condition)
    check_dtype("where", NUMERIC | {bool_}, mask)
    if mask.shape.rank == 0:
        raise InvalidArgumentError("where() without x and y needs a condition of at least 1 dimension, found a scalar")
    if not mask.dtype.is_bool:
        mask = apply("not_equal", mask, apply("zeros_like", mask))
    return apply("where_indices", mask, name=name)


@accepts_run_time_axes(new_axes=1)
def one_hot(
    indices: TensorLike, depth: int, on_value: TensorLike | None = None, off_value: TensorLike | None = None,
    axis: AxisLike | None = None,
    dtype: DTypeLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return vectors of `depth` along `axis` (default: last): `on_value` at each index, `off_value` elsewhere.

    The values are 1 and 0 by default. A vector for an index out of range has `off_value` only. The dtype is that of the
    given values, float32 without them.

    >>> autoconv.one_hot([0, 2], depth=3).numpy()
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    indices = as_indices("one_hot", indices, LARGE_INTEGERS | {int8, uint8}, int64)
    depth = as_indices("one_hot", depth, frozenset({int32}))
    given_values = [value for value in (on_value, off_value) if value is not None]
    default_dtype = convert_to_tensor(given_values[0]).dtype if given_values else float32
    out_dtype = default_dtype if dtype is None else as_dtype(dtype)
    if out_dtype.is_string and len(given_values) < 2:
        raise TypeError("one_hot of strings needs both on_value and off_value")
    on_tensor, off_tensor = (
        convert_to_tensor(value, out_dtype) if value is not None else np.array(default, out_dtype.numpy)
        for value, default in ((on_value, 1), (off_value, 0))
    )
    static_depth = static_value(depth)
    operands = () if static_depth is not None else (convert_to_tensor(depth),)
    return apply(
        "one_hot", indices, on_tensor, off_tensor, *operands, depth=None if static_depth is None else int(static_depth),
        axis=-1 if axis is None else static_int(axis, "axis"), dtype=out_dtype, name=name,
    )  # fmt: skip


def segment_sum(data: TensorLike, segment_ids: TensorLike, name: str | None = None) -> Tensor:
    """Row i of the result is the sum of the rows of `data` whose id is i, up to the greatest id.

    Raises InvalidArgumentError for ids that decrease.

    >>> autoconv.math.segment_sum([1, 2, 3], [0, 0, 1]).numpy()
    array([3, 3], dtype=int32)
    """
    check_dtype("segment_sum", NUMERIC, data)
    return apply("segment_sum", data, increasing_ids(segment_ids), num_segments=None, name=name)


def increasing_ids(segment_ids: TensorLike) -> Tensor:
    """Return the ids as a tensor. InvalidArgumentError is raised at run time if they decrease or are negative."""
    ids = convert_to_tensor(segment_ids)
    check_dtype("segment_ids", LARGE_INTEGERS, ids)
    are_nonnegative = apply("reduce_all", apply("greater_equal", ids, 0), axis=None, keepdims=False)
    apply("assert_true", are_nonnegative, message="a segment id is out of range: it is negative", failure="check")
    if ids.shape.rank in (1, None) and ids.shape != (1,):
        is_in_order = apply("greater_equal", get_item(ids, slice(1, None)), get_item(ids, slice(None, -1)))
        is_sorted = apply("reduce_all", is_in_order, axis=None, keepdims=False)
        apply("assert_true", is_sorted, message="segment ids are not increasing", failure="check")
    return ids


def unsorted_segment_sum(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """`segment_sum` with `num_segments` rows. Rows with a negative id are dropped.

    Raises InvalidArgumentError for an id from `num_segments` on.

    >>> autoconv.math.unsorted_segment_sum([1, 2, 3], [1, 0, 1], num_segments=2).numpy()
    array([2, 4], dtype=int32)
    """
    ids, static_count = convert_to_tensor(segment_ids), static_value(num_segments)
    static_ids = static_value(ids)
    count = apply("cast", num_segments, dtype=ids.dtype) if static_count is None else int(static_count)
    if static_ids is None or (np.asarray(static_ids) < 0).any():  # negative ids have a further segment, the last
        return get_item(_sum_by_count(data, move_negative_ids(ids, count), count + 1), slice(None, -1))
    return _sum_by_count(data, ids, count, name)


def _sum_by_count(data: TensorLike, ids: Tensor, count: Any, name: str | None = None) -> Tensor:
    """Return the sums of `count` segments; `count` is an int, or a scalar tensor of the dtype of the ids."""
    operands, static_count = ((), count) if isinstance(count, int) else ((count,), None)
    return apply("segment_sum", data, ids, *operands, num_segments=static_count, name=name)


def move_negative_ids(ids: Tensor, segment_count: Any) -> Tensor:
    """Return the ids with `segment_count` in place of negative ones: a further segment, which the caller drops.

    Ids from `segment_count` on are raised by 1, so that they stay out of range.
    """
    nonnegative_ids = where(apply("less", ids, segment_count), ids, apply("add", ids, 1))
    return where(apply("less", ids, 0), segment_count, nonnegative_ids)


def dynamic_partition(
    data: TensorLike, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Tensor]:
    """The rows of `data` in `num_partitions` tensors; `partitions` holds the number of the tensor for each row.

    Raises InvalidArgumentError for other numbers than 0 to `num_partitions` - 1.

    >>> [part.numpy().tolist() for part in autoconv.dynamic_partition([1, 2, 3], [0, 1, 0], 2)]
    [[1, 3], [2]]
    """
    partitions = as_indices("dynamic_partition", partitions, frozenset({int32}))
    x, ids = convert_to_tensor(data), convert_to_tensor(partitions)
    is_in_range = apply("logical_and", apply("greater_equal", ids, 0), apply("less", ids, num_partitions))
    message = f"dynamic_partition: a number in partitions is not in [0, {num_partitions})"
    apply("assert_true", apply("reduce_all", is_in_range, axis=None, keepdims=False), message=message, failure="check")
    return [get_item(x, ids == i) for i in range(num_partitions)]
