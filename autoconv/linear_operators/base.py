"""Linear operators: matrices represented by their products with vectors."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np

from autoconv.api.control.checks import assert_less
from autoconv.api.control.module import Module
from autoconv.api.matrices.bands import diag_part
from autoconv.api.matrices.linalg import (
    adjoint,
    cholesky,
    cholesky_solve,
    det,
    eigvalsh,
    matmul,
    matrix_transpose,
    slogdet,
    solve,
    svd,
)
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import eye
from autoconv.api.tensors.reductions import reduce_max, reduce_min, reduce_sum
from autoconv.api.tensors.shaping import broadcast_to, concat, expand_dims, shape, squeeze
from autoconv.api.tensors.static_shapes import broadcast_dynamic_shape
from autoconv.graph.dtypes import DType
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.support.shape import TensorShape
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

Hint = bool | None  # a promise about the matrices; None where nothing is promised


def read_only(attribute: str) -> Any:
    """Return a property without a setter that reads the attribute of this name, such as a constructor argument."""
    return property(attrgetter(attribute))


class LinearOperator(Module):
    """A batch of matrices [..., rows, columns], represented by methods for products and solutions.

    Subclasses define `_shape`, `_shape_tensor` and `_matmul`, and may define the other methods that begin with an
    underscore. Hints select algorithms and are not checked. `graph_parents` has no effect, nor has `name`
    of a method.

    >>> operator = autoconv.linalg.LinearOperatorDiag([1.0, 2.0])
    >>> operator.matvec([3.0, 4.0]).numpy(), operator.determinant().numpy()
    (array([3., 8.], dtype=float32), np.float32(2.0))
    """

    def __init__(
        self, dtype: DType, graph_parents: Any = None, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None, is_square: Hint = None, name: str | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(name=name or type(self).__name__)
        if is_positive_definite and is_non_singular is False:
            raise ValueError("A positive definite matrix is always non-singular.")
        self._dtype = dtype
        self._non_singular_hint = True if is_positive_definite else is_non_singular
        self._self_adjoint_hint = is_self_adjoint
        self._positive_definite_hint = is_positive_definite
        self._square_hint = True if is_non_singular or is_self_adjoint or is_positive_definite else is_square
        self._parameters = dict(parameters or {})

    # ---- properties

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        return dict(self._parameters)

    @property
    def is_non_singular(self) -> Hint:
        return self._non_singular_hint

    @property
    def is_self_adjoint(self) -> Hint:
        return self._self_adjoint_hint

    @property
    def is_positive_definite(self) -> Hint:
        return self._positive_definite_hint

    @property
    def is_square(self) -> Hint:
        rows, columns = self.range_dimension, self.domain_dimension
        return self._square_hint if rows is None or columns is None else rows == columns

    @property
    def shape(self) -> TensorShape:
        return self._shape()

    @property
    def batch_shape(self) -> TensorShape:
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> int | None:
        return self.shape.rank

    @property
    def range_dimension(self) -> int | None:
        """The number of rows, None if it is known at run time only."""
        return None if self.shape.rank is None else self.shape[-2]

    @property
    def domain_dimension(self) -> int | None:
        """The number of columns, None if it is known at run time only."""
        return None if self.shape.rank is None else self.shape[-1]

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        return convert_to_tensor(self.shape) if self.shape.is_fully_defined() else self._shape_tensor()

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        return get_item(self.shape_tensor(), slice(None, -2))

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        return get_item(self.shape_tensor(), -2)

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        return get_item(self.shape_tensor(), -1)

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        return get_item(shape(self.shape_tensor()), 0)

    # ---- products and solutions

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        """The product with matrices [..., columns, n], or with another operator as an operator.

        `adjoint` replaces this operator by its adjoint, and `adjoint_arg` the argument by its adjoint.
        """
        if isinstance(x, LinearOperator):
            operator = self.adjoint() if adjoint else self
            return _multiply_operators(operator, x.adjoint() if adjoint_arg else x)
        return self._matmul(self._operand(x), adjoint=adjoint, adjoint_arg=adjoint_arg)

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def matvec(self, x: TensorLike, adjoint: bool = False, name: str = "matvec") -> Tensor:
        """The product with vectors [..., columns]."""
        return squeeze(self._matmul(expand_dims(self._operand(x), -1), adjoint=adjoint, adjoint_arg=False), -1)

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve") -> Any:
        """The matrices x with operator @ x = rhs.

        Raises NotImplementedError for an operator that is not square, or has the hint that it is singular.
        """
        if self.is_non_singular is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to be singular.")
        if self.is_square is False:
            message = "Exact solve not implemented for an operator that is expected to not be square."
            raise NotImplementedError(message)
        if isinstance(rhs, LinearOperator):
            operator = self.adjoint() if adjoint else self
            return _multiply_operators(operator.inverse(), rhs.adjoint() if adjoint_arg else rhs)
        return self._solve(self._operand(rhs), adjoint=adjoint, adjoint_arg=adjoint_arg)

    def solvevec(self, rhs: TensorLike, adjoint: bool = False, name: str = "solve") -> Tensor:
        """The vectors x with operator @ x = rhs."""
        return squeeze(self.solve(expand_dims(self._operand(rhs), -1), adjoint=adjoint), -1)

    # ---- numbers and matrices

    def determinant(self, name: str = "det") -> Tensor:
        self._require_square("determinant")
        return self._determinant()

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        self._require_square("log_abs_determinant")
        return cast(self._log_abs_determinant(), self.dtype)

    def trace(self, name: str = "trace") -> Tensor:
        return self._trace()

    def diag_part(self, name: str = "diag_part") -> Tensor:
        return self._diag_part()

    def to_dense(self, name: str = "to_dense") -> Tensor:
        """The matrices with all their elements."""
        return self._to_dense()

    def add_to_tensor(self, x: TensorLike, name: str = "add_to_tensor") -> Tensor:
        """The sum with dense matrices."""
        return self._add_to_tensor(self._operand(x))

    def eigvals(self, name: str = "eigvals") -> Tensor:
        """The eigenvalues of an operator that is promised to be self-adjoint."""
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        return self._eigvals()

    def cond(self, name: str = "cond") -> Tensor:
        """The condition number: the largest singular value over the smallest."""
        values: Any = svd(self.to_dense(), compute_uv=False)
        return reduce_max(values, axis=-1) / reduce_min(values, axis=-1)

    # ---- derived operators

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The operator of the conjugate transposes."""
        return self if self.is_self_adjoint else self._linop_adjoint()

    H = property(adjoint)

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The operator of the inverses.

        Raises ValueError for an operator that is not square, or has the hint that it is singular.
        """
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        return self._linop_inverse()

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The lower triangular factor of an operator that is promised to be self-adjoint and positive definite."""
        if not (self.is_positive_definite and self.is_self_adjoint):
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        return self._linop_cholesky()

    # ---- checks

    def assert_non_singular(self, name: str = "assert_non_singular") -> Any:
        """Raise InvalidArgumentError unless condition numbers are below 1 / (10 ε), with the dtype's epsilon ε."""
        limit = 1.0 / (10.0 * float(np.finfo(self.dtype.real_dtype.numpy).eps))
        return assert_less(self.cond(), convert_to_tensor(limit, self.dtype.real_dtype), "Singular matrix encountered")

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Any:
        """Raise InvalidArgumentError where the matrix has no Cholesky factor."""
        return cholesky(self.to_dense())

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Any:
        """Raise InvalidArgumentError if an element of a matrix differs by 1e-5 or more from that of its adjoint."""
        dense: Any = self.to_dense()
        differences = apply("abs", dense - adjoint(dense))
        return assert_less(
            differences, convert_to_tensor(1e-5, self.dtype.real_dtype), "Matrix was not equal to its adjoint."
        )

    # ---- methods that subclasses define

    def _shape(self) -> TensorShape:
        raise NotImplementedError("_shape is not implemented.")

    def _shape_tensor(self) -> Tensor:
        return convert_to_tensor(self.shape)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        raise NotImplementedError("_matmul is not implemented.")

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        """Return the solution that is computed from the dense matrices; subclasses have faster algorithms."""
        right_side: Any = conjugate_transpose(rhs) if adjoint_arg else rhs
        dense: Any = self.to_dense()
        if _may_differ_in_batch(dense, right_side):
            batch_shape = broadcast_dynamic_shape(shape(dense)[:-2], shape(right_side)[:-2])
            dense, right_side = (broadcast_to(x, concat([batch_shape, shape(x)[-2:]], 0)) for x in (dense, right_side))
        if self.is_positive_definite and self.is_self_adjoint:
            return cholesky_solve(cholesky(dense), right_side)
        return solve(dense, right_side, adjoint=adjoint)

    def _to_dense(self) -> Tensor:
        batch_shape = self.batch_shape.as_list() if self.batch_shape.is_fully_defined() else self.batch_shape_tensor()
        size = self.domain_dimension if self.domain_dimension is not None else self.domain_dimension_tensor()
        return self.matmul(eye(size, batch_shape=batch_shape, dtype=self.dtype))

    def _add_to_tensor(self, x: Any) -> Any:
        return self.to_dense() + x

    def _determinant(self) -> Any:
        if self.is_positive_definite and self.is_self_adjoint:
            return cast(apply("exp", self._log_abs_determinant()), self.dtype)
        return det(self.to_dense())

    def _log_abs_determinant(self) -> Any:
        if self.is_positive_definite and self.is_self_adjoint:
            return 2.0 * reduce_sum(apply("log", diag_part(cholesky(self.to_dense()))), axis=-1)
        _, log_abs_determinant = slogdet(self.to_dense())
        return log_abs_determinant

    def _diag_part(self) -> Any:
        return diag_part(self.to_dense())

    def _trace(self) -> Any:
        return reduce_sum(self.diag_part(), axis=-1)

    def _eigvals(self) -> Any:
        return eigvalsh(self.to_dense())

    def _linop_adjoint(self) -> LinearOperator:
        return OPERATOR_MAKERS["adjoint"](self)

    def _linop_inverse(self) -> LinearOperator:
        return OPERATOR_MAKERS["inverse"](self)

    def _linop_cholesky(self) -> LinearOperator:
        return OPERATOR_MAKERS["triangular"](cholesky(self.to_dense()))

    def _operand(self, x: Any) -> Any:
        """Return the argument of a product as a tensor of the operator's dtype."""
        return convert_to_tensor(x, self.dtype)

    def _require_square(self, method: str) -> None:
        """Raise NotImplementedError if the matrices are not square, by their static sizes or else by the hint."""
        if self.is_square is False:
            raise NotImplementedError(f"{method} not implemented for an operator that is expected to not be square.")


class SquareOperator(LinearOperator):
    """An operator of matrices [..., n, n] that are computed from the vectors [..., n] in the attribute `_vectors`."""

    _vectors: Any

    def _shape(self) -> TensorShape:
        sizes = TensorShape(self._vectors.shape)
        return sizes.concatenate([sizes[-1]]) if sizes.rank is not None else sizes

    def _shape_tensor(self) -> Tensor:
        sizes: Any = shape(self._vectors)
        return concat([sizes, sizes[-1:]], 0)


# Functions that make the "adjoint" or "inverse" of an operator, the "product" of two operators, and the "triangular"
# operator of Cholesky factors. The modules that define these functions add them, since they import this module.
OPERATOR_MAKERS: dict[str, Callable[..., LinearOperator]] = {}


def _multiply_operators(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    """Return the operator of the products; raises ValueError if their static sizes differ."""
    columns, rows = left.domain_dimension, right.range_dimension
    if columns is not None and rows is not None and columns != rows:
        raise ValueError(f"Operators are incompatible. Expected `x` to have dimension {columns} but got {rows}.")
    return OPERATOR_MAKERS["product"](left, right)


def conjugate_transpose(x: Any) -> Any:
    """Return the conjugate transposes of dense matrices."""
    return adjoint(x) if x.dtype.is_complex else matrix_transpose(x)


def _may_differ_in_batch(first: Any, second: Any) -> bool:
    """Return whether the batch shapes of matrices may differ."""
    first_batch, second_batch = first.shape[:-2], second.shape[:-2]
    return not first_batch.is_fully_defined() or first_batch != second_batch


def product(first: Any, second: Any, adjoint_first: bool = False, adjoint_second: bool = False) -> Any:
    """Return the product of dense matrices, or of their adjoints where that is requested."""
    return matmul(first, second, adjoint_a=adjoint_first, adjoint_b=adjoint_second)


def adjoint_if(x: Any, condition: bool) -> Any:
    """Return the adjoints of dense matrices if `condition` is true, else the matrices themselves."""
    return conjugate_transpose(x) if condition else x
