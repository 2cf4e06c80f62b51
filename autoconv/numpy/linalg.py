"""Linear algebra: numpy.linalg."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.numpy.kernels import call_numpy, register_kernels
from autoconv.numpy.operands import (
    axes_of,
    cast,
    computes,
    integer,
    is_under_compile,
    rank_of,
    refuse,
    refuse_options,
    require_known_shape,
    rerun_plain_unless,
    tensor,
    tensors,
)
from autoconv.numpy.products import dot, matrix_product
from autoconv.numpy.shapes import expand_dims, moveaxis, swapaxes
from autoconv.numpy.ufuncs import call_ufunc
from autoconv.ops.index_spec import At, Rest
from autoconv.ops.numpy.shapes import SOLVE, SQUARE
from autoconv.runtime.annotations import AxisLike, IntLike, OutLike, TensorLike
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def _inexact_tensor(a: TensorLike) -> Tensor:
    """Return floats and complex numbers as a tensor, other numbers cast to float64; raise NumPy's error for float16."""
    x = tensor(a)
    if x.dtype.is_floating and x.dtype.size < 4:
        raise TypeError(f"array type {x.dtype.name} is unsupported in linalg")
    return x if x.dtype.is_floating or x.dtype.is_complex else cast(x, np.float64)


def _square_matrices(a: TensorLike) -> Tensor:
    """Return square matrices as a tensor; raise NumPy's LinAlgError for other shapes, at run time if sizes are open."""
    x = _inexact_tensor(a)
    if rank_of(x) < 2:
        raise np.linalg.LinAlgError(f"{rank_of(x)}-dimensional array given. Array must be at least two-dimensional")
    rows, columns = x.type.shape[-2:]  # type: ignore[index]
    if isinstance(rows, int) and isinstance(columns, int) and rows != columns:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if not isinstance(rows, int) or rows != columns:
        apply("numpy_shapes", x, x, rule=SQUARE)  # raises NumPy's error at run time
    return x


@computes("linalg.det")
def det(a: TensorLike) -> Any:
    return apply("determinant", _square_matrices(a))


@computes("linalg.slogdet")
def slogdet(a: TensorLike) -> Any:
    return np.linalg._linalg.SlogdetResult(*apply("slogdet", _square_matrices(a)))  # type: ignore[attr-defined]


@computes("linalg.inv")
def inv(a: TensorLike) -> Any:
    return apply("inverse", _square_matrices(a))


@computes("linalg.solve")
def solve(a: TensorLike, b: TensorLike) -> Any:
    matrix, rhs = tensors(_square_matrices(a), _inexact_tensor(b))
    if rank_of(rhs) == 1:
        size, row_count = matrix.type.shape[-1], rhs.type.shape[0]  # type: ignore[index]
        if not isinstance(size, int) or size != row_count:
            apply("numpy_shapes", matrix, rhs, rule=SOLVE)  # raises NumPy's error for sizes that do not match
        result = apply("solve", matrix, apply("expand_dims", rhs, axis=1))
        return apply("squeeze", result, axis=(-1,))
    return apply("solve", matrix, rhs)


@computes("linalg.cholesky")
def cholesky(a: TensorLike, /, *, upper: bool = False) -> Any:
    x = _square_matrices(a)
    if upper:
        x = swapaxes(x, -1, -2)  # the op finds the lower factor L of A.T, and L.T is the upper factor of A
    result = apply("cholesky", x)
    return swapaxes(result, -1, -2) if upper else result


@computes("linalg.eigh")
def eigh(a: TensorLike, UPLO: Any = "L") -> Any:
    np.linalg.eigh(np.ones((1, 1)), UPLO)  # raises NumPy's error for an invalid UPLO
    x = _square_matrices(a)
    if UPLO.upper() != "L":
        x = call_ufunc(np.conjugate, swapaxes(x, -1, -2))
    return np.linalg._linalg.EighResult(*apply("eigh", x))  # type: ignore[attr-defined]


@computes("linalg.eigvalsh")
def eigvalsh(a: TensorLike, UPLO: str = "L") -> Any:
    return eigh(a, UPLO)[0]


@computes("linalg.qr")
def qr(a: TensorLike, mode: str = "reduced") -> Any:
    x = _inexact_tensor(a)
    if mode not in ("reduced", "complete"):
        return call_numpy("linalg.qr", x, mode)
    return np.linalg._linalg.QRResult(*apply("qr", x, full_matrices=mode == "complete"))  # type: ignore[attr-defined]


@computes("linalg.svd")
def svd(a: TensorLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    x = _inexact_tensor(a)
    if hermitian:
        result = call_numpy("linalg.svd", x, full_matrices, compute_uv, True)
        return np.linalg._linalg.SVDResult(*result) if compute_uv else result  # type: ignore[attr-defined]
    if rank_of(x) < 2:
        raise np.linalg.LinAlgError(f"{rank_of(x)}-dimensional array given. Array must be at least two-dimensional")
    if not compute_uv:
        result = apply("svd", x, full_matrices=False, compute_uv=False)
        return result[0] if isinstance(result, tuple) else result
    values, left, right = apply("svd", x, full_matrices=bool(full_matrices), compute_uv=True)
    right = call_ufunc(np.conjugate, swapaxes(right, -1, -2))
    return np.linalg._linalg.SVDResult(left, values, right)  # type: ignore[attr-defined]


def _is_known_to_have_elements(x: Tensor) -> bool:
    """Return whether `x` has two or more dimensions, all of known sizes, and none of size 0."""
    shape = x.type.shape
    return shape is not None and len(shape) >= 2 and all(isinstance(size, int) and size for size in shape)


def _rounding_error(x: Tensor) -> float:
    """Return the rounding error of singular values, as a multiple of the largest one; sizes have to be known."""
    dtype: Any = _inexact_tensor(x).dtype.numpy
    return max(require_known_shape(x)[-2:]) * float(np.finfo(dtype).eps)


@computes("linalg.pinv")
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue) -> Any:  # type: ignore[attr-defined]
    """Return pseudo-inverses; as in NumPy, singular values that are small relative to the largest one count as zero."""
    x, has_rtol = _inexact_tensor(a), rtol is not np._NoValue  # type: ignore[attr-defined]
    is_static = all(value is None or type(value) in (int, float) for value in (rcond, rtol if has_rtol else None))
    is_static &= x.dtype is tensor(a).dtype or not has_rtol  # NumPy has no default `rtol` for integers
    has_two_bounds = has_rtol and rcond is not None
    if hermitian or has_two_bounds or not is_static or not _is_known_to_have_elements(x):
        return call_numpy("linalg.pinv", tensor(a), rcond, hermitian, **({"rtol": rtol} if has_rtol else {}))
    if rcond is not None or not has_rtol:
        relative_bound = 1e-15 if rcond is None else rcond
    else:
        relative_bound = _rounding_error(x) if rtol is None else rtol
    left, values, right = svd(call_ufunc(np.conjugate, x), full_matrices=False)
    reciprocals = cast(_reciprocals(values, _are_large(values, relative_bound)), left.dtype.numpy)
    scaled_left = apply("multiply", apply("expand_dims", reciprocals, axis=-1), swapaxes(left, -1, -2))
    return matrix_product(swapaxes(right, -1, -2), scaled_left)


def _are_large(values: Tensor, relative_bound: Any) -> Tensor:
    """Return whether each singular value is above `relative_bound` times the largest one of its matrix."""
    max_value = apply("numpy_max", values, axis=-1, keepdims=True)
    return apply("greater", values, apply("multiply", max_value, tensor(relative_bound, values.dtype.numpy)))


def _reciprocals(values: Tensor, is_large: Tensor) -> Tensor:
    """Return the reciprocals of the large singular values, and 0 for the others."""
    ones = apply("ones_like", values)
    reciprocals = apply("divide", ones, apply("select", is_large, values, ones))
    return apply("select", is_large, reciprocals, apply("zeros_like", values))


@computes("linalg.cond")
def cond(x: TensorLike, p: TensorLike | None = None) -> Any:
    x_tensor = _inexact_tensor(x)
    if p not in (None, 2, -2) or not _is_known_to_have_elements(x_tensor):
        return call_numpy("linalg.cond", x_tensor, p)
    values = svd(x_tensor, compute_uv=False)
    max_value, min_value = (apply("get_item", values, spec=(Rest(), At(index))) for index in (0, -1))
    ratio = apply("divide", min_value, max_value) if p == -2 else apply("divide", max_value, min_value)
    # The ratio is nan for a zero matrix, but its condition number is infinite. A nan among the elements stays nan.
    has_nan = apply("numpy_any", apply("is_nan", x_tensor), axis=(-2, -1))
    is_zero_matrix = apply("logical_and", apply("is_nan", ratio), apply("logical_not", has_nan))
    return apply("select", is_zero_matrix, tensor(np.inf, ratio.dtype.numpy), ratio)


@computes("linalg.svdvals")
def svdvals(x: TensorLike, /) -> Any:
    return svd(x, compute_uv=False)


def _complex_results(op: str) -> Callable[[TensorLike], Any]:
    """Return the implementation of `eig` or `eigvals` by that op, whose results are always complex.

    Code converted under `compile` makes them real where NumPy does (`autoconv/operators/numpy/eigenvalues.py`).
    """

    def run(a: TensorLike) -> Any:
        if not is_under_compile():
            refuse("returns real or complex numbers depending on the values")
        return apply(op, _square_matrices(a))

    return run


computes("linalg.eig")(_complex_results("eig"))
computes("linalg.eigvals")(_complex_results("eigvals"))


@computes("linalg.matrix_power")
def matrix_power(a: TensorLike, n: IntLike) -> Any:
    x, power = tensor(a), integer(n)
    _square_matrices(x)
    if power == 0:
        shape = require_known_shape(x)
        return tensor(np.broadcast_to(np.eye(shape[-1], dtype=x.dtype.numpy), shape).copy())
    if power < 0:
        x, power = inv(x), -power
    result = None
    while power:  # repeated squaring: x runs through a, a², a⁴, …; the result multiplies those whose bit in n is 1
        if power % 2 == 1:
            result = x if result is None else matrix_product(result, x)
        power //= 2
        x = matrix_product(x, x) if power else x
    return result


@computes("linalg.norm")
def norm(x: TensorLike, ord: object = None, axis: AxisLike | None = None, keepdims: bool = False) -> Any:
    x_tensor = tensor(x)
    if not (x_tensor.dtype.is_floating or x_tensor.dtype.is_complex):
        x_tensor = cast(x_tensor, np.float64)
    rank = rank_of(x_tensor)
    if axis is None:
        axis = tuple(range(rank))
        if ord is None or (ord == 2 and rank == 1) or (ord in ("f", "fro") and rank == 2):
            return _root_of_squares(x_tensor, axis, keepdims)
    if isinstance(axis, list):
        raise TypeError("'axis' must be None, an integer or a tuple of integers")
    axes = axes_of(axis, rank)
    if len(axes) == 1:
        return vector_norm(x_tensor, axis=axes[0], keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) == 2 and ord in (None, "fro", "f"):
        return _root_of_squares(x_tensor, axes, keepdims)
    if len(axes) == 2 and ord in (1, -1, np.inf, -np.inf) and _is_known_to_have_elements(x_tensor):
        return _extreme_sum(x_tensor, ord, axes, keepdims)
    if len(axes) == 2 and ord in (2, -2, "nuc") and _is_known_to_have_elements(x_tensor):
        reduction = {2: "numpy_max", -2: "numpy_min", "nuc": "numpy_sum"}[ord]
        result = apply(reduction, svd(moveaxis(x_tensor, axes, (-2, -1)), compute_uv=False), axis=-1)
        return expand_dims(result, axes) if keepdims else result
    return call_numpy("linalg.norm", x_tensor, ord, axis, keepdims)


def _extreme_sum(x: Tensor, order: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Return the largest or smallest sum of magnitudes in a row or column, for the orders 1, -1, inf and -inf."""
    magnitudes = call_ufunc(np.absolute, x)
    sums = apply("numpy_sum", magnitudes, axis=axes[1 if abs(order) == np.inf else 0], keepdims=True)
    options: dict[str, Any] = {"keepdims": True} if keepdims else {}
    return apply("numpy_max" if order > 0 else "numpy_min", sums, axis=axes, **options)


@computes("linalg.matrix_norm")
def matrix_norm(x: TensorLike, /, *, keepdims: bool = False, ord: TensorLike = "fro") -> Any:
    return norm(x, ord, (-2, -1), keepdims)


def _squared_magnitudes(x: Tensor) -> Tensor:
    """Return the squares of the magnitudes of the elements."""
    if x.dtype.is_complex:
        return apply("add", *(apply("square", apply(part, x)) for part in ("real", "imag")))
    return apply("square", x)


def _root_of_squares(x: Tensor, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Return the Euclidean norm over the axes."""
    options: dict[str, Any] = {"keepdims": True} if keepdims else {}
    squares = _squared_magnitudes(x)
    total = apply("numpy_sum", squares, axis=axes, dtype=squares.dtype, **options) if axes else squares
    return apply("sqrt", total)


@computes("linalg.vector_norm")
def vector_norm(x: TensorLike, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    x_tensor = tensor(x)
    if not (x_tensor.dtype.is_floating or x_tensor.dtype.is_complex):
        x_tensor = cast(x_tensor, np.float64)
    axes = axes_of(axis, rank_of(x_tensor))
    options: dict[str, Any] = {"keepdims": True} if keepdims else {}
    if ord == 2:
        return _root_of_squares(x_tensor, axes, keepdims)
    magnitudes = call_ufunc(np.absolute, x_tensor)
    if ord in (np.inf, -np.inf):
        return apply("numpy_max" if ord > 0 else "numpy_min", magnitudes, axis=axes, **options)
    if ord == 0:
        return cast(apply("numpy_sum", tensor(magnitudes, bool), axis=axes, **options), magnitudes.dtype)
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord == 1:
        return apply("numpy_sum", magnitudes, axis=axes, dtype=magnitudes.dtype, **options)
    total = apply("numpy_sum", call_ufunc(np.power, magnitudes, ord), axis=axes, dtype=magnitudes.dtype, **options)
    return call_ufunc(np.power, total, tensor(1.0 / ord, magnitudes.dtype))


@computes("linalg.multi_dot")
def multi_dot(arrays: Any, *, out: OutLike | None = None) -> Any:
    refuse_options(out=out)
    matrices = list(map(tensor, arrays))
    if len(matrices) < 2:
        raise ValueError("Expecting at least two arrays.")
    return functools.reduce(dot, matrices)


@computes("linalg.matmul")
def matmul(x1: TensorLike, x2: TensorLike, /) -> Any:
    return matrix_product(x1, x2)


@computes("matvec")
def matvec(x1: TensorLike, x2: TensorLike, /, **options: Any) -> Any:
    refuse_options(**options)
    if rank_of(tensor(x1)) < 2 or not rank_of(tensor(x2)):
        refuse("is given no matrix and vector")
    return apply("squeeze", matrix_product(x1, apply("expand_dims", tensor(x2), axis=-1)), axis=(-1,))


@computes("vecmat")
def vecmat(x1: TensorLike, x2: TensorLike, /, **options: Any) -> Any:
    refuse_options(**options)
    vector = apply("conjugate", tensor(x1)) if tensor(x1).dtype.is_complex else tensor(x1)
    if not rank_of(vector) or rank_of(tensor(x2)) < 2:
        refuse("is given no vector and matrix")
    return apply("squeeze", matrix_product(apply("expand_dims", vector, axis=-2), x2), axis=(-2,))


register_kernels("linalg.tensorsolve", "linalg.tensorinv")


@computes("linalg.lstsq")
def lstsq(a: TensorLike, b: TensorLike, rcond: Any = None) -> Any:
    """Solve least squares by a QR decomposition and the singular values of R.

    Arguments for which NumPy may warn or raise are left to NumPy. NumPy returns residuals for matrices with more rows
    than columns, unless their rank is not full: then the call runs again as plain Python.
    """
    x, rhs = tensors(_inexact_tensor(a), _inexact_tensor(b))
    has_bound = rcond is None or type(rcond) in (int, float)
    are_matrices = rank_of(x) == 2 and rank_of(rhs) in (1, 2)
    has_elements = _is_known_to_have_elements(x) and 0 not in (rhs.type.shape or (0,))
    is_supported = are_matrices and has_elements and has_bound
    is_supported = is_supported and require_known_shape(x)[0] == rhs.type.shape[0]  # type: ignore[index]
    if not is_supported or min(require_known_shape(x)) > MAX_SHORT_SIDE:
        return call_numpy("linalg.lstsq", tensor(a), tensor(b), rcond, by_values=True)
    rows, columns = require_known_shape(x)
    right_sides = apply("expand_dims", rhs, axis=1) if rank_of(rhs) == 1 else rhs
    if rows > columns:
        q, r = apply("qr", x, full_matrices=False)
        left, values, right = svd(r, full_matrices=False)
        projected = matrix_product(_adjoint(left), matrix_product(_adjoint(q), right_sides))
    else:
        left, values, right = svd(x, full_matrices=False)
        projected = matrix_product(_adjoint(left), right_sides)
    is_large = _are_large(values, float(_rounding_error(x) if rcond is None or rcond < 0 else rcond))
    reciprocals = cast(_reciprocals(values, is_large), projected.dtype.numpy)
    scaled = apply("multiply", apply("expand_dims", reciprocals, axis=1), projected)
    solution = matrix_product(_adjoint(right), scaled)
    rank = apply("numpy_sum", is_large, axis=-1)
    residuals: Any = tensor(np.zeros(0, values.dtype.numpy))
    if rows > columns:
        rerun_plain_unless(apply("equal", rank, tensor(columns, np.int64)), "a matrix has no full rank")
        errors = apply("subtract", right_sides, matrix_product(x, solution))
        residuals = apply("numpy_sum", _squared_magnitudes(errors), axis=0)
    if rank_of(rhs) == 1:
        solution = apply("squeeze", solution, axis=(1,))
    return solution, residuals, cast(rank, np.int32), values


MAX_SHORT_SIDE = 16  # up to this smaller size of a matrix, a QR decomposition is faster than LAPACK's least squares


def _adjoint(x: Tensor) -> Tensor:
    """Return the conjugate transposes of matrices."""
    return call_ufunc(np.conjugate, swapaxes(x, -1, -2)) if x.dtype.is_complex else swapaxes(x, -1, -2)


@computes("linalg.matrix_rank")
def matrix_rank(
    A: TensorLike, tol: TensorLike | None = None, hermitian: bool = False, *, rtol: TensorLike | None = None
) -> Any:
    x = tensor(A)
    if rank_of(x) < 2:  # NumPy returns a Python int for a vector
        is_nonzero = apply("numpy_any", tensor(x, bool))
        return apply("python_cast", is_nonzero, dtype=as_dtype(np.int64), weak=True)
    if tol is None and rtol is None and not hermitian and _is_known_to_have_elements(x):
        values = svd(x, compute_uv=False)
        return apply("numpy_sum", _are_large(values, _rounding_error(x)), axis=-1)
    options: dict[str, Any] = {key: value for key, value in (("tol", tol), ("rtol", rtol)) if value is not None}
    return call_numpy("linalg.matrix_rank", x, hermitian=hermitian, **options)
