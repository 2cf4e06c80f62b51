"""Operators of blocks on the diagonal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from autoconv.api.tensors.constants import zeros
from autoconv.api.tensors.shaping import broadcast_to, concat, shape, split, stack
from autoconv.api.tensors.static_shapes import broadcast_dynamic_shape
from autoconv.linear_operators.base import Hint, LinearOperator, adjoint_if
from autoconv.linear_operators.combined import CombinedOperator, combine_hints
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.tensor import Tensor


class LinearOperatorBlockDiag(CombinedOperator):
    """The operator with operators as the blocks on its diagonal, and zeros elsewhere.

    `matmul` and `solve` take and return a matrix, or a list with the rows of each block.

    >>> blocks = [autoconv.linalg.LinearOperatorDiag([1.0, 2.0]), autoconv.linalg.LinearOperatorIdentity(1)]
    >>> autoconv.linalg.LinearOperatorBlockDiag(blocks).matvec([1.0, 1.0, 5.0]).numpy()
    array([1., 2., 5.], dtype=float32)
    """

    _name_separator = "_ds_"

    def __init__(
        self, operators: Sequence[LinearOperator], is_non_singular: Hint = None, is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None, is_square: Hint = True, name: str | None = None,
    ) -> None:  # fmt: skip
        hints = combine_hints(operators, is_non_singular, is_self_adjoint, is_positive_definite)
        super().__init__(operators, hints, is_square, name)

    @staticmethod
    def _combine_sizes(sizes: Iterable[Any]) -> Any:
        return sum(sizes)

    def _operand(self, x: Any) -> Any:
        """Convert to tensors: a list with an array for each block holds the blocks' rows, another value is a matrix."""
        if isinstance(x, (list, tuple)) and len(x) == len(self._operators) and not _is_number(x[0]):
            return [super(LinearOperatorBlockDiag, self)._operand(block_rows) for block_rows in x]
        return super()._operand(x)

    def _apply_blocks(self, x: Any, method: str, adjoint: bool, adjoint_arg: bool) -> Any:
        """Apply `method`, "matmul" or "solve", of each operator to its block of rows.

        `x` is a matrix with all rows, or a list with the rows of each block.
        """
        takes_range_vectors = (method == "solve") != adjoint  # else vectors of the domain
        if isinstance(x, list):
            pairs = zip(self._operators, x, strict=True)
            return [
                getattr(operator, method)(block_rows, adjoint=adjoint, adjoint_arg=adjoint_arg)
                for operator, block_rows in pairs
            ]
        right_side = adjoint_if(x, adjoint_arg)
        block_sizes: list[Any] = [
            operator.range_dimension_tensor() if takes_range_vectors else operator.domain_dimension_tensor()
            for operator in self._operators
        ]
        rows_by_block = split(right_side, stack(block_sizes), axis=-2, num=len(block_sizes))
        batch_shape = broadcast_dynamic_shape(self.batch_shape_tensor(), get_item(shape(right_side), slice(None, -2)))
        products = [
            getattr(operator, method)(block_rows, adjoint=adjoint)
            for operator, block_rows in zip(self._operators, rows_by_block, strict=True)
        ]
        shapes = [concat([batch_shape, get_item(shape(product), slice(-2, None))], 0) for product in products]
        return concat(
            [broadcast_to(product, target_shape) for product, target_shape in zip(products, shapes, strict=True)], -2
        )

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._apply_blocks(x, "matmul", adjoint, adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._apply_blocks(rhs, "solve", adjoint, adjoint_arg)

    def _to_dense(self) -> Tensor:
        columns: Any = self.domain_dimension_tensor()
        batch_shape, column_start, row_strips = self.batch_shape_tensor(), 0, []
        for operator in self._operators:
            dense: Any = operator.to_dense()
            height, width = get_item(shape(dense), -2), get_item(shape(dense), -1)
            block = broadcast_to(dense, concat([batch_shape, stack([height, width])], 0))
            left_zeros = zeros(concat([batch_shape, stack([height, column_start])], 0), self.dtype)
            right_zeros = zeros(concat([batch_shape, stack([height, columns - column_start - width])], 0), self.dtype)
            row_strips.append(concat([left_zeros, block, right_zeros], -1))
            column_start = column_start + width
        return concat(row_strips, -2)

    def _concat_vectors(self, vectors: list[Any]) -> Any:
        """Join vectors [..., n] along the last dimension, broadcast to one batch shape."""
        batch_shape = self.batch_shape_tensor()
        shapes = [concat([batch_shape, get_item(shape(vector), slice(-1, None))], 0) for vector in vectors]
        return concat(
            [broadcast_to(vector, target_shape) for vector, target_shape in zip(vectors, shapes, strict=True)], -1
        )

    def _diag_part(self) -> Any:
        return self._concat_vectors([operator.diag_part() for operator in self._operators])

    def _eigvals(self) -> Any:
        return self._concat_vectors([operator.eigvals() for operator in self._operators])

    def _trace(self) -> Any:
        return sum(operator.trace() for operator in self._operators)

    def _determinant(self) -> Any:
        return math.prod(operator.determinant() for operator in self._operators)

    def _log_abs_determinant(self) -> Any:
        return sum(operator.log_abs_determinant() for operator in self._operators)

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorBlockDiag([operator.adjoint() for operator in self._operators], self.is_non_singular)

    def _linop_inverse(self) -> LinearOperator:
        return LinearOperatorBlockDiag([operator.inverse() for operator in self._operators], self.is_non_singular)

    def _linop_cholesky(self) -> LinearOperator:
        return LinearOperatorBlockDiag([operator.cholesky() for operator in self._operators], is_non_singular=True)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex))
