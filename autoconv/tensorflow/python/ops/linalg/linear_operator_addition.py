"""`tensorflow.python.ops.linalg.linear_operator_addition`: sums of linear operators."""

from __future__ import annotations

from collections.abc import Sequence

import autoconv
from autoconv import linalg
from autoconv.linalg import LinearOperator

_DIAGONAL = (linalg.LinearOperatorIdentity, linalg.LinearOperatorScaledIdentity, linalg.LinearOperatorDiag)
_TRIANGULAR = (*_DIAGONAL, linalg.LinearOperatorLowerTriangular)


def add_operators(
    operators: Sequence[LinearOperator], operator_name: str | None = None, addition_tiers: object = None,
    name: str | None = None,
) -> list[LinearOperator]:  # fmt: skip
    """Return a list of one operator, the sum: diagonal or triangular if all operators are, or else dense.

    Fewer than two operators are returned as they are. Raises TypeError for operators of other classes than the dense,
    the triangular and the diagonal ones.
    """
    if len(operators) < 2:
        return list(operators)
    if not all(isinstance(operator, (*_TRIANGULAR, linalg.LinearOperatorFullMatrix)) for operator in operators):
        raise TypeError("The operators have classes whose sums are not known.")
    if all(isinstance(operator, _DIAGONAL) for operator in operators):
        diagonal = autoconv.add_n([operator.diag_part() for operator in operators])
        return [linalg.LinearOperatorDiag(diagonal, name=operator_name or "LinearOperatorDiag")]
    are_triangular = all(isinstance(operator, _TRIANGULAR) for operator in operators)
    sum_class = linalg.LinearOperatorLowerTriangular if are_triangular else linalg.LinearOperatorFullMatrix
    dense = sum(operator.to_dense() for operator in operators[1:]) + operators[0].to_dense()
    return [sum_class(dense, name=operator_name or sum_class.__name__)]
