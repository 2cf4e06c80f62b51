"""Linear algebra, by the routines of LAPACK that NumPy's functions call, in their order: results are NumPy's.

LAPACK's matrices lie in memory by columns, so they are turned on the way in and out. Where a routine says that it
failed, the op's kernel has the last word, which raises. Matrices of up to 4 rows stay in registers (see small), where
they are far enough from singular.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any

from autoconv.backends.llvm.lapack import Batch, has, workspace
from autoconv.backends.llvm.natives import native
from autoconv.backends.llvm.open_indices import goes_into, shape_of
from autoconv.backends.llvm.roles import is_array, is_dense, is_scalar, sizes
from autoconv.backends.llvm.scalars import Element, load, store
from autoconv.backends.llvm.small import LARGEST, Rows, cholesky, eliminated
from autoconv.graph.dimensions import least, most, plus, product, times
from autoconv.graph.dtypes import bool_, float64, int64
from autoconv.graph.graph import Node
from autoconv.graph.types import Dimension

if TYPE_CHECKING:
    from autoconv.backends.llvm.regions import Region

# What a matrix takes besides the arithmetic of a large one, in units of 0.05 ns: a call of LAPACK; in registers.
_CALL, _HERE = 6000, 400


def _fits(*names: str) -> Callable[[Node], bool]:
    """Matrices of float32 or float64 that have elements, where LAPACK has those routines."""

    def fits(node: Node) -> bool:
        kinds: list[Any] = [value.type for value in node.inputs]
        single = all(is_array(kind) and 0 not in sizes(kind) for kind in kinds)
        return single and all(kind.dtype.name in ("float32", "float64") for kind in kinds) and has(*names)

    return fits


def _together(*names: str) -> Callable[[Node], bool]:
    """Of dimensions that only the call knows: as `_fits`, where matrices are square, have as many rows as the other
    operand, and go into the batch, by their symbols."""

    def fits(node: Node) -> bool:
        kinds: list[Any] = [value.type for value in node.inputs]
        shapes = [shape_of(value.type) for value in (*node.inputs, *node.results)]
        dense = all(is_dense(value.type) or is_scalar(value.type) for value in (*node.inputs, *node.results))
        if not dense or any(0 in shape for shape in shapes) or not has(*names):
            return False
        if not all(kind.dtype.name in ("float32", "float64") for kind in kinds):
            return False
        first, *others = shapes[: len(kinds)]
        square = node.op.name in ("qr", "svd") or first[-1] == first[-2]
        batch = max((shape[:-2] for shape in shapes[: len(kinds)]), key=len)
        fitting = all(goes_into(shape[:-2], shapes[len(kinds)][: len(batch)]) for shape in shapes[: len(kinds)])
        return square and fitting and all(shape[-2] == first[-1] for shape in others)

    return fits


def _single(factor: int) -> Callable[[Node], int]:
    """What one matrix takes; several are shared by threads."""

    def work(node: Node) -> int:
        *batch, rows, columns = sizes(node.inputs[0].type)
        return factor * rows * columns * min(rows, columns) if math.prod(batch) == 1 else 0

    return work


def _side(node: Node, operand: int = 0) -> Any:
    """How many columns an operand has: a number, or a symbol."""
    return shape_of(node.inputs[operand].type)[-1]


def _is_small(*counts: Dimension) -> bool:
    """Whether it is known that registers will do."""
    return all(isinstance(count, int) and count <= LARGEST for count in counts)


def _work(factor: int, *counts: Dimension, small: bool = False) -> Dimension:
    """What a call takes, and `factor` times the product of the counts."""
    return plus(_HERE if small else _CALL, times(factor, product(counts)))


# ---- determinants, inverses, systems


@native("determinant", "slogdet", fits=_fits("dgetrf"), of_open=_together("dgetrf"), work=_single(4), library=True)
def write_determinant(region: Region, node: Node) -> None:
    """Of the triangles of an LU decomposition: the signs of the diagonal, and the sum of its logarithms."""
    n = _side(node)
    batch = Batch(region, node, [0] * len(node.results))
    out, b = batch.out, batch.b
    matrix, pivots = batch.spare(times(n, n)), batch.spare(n)
    sign, total = out.alloca("double"), out.alloca("double")
    small = _is_small(n)

    def give(found: list[Element]) -> None:
        for one, result in zip(found, batch.results, strict=True):
            batch.put([one], result)

    with batch.each(), ExitStack() as stack:
        if small:
            diagonal, found, _, fine = eliminated(b, batch.numbers(batch.x[0], n, n), [])
            for x in diagonal:
                found = found * x
            size = b.intrinsic("fabs", found)
            fine = fine & b.compare("gt", size, 1e-290) & b.compare("lt", size, 1e290)
            signed = b.intrinsic("copysign", b.constant(1.0, float64), found)
            give([signed, b.libm("log", size)] if len(node.results) == 2 else [found])
            stack.enter_context(batch.unless(fine))
        batch.turn(batch.x[0], matrix, n, n)
        singular = b.wrap(bool_, batch.lapack("dgetrf", n, n, matrix, n, pivots))
        store(b, b.constant(1.0, float64), sign, 0)
        store(b, b.constant(0.0, float64), total, 0)
        with out.loop("0", str(batch.position(n))) as i:
            swapped = load(b, int64, pivots, i).differs(b.wrap(int64, out.new(f"add nsw i64 {i}, 1")))
            factor = load(b, float64, matrix, batch.place(i, plus(n, 1)))
            negative = b.compare("lt", factor, 0.0)
            before = load(b, float64, sign, 0)
            store(b, b.select(swapped ^ negative, -before, before), sign, 0)
            size = b.select(negative, -factor, factor)
            store(b, load(b, float64, total, 0) + b.libm("log", size), total, 0)
        signed = b.select(singular, b.constant(0.0, float64), load(b, float64, sign, 0))
        size = b.select(singular, b.constant(-math.inf, float64), load(b, float64, total, 0))
        give([signed, size] if len(node.results) == 2 else [signed * b.libm("exp", size)])
    batch.run(_work(4, n, n, n, small=small))


@native("inverse", fits=_fits("dgesv"), of_open=_together("dgesv"), library=True)
def write_inverse(region: Region, node: Node) -> None:
    n = _side(node)
    batch = Batch(region, node, [2])
    out, b = batch.out, batch.b
    matrix, pivots, found = batch.spare(times(n, n)), batch.spare(n), batch.spare(times(n, n))
    adjoint, small = node.attributes.get("adjoint", False), _is_small(n)
    with batch.each(), ExitStack() as stack:
        if small:
            one, zero = (b.constant(number, float64) for number in (1.0, 0.0))
            unit = [[one if i == j else zero for j in range(n)] for i in range(n)]
            stack.enter_context(_solved(batch, adjoint, unit))
        _load(batch, batch.x[0], matrix, n, adjoint)
        out.module.declare("llvm.memset.p0.i64", "void", "ptr, i8, i64, i1")
        count = batch.position(times(8, times(n, n)))
        out.line(f'call void @"llvm.memset.p0.i64"(ptr {found}, i8 0, i64 {count}, i1 false)')
        with out.loop("0", str(batch.position(n))) as i:
            store(b, b.constant(1.0, float64), found, batch.place(i, plus(n, 1)))
        batch.fail_if(batch.lapack("dgesv", n, n, matrix, n, pivots, found, n))
        batch.turn(found, batch.results[0], n, n, back=True)
    batch.run(_work(10, n, n, n, small=small))


@native("solve", fits=_fits("dgesv"), of_open=_together("dgesv"), library=True)
def write_solve(region: Region, node: Node) -> None:
    n, columns = _side(node), _side(node, 1)
    batch = Batch(region, node, [2])
    matrix, pivots, found = batch.spare(times(n, n)), batch.spare(n), batch.spare(times(n, columns))
    adjoint = node.attributes.get("adjoint", False)
    with batch.each(), ExitStack() as stack:
        if _is_small(n, columns):
            stack.enter_context(_solved(batch, adjoint, batch.numbers(batch.x[1], n, columns)))
        _load(batch, batch.x[0], matrix, n, adjoint)
        batch.turn(batch.x[1], found, n, columns)
        batch.fail_if(batch.lapack("dgesv", n, columns, matrix, n, pivots, found, n))
        batch.turn(found, batch.results[0], columns, n, back=True)
    batch.run(plus(_work(4, n, n, n, small=_is_small(n, columns)), times(8, product((n, n, columns)))))


@native("triangular_solve", fits=_fits("dtrtrs"), of_open=_together("dtrtrs"), library=True)
def write_triangular_solve(region: Region, node: Node) -> None:
    """By substitution: what lies by rows is the other triangle of what lies by columns."""
    n, columns = _side(node), _side(node, 1)
    batch = Batch(region, node, [2])
    triangle = "U" if node.attributes.get("lower", True) else "L"
    turned = "N" if node.attributes.get("adjoint", False) else "T"
    found, wide = batch.spare(times(n, columns)), batch.cell(times(n, n))
    with batch.each():
        matrix = batch.x[0]
        if wide:
            batch.copy(matrix, wide, times(n, n))
            matrix = wide
        batch.turn(batch.x[1], found, n, columns)
        batch.fail_if(batch.lapack("dtrtrs", triangle, turned, "N", n, columns, matrix, n, found, n))
        batch.turn(found, batch.results[0], columns, n, back=True)
    batch.run(_work(4, n, n, columns))


def _solved(batch: Batch, adjoint: bool, right: Rows) -> AbstractContextManager[None]:
    """Solves a small system; what is written inside of the context runs where LAPACK has to."""
    matrix = batch.numbers(batch.x[0], len(right), len(right))
    if adjoint:
        matrix = [list(column) for column in zip(*matrix, strict=True)]
    _, _, found, fine = eliminated(batch.b, matrix, right)
    batch.put([x for row in found for x in row], batch.results[0])
    return batch.unless(fine)


def _load(batch: Batch, source: str, target: str, n: Dimension, adjoint: bool) -> None:
    """A square matrix, or its adjoint, by columns."""
    if adjoint:
        batch.copy(source, target, times(n, n))
    else:
        batch.turn(source, target, n, n)


# ---- decompositions


@native("cholesky", fits=_fits("dpotrf"), of_open=_together("dpotrf"), library=True)
def write_cholesky(region: Region, node: Node) -> None:
    """Of the symmetric part of the matrix."""
    n = _side(node)
    batch = Batch(region, node, [2])
    out, b, dtype = batch.out, batch.b, batch.dtype
    matrix, small = batch.spare(times(n, n)), _is_small(n)

    def place(i: str, j: str) -> Any:
        return batch.place(i, n, j)

    with batch.each(), ExitStack() as stack:
        x, result, side = batch.x[0], batch.results[0], str(batch.position(n))
        if small:
            whole, half = batch.numbers(x, n, n), b.constant(0.5, float64)
            even = [[(whole[i][j] + whole[j][i]) * half for j in range(n)] for i in range(n)]
            found, fine = cholesky(b, even)
            zeros = [b.constant(0.0, float64)] * n
            batch.put([y for row in found for y in (*row, *zeros[len(row) :])], result)
            stack.enter_context(batch.unless(fine))
        with out.loop("0", side) as i, out.loop("0", side) as j:
            total = load(b, dtype, x, place(i, j)) + load(b, dtype, x, place(j, i))
            store(b, b.cast(total * 0.5, float64), matrix, place(j, i))
        batch.fail_if(batch.lapack("dpotrf", "L", n, matrix, n))
        with out.loop("0", side) as i, out.loop("0", side) as j:
            inside = b.wrap(bool_, out.new(f"icmp sle i64 {j}, {i}"))
            factor = b.select(inside, load(b, float64, matrix, place(j, i)), 0.0)
            store(b, b.cast(factor, dtype), result, place(i, j))
    batch.run(_work(2, n, n, n, small=small))


@native("qr", fits=_fits("dgeqrf", "dorgqr"), of_open=_together("dgeqrf", "dorgqr"), work=_single(8), library=True)
def write_qr(region: Region, node: Node) -> None:
    rows, columns = shape_of(node.inputs[0].type)[-2:]
    inner, fewer = shape_of(node.results[0].type)[-1], least(rows, columns)
    first, _ = workspace(region, "dgeqrf", rows, columns, None, rows, None, None, None, None, real=5)
    second, _ = workspace(region, "dorgqr", rows, inner, fewer, None, rows, None, None, None, None, real=6)
    batch = Batch(region, node, [2, 2], first, second)
    out, b = batch.out, batch.b
    lengths = most(first, columns), most(second, inner)
    matrix, scales = batch.spare(times(rows, most(columns, inner))), batch.spare(fewer)
    work = batch.spare(most(*lengths))
    with batch.each():
        q, r = batch.results
        batch.turn(batch.x[0], matrix, rows, columns)
        batch.lapack("dgeqrf", rows, columns, matrix, rows, scales, work, lengths[0])
        with out.loop("0", str(batch.position(inner))) as i, out.loop("0", str(batch.position(columns))) as j:
            inside = b.wrap(bool_, out.new(f"icmp sle i64 {i}, {j}"))
            found = b.select(inside, load(b, float64, matrix, batch.place(j, rows, i)), 0.0)
            store(b, b.cast(found, batch.dtype), r, batch.place(i, columns, j))
        batch.lapack("dorgqr", rows, inner, fewer, matrix, rows, scales, work, lengths[1])
        batch.turn(matrix, q, inner, rows, back=True)
    batch.run(plus(_CALL, _work(8, rows, columns, fewer)))


@native("eigh", fits=_fits("dsyevd"), of_open=_together("dsyevd"), work=_single(60), library=True)
def write_eigh(region: Region, node: Node) -> None:
    n = _side(node)
    question = ("V", "L", n, None, n, None, None, None, None, None, None)
    numbers, integers = workspace(region, "dsyevd", *question, real=6, integers=8)
    batch = Batch(region, node, [1, 2], numbers, integers)
    matrix, found = batch.spare(times(n, n)), batch.spare(n)
    work, whole = batch.spare(numbers), batch.spare(integers)
    with batch.each():
        values, vectors = batch.results
        batch.turn(batch.x[0], matrix, n, n)
        batch.fail_if(batch.lapack("dsyevd", "V", "L", n, matrix, n, found, work, numbers, whole, integers))
        batch.copy(found, values, n, back=True)
        batch.turn(matrix, vectors, n, n, back=True)
    batch.run(plus(4 * _CALL, _work(60, n, n, n)))


@native("svd", fits=_fits("dgesdd"), of_open=_together("dgesdd"), work=_single(80), library=True)
def write_svd(region: Region, node: Node) -> None:
    """The right vectors lie in memory as LAPACK leaves them: its rows are our columns."""
    rows, columns = shape_of(node.inputs[0].type)[-2:]
    fewer, vectors = least(rows, columns), len(node.results) == 3
    full = vectors and node.attributes.get("full_matrices", False)
    which = "A" if full else "S" if vectors else "N"
    left, right = (rows, columns) if full else (fewer, fewer)
    shape: tuple[Any, ...] = (which, rows, columns, None, rows, None, None, rows, None, right)
    numbers, _ = workspace(region, "dgesdd", *shape, None, None, None, None, real=10)
    batch = Batch(region, node, [1, 2, 2][: len(node.results)], numbers)
    matrix, found = batch.spare(times(rows, columns)), batch.spare(fewer)
    u, v = (batch.spare(size if vectors else 1) for size in (times(rows, left), times(right, columns)))
    work, whole = batch.spare(numbers), batch.spare(times(8, fewer))
    with batch.each():
        batch.turn(batch.x[0], matrix, rows, columns)
        given = (which, rows, columns, matrix, rows, found, u, rows, v, right, work, numbers, whole)
        batch.fail_if(batch.lapack("dgesdd", *given))
        batch.copy(found, batch.results[0], fewer, back=True)
        if vectors:
            batch.turn(u, batch.results[1], left, rows, back=True)
            batch.copy(v, batch.results[2], times(right, columns), back=True)
    batch.run(plus(5 * _CALL, _work(80, rows, columns, fewer)))
