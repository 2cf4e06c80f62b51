"""Lower linear algebra to the LAPACK routines that NumPy calls, in the same order, so that results equal NumPy's.

LAPACK's matrices are column-major, so operands and results are transposed. If a routine reports a failure, the op's
kernel runs, and raises. Matrices of up to 4 rows are computed in registers (see small_matrix), unless they are nearly
singular.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

from autoconv.backends.llvm.analysis.classify_indexing import broadcasts_to, shape_of
from autoconv.backends.llvm.analysis.representation import is_complex, is_dense, is_scalar, is_static_array, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.linalg.failures import ResultMemory, write_failure
from autoconv.backends.llvm.codegen.linalg.lapack import Batch, routine_of
from autoconv.backends.llvm.codegen.linalg.lapack_calls import has_routines, workspace_sizes
from autoconv.backends.llvm.codegen.linalg.small_matrix import MAX_SIZE, Rows, cholesky, decompose, solve
from autoconv.backends.llvm.codegen.registry import complex_lowering, native_lowering
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, Pair, load, store
from autoconv.backends.llvm.ir.types import memory_type
from autoconv.graph.dimensions import maximum, minimum, plus, product, times
from autoconv.graph.dtypes import DType, bool_, float64, int64
from autoconv.graph.graph import Node
from autoconv.graph.types import Dimension

# Cost of a matrix without its arithmetic, in units of 0.05 ns: with a call of LAPACK, and in registers.
_LAPACK_CALL_COST, _REGISTER_COST = 6000, 400


def _lapack_predicate(*names: str, are_complex: bool = False) -> Callable[[Node], bool]:
    """Return a predicate that holds for nodes over nonempty matrices if LAPACK has the routines.

    The matrices are real, or with `are_complex` all complex.
    """

    def fits(node: Node) -> bool:
        """Return whether all operands are nonempty arrays of the dtypes, and LAPACK has the routines."""
        types: list[Any] = [value.type for value in node.inputs]
        are_nonempty = all(is_static_array(type_) and 0 not in sizes(type_) for type_ in types)
        are_real = all(type_.dtype.name in ("float32", "float64") for type_ in types)
        have_fitting_dtypes = all(map(is_complex, types)) if are_complex else are_real
        return are_nonempty and have_fitting_dtypes and has_routines(*names)

    return fits


def _open_predicate(*names: str) -> Callable[[Node], bool]:
    """Return a predicate, as `_lapack_predicate`, for nodes with open dimensions."""

    def fits(node: Node) -> bool:
        """Return whether symbols show that matrices are square, fit the other operand, and broadcast to the batch."""
        types: list[Any] = [value.type for value in node.inputs]
        shapes = [shape_of(value.type) for value in (*node.inputs, *node.results)]
        are_dense = all(is_dense(value.type) or is_scalar(value.type) for value in (*node.inputs, *node.results))
        if not are_dense or any(0 in shape for shape in shapes) or not has_routines(*names):
            return False
        if not all(type_.dtype.name in ("float32", "float64") for type_ in types):
            return False
        operand_shapes, result_shape = shapes[: len(types)], shapes[len(types)]
        matrix_shape, *other_shapes = operand_shapes
        has_supported_shape = node.op.name in ("qr", "svd") or matrix_shape[-1] == matrix_shape[-2]
        batch_rank = max(len(shape) - 2 for shape in operand_shapes)
        are_batches_compatible = all(broadcasts_to(shape[:-2], result_shape[:batch_rank]) for shape in operand_shapes)
        are_systems = all(shape[-2] == matrix_shape[-1] for shape in other_shapes)
        return has_supported_shape and are_batches_compatible and are_systems

    return fits


def _single_matrix_work(factor: int) -> Callable[[Node], int]:
    """Return a function that estimates the work of a node with one matrix; 0 for several, which threads share."""

    def work(node: Node) -> int:
        *batch, rows, columns = sizes(node.inputs[0].type)
        return factor * rows * columns * min(rows, columns) if math.prod(batch) == 1 else 0

    return work


def _column_count(node: Node, operand_number: int = 0) -> Any:
    """Return the number of columns of an operand, a constant or a symbol."""
    return shape_of(node.inputs[operand_number].type)[-1]


def _is_small(batch: Batch, *counts: Dimension) -> bool:
    """Return whether the matrices are real and known to be small enough for registers."""
    return batch.lapack_dtype is float64 and all(isinstance(count, int) and count <= MAX_SIZE for count in counts)


def _work_estimate(factor: int, *counts: Dimension, is_small: bool = False) -> Dimension:
    """Return the work for one matrix in units of 0.05 ns: a base cost, and `factor` times the product of the counts."""
    return plus(_REGISTER_COST if is_small else _LAPACK_CALL_COST, times(factor, product(counts)))


# ---- determinants, inverses, systems


@complex_lowering("determinant", "slogdet", fits=_lapack_predicate("zgetrf", are_complex=True), calls_library=True)
@native_lowering("determinant", "slogdet", fits=_lapack_predicate("dgetrf"),
                 fits_open=_open_predicate("dgetrf"), work=_single_matrix_work(4), calls_library=True)  # fmt: skip
def write_determinant(region: LoweringContext, node: Node) -> None:
    """Compute the determinant from an LU decomposition, by the signs and the logarithms of the diagonal."""
    n = _column_count(node)
    batch = Batch(region, node, result_ranks=[0] * len(node.results))
    out, b = batch.out, batch.b
    matrix, pivots = batch.new_matrix(times(n, n)), batch.new_workspace(n)
    sign_cell, log_cell = out.alloca(memory_type(batch.lapack_dtype)), out.alloca("double")
    is_small, has_sign = _is_small(batch, n), len(node.results) == 2

    def store_results(*elements: Element) -> None:
        for result_number, x in enumerate(elements):
            batch.store_result([x], result_number)

    with batch.loop_over_matrices(), ExitStack() as stack:
        if is_small:
            factors, _, sign, is_regular = decompose(b, batch.load_matrix(batch.operands[0], n, n))
            logarithm = b.constant(0.0, float64)
            for k in range(n):
                pivot_sign, magnitude = _sign_and_magnitude(b, factors[k][k], b.constant(False, bool_))
                sign, logarithm = sign * pivot_sign, logarithm + b.libm("log", magnitude)
            store_results(*([sign, logarithm] if has_sign else [sign * b.libm("exp", logarithm)]))
            stack.enter_context(out.unless(is_regular.ir))
        batch.transpose(batch.operands[0], matrix, n, n)
        is_singular = b.wrap(bool_, batch.call_lapack(batch.routine_of("dgetrf"), n, n, matrix, n, pivots))
        store(b, _widen_real(b, 1.0, batch.lapack_dtype), sign_cell, 0)
        store(b, b.constant(0.0, float64), log_cell, 0)
        with out.loop("0", str(batch.size_operand(n))) as i:
            is_swapped = load(b, int64, pivots, i).differs(b.wrap(int64, out.add(i, 1)))
            pivot = load(b, batch.lapack_dtype, matrix, batch.element_offset(i, plus(n, 1)))
            pivot_sign, magnitude = _sign_and_magnitude(b, pivot, is_swapped)
            store(b, pivot_sign * load(b, batch.lapack_dtype, sign_cell, 0), sign_cell, 0)
            store(b, load(b, float64, log_cell, 0) + b.libm("log", magnitude), log_cell, 0)
        sign = _zero_if(b, is_singular, load(b, batch.lapack_dtype, sign_cell, 0))
        logarithm = b.select(is_singular, b.constant(-math.inf, float64), load(b, float64, log_cell, 0))
        if has_sign:
            store_results(sign, logarithm)
        else:
            store_results(sign * _widen_real(b, b.libm("exp", logarithm), batch.lapack_dtype))
    batch.run(_work_estimate(4, n, n, n, is_small=is_small))


def _widen_real(b: ElementWriter, real: Any, dtype: DType) -> Element:
    """Return a real number as an element of LAPACK's dtype, which may be complex."""
    part = real if isinstance(real, Element) else b.constant(real, float64)
    return b.pair(part, b.constant(0.0, float64)) if dtype.is_complex else part


def _sign_and_magnitude(b: ElementWriter, x: Element, is_swapped: Element) -> tuple[Element, Element]:
    """Return the sign of a number, negated if `is_swapped`, and the magnitude; a complex sign has absolute value 1."""
    if isinstance(x, Pair):
        magnitude = b.libm("hypot", x.real, x.imag)
        signed_magnitude = b.select(is_swapped, -magnitude, magnitude)
        return b.pair(x.real / signed_magnitude, x.imag / signed_magnitude), magnitude
    is_negative = b.compare("lt", x, 0.0)
    one = b.constant(1.0, float64)
    return b.select(is_swapped ^ is_negative, -one, one), b.select(is_negative, -x, x)


def _zero_if(b: ElementWriter, condition: Element, x: Element) -> Element:
    """Return the number, or zero if the condition holds."""
    if isinstance(x, Pair):
        return b.pair(_zero_if(b, condition, x.real), _zero_if(b, condition, x.imag))
    return b.select(condition, b.constant(0.0, float64), x)


@complex_lowering("inverse", fits=_lapack_predicate("zgesv", are_complex=True), calls_library=True)
@native_lowering("inverse", fits=_lapack_predicate("dgesv"), fits_open=_open_predicate("dgesv"), calls_library=True)
def write_inverse(region: LoweringContext, node: Node) -> None:
    """Solve for the identity as right side; with the attribute "adjoint", for the adjoint of the matrix."""
    n = _column_count(node)
    batch = Batch(region, node, result_ranks=[2])
    out, b = batch.out, batch.b
    matrix, pivots, solution = batch.new_matrix(times(n, n)), batch.new_workspace(n), batch.new_matrix(times(n, n))
    adjoint, is_small = node.attributes.get("adjoint", False), _is_small(batch, n)
    with batch.loop_over_matrices(), ExitStack() as stack:
        if is_small:
            one, zero = (b.constant(number, float64) for number in (1.0, 0.0))
            identity = [[one if i == j else zero for j in range(n)] for i in range(n)]
            stack.enter_context(_solve_in_registers(batch, adjoint, identity))
        _load_column_major(batch, batch.operands[0], matrix, n, adjoint)
        count = batch.size_operand(times(batch.lapack_dtype.size, times(n, n)))
        out.clear(solution, count)
        with out.loop("0", str(batch.size_operand(n))) as i:
            store(b, _widen_real(b, 1.0, batch.lapack_dtype), solution, batch.element_offset(i, plus(n, 1)))
        batch.record_failure_if(batch.call_lapack(batch.routine_of("dgesv"), n, n, matrix, n, pivots, solution, n))
        batch.transpose(solution, batch.results[0], n, n, from_lapack=True)
    batch.run(_work_estimate(10, n, n, n, is_small=is_small))


@complex_lowering("solve", fits=_lapack_predicate("zgesv", are_complex=True), calls_library=True)
@native_lowering("solve", fits=_lapack_predicate("dgesv"), fits_open=_open_predicate("dgesv"), calls_library=True)
def write_solve(region: LoweringContext, node: Node) -> None:
    """Solve systems; with the attribute "adjoint", those of the adjoint of the matrix."""
    n, columns = _column_count(node), _column_count(node, 1)
    batch = Batch(region, node, result_ranks=[2])
    matrix, pivots = batch.new_matrix(times(n, n)), batch.new_workspace(n)
    solution = batch.new_matrix(times(n, columns))
    adjoint, is_small = node.attributes.get("adjoint", False), _is_small(batch, n, columns)
    with batch.loop_over_matrices(), ExitStack() as stack:
        if is_small:
            stack.enter_context(_solve_in_registers(batch, adjoint, batch.load_matrix(batch.operands[1], n, columns)))
        _load_column_major(batch, batch.operands[0], matrix, n, adjoint)
        batch.transpose(batch.operands[1], solution, n, columns)
        call_arguments = (n, columns, matrix, n, pivots, solution, n)
        batch.record_failure_if(batch.call_lapack(batch.routine_of("dgesv"), *call_arguments))
        batch.transpose(solution, batch.results[0], columns, n, from_lapack=True)
    batch.run(plus(_work_estimate(4, n, n, n, is_small=is_small), times(8, product((n, n, columns)))))


@complex_lowering("triangular_solve", fits=_lapack_predicate("ztrtrs", are_complex=True), calls_library=True)
@native_lowering("triangular_solve", fits=_lapack_predicate("dtrtrs"), fits_open=_open_predicate("dtrtrs"),
        calls_library=True)  # fmt: skip
def write_triangular_solve(region: LoweringContext, node: Node) -> None:
    """Solve by substitution; the lower triangle of a row-major matrix is the upper one of a column-major matrix."""
    n, columns = _column_count(node), _column_count(node, 1)
    batch = Batch(region, node, result_ranks=[2])
    adjoint = node.attributes.get("adjoint", False)
    triangle, transposition = "U" if node.attributes.get("lower", True) else "L", "N" if adjoint else "T"
    conjugate = adjoint and batch.dtype.is_complex
    solution = batch.new_matrix(times(n, columns))
    copy_memory = batch.new_matrix(times(n, n)) if conjugate else batch.memory_for_copy(times(n, n))
    with batch.loop_over_matrices():
        matrix = batch.operands[0]
        if copy_memory:  # None if the operand has LAPACK's dtype already and is not conjugated
            batch.copy(matrix, copy_memory, times(n, n), conjugate=conjugate)
            matrix = copy_memory
        batch.transpose(batch.operands[1], solution, n, columns)
        call_arguments = (triangle, transposition, "N", n, columns, matrix, n, solution, n)
        batch.record_failure_if(batch.call_lapack(batch.routine_of("dtrtrs"), *call_arguments))
        batch.transpose(solution, batch.results[0], columns, n, from_lapack=True)
    batch.run(_work_estimate(4, n, n, columns))


def _solve_in_registers(batch: Batch, adjoint: bool, right_sides: Rows) -> AbstractContextManager[None]:
    """Solve a small system in registers; code that is written in the context runs if the matrix is nearly singular."""
    matrix = batch.load_matrix(batch.operands[0], len(right_sides), len(right_sides))
    if adjoint:
        matrix = [list(column) for column in zip(*matrix, strict=True)]
    decomposition = decompose(batch.b, matrix)
    batch.store_result([x for row in solve(batch.b, decomposition, right_sides) for x in row])
    return batch.out.unless(decomposition.is_regular.ir)


def _load_column_major(batch: Batch, source: str, target: str, n: Dimension, adjoint: bool) -> None:
    """Copy a row-major square matrix, or its adjoint, to column-major order.

    Row-major elements that are read as column-major are the transpose. So the adjoint is a copy of the conjugates in
    unchanged order.
    """
    if adjoint:
        batch.copy(source, target, times(n, n), conjugate=True)
    else:
        batch.transpose(source, target, n, n)


# ---- decompositions


@complex_lowering("cholesky", fits=_lapack_predicate("zpotrf", are_complex=True), calls_library=True)
@native_lowering("cholesky", fits=_lapack_predicate("dpotrf"), fits_open=_open_predicate("dpotrf"), calls_library=True)
def write_cholesky(region: LoweringContext, node: Node) -> None:
    """Decompose the matrix whose lower triangle is given; the upper one is not read."""
    n = _column_count(node)
    batch = Batch(region, node, result_ranks=[2])
    out, b, dtype = batch.out, batch.b, batch.dtype
    matrix, is_small = batch.new_matrix(times(n, n)), _is_small(batch, n)

    def offset(i: str, j: str) -> Any:
        return batch.element_offset(i, n, j)

    with batch.loop_over_matrices(), ExitStack() as stack:
        x, result, side = batch.operands[0], batch.results[0], str(batch.size_operand(n))
        if is_small:
            factor_rows, is_regular = cholesky(b, batch.load_matrix(x, n, n))
            zeros = [b.constant(0.0, float64)] * n
            batch.store_result([y for row in factor_rows for y in (*row, *zeros[len(row) :])])
            stack.enter_context(out.unless(is_regular.ir))
        batch.transpose(x, matrix, n, n)
        failure = batch.call_lapack(batch.routine_of("dpotrf"), "L", n, matrix, n)
        write_failure(batch, node, failure, ResultMemory(matrix, times(n, n), True))
        with out.loop("0", side) as i, out.loop("0", side) as j:
            is_above = b.wrap(bool_, out.icmp("sgt", j, i))
            factor = _zero_if(b, is_above, load(b, batch.lapack_dtype, matrix, offset(j, i)))
            store(b, batch.cast(factor, dtype), result, offset(i, j))
    batch.run(_work_estimate(2, n, n, n, is_small=is_small))


def _operand_dtype(node: Node) -> Any:
    """Return the dtype of the matrices that a node decomposes."""
    return node.inputs[0].dtype


@complex_lowering("qr", fits=_lapack_predicate("zgeqrf", "zungqr", are_complex=True), calls_library=True)
@native_lowering("qr", fits=_lapack_predicate("dgeqrf", "dorgqr"),
                 fits_open=_open_predicate("dgeqrf", "dorgqr"), work=_single_matrix_work(8),
                 calls_library=True)  # fmt: skip
def write_qr(region: LoweringContext, node: Node) -> None:
    """Decompose by Householder reflections; r is the upper triangle, and a second routine forms q."""
    rows, columns = shape_of(node.inputs[0].type)[-2:]
    q_columns, short_side = shape_of(node.results[0].type)[-1], minimum(rows, columns)
    geqrf, orgqr = routine_of(_operand_dtype(node), "dgeqrf"), routine_of(_operand_dtype(node), "dorgqr", "zungqr")
    query_arguments = (rows, columns, None, rows, *[None] * 4)
    queried_geqrf_length = workspace_sizes(region, geqrf, *query_arguments, workspace_position=5).elements
    query_arguments = (rows, q_columns, short_side, None, rows, *[None] * 4)
    queried_orgqr_length = workspace_sizes(region, orgqr, *query_arguments, workspace_position=6).elements
    batch = Batch(region, node, queried_geqrf_length, queried_orgqr_length, result_ranks=[2, 2])
    out, b = batch.out, batch.b
    geqrf_length, orgqr_length = maximum(queried_geqrf_length, columns), maximum(queried_orgqr_length, q_columns)
    matrix, reflector_scales = batch.new_matrix(times(rows, maximum(columns, q_columns))), batch.new_matrix(short_side)
    workspace = batch.new_matrix(maximum(geqrf_length, orgqr_length))
    with batch.loop_over_matrices():
        q, r = batch.results
        batch.transpose(batch.operands[0], matrix, rows, columns)
        # Neither routine fails, whatever the numbers.
        batch.call_lapack(geqrf, rows, columns, matrix, rows, reflector_scales, workspace, geqrf_length)
        q_width, r_width = (str(batch.size_operand(count)) for count in (q_columns, columns))
        with out.loop("0", q_width) as i, out.loop("0", r_width) as j:
            is_below = b.wrap(bool_, out.icmp("sgt", i, j))
            element = _zero_if(b, is_below, load(b, batch.lapack_dtype, matrix, batch.element_offset(j, rows, i)))
            store(b, batch.cast(element, batch.dtype), r, batch.element_offset(i, columns, j))
        batch.call_lapack(orgqr, rows, q_columns, short_side, matrix, rows, reflector_scales, workspace, orgqr_length)
        batch.transpose(matrix, q, q_columns, rows, from_lapack=True)
    batch.run(plus(_LAPACK_CALL_COST, _work_estimate(8, rows, columns, short_side)))


@complex_lowering("eigh", fits=_lapack_predicate("zheevd", are_complex=True), calls_library=True)
@native_lowering("eigh", fits=_lapack_predicate("dsyevd"), fits_open=_open_predicate("dsyevd"),
                 work=_single_matrix_work(60), calls_library=True)  # fmt: skip
def write_eigh(region: LoweringContext, node: Node) -> None:
    """Compute eigenvalues, and eigenvectors if these are read, of the matrix whose lower triangle is given."""
    n, has_vectors = _column_count(node), region.remaining_uses[node.results[1]] > 0
    job = "V" if has_vectors else "N"
    name, query_arguments = routine_of(_operand_dtype(node), "dsyevd", "zheevd"), (job, "L", n, None, n, *[None] * 6)
    positions, has_complex = {"workspace_position": 6, "integer_workspace_position": 8}, _operand_dtype(node).is_complex
    if has_complex:
        query_arguments = (*query_arguments, None, None)
        positions |= {"real_workspace_position": 8, "integer_workspace_position": 10}
    length, integer_length, real_length = workspace_sizes(region, name, *query_arguments, **positions)
    batch = Batch(region, node, length, integer_length, real_length, result_ranks=[1, 2])
    matrix, eigenvalues = batch.new_matrix(times(n, n)), batch.new_workspace(n)
    workspace, integer_workspace = batch.new_matrix(length), batch.new_workspace(integer_length)
    real_workspace = (batch.new_workspace(real_length), real_length) if has_complex else ()
    with batch.loop_over_matrices():
        values, vectors = batch.results
        batch.transpose(batch.operands[0], matrix, n, n)
        workspaces = (workspace, length, *real_workspace, integer_workspace, integer_length)
        failure = batch.call_lapack(name, job, "L", n, matrix, n, eigenvalues, *workspaces)
        write_failure(batch, node, failure, ResultMemory(eigenvalues, n, False))
        batch.copy_real(eigenvalues, values, n)
        if has_vectors:
            batch.transpose(matrix, vectors, n, n, from_lapack=True)
    batch.run(plus(4 * _LAPACK_CALL_COST, _work_estimate(60, n, n, n)))


@complex_lowering("svd", fits=_lapack_predicate("zgesdd", are_complex=True), calls_library=True)
@native_lowering("svd", fits=_lapack_predicate("dgesdd"), fits_open=_open_predicate("dgesdd"),
                 work=_single_matrix_work(80), calls_library=True)  # fmt: skip
def write_svd(region: LoweringContext, node: Node) -> None:
    """Compute a singular value decomposition.

    LAPACK returns the adjoint of v in column-major order. In row-major order the same memory is the conjugate of v, so
    it is copied with conjugation, and not transposed.
    """
    rows, columns = shape_of(node.inputs[0].type)[-2:]
    short_side, has_vectors = minimum(rows, columns), len(node.results) == 3
    is_full = has_vectors and node.attributes.get("full_matrices", False)
    job = "A" if is_full else "S" if has_vectors else "N"
    u_columns, v_columns = (rows, columns) if is_full else (short_side, short_side)
    query_arguments: tuple[Any, ...] = (job, rows, columns, None, rows, None, None, rows, None, v_columns)
    name, has_complex = routine_of(_operand_dtype(node), "dgesdd"), _operand_dtype(node).is_complex
    query_arguments = (*query_arguments, *[None] * (5 if has_complex else 4))
    length = workspace_sizes(region, name, *query_arguments, workspace_position=10).elements
    batch = Batch(region, node, length, result_ranks=[1, 2, 2][: len(node.results)])
    matrix, singular_values = batch.new_matrix(times(rows, columns)), batch.new_workspace(short_side)
    vector_sizes = times(rows, u_columns), times(v_columns, columns)
    u, v = (batch.new_matrix(size if has_vectors else 1) for size in vector_sizes)
    # At least the sizes that the manual of gesdd requires for any shape.
    workspace, integer_workspace = batch.new_matrix(length), batch.new_workspace(times(8, short_side))
    real_length = times(short_side, plus(plus(times(7, short_side), times(2, maximum(rows, columns))), 12))
    real_workspace = (batch.new_workspace(real_length),) if has_complex else ()
    with batch.loop_over_matrices():
        batch.transpose(batch.operands[0], matrix, rows, columns)
        buffers = (singular_values, u, rows, v, v_columns, workspace, length, *real_workspace, integer_workspace)
        failure = batch.call_lapack(name, job, rows, columns, matrix, rows, *buffers)
        u_memory, v_memory = ResultMemory(u, vector_sizes[0], True), ResultMemory(v, vector_sizes[1], True)
        values_memory = ResultMemory(singular_values, short_side, False)
        write_failure(batch, node, failure, values_memory, *([u_memory, v_memory] if has_vectors else []))
        batch.copy_real(singular_values, batch.results[0], short_side)
        if has_vectors:
            batch.transpose(u, batch.results[1], u_columns, rows, from_lapack=True)
            batch.copy(v, batch.results[2], times(v_columns, columns), from_lapack=True, conjugate=True)
    batch.run(plus(5 * _LAPACK_CALL_COST, _work_estimate(80, rows, columns, short_side)))
