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

_A = np.array([[0.5, -0.5, 2.25], [2.75, 1.5, -1.0], [1.5, 3.25, 1.0]])
_REAL = np.array([[2.0, 0.5, -0.25], [0.75, -1.5, 0.5], [0.25, 0.125, 0.5]])  # its eigenvalues are real


def _lu_type(x: TensorType, *, dtype: DType = int32) -> tuple[TensorType, TensorType]:
    check_matrices("lu", x)
    return x, TensorType(dtype, None if x.shape is None else x.shape[:-1])


def _lu(x: Any, *, dtype: DType = int32) -> Any:
    """Gaussian elimination of a batch of matrices, the largest number of a column first."""
    factors = np.array(x)
    size = factors.shape[-1]
    flat = factors.reshape(-1, size, size)
    order = np.tile(np.arange(size), (len(flat), 1))
    batch = np.arange(len(flat))
    for step in range(size):
        pivot = step + np.argmax(np.abs(flat[:, step:, step]), axis=1)
        for rows in (flat, order):
            rows[batch, step], rows[batch, pivot] = rows[batch, pivot].copy(), rows[batch, step].copy()
        pivots = flat[:, step, step]
        if not np.all(pivots):
            raise np.linalg.LinAlgError
        flat[:, step + 1 :, step] /= pivots[:, None]
        flat[:, step + 1 :, step + 1 :] -= flat[:, step + 1 :, step, None] * flat[:, step, None, step + 1 :]
    return flat.reshape(factors.shape), order.reshape(factors.shape[:-1]).astype(dtype.numpy)


def _lu_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """With x[p] = L·U: x[p]' = L⁻ᴴ·(the strict lower part of Lᴴ·L' + the upper part of U'·Uᴴ)·U⁻ᴴ."""
    (x,), (factors, order), (ct, _) = inputs, results, cotangents
    lower = b.set_diag(factors, b.ones_like(b.diag_part(factors, offset=0)), offset=0)
    lower = b.matrix_band_part(lower, num_lower=-1, num_upper=0)
    upper = b.matrix_band_part(factors, num_lower=0, num_upper=-1)
    of_upper = b.matrix_band_part(ct, num_lower=0, num_upper=-1)
    of_lower = b.subtract(ct, of_upper)
    below = b.matrix_band_part(b.matmul(adjoint_of(b, lower), of_lower), num_lower=-1, num_upper=0)
    below = b.subtract(below, b.diag(b.diag_part(below, offset=0), offset=0))
    above = b.matrix_band_part(b.matmul(of_upper, adjoint_of(b, upper)), num_lower=0, num_upper=-1)
    left = b.triangular_solve(lower, b.add(below, above), lower=True, adjoint=True)
    permuted = adjoint_of(b, b.triangular_solve(upper, adjoint_of(b, left), lower=False, adjoint=False))
    columns = b.cumsum(b.ones_like(order), axis=-1, exclusive=True, reverse=False)
    is_position = b.equal(b.expand_dims(order, axis=-1), b.expand_dims(columns, axis=-2))
    is_at = b.cast(is_position, dtype=dtype_of(x))
    return (b.matmul(adjoint_of(b, is_at), permuted),)


def _eig_type(x: TensorType, *, dtype: DType | None = None) -> tuple[TensorType, TensorType]:
    check_matrices("eig", x)
    complex_dtype = dtype or (complex64 if x.dtype.size <= 4 or x.dtype is complex64 else complex128)
    return TensorType(complex_dtype, None if x.shape is None else x.shape[:-1]), x.with_dtype(complex_dtype)


def _eig(x: Any, *, dtype: DType | None = None) -> Any:
    complex_dtype = dtype.numpy if dtype is not None else np.result_type(np.asarray(x).dtype, np.complex64)
    return tuple(np.asarray(part).astype(complex_dtype) for part in np.linalg.eig(x))


def _eig_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """V⁻ᴴ·(the eigenvalues' cotangents + (Vᴴ·V' - Vᴴ·V·Re diag(Vᴴ·V')) / conj(gaps))·Vᴴ."""
    (x,), (values, vectors), (of_values, of_vectors) = inputs, results, cotangents
    adjoint = adjoint_of(b, vectors)
    middle = b.diag(b.zeros_like(values) if of_values is None else of_values, offset=0)
    if of_vectors is not None:
        rotated = b.matmul(adjoint, of_vectors)
        lengths_along = b.real(b.diag_part(rotated, offset=0))
        lengths = b.multiply(
            b.matmul(adjoint, vectors), b.expand_dims(b.complex(lengths_along, b.zeros_like(lengths_along)), axis=-2)
        )
        gaps = b.subtract(b.expand_dims(values, axis=-2), b.expand_dims(values, axis=-1))
        gaps = b.conjugate(b.set_diag(gaps, b.ones_like(values), offset=0))
        off_diagonal = b.divide(b.subtract(rotated, lengths), gaps)
        middle = b.add(middle, b.set_diag(off_diagonal, b.zeros_like(values), offset=0))
    solution = b.solve(adjoint, b.matmul(middle, adjoint), adjoint=False)
    if not dtype_of(x).is_complex:
        solution = b.real(solution)
    return (b.cast(solution, dtype=dtype_of(x)),)


lu = define(
    name="lu", graphdef="Lu", result=_lu_type, kernel=matrix_kernel("lu", _lu, "Input is not invertible."),
    gradient=_lu_gradient, effects=Effects.RAISE, samples=(sample(_A), sample(np.stack([_A, -_A.T]))),
)  # fmt: skip
eig = define(
    name="eig", graphdef="Eig", result=_eig_type, kernel=matrix_kernel("eig", _eig), gradient=_eig_gradient,
    samples=(sample(_REAL), sample(np.stack([_REAL, -_REAL]))),
)  # fmt: skip
