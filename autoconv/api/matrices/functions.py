"""Functions of matrices: exponentials, logarithms, square roots; least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.api.control.flow import cond, while_loop
from autoconv.api.matrices.linalg import cholesky, cholesky_solve, matmul, pinv, solve
from autoconv.api.tensors.casts import cast, stop_gradient
from autoconv.api.tensors.comparison import maximum
from autoconv.api.tensors.constants import eye
from autoconv.api.tensors.gather import where
from autoconv.api.tensors.maths import abs, floor, log
from autoconv.api.tensors.reductions import reduce_max, reduce_sum
from autoconv.api.tensors.shaping import expand_dims, shape
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import constant, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

# Pairs of the order of a Padé approximant and the greatest norm of a matrix for which its error is below the dtype's
# precision. Higham, The scaling and squaring method for the matrix exponential revisited, 2005, table 2.3.
_SINGLE_PRECISION = ((3, 4.258730016922831e-01), (5, 1.880152677804762e00), (7, 3.925724783138660e00))
_DOUBLE_PRECISION = (
    (3, 1.495585217958292e-02), (5, 2.539398330063230e-01), (7, 9.504178996162932e-01), (9, 2.097847961257068e00),
    (13, 5.371920351148152e00),
)  # fmt: skip


def expm(input: TensorLike, name: str | None = None) -> Tensor:
    """The exponentials of square matrices, by scaling and squaring: Padé approximants of the matrix over a power of 2.

    >>> autoconv.linalg.expm([[0.0, 1.0], [0.0, 0.0]]).numpy()
    array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    tensor: Any = convert_to_tensor(input)
    is_double = tensor.dtype.size == (16 if tensor.dtype.is_complex else 8)
    orders_and_limits = _DOUBLE_PRECISION if is_double else _SINGLE_PRECISION
    magnitudes = stop_gradient(abs(tensor))
    norm: Any = reduce_max(reduce_sum(magnitudes, -2), -1)
    norm = expand_dims(expand_dims(norm, -1), -1)
    *low_orders_and_limits, (high_order, high_limit) = orders_and_limits
    squaring_count: Any = maximum(floor(log(norm / high_limit) / float(np.log(2.0))), 0.0)
    scale = cast(apply("power", constant(0.5, norm.dtype), squaring_count), tensor.dtype)
    low_approximants = _pade_approximants(tensor, [order for order, _ in low_orders_and_limits])
    ((numerator, denominator),) = _pade_approximants(tensor * scale, [high_order])
    low_limits = [limit for _, limit in low_orders_and_limits]
    approximants_and_limits = zip(reversed(low_approximants), reversed(low_limits), strict=True)
    for (low_numerator, low_denominator), low_limit in approximants_and_limits:
        is_precise = norm < low_limit
        numerator = where(is_precise, low_numerator, numerator)
        denominator = where(is_precise, low_denominator, denominator)
    result = solve(denominator, numerator)
    max_squaring_count = reduce_max(squaring_count) if tensor.shape.num_elements() != 0 else constant(0.0, norm.dtype)
    start = constant(0.0, norm.dtype)

    def square(step: Any, matrix: Any) -> tuple[Any, Any]:
        return step + 1.0, where(step < squaring_count, matmul(matrix, matrix), matrix)

    _, result = while_loop(lambda step, _: step < max_squaring_count, square, [start, result])
    return apply("identity", result, name=name)


def _pade_approximants(x: Any, orders: list[int]) -> list[tuple[Any, Any]]:
    """Return the numerator and the denominator of the Padé approximant of exp(x) for each of the orders.

    They are the sum and the difference of the terms of even and of odd power of one polynomial in x.
    """
    identity: Any = eye(shape(x)[-1], dtype=x.dtype)
    square = matmul(x, x)
    powers = [identity, square]
    while len(powers) <= (max(orders) - 1) // 2:
        powers.append(matmul(powers[-1], square))
    result = []
    for order in orders:
        coefficients = _coefficients(order)
        even = sum(constant(term, x.dtype) * power for term, power in zip(coefficients[0::2], powers, strict=False))
        odd = matmul(
            x, sum(constant(term, x.dtype) * power for term, power in zip(coefficients[1::2], powers, strict=False))
        )
        result.append((even + odd, even - odd))
    return result


def _coefficients(order: int) -> list[float]:
    """Return the coefficients of the numerator, from that of x^0 on, scaled so that the last one is 1.

    Before the scaling, the coefficient of x^k is order! / (2·order)! · (2·order - k)! / (k! · (order - k)!).
    """
    coefficients = [1]
    for power in range(order, 0, -1):
        coefficients.append(coefficients[-1] * power * (2 * order - power + 1) // (order - power + 1))
    return [float(term) for term in reversed(coefficients)]


def sqrtm(input: TensorLike, name: str | None = None) -> Tensor:
    """The principal square roots of square matrices, whose eigenvalues have positive real parts.

    The root of a real matrix that has no real root is nan.

    >>> autoconv.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]).numpy()
    array([[2., 0.],
           [0., 3.]], dtype=float32)
    """
    return apply("sqrtm", input, name=name)


def logm(input: TensorLike, name: str | None = None) -> Tensor:
    """The principal logarithms of complex square matrices, without a gradient. This is the inverse of `expm`.

    >>> autoconv.linalg.logm(autoconv.constant([[1.0, 0.0], [0.0, 1.0]], autoconv.complex64)).numpy()
    array([[0.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    tensor = convert_to_tensor(input)
    if not tensor.dtype.is_complex:
        raise TypeError(f"logm takes complex matrices, found {tensor.dtype.name}; cast first")
    return apply("logm", tensor, name=name)


def lstsq(
    matrix: TensorLike, rhs: TensorLike, l2_regularizer: float = 0.0, fast: bool = True, name: str | None = None
) -> Tensor:
    """The x that minimises |matrix @ x - rhs|² plus `l2_regularizer` times |x|².

    If there are several such x, the shortest one is returned. Without `fast`, `l2_regularizer` has no effect. With
    `fast`, the result is NaN if the matrix has not full rank, as Cholesky factors are used.

    >>> autoconv.linalg.lstsq([[1.0], [2.0]], [[2.0], [4.0]]).numpy().round(3)
    array([[2.]], dtype=float32)
    """
    a = convert_to_tensor(matrix)
    if not fast:
        return matmul(pinv(a), rhs, name=name)

    def solve_by_gram_matrix(is_wide: bool) -> Tensor:  # the smaller one of the two products
        gram_matrix = matmul(a, a, adjoint_a=not is_wide, adjoint_b=is_wide)
        if l2_regularizer:
            diagonal = apply("diag_part", gram_matrix, offset=0)
            gram_matrix = apply("set_diag", gram_matrix, apply("add", diagonal, l2_regularizer), offset=0)
        factor = cholesky(gram_matrix)
        if is_wide:
            return matmul(a, cholesky_solve(factor, rhs), adjoint_a=True, name=name)
        return cholesky_solve(factor, matmul(a, rhs, adjoint_a=True), name=name)

    rows, columns = a.shape.as_list()[-2:] if a.shape.rank is not None else [None, None]
    if rows is not None and columns is not None:
        return solve_by_gram_matrix(rows < columns)
    sizes = shape(a)
    solve_either = (lambda: solve_by_gram_matrix(True)), (lambda: solve_by_gram_matrix(False))
    return cond(sizes[-2] < sizes[-1], *solve_either)  # type: ignore[operator, no-any-return]
