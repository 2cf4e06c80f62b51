"""QR factors and condensed forms of a C library by Householder reflections.

See Golub and Van Loan, Matrix Computations, sections 5.2, 5.4 and 8.3.

A reflection is I - τ·v·vᴴ with v[0] = 1. As in LAPACK, the rest of v stands below the diagonal of its column.
"""

from __future__ import annotations

from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import Element, Pair, load, store
from autoconv.backends.llvm.library.matrices import Index, Matrix, RoutineText
from autoconv.graph.dtypes import float64


def write_geqrf(r: RoutineText) -> None:
    """Write the QR factors of a matrix, in LAPACK's packed form."""
    reduce_to_triangle(r, r.matrix("a", r.integer("lda")), r.integer("m"), r.integer("n"), "%tau")


def write_orgqr(r: RoutineText) -> None:
    """Write the first columns of Q, of a matrix that `write_geqrf` has packed."""
    expand_reflections(
        r, r.matrix("a", r.integer("lda")), r.integer("m"), r.integer("n"), r.integer("k"), "%tau"
    )  # fmt: skip


def reduce_to_triangle(r: RoutineText, a: Matrix, rows: Operand, columns: Operand, factors: str) -> None:
    """Replace a matrix by the triangle R and the vectors of the reflections; `factors` gets each τ."""
    with r.loop(0, r.out.intrinsic("smin", rows, columns)) as k:
        reflect_column(r, a, k, rows, factors)
        _reflect_columns_after(r, a, k, (rows, columns), r.conjugate(load(r.b, r.dtype, factors, k)))


def reflect_column(r: RoutineText, a: Matrix, k: Operand, rows: Operand, factors: str) -> None:
    """Make the reflection that maps the column k, from the row k on, to a real multiple of the unit vector.

    The multiple replaces the first element; the reflection's vector, without its first element, replaces the others.
    `factors` gets τ, which is 0 if the column is a real multiple of the unit vector already.
    """
    out, b = r.out, r.b
    next_row = out.add(k, 1)
    largest = _largest_magnitude(r, a, k, k, rows)
    scale = b.select(largest < 1e-300, 1.0, largest)
    norm = b.intrinsic("sqrt", r.total(float64, k, rows, lambda i: r.square(r.scale(a.get(i, k), 1.0 / scale)))) * scale
    head = a.get(k, k)
    is_reduced = _largest_magnitude(r, a, k, next_row, rows).same(0.0)
    if isinstance(head, Pair):
        is_reduced = is_reduced & head.imag.same(0.0)

    def reflect() -> None:
        """Store the factor of the reflection, and scale the column below the diagonal to its vector."""
        beta = b.select(r.real_part(head) < 0.0, norm, -norm)
        factor = (beta - r.real_part(head)) / beta
        store(b, b.pair(factor, -head.imag / beta) if isinstance(head, Pair) else factor, factors, k)
        inverse = r.reciprocal(r.subtract(head, r.number(beta)))
        with r.loop(next_row, rows) as i:
            a.set(i, k, a.get(i, k) * inverse)
        a.set(k, k, r.number(beta))

    out.either(is_reduced.ir, lambda: store(b, r.number(0.0), factors, k), reflect)


def reduce_to_tridiagonal(
    r: RoutineText, a: Matrix, n: Operand, vectors: Matrix, factors: str, workspace: str, off_diagonal: str
) -> None:  # fmt: skip
    """Reduce a Hermitian matrix, given by its lower triangle, to a real tridiagonal one, Qᴴ·A·Q.

    The diagonal of `a` becomes its diagonal; `off_diagonal` gets the other diagonal. The columns of `vectors` from 1 on
    become the vectors of the reflections; `workspace` has room for n numbers.
    """
    out, b = r.out, r.b
    w = Matrix(r, workspace, n)
    with r.loop(0, out.sub(n, 1)) as k:
        next_row = out.add(k, 1)
        with r.loop(next_row, n) as i:
            vectors.set(i, next_row, a.get(i, k))
            w.set(i, 0, r.number(0.0))
        reflect_column(r, vectors, next_row, n, factors)
        store(b, r.real_part(vectors.get(next_row, next_row)), off_diagonal, k)
        vectors.set(next_row, next_row, r.number(1.0))
        with r.loop(next_row, n) as j:
            v_j, next_index = vectors.get(j, next_row), out.add(j, 1)

            def product_of_row(i: Operand, j: Operand = j, next_row: Operand = next_row, v_j: Element = v_j) -> Element:
                w.set(i, 0, w.get(i, 0) + a.get(i, j) * v_j)
                return r.conjugate(a.get(i, j)) * vectors.get(i, next_row)

            row = r.total(r.dtype, next_index, n, product_of_row)
            w.set(j, 0, w.get(j, 0) + r.scale(v_j, r.real_part(a.get(j, j))) + row)
        tau = load(b, r.dtype, factors, next_row)

        def product_term(i: Operand, next_row: Operand = next_row) -> Element:
            return r.conjugate(vectors.get(i, next_row)) * w.get(i, 0)

        scaled_product = r.total(r.dtype, next_row, n, product_term) * tau * r.conjugate(tau)
        half_product = r.number(r.real_part(scaled_product) * -0.5)
        with r.loop(next_row, n) as i:
            w.set(i, 0, w.get(i, 0) * tau + vectors.get(i, next_row) * half_product)
        with r.loop(next_row, n) as j:
            first, second = r.conjugate(w.get(j, 0)), r.conjugate(vectors.get(j, next_row))
            with r.loop(j, n) as i:
                change = vectors.get(i, next_row) * first + w.get(i, 0) * second
                a.set(i, j, r.subtract(a.get(i, j), change))


def reduce_to_bidiagonal(
    r: RoutineText, a: Matrix, shape: tuple[Operand, Operand], vectors: Matrix, factors: tuple[str, str], workspace: str
) -> None:
    """Reduce a matrix of at least as many rows as columns to an upper bidiagonal one, Uᴴ·A·V, of real numbers.

    `a` keeps its diagonal, above the reflections from the left. The columns of `vectors` from 1 on are those of the
    reflections from the right, and its diagonal from 1 on has the other numbers; `workspace` has room for a column.
    """
    out, b, (rows, columns) = r.out, r.b, shape
    w = Matrix(r, workspace, rows)
    with r.loop(0, columns) as k:
        next_row = out.add(k, 1)
        reflect_column(r, a, k, rows, factors[0])
        _reflect_columns_after(r, a, k, shape, r.conjugate(load(b, r.dtype, factors[0], k)))
        with out.if_(out.icmp("slt", next_row, columns)):
            with r.loop(next_row, columns) as j:
                vectors.set(j, next_row, r.conjugate(a.get(k, j)))
            reflect_column(r, vectors, next_row, columns, factors[1])
            off_diagonal_element = vectors.get(next_row, next_row)
            vectors.set(next_row, next_row, r.number(1.0))
            with r.loop(next_row, rows) as i:
                w.set(i, 0, r.number(0.0))
            tau = load(b, r.dtype, factors[1], next_row)
            with r.loop(next_row, columns) as j:
                v_j = vectors.get(j, next_row) * tau
                with r.loop(next_row, rows) as i:
                    w.set(i, 0, w.get(i, 0) + a.get(i, j) * v_j)
            with r.loop(next_row, columns) as j:
                v_j = r.conjugate(vectors.get(j, next_row))
                with r.loop(next_row, rows) as i:
                    a.set(i, j, r.subtract(a.get(i, j), w.get(i, 0) * v_j))
            vectors.set(next_row, next_row, off_diagonal_element)


def expand_reflections(
    r: RoutineText, a: Matrix, rows: Operand, columns: Index, count: Operand, factors: str
) -> None:  # fmt: skip
    """Replace the vectors of `count` reflections by the first columns of their product."""
    out, b = r.out, r.b
    with r.loop(count, columns) as j:
        with r.loop(0, rows) as i:
            a.set(i, j, r.number(0.0))
        a.set(j, j, r.number(1.0))
    with r.loop(0, count) as step:
        k = out.sub(out.sub(count, 1), step)
        tau = load(b, r.dtype, factors, k)
        next_row = out.add(k, 1)
        with r.loop(next_row, columns) as j:
            _apply_reflection(r, a, k, j, rows, tau)
        with r.loop(0, k) as i:
            a.set(i, k, r.number(0.0))
        a.set(k, k, r.subtract(r.number(1.0), tau))
        with r.loop(next_row, rows) as i:
            a.set(i, k, r.subtract(r.number(0.0), a.get(i, k) * tau))


def _reflect_columns_after(
    r: RoutineText, a: Matrix, k: Operand, shape: tuple[Operand, Operand], tau: Element
) -> None:  # fmt: skip
    """Apply the reflection of the column k, with the factor `tau`, to the columns after it."""
    with r.loop(r.out.add(k, 1), shape[1]) as j:
        _apply_reflection(r, a, k, j, shape[0], tau)


def _apply_reflection(r: RoutineText, a: Matrix, k: Operand, column: Operand, rows: Operand, tau: Element) -> None:
    """Subtract τ·v·(vᴴ·x) from a column x, where v is the vector of the column k."""
    next_row = r.out.add(k, 1)
    tail_product = r.total(r.dtype, next_row, rows, lambda i: r.conjugate(a.get(i, k)) * a.get(i, column))
    product = (a.get(k, column) + tail_product) * tau
    a.set(k, column, r.subtract(a.get(k, column), product))
    with r.loop(next_row, rows) as i:
        a.set(i, column, r.subtract(a.get(i, column), a.get(i, k) * product))


def _largest_magnitude(r: RoutineText, a: Matrix, column: Operand, start: Operand, stop: Operand) -> Element:
    """Return the largest magnitude of the parts of a column's elements; nan counts as the largest."""
    cell = r.cell(float64)
    with r.loop(start, stop) as i:
        x = a.get(i, column)
        for part in (x.real, x.imag) if isinstance(x, Pair) else (x,):
            magnitude, largest_so_far = r.b.intrinsic("fabs", part), r.get(cell, float64)
            r.put(cell, r.b.select(magnitude <= largest_so_far, largest_so_far, magnitude))
    return r.get(cell, float64)
