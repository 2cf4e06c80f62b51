"""Lower linear algebra to the LAPACK routines that NumPy calls, in the same order: results equal NumPy's.

LAPACK's matrices are column-major, so matrices are transposed on the way in and out. Where a routine reports failure,
the op's kernel runs, and raises. Matrices of up to 4 rows stay in registers (see small_matrix), if they are far
enough from singular.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from autoconv.backends.llvm.analysis.classify_indexing import goes_into, shape_of
from autoconv.backends.llvm.analysis.representation import is_array, is_complex, is_dense, is_scalar, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.linalg.lapack import Batch, has_routines, routine_of, workspace
from autoconv.backends.llvm.codegen.linalg.small_matrix import LARGEST, Rows, cholesky, eliminate
from autoconv.backends.llvm.codegen.registry import complex_native, native
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, Pair, load, store
from autoconv.backends.llvm.ir.types import memory
from autoconv.graph.dimensions import maximum, minimum, plus, product, times
from autoconv.graph.dtypes import DType, bool_, float64, int64
from autoconv.graph.graph import Node
from autoconv.graph.types import Dimension

# Cost of a matrix beside its arithmetic, in units of 0.05 ns: with a call of LAPACK; in registers.
_CALL, _IN_REGISTERS = 6000, 400


def _lapack_predicate(*names: str) -> Callable[[Node], bool]:
    """Return the predicate of nodes over nonempty float32 or float64 matrices, where LAPACK has those routines."""

    def fits(node: Node) -> bool:
        kinds: list[Any] = [value.type for value in node.inputs]
        single = all(is_array(kind) and 0 not in sizes(kind) for kind in kinds)
        return single and all(kind.dtype.name in ("float32", "float64") for kind in kinds) and has_routines(*names)

    return fits


def _fits_open(*names: str) -> Callable[[Node], bool]:
    """Return the predicate, as `_lapack_predicate`, of nodes with open dimensions.

    By their symbols, matrices have to be square, have as many rows as the other operand, and broadcast to the batch.
    """

    def fits(node: Node) -> bool:
        kinds: list[Any] = [value.type for value in node.inputs]
        shapes = [shape_of(value.type) for value in (*node.inputs, *node.results)]
        dense = all(is_dense(value.type) or is_scalar(value.type) for value in (*node.inputs, *node.results))
        if not dense or any(0 in shape for shape in shapes) or not has_routines(*names):
            return False
        if not all(kind.dtype.name in ("float32", "float64") for kind in kinds):
            return False
        first, *others = shapes[: len(kinds)]
        square = node.op.name in ("qr", "svd") or first[-1] == first[-2]
        batch = max((shape[:-2] for shape in shapes[: len(kinds)]), key=len)
        fitting = all(goes_into(shape[:-2], shapes[len(kinds)][: len(batch)]) for shape in shapes[: len(kinds)])
        return square and fitting and all(shape[-2] == first[-1] for shape in others)

    return fits


def _fits_complex(*names: str) -> Callable[[Node], bool]:
    """Return the predicate, as `_lapack_predicate`, of nodes over complex64 and complex128."""

    def fits(node: Node) -> bool:
        kinds: list[Any] = [value.type for value in node.inputs]
        fitting = all(is_complex(kind) and is_array(kind) and 0 not in sizes(kind) for kind in kinds)
        return fitting and has_routines(*names)

    return fits


def _work_of_one(factor: int) -> Callable[[Node], int]:
    """Return the estimate of the work of one matrix; 0 for several, which threads share."""

    def work(node: Node) -> int:
        *batch, rows, columns = sizes(node.inputs[0].type)
        return factor * rows * columns * min(rows, columns) if math.prod(batch) == 1 else 0

    return work


def _column_count(node: Node, operand: int = 0) -> Any:
    """Return the number of columns of an operand, a constant or a symbol."""
    return shape_of(node.inputs[operand].type)[-1]


def _is_small(batch: Batch, *counts: Dimension) -> bool:
    """Return whether the matrices are known to be small enough for registers, and real."""
    return batch.wide is float64 and all(isinstance(count, int) and count <= LARGEST for count in counts)


def _work_estimate(factor: int, *counts: Dimension, small: bool = False) -> Dimension:
    """Return the work of a call: a base cost, and `factor` times the product of the counts."""
    return plus(_IN_REGISTERS if small else _CALL, times(factor, product(counts)))


# ---- determinants, inverses, systems


@complex_native("determinant", "slogdet", fits=_fits_complex("zgetrf"), library=True)
@native(
    "determinant",
    "slogdet",
    fits=_lapack_predicate("dgetrf"),
    of_open=_fits_open("dgetrf"),
    work=_work_of_one(4),
    library=True,
)
def write_determinant(region: LoweringContext, node: Node) -> None:
    """Compute the determinant from an LU decomposition: signs of the diagonal, and the sum of its logarithms."""
    n = _column_count(node)
    batch = Batch(region, node, [0] * len(node.results))
    out, b = batch.out, batch.b
    matrix, pivots = batch.matrix(times(n, n)), batch.workspace_for(n)
    sign, total = out.alloca(memory(batch.wide)), out.alloca("double")
    small, both = _is_small(batch, n), len(node.results) == 2

    def store_results(*elements: Element) -> None:
        for which, x in enumerate(elements):
            batch.store_result([x], which)

    with batch.loop_over_matrices(), ExitStack() as stack:
        if small:
            diagonal, elements, _, fine = eliminate(b, batch.numbers(batch.x[0], n, n), [])
            for x in diagonal:
                elements = elements * x
            size = b.intrinsic("fabs", elements)
            fine = fine & b.compare("gt", size, 1e-290) & b.compare("lt", size, 1e290)
            signed = b.intrinsic("copysign", b.constant(1.0, float64), elements)
            store_results(*([signed, b.libm("log", size)] if both else [elements]))
            stack.enter_context(batch.run_unless(fine))
        batch.transpose(batch.x[0], matrix, n, n)
        singular = b.wrap(bool_, batch.lapack(batch.routine_of("dgetrf"), n, n, matrix, n, pivots))
        store(b, _number(b, 1.0, batch.wide), sign, 0)
        store(b, b.constant(0.0, float64), total, 0)
        with out.loop("0", str(batch.position(n))) as i:
            swapped = load(b, int64, pivots, i).differs(b.wrap(int64, out.add(i, 1)))
            unit, size = _sign_and_magnitude(b, load(b, batch.wide, matrix, batch.place(i, plus(n, 1))), swapped)
            store(b, unit * load(b, batch.wide, sign, 0), sign, 0)
            store(b, load(b, float64, total, 0) + b.libm("log", size), total, 0)
        signed = _unless(b, singular, load(b, batch.wide, sign, 0))
        size = b.select(singular, b.constant(-math.inf, float64), load(b, float64, total, 0))
        store_results(*([signed, size] if both else [signed * _number(b, b.libm("exp", size), batch.wide)]))
    batch.run(_work_estimate(4, n, n, n, small=small))


def _number(b: ElementWriter, real: Any, dtype: DType) -> Element:
    """Return a real number in the dtype."""
    part = real if isinstance(real, Element) else b.constant(real, float64)
    return b.pair(part, b.constant(0.0, float64)) if dtype.is_complex else part


def _sign_and_magnitude(b: ElementWriter, x: Element, swapped: Element) -> tuple[Element, Element]:
    """Return the sign of a number, negated where rows were exchanged, and its magnitude."""
    if isinstance(x, Pair):
        size = b.libm("hypot", x.real, x.imag)
        signed = b.select(swapped, -size, size)
        return b.pair(x.real / signed, x.imag / signed), size
    negative = b.compare("lt", x, 0.0)
    one = b.constant(1.0, float64)
    return b.select(swapped ^ negative, -one, one), b.select(negative, -x, x)


def _unless(b: ElementWriter, condition: Element, x: Element) -> Element:
    """Return the number, or zero if the condition holds."""
    if isinstance(x, Pair):
        return b.pair(_unless(b, condition, x.real), _unless(b, condition, x.imag))
    return b.select(condition, b.constant(0.0, float64), x)


@complex_native("inverse", fits=_fits_complex("zgesv"), library=True)
@native("inverse", fits=_lapack_predicate("dgesv"), of_open=_fits_open("dgesv"), library=True)
def write_inverse(region: LoweringContext, node: Node) -> None:
    n = _column_count(node)
    batch = Batch(region, node, [2])
    out, b = batch.out, batch.b
    matrix, pivots, solution = batch.matrix(times(n, n)), batch.workspace_for(n), batch.matrix(times(n, n))
    adjoint, small = node.attributes.get("adjoint", False), _is_small(batch, n)
    with batch.loop_over_matrices(), ExitStack() as stack:
        if small:
            one, zero = (b.constant(number, float64) for number in (1.0, 0.0))
            unit = [[one if i == j else zero for j in range(n)] for i in range(n)]
            stack.enter_context(_solve(batch, adjoint, unit))
        _load(batch, batch.x[0], matrix, n, adjoint)
        count = batch.position(times(batch.wide.size, times(n, n)))
        out.clear(solution, count)
        with out.loop("0", str(batch.position(n))) as i:
            store(b, _number(b, 1.0, batch.wide), solution, batch.place(i, plus(n, 1)))
        batch.fail_if(batch.lapack(batch.routine_of("dgesv"), n, n, matrix, n, pivots, solution, n))
        batch.transpose(solution, batch.results[0], n, n, back=True)
    batch.run(_work_estimate(10, n, n, n, small=small))


@complex_native("solve", fits=_fits_complex("zgesv"), library=True)
@native("solve", fits=_lapack_predicate("dgesv"), of_open=_fits_open("dgesv"), library=True)
def write_solve(region: LoweringContext, node: Node) -> None:
    n, columns = _column_count(node), _column_count(node, 1)
    batch = Batch(region, node, [2])
    matrix, pivots, solution = batch.matrix(times(n, n)), batch.workspace_for(n), batch.matrix(times(n, columns))
    adjoint, small = node.attributes.get("adjoint", False), _is_small(batch, n, columns)
    with batch.loop_over_matrices(), ExitStack() as stack:
        if small:
            stack.enter_context(_solve(batch, adjoint, batch.numbers(batch.x[1], n, columns)))
        _load(batch, batch.x[0], matrix, n, adjoint)
        batch.transpose(batch.x[1], solution, n, columns)
        batch.fail_if(batch.lapack(batch.routine_of("dgesv"), n, columns, matrix, n, pivots, solution, n))
        batch.transpose(solution, batch.results[0], columns, n, back=True)
    batch.run(plus(_work_estimate(4, n, n, n, small=small), times(8, product((n, n, columns)))))


@complex_native("triangular_solve", fits=_fits_complex("ztrtrs"), library=True)
@native("triangular_solve", fits=_lapack_predicate("dtrtrs"), of_open=_fits_open("dtrtrs"), library=True)
def write_triangular_solve(region: LoweringContext, node: Node) -> None:
    """Solve by substitution: a row-major triangle is the opposite triangle of the column-major matrix."""
    n, columns = _column_count(node), _column_count(node, 1)
    batch = Batch(region, node, [2])
    adjoint = node.attributes.get("adjoint", False)
    triangle, turned = "U" if node.attributes.get("lower", True) else "L", "N" if adjoint else "T"
    conjugate = adjoint and batch.dtype.is_complex
    solution = batch.matrix(times(n, columns))
    own = batch.matrix(times(n, n)) if conjugate else batch.working_copy(times(n, n))
    with batch.loop_over_matrices():
        matrix = batch.x[0]
        if own:
            batch.copy(matrix, own, times(n, n), conjugate=conjugate)
            matrix = own
        batch.transpose(batch.x[1], solution, n, columns)
        call_arguments = (triangle, turned, "N", n, columns, matrix, n, solution, n)
        batch.fail_if(batch.lapack(batch.routine_of("dtrtrs"), *call_arguments))
        batch.transpose(solution, batch.results[0], columns, n, back=True)
    batch.run(_work_estimate(4, n, n, columns))


def _solve(batch: Batch, adjoint: bool, right: Rows) -> AbstractContextManager[None]:
    """Solve a small system; the code inside of the context runs where LAPACK has to."""
    matrix = batch.numbers(batch.x[0], len(right), len(right))
    if adjoint:
        matrix = [list(column) for column in zip(*matrix, strict=True)]
    _, _, solution, fine = eliminate(batch.b, matrix, right)
    batch.store_result([x for row in solution for x in row])
    return batch.run_unless(fine)


def _load(batch: Batch, source: str, target: str, n: Dimension, adjoint: bool) -> None:
    """Store a square matrix, or its adjoint, in column-major order."""
    if adjoint:
        batch.copy(source, target, times(n, n), conjugate=True)
    else:
        batch.transpose(source, target, n, n)


# ---- decompositions


@complex_native("cholesky", fits=_fits_complex("zpotrf"), library=True)
@native("cholesky", fits=_lapack_predicate("dpotrf"), of_open=_fits_open("dpotrf"), library=True)
def write_cholesky(region: LoweringContext, node: Node) -> None:
    """Decompose the symmetric part of the matrix, or the Hermitian part of a complex one."""
    n = _column_count(node)
    batch = Batch(region, node, [2])
    out, b, dtype = batch.out, batch.b, batch.dtype
    matrix, small = batch.matrix(times(n, n)), _is_small(batch, n)

    def place(i: str, j: str) -> Any:
        return batch.place(i, n, j)

    with batch.loop_over_matrices(), ExitStack() as stack:
        x, result, side = batch.x[0], batch.results[0], str(batch.position(n))
        if small:
            whole, half = batch.numbers(x, n, n), b.constant(0.5, float64)
            even = [[(whole[i][j] + whole[j][i]) * half for j in range(n)] for i in range(n)]
            found, fine = cholesky(b, even)
            zeros = [b.constant(0.0, float64)] * n
            batch.store_result([y for row in found for y in (*row, *zeros[len(row) :])])
            stack.enter_context(batch.run_unless(fine))
        with out.loop("0", side) as i, out.loop("0", side) as j:
            total = _symmetric_part(b, load(b, dtype, x, place(i, j)), load(b, dtype, x, place(j, i)))
            store(b, batch.cast(total, batch.wide), matrix, place(j, i))
        batch.fail_if(batch.lapack(batch.routine_of("dpotrf"), "L", n, matrix, n))
        with out.loop("0", side) as i, out.loop("0", side) as j:
            beyond = b.wrap(bool_, out.icmp("sgt", j, i))
            factor = _unless(b, beyond, load(b, batch.wide, matrix, place(j, i)))
            store(b, batch.cast(factor, dtype), result, place(i, j))
    batch.run(_work_estimate(2, n, n, n, small=small))


def _symmetric_part(b: ElementWriter, x: Element, mirrored: Element) -> Element:
    """Return the mean of a number and of the (conjugated) one across the diagonal."""
    if isinstance(x, Pair) and isinstance(mirrored, Pair):
        return b.pair((x.real + mirrored.real) * 0.5, (x.imag - mirrored.imag) * 0.5)
    return (x + mirrored) * 0.5


def _dtype(node: Node) -> Any:
    return node.inputs[0].dtype


@complex_native("qr", fits=_fits_complex("zgeqrf", "zungqr"), library=True)
@native(
    "qr",
    fits=_lapack_predicate("dgeqrf", "dorgqr"),
    of_open=_fits_open("dgeqrf", "dorgqr"),
    work=_work_of_one(8),
    library=True,
)
def write_qr(region: LoweringContext, node: Node) -> None:
    rows, columns = shape_of(node.inputs[0].type)[-2:]
    inner, fewer = shape_of(node.results[0].type)[-1], minimum(rows, columns)
    decompose, expand = (routine_of(_dtype(node), *names) for names in (("dgeqrf",), ("dorgqr", "zungqr")))
    first = workspace(region, decompose, rows, columns, None, rows, None, None, None, None, work=5)[0]
    second = workspace(region, expand, rows, inner, fewer, None, rows, None, None, None, None, work=6)[0]
    batch = Batch(region, node, [2, 2], first, second)
    out, b = batch.out, batch.b
    lengths = maximum(first, columns), maximum(second, inner)
    matrix, scales = batch.matrix(times(rows, maximum(columns, inner))), batch.matrix(fewer)
    work = batch.matrix(maximum(*lengths))
    with batch.loop_over_matrices():
        q, r = batch.results
        batch.transpose(batch.x[0], matrix, rows, columns)
        batch.lapack(decompose, rows, columns, matrix, rows, scales, work, lengths[0])
        with out.loop("0", str(batch.position(inner))) as i, out.loop("0", str(batch.position(columns))) as j:
            below = b.wrap(bool_, out.icmp("sgt", i, j))
            element = _unless(b, below, load(b, batch.wide, matrix, batch.place(j, rows, i)))
            store(b, batch.cast(element, batch.dtype), r, batch.place(i, columns, j))
        batch.lapack(expand, rows, inner, fewer, matrix, rows, scales, work, lengths[1])
        batch.transpose(matrix, q, inner, rows, back=True)
    batch.run(plus(_CALL, _work_estimate(8, rows, columns, fewer)))


@complex_native("eigh", fits=_fits_complex("zheevd"), library=True)
@native("eigh", fits=_lapack_predicate("dsyevd"), of_open=_fits_open("dsyevd"), work=_work_of_one(60), library=True)
def write_eigh(region: LoweringContext, node: Node) -> None:
    n = _column_count(node)
    name, question = routine_of(_dtype(node), "dsyevd", "zheevd"), ("V", "L", n, None, n, *[None] * 6)
    of_complex = _dtype(node).is_complex
    if of_complex:
        numbers, integers, reals = workspace(region, name, *question, None, None, work=6, reals=8, integers=10)
    else:
        numbers, integers, reals = workspace(region, name, *question, work=6, integers=8)
    batch = Batch(region, node, [1, 2], numbers, integers, reals)
    matrix, eigenvalues = batch.matrix(times(n, n)), batch.workspace_for(n)
    work, whole = batch.matrix(numbers), batch.workspace_for(integers)
    more = (batch.workspace_for(reals), reals) if of_complex else ()
    with batch.loop_over_matrices():
        values, vectors = batch.results
        batch.transpose(batch.x[0], matrix, n, n)
        batch.fail_if(batch.lapack(name, "V", "L", n, matrix, n, eigenvalues, work, numbers, *more, whole, integers))
        batch.copy_real(eigenvalues, values, n)
        batch.transpose(matrix, vectors, n, n, back=True)
    batch.run(plus(4 * _CALL, _work_estimate(60, n, n, n)))


@complex_native("svd", fits=_fits_complex("zgesdd"), library=True)
@native("svd", fits=_lapack_predicate("dgesdd"), of_open=_fits_open("dgesdd"), work=_work_of_one(80), library=True)
def write_svd(region: LoweringContext, node: Node) -> None:
    """The right vectors are stored as LAPACK leaves them: its rows are the columns here, or their conjugates."""
    rows, columns = shape_of(node.inputs[0].type)[-2:]
    fewer, vectors = minimum(rows, columns), len(node.results) == 3
    full = vectors and node.attributes.get("full_matrices", False)
    which = "A" if full else "S" if vectors else "N"
    left, right = (rows, columns) if full else (fewer, fewer)
    shape: tuple[Any, ...] = (which, rows, columns, None, rows, None, None, rows, None, right)
    name, of_complex = routine_of(_dtype(node), "dgesdd"), _dtype(node).is_complex
    numbers = workspace(region, name, *shape, *[None] * (5 if of_complex else 4), work=10)[0]
    batch = Batch(region, node, [1, 2, 2][: len(node.results)], numbers)
    matrix, singular_values = batch.matrix(times(rows, columns)), batch.workspace_for(fewer)
    u, v = (batch.matrix(size if vectors else 1) for size in (times(rows, left), times(right, columns)))
    work, whole = batch.matrix(numbers), batch.workspace_for(times(8, fewer))
    # At least the size that the manual of zgesdd requires for any shape.
    reals = times(fewer, plus(plus(times(7, fewer), times(2, maximum(rows, columns))), 12))
    more = (batch.workspace_for(reals),) if of_complex else ()
    with batch.loop_over_matrices():
        batch.transpose(batch.x[0], matrix, rows, columns)
        call_arguments = (
            which,
            rows,
            columns,
            matrix,
            rows,
            singular_values,
            u,
            rows,
            v,
            right,
            work,
            numbers,
            *more,
            whole,
        )
        batch.fail_if(batch.lapack(name, *call_arguments))
        batch.copy_real(singular_values, batch.results[0], fewer)
        if vectors:
            batch.transpose(u, batch.results[1], left, rows, back=True)
            batch.copy(v, batch.results[2], times(right, columns), back=True, conjugate=True)
    batch.run(plus(5 * _CALL, _work_estimate(80, rows, columns, fewer)))
