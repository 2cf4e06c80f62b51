"""Decompose small matrices in registers, because a call of LAPACK would take many times as long as the arithmetic.

The operations and their order are those of OpenBLAS with AVX-512, so that results equal NumPy's to the last bit there;
they were found by comparing results. Each function also returns an element of dtype bool, "is regular": all numbers are
finite and the matrix is far from singular. Otherwise LAPACK has to run, so that errors for singular matrices do not
depend on the order of roundings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from autoconv.backends.llvm.ir.scalars import Element, ElementWriter
from autoconv.graph.dtypes import float64

MAX_SIZE = 4  # most rows and columns
_PIVOT_TOLERANCE = 1e-11  # least pivot, relative to the largest number of the matrix

Rows = list[list[Element]]


class Decomposition(NamedTuple):
    """A matrix with exchanged rows as a product of a lower and an upper triangle."""

    factors: Rows  # the upper triangle with its diagonal, and the lower one below it, whose diagonal has ones
    exchanges: list[list[Element]]  # for each column, whether its row was exchanged with each later row
    sign: Element  # -1 for an odd number of exchanges, else 1
    is_regular: Element


def decompose(b: ElementWriter, matrix: Rows) -> Decomposition:
    """Decompose a square matrix column by column, with partial pivoting."""
    n = len(matrix)
    rows = [list(row) for row in matrix]
    is_regular, threshold = _is_finite(b, rows), _pivot_threshold(b, matrix)
    sign = b.constant(1.0, float64)
    exchanges = []
    for j in range(n):
        for i in range(1, n):
            count = min(i, j)
            rows[i][j] = _subtract_sum(b, rows[i][j], rows[i][:count], [rows[k][j] for k in range(count)])
        is_pivot = _find_pivot(b, [row[j] for row in rows[j:]])
        _exchange(b, rows, j, is_pivot)
        for is_exchanged in is_pivot:
            sign = b.select(is_exchanged, -sign, sign)
        exchanges.append(is_pivot)
        is_regular = is_regular & b.compare("gt", b.intrinsic("fabs", rows[j][j]), threshold)
        for i in range(j + 1, n):
            rows[i][j] = rows[i][j] * (1.0 / rows[j][j])
    return Decomposition(rows, exchanges, sign, is_regular)


def solve(b: ElementWriter, decomposition: Decomposition, right_sides: Rows) -> Rows:
    """Return the rows of the solution of a decomposed system, whose right sides are the columns of `right_sides`."""
    factors, n = decomposition.factors, len(decomposition.factors)
    solution = [list(row) for row in right_sides]
    for j in range(n):
        _exchange(b, solution, j, decomposition.exchanges[j])
    is_single = len(right_sides[0]) == 1
    # BLAS solves for several right sides in blocks of 4, 2 and 1 rows, and multiplies by inverses of the diagonal.
    blocks = [range(2), range(2, 3)] if n == 3 and not is_single else [range(n)]
    for column in range(len(right_sides[0])):
        x = [row[column] for row in solution]
        for block in blocks:
            for i in block:
                x[i] = _subtract_sum(b, x[i], factors[i][: block.start], x[: block.start])
                x[i] = _subtract_products(b, x[i], factors[i][block.start : i], x[block.start : i])
        for block in reversed(blocks):
            for i in reversed(block):
                x[i] = _subtract_sum(b, x[i], factors[i][block.stop :], x[block.stop :])
                between = slice(i + 1, block.stop)
                x[i] = _subtract_products(b, x[i], factors[i][between][::-1], x[between][::-1])
                x[i] = x[i] / factors[i][i] if is_single else x[i] * (1.0 / factors[i][i])
        for row, number in zip(solution, x, strict=True):
            row[column] = number
    return solution


def cholesky(b: ElementWriter, matrix: Rows) -> tuple[Rows, Element]:
    """Return the Cholesky factor, a lower triangle, as rows up to the diagonal, and "is regular"."""
    n = len(matrix)
    is_regular, threshold = _is_finite(b, matrix), _pivot_threshold(b, matrix)
    factor: Rows = [[] for _ in range(n)]
    for j in range(n):
        remainder = _subtract_sum(b, matrix[j][j], factor[j], factor[j])
        is_regular = is_regular & b.compare("gt", remainder, threshold)
        factor[j].append(b.intrinsic("sqrt", remainder))
        for i in range(j + 1, n):
            remainder = _subtract_sum(b, matrix[i][j], factor[i], factor[j][:j])
            factor[i].append(remainder * (1.0 / factor[j][j]))
    return factor, is_regular


def _subtract_sum(b: ElementWriter, x: Element, row: Sequence[Element], column: Sequence[Element]) -> Element:
    """Return x minus the sum of products of two vectors, which is rounded before."""
    total = None
    for y, z in zip(row, column, strict=True):
        total = y * z if total is None else b.fma(y, z, total)
    return x if total is None else x - total


def _subtract_products(b: ElementWriter, x: Element, row: Sequence[Element], column: Sequence[Element]) -> Element:
    """Return x minus the products of two vectors' elements, one after the other."""
    for y, z in zip(row, column, strict=True):
        x = b.fma(-y, z, x)
    return x


def _find_pivot(b: ElementWriter, column: Sequence[Element]) -> list[Element]:
    """Return, for each number but the first, whether it is the first one with the largest magnitude."""
    largest, are_larger = b.intrinsic("fabs", column[0]), []
    for x in column[1:]:
        magnitude = b.intrinsic("fabs", x)
        are_larger.append(b.compare("gt", magnitude, largest))
        largest = b.select(are_larger[-1], magnitude, largest)
    # Of the numbers that are larger than all before them, the last one is the pivot.
    for i in reversed(range(1, len(are_larger))):
        for earlier in range(i):
            are_larger[earlier] = are_larger[earlier] & ~are_larger[i]
    return are_larger


def _exchange(b: ElementWriter, rows: Rows, j: int, is_exchanged: Sequence[Element]) -> None:
    """Exchange row j with the later row whose flag is set, if any."""
    for i, condition in enumerate(is_exchanged, j + 1):
        pairs = list(zip(rows[j], rows[i], strict=True))
        rows[j] = [b.select(condition, y, x) for x, y in pairs]
        rows[i] = [b.select(condition, x, y) for x, y in pairs]


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
