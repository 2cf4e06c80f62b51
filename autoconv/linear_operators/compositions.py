"""Operators made of operators: products, adjoints, inverses, Kronecker products."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.shaping import broadcast_to, concat, reshape, shape, stack, transpose
from autoconv.api.tensors.static_shapes import broadcast_dynamic_shape
from autoconv.linear_operators.base import OPERATOR_MAKERS, Hint, LinearOperator, adjoint_if, conjugate_transpose
from autoconv.linear_operators.combined import CombinedOperator, Hints, combine_hints
from autoconv.runtime.support.shape import TensorShape
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


class LinearOperatorComposition(CombinedOperator):
    """The product of operators: the last one is applied first.

    >>> double, swap = (autoconv.linalg.LinearOperatorFullMatrix(x) for x in ([[2.0, 0], [0, 2]], [[0.0, 1], [1, 0]]))
    >>> autoconv.linalg.LinearOperatorComposition([double, swap]).matvec([1.0, 2.0]).numpy()
    array([4., 2.], dtype=float32)
    """

    _name_separator = "_o_"

    def __init__(
        self, operators: Sequence[LinearOperator], is_non_singular: Hint = None, is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None, is_square: Hint = None, name: str | None = None,
    ) -> None:  # fmt: skip
        if is_non_singular is None and all(operator.is_non_singular for operator in operators):
            is_non_singular = True
        super().__init__(operators, (is_non_singular, is_self_adjoint, is_positive_definite), is_square, name)

    def _shape(self) -> TensorShape:
        outer_sizes = [self._operators[0].range_dimension, self._operators[-1].domain_dimension]
        return self._static_batch_shape().concatenate(outer_sizes)

    def _shape_tensor(self) -> Tensor:
        outer_sizes = [self._operators[0].range_dimension_tensor(), self._operators[-1].domain_dimension_tensor()]
        return concat([self._dynamic_batch_shape(), stack(outer_sizes)], 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        result = adjoint_if(x, adjoint_arg)
        for operator in self._operators if adjoint else reversed(self._operators):
            result = operator.matmul(result, adjoint=adjoint)
        return result

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        result = adjoint_if(rhs, adjoint_arg)
        for operator in reversed(self._operators) if adjoint else self._operators:
            result = operator.solve(result, adjoint=adjoint)
        return result

    def _are_all_square(self) -> bool:
        return all(operator.is_square for operator in self._operators)

    def _determinant(self) -> Any:
        if not self._are_all_square():
            return super()._determinant()
        return math.prod(operator.determinant() for operator in self._operators)

    def _log_abs_determinant(self) -> Any:
        if not self._are_all_square():
            return super()._log_abs_determinant()
        return sum(operator.log_abs_determinant() for operator in self._operators)

    def _linop_adjoint(self) -> LinearOperator:
        adjoints = [operator.adjoint() for operator in reversed(self._operators)]
        return LinearOperatorComposition(adjoints, self.is_non_singular)

    def _linop_inverse(self) -> LinearOperator:
        if not self._are_all_square():
            return super()._linop_inverse()
        inverses = [operator.inverse() for operator in reversed(self._operators)]
        return LinearOperatorComposition(inverses, self.is_non_singular)


class LinearOperatorAdjoint(LinearOperator):
    """The adjoint (conjugate transpose) of an operator.

    >>> operator = autoconv.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> autoconv.linalg.LinearOperatorAdjoint(operator).matvec([1.0, 0.0]).numpy()
    array([1., 2.], dtype=float32)
    """

    def __init__(
        self, operator: LinearOperator, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None, is_square: Hint = None, name: str | None = None,
    ) -> None:  # fmt: skip
        self._operator = operator
        hints = _inherit_hints(operator, is_non_singular, is_self_adjoint, is_positive_definite)
        super().__init__(
            operator.dtype, None, *hints, is_square, name or f"{operator.name}_adjoint", {"operator": operator}
        )

    @property
    def operator(self) -> LinearOperator:
        return self._operator

    def _shape(self) -> TensorShape:
        operator = self._operator
        return operator.batch_shape.concatenate([operator.domain_dimension, operator.range_dimension])

    def _shape_tensor(self) -> Tensor:
        sizes: Any = self._operator.shape_tensor()
        return concat([sizes[:-2], sizes[-1:], sizes[-2:-1]], 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _to_dense(self) -> Tensor:
        return conjugate_transpose(self._operator.to_dense())

    def _determinant(self) -> Any:
        value = self._operator.determinant()
        return apply("conjugate", value) if self.dtype.is_complex else value

    def _log_abs_determinant(self) -> Any:
        return self._operator.log_abs_determinant()

    def _linop_adjoint(self) -> LinearOperator:
        return self._operator

    def _linop_inverse(self) -> LinearOperator:
        return self._operator.inverse().adjoint()


class LinearOperatorInversion(LinearOperator):
    """The inverse of an operator. Its products are computed by the `solve` of that operator.

    >>> operator = autoconv.linalg.LinearOperatorFullMatrix([[2.0, 0.0], [0.0, 4.0]])
    >>> autoconv.linalg.LinearOperatorInversion(operator).matvec([2.0, 2.0]).numpy()
    array([1. , 0.5], dtype=float32)
    """

    def __init__(
        self, operator: LinearOperator, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None, is_square: Hint = None, name: str | None = None,
    ) -> None:  # fmt: skip
        if operator.is_non_singular is False or is_non_singular is False:
            raise ValueError("Linear operator is singular; it has no inverse.")
        self._operator = operator
        hints = _inherit_hints(
            operator, non_singular=True, self_adjoint=is_self_adjoint, positive_definite=is_positive_definite
        )
        super().__init__(
            operator.dtype, None, *hints, is_square=True, name=name or f"{operator.name}_inv",
            parameters={"operator": operator},
        )  # fmt: skip

    @property
    def operator(self) -> LinearOperator:
        return self._operator

    def _shape(self) -> TensorShape:
        return self._operator.shape

    def _shape_tensor(self) -> Tensor:
        return self._operator.shape_tensor()

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Any:
        return apply("reciprocal", self._operator.determinant())

    def _log_abs_determinant(self) -> Any:
        return -self._operator.log_abs_determinant()

    def _linop_inverse(self) -> LinearOperator:
        return self._operator


class LinearOperatorKronecker(CombinedOperator):
    """The Kronecker product of operators.

    >>> left, right = (autoconv.linalg.LinearOperatorDiag(x) for x in ([1.0, 2.0], [1.0, 10.0]))
    >>> autoconv.linalg.LinearOperatorKronecker([left, right]).diag_part().numpy()
    array([ 1., 10.,  2., 20.], dtype=float32)
    """

    _name_separator = "_x_"

    def __init__(
        self, operators: Sequence[LinearOperator], is_non_singular: Hint = None, is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None, is_square: Hint = None, name: str | None = None,
    ) -> None:  # fmt: skip
        hints = combine_hints(operators, is_non_singular, is_self_adjoint, is_positive_definite)
        super().__init__(operators, hints, is_square, name)

    @staticmethod
    def _combine_sizes(sizes: Iterable[Any]) -> Any:
        return math.prod(sizes)

    def _apply_factors(self, x: Any, method: str, adjoint: bool) -> Any:
        """Apply `method`, "matmul" or "solve", of each operator along the operator's own index.

        The position of a row of `x` is a tuple of indices, one for each operator; the last one varies fastest.
        """
        sizes = shape(x)
        batch_shape, column_count = get_item(sizes, slice(None, -2)), get_item(sizes, -1)
        batch_sizes = broadcast_dynamic_shape(batch_shape, self.batch_shape_tensor())
        result = broadcast_to(x, concat([batch_sizes, get_item(sizes, slice(-2, None))], 0))
        takes_range_vectors = (method == "solve") != adjoint  # else vectors of the domain
        for operator in self._operators:
            size = operator.range_dimension_tensor() if takes_range_vectors else operator.domain_dimension_tensor()
            split_rows = reshape(result, concat([batch_sizes, stack([size, -1])], 0))
            new_rows = getattr(operator, method)(split_rows, adjoint=adjoint)
            row_count = get_item(shape(new_rows), -2)
            # This operator's index moves behind those of the others, so that the next operator's index comes first.
            split_result = reshape(new_rows, concat([batch_sizes, stack([row_count, -1, column_count])], 0))
            rank = split_result.shape.rank
            if rank is None:
                raise ValueError("a Kronecker product of operators needs matrices of known rank")
            order = [*range(rank - 3), rank - 2, rank - 3, rank - 1]
            result = reshape(transpose(split_result, order), concat([batch_sizes, stack([-1, column_count])], 0))
        return result

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._apply_factors(adjoint_if(x, adjoint_arg), "matmul", adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._apply_factors(adjoint_if(rhs, adjoint_arg), "solve", adjoint)

    def _determinant(self) -> Any:
        size: Any = self.domain_dimension_tensor()
        result: Any = 1.0
        for operator in self._operators:
            power = cast(size // operator.domain_dimension_tensor(), self.dtype)
            result = apply("power", operator.determinant(), power) * result
        return result

    def _log_abs_determinant(self) -> Any:
        size: Any = self.domain_dimension_tensor()
        result: Any = 0.0
        for operator in self._operators:
            logarithm = operator.log_abs_determinant()
            power = cast(size // operator.domain_dimension_tensor(), logarithm.dtype)
            result = logarithm * power + result
        return result

    def _diag_part(self) -> Any:
        result: Any = self._operators[0].diag_part()
        for operator in self._operators[1:]:
            next_diagonal: Any = operator.diag_part()
            products = result[..., :, None] * next_diagonal[..., None, :]
            result = reshape(products, concat([shape(products)[:-2], [-1]], 0))
        return result

    def _trace(self) -> Any:
        return math.prod(operator.trace() for operator in self._operators)

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorKronecker([operator.adjoint() for operator in self._operators], self.is_non_singular)

    def _linop_inverse(self) -> LinearOperator:
        return LinearOperatorKronecker([operator.inverse() for operator in self._operators], self.is_non_singular)

    def _linop_cholesky(self) -> LinearOperator:
        return LinearOperatorKronecker([operator.cholesky() for operator in self._operators], is_non_singular=True)


def _inherit_hints(operator: LinearOperator, non_singular: Hint, self_adjoint: Hint, positive_definite: Hint) -> Hints:
    """Return the three hints in the order of the parameters, with the operator's hint where one is None."""
    return (
        operator.is_non_singular if non_singular is None else non_singular,
        operator.is_self_adjoint if self_adjoint is None else self_adjoint,
        operator.is_positive_definite if positive_definite is None else positive_definite,
    )


def _compose(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    """Return the product of two operators as one composition of their factors."""
    factors = [
        factor
        for operand in (left, right)
        for factor in (operand.operators if isinstance(operand, LinearOperatorComposition) else [operand])
    ]
    return LinearOperatorComposition(factors)


OPERATOR_MAKERS.update(adjoint=LinearOperatorAdjoint, inverse=LinearOperatorInversion, product=_compose)
