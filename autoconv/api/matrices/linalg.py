"""Linear algebra. Matrices are the last two dimensions of a tensor; the dimensions before are a batch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autoconv.api.matrices.bands import select_band
from autoconv.api.tensors.accepted_dtypes import check_dtype, check_flags
from autoconv.api.tensors.arguments import convert_pair, static_axes, static_int
from autoconv.api.tensors.axis_choice import accepts_run_time_axes
from autoconv.api.tensors.casts import cast
from autoconv.graph.dtype_sets import COMPLEX, FLOATING, INDICES, LARGE_INTEGERS, NUMERIC
from autoconv.graph.dtypes import DType, as_dtype, bfloat16
from autoconv.runtime.annotations import DTypeLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor

# ---- products


def matmul(
    a: TensorLike, b: TensorLike, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
    adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False, grad_a: bool = False,
    grad_b: bool = False, output_type: DTypeLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The product of matrices (rank 2 or more; batches broadcast), each transposed first if requested.

    With `output_type` the result has that dtype: sums accumulate in it if it represents all values of the operands,
    else the result is cast. If inner dimensions differ, raises ValueError while tracing, InvalidArgumentError at run
    time. `a_is_sparse`, `b_is_sparse`, `grad_a` and `grad_b` have no effect.

    >>> autoconv.matmul([[1.0, 2.0], [3.0, 4.0]], [[1.0], [1.0]]).numpy()
    array([[3.],
           [7.]], dtype=float32)
    """
    check_flags("matmul", transpose_a=transpose_a, transpose_b=transpose_b, adjoint_a=adjoint_a, adjoint_b=adjoint_b)
    if output_type is None:
        check_dtype("matmul", NUMERIC, a, b, kernel_dtypes=FLOATING | INDICES | COMPLEX)
    if isinstance(a, (list, tuple)) and isinstance(b, np.ndarray):
        a = convert_to_tensor(a)  # the first operand decides the dtype
        b = convert_to_tensor(b, dtype_hint=a.dtype)
    left, right = (conj(a) if adjoint_a else a), (conj(b) if adjoint_b else b)
    if output_type is not None:
        left, right = (_cast_if_lossless(convert_to_tensor(x), as_dtype(output_type)) for x in (left, right))
    transpose_flags = {"transpose_a": transpose_a or adjoint_a, "transpose_b": transpose_b or adjoint_b}
    result = apply("matmul", left, right, **transpose_flags, name=name)
    return result if output_type is None else apply("cast", result, dtype=as_dtype(output_type))


def _cast_if_lossless(x: Tensor, dtype: DType) -> Tensor:
    """Return the tensor cast to the dtype if that represents all values of its own dtype, else unchanged."""
    is_wider = dtype is not x.dtype and np.can_cast(x.dtype.numpy, dtype.numpy)
    return apply("cast", x, dtype=dtype) if is_wider else x


def conj(x: TensorLike) -> Tensor:
    """The complex conjugate; real tensors are returned unchanged."""
    tensor = convert_to_tensor(x)
    return apply("conjugate", tensor) if tensor.dtype.is_complex else tensor


def matvec(
    a: TensorLike, b: TensorLike, transpose_a: bool = False, adjoint_a: bool = False, a_is_sparse: bool = False,
    b_is_sparse: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Matrices times vectors: [..., m, n] and [..., n] give [..., m]; `a_is_sparse` and `b_is_sparse` have no effect.

    >>> autoconv.linalg.matvec([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]).numpy()
    array([3., 7.], dtype=float32)
    """
    column = apply("expand_dims", b, axis=-1)
    product = matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a)
    return apply("squeeze", product, axis=(-1,), name=name)


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """The sum of products over pairs of axes; `axes` is a list of axes of `a`, and a list of axes of `b`.

    A number n in place of `axes` selects the last n axes of `a` and the first n of `b`.

    >>> autoconv.tensordot([1.0, 2.0], [3.0, 4.0], axes=1).numpy()
    np.float32(11.0)
    """
    if static_value(axes) is not None and np.ndim(static_value(axes)) == 0:
        axis_count = static_int(axes, "axes")
        if axis_count < 0:
            raise ValueError(f"`axes` must be a non-negative integer, found {axis_count}")
        pairs = (tuple(range(-axis_count, 0)), tuple(range(axis_count)))
        return apply("tensordot", a, b, axes=pairs, name=name)
    axes_a, axes_b = axes
    return _resolve_axes_of_a(a, b, axes_a, axes_b, name)


@accepts_run_time_axes(ordered=True)
def _resolve_axes_of_a(a: Any, b: Any, axes_a: Any, axes_b: Any, name: str | None) -> Tensor:
    """Return the result of `tensordot` where the axes of `a` may be tensors.

    `accepts_run_time_axes` chooses axes of the first parameter only, so `a` and `b` have a function each.
    """
    return _resolve_axes_of_b(b, a, static_axes(axes_a), axes_b, name)


@accepts_run_time_axes(ordered=True)
def _resolve_axes_of_b(b: Any, a: Any, static_axes_a: tuple[int, ...] | None, axes_b: Any, name: str | None) -> Tensor:
    """Return the result of `tensordot` for static axes of `a`, where the axes of `b` may be tensors."""
    axes = static_axes_a or (), static_axes(axes_b) or ()
    if len(axes[0]) != len(axes[1]):
        raise ValueError(f"tensordot: different number of contraction axes a and b, {axes}")
    return apply("tensordot", a, b, axes=axes, name=name)


def einsum(equation: str, *inputs: Any, optimize: Any = None, name: str | None = None) -> Tensor:
    """The sum of products that the equation describes: "ij,jk->ik" multiplies matrices; `...` stands for batch axes.

    `optimize` has no effect.

    >>> autoconv.einsum("ij,j->i", [[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0]).numpy()
    array([3., 7.], dtype=float32)
    """
    return apply("einsum", *inputs, equation=equation.replace(" ", ""), name=name)


def cross(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """The cross product of vectors of 3 along the last dimension.

    >>> autoconv.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).numpy()
    array([0., 0., 1.], dtype=float32)
    """
    x, y = convert_pair(a, b)
    for operand in (x, y):
        if operand.shape.rank is not None and (operand.shape.rank == 0 or operand.shape[-1] not in (3, None)):
            raise ValueError(f"cross takes vectors of 3 along the last dimension, found the shape {operand.shape}")

    def roll(vectors: Tensor, shift: int) -> Tensor:
        return apply("roll", vectors, shift=(shift,), axis=(-1,))

    return apply(
        "subtract",
        apply("multiply", roll(x, -1), roll(y, -2)),
        apply("multiply", roll(x, -2), roll(y, -1)),
        name=name,
    )


def outer(a: TensorLike, b: TensorLike, name: str | None = None) -> Tensor:
    """The product of every element of the vector `a` with every element of `b`.

    >>> autoconv.linalg.outer([1.0, 2.0], [3.0, 4.0]).numpy()
    array([[3., 4.],
           [6., 8.]], dtype=float32)
    """
    column = apply("expand_dims", apply("reshape", a, shape=(-1,)), axis=-1)
    return apply("multiply", column, apply("reshape", b, shape=(-1,)), name=name)


# ---- transposes, diagonals, bands


def matrix_transpose(a: TensorLike, name: str | None = None, conjugate: bool = False) -> Tensor:
    """The matrices transposed, and also conjugated if `conjugate` is True.

    >>> autoconv.linalg.matrix_transpose([[1.0, 2.0], [3.0, 4.0]]).numpy()
    array([[1., 3.],
           [2., 4.]], dtype=float32)
    """
    result = apply("matrix_transpose", a, name=name)
    return conj(result) if conjugate else result


def adjoint(matrix: TensorLike, name: str | None = None) -> Tensor:
    """The matrices, transposed and conjugated.

    >>> autoconv.linalg.adjoint([[1.0, 2.0], [3.0, 4.0]]).numpy()
    array([[1., 3.],
           [2., 4.]], dtype=float32)
    """
    return matrix_transpose(matrix, name, conjugate=True)


def trace(x: TensorLike, name: str | None = None) -> Tensor:
    """The sum along the main diagonal.

    >>> autoconv.linalg.trace([[1, 2], [3, 4]]).numpy()
    np.int32(5)
    """
    return apply("reduce_sum", apply("diag_part", x, offset=0), axis=(-1,), keepdims=False, name=name)


def band_part(input: TensorLike, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """The matrices with zeros beyond `num_lower` diagonals below the main one and `num_upper` above (-1 keeps all).

    >>> autoconv.linalg.band_part([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 0, -1).numpy()
    array([[1, 2, 3],
           [0, 5, 6],
           [0, 0, 9]], dtype=int32)
    """
    check_dtype("band_part", LARGE_INTEGERS, num_lower, num_upper)
    if static_value(num_lower) is None or static_value(num_upper) is None:
        return select_band(convert_to_tensor(input), num_lower, num_upper)
    limits = {"num_lower": static_int(num_lower, "num_lower"), "num_upper": static_int(num_upper, "num_upper")}
    return apply("matrix_band_part", input, **limits, name=name)


# ---- determinants, inverses, systems


def det(input: TensorLike, name: str | None = None) -> Tensor:
    """The determinants of square matrices.

    >>> autoconv.linalg.det([[2.0, 0.0], [0.0, 4.0]]).numpy()
    np.float32(8.0)
    """
    return apply("determinant", input, name=name)


class LogMatrixDeterminant(NamedTuple):
    """The result of `slogdet`: the signs of determinants, and the logarithms of their absolute values."""

    sign: Tensor
    log_abs_determinant: Tensor


def slogdet(input: TensorLike, name: str | None = None) -> LogMatrixDeterminant:
    """The sign and the logarithm of the absolute value of the determinants.

    >>> sign, logarithm = autoconv.linalg.slogdet([[2.0, 0.0], [0.0, 1.0]])
    >>> sign.numpy(), logarithm.numpy().round(3)
    (np.float32(1.0), np.float32(0.693))
    """
    sign, logarithm = apply("slogdet", input, name=name)
    return LogMatrixDeterminant(sign, cast(logarithm, sign.dtype))


def logdet(matrix: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the determinants of positive definite matrices; NaN for other matrices.

    >>> autoconv.linalg.logdet([[4.0, 2.0], [2.0, 3.0]]).numpy().round(3)
    np.float32(2.079)
    """
    logs = apply("log", apply("real", apply("diag_part", cholesky(matrix), offset=0)))
    return apply("multiply", apply("reduce_sum", logs, axis=(-1,), keepdims=False), 2.0, name=name)


def inv(input: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverses of square matrices; raises InvalidArgumentError for a singular matrix.

    >>> autoconv.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy()
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    check_dtype("inv", FLOATING - {bfloat16} | COMPLEX, input)
    check_flags("inv", adjoint=adjoint)
    return apply("inverse", input, adjoint=adjoint, name=name)


def pinv(a: TensorLike, rcond: float | None = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The pseudo-inverses; singular values up to `rcond` times the largest count as zero.

    By default `rcond` is 10 times the larger side of a matrix times the dtype's epsilon. `validate_args` has no effect.

    >>> autoconv.linalg.pinv([[2.0, 0.0], [0.0, 4.0]]).numpy().round(3)
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    tensor = convert_to_tensor(a)
    shape = tensor.shape.as_list() if tensor.shape.rank is not None else [None, None]
    max_side = max((side for side in shape[-2:] if side is not None), default=1)
    relative_limit = rcond if rcond is not None else 10.0 * max_side * float(np.finfo(tensor.dtype.numpy).eps)
    singular_values, u, v = svd(tensor)
    max_singular_value = apply("reduce_max", singular_values, axis=(-1,), keepdims=True)
    is_large = apply("greater", singular_values, apply("multiply", max_singular_value, relative_limit))
    divisors = apply("select", is_large, singular_values, apply("ones_like", singular_values))  # 0 is no divisor
    reciprocals = apply("select", is_large, apply("divide", 1.0, divisors), 0.0)
    return matmul(apply("multiply", v, apply("expand_dims", reciprocals, axis=-2)), u, adjoint_b=True, name=name)


def solve(matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The solution x of matrix @ x = rhs, both [..., n, k]; raises InvalidArgumentError for a singular matrix.

    >>> autoconv.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy()
    array([[1. ],
           [0.5]], dtype=float32)
    """
    check_flags("solve", adjoint=adjoint)
    return apply("solve", matrix, rhs, adjoint=adjoint, name=name)


def triangular_solve(
    matrix: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """The solution x of matrix @ x = rhs; only the lower (or upper) triangle of the matrix is read.

    A zero on the diagonal is a divisor: the solution has infinities or NaN.

    >>> autoconv.linalg.triangular_solve([[2.0, 0.0], [1.0, 1.0]], [[4.0], [3.0]]).numpy().round(3)
    array([[2.],
           [1.]], dtype=float32)
    """
    check_flags("triangular_solve", lower=lower, adjoint=adjoint)
    return apply("triangular_solve", matrix, rhs, lower=lower, adjoint=adjoint, name=name)


def cholesky_solve(chol: Any, rhs: TensorLike, name: str | None = None) -> Tensor:
    """The solution x of A @ x = rhs, where `chol` is the lower Cholesky factor of A.

    >>> autoconv.linalg.cholesky_solve([[2.0, 0.0], [0.0, 1.0]], [[4.0], [3.0]]).numpy().round(3)
    array([[1.],
           [3.]], dtype=float32)
    """
    lower_solution = triangular_solve(chol, rhs)
    return triangular_solve(chol, lower_solution, adjoint=True, name=name)


# ---- decompositions


def cholesky(input: TensorLike, name: str | None = None) -> Tensor:
    """The lower triangular L with L @ L^H = input; its triangle is NaN unless the input is positive definite.

    >>> autoconv.linalg.cholesky([[4.0, 2.0], [2.0, 3.0]]).numpy().round(3)
    array([[2.   , 0.   ],
           [1.   , 1.414]], dtype=float32)
    """
    return apply("cholesky", input, symmetric_gradient=True, nan_on_failure=True, name=name)


def svd(tensor: TensorLike, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """(s, u, v) with tensor = u @ diag(s) @ v^H, s in descending order; s alone without `compute_uv`.

    All are NaN for a matrix with a NaN.

    >>> autoconv.linalg.svd([[3.0, 0.0], [0.0, 2.0]])[0].numpy()
    array([3., 2.], dtype=float32)
    """
    modes = {"full_matrices": full_matrices, "compute_uv": compute_uv, "nan_on_failure": True}
    result = apply("svd", tensor, **modes, name=name)
    return result[0] if not compute_uv and isinstance(result, (tuple, list)) else result


class Qr(NamedTuple):
    """The result of `qr`: q and r."""

    q: Tensor
    r: Tensor


def qr(input: TensorLike, full_matrices: bool = False, name: str | None = None) -> Qr:
    """(q, r) with q @ r = input, orthonormal columns in q and r upper triangular.

    >>> q, r = autoconv.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> (q @ r).numpy().round(3)
    array([[3., 1.],
           [4., 2.]], dtype=float32)
    """
    check_dtype("qr", FLOATING - {bfloat16} | COMPLEX, input)
    return Qr(*apply("qr", input, full_matrices=full_matrices, name=name))


def eigh(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues in ascending order, and eigenvectors (columns) of self-adjoint matrices; reads the lower triangle.

    Raises InvalidArgumentError where an eigenvalue is not finite, as that of a matrix with NaN.

    >>> values, vectors = autoconv.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])
    >>> values.numpy()
    array([1., 2.], dtype=float32)
    """
    values, vectors = apply("eigh", tensor, requires_finite=True, name=name)
    return cast(values, vectors.dtype), vectors


def eigvalsh(tensor: TensorLike, name: str | None = None) -> Tensor:
    """The eigenvalues of self-adjoint matrices in ascending order.

    >>> autoconv.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]).numpy().round(3)
    array([1., 2.], dtype=float32)
    """
    return eigh(tensor, name)[0]
