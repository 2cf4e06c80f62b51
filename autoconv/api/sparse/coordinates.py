"""Coordinates of sparse tensors as single numbers: their positions in the dense tensor, row by row."""

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


def strides(shape: Tensor) -> Tensor:
    """Return the distances of neighbours along each dimension."""
    return cumprod(shape, axis=0, exclusive=True, reverse=True)


def positions(indices: Tensor, shape: Tensor) -> Tensor:
    """Return for each row of coordinates its position, row by row, in a tensor of that shape."""
    return reduce_sum(indices * strides(shape), axis=1)


def coordinates(places: Tensor, shape: Tensor) -> Tensor:
    """Return the rows of coordinates of positions."""
    return (expand_dims(places, 1) // strides(shape)) % shape


def element_count(shape: Tensor) -> Tensor:
    return reduce_prod(shape)


def sorted_rows(sparse: SparseTensor) -> SparseTensor:
    """Return the sparse tensor with its rows in the order of the dense tensor's elements."""
    order = argsort(positions(sparse.indices, sparse.dense_shape), stable=True)
    return rows_of(sparse, order)


def rows_of(sparse: SparseTensor, tensor: Tensor) -> SparseTensor:
    """Return a sparse tensor with only the chosen rows of coordinates and values."""
    result = SparseTensor(gather(sparse.indices, tensor), gather(sparse.values, tensor), sparse.dense_shape)
    result.set_shape(sparse.shape)
    return result


def true_rows(mask: TensorLike) -> Tensor:
    """Return the positions of a vector's true elements."""
    return get_item(where(mask), (slice(None), 0))


def column(indices: Tensor, axis: int) -> Tensor:
    return get_item(indices, (slice(None), axis))


def united_positions(sparse: Sequence[SparseTensor]) -> tuple[Tensor, list[Tensor]]:
    """Return the positions in sparse tensors of one shape, in order, and for each tensor the indices of its own."""
    places = [positions(one.indices, one.dense_shape) for one in sparse]
    every = concat(places, 0)
    ordered = argsort(every, stable=True)
    distinct, numbers = unique(gather(every, ordered), out_idx=int64)
    back = gather(numbers, argsort(ordered))  # the number of each position among the distinct ones
    found, start = [], cast(convert_to_tensor(0), int64)
    for one in places:
        count = row_count(one)
        found.append(get_item(back, slice(start, start + count)))
        start = start + count
    return distinct, found


def row_count(tensor: Tensor) -> Tensor:
    """Return the number of rows, int64."""
    return get_item(shape_of(tensor, int64), 0)


def static_rank(sparse: SparseTensor) -> int:
    """Return the number of dimensions; raises ValueError where it is unknown."""
    rank = sparse.shape.rank
    if rank is None:
        raise ValueError("the number of dimensions of a sparse tensor has to be known here")
    return rank
