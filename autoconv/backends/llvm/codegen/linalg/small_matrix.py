"""Decompose small matrices in registers, because a call of LAPACK would take many times as long as the arithmetic.

Each function also returns an element of dtype bool, "is regular": all numbers are finite and the matrix is far from
singular. Otherwise LAPACK has to run, so that errors for singular matrices do not depend on the order of roundings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from autoconv.backends.llvm.ir.scalars import Element, ElementWriter
from autoconv.graph.dtypes import float64

LARGEST_SIZE = 4  # most rows and columns
_PIVOT_TOLERANCE = 1e-11  # least pivot, relative to the largest number of the matrix

Rows = list[list[Element]]


class Elimination(NamedTuple):
    """The upper triangle's diagonal, the sign of the row exchanges, the rows of the solution, and "is regular"."""

    diagonal: list[Element]
    exchange_sign: Element
    solution: Rows
    is_regular: Element


def eliminate(b: ElementWriter, matrix: Rows, right_sides: Rows) -> Elimination:
    """Solve systems by Gaussian elimination with partial pivoting; `right_sides` has the rows of right sides."""
    n = len(matrix)
    rows = [[*row, *right_side] for row, right_side in zip(matrix, right_sides or [[]] * n, strict=True)]
    is_regular, threshold = _is_finite(b, rows), _pivot_threshold(b, matrix)
    sign = b.constant(1.0, float64)
    for k in range(n):
        for i in range(k + 1, n):
            is_larger = b.compare("gt", b.intrinsic("fabs", rows[i][k]), b.intrinsic("fabs", rows[k][k]))
            pairs = list(zip(rows[k], rows[i], strict=True))
            rows[k] = [b.select(is_larger, y, x) for x, y in pairs]
            rows[i] = [b.select(is_larger, x, y) for x, y in pairs]
            sign = b.select(is_larger, -sign, sign)
        is_regular = is_regular & b.compare("gt", b.intrinsic("fabs", rows[k][k]), threshold)
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i][k + 1 :] = [x - factor * y for x, y in zip(rows[i][k + 1 :], rows[k][k + 1 :], strict=True)]
    solution = [row[n:] for row in rows]
    for k in reversed(range(n)):
        for i in range(k + 1, n):
            solution[k] = [x - rows[k][i] * y for x, y in zip(solution[k], solution[i], strict=True)]
        solution[k] = [x / rows[k][k] for x in solution[k]]
    return Elimination([rows[k][k] for k in range(n)], sign, solution, is_regular)


def cholesky(b: ElementWriter, matrix: Rows) -> tuple[Rows, Element]:
    """Return the Cholesky factor, a lower triangle, as rows up to the diagonal, and "is regular"."""
    n = len(matrix)
    is_regular, threshold = _is_finite(b, matrix), _pivot_threshold(b, matrix)
    factor: Rows = []
    for i in range(n):
        row: list[Element] = []
        for j in range(i + 1):
            remainder = matrix[i][j]
            for x, y in zip(row, factor[j] if j < i else row, strict=False):
                remainder = remainder - x * y
            if j < i:
                row.append(remainder / factor[j][j])
            else:
                is_regular = is_regular & b.compare("gt", remainder, threshold)
                row.append(b.intrinsic("sqrt", remainder))
        factor.append(row)
    return factor, is_regular


def _is_finite(b: ElementWriter, rows: Sequence[Sequence[Element]]) -> Element:
    """Return whether all elements are finite, as an element of dtype bool."""
    total = b.constant(0.0, float64)
    for row in rows:
        for x in row:
            total = total + x * 0.0  # nan for an infinity and a nan
    return total.same(0.0)


def _pivot_threshold(b: ElementWriter, matrix: Rows) -> Element:
    """Return the least magnitude that a pivot of a regular matrix may have."""
    largest = b.constant(0.0, float64)
    for row in matrix:
        for x in row:
            magnitude = b.intrinsic("fabs", x)
            largest = b.select(b.compare("gt", magnitude, largest), magnitude, largest)
    return largest * _PIVOT_TOLERANCE
