"""Eigenvalues and singular values of a C library by Jacobi's rotations.

Rotations of two columns make a pair of them orthogonal (one-sided, for singular values), or a pair of elements of a
Hermitian matrix zero (two-sided). Sweeps over all pairs go on until none is rotated. See Golub and Van Loan, Matrix
Computations, sections 8.5 and 8.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.library.matrices import Index, Matrix, RoutineText
from autoconv.backends.llvm.library.reflections import expand_reflections, reduce_to_triangle
from autoconv.graph.dtypes import float64

_MAX_SWEEPS = 60  # ten are enough for matrices of a thousand rows
_UNIT = 2.0**-52


def write_eigenvalues(r: RoutineText) -> None:
    """Write the eigenvalues of a Hermitian matrix, in ascending order, and replace the matrix by its vectors."""
    out, b, n = r.out, r.b, r.integer("n")
    a, vectors = r.matrix("a", r.integer("lda")), Matrix(r, "%work", n)
    with r.count(0, n) as j:
        with r.count(0, j) as i:
            a.set(i, j, r.conjugate(a.get(j, i)))
        a.set(j, j, r.number(r.real_part(a.get(j, j))))
    _write_identity(r, vectors, n)
    scale = _scale_down(r, a, n, n)
    norm = b.intrinsic("sqrt", _square_norm(r, a, n, n))
    r.fail_if(out.not_((norm < float("inf")).ir))

    def rotation_of(p: Operand, q: Operand) -> tuple[Element, Callable[[], _Rotation]]:
        element = a.get(p, q)
        size = r.magnitude(element)
        difference = r.real_part(a.get(q, q)) - r.real_part(a.get(p, p))
        return size > norm * 2.0**-60, lambda: _rotation(r, element, size, difference)

    with _sweeps(r, n, rotation_of) as (p, q, rotation):
        _rotate_columns(r, a, n, p, q, rotation)
        with r.count(0, n) as j:
            first, second = a.get(p, j), a.get(q, j) * r.conjugate(rotation.phase)
            a.set(p, j, r.subtract(r.scale(first, rotation.cosine), r.scale(second, rotation.sine)))
            a.set(q, j, r.scale(first, rotation.sine) + r.scale(second, rotation.cosine))
        a.set(p, q, r.number(0.0))
        a.set(q, p, r.number(0.0))
        _rotate_columns(r, vectors, n, p, q, rotation)
    with r.count(0, n) as k:
        store(b, r.real_part(a.get(k, k)) * scale, "%w", k)
    _sort_columns(r, "%w", n, [(vectors, n)], descending=False)
    with r.count(0, n) as j, r.count(0, n) as i:
        a.set(i, j, vectors.get(i, j))


def write_singular_values(r: RoutineText) -> None:
    """Write the singular values, in descending order, and unless `jobz` is N the vectors.

    The columns of the matrix, or of its adjoint if it is wide, are made orthogonal: X·V = U·S. The QR factors of U·S
    give U, also where a singular value is zero.
    """
    out, b, m, n = r.out, r.b, r.integer("m"), r.integer("n")
    is_tall = out.icmp("sge", m, n)
    rows, columns = out.select(is_tall, m, n), out.select(is_tall, n, m)
    is_full, has_vectors = r.is_letter("jobz", "A"), out.not_(r.is_letter("jobz", "N"))
    expanded = out.select(is_full, rows, columns)
    a, x = r.matrix("a", r.integer("lda")), Matrix(r, "%work", rows)
    x_size = out.mul(rows, expanded)
    v = Matrix(r, _after(r, "%work", x_size), columns)
    factors = _after(r, v.pointer, out.mul(columns, columns))
    with r.count(0, columns) as j, r.count(0, rows) as i:
        element = a.get(out.select(is_tall, i, j), out.select(is_tall, j, i))
        x.set(i, j, r.select(r.truth(is_tall), element, r.conjugate(element)))
    _write_identity(r, v, columns)
    scale = _scale_down(r, x, rows, columns)
    norm = b.intrinsic("sqrt", _square_norm(r, x, rows, columns))
    r.fail_if(out.not_((norm < float("inf")).ir))
    row_count = b.wrap(float64, out.cast("sitofp", rows, "double"))
    relative = b.intrinsic("sqrt", row_count) * _UNIT

    def rotation_of(p: Operand, q: Operand) -> tuple[Element, Callable[[], _Rotation]]:
        first, second = _column_square(r, x, rows, p), _column_square(r, x, rows, q)
        product = r.total(r.dtype, 0, rows, lambda i: r.conjugate(x.get(i, p)) * x.get(i, q))
        size = r.magnitude(product)
        larger = b.select(first > second, first, second)
        rotates = (size > relative * b.intrinsic("sqrt", first) * b.intrinsic("sqrt", second)) & (
            size > norm * b.intrinsic("sqrt", larger) * (_UNIT / 4)
        )
        return rotates, lambda: _rotation(r, product, size, second - first)

    with _sweeps(r, columns, rotation_of) as (p, q, rotation):
        _rotate_columns(r, x, rows, p, q, rotation)
        _rotate_columns(r, v, columns, p, q, rotation)
    with r.count(0, columns) as k:
        store(b, b.intrinsic("sqrt", _column_square(r, x, rows, k)) * scale, "%s", k)
    _sort_columns(r, "%s", columns, [(x, rows), (v, columns)], descending=True)
    with out.if_(has_vectors):
        _write_left_vectors(r, x, rows, columns, expanded, factors)
        u, adjoint = r.matrix("u", r.integer("ldu")), r.matrix("vt", r.integer("ldvt"))

        def copy_both(left: Matrix, left_shape: tuple[Index, Index], right: Matrix, right_shape: tuple[Index, Index],
        ) -> None:  # fmt: skip
            with r.count(0, left_shape[1]) as j, r.count(0, left_shape[0]) as i:
                u.set(i, j, left.get(i, j))
            with r.count(0, right_shape[1]) as j, r.count(0, right_shape[0]) as i:
                adjoint.set(j, i, r.conjugate(right.get(i, j)))

        tall, square_shape = (rows, expanded), (columns, columns)
        out.either(
            is_tall, lambda: copy_both(x, tall, v, square_shape), lambda: copy_both(v, square_shape, x, tall)
        )  # fmt: skip


def _write_left_vectors(
    r: RoutineText, x: Matrix, rows: Operand, columns: Operand, expanded: Operand, factors: str
) -> None:  # fmt: skip
    """Replace orthogonal columns by orthonormal ones of the same directions, and append columns up to `expanded`."""
    b = r.b
    reduce_to_triangle(r, x, rows, columns, factors)
    signs = _after(r, factors, columns)
    with r.count(0, columns) as k:
        diagonal = r.real_part(x.get(k, k))
        store(b, r.number(b.select(diagonal < 0.0, r.real(-1.0), r.real(1.0))), signs, k)
    expand_reflections(r, x, rows, expanded, columns, factors)
    with r.count(0, columns) as k, r.count(0, rows) as i:
        x.set(i, k, r.scale(x.get(i, k), r.real_part(load(b, r.dtype, signs, k))))


# ---- rotations


class _Rotation(NamedTuple):
    """p' = c·p - s·q·u and q' = s·p + c·q·u, where u is the conjugated phase of the product of p and q."""

    cosine: Element
    sine: Element
    phase: Element


def _rotation(r: RoutineText, product: Element, size: Element, difference: Element) -> _Rotation:
    """Return the rotation by the smaller of the two angles that make the product zero."""
    b = r.b
    ratio = difference / (size * 2.0)
    magnitude = b.intrinsic("fabs", ratio)
    is_large = magnitude > 1e150  # its square may be infinite
    root = b.intrinsic("sqrt", b.select(is_large, r.real(0.0), magnitude) * magnitude + 1.0)
    tangent = b.intrinsic("copysign", 1.0 / (magnitude + b.select(is_large, magnitude, root)), ratio)
    cosine = 1.0 / b.intrinsic("sqrt", tangent * tangent + 1.0)
    return _Rotation(cosine, tangent * cosine, r.conjugate(r.scale(product, 1.0 / size)))


def _rotate_columns(r: RoutineText, x: Matrix, rows: Index, p: Operand, q: Operand, rotation: _Rotation) -> None:
    with r.count(0, rows) as i:
        first, second = x.get(i, p), x.get(i, q) * rotation.phase
        x.set(i, p, r.subtract(r.scale(first, rotation.cosine), r.scale(second, rotation.sine)))
        x.set(i, q, r.scale(first, rotation.sine) + r.scale(second, rotation.cosine))


@contextmanager
def _sweeps(
    r: RoutineText, n: Operand, rotation_of: Callable[[Operand, Operand], tuple[Element, Callable[[], _Rotation]]]
) -> Iterator[tuple[Operand, Operand, _Rotation]]:
    """Write sweeps around the statements of the `with` block, which rotate a pair; more than the limit is a failure."""
    out = r.out
    rotated, sweep_count = out.alloca("i64", "1"), out.alloca("i64", "0")

    def goes_on() -> str:
        has_rotated = out.icmp("ne", out.load("i64", rotated), 0)
        return out.and_(has_rotated, out.icmp("slt", out.load("i64", sweep_count), _MAX_SWEEPS))

    with out.while_(goes_on):
        out.store("i64", 0, rotated)
        out.store("i64", out.add(out.load("i64", sweep_count), 1), sweep_count)
        with r.count(0, n) as p, r.count(out.add(p, 1), n) as q:
            rotates, rotation = rotation_of(p, q)
            with out.if_(rotates.ir):
                out.store("i64", 1, rotated)
                yield p, q, rotation()
    r.fail_if(out.icmp("ne", out.load("i64", rotated), 0))


# ---- helpers


def _after(r: RoutineText, pointer: str, count: Operand) -> str:
    """Return the address after that many numbers."""
    doubles = r.out.mul(count, 2) if r.is_complex else count
    return r.out.gep("double", pointer, doubles)


def _write_identity(r: RoutineText, x: Matrix, n: Operand) -> None:
    with r.count(0, n) as j:
        with r.count(0, n) as i:
            x.set(i, j, r.number(0.0))
        x.set(j, j, r.number(1.0))


def _scale_down(r: RoutineText, x: Matrix, rows: Operand, columns: Operand) -> Element:
    """Divide a matrix by its largest magnitude, so that squares do not overflow, and return it; 1 for a zero matrix."""
    b, cell = r.b, r.cell(float64)
    with r.count(0, columns) as j, r.count(0, rows) as i:
        size, before = r.magnitude(x.get(i, j)), r.get(cell, float64)
        r.put(cell, b.select(size <= before, before, size))
    largest = r.get(cell, float64)
    scale = b.select(largest < 1e-300, 1.0, largest)
    with r.count(0, columns) as j, r.count(0, rows) as i:
        x.set(i, j, r.scale(x.get(i, j), 1.0 / scale))
    return scale


def _square_norm(r: RoutineText, x: Matrix, rows: Operand, columns: Operand) -> Element:
    return r.total(float64, 0, columns, lambda j: _column_square(r, x, rows, j))


def _column_square(r: RoutineText, x: Matrix, rows: Operand, column: Operand) -> Element:
    return r.total(float64, 0, rows, lambda i: r.square(x.get(i, column)))


def _sort_columns(
    r: RoutineText, keys: str, n: Operand, matrices: list[tuple[Matrix, Operand]], descending: bool
) -> None:  # fmt: skip
    """Sort columns of matrices, given with their numbers of rows, by real keys; the keys are sorted, too."""
    out, b = r.out, r.b
    best = out.alloca("i64")
    with r.count(0, n) as k:
        out.store("i64", k, best)
        with r.count(k, n) as j:
            key, other = (load(b, float64, keys, i) for i in (j, out.load("i64", best)))
            is_better = key > other if descending else key < other
            out.store("i64", out.select(is_better.ir, j, out.load("i64", best)), best)
        chosen = out.load("i64", best)
        with out.if_(out.icmp("ne", chosen, k)):
            first, second = load(b, float64, keys, k), load(b, float64, keys, chosen)
            store(b, second, keys, k)
            store(b, first, keys, chosen)
            for x, rows in matrices:
                with r.count(0, rows) as i:
                    left, right = x.get(i, k), x.get(i, chosen)
                    x.set(i, k, right)
                    x.set(i, chosen, left)


__all__ = ["write_eigenvalues", "write_singular_values"]
