"""Products of batches of matrices of different sizes, which are ragged tensors of rank 3."""

from __future__ import annotations

from typing import Any, NamedTuple

from autoconv.api.control.checks import assert_equal
from autoconv.api.matrices.linalg import matmul
from autoconv.api.ragged.tensor import RaggedLike, RaggedTensor
from autoconv.api.tensors.constants import fill
from autoconv.api.tensors.reductions import reduce_max
from autoconv.graph.dtypes import int64
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def ragged_matmul(a: RaggedLike, b: RaggedLike, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """Return the products of the matrices in two batches, each transposed first if requested.

    The matrices are padded with zeros. Raises ValueError for other ranks, InvalidArgumentError for inner sizes that
    differ.
    """
    transpose_flags: dict[str, Any] = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    first, second = (x if isinstance(x, RaggedTensor) else convert_to_tensor(x) for x in (a, b))
    if first.shape.rank == 2 == second.shape.rank:
        return matmul(_as_dense_matrix(first), _as_dense_matrix(second), **transpose_flags)
    if first.shape.rank != 3 or second.shape.rank != 3:
        raise ValueError(f"matmul takes two batches of ragged matrices, found the shapes {first.shape}, {second.shape}")
    (left, rows, left_inner), (right, right_inner, columns) = _pad_matrices(first), _pad_matrices(second)
    if transpose_a:
        rows, left_inner = left_inner, rows
    if transpose_b:
        right_inner, columns = columns, right_inner
    assert_equal(left_inner, right_inner)
    result = RaggedTensor.from_tensor(matmul(left, right, **transpose_flags), lengths=rows)
    has_one_column_count = not isinstance(second, RaggedTensor) or (second.ragged_rank == 1 and not transpose_b)
    if has_one_column_count:
        return result
    column_counts = apply("gather", columns, result.value_rowids(), axis=0)
    return result.with_values(RaggedTensor.from_tensor(result.values, lengths=column_counts))


def _as_dense_matrix(x: Any) -> Tensor:
    """Return the matrix as a dense tensor; raise InvalidArgumentError if its rows have several lengths."""
    if not isinstance(x, RaggedTensor):
        return x  # type: ignore[no-any-return]
    lengths = x.row_lengths()
    assert_equal(lengths, reduce_max(lengths))
    return x.to_tensor()


class _PaddedMatrices(NamedTuple):
    """A batch of matrices padded with zeros to one size, and vectors of their numbers of rows and columns."""

    dense: Tensor
    row_counts: Tensor
    column_counts: Tensor


def _pad_matrices(x: Any) -> _PaddedMatrices:
    """Return a batch of matrices, ragged or not, padded to the size of the largest."""
    dense = x.to_tensor() if isinstance(x, RaggedTensor) else x
    count, height, width = (apply("cast", apply("shape", dense), dtype=int64)[axis] for axis in range(3))
    if not isinstance(x, RaggedTensor):
        return _PaddedMatrices(dense, fill([count], height), fill([count], width))
    heights = apply("cast", x.row_lengths(), dtype=int64)
    if x.ragged_rank == 1:
        return _PaddedMatrices(dense, heights, fill([count], width))
    lengths = x.row_lengths(axis=2)
    widths = apply("cast", reduce_max(lengths.to_tensor(), 1), dtype=int64)
    assert_equal(lengths.values, apply("gather", widths, lengths.value_rowids(), axis=0))
    return _PaddedMatrices(dense, heights, widths)
