"""Conversions between sparse and dense tensors."""

from __future__ import annotations

from typing import Any

from autoconv.api.control.checks import Assert
from autoconv.api.sparse.coordinates import positions, row_count
from autoconv.api.sparse.tensor import SparseTensor, sparse_argument
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import fill, ones, range, zeros, zeros_like
from autoconv.api.tensors.gather import gather_nd, tensor_scatter_nd_update, where
from autoconv.api.tensors.reductions import reduce_all
from autoconv.api.tensors.shaping import concat, ensure_shape, expand_dims, shape, stack
from autoconv.graph.dtypes import as_dtype, bool_, float32, int64
from autoconv.runtime.annotations import DTypeLike, IntLike, TensorLike
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def from_dense(tensor: TensorLike, name: str | None = None) -> SparseTensor:
    """Return the sparse tensor of the elements that are not zero, or of the strings that are not empty.

    >>> autoconv.sparse.from_dense([[0, 7], [8, 0]]).indices.numpy()
    array([[0, 1],
           [1, 0]])
    """
    dense = convert_to_tensor(tensor)
    indices = where(apply("not_equal", dense, zeros_like(dense)))
    result = SparseTensor(indices, gather_nd(dense, indices), shape(dense, int64))
    result.set_shape(dense.shape)
    return result


def to_dense(
    sp_input: SparseTensor, default_value: TensorLike | None = None, validate_indices: bool = True,
    name: str | None = None
) -> Tensor:
    """Return the dense tensor, with `default_value` (zero, or an empty string) where the sparse one has no value.

    Raises InvalidArgumentError for coordinates out of range; with `validate_indices` also if they are not in order,
    or occur twice.

    >>> autoconv.sparse.to_dense(autoconv.SparseTensor([[1]], [5], [3]), default_value=-1).numpy()
    array([-1,  5, -1], dtype=int32)
    """
    sparse = sparse_argument(sp_input)
    if validate_indices:
        _check_order(sparse)
    values = sparse.values
    if default_value is None:
        filler = zeros_like(get_item(concat([values, zeros([1], values.dtype)], 0), 0))
    else:
        filler = convert_to_tensor(default_value, values.dtype)
    dense = tensor_scatter_nd_update(fill(sparse.dense_shape, filler), sparse.indices, values)
    return ensure_shape(dense, sparse.shape) if sparse.shape.is_fully_defined() else _set_static_shape(dense, sparse)


def _set_static_shape(dense: Tensor, sparse: SparseTensor) -> Tensor:
    """Return the dense tensor, in a graph with the static shape of the sparse tensor."""
    if sparse.shape.rank is not None and current_region() is not None:
        dense.set_shape(sparse.shape)  # type: ignore[attr-defined]
    return dense


def _check_order(sparse: SparseTensor) -> None:
    """Assert that the coordinates are in row-major order, each once."""
    flat_positions = positions(sparse.indices, sparse.dense_shape)
    predecessors, successors = get_item(flat_positions, slice(None, -1)), get_item(flat_positions, slice(1, None))
    is_ascending = reduce_all(apply("less", predecessors, successors))
    message = (
        "indices are out of order, or occur twice. Many sparse ops require sorted indices. Use "
        "`autoconv.sparse.reorder` to create a correctly ordered copy. Found the indices:"
    )
    Assert(is_ascending, [message, sparse.indices])


def eye(
    num_rows: IntLike, num_columns: IntLike | None = None, dtype: DTypeLike = float32, name: str | None = None
) -> SparseTensor:
    """Return a sparse matrix with ones on its diagonal.

    >>> autoconv.sparse.eye(2, 3).indices.numpy()
    array([[0, 0],
           [1, 1]])
    """
    rows = cast(convert_to_tensor(num_rows), int64)
    columns = rows if num_columns is None else cast(convert_to_tensor(num_columns), int64)
    count = apply("minimum", rows, columns)
    diagonal = range(count)
    return SparseTensor(stack([diagonal, diagonal], 1), ones(expand_dims(count, 0), dtype), stack([rows, columns]))


def to_indicator(sp_input: SparseTensor, vocab_size: IntLike, name: str | None = None) -> Tensor:
    """Return a bool tensor that is true at the index v in the last dimension, of size `vocab_size`, for each value v.

    Raises TypeError for values that are no integers.

    >>> autoconv.sparse.to_indicator(autoconv.SparseTensor([[0, 0], [1, 0]], [2, 0], [2, 1]), 3).numpy()
    array([[False, False,  True],
           [ True, False, False]])
    """
    sparse = sparse_argument(sp_input)
    if not as_dtype(sparse.dtype).is_integer:
        raise TypeError(f"sp_input must be an integer dtype, found {sparse.dtype.name}")
    value_column = expand_dims(cast(sparse.values, int64), 1)
    indices = concat([get_item(sparse.indices, (slice(None), slice(None, -1))), value_column], 1)
    width = expand_dims(cast(convert_to_tensor(vocab_size), int64), 0)
    sizes = concat([get_item(sparse.dense_shape, slice(None, -1)), width], 0)
    return tensor_scatter_nd_update(
        fill(sizes, convert_to_tensor(False)), indices, ones(_row_count_vector(indices), bool_)
    )


def _row_count_vector(indices: Tensor) -> Any:
    """Return the number of rows of `indices` as a vector of one element."""
    return expand_dims(row_count(indices), 0)


def densify(value: Any) -> Any:
    """Return a sparse argument as a dense tensor, other arguments unchanged."""
    return to_dense(value) if isinstance(value, SparseTensor) else value
