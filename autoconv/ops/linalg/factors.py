"""Triangular factors with row exchanges, and eigenvalues of matrices that need not be self-adjoint."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, complex64, complex128, int32
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType
from autoconv.ops.gradients import dtype_of
from autoconv.ops.linalg.decompositions import check_matrices, matrix_kernel
from autoconv.ops.linalg.factor_gradients import adjoint_of
from autoconv.ops.record import Builder, define, sample

_MATRIX = np.array([[0.5, -0.5, 2.25], [2.75, 1.5, -1.0], [1.5, 3.25, 1.0]])
_REAL = np.array([[2.0, 0.5, -0.25], [0.75, -1.5, 0.5], [0.25, 0.125, 0.5]])  # its eigenvalues are real


def _lu_type(x: TensorType, *, dtype: DType = int32) -> tuple[TensorType, TensorType]:
    check_matrices("lu", x)
    return x, TensorType(dtype, None if x.shape is None else x.shape[:-1])


def _lu(x: Any, *, dtype: DType = int32) -> Any:
    """Factor a batch of matrices by Gaussian elimination, with the largest number of a column as the pivot.

    Return the factors in one matrix (U and, below its diagonal, L) and the order of the rows.
    """
    factors = np.array(x)
    size = factors.shape[-1]
    matrices = factors.reshape(-1, size, size)
    order = np.tile(np.arange(size), (len(matrices), 1))
    matrix_positions = np.arange(len(matrices))
    for step in range(size):
        pivot_positions = matrix_positions, step + np.argmax(np.abs(matrices[:, step:, step]), axis=1)
        for array in (matrices, order):
            array[:, step], array[pivot_positions] = array[pivot_positions].copy(), array[:, step].copy()
        pivots = matrices[:, step, step]
        if not np.all(pivots):
            raise np.linalg.LinAlgError
        matrices[:, step + 1 :, step] /= pivots[:, None]
        matrices[:, step + 1 :, step + 1 :] -= matrices[:, step + 1 :, step, None] * matrices[:, step, None, step + 1 :]
    return matrices.reshape(factors.shape), order.reshape(factors.shape[:-1]).astype(dtype.numpy)


def _lu_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the cotangent x' of x, where x[p] = L·U for the row order p; L' and U' are the cotangents of L and U.

    x[p]' = L⁻ᴴ·(the strict lower part of Lᴴ·L' + the upper part of U'·Uᴴ)·U⁻ᴴ.
    """
    (x,), (factors, order), (cotangent, _) = inputs, results, cotangents
    lower = b.set_diag(factors, b.ones_like(b.diag_part(factors, offset=0)), offset=0)
    lower = b.matrix_band_part(lower, num_lower=-1, num_upper=0)
    upper = b.matrix_band_part(factors, num_lower=0, num_upper=-1)
    upper_cotangent = b.matrix_band_part(cotangent, num_lower=0, num_upper=-1)
    lower_cotangent = b.subtract(cotangent, upper_cotangent)
    strict_lower_part = b.matrix_band_part(b.matmul(adjoint_of(b, lower), lower_cotangent), num_lower=-1, num_upper=0)
    strict_lower_part = b.subtract(strict_lower_part, b.diag(b.diag_part(strict_lower_part, offset=0), offset=0))
    upper_part = b.matrix_band_part(b.matmul(upper_cotangent, adjoint_of(b, upper)), num_lower=0, num_upper=-1)
    left_solution = b.triangular_solve(lower, b.add(strict_lower_part, upper_part), lower=True, adjoint=True)
    product = adjoint_of(b, b.triangular_solve(upper, adjoint_of(b, left_solution), lower=False, adjoint=False))
    columns = b.cumsum(b.ones_like(order), axis=-1, exclusive=True, reverse=False)
    is_position = b.equal(b.expand_dims(order, axis=-1), b.expand_dims(columns, axis=-2))
    permutation = b.cast(is_position, dtype=dtype_of(x))
    return (b.matmul(adjoint_of(b, permutation), product),)


def _eig_type(x: TensorType, *, dtype: DType | None = None) -> tuple[TensorType, TensorType]:
    check_matrices("eig", x)
    complex_dtype = dtype or (complex64 if x.dtype.size <= 4 or x.dtype is complex64 else complex128)
    return TensorType(complex_dtype, None if x.shape is None else x.shape[:-1]), x.with_dtype(complex_dtype)


def _eig(x: Any, *, dtype: DType | None = None) -> Any:
    complex_dtype = dtype.numpy if dtype is not None else np.result_type(np.asarray(x).dtype, np.complex64)
    return tuple(np.asarray(part).astype(complex_dtype) for part in np.linalg.eig(x))


def _eig_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return V⁻ᴴ·middle·Vᴴ for the eigenvectors V with the cotangents V'.

    `middle` has the cotangents of the eigenvalues on its diagonal, and (Vᴴ·V' - Vᴴ·V·Re diag(Vᴴ·V')) / conj(gaps)
    elsewhere; gaps[i, j] is eigenvalue j minus eigenvalue i.
    """
    (x,), (values, vectors), (values_cotangent, vectors_cotangent) = inputs, results, cotangents
    adjoint = adjoint_of(b, vectors)
    middle = b.diag(b.zeros_like(values) if values_cotangent is None else values_cotangent, offset=0)
    if vectors_cotangent is not None:
        rotated_cotangent = b.matmul(adjoint, vectors_cotangent)
        real_diagonal = b.real(b.diag_part(rotated_cotangent, offset=0))
        scaled_products = b.multiply(
            b.matmul(adjoint, vectors), b.expand_dims(b.complex(real_diagonal, b.zeros_like(real_diagonal)), axis=-2)
        )
        gaps = b.subtract(b.expand_dims(values, axis=-2), b.expand_dims(values, axis=-1))
        gaps = b.conjugate(b.set_diag(gaps, b.ones_like(values), offset=0))
        off_diagonal = b.divide(b.subtract(rotated_cotangent, scaled_products), gaps)
        middle = b.add(middle, b.set_diag(off_diagonal, b.zeros_like(values), offset=0))
    solution = b.solve(adjoint, b.matmul(middle, adjoint), adjoint=False)
    if not dtype_of(x).is_complex:
        solution = b.real(solution)
    return (b.cast(solution, dtype=dtype_of(x)),)


def _eigvals_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return _eig_gradient(b, inputs, b.eig(*inputs), (*cotangents, None), attributes)


lu = define(
    name="lu", graphdef="Lu", result=_lu_type, kernel=matrix_kernel("lu", _lu, "Input is not invertible."),
    gradient=_lu_gradient, effects=Effects.RAISE, samples=(sample(_MATRIX), sample(np.stack([_MATRIX, -_MATRIX.T]))),
)  # fmt: skip
eig = define(
    name="eig", graphdef="Eig", result=_eig_type, kernel=matrix_kernel("eig", _eig), gradient=_eig_gradient,
    effects=Effects.RAISE, samples=(sample(_REAL), sample(np.stack([_REAL, -_REAL]))),
)  # fmt: skip
eigvals = define(
    name="eigvals", graphdef="Eigvals", result=lambda x: _eig_type(x)[0], gradient=_eigvals_gradient,
    kernel=matrix_kernel("eigvals", lambda x: np.linalg.eigvals(x).astype(np.result_type(x.dtype, np.complex64))),
    effects=Effects.RAISE, samples=(sample(_REAL), sample(np.stack([_REAL, -_REAL]))),
)  # fmt: skip
