"""QR factors of a C library by Householder reflections (Golub and Van Loan, Matrix Computations, section 5.2).

A reflection is I - τ·v·vᴴ with v[0] = 1. As in LAPACK, the rest of v stands below the diagonal of its column.
"""

from __future__ import annotations

from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import Element, Pair, load, store
from autoconv.backends.llvm.library.matrices import Index, Matrix, RoutineText
from autoconv.graph.dtypes import float64


def write_geqrf(r: RoutineText) -> None:
    reduce_to_triangle(r, r.matrix("a", r.integer("lda")), r.integer("m"), r.integer("n"), "%tau")


def write_orgqr(r: RoutineText) -> None:
    expand_reflections(
        r, r.matrix("a", r.integer("lda")), r.integer("m"), r.integer("n"), r.integer("k"), "%tau"
    )  # fmt: skip


def reduce_to_triangle(r: RoutineText, a: Matrix, rows: Operand, columns: Operand, factors: str) -> None:
    """Replace a matrix by the triangle R and the vectors of the reflections; `factors` gets each τ."""
    out, b = r.out, r.b
    with r.count(0, out.intrinsic("smin", rows, columns)) as k:
        after = out.add(k, 1)
        largest = _largest_magnitude(r, a, k, k, rows)
        scale = b.select(largest < 1e-300, 1.0, largest)

        def square(i: Operand, k: Operand = k, scale: Element = scale) -> Element:
            return r.square(r.scale(a.get(i, k), 1.0 / scale))

        head = a.get(k, k)
        norm = b.intrinsic("sqrt", r.total(float64, k, rows, square)) * scale
        is_reduced = _largest_magnitude(r, a, k, after, rows).same(0.0)
        if isinstance(head, Pair):
            is_reduced = is_reduced & head.imag.same(0.0)

        def keep(k: Operand = k) -> None:
            store(b, r.number(0.0), factors, k)

        def reflect(k: Operand = k, after: Operand = after, head: Element = head, norm: Element = norm) -> None:
            beta = b.select(r.real_part(head) < 0.0, norm, -norm)
            factor = (beta - r.real_part(head)) / beta
            tau = b.pair(factor, -head.imag / beta) if isinstance(head, Pair) else factor
            store(b, tau, factors, k)
            inverse = r.reciprocal(r.subtract(head, r.number(beta)))
            with r.count(after, rows) as i:
                a.set(i, k, a.get(i, k) * inverse)
            a.set(k, k, r.number(beta))
            with r.count(after, columns) as j:
                _reflect_column(r, a, k, j, rows, r.conjugate(tau))

        out.either(is_reduced.ir, keep, reflect)


def expand_reflections(
    r: RoutineText, a: Matrix, rows: Operand, columns: Index, count: Operand, factors: str
) -> None:  # fmt: skip
    """Replace the vectors of `count` reflections by the first columns of their product."""
    out, b = r.out, r.b
    with r.count(count, columns) as j:
        with r.count(0, rows) as i:
            a.set(i, j, r.number(0.0))
        a.set(j, j, r.number(1.0))
    with r.count(0, count) as step:
        k = out.sub(out.sub(count, 1), step)
        tau = load(b, r.dtype, factors, k)
        after = out.add(k, 1)
        with r.count(after, columns) as j:
            _reflect_column(r, a, k, j, rows, tau)
        with r.count(0, k) as i:
            a.set(i, k, r.number(0.0))
        a.set(k, k, r.subtract(r.number(1.0), tau))
        with r.count(after, rows) as i:
            a.set(i, k, r.subtract(r.number(0.0), a.get(i, k) * tau))


def _reflect_column(r: RoutineText, a: Matrix, k: Operand, column: Operand, rows: Operand, tau: Element) -> None:
    """Subtract τ·v·(vᴴ·x) from a column x, where v is the vector of the column k."""
    after = r.out.add(k, 1)
    rest = r.total(r.dtype, after, rows, lambda i: r.conjugate(a.get(i, k)) * a.get(i, column))
    product = (a.get(k, column) + rest) * tau
    a.set(k, column, r.subtract(a.get(k, column), product))
    with r.count(after, rows) as i:
        a.set(i, column, r.subtract(a.get(i, column), a.get(i, k) * product))


def _largest_magnitude(r: RoutineText, a: Matrix, column: Operand, start: Operand, stop: Operand) -> Element:
    """Return the largest magnitude of the parts of a column's elements; nan counts as the largest."""
    cell = r.cell(float64)
    with r.count(start, stop) as i:
        x = a.get(i, column)
        for part in (x.real, x.imag) if isinstance(x, Pair) else (x,):
            size, before = r.b.intrinsic("fabs", part), r.get(cell, float64)
            r.put(cell, r.b.select(size <= before, before, size))
    return r.get(cell, float64)


__all__ = ["expand_reflections", "reduce_to_triangle", "write_geqrf", "write_orgqr"]
