"""Rules of linear systems: elimination with row exchanges, a column in each turn of a loop.

Runtimes have no operation for them, or call LAPACK. The method is that of LAPACK's getrf, without blocks: the largest
element of the column becomes the pivot (Golub and Van Loan, Matrix Computations, section 3.4).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.backends.portable.control import Control
from autoconv.backends.portable.rules.linear import matmul_of
from autoconv.backends.portable.rules.movement import expand_at
from autoconv.backends.portable.rules.reductions import fold
from autoconv.backends.portable.rules.registry import lowers
from autoconv.backends.portable.terms import Term, static_shape
from autoconv.graph.dtypes import bool_, float32, float64, int64
from autoconv.graph.graph import Node


class Elimination:
    """The factors of a stack of square matrices: P·A = L·U.

    `packed` has U, and below its diagonal L without its diagonal of ones; `rows` is P; `sign` its determinant.
    """

    def __init__(self, w: Control, x: Term) -> None:
        size = x.shape[-1]
        eye = w.expanded(w.array(np.eye(size).astype(x.dtype.numpy), x.dtype), x.shape)
        sign = w.expanded(w.constant(1, x.dtype), x.shape[:-2])
        state = [w.constant(0, int64), x, eye, sign]
        word = w.sure(w.word)
        state_after = w.loop(
            lambda now, word: _has_next_column(w, now, word, size), lambda now, word: _turn(w, now, word), state, word
        )
        w.word = state_after.pop()
        self.packed, self.rows, self.sign = state_after[1:]
        self.w = w

    def diagonal(self) -> Term:
        """Return the diagonal of U."""
        w, size = self.w, self.packed.shape[-1]
        eye = w.expanded(w.array(np.eye(size, dtype=bool), bool_), self.packed.shape)
        return w.reduce(w.select(eye, self.packed, 0), (self.packed.rank - 1,), "add", 0)

    def solve(self, y: Term) -> Term:
        """Return the solution of A·x = y, for a stack of matrices y."""
        return self._substituted(self._substituted(matmul_of(self.w, self.rows, y), True), False)

    def _substituted(self, y: Term, lower: bool) -> Term:
        """Solve by L, or by U, a row in each turn."""
        w, packed, size = self.w, self.packed, self.packed.shape[-1]
        place = w.iota((size,), 0, int64)

        def turn(now: list[Term], word: Term) -> list[Term]:
            w.word = word
            step, solution = now
            at = step if lower else w.binary("subtract", size - 1, step)
            here = w.reshape(place.same(at), (size, 1))
            row = w.reduce(w.select(w.reshape(here, (size, 1)), packed, 0), (packed.rank - 2,), "add", 0)
            is_solved = place < at if lower else place > at
            sums = w.reduce(
                expand_at(w, w.select(is_solved, row, 0), row.rank) * solution, (solution.rank - 2,), "add", 0
            )
            rest = expand_at(w, sums, sums.rank - 1)
            value = solution - rest
            if not lower:
                pivot = w.reduce(w.select(place.same(at), row, 0), (row.rank - 1,), "add", 0)
                value = value / expand_at(w, expand_at(w, pivot, pivot.rank), pivot.rank + 1)
            return [step + 1, w.chosen(*w.broadcast(here, value, solution))]

        state = [w.constant(0, int64), y]
        solution = w.loop(lambda now, word: _has_next_column(w, now, word, size), turn, state, w.sure(w.word))
        w.word = solution.pop()
        return solution[1]


def _has_next_column(w: Control, now: list[Term], word: Term, size: int) -> Term:
    w.word = word
    return now[0] < size


def _turn(w: Control, now: list[Term], word: Term) -> list[Term]:
    """Exchange rows so that the pivot is on the diagonal, and eliminate below it."""
    w.word = word
    step, x, rows, sign = now
    size, rank = x.shape[-1], x.rank
    place = w.iota((size,), 0, int64)
    down = w.reshape(place, (size, 1))
    column = w.reduce(w.select(place.same(step), x, 0), (rank - 1,), "add", 0)
    heights = w.select(place >= step, w.unary("abs", column), -1.0)
    best = expand_at(w, w.arg(heights, rank - 2, True, int64), rank - 2)
    below = expand_at(w, best, rank - 1)  # [..., 1, 1]
    x, rows = (_exchange(w, m, down, step, below) for m in (x, rows))
    moved = w.reshape(w.compare("ne", best, step), sign.shape)
    sign = w.select(moved, -sign, sign)
    own = w.reduce(w.select(down.same(step), x, 0), (rank - 2,), "add", 0)
    pivot = w.reduce(w.select(place.same(step), own, 0), (rank - 2,), "add", 0)
    column = w.reduce(w.select(place.same(step), x, 0), (rank - 1,), "add", 0)
    wide = expand_at(w, pivot, rank - 2)
    factor = w.select(place > step, column / w.select(wide.same(0.0), 1.0, wide), 0.0)
    tall = expand_at(w, factor, rank - 1)
    eliminated = x - tall * w.select(place > step, expand_at(w, own, rank - 2), 0.0)
    choice = w.select(place.same(step), w.expanded(tall, x.shape), eliminated)
    lower = w.broadcast(down > step, x)[0]
    return [step + 1, w.chosen(lower, choice, x), rows, sign]


def _exchange(w: Control, x: Term, down: Term, first: Term, second: Term) -> Term:
    """Exchange two rows of each matrix."""
    axis = x.rank - 2
    a = expand_at(w, w.reduce(w.select(down.same(first), x, 0), (axis,), "add", 0), axis)
    b = expand_at(w, w.reduce(w.select(w.compare("eq", down, second), x, 0), (axis,), "add", 0), axis)
    exchanged = w.chosen(*w.broadcast(w.compare("eq", down, second), a, x))
    return w.chosen(*w.broadcast(w.compare("eq", down, first), b, exchanged))


def _is_supported_matrix(x: Term) -> bool:
    return x.dtype in (float32, float64) and static_shape(x.shape) is not None and x.shape[-1] > 0


@lowers("solve")
def solve(w: Control, node: Node, x: Term, y: Term) -> Term | None:
    if not _is_supported_matrix(x) or static_shape(y.shape) is None:
        return None
    if node.attributes.get("adjoint"):
        x = w.transpose(x, [*range(x.rank - 2), x.rank - 1, x.rank - 2])
    x, y = w.outer_broadcast(x, y, 2)
    factors = Elimination(w, x)
    w.fail(factors.diagonal().same(0.0))
    return factors.solve(y)


@lowers("inverse")
def inverse(w: Control, node: Node, x: Term) -> Term | None:
    if not _is_supported_matrix(x):
        return None
    if node.attributes.get("adjoint"):
        x = w.transpose(x, [*range(x.rank - 2), x.rank - 1, x.rank - 2])
    factors = Elimination(w, x)
    w.fail(factors.diagonal().same(0.0))
    return factors.solve(w.expanded(w.array(np.eye(x.shape[-1]).astype(x.dtype.numpy), x.dtype), x.shape))


@lowers("determinant")
def determinant(w: Control, node: Node, x: Term) -> Term | None:
    if not _is_supported_matrix(x):
        return None
    factors = Elimination(w, x)
    diagonal = factors.diagonal()
    return fold(w, diagonal, "prod", (diagonal.rank - 1,), False) * factors.sign


@lowers("slogdet")
def slogdet(w: Control, node: Node, x: Term) -> list[Any] | None:
    if not _is_supported_matrix(x):
        return None
    factors = Elimination(w, x)
    diagonal = factors.diagonal()
    last = (diagonal.rank - 1,)
    signs = w.select(diagonal < 0.0, w.constant(-1.0, x.dtype), 1.0)
    signs = w.select(diagonal.same(0.0), 0.0, signs)
    return [fold(w, signs, "prod", last, False) * factors.sign,
            fold(w, w.libm("log", w.unary("abs", diagonal)), "sum", last, False)]  # fmt: skip
