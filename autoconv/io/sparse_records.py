"""Sparse tensors as three strings each: the bytes of their coordinates, values and shape."""

from __future__ import annotations

from typing import Any

from autoconv.api.sparse.shaping import concat as sparse_concat
from autoconv.api.sparse.tensor import SparseTensor
from autoconv.api.tensors.shaping import concat, stack
from autoconv.config.refused_options import refuse_options
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import as_dtype, int64, string
from autoconv.io.tensor_records import parse_tensor, serialize_tensor
from autoconv.runtime.annotations import DTypeLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import constant, convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


def serialize_sparse(sp_input: Any, out_type: DTypeLike = string, name: str | None = None) -> Tensor:
    """Return a sparse tensor as a vector of three strings.

    >>> autoconv.io.serialize_sparse(autoconv.sparse.from_dense([0, 1])).shape
    TensorShape([3])
    """
    _check_out_type(out_type)
    sparse = SparseTensor.from_value(sp_input)
    return stack([serialize_tensor(part) for part in (sparse.indices, sparse.values, sparse.dense_shape)])


def serialize_many_sparse(sp_input: Any, out_type: DTypeLike = string, name: str | None = None) -> Tensor:
    """Return each part of a sparse tensor along its first dimension as a row of three strings.

    The number of parts has to be known.

    >>> autoconv.io.serialize_many_sparse(autoconv.sparse.from_dense([[0, 1], [2, 0]])).shape
    TensorShape([2, 3])
    """
    _check_out_type(out_type)
    sparse = SparseTensor.from_value(sp_input)
    count = sparse.shape[0]
    if count is None:
        raise ValueError("serialize_many_sparse takes a sparse tensor whose first size is known")
    row_numbers = get_item(sparse.indices, (slice(None), 0))
    records = []
    for i in range(count):
        is_in_part = row_numbers == constant(i, int64)
        indices = get_item(get_item(sparse.indices, is_in_part), (slice(None), slice(1, None)))
        part = SparseTensor(indices, get_item(sparse.values, is_in_part), sparse.dense_shape[1:])
        records.append(serialize_sparse(part))
    return stack(records)


def _check_out_type(out_type: DTypeLike) -> None:
    """Refuse another dtype of the records than strings."""
    refuse_options("serialize_sparse", out_type=None if as_dtype(out_type) is string else out_type)


def deserialize_many_sparse(
    serialized_sparse: TensorLike, dtype: DTypeLike, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """Return the sparse tensor whose parts are rows of three strings; each size is the largest of the parts.

    >>> rows = autoconv.io.serialize_many_sparse(autoconv.sparse.from_dense([[0, 1], [2, 0]]))
    >>> autoconv.sparse.to_dense(autoconv.io.deserialize_many_sparse(rows, autoconv.int32)).numpy()
    array([[0, 1],
           [2, 0]], dtype=int32)
    """
    rows = convert_to_tensor(serialized_sparse, string)
    count = rows.shape[0]
    if count is None or rows.shape[-1] not in (3, None):
        raise InvalidArgumentError(f"serialized sparse tensors have the shape [n, 3], found {rows.shape}")
    parts = []
    for i in range(count):
        indices, values, shape = (get_item(rows, (i, j)) for j in range(3))
        coordinates = parse_tensor(indices, int64)
        coordinates = get_item(coordinates, (slice(None), slice(None)))  # gives its rank to a trace
        part_shape = concat([constant([1], int64), parse_tensor(shape, int64)], 0)
        zeros = coordinates[:, :1] * constant(0, int64)
        part_values = parse_tensor(values, as_dtype(dtype))
        parts.append(SparseTensor(concat([zeros, coordinates], 1), part_values, part_shape))
    result = sparse_concat(0, parts, expand_nonconcat_dims=True)
    if rank is not None and result.shape.rank not in (rank, None):
        raise ValueError(f"Tensor's shape {result.indices.shape} is not compatible with supplied shape (None, {rank}).")
    return result
