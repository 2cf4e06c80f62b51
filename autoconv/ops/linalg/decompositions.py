"""Inverses, solutions of linear systems, and decompositions of matrices (the last two dimensions)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.effects import Effects
from autoconv.graph.types import Dimension, TensorType, are_shapes_compatible, shape_text
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.gradients import conjugate, dtype_of, unbroadcast
from autoconv.ops.linalg.factor_gradients import adjoint_of, cholesky_gradient, eigh_gradient, qr_gradient, svd_gradient
from autoconv.ops.linalg.products import check_dtypes
from autoconv.ops.numpy.shapes import not_square_error
from autoconv.ops.record import Builder, define, sample
from autoconv.ops.rules import broadcast_shapes

_MATRIX = np.array([[2.5, -0.5, 0.25], [0.75, 1.5, -1.0], [0.5, 0.25, 3.0]])
_POSITIVE = _MATRIX @ _MATRIX.T
_TALL = np.array([[0.5, -1.25], [3.5, -0.75], [1.0, 2.0]])


def check_matrices(op: str, x: TensorType, square: bool = True) -> None:
    """Raise TypeError or ValueError unless a tensor is a batch of matrices of floats or complex numbers.

    If `square`, the matrices also have to be square.
    """
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise TypeError(f"{op} takes floating or complex tensors, found {x.dtype.name}; cast first")
    if x.shape is None:
        return
    if len(x.shape) < 2:
        raise ValueError(
            f"{op} takes tensors of 2 or more dimensions, found the shape [{shape_text(x.shape)}]"
        )
    if square and not are_shapes_compatible(x.shape[-1:], x.shape[-2:-1]):
        raise ValueError(f"{op}: Input must be square, found the shape [{shape_text(x.shape)}]")


def matrix_kernel(
    op: str, function: Callable[..., Any], refusal_message: str = "", square: bool = True
) -> Callable[..., Any]:
    """Return a kernel that checks shapes, computes half precision in single precision, and converts errors.

    NumPy's errors are raised as TensorFlow's. `refusal_message` is the message for matrices that NumPy refuses; without
    it, the message is NumPy's.
    """

    def checked_kernel(*inputs: Any, **attributes: Any) -> Any:
        """Check the shape, compute 16-bit floats in float32, and raise NumPy's errors as TensorFlow's."""
        shape = np.shape(inputs[0])
        if len(shape) < 2 or (square and shape[-1] != shape[-2]):
            public_error = InvalidArgumentError(
                f"{op}: Input must be {'square ' if square else ''}matrices, found {list(shape)}"
            )
            raise public_error.with_plain_error(not_square_error(shape)) if square else public_error
        dtype = np.asarray(inputs[0]).dtype
        is_half_precision = dtype.itemsize < 4
        try:
            result = function(*(np.asarray(x, np.float32) if is_half_precision else x for x in inputs), **attributes)
        except np.linalg.LinAlgError as error:
            public_error = InvalidArgumentError(refusal_message or f"{op}: {error}")
            raise public_error.with_plain_error(error.with_traceback(None)) from None
        except ValueError as error:
            shapes = " and ".join(str(list(np.shape(x))) for x in inputs)
            public_error = InvalidArgumentError(f"{op}: the shapes {shapes} do not go together")
            raise public_error.with_plain_error(error.with_traceback(None)) from None
        if is_half_precision:  # other results than floats, such as positions, keep their dtype
            results = result if isinstance(result, tuple) else (result,)
            narrowed_results = tuple(x.astype(dtype) if x.dtype == np.float32 else x for x in results)
            return narrowed_results if isinstance(result, tuple) else narrowed_results[0]
        return result

    return quiet(checked_kernel)


def _scale_matrices(b: Builder, x: Any, factors: Any) -> Any:
    """Multiply a batch of matrices by a batch of scalars."""
    return b.multiply(b.expand_dims(b.expand_dims(factors, axis=-1), axis=-1), x)


# ---- determinants, inverses


def _determinant_type(x: TensorType) -> TensorType:
    check_matrices("det", x)
    return x.with_shape(None if x.shape is None else x.shape[:-2])


def _determinant_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (x,), (determinant,) = cotangents, inputs, results
    factor = b.multiply(cotangent, conjugate(b, determinant))
    return (_scale_matrices(b, adjoint_of(b, b.inverse(x, adjoint=False)), factor),)


def _slogdet_type(x: TensorType) -> tuple[TensorType, TensorType]:
    type_ = _determinant_type(x)
    return type_, type_.with_dtype(x.dtype.real_dtype)


def _slogdet_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the gradient through the logarithm of the determinant.

    The real part of the logarithm is the second result; its imaginary part is the angle of the first result.
    """
    (x,), (sign, _), (sign_cotangent, log_cotangent) = inputs, results, cotangents
    has_angle = dtype_of(x).is_complex and sign_cotangent is not None
    if log_cotangent is None and not has_angle:
        return (b.zeros_like(x),)
    scale = log_cotangent
    if dtype_of(x).is_complex:
        angle = b.imag(b.multiply(sign_cotangent, b.conjugate(sign))) if has_angle else b.zeros_like(log_cotangent)
        scale = b.complex(b.zeros_like(angle) if log_cotangent is None else log_cotangent, angle)
    return (_scale_matrices(b, adjoint_of(b, b.inverse(x, adjoint=False)), scale),)


def _inverse_type(x: TensorType, *, adjoint: bool = False) -> TensorType:
    check_matrices("inv", x)
    return x


def _inverse(x: Any, *, adjoint: bool = False) -> Any:
    return np.linalg.inv(np.conj(np.swapaxes(x, -1, -2)) if adjoint else x)


def _inverse_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (inverse_,) = cotangents, results
    adjoint_inverse = adjoint_of(b, inverse_)
    operand_cotangent = b.negative(b.matmul(b.matmul(adjoint_inverse, cotangent), adjoint_inverse))
    return (adjoint_of(b, operand_cotangent) if attributes.get("adjoint") else operand_cotangent,)


determinant = define(
    name="determinant", graphdef="MatrixDeterminant", result=_determinant_type,
    kernel=matrix_kernel("det", np.linalg.det), gradient=_determinant_gradient,
    samples=(sample(_MATRIX), sample(np.stack([_MATRIX, -_MATRIX]))),
)  # fmt: skip
slogdet = define(
    name="slogdet", graphdef="LogMatrixDeterminant", result=_slogdet_type,
    kernel=matrix_kernel("slogdet", lambda x: tuple(np.linalg.slogdet(x))), gradient=_slogdet_gradient,
    samples=(sample(_MATRIX), sample(np.stack([_MATRIX, -_MATRIX]))),
)  # fmt: skip
inverse = define(
    name="inverse", graphdef="MatrixInverse", result=_inverse_type,
    kernel=matrix_kernel("inv", _inverse, "Input is not invertible."), gradient=_inverse_gradient,
    effects=Effects.RAISE,
    samples=(sample(_MATRIX), sample(np.stack([_MATRIX, -_MATRIX]), adjoint=True)),
)  # fmt: skip


# ---- linear systems


def _solve_type(matrix: TensorType, rhs: TensorType, **_: Any) -> TensorType:
    """Return the type of the solution: the batch dimensions broadcast, and the columns are those of `rhs`."""
    check_dtypes("solve", matrix, rhs)
    check_matrices("solve", matrix)
    check_matrices("solve", rhs, square=False)
    if matrix.shape is None or rhs.shape is None:
        return rhs.with_shape(None)
    if not are_shapes_compatible(matrix.shape[-1:], rhs.shape[-2:-1]):
        raise ValueError(
            f"solve: the rows of the shapes [{shape_text(matrix.shape)}] and [{shape_text(rhs.shape)}] differ"
        )
    batch = broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2]) or ()
    return rhs.with_shape((*batch, *rhs.shape[-2:]))


def _solve(matrix: Any, rhs: Any, *, adjoint: bool = False) -> Any:
    return np.linalg.solve(np.conj(np.swapaxes(matrix, -1, -2)) if adjoint else matrix, rhs)


def _triangular_solve(matrix: Any, rhs: Any, *, lower: bool = True, adjoint: bool = False) -> Any:
    """Solve triangular systems.

    Divisions by zeros on the diagonal give infinities and NaN, as in TensorFlow; NumPy's `solve` would raise.
    """
    triangle = np.tril(matrix) if lower else np.triu(matrix)
    if np.diagonal(triangle, axis1=-2, axis2=-1).all() and np.isfinite(triangle).all():
        return _solve(triangle, rhs, adjoint=adjoint)
    if adjoint:
        triangle = np.conj(np.swapaxes(triangle, -1, -2))
    size, batch_shape = triangle.shape[-1], np.broadcast_shapes(triangle.shape[:-2], rhs.shape[:-2])
    solution = np.array(np.broadcast_to(rhs, (*batch_shape, *rhs.shape[-2:])))
    is_lower = lower != adjoint
    for i in range(size) if is_lower else reversed(range(size)):
        solved_rows = slice(0, i) if is_lower else slice(i + 1, size)
        products = triangle[..., i : i + 1, solved_rows] @ solution[..., solved_rows, :]
        solution[..., i, :] = (solution[..., i, :] - products[..., 0, :]) / triangle[..., i, i, None]
    return solution


def _system_gradient(b: Builder, rhs_cotangent: Any, inputs: Any, solution: Any, adjoint: bool) -> tuple[Any, Any]:
    """Return the cotangents of the matrix and the right side; `rhs_cotangent` is that of the broadcast right side."""
    matrix, rhs = inputs
    if adjoint:
        matrix_cotangent = b.negative(b.matmul(solution, adjoint_of(b, rhs_cotangent)))
    else:
        matrix_cotangent = b.negative(b.matmul(rhs_cotangent, adjoint_of(b, solution)))
    return unbroadcast(b, matrix_cotangent, matrix), unbroadcast(b, rhs_cotangent, rhs)


def _solve_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    adjoint = attributes.get("adjoint", False)
    rhs_cotangent = b.solve(inputs[0], cotangents[0], adjoint=not adjoint)
    return _system_gradient(b, rhs_cotangent, inputs, results[0], adjoint)


def _triangular_solve_gradient(
    b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any
) -> Any:
    """Solve with the adjoint matrix; the gradient of the matrix is cut to its triangle."""
    lower, adjoint = attributes.get("lower", True), attributes.get("adjoint", False)
    rhs_cotangent = b.triangular_solve(inputs[0], cotangents[0], lower=lower, adjoint=not adjoint)
    matrix_cotangent, rhs_cotangent = _system_gradient(b, rhs_cotangent, inputs, results[0], adjoint)
    num_lower, num_upper = (-1, 0) if lower else (0, -1)
    return b.matrix_band_part(matrix_cotangent, num_lower=num_lower, num_upper=num_upper), rhs_cotangent


solve = define(
    name="solve", graphdef="MatrixSolve", result=_solve_type,
    kernel=matrix_kernel("solve", _solve, "Input matrix is not invertible."), gradient=_solve_gradient, unify="all",
    effects=Effects.RAISE,
    samples=(sample(_MATRIX, _TALL), sample(np.stack([_MATRIX, -_MATRIX]), _TALL[None], adjoint=True)),
)  # fmt: skip
triangular_solve = define(
    name="triangular_solve", graphdef="MatrixTriangularSolve", result=_solve_type,
    kernel=matrix_kernel("triangular_solve", _triangular_solve, "Input matrix is not invertible."),
    gradient=_triangular_solve_gradient, unify="all", effects=Effects.RAISE,
    samples=(
        sample(_MATRIX, _TALL), sample(_MATRIX, _TALL, lower=False), sample(_MATRIX, _TALL, lower=True, adjoint=True),
    ),
)  # fmt: skip


# ---- decompositions


def _decompose_or_nan(decompose: Callable[[Any], tuple[Any, ...]], x: Any) -> tuple[Any, ...]:
    """Return the decomposition of a batch; that of a matrix which NumPy refuses is NaN."""
    try:
        return decompose(x)
    except np.linalg.LinAlgError:
        if np.ndim(x) == 2:  # the identity gives the shapes and dtypes of the parts
            return tuple(part * np.nan for part in decompose(np.eye(*np.shape(x), dtype=x.dtype)))
        decompositions = (_decompose_or_nan(decompose, matrix) for matrix in x)
        return tuple(np.stack(parts) for parts in zip(*decompositions, strict=True))


def _cholesky_type(x: TensorType, *, symmetric_gradient: bool = False, nan_on_failure: bool = False) -> TensorType:
    check_matrices("cholesky", x)
    return x


def _cholesky(x: Any, *, symmetric_gradient: bool = False, nan_on_failure: bool = False) -> Any:
    """Return the lower factors; NumPy reads the lower triangle only."""
    if nan_on_failure:
        return np.tril(_decompose_or_nan(lambda matrices: (np.linalg.cholesky(matrices),), x)[0])
    return np.linalg.cholesky(x)


def _smaller_size(first: Dimension, second: Dimension) -> Dimension:
    """Return the smaller of two sizes; None if it is unknown."""
    if isinstance(first, int) and isinstance(second, int):
        return min(first, second)
    return first if first == second else None


def _svd_type(
    x: TensorType, *, full_matrices: bool = False, compute_uv: bool = True, nan_on_failure: bool = False
) -> tuple[TensorType, ...]:
    """Return the types of the singular values and of the left and right vectors, or of the values alone."""
    check_matrices("svd", x, square=False)
    values_type = x.with_dtype(x.dtype.real_dtype)
    if x.shape is None:
        return (values_type, x, x) if compute_uv else (values_type,)
    *batch, rows, columns = x.shape
    smaller_size = _smaller_size(rows, columns)
    values_type = values_type.with_shape((*batch, smaller_size))
    if not compute_uv:
        return (values_type,)
    left_count, right_count = (rows, columns) if full_matrices else (smaller_size, smaller_size)
    return values_type, x.with_shape((*batch, rows, left_count)), x.with_shape((*batch, columns, right_count))


def _svd(x: Any, *, full_matrices: bool = False, compute_uv: bool = True, nan_on_failure: bool = False) -> Any:
    """Return singular values, U and V (not its adjoint), as TensorFlow does; without `compute_uv`, the values alone."""
    if nan_on_failure:
        return _decompose_or_nan(lambda matrices: _svd(matrices, full_matrices=full_matrices, compute_uv=compute_uv), x)
    if not compute_uv:
        return (np.linalg.svd(x, compute_uv=False),)
    left, singular, right = np.linalg.svd(x, full_matrices=full_matrices)
    return singular, left, np.conj(np.swapaxes(right, -1, -2))


def _qr_type(x: TensorType, *, full_matrices: bool = False) -> tuple[TensorType, TensorType]:
    """Return the types of Q and R; both lack a shape if `x` does."""
    check_matrices("qr", x, square=False)
    if x.shape is None:
        return x, x
    *batch, rows, columns = x.shape
    inner_size = rows if full_matrices else _smaller_size(rows, columns)
    return x.with_shape((*batch, rows, inner_size)), x.with_shape((*batch, inner_size, columns))


def _qr(x: Any, *, full_matrices: bool = False) -> Any:
    return tuple(np.linalg.qr(x, "complete" if full_matrices else "reduced"))


def _eigh_type(x: TensorType, *, requires_finite: bool = False) -> tuple[TensorType, TensorType]:
    check_matrices("eigh", x)
    values_type = x.with_dtype(x.dtype.real_dtype)
    return values_type.with_shape(None if x.shape is None else x.shape[:-1]), x


def _eigh(x: Any, *, requires_finite: bool = False) -> Any:
    """Return eigenvalues and eigenvectors; with `requires_finite`, raise LinAlgError if an eigenvalue is not finite."""
    values, vectors = np.linalg.eigh(x)
    if requires_finite and not np.isfinite(values).all():
        raise np.linalg.LinAlgError("an eigenvalue is not finite")
    return values, vectors


cholesky = define(
    name="cholesky", graphdef="Cholesky", result=_cholesky_type,
    kernel=matrix_kernel(
        "cholesky", _cholesky, "Cholesky decomposition was not successful. The input might not be valid."
    ),
    gradient=cholesky_gradient, effects=Effects.RAISE,
    samples=(
        sample(_POSITIVE), sample(np.stack([_POSITIVE, 2 * _POSITIVE])),
        sample(_POSITIVE, symmetric_gradient=True, differentiable=()),
        sample(np.stack([_POSITIVE, -_POSITIVE]), nan_on_failure=True, differentiable=()),
    ),
)  # fmt: skip
svd = define(
    name="svd", graphdef="Svd", result=_svd_type, kernel=matrix_kernel("svd", _svd, square=False),
    gradient=svd_gradient, effects=Effects.RAISE,
    samples=(
        sample(_TALL), sample(_TALL.T.copy()), sample(_MATRIX, compute_uv=False),
        sample(_TALL, full_matrices=True, differentiable=()),
        sample(_TALL * np.nan, nan_on_failure=True, differentiable=()),
    ),
)  # fmt: skip
qr = define(
    name="qr", graphdef="Qr", result=_qr_type, kernel=matrix_kernel("qr", _qr, square=False), gradient=qr_gradient,
    samples=(
        sample(_TALL), sample(_MATRIX), sample(_TALL.T.copy()), sample(_TALL, full_matrices=True, differentiable=()),
    ),
)  # fmt: skip
eigh = define(
    name="eigh", graphdef="SelfAdjointEigV2", result=_eigh_type,
    kernel=matrix_kernel(
        "eigh", _eigh, "Self-adjoint eigen decomposition was not successful. The input might not be valid."
    ),
    gradient=eigh_gradient, effects=Effects.RAISE,
    samples=(
        sample(_POSITIVE), sample(np.stack([_POSITIVE, -_POSITIVE])), sample(_POSITIVE, requires_finite=True)
    ),
)  # fmt: skip
