"""Operators whose elements are given: full and triangular matrices, and bands of three diagonals."""

from __future__ import annotations

from typing import Any

from autoconv.api.matrices.bands import diag_part
from autoconv.api.matrices.linalg import band_part, triangular_solve
from autoconv.api.tensors.constants import zeros_like
from autoconv.api.tensors.maths import conj
from autoconv.api.tensors.reductions import reduce_prod, reduce_sum
from autoconv.api.tensors.shaping import broadcast_to, concat, pad, shape
from autoconv.api.tensors.static_shapes import broadcast_dynamic_shape
from autoconv.linear_operators.base import OPERATOR_MAKERS, Hint, LinearOperator, adjoint_if, product, read_only
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.support.shape import TensorShape
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def variable_or_tensor(value: Any) -> Any:
    """Return tensors and variables themselves, so that a variable is read at each use; convert other values."""
    return value if as_tensor(value) is not None else convert_to_tensor(value)


class LinearOperatorFullMatrix(LinearOperator):
    """The operator of dense matrices [..., rows, columns].

    >>> operator = autoconv.linalg.LinearOperatorFullMatrix([[2.0, 0.0], [1.0, 1.0]])
    >>> operator.solvevec([2.0, 3.0]).numpy()
    array([1., 2.], dtype=float32)
    """

    def __init__(
        self, matrix: Any, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None, is_square: Hint = None, name: str = "LinearOperatorFullMatrix",
    ) -> None:  # fmt: skip
        self._matrix = variable_or_tensor(matrix)
        super().__init__(
            self._matrix.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name,
            {"matrix": matrix},
        )  # fmt: skip

    matrix = read_only("_matrix")

    def _shape(self) -> TensorShape:
        return TensorShape(self._matrix.shape)

    def _shape_tensor(self) -> Tensor:
        return shape(self._matrix)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return product(self._matrix, x, adjoint, adjoint_arg)

    def _to_dense(self) -> Tensor:
        return convert_to_tensor(self._matrix)


class LinearOperatorLowerTriangular(LinearOperator):
    """The operator of the lower triangles of dense matrices; elements above the diagonal are not used.

    >>> operator = autoconv.linalg.LinearOperatorLowerTriangular([[2.0, 9.0], [1.0, 3.0]])
    >>> operator.to_dense().numpy(), operator.determinant().numpy()
    (array([[2., 0.],
           [1., 3.]], dtype=float32), np.float32(6.0))
    """

    def __init__(
        self, tril: Any, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None, is_square: Hint = None, name: str = "LinearOperatorLowerTriangular",
    ) -> None:  # fmt: skip
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        self._tril = variable_or_tensor(tril)
        super().__init__(
            self._tril.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square=True, name=name,
            parameters={"tril": tril},
        )  # fmt: skip

    tril = read_only("_tril")

    def _shape(self) -> TensorShape:
        return TensorShape(self._tril.shape)

    def _shape_tensor(self) -> Tensor:
        return shape(self._tril)

    def _to_dense(self) -> Tensor:
        return band_part(self._tril, -1, 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return product(self._to_dense(), x, adjoint, adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        matrix: Any = self._to_dense()
        right_side: Any = adjoint_if(rhs, adjoint_arg)
        batch_shape = broadcast_dynamic_shape(shape(matrix)[:-2], shape(right_side)[:-2])
        matrix, right_side = (broadcast_to(x, concat([batch_shape, shape(x)[-2:]], 0)) for x in (matrix, right_side))
        return triangular_solve(matrix, right_side, lower=True, adjoint=adjoint)

    def _diag_part(self) -> Any:
        return diag_part(self._tril)

    def _determinant(self) -> Any:
        return reduce_prod(self._diag_part(), axis=-1)

    def _log_abs_determinant(self) -> Any:
        return reduce_sum(apply("log", apply("abs", self._diag_part())), axis=-1)

    def _eigvals(self) -> Any:
        return self._diag_part()


class LinearOperatorTridiag(LinearOperator):
    """The operator of three diagonals: above, on and below the main diagonal.

    `diagonals` is [..., 3, n] for "compact", a tuple of three vectors for "sequence", and matrices [..., n, n] for
    "matrix". The first row's last element and the last row's first element of "compact" are not used.

    >>> operator = autoconv.linalg.LinearOperatorTridiag([[1.0, 0.0], [2.0, 3.0], [0.0, 4.0]])
    >>> operator.to_dense().numpy()
    array([[2., 1.],
           [4., 3.]], dtype=float32)
    """

    def __init__(
        self, diagonals: Any, diagonals_format: str = "compact", is_non_singular: Hint = None,
        is_self_adjoint: Hint = None, is_positive_definite: Hint = None, is_square: Hint = None,
        name: str = "LinearOperatorTridiag",
    ) -> None:  # fmt: skip
        if diagonals_format not in ("matrix", "sequence", "compact"):
            raise ValueError(f"Argument `diagonals_format` must be one of `matrix`, `sequence` or `compact`. "
                             f"Found : {diagonals_format}.")  # fmt: skip
        self._diagonals_format = diagonals_format
        is_sequence = diagonals_format == "sequence"
        self._diagonals: Any
        if is_sequence:
            self._diagonals = list(map(variable_or_tensor, diagonals))
        else:
            self._diagonals = variable_or_tensor(diagonals)
        main_diagonal: Any = self._diagonals[1] if is_sequence else self._diagonals
        super().__init__(
            main_diagonal.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square=True,
            name=name, parameters={"diagonals": diagonals, "diagonals_format": diagonals_format},
        )  # fmt: skip

    diagonals = read_only("_diagonals")

    @property
    def diagonals_format(self) -> str:
        return self._diagonals_format

    def _split_diagonals(self) -> tuple[Any, Any, Any]:
        """Return the diagonals above, on and below the main one, each padded with zeros to n elements."""
        diagonals: Any = self._diagonals
        if self._diagonals_format == "sequence":
            above, middle, below = (convert_to_tensor(diagonal) for diagonal in diagonals)
            needs_padding = above.shape[-1] != middle.shape[-1]
            return (_pad(above, 0, 1), middle, _pad(below, 1, 0)) if needs_padding else (above, middle, below)
        if self._diagonals_format == "matrix":
            return (
                _pad(diag_part(diagonals, k=1), 0, 1),
                diag_part(diagonals),
                _pad(diag_part(diagonals, k=-1), 1, 0),
            )
        return tuple(get_item(diagonals, (..., row, slice(None))) for row in range(3))  # type: ignore[return-value]

    def _shape(self) -> TensorShape:
        _, middle, _ = self._split_diagonals()
        return middle.shape.concatenate([middle.shape[-1]])

    def _shape_tensor(self) -> Tensor:
        _, middle, _ = self._split_diagonals()
        sizes: Any = shape(middle)
        return concat([sizes, sizes[-1:]], 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        above, middle, below = self._split_diagonals()
        right_side: Any = adjoint_if(x, adjoint_arg)
        if adjoint:
            # Row i of the adjoint has the conjugate of below[i + 1] above its diagonal, and of above[i - 1] below it.
            conjugate_above, conjugate_below = conj(above), conj(below)
            above, below = _pad(conjugate_below[..., 1:], 0, 1), _pad(conjugate_above[..., :-1], 1, 0)
            middle = conj(middle)
        zero_row = zeros_like(right_side[..., :1, :])
        next_rows = concat([right_side[..., 1:, :], zero_row], -2)
        previous_rows = concat([zero_row, right_side[..., :-1, :]], -2)
        return above[..., None] * next_rows + middle[..., None] * right_side + below[..., None] * previous_rows

    def _diag_part(self) -> Any:
        _, middle, _ = self._split_diagonals()
        return middle


def _pad(x: Any, before: int, after: int) -> Any:
    """Add `before` zeros before the elements of the last dimension, and `after` zeros after them."""
    return pad(x, [*([[0, 0]] * (x.shape.rank - 1)), [before, after]])


def _cholesky_factor(factor: TensorLike) -> LinearOperator:
    """Return the operator of lower triangular factors that `cholesky` has computed."""
    return LinearOperatorLowerTriangular(factor, is_non_singular=True, is_self_adjoint=False, is_square=True)


OPERATOR_MAKERS["triangular"] = _cholesky_factor
