"""Solvers that TensorFlow keeps under `linalg.experimental`."""

from __future__ import annotations

from typing import Any, NamedTuple

from autoconv.api.control.flow import while_loop
from autoconv.api.tensors.constants import zeros_like
from autoconv.api.tensors.norms import norm
from autoconv.api.tensors.reductions import reduce_any, reduce_sum
from autoconv.api.tensors.shaping import expand_dims
from autoconv.linear_operators.base import LinearOperator
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


class ConjugateGradientState(NamedTuple):
    """The state of `conjugate_gradient`: number of iterations, solution, residual, direction, and `gamma`.

    `gamma` is the inner product of the residual and the preconditioned residual.
    """

    i: Tensor
    x: Tensor
    r: Tensor
    p: Tensor
    gamma: Tensor


def conjugate_gradient(
    operator: LinearOperator, rhs: TensorLike, preconditioner: LinearOperator | None = None,
    x: TensorLike | None = None, tol: float = 1e-5, max_iter: int = 20, name: str | None = None,
) -> ConjugateGradientState:  # fmt: skip
    """Solve operator @ x = rhs for vectors and a positive definite operator by the method of conjugate gradients.

    The first solution is `x`, by default zeros. There are at most `max_iter` iterations, fewer if the norms of all
    residuals are at most `tol` times the norm of `rhs`. Raises ValueError for an operator without the hints that it is
    self-adjoint and positive definite.

    >>> matrix = [[4.0, 1.0], [1.0, 3.0]]
    >>> operator = autoconv.linalg.LinearOperatorFullMatrix(matrix, is_self_adjoint=True, is_positive_definite=True)
    >>> autoconv.linalg.experimental.conjugate_gradient(operator, [1.0, 2.0]).x.numpy().round(4)
    array([0.0909, 0.6364], dtype=float32)
    """
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError("Expected a self-adjoint, positive definite operator.")
    right_side = convert_to_tensor(rhs)
    start = zeros_like(right_side) if x is None else convert_to_tensor(x)
    first_residual = right_side if x is None else right_side - operator.matvec(start)
    first_direction = first_residual if preconditioner is None else preconditioner.matvec(first_residual)
    limit = tol * norm(right_side, axis=-1)

    def may_continue(iteration: Tensor, _: Tensor, residual: Tensor, *__: Tensor) -> Any:
        return apply("logical_and", iteration < max_iter, reduce_any(norm(residual, axis=-1) > limit))

    def step(
        iteration: Tensor, solution: Tensor, residual: Tensor, direction: Tensor, gamma: Tensor
    ) -> tuple[Any, ...]:
        image = operator.matvec(direction)
        step_length = expand_dims(gamma / _dot(direction, image), -1)
        new_residual = residual - step_length * image
        preconditioned_residual = new_residual if preconditioner is None else preconditioner.matvec(new_residual)
        new_gamma = _dot(new_residual, preconditioned_residual)
        new_direction = preconditioned_residual + expand_dims(new_gamma / gamma, -1) * direction
        return iteration + 1, solution + step_length * direction, new_residual, new_direction, new_gamma

    first_gamma = _dot(first_residual, first_direction)
    state = (convert_to_tensor(0), start, first_residual, first_direction, first_gamma)
    return ConjugateGradientState(*while_loop(may_continue, step, state))


def _dot(x: Tensor, y: Tensor) -> Any:
    """Return the inner products of vectors, with the conjugates of complex `x`."""
    return reduce_sum(apply("conj", x) * y if x.dtype.is_complex else x * y, axis=-1)


__all__ = ["conjugate_gradient"]
