"""Linear systems of a C library: LU factors with partial pivoting, substitution, and Cholesky factors.

The algorithms are those of Golub and Van Loan, Matrix Computations, chapters 3 and 4. Inner loops go along columns.
"""

from __future__ import annotations

from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import Element, Pair
from autoconv.backends.llvm.library.matrices import Index, Matrix, RoutineText
from autoconv.graph.dtypes import float64


def write_getrf(r: RoutineText) -> None:
    """Write the LU factors of a square matrix."""
    _eliminate(r, r.matrix("a", r.integer("lda")), r.integer("n"))


def write_gesv(r: RoutineText) -> None:
    """Write the solution of a system with several right sides."""
    out, n = r.out, r.integer("n")
    a, x = r.matrix("a", r.integer("lda")), r.matrix("b", r.integer("ldb"))
    _eliminate(r, a, n)
    with r.loop(0, r.integer("nrhs")) as column:
        with r.loop(0, n) as k:
            pivot = out.sub(out.load("i64", out.gep("i64", "%ipiv", k)), 1)
            first, second = x.get(k, column), x.get(pivot, column)
            x.set(k, column, second)
            x.set(pivot, column, first)
        with r.loop(0, n) as k:
            _subtract_column(r, x, column, x.get(k, column), a, k, out.add(k, 1), n)
        with r.loop(0, n) as step:
            k = out.sub(out.sub(n, 1), step)
            solution = _divide(r, x.get(k, column), a.get(k, k))
            x.set(k, column, solution)
            _subtract_column(r, x, column, solution, a, k, 0, k)


def write_trtrs(r: RoutineText) -> None:
    """Write the solution of triangular systems, whose matrix may be given by its transpose.

    Zeros on the diagonal divide, unlike in LAPACK, as the kernel of `triangular_solve` divides by them.
    """
    out, n, width = r.out, r.integer("n"), r.integer("lda")
    a, x = r.matrix("a", width), r.matrix("b", r.integer("ldb"))
    is_transposed = out.not_(r.is_letter("trans", "N"))
    is_lower = out.op("xor", r.is_letter("uplo", "L"), is_transposed)
    with r.loop(0, r.integer("nrhs")) as column, r.loop(0, n) as step:
        k = out.select(is_lower, step, out.sub(out.sub(n, 1), step))
        start, stop = out.select(is_lower, "0", out.add(k, 1)), out.select(is_lower, k, n)

        def product(j: Operand, k: Operand = k, column: Operand = column) -> Element:
            element = a.get(out.select(is_transposed, j, k), out.select(is_transposed, k, j))
            return element * x.get(j, column)

        difference = r.subtract(x.get(k, column), r.total(r.dtype, start, stop, product))
        x.set(k, column, _divide(r, difference, a.get(k, k)))


def write_potrf(r: RoutineText) -> None:
    """Write the Cholesky factor of a Hermitian matrix, over its lower triangle."""
    out, n = r.out, r.integer("n")
    a = r.matrix("a", r.integer("lda"))
    with r.loop(0, n) as k:
        with r.loop(0, k) as j:
            _subtract_column(r, a, k, r.conjugate(a.get(k, j)), a, j, k, n)
        diagonal = r.real_part(a.get(k, k))
        r.fail_if(out.not_((diagonal > 0.0).ir))
        root = r.b.intrinsic("sqrt", diagonal)
        a.set(k, k, r.number(root))
        with r.loop(out.add(k, 1), n) as i:
            element = a.get(i, k)
            a.set(i, k, _divide_by_real(r, element, root))


def _eliminate(r: RoutineText, a: Matrix, n: Operand) -> None:
    """Replace a matrix by its factors; `ipiv` gets the rows, from 1 on, with which rows are exchanged."""
    out, b = r.out, r.b
    largest_cell, row_cell = r.cell(float64), out.alloca("i64")
    with r.loop(0, n) as k:
        r.put(largest_cell, r.real(-1.0))
        out.store("i64", k, row_cell)
        with r.loop(k, n) as i:
            magnitude = _pivot_magnitude(r, a.get(i, k))
            is_larger = magnitude > r.get(largest_cell, float64)
            r.put(largest_cell, b.select(is_larger, magnitude, r.get(largest_cell, float64)))
            out.store("i64", out.select(is_larger.ir, i, out.load("i64", row_cell)), row_cell)
        pivot_row = out.load("i64", row_cell)
        out.store("i64", out.add(pivot_row, 1), out.gep("i64", "%ipiv", k))
        is_zero = r.get(largest_cell, float64).same(0.0).ir
        r.fail_if(is_zero)
        with out.if_(out.icmp("ne", pivot_row, k)), r.loop(0, n) as j:
            first, second = a.get(k, j), a.get(pivot_row, j)
            a.set(k, j, second)
            a.set(pivot_row, j, first)
        next_row = out.add(k, 1)
        with out.unless(is_zero):
            pivot = a.get(k, k)
            with r.loop(next_row, n) as i:
                a.set(i, k, _divide(r, a.get(i, k), pivot))
        with r.loop(next_row, n) as j:
            _subtract_column(r, a, j, a.get(k, j), a, k, next_row, n)


def _subtract_column(
    r: RoutineText, x: Matrix, column: Index, factor: Element, a: Matrix, a_column: Index, start: Index, stop: Index
) -> None:
    """Subtract `factor` times a column of `a` from a column of `x`, from the row `start` up to `stop`."""
    with r.loop(start, stop) as i:
        x.set(i, column, r.subtract(x.get(i, column), a.get(i, a_column) * factor))


def _pivot_magnitude(r: RoutineText, x: Element) -> Element:
    """Return the magnitude by which a pivot is chosen: for a complex number, the sum of its parts' magnitudes."""
    if isinstance(x, Pair):
        return r.b.intrinsic("fabs", x.real) + r.b.intrinsic("fabs", x.imag)
    return r.b.intrinsic("fabs", x)


def _divide(r: RoutineText, x: Element, y: Element) -> Element:
    """Divide; complex numbers by a product with the reciprocal."""
    return x * r.reciprocal(y) if r.is_complex else x / y


def _divide_by_real(r: RoutineText, x: Element, y: Element) -> Element:
    """Divide by a real number."""
    return r.b.pair(x.real / y, x.imag / y) if isinstance(x, Pair) else x / y
