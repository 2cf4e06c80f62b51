"""Decompose small matrices in registers: a call of LAPACK takes many times as long as their arithmetic.

Each function also returns an i1: whether everything was finite and the matrix far from singular. Otherwise LAPACK has
to run, so that what is refused does not depend on the order of roundings.
"""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.ir.scalars import Element, ElementWriter
from autoconv.graph.dtypes import float64

LARGEST = 4  # most rows and columns
_SINGULAR = 1e-11  # least pivot, relative to the largest number

Rows = list[list[Element]]


def eliminate(b: ElementWriter, matrix: Rows, right: Rows) -> tuple[list[Element], Element, Rows, Element]:
    """Gaussian elimination with partial pivoting.

    Return the diagonal, the sign of the row exchanges, the solutions for the right-hand sides `right` (rows), and
    whether the matrix is finite and far from singular.
    """
    n = len(matrix)
    rows = [[*row, *more] for row, more in zip(matrix, right or [[]] * n, strict=True)]
    fine, least = _is_finite(b, rows), _pivot_threshold(b, matrix)
    sign = b.constant(1.0, float64)
    for k in range(n):
        for i in range(k + 1, n):
            larger = b.compare("gt", b.intrinsic("fabs", rows[i][k]), b.intrinsic("fabs", rows[k][k]))
            pairs = [(b.select(larger, y, x), b.select(larger, x, y)) for x, y in zip(rows[k], rows[i], strict=True)]
            rows[k], rows[i] = [x for x, _ in pairs], [y for _, y in pairs]
            sign = b.select(larger, -sign, sign)
        fine = fine & b.compare("gt", b.intrinsic("fabs", rows[k][k]), least)
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i][k + 1 :] = [x - factor * y for x, y in zip(rows[i][k + 1 :], rows[k][k + 1 :], strict=True)]
    solution = [row[n:] for row in rows]
    for k in reversed(range(n)):
        for i in range(k + 1, n):
            solution[k] = [x - rows[k][i] * y for x, y in zip(solution[k], solution[i], strict=True)]
        solution[k] = [x / rows[k][k] for x in solution[k]]
    return [rows[k][k] for k in range(n)], sign, solution, fine


def cholesky(b: ElementWriter, matrix: Rows) -> tuple[Rows, Element]:
    """Return the rows of the lower triangle, and whether the matrix is finite and far from singular."""
    n = len(matrix)
    fine, least = _is_finite(b, matrix), _pivot_threshold(b, matrix)
    found: Rows = []
    for i in range(n):
        row: list[Element] = []
        for j in range(i + 1):
            rest = matrix[i][j]
            for x, y in zip(row, found[j] if j < i else row, strict=False):
                rest = rest - x * y
            if j < i:
                row.append(rest / found[j][j])
            else:
                fine = fine & b.compare("gt", rest, least)
                row.append(b.intrinsic("sqrt", rest))
        found.append(row)
    return found, fine


def _is_finite(b: ElementWriter, rows: Sequence[Sequence[Element]]) -> Element:
    total = b.constant(0.0, float64)
    for row in rows:
        for x in row:
            total = total + x * 0.0
    return total.same(0.0)


def _pivot_threshold(b: ElementWriter, matrix: Rows) -> Element:
    """Return the threshold for pivots, relative to the largest number."""
    largest = b.constant(0.0, float64)
    for row in matrix:
        for x in row:
            size = b.intrinsic("fabs", x)
            largest = b.select(b.compare("gt", size, largest), size, largest)
    return largest * _SINGULAR
