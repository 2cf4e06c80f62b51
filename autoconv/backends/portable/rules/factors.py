"""Rules of linear systems: LU factorisation with partial pivoting, one column in each iteration of a loop.

The runtimes have no operation for it, or call LAPACK. The method is that of LAPACK's getrf, without blocks: the largest
element of the column becomes the pivot (Golub and Van Loan, Matrix Computations, section 3.4). The position of a row or
column is a value of the loop, so it is taken by a mask: the others become 0, and the sum over the axis remains.
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

    def __init__(self, w: Control, x: Term) -> None:
        size = x.shape[-1]
        eye = w.expand(w.array(np.eye(size).astype(x.dtype.numpy), x.dtype), x.shape)
        sign = w.expand(w.constant(1, x.dtype), x.shape[:-2])
        state = [w.constant(0, int64), x, eye, sign]
        word = w.error_word_or_zero(w.error_word)
        state_after = w.loop(
            lambda state, word: _has_next_step(w, state, word, size),
            lambda state, word: _eliminate_column(w, state, word),
            state,
            word,
        )
        w.error_word = state_after.pop()
        self.packed, self.permutation, self.sign = state_after[1:]
        self.w = w

    def diagonal(self) -> Term:
        """Return the diagonal of U."""
        w, size = self.w, self.packed.shape[-1]
        eye = w.expand(w.array(np.eye(size, dtype=bool), bool_), self.packed.shape)
        return w.reduce(w.select(eye, self.packed, 0), (self.packed.rank - 1,), "add", 0)

    def solve(self, y: Term) -> Term:
        """Return the solution of A·x = y, for a stack of matrices y."""
        intermediate = self._substitute(multiply_matrices(self.w, self.permutation, y), is_lower=True)
        return self._substitute(intermediate, is_lower=False)

    def _substitute(self, y: Term, is_lower: bool) -> Term:
        """Solve by substitution with L, or with U, one row in each iteration."""
        w, packed, size = self.w, self.packed, self.packed.shape[-1]
        row_numbers = w.iota((size,), 0, int64)

        def solve_row(state: list[Term], word: Term) -> list[Term]:
            w.error_word = word
            step, solution = state
            current = step if is_lower else w.binary("subtract", size - 1, step)
            is_current = w.reshape(row_numbers.same(current), (size, 1))
            row = w.reduce(w.select(w.reshape(is_current, (size, 1)), packed, 0), (packed.rank - 2,), "add", 0)
            is_solved = row_numbers < current if is_lower else row_numbers > current
            sums = w.reduce(
                insert_axis(w, w.select(is_solved, row, 0), row.rank) * solution, (solution.rank - 2,), "add", 0
            )
            known_part = insert_axis(w, sums, sums.rank - 1)
            value = solution - known_part
            if not is_lower:
                pivot = w.reduce(w.select(row_numbers.same(current), row, 0), (row.rank - 1,), "add", 0)
                value = value / insert_axis(w, insert_axis(w, pivot, pivot.rank), pivot.rank + 1)
            return [step + 1, w.emit_select(*w.broadcast(is_current, value, solution))]

        state = [w.constant(0, int64), y]
        word = w.error_word_or_zero(w.error_word)
        solution = w.loop(lambda state, word: _has_next_step(w, state, word, size), solve_row, state, word)
        w.error_word = solution.pop()
        return solution[1]


def _has_next_step(w: Control, state: list[Term], word: Term, size: int) -> Term:
    w.error_word = word
    return state[0] < size


def _eliminate_column(w: Control, state: list[Term], word: Term) -> list[Term]:
    """Exchange rows so that the pivot is on the diagonal, and eliminate below it; return the next state of the loop."""
    w.error_word = word
    step, x, permutation, sign = state
    size, rank = x.shape[-1], x.rank
    positions = w.iota((size,), 0, int64)
    row_numbers = w.reshape(positions, (size, 1))
    column = w.reduce(w.select(positions.same(step), x, 0), (rank - 1,), "add", 0)
    magnitudes = w.select(positions >= step, w.emit_unary("abs", column), -1.0)
    pivot_position = insert_axis(w, w.extreme_position(magnitudes, rank - 2, largest=True, dtype=int64), rank - 2)
    wide_pivot_position = insert_axis(w, pivot_position, rank - 1)  # [..., 1, 1]
    x, permutation = (
        _exchange_rows(w, matrix, row_numbers, step, wide_pivot_position) for matrix in (x, permutation)
    )
    is_exchanged = w.reshape(w.compare("ne", pivot_position, step), sign.shape)
    sign = w.select(is_exchanged, -sign, sign)
    pivot_row_values = w.reduce(w.select(row_numbers.same(step), x, 0), (rank - 2,), "add", 0)
    pivot = w.reduce(w.select(positions.same(step), pivot_row_values, 0), (rank - 2,), "add", 0)
    column = w.reduce(w.select(positions.same(step), x, 0), (rank - 1,), "add", 0)
    wide_pivot = insert_axis(w, pivot, rank - 2)
    factor = w.select(positions > step, column / w.select(wide_pivot.same(0.0), 1.0, wide_pivot), 0.0)
    factor_column = insert_axis(w, factor, rank - 1)
    new_x = x - factor_column * w.select(positions > step, insert_axis(w, pivot_row_values, rank - 2), 0.0)
    new_elements = w.select(positions.same(step), w.expand(factor_column, x.shape), new_x)
    is_below_diagonal = w.broadcast(row_numbers > step, x)[0]
    return [step + 1, w.emit_select(is_below_diagonal, new_elements, x), permutation, sign]


def _exchange_rows(w: Control, x: Term, row_numbers: Term, first: Term, second: Term) -> Term:
    """Exchange two rows, given by their positions, of each matrix."""
    axis = x.rank - 2
    first_row = insert_axis(w, w.reduce(w.select(row_numbers.same(first), x, 0), (axis,), "add", 0), axis)
    second_row = insert_axis(w, w.reduce(w.select(w.compare("eq", row_numbers, second), x, 0), (axis,), "add", 0), axis)
    new_x = w.emit_select(*w.broadcast(w.compare("eq", row_numbers, second), first_row, x))
    return w.emit_select(*w.broadcast(w.compare("eq", row_numbers, first), second_row, new_x))


def _is_supported_matrix(x: Term) -> bool:
    return x.dtype in (float32, float64) and static_shape(x.shape) is not None and x.shape[-1] > 0


@lowers("solve")
def solve(w: Control, node: Node, x: Term, y: Term) -> Term | None:
    if not _is_supported_matrix(x) or static_shape(y.shape) is None:
        return None
    if node.attributes.get("adjoint"):
        x = transpose_last_two(w, x)
    x, y = w.outer_broadcast(x, y, 2)
    factors = LUFactors(w, x)
    w.fail(factors.diagonal().same(0.0))
    return factors.solve(y)


@lowers("inverse")
def inverse(w: Control, node: Node, x: Term) -> Term | None:
    if not _is_supported_matrix(x):
        return None
    if node.attributes.get("adjoint"):
        x = transpose_last_two(w, x)
    factors = LUFactors(w, x)
    w.fail(factors.diagonal().same(0.0))
    return factors.solve(w.expand(w.array(np.eye(x.shape[-1]).astype(x.dtype.numpy), x.dtype), x.shape))


@lowers("determinant")
def determinant(w: Control, node: Node, x: Term) -> Term | None:
    if not _is_supported_matrix(x):
        return None
    factors = LUFactors(w, x)
    diagonal = factors.diagonal()
    return fold(w, diagonal, "prod", (diagonal.rank - 1,), keepdims=False) * factors.sign


@lowers("slogdet")
def slogdet(w: Control, node: Node, x: Term) -> list[Any] | None:
    if not _is_supported_matrix(x):
        return None
    factors = LUFactors(w, x)
    diagonal = factors.diagonal()
    last_axis = (diagonal.rank - 1,)
    signs = w.select(diagonal < 0.0, w.constant(-1.0, x.dtype), 1.0)
    signs = w.select(diagonal.same(0.0), 0.0, signs)
    logarithms = w.libm("log", w.emit_unary("abs", diagonal))
    sign = fold(w, signs, "prod", last_axis, keepdims=False) * factors.sign
    return [sign, fold(w, logarithms, "sum", last_axis, keepdims=False)]
