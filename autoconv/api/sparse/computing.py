"""Arithmetic, products and reductions of sparse tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.api.control.checks import Assert
from autoconv.api.sparse.coordinates import (
    column,
    coordinates,
    element_count,
    positions,
    row_count,
    select_rows,
    sort_rows,
    static_rank,
    true_rows,
    unite_positions,
)
from autoconv.api.sparse.tensor import SparseTensor, sparse_argument
from autoconv.api.tensors.accepted_dtypes import with_default_dtype
from autoconv.api.tensors.arguments import static_axes
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import zeros
from autoconv.api.tensors.gather import (
    gather,
    increasing_ids,
    scatter_nd,
    tensor_scatter_nd_add,
    tensor_scatter_nd_update,
    unsorted_segment_sum,
)
from autoconv.api.tensors.maths import abs as magnitude
from autoconv.api.tensors.maths import conj, exp
from autoconv.api.tensors.segments import unsorted_segment_max, unsorted_segment_sqrt_n
from autoconv.api.tensors.segments import unsorted_segment_mean as unsorted_mean
from autoconv.api.tensors.shaping import concat, expand_dims, reshape, stack, transpose
from autoconv.api.tensors.sorting import unique
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtype_sets import LARGE_INTEGERS
from autoconv.graph.dtypes import int32, int64
from autoconv.runtime.annotations import AxisLike, IntLike, TensorLike
from autoconv.runtime.objects.variable_updates import IndexedSlices
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def add(a: Any, b: Any, threshold: TensorLike = 0) -> Any:
    """Return a + b: sparse if both are, else dense.

    A sparse result omits sums of two values below `threshold` in magnitude. Raises TypeError if neither is sparse.

    >>> x = autoconv.SparseTensor([[0], [2]], [5, 6], [3])
    >>> autoconv.sparse.add(x, x).values.numpy(), autoconv.sparse.add(x, [1, 1, 1]).numpy()
    (array([10, 12], dtype=int32), array([6, 1, 7], dtype=int32))
    """
    if not isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        raise TypeError("At least one input should be SparseTensor; do you mean to use autoconv.add()?")
    if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
        _require_one_shape(a, b)
        result, is_in_both = _combine_over_union(a, b, lambda first, second: first + second)
        if isinstance(threshold, (int, float)) and threshold == 0:
            return result
        magnitudes = magnitude(result.values)
        is_large = magnitudes >= cast(convert_to_tensor(threshold), magnitudes.dtype)
        return select_rows(result, true_rows(apply("logical_or", is_large, apply("logical_not", is_in_both))))
    sparse, dense = (a, b) if isinstance(a, SparseTensor) else (b, a)
    return tensor_scatter_nd_add(convert_to_tensor(dense, sparse.dtype), sparse.indices, sparse.values)


def maximum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """Return the greater of the two elements at each position that one of the tensors has; a missing element is zero.

    >>> x, y = autoconv.SparseTensor([[0]], [-5], [2]), autoconv.SparseTensor([[1]], [6], [2])
    >>> autoconv.sparse.maximum(x, y).values.numpy()
    array([0, 6], dtype=int32)
    """
    return _elementwise_extreme("maximum", sp_a, sp_b)


def minimum(sp_a: SparseTensor, sp_b: SparseTensor, name: str | None = None) -> SparseTensor:
    """Return the smaller of the two elements at each position that one of the tensors has; a missing element is zero.

    >>> x, y = autoconv.SparseTensor([[0]], [-5], [2]), autoconv.SparseTensor([[1]], [6], [2])
    >>> autoconv.sparse.minimum(x, y).values.numpy()
    array([-5,  0], dtype=int32)
    """
    return _elementwise_extreme("minimum", sp_a, sp_b)


def _elementwise_extreme(op: str, first: SparseTensor, second: SparseTensor) -> SparseTensor:
    """Return the result of `op`, "maximum" or "minimum", as the public function does."""
    first, second = sparse_argument(first), sparse_argument(second)
    _require_one_shape(first, second)
    result, _ = _combine_over_union(first, second, lambda x, y: apply(op, x, y))
    return result


def _require_one_shape(first: SparseTensor, second: SparseTensor) -> None:
    """Raise InvalidArgumentError for known shapes that differ."""
    if not first.shape.is_compatible_with(second.shape):
        raise InvalidArgumentError(f"Operands do not have the same shape: {first.shape} and {second.shape}")


def _combine_over_union(
    a: SparseTensor, b: SparseTensor, combine: Callable[[Any, Any], Tensor]
) -> tuple[SparseTensor, Tensor]:
    """Return a sparse tensor with combine(x, y) at each coordinate that one of two tensors has, and a mask.

    A value that a tensor lacks is zero. The mask is True for the coordinates that both tensors have.
    """
    union_positions, indices_in_union = unite_positions([a, b])
    count = expand_dims(row_count(union_positions), 0)
    first, second = (
        scatter_nd(expand_dims(union_indices, 1), operand.values, count) for union_indices, operand in zip(
            indices_in_union, (a, b), strict=True
        )
    )
    sparse = SparseTensor(coordinates(union_positions, a.dense_shape), combine(first, second), a.dense_shape)
    sparse.set_shape(a.shape.merge_with(b.shape))
    all_indices = concat(indices_in_union, 0)
    occurrences = scatter_nd(expand_dims(all_indices, 1), apply("ones_like", all_indices), count)
    return sparse, occurrences > 1


def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> SparseTensor:
    """Return a sparse tensor whose values are `op` of the values of the sparse tensors among the arguments.

    The sparse tensors have to have the same coordinates; those of the first one are taken. Raises ValueError if no
    argument is sparse.

    >>> autoconv.sparse.map_values(autoconv.square, autoconv.SparseTensor([[1]], [5], [3])).values.numpy()
    array([25], dtype=int32)
    """
    sparse_arguments = [value for value in (*args, *kwargs.values()) if isinstance(value, SparseTensor)]
    if not sparse_arguments:
        raise ValueError("No SparseTensor in argument list of map_values")
    values_of = lambda value: value.values if isinstance(value, SparseTensor) else value
    options = {name: values_of(value) for name, value in kwargs.items()}
    return sparse_arguments[0].with_values(op(*map(values_of, args), **options))


def mask(a: IndexedSlices, mask_indices: TensorLike, name: str | None = None) -> IndexedSlices:
    """Return the rows of IndexedSlices whose indices are not among `mask_indices`.

    >>> rows = autoconv.IndexedSlices(autoconv.constant([1.0, 2.0]), autoconv.constant([3, 5]), [6])
    >>> autoconv.sparse.mask(rows, [3]).indices.numpy()
    array([5], dtype=int32)
    """
    indices = convert_to_tensor(a.indices)
    masked_indices = cast(convert_to_tensor(mask_indices), indices.dtype)
    is_masked = apply("equal", expand_dims(indices, 1), expand_dims(masked_indices, 0))
    unmasked_positions = true_rows(apply("logical_not", apply("reduce_any", is_masked, axis=(1,), keepdims=False)))
    return IndexedSlices(gather(a.values, unmasked_positions), gather(indices, unmasked_positions), a.dense_shape)


def sparse_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Tensor:
    """Return the matrix product of a sparse and a dense matrix, in either order.

    >>> autoconv.sparse.sparse_dense_matmul(autoconv.SparseTensor([[0, 1]], [5], [1, 2]), [[1, 2], [3, 4]]).numpy()
    array([[15, 20]], dtype=int32)
    """
    if isinstance(b, SparseTensor):  # a @ b is the adjoint of b^H @ a^H
        product = sparse_dense_matmul(b, sp_a, adjoint_a=not adjoint_b, adjoint_b=not adjoint_a)
        return transpose(conj(product) if product.dtype.is_complex else product)
    sparse = sparse_argument(sp_a)
    dense = convert_to_tensor(b, sparse.dtype)
    if adjoint_b:
        dense = transpose(conj(dense) if dense.dtype.is_complex else dense)
    rows, columns = column(sparse.indices, 0), column(sparse.indices, 1)
    values = sparse.values
    if adjoint_a:
        rows, columns = columns, rows
        values = conj(values) if values.dtype.is_complex else values
    row_axis = 1 if adjoint_a else 0
    inner_size = get_item(sparse.dense_shape, 1 - row_axis)
    inner_sizes_agree = apply("equal", inner_size, get_item(apply("shape", dense, dtype=int64), 0))
    message = "Cannot multiply A and B because inner dimension does not match. Did you forget a transpose?"
    Assert(inner_sizes_agree, [message])
    height = sparse.shape[row_axis] if sparse.shape.rank is not None else None
    products = expand_dims(values, 1) * _dense_rows(dense, columns)
    return unsorted_segment_sum(
        products, rows, get_item(sparse.dense_shape, row_axis) if height is None else height
    )


def _dense_rows(tensor: Tensor, indices: Tensor) -> Tensor:
    """Return the rows of a tensor at `indices`. The gradient is a tensor, while that of `gather` is IndexedSlices."""
    return get_item(gather(expand_dims(tensor, 0), indices, axis=1), 0)


def softmax(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """Return the softmax of the values of each row, along the last dimension; missing elements stay missing.

    >>> autoconv.sparse.softmax(autoconv.SparseTensor([[0, 0], [0, 2]], [1.0, 1.0], [1, 3])).values.numpy()
    array([0.5, 0.5], dtype=float32)
    """
    sparse = sparse_argument(sp_input)
    all_but_last = slice(None, -1)
    sizes = get_item(sparse.dense_shape, all_but_last)
    row_positions = positions(get_item(sparse.indices, (slice(None), all_but_last)), sizes)
    _, row_ids = unique(row_positions, out_idx=int64)
    count = row_count(row_ids)
    row_maxima = unsorted_segment_max(sparse.values, row_ids, count)
    powers = exp(sparse.values - gather(row_maxima, row_ids))
    return sparse.with_values(powers / gather(unsorted_segment_sum(powers, row_ids, count), row_ids))


def reduce_sum(
    sp_input: SparseTensor, axis: AxisLike | None = None, keepdims: bool | None = None,
    output_is_sparse: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the sum over axes, all by default: a dense tensor, or with `output_is_sparse` a sparse one.

    >>> autoconv.sparse.reduce_sum(autoconv.SparseTensor([[0, 1], [1, 1]], [5, 6], [2, 2]), axis=0).numpy()
    array([ 0, 11], dtype=int32)
    """
    return _reduce(sp_input, axis, keepdims, output_is_sparse, unsorted_segment_sum)


def reduce_max(
    sp_input: SparseTensor, axis: AxisLike | None = None, keepdims: bool | None = None,
    output_is_sparse: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the maximum of the values over axes, all by default; a dense result is 0 where there are no values.

    >>> autoconv.sparse.reduce_max(autoconv.SparseTensor([[0, 1], [1, 1]], [-5, -6], [2, 2]), axis=0).numpy()
    array([ 0, -5], dtype=int32)
    """
    return _reduce(sp_input, axis, keepdims, output_is_sparse, unsorted_segment_max)


def _reduce(
    value: SparseTensor, axis: AxisLike | None, keepdims: bool | None, gives_sparse: bool, reduce: Callable[..., Tensor]
) -> Any:
    """Return a reduction over axes, sparse or dense; `reduce(values, segment ids, segment count)` combines values."""
    sparse = sparse_argument(value)
    rank = static_rank(sparse)
    axes = {_check_axis(dimension, rank) for dimension in (range(rank) if axis is None else static_axes(axis) or ())}
    remaining_axes = [dimension for dimension in range(rank) if dimension not in axes]
    axis_tensor = convert_to_tensor(np.array(remaining_axes, np.int64))
    sizes = gather(sparse.dense_shape, axis_tensor)
    result_positions = positions(gather(sparse.indices, axis_tensor, axis=1), sizes)
    distinct_positions, segment_ids = unique(result_positions, out_idx=int64)
    values = reduce(sparse.values, segment_ids, row_count(distinct_positions))
    shape = [sparse.shape[dimension] for dimension in remaining_axes]
    if keepdims:
        result_sizes = [convert_to_tensor(np.int64(1)) if dimension in axes else get_item(sparse.dense_shape, dimension)
                 for dimension in range(rank)]  # fmt: skip
        result_shape = stack(result_sizes)
        shape = [1 if dimension in axes else sparse.shape[dimension] for dimension in range(rank)]
    else:
        result_shape = sizes
    if gives_sparse:
        result = SparseTensor(coordinates(distinct_positions, result_shape), values, result_shape)
        result.set_shape(shape)
        return sort_rows(result)
    result_size = expand_dims(element_count(sizes), 0)
    flat_result = tensor_scatter_nd_update(zeros(result_size, sparse.dtype), expand_dims(distinct_positions, 1), values)
    static_shape = [-1 if size is None else size for size in shape]
    return reshape(flat_result, static_shape if shape.count(None) < 2 else result_shape)  # one -1 can be inferred


def _check_axis(axis: int, rank: int) -> int:
    """Return the axis as a number from 0 on; raise ValueError if it is out of range."""
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of range for {rank} dimensions")
    return axis % rank


def segment_sum(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: IntLike | None = None,
    name: str | None = None, sparse_gradient: bool = False,
) -> Tensor:  # fmt: skip
    """Return the sum of the rows of each segment: row `data[indices[i]]` belongs to the segment `segment_ids[i]`.

    By default `num_segments` is the last id plus 1. `sparse_gradient` has no effect.

    >>> autoconv.sparse.segment_sum([1, 2, 4], [0, 2, 1], [0, 0, 1]).numpy()
    array([5, 2], dtype=int32)
    """
    return _reduce_segments(data, indices, segment_ids, num_segments, unsorted_segment_sum)


def segment_mean(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: IntLike | None = None,
    name: str | None = None, sparse_gradient: bool = False,
) -> Tensor:  # fmt: skip
    """Return the mean of the rows of each segment; parameters as in `segment_sum`.

    `sparse_gradient` has no effect.

    >>> autoconv.sparse.segment_mean([1.0, 2.0, 4.0], [0, 2, 1], [0, 0, 1]).numpy()
    array([2.5, 2. ], dtype=float32)
    """
    return _reduce_segments(data, indices, segment_ids, num_segments, unsorted_mean)


def segment_sqrt_n(
    data: TensorLike, indices: TensorLike, segment_ids: TensorLike, num_segments: IntLike | None = None,
    name: str | None = None, sparse_gradient: bool = False,
) -> Tensor:  # fmt: skip
    """Return the results of `segment_sum`, divided by the square root of the number of rows of each segment.

    `sparse_gradient` has no effect.

    >>> autoconv.sparse.segment_sqrt_n([1.0, 2.0], [0, 0, 1, 1], [0, 0, 0, 0]).numpy()
    array([3.], dtype=float32)
    """
    return _reduce_segments(data, indices, segment_ids, num_segments, unsorted_segment_sqrt_n)


def _reduce_segments(
    data: TensorLike, indices: TensorLike, ids: TensorLike, count: IntLike | None, reduce: Callable[..., Tensor]
) -> Tensor:
    """Return `reduce` of the rows of `data` at `indices` for `count` segments, by default the last id plus 1."""
    sorted_ids = increasing_ids(with_default_dtype(ids, int32, LARGE_INTEGERS))
    if count is None:
        count = segment_count(sorted_ids)
    rows = _dense_rows(convert_to_tensor(data), with_default_dtype(indices, int32, LARGE_INTEGERS))
    return reduce(rows, sorted_ids, count)


def segment_count(ids: Tensor) -> Tensor:
    """Return the greatest segment number plus one, 0 without segments."""
    return apply("reduce_max", concat([cast(ids, int64) + 1, zeros([1], int64)], 0), axis=(0,), keepdims=False)
