"""Reordering, reshaping, slicing, splitting and concatenation of sparse tensors."""

from __future__ import annotations

from collections.abc import Sequence
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
)
from autoconv.api.sparse.tensor import SparseTensor, sparse_argument
from autoconv.api.tensors.arguments import static_int
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import fill, ones, zeros
from autoconv.api.tensors.gather import gather, scatter_nd, where
from autoconv.api.tensors.reductions import reduce_all, reduce_prod
from autoconv.api.tensors.shaping import concat as concat_dense
from autoconv.api.tensors.shaping import expand_dims as expand_dense
from autoconv.api.tensors.shaping import stack
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import int64
from autoconv.runtime.annotations import AxisLike, ShapeLike, TensorLike
from autoconv.runtime.support.shape import TensorShape
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_sizes, static_value
from autoconv.runtime.tensors.tensor import Tensor


def reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """Return the sparse tensor with its coordinates in row-major order.

    >>> autoconv.sparse.reorder(autoconv.SparseTensor([[1], [0]], [5, 6], [2])).values.numpy()
    array([6, 5], dtype=int32)
    """
    return sort_rows(sparse_argument(sp_input))


def reshape(sp_input: SparseTensor, shape: ShapeLike, name: str | None = None) -> SparseTensor:
    """Return the sparse tensor in another shape, whose sizes may include one -1.

    Raises ValueError, or InvalidArgumentError at run time, for a shape of another number of elements.

    >>> autoconv.sparse.reshape(autoconv.SparseTensor([[1, 0]], [5], [2, 2]), [-1]).indices.numpy()
    array([[2]])
    """
    sparse = sparse_argument(sp_input)
    tensor = convert_to_tensor(shape)
    requested_sizes = cast(tensor, int64)
    count = element_count(sparse.dense_shape)
    known_product = reduce_prod(apply("select", requested_sizes == -1, convert_to_tensor(np.int64(1)), requested_sizes))
    inferred_size = count // apply("maximum", known_product, convert_to_tensor(np.int64(1)))
    sizes = apply("select", requested_sizes == -1, inferred_size, requested_sizes)
    static_shape = static_sizes(tensor)
    if static_shape is not None and sparse.shape.is_fully_defined():
        static_shape = _infer_size(static_shape, sparse.shape.num_elements() or 0, static_value(tensor))
    Assert(apply("equal", reduce_prod(sizes), count), ["Input to reshape has another number of elements:", count])
    flat_positions = positions(sparse.indices, sparse.dense_shape)
    result = SparseTensor(coordinates(flat_positions, sizes), sparse.values, sizes)
    result.set_shape(TensorShape(static_shape))
    return result


def _infer_size(sizes: tuple[int | None, ...], total: int, known_request: Any) -> tuple[int | None, ...]:
    """Return the sizes with the only None replaced by the size for which there are `total` elements.

    `known_request` are the sizes that the user gave, with -1 for the None. If it is None, some of them are not known,
    and nothing is inferred. Raises InvalidArgumentError
    if the sizes have another number of elements.
    """
    if known_request is None:
        return sizes
    product = int(np.prod([size for size in sizes if size is not None]))
    if None in sizes and product and total % product == 0:
        return tuple(total // product if size is None else size for size in sizes)
    if product != total:
        requested_shape = np.ravel(known_request).tolist()
        raise InvalidArgumentError(f"Cannot reshape a tensor with {total} elements to shape {requested_shape}.")
    return sizes


def transpose(sp_input: SparseTensor, perm: Sequence[int] | None = None, name: str | None = None) -> SparseTensor:
    """Return the sparse tensor with its dimensions in the order `perm`, reversed by default.

    >>> autoconv.sparse.transpose(autoconv.SparseTensor([[0, 2]], [5], [2, 3])).dense_shape.numpy()
    array([3, 2])
    """
    sparse = sparse_argument(sp_input)
    order = static_value(perm) if perm is not None else np.arange(static_rank(sparse))[::-1]
    if order is None:
        raise TypeError(f"perm has to be known while tracing, found {perm!r}")
    axes = convert_to_tensor(np.asarray(order, np.int64))
    result = SparseTensor(gather(sparse.indices, axes, axis=1), sparse.values, gather(sparse.dense_shape, axes))
    if sparse.shape.rank is not None:
        result.set_shape([sparse.shape[int(axis)] for axis in np.asarray(order)])
    return sort_rows(result)


def expand_dims(sp_input: SparseTensor, axis: int | None = None, name: str | None = None) -> SparseTensor:
    """Return the sparse tensor with a further dimension of size 1 at `axis`, the last by default.

    >>> autoconv.sparse.expand_dims(autoconv.SparseTensor([[1]], [5], [2]), 0).indices.numpy()
    array([[0, 1]])
    """
    sparse = sparse_argument(sp_input)
    rank = static_rank(sparse)
    new_axis = -1 if axis is None else static_int(axis, "axis")
    if not -rank - 1 <= new_axis <= rank:
        raise ValueError(f"axis {new_axis} must be in [-{rank + 1}, {rank}]")
    new_axis = new_axis + rank + 1 if new_axis < 0 else new_axis
    zero_column = zeros(stack([row_count(sparse.indices), np.int64(1)]), int64)
    before, after = slice(None, new_axis), slice(new_axis, None)
    leading, trailing = (get_item(sparse.indices, (slice(None), axes)) for axes in (before, after))
    leading_sizes, trailing_sizes = (get_item(sparse.dense_shape, axes) for axes in (before, after))
    result = SparseTensor(
        concat_dense([leading, zero_column, trailing], 1),
        sparse.values,
        concat_dense([leading_sizes, ones([1], int64), trailing_sizes], 0),
    )
    result.set_shape([*sparse.shape[:new_axis], 1, *sparse.shape[new_axis:]])
    return result


def slice_(sp_input: SparseTensor, start: TensorLike, size: TensorLike, name: str | None = None) -> SparseTensor:
    """Return the part of at most `size` elements from `start` on along each dimension.

    >>> autoconv.sparse.slice(autoconv.SparseTensor([[0, 0], [1, 1]], [5, 6], [2, 2]), [1, 0], [1, 2]).values.numpy()
    array([6], dtype=int32)
    """
    sparse = sparse_argument(sp_input)
    starts, requested_sizes = cast(convert_to_tensor(start), int64), cast(convert_to_tensor(size), int64)
    available_sizes = apply("maximum", sparse.dense_shape - starts, convert_to_tensor(np.int64(0)))
    sizes = apply("minimum", requested_sizes, available_sizes)
    is_inside = apply("logical_and", sparse.indices >= starts, sparse.indices < starts + sizes)
    rows_inside = select_rows(sparse, true_rows(reduce_all(is_inside, axis=1)))
    result = SparseTensor(rows_inside.indices - starts, rows_inside.values, sizes)
    static_starts, static_sizes_ = static_value(start), static_value(size)
    if sparse.shape.rank is not None and static_starts is not None and static_sizes_ is not None:
        dimensions = zip(np.ravel(static_starts).tolist(), np.ravel(static_sizes_).tolist(), sparse.shape, strict=True)
        result.set_shape(
            [None if side is None else max(min(size, side - start), 0) for start, size, side in dimensions]
        )
    return result


def split(
    sp_input: Any = None, num_split: int | None = None, axis: AxisLike | None = None, name: str | None = None
) -> list[SparseTensor]:
    """Return `num_split` parts of a sparse tensor along `axis`; lengths differ by one at most, longer ones come first.

    >>> [part.shape for part in autoconv.sparse.split(autoconv.sparse.eye(3), num_split=2, axis=0)]
    [TensorShape([2, 3]), TensorShape([1, 3])]
    """
    if sp_input is None or num_split is None or axis is None:
        raise ValueError("sparse.split needs sp_input, num_split and axis")
    sparse, positive_axis = sparse_argument(sp_input), static_int(axis, "axis")
    positive_axis = positive_axis + static_rank(sparse) if positive_axis < 0 else positive_axis
    length, part_count = sparse.shape[positive_axis], static_int(num_split, "num_split")
    if length is None:
        raise ValueError("the size along the axis of sparse.split has to be known")
    if part_count > length:
        raise ValueError(f"num_split should be in the interval [1, {length}], found {part_count}")
    min_length, longer_part_count = divmod(length, part_count)
    parts, start = [], 0
    for number in range(part_count):
        part_length = min_length + 1 if number < longer_part_count else min_length
        starts = np.zeros(static_rank(sparse), np.int64)
        starts[positive_axis] = start
        sizes = [convert_to_tensor(np.int64(part_length)) if i == positive_axis else get_item(sparse.dense_shape, i)
                 for i in range(static_rank(sparse))]  # fmt: skip
        part = slice_(sparse, starts, stack(sizes))
        part.set_shape([part_length if i == positive_axis else size for i, size in enumerate(sparse.shape)])
        parts.append(part)
        start += part_length
    return parts


def concat(
    axis: AxisLike, sp_inputs: Sequence[SparseTensor], expand_nonconcat_dims: bool = False, name: str | None = None
) -> SparseTensor:
    """Concatenate sparse tensors along `axis`.

    Along the other axes, tensors must have equal sizes, else InvalidArgumentError is raised. With
    `expand_nonconcat_dims`, they may differ, and the result has the largest one.

    >>> x = autoconv.SparseTensor([[0, 1]], [5], [1, 2])
    >>> autoconv.sparse.concat(0, [x, x]).indices.numpy()
    array([[0, 1],
           [1, 1]])
    """
    tensors = [sparse_argument(tensor) for tensor in sp_inputs]
    if len(tensors) == 1:
        return tensors[0]
    rank = static_rank(tensors[0])
    positive_axis = static_int(axis, "axis")
    positive_axis = positive_axis + rank if positive_axis < 0 else positive_axis
    if not 0 <= positive_axis < rank:
        raise ValueError(f"axis {axis!r} is out of range for {rank} dimensions")
    shapes = [tensor.shape.as_list() for tensor in tensors]
    if not expand_nonconcat_dims:
        _check_sizes_beside(positive_axis, shapes)
    is_joined_axis = np.arange(rank) == positive_axis
    indices = []
    offset: Any = convert_to_tensor(np.zeros(rank, np.int64))  # at the end, the size along the joined axis
    for tensor in tensors:
        indices.append(tensor.indices + offset)
        offset = offset + apply("select", is_joined_axis, tensor.dense_shape, np.zeros(rank, np.int64))
    max_sizes: Any = tensors[0].dense_shape
    for tensor in tensors[1:]:
        max_sizes = apply("maximum", max_sizes, tensor.dense_shape)
    values = concat_dense([tensor.values for tensor in tensors], 0)
    sparse = SparseTensor(concat_dense(indices, 0), values, apply("select", is_joined_axis, offset, max_sizes))
    sparse.set_shape([_static_size(i == positive_axis, [shape[i] for shape in shapes]) for i in range(rank)])
    return sort_rows(sparse)


def _check_sizes_beside(axis: int, shapes: Sequence[Sequence[int | None]]) -> None:
    """Raise InvalidArgumentError if the known sizes of the shapes differ along another axis than `axis`."""
    for shape in shapes[1:]:
        pairs = enumerate(zip(shapes[0], shape, strict=True))
        if any(i != axis and None not in pair and pair[0] != pair[1] for i, pair in pairs):
            raise InvalidArgumentError(
                f"Input shapes do not match along dimensions other than {axis}: {shapes[0]} and {shape}"
            )


def _static_size(is_joined: bool, sizes: Sequence[int | None]) -> int | None:
    """Return a size of a concatenation: the sum along the joined axis, else the largest; None if one is not known."""
    known_sizes = [size for size in sizes if size is not None]
    if len(known_sizes) < len(sizes):
        return None
    return sum(known_sizes) if is_joined else max(known_sizes)


def retain(sp_input: SparseTensor, to_retain: TensorLike) -> SparseTensor:
    """Return the sparse tensor with only the values for which `to_retain`, a vector of bools, is true.

    >>> autoconv.sparse.retain(autoconv.SparseTensor([[0], [1]], [5, 6], [2]), [False, True]).values.numpy()
    array([6], dtype=int32)
    """
    return select_rows(sparse_argument(sp_input), true_rows(convert_to_tensor(to_retain)))


def reset_shape(sp_input: SparseTensor, new_shape: ShapeLike | None = None) -> SparseTensor:
    """Return the sparse tensor with the larger shape `new_shape`, by default the smallest shape that holds its values.

    Raises ValueError for a shape that is too small if both are known while tracing, else InvalidArgumentError.

    >>> autoconv.sparse.reset_shape(autoconv.SparseTensor([[0, 1]], [5], [4, 4])).dense_shape.numpy()
    array([1, 2])
    """
    sparse = sparse_argument(sp_input)
    if new_shape is None:
        zero_row = zeros([1, static_rank(sparse)], int64)  # the sizes of a tensor without values
        sizes = apply("reduce_max", concat_dense([sparse.indices + 1, zero_row], 0), axis=(0,), keepdims=False)
        return SparseTensor(sparse.indices, sparse.values, sizes)
    sizes = convert_to_tensor(new_shape)
    static_shape = static_sizes(sizes)
    if static_shape is not None and sparse.shape.rank is not None:
        pairs = zip(static_shape, sparse.shape, strict=False)
        is_smaller = any(new is not None and old is not None and new < old for new, old in pairs)
        if len(static_shape) != sparse.shape.rank or is_smaller:
            raise ValueError(f"new_shape {list(static_shape)} is smaller than the shape {sparse.shape}")
    Assert(reduce_all(cast(sizes, int64) >= sparse.dense_shape), ["new_shape is smaller than the shape:", sizes])
    return SparseTensor(sparse.indices, sparse.values, cast(sizes, int64))


def fill_empty_rows(
    sp_input: SparseTensor, default_value: TensorLike, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """Return a sparse matrix with `default_value` in the first column of empty rows, and a mask of these rows.

    >>> filled, empty = autoconv.sparse.fill_empty_rows(autoconv.SparseTensor([[1, 1]], [5], [2, 2]), 0)
    >>> autoconv.sparse.to_dense(filled, -1).numpy(), empty.numpy()
    (array([[ 0, -1],
           [-1,  5]], dtype=int32), array([ True, False]))
    """
    sparse = sparse_argument(sp_input)
    row_numbers = expand_dense(column(sparse.indices, 0), 1)
    height = get_item(sparse.dense_shape, slice(0, 1))
    value_counts = scatter_nd(row_numbers, ones(expand_dense(row_count(sparse.indices), 0), int64), height)
    is_empty = value_counts == 0
    empty_rows = where(is_empty)
    rank = static_rank(sparse)
    new_indices = concat_dense([empty_rows, zeros(stack([row_count(empty_rows), np.int64(rank - 1)]), int64)], 1)
    new_values = fill(expand_dense(row_count(empty_rows), 0), convert_to_tensor(default_value, sparse.dtype))
    result = SparseTensor(
        concat_dense([sparse.indices, new_indices], 0), concat_dense([sparse.values, new_values], 0), sparse.dense_shape
    )
    result.set_shape(sparse.shape)
    return sort_rows(result), is_empty
