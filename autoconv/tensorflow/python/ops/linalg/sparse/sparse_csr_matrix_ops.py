"""Products of sparse matrices; a SparseTensor stands for a compressed matrix (CSR)."""

from __future__ import annotations

from typing import Any

from autoconv.api.matrices.linalg import matmul
from autoconv.api.sparse.computing import sparse_dense_matmul
from autoconv.api.sparse.conversion import from_dense, to_dense
from autoconv.api.sparse.tensor import SparseTensor
from autoconv.runtime.annotations import DTypeLike, ShapeLike, TensorLike


def sparse_tensor_to_csr_sparse_matrix(
    indices: TensorLike, values: TensorLike, dense_shape: ShapeLike, name: str | None = None
) -> SparseTensor:
    return SparseTensor(indices, values, dense_shape)


def sparse_matrix_sparse_mat_mul(
    a: SparseTensor, b: SparseTensor, type: DTypeLike, transpose_a: bool = False, transpose_b: bool = False,
    **options: Any,
) -> SparseTensor:
    """Return the product, computed as a dense matrix."""
    if a.shape.rank == 2:
        return from_dense(sparse_dense_matmul(a, to_dense(b), adjoint_a=transpose_a, adjoint_b=transpose_b))
    return from_dense(matmul(to_dense(a), to_dense(b), transpose_a=transpose_a, transpose_b=transpose_b))


def csr_sparse_matrix_to_sparse_tensor(
    sparse_matrix: SparseTensor, type: DTypeLike, name: str | None = None
) -> SparseTensor:
    return sparse_matrix
