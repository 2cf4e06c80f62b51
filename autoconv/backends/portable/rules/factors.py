"""Rules of linear systems: LU factorisation with partial pivoting, one column in each iteration of a loop.

The runtimes have no operation for linear systems, or call LAPACK. The method is that of LAPACK's getrf, without blocks:
the largest element of the column becomes the pivot (Golub and Van Loan, Matrix Computations, section 3.4). The position
of a row or column is a value of the loop. The row is therefore taken by a mask: the other rows become 0, and the sum
over the axis is the row.

A rule returns None for a node that has no form in other runtimes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.backends.portable.control import Control
from autoconv.backends.portable.rules.linear import multiply_matrices, transpose_last_two
from autoconv.backends.portable.rules.movement import insert_axis
from autoconv.backends.portable.rules.reductions import fold
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term, static_shape
from autoconv.graph.dtypes import bool_, float32, float64, int64
from autoconv.graph.graph import Node


class LUFactors:
    """The factors of a stack of square matrices A: P·A = L·U, where L has ones on the diagonal.

    `packed` holds U, and below the diagonal L. `permutation` is P, and `sign` the determinant of P.
    """

    def __init__(self, writer: Control, x: Term) -> None:
        size = x.shape[-1]
        eye = writer.expand(writer.array(np.eye(size).astype(x.dtype.numpy), x.dtype), x.shape)
        sign = writer.expand(writer.constant(1, x.dtype), x.shape[:-2])
        state = [writer.constant(0, int64), x, eye, sign]
        _, self.packed, self.permutation, self.sign = writer.loop_while(
            lambda state: state[0] < size, lambda state: _eliminate_column(writer, state), state
        )
        self.writer = writer

    def diagonal(self) -> Term:
        """Return the diagonal of U."""
        writer, size = self.writer, self.packed.shape[-1]
        eye = writer.expand(writer.array(np.eye(size, dtype=bool), bool_), self.packed.shape)
        return writer.reduce(writer.select(eye, self.packed, 0), (self.packed.rank - 1,), "add", 0)

    def solve(self, y: Term) -> Term:
        """Return the solution of A·x = y, for a stack of matrices y."""
        intermediate = self._substitute(multiply_matrices(self.writer, self.permutation, y), is_lower=True)
        return self._substitute(intermediate, is_lower=False)

    def _substitute(self, y: Term, is_lower: bool) -> Term:
        """Solve by substitution with L, or with U, one row in each iteration."""
        writer, packed, size = self.writer, self.packed, self.packed.shape[-1]
        row_numbers = writer.iota((size,), 0, int64)

        def solve_row(state: list[Term]) -> list[Term]:
            """Subtract the known part of one row, and divide by the pivot if the matrix is upper triangular."""
            step, solution = state
            current = step if is_lower else writer.binary("subtract", size - 1, step)
            is_current = writer.reshape(row_numbers.same(current), (size, 1))
            current_rows = writer.select(is_current, packed, 0)
            row = writer.reduce(current_rows, (packed.rank - 2,), "add", 0)
            is_solved = row_numbers < current if is_lower else row_numbers > current
            sums = writer.reduce(
                insert_axis(writer, writer.select(is_solved, row, 0), row.rank) * solution,
                (solution.rank - 2,), "add", 0,
            )
            known_part = insert_axis(writer, sums, sums.rank - 1)
            value = solution - known_part
            if not is_lower:
                pivot = writer.reduce(writer.select(row_numbers.same(current), row, 0), (row.rank - 1,), "add", 0)
                value = value / insert_axis(writer, insert_axis(writer, pivot, pivot.rank), pivot.rank + 1)
            return [step + 1, writer.emit_select(*writer.broadcast(is_current, value, solution))]

        _, solution = writer.loop_while(lambda state: state[0] < size, solve_row, [writer.constant(0, int64), y])
        return solution


def _eliminate_column(writer: Control, state: list[Term]) -> list[Term]:
    """Exchange rows so that the pivot is on the diagonal, and eliminate below it; return the next state of the loop."""
    step, x, permutation, sign = state
    size, rank = x.shape[-1], x.rank
    positions = writer.iota((size,), 0, int64)
    row_numbers = writer.reshape(positions, (size, 1))
    column = writer.reduce(writer.select(positions.same(step), x, 0), (rank - 1,), "add", 0)
    magnitudes = writer.select(positions >= step, writer.emit_unary("abs", column), -1.0)
    pivot_position = writer.extreme_position(magnitudes, rank - 2, largest=True, dtype=int64)
    pivot_position = insert_axis(writer, pivot_position, rank - 2)
    wide_pivot_position = insert_axis(writer, pivot_position, rank - 1)  # [..., 1, 1]
    x, permutation = (
        _exchange_rows(writer, matrix, row_numbers, step, wide_pivot_position) for matrix in (x, permutation)
    )
    is_exchanged = writer.reshape(writer.compare("ne", pivot_position, step), sign.shape)
    sign = writer.select(is_exchanged, -sign, sign)
    pivot_row_values = writer.reduce(writer.select(row_numbers.same(step), x, 0), (rank - 2,), "add", 0)
    pivot = writer.reduce(writer.select(positions.same(step), pivot_row_values, 0), (rank - 2,), "add", 0)
    column = writer.reduce(writer.select(positions.same(step), x, 0), (rank - 1,), "add", 0)
    wide_pivot = insert_axis(writer, pivot, rank - 2)
    factor = writer.select(positions > step, column / writer.select(wide_pivot.same(0.0), 1.0, wide_pivot), 0.0)
    factor_column = insert_axis(writer, factor, rank - 1)
    new_x = x - factor_column * writer.select(positions > step, insert_axis(writer, pivot_row_values, rank - 2), 0.0)
    new_elements = writer.select(positions.same(step), writer.expand(factor_column, x.shape), new_x)
    is_below_diagonal = writer.broadcast(row_numbers > step, x)[0]
    return [step + 1, writer.emit_select(is_below_diagonal, new_elements, x), permutation, sign]


def _exchange_rows(writer: Control, x: Term, row_numbers: Term, first: Term, second: Term) -> Term:
    """Exchange two rows, given by their positions, of each matrix."""
    axis = x.rank - 2
    first_elements = writer.select(row_numbers.same(first), x, 0)
    first_row = insert_axis(writer, writer.reduce(first_elements, (axis,), "add", 0), axis)
    second_elements = writer.select(writer.compare("eq", row_numbers, second), x, 0)
    second_row = insert_axis(writer, writer.reduce(second_elements, (axis,), "add", 0), axis)
    new_x = writer.emit_select(*writer.broadcast(writer.compare("eq", row_numbers, second), first_row, x))
    return writer.emit_select(*writer.broadcast(writer.compare("eq", row_numbers, first), second_row, new_x))


def _is_supported_matrix(x: Term) -> bool:
    """Return whether an array holds nonempty matrices of floats, with known sizes."""
    return x.dtype in (float32, float64) and static_shape(x.shape) is not None and x.shape[-1] > 0


@lowers("solve")
def solve(writer: Control, node: Node, x: Term, y: Term) -> Term | None:
    """Solve by LU factors, with broadcast batches; a zero on the factors' diagonal fails."""
    if not _is_supported_matrix(x) or static_shape(y.shape) is None:
        return None
    if node.attributes.get("adjoint"):
        x = transpose_last_two(writer, x)
    x, y = writer.outer_broadcast(x, y, 2)
    factors = LUFactors(writer, x)
    writer.fail_if(factors.diagonal().same(0.0))
    return factors.solve(y)


@lowers("inverse")
def inverse(writer: Control, node: Node, x: Term) -> Term | None:
    """Solve for the identity matrix; a zero on the factors' diagonal fails."""
    if not _is_supported_matrix(x):
        return None
    if node.attributes.get("adjoint"):
        x = transpose_last_two(writer, x)
    factors = LUFactors(writer, x)
    writer.fail_if(factors.diagonal().same(0.0))
    return factors.solve(writer.expand(writer.array(np.eye(x.shape[-1]).astype(x.dtype.numpy), x.dtype), x.shape))


@lowers("determinant")
def determinant(writer: Control, node: Node, x: Term) -> Term | None:
    """Return the product of the diagonal of the LU factors, with the sign of the exchanges of rows."""
    if not _is_supported_matrix(x):
        return None
    factors = LUFactors(writer, x)
    diagonal = factors.diagonal()
    return fold(writer, diagonal, "prod", (diagonal.rank - 1,), keepdims=False) * factors.sign


@lowers("slogdet")
def slogdet(writer: Control, node: Node, x: Term) -> list[Any] | None:
    """Return the sign of the determinant and the logarithm of its magnitude, from the LU factors."""
    if not _is_supported_matrix(x):
        return None
    factors = LUFactors(writer, x)
    diagonal = factors.diagonal()
    last_axis = (diagonal.rank - 1,)
    signs = writer.select(diagonal < 0.0, writer.constant(-1.0, x.dtype), 1.0)
    signs = writer.select(diagonal.same(0.0), 0.0, signs)
    logarithms = writer.libm("log", writer.emit_unary("abs", diagonal))
    sign = fold(writer, signs, "prod", last_axis, keepdims=False) * factors.sign
    return [sign, fold(writer, logarithms, "sum", last_axis, keepdims=False)]


@lowers("tridiagonal_solve")
def tridiagonal_solve(writer: Control, node: Node, lower: Term, diagonal: Term, upper: Term, y: Term) -> Term | None:
    """Solve the system with the whole matrix, which has the three diagonals."""
    is_static = all(static_shape(x.shape) is not None for x in (lower, upper, y))
    if not node.attributes.get("pivoting", True) or not is_static or not _is_supported_matrix(diagonal):
        return None
    size, zero = diagonal.shape[-1], writer.constant(0, y.dtype)
    matrix_shape = (*y.shape[:-2], size, size)
    matrix = writer.expand(zero, matrix_shape)
    for x, offset in ((lower, -1), (diagonal, 0), (upper, 1)):
        no_padding = [0] * (x.rank - 1)
        rows = writer.pad(x, zero, [*no_padding, int(offset < 0)], [*no_padding, int(offset > 0)])
        mask = writer.diagonal_mask(matrix, matrix.rank - 2, matrix.rank - 1, offset)
        matrix = writer.select(mask, writer.expand(insert_axis(writer, rows, rows.rank), matrix_shape), matrix)
    factors = LUFactors(writer, matrix)
    writer.fail_if(factors.diagonal().same(0.0))
    return factors.solve(y)
