"""Products of sparse matrices; a SparseTensor stands for a compressed matrix (CSR)."""

from __future__ import annotations

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
    adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None,
) -> SparseTensor:  # fmt: skip
    """Return the product, computed as a dense matrix; matrices are transposed, or conjugated and transposed, first."""
    if a.shape.rank == 2 and not a.dtype.is_complex:
        right = to_dense(b)
        return from_dense(sparse_dense_matmul(a, right, transpose_a or adjoint_a, transpose_b or adjoint_b))
    return from_dense(matmul(to_dense(a), to_dense(b), transpose_a, transpose_b, adjoint_a, adjoint_b))


def csr_sparse_matrix_to_sparse_tensor(
    sparse_matrix: SparseTensor, type: DTypeLike, name: str | None = None
) -> SparseTensor:
    return sparse_matrix
