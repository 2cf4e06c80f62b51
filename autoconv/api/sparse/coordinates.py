"""Positions and coordinates of the values of sparse tensors.

The position of a value is its flat index in the dense tensor, in row-major order; its coordinates are an index for each
dimension. "Rows" are the rows of the coordinates, one for each value.
"""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.api.sparse.tensor import SparseTensor
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.gather import gather, where
from autoconv.api.tensors.maths import cumprod
from autoconv.api.tensors.reductions import reduce_prod, reduce_sum
from autoconv.api.tensors.shaping import concat, expand_dims
from autoconv.api.tensors.shaping import shape as shape_of
from autoconv.api.tensors.sorting import argsort, unique
from autoconv.graph.dtypes import int64
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


def dimension_strides(shape: Tensor) -> Tensor:
    """Return the row-major strides of a shape, in elements."""
    return cumprod(shape, axis=0, exclusive=True, reverse=True)


def positions(indices: Tensor, shape: Tensor) -> Tensor:
    """Return for each row of coordinates its position in a tensor of that shape."""
    return reduce_sum(indices * dimension_strides(shape), axis=1)


def coordinates(flat_positions: Tensor, shape: Tensor) -> Tensor:
    """Return the coordinates [positions, dimensions] of flat positions in a tensor of that shape."""
    return (expand_dims(flat_positions, 1) // dimension_strides(shape)) % shape


def element_count(shape: Tensor) -> Tensor:
    """Return the number of elements of a dense tensor of that shape."""
    return reduce_prod(shape)


def sort_rows(sparse: SparseTensor) -> SparseTensor:
    """Return a sparse tensor with its values in the order of their positions."""
    order = argsort(positions(sparse.indices, sparse.dense_shape), stable=True)
    return select_rows(sparse, order)


def select_rows(sparse: SparseTensor, rows: Tensor) -> SparseTensor:
    """Return a sparse tensor with only the chosen rows of coordinates and values."""
    result = SparseTensor(gather(sparse.indices, rows), gather(sparse.values, rows), sparse.dense_shape)
    result.set_shape(sparse.shape)
    return result


def true_rows(mask: TensorLike) -> Tensor:
    """Return the indices of the true elements of a vector."""
    return get_item(where(mask), (slice(None), 0))


def column(indices: Tensor, axis: int) -> Tensor:
    """Return the coordinates along one dimension."""
    return get_item(indices, (slice(None), axis))


def unite_positions(sparse: Sequence[SparseTensor]) -> tuple[Tensor, list[Tensor]]:
    """Return the sorted union of the positions of sparse tensors, and for each tensor the indices of its own in it."""
    positions_by_tensor = [positions(tensor.indices, tensor.dense_shape) for tensor in sparse]
    all_positions = concat(positions_by_tensor, 0)
    order = argsort(all_positions, stable=True)
    distinct_positions, indices_in_order = unique(gather(all_positions, order), out_idx=int64)
    union_indices = gather(indices_in_order, argsort(order))  # for all positions, in their own order
    indices_by_tensor, start = [], cast(convert_to_tensor(0), int64)
    for tensor in positions_by_tensor:
        count = row_count(tensor)
        indices_by_tensor.append(get_item(union_indices, slice(start, start + count)))
        start = start + count
    return distinct_positions, indices_by_tensor


def row_count(tensor: Tensor) -> Tensor:
    """Return the number of rows, int64."""
    return get_item(shape_of(tensor, int64), 0)


def static_rank(sparse: SparseTensor) -> int:
    """Return the number of dimensions; raises ValueError if it is unknown."""
    rank = sparse.shape.rank
    if rank is None:
        raise ValueError("the number of dimensions of a sparse tensor has to be known while tracing")
    return rank
