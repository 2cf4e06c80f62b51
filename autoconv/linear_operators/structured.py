"""Structured operators: low-rank updates, reflections, permutations, Toeplitz and circulant matrices."""

from __future__ import annotations

from typing import Any

from autoconv.api.matrices.bands import diag
from autoconv.api.matrices.linalg import det, matmul, matrix_transpose, slogdet, solve
from autoconv.api.signals.fourier import fft, ifft
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.gather import gather, one_hot
from autoconv.api.tensors.maths import conj
from autoconv.api.tensors.reductions import reduce_mean, reduce_prod, reduce_sum
from autoconv.api.tensors.shaping import concat, expand_dims, reverse, shape
from autoconv.api.tensors.sorting import argsort
from autoconv.api.tensors.static_shapes import broadcast_static_shape
from autoconv.graph.dtypes import as_dtype, complex64, float32
from autoconv.linear_operators.base import Hint, LinearOperator, SquareOperator, adjoint_if, read_only
from autoconv.linear_operators.dense import variable_or_tensor
from autoconv.linear_operators.diagonals import LinearOperatorIdentity
from autoconv.runtime.annotations import DTypeLike
from autoconv.runtime.support.shape import TensorShape
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


class LinearOperatorLowRankUpdate(LinearOperator):
    """The operator `base_operator` + U D Vᴴ, with narrow matrices U and V, and a diagonal matrix D.

    By default V is U, and D the identity. Solutions and determinants are computed from those of the base operator and
    of small matrices (Woodbury's formula).

    >>> base = autoconv.linalg.LinearOperatorDiag([1.0, 2.0], is_non_singular=True)
    >>> autoconv.linalg.LinearOperatorLowRankUpdate(base, [[1.0], [1.0]]).to_dense().numpy()
    array([[2., 1.],
           [1., 3.]], dtype=float32)
    """

    def __init__(
        self, base_operator: LinearOperator, u: Any, diag_update: Any = None, v: Any = None,
        is_diag_update_positive: Hint = None, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None, is_square: Hint = None, name: str = "LinearOperatorLowRankUpdate",
    ) -> None:  # fmt: skip
        self._base, self._u = base_operator, variable_or_tensor(u)
        self._v = self._u if v is None else variable_or_tensor(v)
        self._diag = None if diag_update is None else variable_or_tensor(diag_update)
        self._is_update_positive = True if diag_update is None else is_diag_update_positive
        if v is None and base_operator.is_self_adjoint and not self._u.dtype.is_complex:
            is_self_adjoint = True
            if base_operator.is_positive_definite and self._is_update_positive:
                is_positive_definite = True
        super().__init__(
            base_operator.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name,
            {"base_operator": base_operator, "u": u, "diag_update": diag_update, "v": v},
        )  # fmt: skip

    @property
    def base_operator(self) -> LinearOperator:
        return self._base

    u = read_only("_u")
    v = read_only("_v")
    diag_update = read_only("_diag")
    is_diag_update_positive = read_only("_is_update_positive")

    def _shape(self) -> TensorShape:
        batch_shape = broadcast_static_shape(self._base.batch_shape, self._u.shape[:-2])
        return batch_shape.concatenate(self._base.shape[-2:])

    def _shape_tensor(self) -> Tensor:
        return shape(self._to_dense())

    def _scale_by_diagonal(self, x: Any, adjoint: bool) -> Any:
        """Multiply matrices by D, or by its adjoint."""
        if self._diag is None:
            return x
        factor: Any = convert_to_tensor(self._diag)
        return (conj(factor) if adjoint else factor)[..., None] * x

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        right_side = adjoint_if(x, adjoint_arg)
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        update = matmul(left, self._scale_by_diagonal(matmul(right, right_side, adjoint_a=True), adjoint=adjoint))
        return self._base.matmul(right_side, adjoint=adjoint) + update

    def _capacitance(self) -> Any:
        """Return D⁻¹ + Vᴴ L⁻¹ U, where L is the base operator; it has as many rows as U has columns."""
        small_product: Any = matmul(self._v, self._base.solve(convert_to_tensor(self._u)), adjoint_a=True)
        if self._diag is None:
            return small_product + LinearOperatorIdentity(shape(small_product)[-1], dtype=self.dtype).to_dense()
        return small_product + diag(apply("reciprocal", self._diag))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        right_side = adjoint_if(rhs, adjoint_arg)
        base_solution: Any = self._base.solve(right_side, adjoint=adjoint)
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        small_solution = solve(self._capacitance(), matmul(right, base_solution, adjoint_a=True), adjoint=adjoint)
        return base_solution - self._base.solve(matmul(left, small_solution), adjoint=adjoint)

    def _determinant(self) -> Any:
        result = self._base.determinant() * det(self._capacitance())
        return result if self._diag is None else result * reduce_prod(self._diag, axis=-1)

    def _log_abs_determinant(self) -> Any:
        _, log_abs_capacitance = slogdet(self._capacitance())
        result = self._base.log_abs_determinant() + log_abs_capacitance
        if self._diag is None:
            return result
        return result + reduce_sum(apply("log", apply("abs", self._diag)), axis=-1)

    def _diag_part(self) -> Any:
        products = convert_to_tensor(self._u) * conj(self._v)
        terms = products if self._diag is None else products * expand_dims(self._diag, -2)
        return self._base.diag_part() + reduce_sum(terms, axis=-1)

    def _linop_adjoint(self) -> LinearOperator:
        conjugate_diagonal = None if self._diag is None else conj(self._diag)
        return LinearOperatorLowRankUpdate(
            self._base.adjoint(), self._v, conjugate_diagonal, self._u, self._is_update_positive, self.is_non_singular
        )


class LinearOperatorHouseholder(SquareOperator):
    """The reflection at the hyperplane that is orthogonal to the vectors `reflection_axis`, [..., n].

    >>> autoconv.linalg.LinearOperatorHouseholder([1.0, 0.0]).matvec([3.0, 4.0]).numpy()
    array([-3.,  4.], dtype=float32)
    """

    def __init__(
        self, reflection_axis: Any, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None, is_square: Hint = None, name: str = "LinearOperatorHouseholder",
    ) -> None:  # fmt: skip
        if is_self_adjoint is False or is_positive_definite or is_non_singular is False or is_square is False:
            raise ValueError("A Householder operator is always self adjoint, square and non-singular, never positive.")
        self._axis = variable_or_tensor(reflection_axis)
        super().__init__(
            self._axis.dtype, None, is_non_singular=True, is_self_adjoint=True, is_square=True, name=name,
            parameters={"reflection_axis": reflection_axis},
        )  # fmt: skip

    reflection_axis = read_only("_axis")
    _vectors = read_only("_axis")

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        right_side: Any = adjoint_if(x, adjoint_arg)
        normal: Any = convert_to_tensor(self._axis)
        length = apply("sqrt", reduce_sum(apply("square", apply("abs", normal)), axis=-1, keepdims=True))
        unit = (normal / cast(length, normal.dtype))[..., None]
        return right_side - 2.0 * unit * matmul(unit, right_side, adjoint_a=True)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _determinant(self) -> Any:
        return -apply("ones_like", self.diag_part()[..., 0])  # type: ignore[index]

    def _log_abs_determinant(self) -> Any:
        return apply("zeros_like", self.diag_part()[..., 0])  # type: ignore[index]

    def _linop_inverse(self) -> LinearOperator:
        return self


class LinearOperatorPermutation(SquareOperator):
    """The operator that takes the elements of a vector in the order `perm`, [..., n].

    >>> autoconv.linalg.LinearOperatorPermutation([2, 0, 1]).matvec([1.0, 2.0, 3.0]).numpy()
    array([3., 1., 2.], dtype=float32)
    """

    def __init__(
        self, perm: Any, dtype: DTypeLike = float32, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None, is_square: Hint = None, name: str = "LinearOperatorPermutation",
    ) -> None:  # fmt: skip
        if is_non_singular is False or is_square is False:
            raise ValueError("A Permutation operator is always square and non-singular.")
        self._perm = variable_or_tensor(perm)
        if not self._perm.dtype.is_integer:
            raise TypeError(f"Argument perm must be integer dtype. Found: {self._perm.dtype}")
        super().__init__(
            as_dtype(dtype), is_non_singular=True, is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite, is_square=True, name=name, parameters={"perm": perm},
        )  # fmt: skip

    perm = read_only("_perm")
    _vectors = read_only("_perm")

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        right_side = adjoint_if(x, adjoint_arg)
        order = argsort(self._perm, axis=-1) if adjoint else self._perm
        if self.batch_shape.rank == 0:
            return gather(right_side, order, axis=-2)
        return matmul(self._one_hot_rows(order), right_side)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, not adjoint, adjoint_arg)

    def _to_dense(self) -> Tensor:
        return self._one_hot_rows(self._perm)

    def _one_hot_rows(self, order: Any) -> Tensor:
        """Return the matrices whose row i has its 1 in column order[i]."""
        size: Any = self.domain_dimension_tensor()
        return one_hot(order, size, dtype=self.dtype)

    def _log_abs_determinant(self) -> Any:
        return apply("zeros_like", cast(self._perm, self.dtype)[..., 0])  # type: ignore[index]

    def _linop_inverse(self) -> LinearOperator:
        return LinearOperatorPermutation(argsort(self._perm, axis=-1), self.dtype)


class LinearOperatorToeplitz(LinearOperator):
    """The operator of matrices [..., n, n] whose diagonals are constant.

    `col` and `row` are the first columns and the first rows of the matrices, [..., n].

    >>> autoconv.linalg.LinearOperatorToeplitz(col=[1.0, 2.0], row=[1.0, 5.0]).to_dense().numpy()
    array([[1., 5.],
           [2., 1.]], dtype=float32)
    """

    def __init__(
        self, col: Any, row: Any, is_non_singular: Hint = None, is_self_adjoint: Hint = None,
        is_positive_definite: Hint = None, is_square: Hint = None, name: str = "LinearOperatorToeplitz",
    ) -> None:  # fmt: skip
        if is_square is False:
            raise ValueError("Only square Toeplitz operators currently supported.")
        self._col, self._row = variable_or_tensor(col), variable_or_tensor(row)
        super().__init__(
            self._row.dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square=True, name=name,
            parameters={"col": col, "row": row},
        )  # fmt: skip

    col = read_only("_col")
    row = read_only("_row")

    def _shape(self) -> TensorShape:
        sizes = broadcast_static_shape(TensorShape(self._row.shape), TensorShape(self._col.shape))
        return sizes.concatenate([sizes[-1]])

    def _shape_tensor(self) -> Tensor:
        sizes: Any = shape(apply("add", self._row, self._col))
        return concat([sizes, sizes[-1:]], 0)

    def _to_dense(self) -> Tensor:
        row: Any = apply("add", self._row, apply("zeros_like", self._col))
        column: Any = apply("add", self._col, apply("zeros_like", self._row))  # has the common batch shape, as `row`
        # The elements of the diagonals, from the one in the lower left corner to the one in the upper right corner.
        diagonals = concat([reverse(column, [-1]), row[..., 1:]], -1)
        size = shape(row)[-1]
        positions = tensor_range(size)
        return gather(diagonals, size - 1 + expand_dims(positions, 0) - expand_dims(positions, 1), axis=-1)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _diag_part(self) -> Any:
        column: Any = apply("add", self._col, apply("zeros_like", self._row))
        return column[..., :1] + apply("zeros_like", column)

    def _trace(self) -> Any:
        return self._diag_part()[..., 0] * cast(self.domain_dimension_tensor(), self.dtype)


class LinearOperatorCirculant(SquareOperator):
    """The operator of circulant matrices [..., n, n]: each row is the row above it, rotated right by one element.

    `spectrum`, [..., n], has the eigenvalues. A product is a convolution, and is computed by Fourier transforms.

    >>> operator = autoconv.linalg.LinearOperatorCirculant([6.0, 4.0, 6.0, 4.0], input_output_dtype=autoconv.float32)
    >>> operator.matvec([1.0, 0.0, 0.0, 0.0]).numpy()
    array([5., 0., 1., 0.], dtype=float32)
    """

    def __init__(
        self, spectrum: Any, input_output_dtype: DTypeLike = complex64, is_non_singular: Hint = None,
        is_self_adjoint: Hint = None, is_positive_definite: Hint = None, is_square: Hint = True,
        name: str = "LinearOperatorCirculant",
    ) -> None:  # fmt: skip
        if not is_square:
            raise ValueError("A Circulant operator is always square.")
        self._spectrum = variable_or_tensor(spectrum)
        if not self._spectrum.dtype.is_complex and is_self_adjoint is None:
            is_self_adjoint = True
        super().__init__(
            as_dtype(input_output_dtype), None, is_non_singular, is_self_adjoint, is_positive_definite, is_square=True,
            name=name, parameters={"spectrum": spectrum, "input_output_dtype": input_output_dtype},
        )  # fmt: skip

    spectrum = read_only("_spectrum")
    _vectors = read_only("_spectrum")

    @property
    def block_depth(self) -> int:
        """The number of dimensions over which the spectrum is a Fourier transform."""
        return 1

    def _complex_spectrum(self) -> Any:
        is_double = self._spectrum.dtype.real_dtype.size == 8
        return cast(self._spectrum, "complex128" if is_double else "complex64")

    def convolution_kernel(self, name: str = "convolution_kernel") -> Tensor:
        """Return the first columns of the matrices."""
        return cast(ifft(self._complex_spectrum()), self.dtype)

    def _multiply_frequencies(self, x: Any, factor: Any) -> Any:
        """Multiply the Fourier transforms of the columns of `x` by `factor`, [..., n], and transform them back."""
        columns = matrix_transpose(cast(x, factor.dtype))  # `fft` transforms along the last dimension
        return cast(matrix_transpose(ifft(fft(columns) * expand_dims(factor, -2))), self.dtype)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        spectrum = self._complex_spectrum()
        return self._multiply_frequencies(adjoint_if(x, adjoint_arg), conj(spectrum) if adjoint else spectrum)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        spectrum = apply("reciprocal", self._complex_spectrum())
        return self._multiply_frequencies(adjoint_if(rhs, adjoint_arg), conj(spectrum) if adjoint else spectrum)

    def _determinant(self) -> Any:
        return cast(reduce_prod(self._complex_spectrum(), axis=-1), self.dtype)

    def _log_abs_determinant(self) -> Any:
        return cast(reduce_sum(apply("log", apply("abs", self._complex_spectrum())), axis=-1), self.dtype)

    def _diag_part(self) -> Any:
        mean = expand_dims(reduce_mean(self._complex_spectrum(), axis=-1), -1)
        return cast(mean + apply("zeros_like", self._complex_spectrum()), self.dtype)

    def _trace(self) -> Any:
        return cast(reduce_sum(self._complex_spectrum(), axis=-1), self.dtype)

    def _eigvals(self) -> Any:
        return cast(self._spectrum, self.dtype)

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorCirculant(conj(self._spectrum), self.dtype, self.is_non_singular)

    def _linop_inverse(self) -> LinearOperator:
        spectrum = apply("reciprocal", self._spectrum)
        return LinearOperatorCirculant(spectrum, self.dtype, self.is_non_singular, self.is_self_adjoint)
