"""Operators of diagonal matrices: identities, their multiples, zeros."""

from __future__ import annotations

from typing import Any

from autoconv.api.matrices.bands import diag, diag_part, set_diag
from autoconv.api.tensors.constants import eye, ones, zeros
from autoconv.api.tensors.maths import conj
from autoconv.api.tensors.reductions import reduce_max, reduce_min, reduce_prod, reduce_sum
from autoconv.api.tensors.shaping import broadcast_to, concat, shape
from autoconv.api.tensors.static_shapes import broadcast_dynamic_shape
from autoconv.graph.dtypes import as_dtype, float32
from autoconv.linear_operators.base import Hint, LinearOperator, SquareOperator, adjoint_if, read_only
from autoconv.linear_operators.dense import variable_or_tensor
from autoconv.runtime.annotations import DTypeLike
from autoconv.runtime.support.shape import TensorShape
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_sizes, static_value
from autoconv.runtime.tensors.tensor import Tensor


class LinearOperatorDiag(SquareOperator):
    """The operator of diagonal matrices with the diagonals [..., n].

    >>> autoconv.linalg.LinearOperatorDiag([2.0, 4.0]).solvevec([2.0, 2.0]).numpy()
    array([1. , 0.5], dtype=float32)
    """

    def __init__(
        self, diag: Any, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None, is_square: Hint = None, name: str = "LinearOperatorDiag",
    ) -> None:  # fmt: skip
        self._diag = variable_or_tensor(diag)
        if not self._diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        if is_square is False:
            raise ValueError("Only square diagonal operators currently supported.")
        super().__init__(
            self._diag.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square=True, name=name,
            parameters={"diag": diag},
        )  # fmt: skip

    diag = read_only("_diag")
    _vectors = read_only("_diag")

    def _column_factor(self, adjoint: bool) -> Any:
        """Return the diagonals, for the adjoint their conjugates, as columns [..., n, 1], by which rows are scaled."""
        factor: Any = convert_to_tensor(self._diag)
        return (conj(factor) if adjoint else factor)[..., None]

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._column_factor(adjoint) * adjoint_if(x, adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return adjoint_if(rhs, adjoint_arg) / self._column_factor(adjoint)

    def _to_dense(self) -> Tensor:
        return diag(self._diag)

    def _diag_part(self) -> Any:
        return convert_to_tensor(self._diag)

    def _add_to_tensor(self, x: Any) -> Any:
        return _add_on_diagonal(x, self._diag_part())

    def _determinant(self) -> Any:
        return reduce_prod(self._diag, axis=-1)

    def _log_abs_determinant(self) -> Any:
        return reduce_sum(apply("log", apply("abs", self._diag)), axis=-1)

    def _eigvals(self) -> Any:
        return self._diag_part()

    def cond(self, name: str = "cond") -> Tensor:
        magnitudes = apply("abs", self._diag)
        return apply("divide", reduce_max(magnitudes, axis=-1), reduce_min(magnitudes, axis=-1))

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorDiag(
            conj(self._diag), self.is_non_singular, self.is_self_adjoint, self._positive_definite_hint
        )

    def _linop_inverse(self) -> LinearOperator:
        inverse = apply("reciprocal", self._diag)
        return LinearOperatorDiag(inverse, self.is_non_singular, self.is_self_adjoint, self._positive_definite_hint)

    def _linop_cholesky(self) -> LinearOperator:
        root = apply("sqrt", self._diag)
        return LinearOperatorDiag(
            root, is_non_singular=True, is_self_adjoint=self.is_self_adjoint, is_positive_definite=True
        )


class LinearOperatorScaledIdentity(LinearOperator):
    """The operator of identity matrices of `num_rows` rows times `multiplier`.

    `multiplier` has one number for each matrix, so its shape is the batch shape.

    >>> autoconv.linalg.LinearOperatorScaledIdentity(2, multiplier=3.0).matvec([1.0, 2.0]).numpy()
    array([3., 6.], dtype=float32)
    """

    def __init__(
        self, num_rows: Any, multiplier: Any, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None, is_square: Hint = True, assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:  # fmt: skip
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        self._num_rows, self._multiplier = num_rows, variable_or_tensor(multiplier)
        if not self._multiplier.dtype.is_complex:
            is_self_adjoint = True
        super().__init__(
            self._multiplier.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square=True,
            name=name, parameters={"num_rows": num_rows, "multiplier": multiplier},
        )  # fmt: skip

    multiplier = read_only("_multiplier")

    def _shape(self) -> TensorShape:
        static_rows = static_value(self._num_rows)
        rows = None if static_rows is None else int(static_rows)
        return TensorShape(self._multiplier.shape).concatenate([rows, rows])

    def _shape_tensor(self) -> Tensor:
        rows = convert_to_tensor(self._num_rows)
        return concat([shape(self._multiplier), [rows, rows]], 0)

    def _matrix_factor(self, adjoint: bool) -> Any:
        """Return the multipliers, for the adjoint their conjugates, as [..., 1, 1], by which matrices are scaled."""
        factor: Any = convert_to_tensor(self._multiplier)
        return (conj(factor) if adjoint else factor)[..., None, None]

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return adjoint_if(x, adjoint_arg) * self._matrix_factor(adjoint)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return adjoint_if(rhs, adjoint_arg) / self._matrix_factor(adjoint)

    def _diag_part(self) -> Any:
        return self._matrix_factor(adjoint=False)[..., 0] * ones([self._num_rows], self.dtype)

    def _to_dense(self) -> Tensor:
        return diag(self._diag_part())

    def _add_to_tensor(self, x: Any) -> Any:
        return _add_on_diagonal(x, self._diag_part())

    def _row_count(self) -> Any:
        """Return the number of rows as a tensor of the operator's dtype."""
        return convert_to_tensor(self._num_rows, self.dtype)

    def _determinant(self) -> Any:
        return apply("power", self._multiplier, self._row_count())

    def _log_abs_determinant(self) -> Any:
        magnitude = apply("abs", self._multiplier)
        return apply("multiply", convert_to_tensor(self._num_rows, magnitude.dtype), apply("log", magnitude))

    def _trace(self) -> Any:
        return apply("multiply", self._multiplier, self._row_count())

    def _eigvals(self) -> Any:
        return self._diag_part()

    def cond(self, name: str = "cond") -> Tensor:
        return apply("ones_like", apply("abs", self._multiplier))

    def _linop_adjoint(self) -> LinearOperator:
        factor = conj(self._multiplier)
        return LinearOperatorScaledIdentity(
            self._num_rows, factor, self.is_non_singular, is_positive_definite=self._positive_definite_hint
        )

    def _linop_inverse(self) -> LinearOperator:
        factor = apply("reciprocal", self._multiplier)
        return LinearOperatorScaledIdentity(
            self._num_rows, factor, self.is_non_singular, is_positive_definite=self._positive_definite_hint
        )

    def _linop_cholesky(self) -> LinearOperator:
        root = apply("sqrt", self._multiplier)
        return LinearOperatorScaledIdentity(self._num_rows, root, is_non_singular=True, is_positive_definite=True)


class LinearOperatorIdentity(LinearOperatorScaledIdentity):
    """The operator of identity matrices of `num_rows` rows, with the batch `batch_shape`.

    >>> autoconv.linalg.LinearOperatorIdentity(2).to_dense().numpy()
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """

    def __init__(
        self, num_rows: Any, batch_shape: Any = None, dtype: DTypeLike | None = None, is_non_singular: Hint = True,
        is_self_adjoint: Hint = True, is_positive_definite: Hint = True, is_square: Hint = True,
        assert_proper_shapes: bool = False, name: str = "LinearOperatorIdentity",
    ) -> None:  # fmt: skip
        if not (is_non_singular and is_self_adjoint and is_positive_definite):
            raise ValueError("An identity operator is always self-adjoint, non-singular and positive definite.")
        operator_dtype = float32 if dtype is None else as_dtype(dtype)
        batch_sizes = [] if batch_shape is None else batch_shape
        multiplier = ones(batch_sizes, operator_dtype)
        super().__init__(
            num_rows, multiplier, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name=name
        )
        self._parameters = {"num_rows": num_rows, "batch_shape": batch_shape, "dtype": dtype}

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        right_side: Any = adjoint_if(x, adjoint_arg)
        if self.batch_shape.rank == 0:
            return right_side
        batch_sizes = broadcast_dynamic_shape(self.batch_shape_tensor(), shape(right_side)[:-2])
        return broadcast_to(right_side, concat([batch_sizes, shape(right_side)[-2:]], 0))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _to_dense(self) -> Tensor:
        batch_sizes = self.batch_shape.as_list() if self.batch_shape.is_fully_defined() else self.batch_shape_tensor()
        return eye(self._num_rows, batch_shape=batch_sizes, dtype=self.dtype)

    def _linop_adjoint(self) -> LinearOperator:
        return self

    def _linop_inverse(self) -> LinearOperator:
        return self

    def _linop_cholesky(self) -> LinearOperator:
        return self


class LinearOperatorZeros(LinearOperator):
    """The operator of matrices of zeros, square unless `num_columns` is given.

    >>> autoconv.linalg.LinearOperatorZeros(2, 3).matvec([1.0, 2.0, 3.0]).numpy()
    array([0., 0.], dtype=float32)
    """

    def __init__(
        self, num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: DTypeLike | None = None,
        is_non_singular: Hint = False, is_self_adjoint: Hint = True, is_positive_definite: Hint = False,
        is_square: Hint = True, assert_proper_shapes: bool = False, name: str = "LinearOperatorZeros",
    ) -> None:  # fmt: skip
        if is_non_singular or is_positive_definite:
            raise ValueError("A zero operator is never non-singular or positive-definite.")
        self._rows, self._columns = num_rows, num_rows if num_columns is None else num_columns
        self._batch_sizes = [] if batch_shape is None else batch_shape
        operator_dtype = float32 if dtype is None else as_dtype(dtype)
        has_one_size = num_columns is None or num_columns is num_rows
        super().__init__(
            operator_dtype, None, is_non_singular=False, is_self_adjoint=is_self_adjoint if has_one_size else None,
            is_positive_definite=False, is_square=has_one_size or None, name=name,  # two sizes may be equal
            parameters={"num_rows": num_rows, "num_columns": num_columns, "batch_shape": batch_shape},
        )  # fmt: skip

    def _shape(self) -> TensorShape:
        matrix_sizes = map(static_value, (self._rows, self._columns))
        batch_sizes = TensorShape(static_sizes(convert_to_tensor(self._batch_sizes, "int32")))
        return batch_sizes.concatenate([None if size is None else int(size) for size in matrix_sizes])

    def _shape_tensor(self) -> Tensor:
        return concat([convert_to_tensor(self._batch_sizes, "int32"), [self._rows, self._columns]], 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        right_side: Any = adjoint_if(x, adjoint_arg)
        batch_sizes = broadcast_dynamic_shape(self.batch_shape_tensor(), shape(right_side)[:-2])
        row_count = self._columns if adjoint else self._rows
        return zeros(concat([batch_sizes, [row_count], shape(right_side)[-1:]], 0), self.dtype)

    def _to_dense(self) -> Tensor:
        return zeros(self.shape_tensor(), self.dtype)

    def _add_to_tensor(self, x: Any) -> Any:
        return x

    def _diag_part(self) -> Any:
        length = apply("minimum", convert_to_tensor(self._rows), convert_to_tensor(self._columns))
        return zeros(concat([self.batch_shape_tensor(), [length]], 0), self.dtype)

    def _determinant(self) -> Any:
        return zeros(self.batch_shape_tensor(), self.dtype)

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorZeros(self._columns, self._rows, self._batch_sizes, self.dtype)


def _add_on_diagonal(x: Any, diagonal: Any) -> Any:
    """Return the sums of dense matrices `x` and of diagonal matrices with the diagonals `diagonal`."""
    return x + diag(diagonal) if _may_differ_in_batch(x, diagonal) else set_diag(x, diag_part(x) + diagonal)


def _may_differ_in_batch(x: Any, diagonal: Any) -> bool:
    """Return whether the batch shapes of the matrices `x` and of their diagonals may differ."""
    return x.shape.rank is None or diagonal.shape.rank is None or x.shape[:-1] != diagonal.shape
