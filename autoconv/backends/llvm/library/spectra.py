"""Eigenvalues and singular values of a C library: condensed forms by reflections, then QR sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.library.matrices import Index, Matrix, RoutineText
from autoconv.backends.llvm.library.reflections import (
    expand_reflections,
    reduce_to_bidiagonal,
    reduce_to_tridiagonal,
)
from autoconv.backends.llvm.library.rotations import Rotations, diagonalise_bidiagonal, diagonalise_tridiagonal
from autoconv.graph.dtypes import float64


def write_eigenvalues(r: RoutineText) -> None:
    """Write the eigenvalues of a Hermitian matrix, in ascending order, and replace the matrix by its vectors."""
    out, b, n = r.out, r.b, r.integer("n")
    a, vectors = r.matrix("a", r.integer("lda")), Matrix(r, "%work", n)
    arrays = _divide_workspace(r, r.address_after("%work", out.mul(n, n)), [n] * 5)
    factors, product, off_diagonal, cosines, sines = arrays
    with r.loop(0, n) as j, r.loop(0, j) as i:
        a.set(i, j, r.number(0.0))
    scale = _scale_down(r, a, n, n)
    with out.if_(_is_finite(r, a, n, n)):
        reduce_to_tridiagonal(r, a, n, vectors, factors, product, off_diagonal)
        _expand_after_first(r, vectors, n, factors)
        with r.loop(0, n) as k:
            store(b, r.real_part(a.get(k, k)), "%w", k)
        rotations = Rotations(cosines, sines)
        diagonalise_tridiagonal(
            r, n, "%w", off_diagonal, rotations, lambda low, high: rotations.apply(r, vectors, n, low, high)
        )  # fmt: skip
        _scale_up(r, "%w", n, scale)
        _sort_columns(r, "%w", n, [(vectors, n)], descending=False)
        with r.loop(0, n) as j, r.loop(0, n) as i:
            a.set(i, j, vectors.get(i, j))


def write_singular_values(r: RoutineText) -> None:
    """Write the singular values, in descending order, and unless `jobz` is N the vectors."""
    out, b, m, n = r.out, r.b, r.integer("m"), r.integer("n")
    is_tall = out.icmp("sge", m, n)
    rows, columns = out.select(is_tall, m, n), out.select(is_tall, n, m)
    is_full, has_vectors = r.is_letter("jobz", "A"), out.not_(r.is_letter("jobz", "N"))
    vector_count = out.select(is_full, rows, columns)
    a, x = r.matrix("a", r.integer("lda")), Matrix(r, "%work", rows)
    v = Matrix(r, r.address_after("%work", out.mul(rows, vector_count)), columns)
    arrays = _divide_workspace(r, r.address_after(v.pointer, out.mul(columns, columns)), [columns] * 7 + [rows])
    left_factors, right_factors, off_diagonal, *rotation_arrays, product = arrays
    with r.loop(0, columns) as j, r.loop(0, rows) as i:  # the adjoint of a wide matrix
        element = a.get(out.select(is_tall, i, j), out.select(is_tall, j, i))
        x.set(i, j, r.select(r.truth(is_tall), element, r.conjugate(element)))
    scale = _scale_down(r, x, rows, columns)
    with out.if_(_is_finite(r, x, rows, columns)):
        reduce_to_bidiagonal(r, x, (rows, columns), v, (left_factors, right_factors), product)
        with r.loop(0, columns) as k:
            store(b, r.real_part(x.get(k, k)), "%s", k)
        with r.loop(1, columns) as k:
            store(b, r.real_part(v.get(k, k)), off_diagonal, out.sub(k, 1))
        with out.if_(has_vectors):
            expand_reflections(r, x, rows, vector_count, columns, left_factors)
            _expand_after_first(r, v, columns, right_factors)
        left, right = Rotations(*rotation_arrays[:2]), Rotations(*rotation_arrays[2:])

        def rotate_vectors(low: Operand, high: Operand) -> None:
            with out.if_(has_vectors):
                left.apply(r, x, rows, low, high)
                right.apply(r, v, columns, low, high)

        diagonalise_bidiagonal(r, columns, "%s", off_diagonal, left, right, rotate_vectors)
        with r.loop(0, columns) as k:
            value = load(b, float64, "%s", k)
            store(b, b.intrinsic("fabs", value), "%s", k)
            with out.if_(out.and_(has_vectors, (value < 0.0).ir)), r.loop(0, columns) as i:
                v.set(i, k, r.subtract(r.number(0.0), v.get(i, k)))
        _scale_up(r, "%s", columns, scale)
        _sort_columns(r, "%s", columns, [(x, rows), (v, columns)], descending=True, has_columns=has_vectors)
        with out.if_(has_vectors):
            _write_vectors(r, is_tall, _Vectors(x, rows, vector_count), _Vectors(v, columns, columns))


class _Vectors(NamedTuple):
    """The columns of a matrix, and their length and number."""

    matrix: Matrix
    length: Index
    column_count: Index


def _write_vectors(r: RoutineText, is_tall: Operand, left_of_tall: _Vectors, right_of_tall: _Vectors) -> None:
    """Copy the singular vectors to the results; those of a wide matrix were computed for its adjoint, which is tall."""
    u, adjoint = r.matrix("u", r.integer("ldu")), r.matrix("vt", r.integer("ldvt"))

    def copy(left: _Vectors, right: _Vectors) -> None:
        with r.loop(0, left.column_count) as j, r.loop(0, left.length) as i:
            u.set(i, j, left.matrix.get(i, j))
        with r.loop(0, right.column_count) as j, r.loop(0, right.length) as i:
            adjoint.set(j, i, r.conjugate(right.matrix.get(i, j)))

    r.out.either(is_tall, lambda: copy(left_of_tall, right_of_tall), lambda: copy(right_of_tall, left_of_tall))


def _expand_after_first(r: RoutineText, vectors: Matrix, n: Operand, factors: str) -> None:
    """Replace the vectors of reflections of all rows but the first by the columns of their product."""
    order = r.out.sub(n, 1)
    with r.loop(0, n) as k:
        vectors.set(k, 0, r.number(0.0))
        vectors.set(0, k, r.number(0.0))
    vectors.set(0, 0, r.number(1.0))
    expand_reflections(r, vectors.submatrix(1, 1), order, order, order, r.address_after(factors, 1))


# ---- helpers


def _divide_workspace(r: RoutineText, start: str, sizes: Sequence[Operand]) -> list[str]:
    """Divide the workspace from `start` on into arrays of these numbers of elements; return their addresses."""
    pointers = [start]
    for size in sizes[:-1]:
        pointers.append(r.address_after(pointers[-1], size))
    return pointers


def _scale_down(r: RoutineText, x: Matrix, rows: Operand, columns: Operand) -> Element:
    """Divide a matrix by its largest magnitude, so that squares do not overflow; return the divisor, 1 for zeros."""
    b, cell = r.b, r.cell(float64)
    with r.loop(0, columns) as j, r.loop(0, rows) as i:
        magnitude, largest_so_far = r.magnitude(x.get(i, j)), r.get(cell, float64)
        r.put(cell, b.select(magnitude <= largest_so_far, largest_so_far, magnitude))
    largest = r.get(cell, float64)
    scale = b.select(largest < 1e-300, 1.0, largest)
    with r.loop(0, columns) as j, r.loop(0, rows) as i:
        x.set(i, j, r.scale(x.get(i, j), 1.0 / scale))
    return scale


def _scale_up(r: RoutineText, numbers: str, n: Operand, scale: Element) -> None:
    """Multiply real numbers by the scale that `_scale_down` returned."""
    with r.loop(0, n) as k:
        store(r.b, load(r.b, float64, numbers, k) * scale, numbers, k)


def _is_finite(r: RoutineText, x: Matrix, rows: Operand, columns: Operand) -> str:
    """Return whether all elements are finite; if not, the routine fails."""
    total = r.total(float64, 0, columns, lambda j: r.total(float64, 0, rows, lambda i: r.square(x.get(i, j))))
    is_finite = (total < float("inf")).ir
    r.fail_if(r.out.not_(is_finite))
    return is_finite


def _sort_columns(
    r: RoutineText, keys: str, n: Operand, matrices: list[tuple[Matrix, Operand]], descending: bool,
    has_columns: str = "true",
) -> None:  # fmt: skip
    """Sort columns of matrices, given with their numbers of rows, by real keys; the keys are sorted, too."""
    out, b = r.out, r.b
    best_cell = out.alloca("i64")
    with r.loop(0, n) as k:
        out.store("i64", k, best_cell)
        with r.loop(k, n) as j:
            key, best_key = (load(b, float64, keys, i) for i in (j, out.load("i64", best_cell)))
            is_better = key > best_key if descending else key < best_key
            out.store("i64", out.select(is_better.ir, j, out.load("i64", best_cell)), best_cell)
        best_position = out.load("i64", best_cell)
        with out.if_(out.icmp("ne", best_position, k)):
            first, second = load(b, float64, keys, k), load(b, float64, keys, best_position)
            store(b, second, keys, k)
            store(b, first, keys, best_position)
            with out.if_(has_columns):
                for x, rows in matrices:
                    with r.loop(0, rows) as i:
                        left, right = x.get(i, k), x.get(i, best_position)
                        x.set(i, k, right)
                        x.set(i, best_position, left)
