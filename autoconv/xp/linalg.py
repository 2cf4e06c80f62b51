"""The extension `linalg` of the Python array API standard: for matrices, and stacks of them."""

from __future__ import annotations

from typing import Any

from autoconv.numpy.standard import numpy_implementation, wrap_for_users
from autoconv.runtime.annotations import AxisLike, DTypeLike, IntLike, TensorLike
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.xp.reductions import matmul, matrix_transpose, tensordot, vecdot


def cholesky(x: TensorLike, /, *, upper: bool = False) -> Tensor:
    """The Cholesky factor: the lower (or `upper`) triangular matrix L with x = L @ Lᴴ (or x = Lᴴ @ L)."""
    return numpy_implementation("linalg.cholesky")(x, upper=upper)


def cross(x1: TensorLike, x2: TensorLike, /, *, axis: AxisLike = -1) -> Tensor:
    """The cross product along an axis of size 3."""
    return numpy_implementation("linalg.cross")(x1, x2, axis=axis)


def det(x: TensorLike, /) -> Tensor:
    """The determinant."""
    return numpy_implementation("linalg.det")(x)


def diagonal(x: TensorLike, /, *, offset: IntLike = 0) -> Tensor:
    """The elements on a diagonal of the last two axes."""
    return numpy_implementation("linalg.diagonal")(x, offset=offset)


def eigh(x: TensorLike, /) -> Any:
    """(eigenvalues, eigenvectors) of symmetric or Hermitian matrices."""
    return numpy_implementation("linalg.eigh")(x)


def eigvalsh(x: TensorLike, /) -> Tensor:
    """The eigenvalues of symmetric or Hermitian matrices."""
    return numpy_implementation("linalg.eigvalsh")(x)


def inv(x: TensorLike, /) -> Tensor:
    """The inverse; raises LinAlgError for a singular matrix."""
    return numpy_implementation("linalg.inv")(x)


def matrix_norm(x: TensorLike, /, *, keepdims: bool = False, ord: TensorLike = "fro") -> Tensor:
    """A norm over the last two axes."""
    return numpy_implementation("linalg.norm")(x, ord, (-2, -1), keepdims)


def matrix_power(x: TensorLike, n: IntLike, /) -> Tensor:
    """The n-th power of x; powers of the inverse for negative n."""
    return numpy_implementation("linalg.matrix_power")(x, n)


def matrix_rank(x: TensorLike, /, *, rtol: TensorLike | None = None) -> Tensor:
    """The number of singular values above `rtol` times the largest singular value."""
    return numpy_implementation("linalg.matrix_rank")(x, **({} if rtol is None else {"rtol": rtol}))


def outer(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """All products of elements of two vectors."""
    return numpy_implementation("linalg.outer")(x1, x2)


def pinv(x: TensorLike, /, *, rtol: TensorLike | None = None) -> Tensor:
    """The pseudo-inverse; singular values up to `rtol` times the largest one count as zero.

    By default, `rtol` is the larger size of the matrix times the dtype's eps.
    """
    return numpy_implementation("linalg.pinv")(x, rtol=rtol)


def qr(x: TensorLike, /, *, mode: str = "reduced") -> Any:
    """(Q, R): Q has orthonormal columns, R is an upper triangle. The mode is "reduced" or "complete"."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f"the mode of qr is 'reduced' or 'complete', not {mode!r}")
    return numpy_implementation("linalg.qr")(x, mode)


def slogdet(x: TensorLike, /) -> Any:
    """(sign, logabsdet) of the determinant."""
    return numpy_implementation("linalg.slogdet")(x)


def solve(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """The solution x of x1 @ x = x2: a vector if x2 is a vector, else matrices."""
    return numpy_implementation("linalg.solve")(x1, x2)


def svd(x: TensorLike, /, *, full_matrices: bool = True) -> Any:
    """(U, S, Vh), the singular values in descending order."""
    return numpy_implementation("linalg.svd")(x, full_matrices)


def svdvals(x: TensorLike, /) -> Tensor:
    """The singular values in descending order."""
    return numpy_implementation("linalg.svd")(x, full_matrices=False, compute_uv=False)


def trace(x: TensorLike, /, *, offset: IntLike = 0, dtype: DTypeLike | None = None) -> Tensor:
    """The sum of a diagonal of the last two axes."""
    return numpy_implementation("linalg.trace")(x, offset=offset, dtype=dtype)


def vector_norm(
    x: TensorLike, /, *, axis: AxisLike | None = None, keepdims: bool = False, ord: TensorLike = 2
) -> Tensor:
    """A norm over the axes; of the flattened array if `axis` is None."""
    return numpy_implementation("linalg.vector_norm")(x, axis=axis, keepdims=keepdims, ord=ord)


__all__ = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power",
    "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "trace", "vecdot", "vector_norm",
]  # fmt: skip

globals().update({name: wrap_for_users(globals()[name], f"linalg.{name}") for name in __all__})
