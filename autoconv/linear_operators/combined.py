"""Base of operators that combine several operators, such as their product."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from autoconv.api.tensors.shaping import concat, stack
from autoconv.api.tensors.static_shapes import broadcast_dynamic_shape, broadcast_static_shape
from autoconv.linear_operators.base import Hint, LinearOperator
from autoconv.runtime.support.shape import TensorShape
from autoconv.runtime.tensors.tensor import Tensor

Hints = tuple[Hint, Hint, Hint]  # is non-singular, is self-adjoint, is positive definite


class CombinedOperator(LinearOperator):
    """An operator that combines several. Its default name is their names, joined by `_name_separator`.

    `_combine_sizes` computes the number of rows from the numbers of rows of all operators, and the number of columns
    from their numbers of columns: the sum or the product.
    """

    _name_separator: ClassVar[str]

    def __init__(
        self, operators: Sequence[LinearOperator], hints: Hints, is_square: Hint, name: str | None
    ) -> None:
        self._operators = _check_operators(operators)
        joined_names = self._name_separator.join(operator.name for operator in operators)
        super().__init__(operators[0].dtype, None, *hints, is_square, name or joined_names, {"operators": operators})

    @staticmethod
    def _combine_sizes(sizes: Iterable[Any]) -> Any:
        raise NotImplementedError

    @property
    def operators(self) -> list[LinearOperator]:
        return self._operators

    def _shape(self) -> TensorShape:
        row_counts = [operator.range_dimension for operator in self._operators]
        column_counts = [operator.domain_dimension for operator in self._operators]
        sizes = [None if None in counts else self._combine_sizes(counts) for counts in (row_counts, column_counts)]
        return self._static_batch_shape().concatenate(sizes)

    def _shape_tensor(self) -> Tensor:
        rows = self._combine_sizes(operator.range_dimension_tensor() for operator in self._operators)
        columns = self._combine_sizes(operator.domain_dimension_tensor() for operator in self._operators)
        return concat([self._dynamic_batch_shape(), stack([rows, columns])], 0)

    def _static_batch_shape(self) -> TensorShape:
        """Return the common batch shape of the operators, None for open sizes."""
        batch_shape = self._operators[0].batch_shape
        for operator in self._operators[1:]:
            batch_shape = broadcast_static_shape(batch_shape, operator.batch_shape)
        return batch_shape

    def _dynamic_batch_shape(self) -> Tensor:
        """Return the common batch shape of the operators at run time."""
        batch_shape = self._operators[0].batch_shape_tensor()
        for operator in self._operators[1:]:
            batch_shape = broadcast_dynamic_shape(batch_shape, operator.batch_shape_tensor())
        return batch_shape


def combine_hints(
    operators: Sequence[LinearOperator], non_singular: Hint, self_adjoint: Hint, positive_definite: Hint
) -> Hints:
    """Return the three hints in the order of the parameters; True in place of None if all operators have the hint."""
    return (
        _hint_of_all(operators, "is_non_singular") if non_singular is None else non_singular,
        _hint_of_all(operators, "is_self_adjoint") if self_adjoint is None else self_adjoint,
        _hint_of_all(operators, "is_positive_definite") if positive_definite is None else positive_definite,
    )


def _hint_of_all(operators: Sequence[LinearOperator], name: str) -> Hint:
    """Return True if the hint of that name is True for every operator, else None."""
    return True if all(getattr(operator, name) for operator in operators) else None


def _check_operators(operators: Sequence[LinearOperator]) -> list[LinearOperator]:
    """Return the operators as a list; raise ValueError for no operators, and TypeError for different dtypes."""
    operator_list = list(operators)
    if not operator_list:
        raise ValueError("Expected a non-empty list of operators. Found: []")
    if len({operator.dtype for operator in operator_list}) > 1:
        names_and_dtypes = [(operator.name, operator.dtype) for operator in operator_list]
        raise TypeError(f"Expected all operators to have the same dtype. Found {names_and_dtypes}")
    return operator_list
