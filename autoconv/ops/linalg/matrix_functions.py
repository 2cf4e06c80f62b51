"""Square roots and logarithms of matrices, and tridiagonal systems.

Algorithms: eigenvectors where they are well conditioned; else the Denman-Beavers iteration for roots, and inverse
scaling and squaring for logarithms, with roots of the same iteration (Higham, Functions of Matrices, 2008, 6.29 and
11.30).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.gradients import conjugate, unbroadcast
from autoconv.ops.index_spec import Rest, Slice
from autoconv.ops.linalg.decompositions import check_matrices, matrix_kernel
from autoconv.ops.linalg.factor_gradients import adjoint_of
from autoconv.ops.record import Builder, define, no_gradient, sample

_MATRIX = np.array([[2.5, -0.5, 0.25], [0.75, 1.5, -0.5], [0.5, 0.25, 3.0]])
_LOW, _HIGH = np.array([0.5, -2.0]), np.array([0.75, -0.5])
_COMPLEX = np.array([[2.5 + 0.5j, -0.5], [0.75j, 1.5]])
_MAX_CONDITION_NUMBER = 1e6  # eigenvectors with a higher one are not used
_MAX_ITERATIONS = 60  # the most steps for a square root, and the most square roots for a logarithm
_QUADRATURE_NODES = 16  # the nodes of the integral for a logarithm


def _square_matrix_rule(op: str) -> Callable[[TensorType], TensorType]:
    """Return the type rule of an op from square matrices to square matrices."""
    def rule(x: TensorType) -> TensorType:
        check_matrices(op, x)
        return x

    return rule


# ---- roots


def _map_matrices(function: Any, x: Any) -> Any:
    """Apply a function of one complex matrix to a batch; a real matrix with a complex result gets nan."""
    array = np.asarray(x)
    matrices = array.reshape(-1, *array.shape[-2:]).astype(np.complex128)
    results = np.stack([function(matrix) for matrix in matrices]) if len(matrices) else matrices
    if array.dtype.kind != "c":
        limit = 1e-6 * np.maximum(np.abs(results).max(initial=0.0, axis=(-2, -1), keepdims=True), 1e-300)
        is_real = np.abs(results.imag).max(initial=0.0, axis=(-2, -1), keepdims=True) <= limit
        results = np.where(is_real, results.real, np.nan)
    return results.reshape(array.shape).astype(array.dtype)


def _apply_by_eigenvectors(matrix: Any, function: Any) -> Any:
    """Return `function` of a matrix, by its eigenvectors; None where these are badly conditioned."""
    if not np.all(np.isfinite(matrix)):
        return np.full_like(matrix, np.nan)
    if np.array_equal(matrix, matrix.conj().T):
        values, vectors = np.linalg.eigh(matrix)
        return vectors * function(values.astype(np.complex128)) @ vectors.conj().T
    values, vectors = np.linalg.eig(matrix)
    if np.linalg.cond(vectors) > _MAX_CONDITION_NUMBER:
        return None
    return np.linalg.solve(vectors.T, (vectors * function(values)).T).T


def _square_root(matrix: Any) -> Any:
    """Return the square root of a matrix, by eigenvectors where they are well conditioned."""
    root = _apply_by_eigenvectors(matrix, np.sqrt)
    return _iterate_square_root(matrix) if root is None else root


def _iterate_square_root(matrix: Any) -> Any:
    """Return the square root of a matrix by the Denman-Beavers iteration."""
    root, inverse_root = matrix, np.eye(len(matrix), dtype=matrix.dtype)
    for _ in range(_MAX_ITERATIONS):
        next_root = 0.5 * (root + np.linalg.inv(inverse_root))
        inverse_root = 0.5 * (inverse_root + np.linalg.inv(root))
        change = np.abs(next_root - root).max()
        root = next_root
        if not change > 1e-15 * np.abs(root).max():
            break
    return root


def _sqrtm_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Solve Rᴴ·x + x·Rᴴ = cotangent by the eigenvectors v of Rᴴ.

    Element [i, j] of v⁻¹·cotangent·v is divided by the sum of the eigenvalues i and j.
    """
    (root,), (cotangent,) = results, cotangents
    values, vectors = b.eig(adjoint_of(b, root))
    complex_cotangent = b.cast(cotangent, dtype=vectors.dtype)
    rotated_cotangent = b.matmul(b.solve(vectors, complex_cotangent, adjoint=False), vectors)
    sums = b.add(b.expand_dims(values, axis=-1), b.expand_dims(values, axis=-2))
    quotient = b.divide(rotated_cotangent, sums)
    left_product = b.matmul(vectors, quotient)
    product = b.matrix_transpose(b.solve(b.matrix_transpose(vectors), b.matrix_transpose(left_product), adjoint=False))
    return (b.cast(product if cotangent.dtype.is_complex else b.real(product), dtype=cotangent.dtype),)


# ---- logarithms


def _logarithm(matrix: Any) -> Any:
    """Return the logarithm of a matrix, by eigenvectors where they are well conditioned."""
    result = _apply_by_eigenvectors(matrix, np.log)
    if result is not None:
        return result
    identity, root_count = np.eye(len(matrix), dtype=matrix.dtype), 0
    while np.linalg.norm(matrix - identity, 1) > 0.25 and root_count < _MAX_ITERATIONS:
        matrix, root_count = _iterate_square_root(matrix), root_count + 1
    # log(I + D) is the integral of D·(I + t·D)⁻¹ over t from 0 to 1.
    difference = matrix - identity
    nodes, weights = np.polynomial.legendre.leggauss(_QUADRATURE_NODES)
    total = sum(
        0.5 * weight * np.linalg.solve(identity + 0.5 * (node + 1) * difference, difference)
        for node, weight in zip(nodes, weights, strict=True)
    )
    return total * 2.0**root_count


# ---- tridiagonal systems


def _tridiagonal_type(
    lower: TensorType, diagonal: TensorType, upper: TensorType, rhs: TensorType, *, pivoting: bool = True
) -> TensorType:
    if not (rhs.dtype.is_floating or rhs.dtype.is_complex):
        raise TypeError(f"tridiagonal_solve takes floating or complex tensors, found {rhs.dtype.name}")
    return rhs


def _tridiagonal_solve(lower: Any, diagonal: Any, upper: Any, rhs: Any, *, pivoting: bool = True) -> Any:
    """Solve a batch by Gaussian elimination; with `pivoting`, rows are exchanged as LAPACK's gtsv does."""
    result = np.array(rhs)
    size = result.shape[-2]
    if size == 0:
        return result
    low, main, high = (
        np.array(np.broadcast_to(x, (*result.shape[:-2], x.shape[-1]))) for x in (lower, diagonal, upper)
    )
    second_upper = np.zeros_like(high)  # the second superdiagonal, which row exchanges fill in
    for i in range(size - 1):
        next_high = high[..., i + 1] if i + 2 < size else np.zeros_like(high[..., i])
        if pivoting:
            # Each row has its entries in columns i, i + 1 and i + 2, and its right side.
            is_swapped = np.abs(low[..., i]) > np.abs(main[..., i])
            pivot_row = main[..., i].copy(), high[..., i].copy(), np.zeros_like(high[..., i]), result[..., i, :].copy()
            next_row = low[..., i].copy(), main[..., i + 1].copy(), next_high.copy(), result[..., i + 1, :].copy()
            main[..., i], high[..., i], second_upper[..., i] = (
                np.where(is_swapped, below, above) for above, below in zip(pivot_row[:3], next_row[:3], strict=True)
            )
            next_entries = [
                np.where(is_swapped, above, below) for above, below in zip(pivot_row[:3], next_row[:3], strict=True)
            ]
            result[..., i, :] = np.where(is_swapped[..., None], next_row[3], pivot_row[3])
            next_rhs = np.where(is_swapped[..., None], pivot_row[3], next_row[3])
        else:
            next_entries, next_rhs = [low[..., i], main[..., i + 1], next_high], result[..., i + 1, :]
        if not np.all(main[..., i]):
            raise np.linalg.LinAlgError
        factor = next_entries[0] / main[..., i]
        main[..., i + 1] = next_entries[1] - factor * high[..., i]
        if i + 2 < size:
            high[..., i + 1] = next_entries[2] - factor * second_upper[..., i]
        result[..., i + 1, :] = next_rhs - factor[..., None] * result[..., i, :]
    if not np.all(main[..., -1]):
        raise np.linalg.LinAlgError
    for i in range(size - 1, -1, -1):
        if i + 1 < size:
            result[..., i, :] -= high[..., i, None] * result[..., i + 1, :]
        if i + 2 < size:
            result[..., i, :] -= second_upper[..., i, None] * result[..., i + 2, :]
        result[..., i, :] /= main[..., i, None]
    return result


def _tridiagonal_kernel(lower: Any, diagonal: Any, upper: Any, rhs: Any, *, pivoting: bool = True) -> Any:
    """Check the shapes and solve; a singular system raises."""
    if np.ndim(rhs) < 2 or np.shape(diagonal)[-1:] != np.shape(rhs)[-2:-1]:
        shapes = f"{list(np.shape(diagonal))} and {list(np.shape(rhs))}"
        raise InvalidArgumentError(f"the shapes of diagonals and right sides, {shapes}, do not go together")
    try:
        return _tridiagonal_solve(lower, diagonal, upper, rhs, pivoting=pivoting)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError("Input matrix is not invertible.") from None


# x[..., 1:, :] and x[..., :-1, :].
_BUT_FIRST = (Rest(), Slice(1, None, None), Slice(None, None, None))
_BUT_LAST = (Rest(), Slice(None, -1, None), Slice(None, None, None))


def _tridiagonal_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the cotangents of the diagonals and of the right side, which solves the system with the adjoint matrix."""
    lower, diagonal, upper, _ = inputs
    (x,), (cotangent,) = results, cotangents
    diagonals = (conjugate(b, part) for part in (upper, diagonal, lower))
    rhs_cotangent = b.tridiagonal_solve(*diagonals, cotangent, pivoting=attributes.get("pivoting", True))

    def negated_sum(left: Any, right: Any, like: Any) -> Any:
        product = b.negative(b.reduce_sum(b.multiply(left, conjugate(b, right)), axis=(-1,), keepdims=False))
        return unbroadcast(b, product, like)

    all_but_first, all_but_last = (b.get_item(rhs_cotangent, spec=spec) for spec in (_BUT_FIRST, _BUT_LAST))
    lower_cotangent = negated_sum(all_but_first, b.get_item(x, spec=_BUT_LAST), lower)
    upper_cotangent = negated_sum(all_but_last, b.get_item(x, spec=_BUT_FIRST), upper)
    return lower_cotangent, negated_sum(rhs_cotangent, x, diagonal), upper_cotangent, rhs_cotangent


sqrtm = define(
    name="sqrtm", graphdef="MatrixSquareRoot", result=_square_matrix_rule("sqrtm"),
    kernel=matrix_kernel("sqrtm", lambda x: _map_matrices(_square_root, x)),
    gradient=_sqrtm_gradient, effects=Effects.RAISE,
    samples=(sample(_MATRIX), sample(np.stack([_MATRIX, _MATRIX @ _MATRIX]))),
)  # fmt: skip
logm = define(
    name="logm", graphdef="MatrixLogarithm", result=_square_matrix_rule("logm"),
    kernel=matrix_kernel("logm", lambda x: _map_matrices(_logarithm, x)),
    gradient=no_gradient("as in TensorFlow"), effects=Effects.RAISE,
    samples=(sample(_COMPLEX), sample(np.stack([_COMPLEX, _COMPLEX.T]))),
)  # fmt: skip
tridiagonal_solve = define(
    name="tridiagonal_solve", graphdef="TridiagonalSolve", result=_tridiagonal_type,
    kernel=quiet(_tridiagonal_kernel),
    gradient=_tridiagonal_gradient, unify="all", effects=Effects.RAISE,
    samples=(
        sample(_LOW, np.array([1.5, 0.25, 2.0]), _HIGH, np.array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.25]])),
        sample(_LOW, np.array([1.5, 3.25, 2.0]), _HIGH, np.array([[1.0], [0.5], [2.0]]), pivoting=False),
    ),
)  # fmt: skip
