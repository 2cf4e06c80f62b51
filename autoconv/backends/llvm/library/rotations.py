"""Native routines for C libraries: sequences of plane rotations, made by implicit QR sweeps and applied to columns.

A sweep diagonalises a real tridiagonal or bidiagonal matrix step by step. See Golub and Van Loan, Matrix Computations,
sections 8.3 and 8.6. Callers scale the matrices so that squares of their elements do not overflow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.ir.signature import Parameter, Signature
from autoconv.backends.llvm.library.matrices import Matrix, RoutineText
from autoconv.graph.dtypes import float64

_MAX_SWEEPS = 60  # per row; two are usually enough
_EPSILON = 2.0**-52  # distance from 1 to the next double
_MIN_RADIUS = 1e-140  # the squares of smaller numbers lose digits
_LANES = 8  # rows that are rotated together
# Parameters of the function that rotates columns; `count` and `column_stride` are numbers of doubles.
_PARAMETERS = ("x", "count", "column_stride", "cosines", "sines", "first", "last")


class Rotations(NamedTuple):
    """The cosines and sines of a sweep, one of each for a pair of adjacent columns."""

    cosines: str
    sines: str

    def store(self, r: RoutineText, k: Operand, cosine: Element, sine: Element) -> None:
        """Store the rotation of the columns k and k + 1."""
        store(r.b, cosine, self.cosines, k)
        store(r.b, sine, self.sines, k)

    def apply(self, r: RoutineText, x: Matrix, rows: Operand, first: Operand, last: Operand) -> None:
        """Rotate the columns k and k + 1 of a matrix: x' = c·x + s·y and y' = c·y - s·x, for first ≤ k < last.

        `rows` is the height of the matrix. The parts of complex elements are rotated as separate rows.
        """
        doubles, column_stride = (r.out.mul(size, 2 if r.is_complex else 1) for size in (rows, x.column_stride))
        r.out.call(_rotate_columns(r), x.pointer, doubles, column_stride, self.cosines, self.sines, first, last)


class _Diagonals(NamedTuple):
    """A real matrix in memory: a diagonal with the elements d, a diagonal next to it with the elements e.

    An element of at most `threshold` counts as zero.
    """

    r: RoutineText
    diagonal: str
    off_diagonal: str
    threshold: Element

    def d(self, k: object) -> Element:
        """Load an element of the diagonal."""
        return load(self.r.b, float64, self.diagonal, k)

    def e(self, k: object) -> Element:
        """Load an element of the diagonal next to it."""
        return load(self.r.b, float64, self.off_diagonal, k)

    def set_d(self, k: object, x: Element) -> None:
        """Store an element of the diagonal."""
        store(self.r.b, x, self.diagonal, k)

    def set_e(self, k: object, x: Element) -> None:
        """Store an element of the diagonal next to it."""
        store(self.r.b, x, self.off_diagonal, k)

    def is_negligible(self, k: Operand) -> Element:
        """Return whether e[k] is negligible beside d[k] and d[k + 1], or at most the threshold."""
        b = self.r.b
        magnitude = b.intrinsic("fabs", self.e(k))
        diagonal_sum = b.intrinsic("fabs", self.d(k)) + b.intrinsic("fabs", self.d(self.r.out.add(k, 1)))
        return (magnitude <= diagonal_sum * _EPSILON) | (magnitude <= self.threshold)


def diagonalise_tridiagonal(r: RoutineText, n: Operand, diagonal: str, off_diagonal: str, rotations: Rotations,
                            apply_sweep: Callable[[Operand, Operand], None]) -> None:  # fmt: skip
    """Replace the diagonal by the eigenvalues; `apply_sweep` gets the first and the last row of each sweep."""
    matrix = _Diagonals(r, diagonal, off_diagonal, _threshold(r, n, diagonal, off_diagonal))

    def sweep(low: Operand, high: Operand) -> None:
        _sweep_tridiagonal(matrix, low, high, rotations)
        apply_sweep(low, high)

    _repeat_sweeps(matrix, n, sweep)


def diagonalise_bidiagonal(r: RoutineText, n: Operand, diagonal: str, off_diagonal: str, left: Rotations,
                           right: Rotations, apply_sweep: Callable[[Operand, Operand], None]) -> None:  # fmt: skip
    """Replace the diagonal by the singular values, with signs; see `diagonalise_tridiagonal`."""
    matrix = _Diagonals(r, diagonal, off_diagonal, _threshold(r, n, diagonal, off_diagonal))

    def sweep(low: Operand, high: Operand) -> None:
        _sweep_bidiagonal(matrix, low, high, left, right)
        apply_sweep(low, high)

    _repeat_sweeps(matrix, n, sweep)


def _threshold(r: RoutineText, n: Operand, diagonal: str, off_diagonal: str) -> Element:
    """Return the largest magnitude times a sixteenth of the epsilon."""
    cell = r.cell(float64)
    for pointer, count in ((diagonal, n), (off_diagonal, r.out.sub(n, 1))):
        with r.loop(0, count) as k:
            magnitude, largest_so_far = r.b.intrinsic("fabs", load(r.b, float64, pointer, k)), r.get(cell, float64)
            r.put(cell, r.b.select(magnitude > largest_so_far, magnitude, largest_so_far))
    return r.get(cell, float64) * (_EPSILON / 16)


def _repeat_sweeps(matrix: _Diagonals, n: Operand, sweep: Callable[[Operand, Operand], None]) -> None:
    """Write sweeps over the last block that is not diagonal, until there is none; the routine fails after too many."""
    r, out = matrix.r, matrix.r.out
    high_cell, low_cell, sweep_count_cell = out.alloca("i64"), out.alloca("i64"), out.alloca("i64", "0")
    out.store("i64", out.sub(n, 1), high_cell)
    limit = out.mul(n, _MAX_SWEEPS)

    def has_next() -> str:
        is_open = out.icmp("sgt", out.load("i64", high_cell), 0)
        return out.and_(is_open, out.icmp("slt", out.load("i64", sweep_count_cell), limit))

    with out.while_(has_next):
        high = out.load("i64", high_cell)
        before_high = out.sub(high, 1)
        is_done = matrix.is_negligible(before_high).ir

        def shrink() -> None:
            matrix.set_e(before_high, r.real(0.0))
            out.store("i64", before_high, high_cell)

        def sweep_block() -> None:
            """Find the first row of the block that ends at `high`, and sweep the block."""
            out.store("i64", out.add(out.load("i64", sweep_count_cell), 1), sweep_count_cell)
            out.store("i64", before_high, low_cell)

            def is_coupled() -> str:
                low = out.load("i64", low_cell)
                is_inside = out.icmp("sgt", low, 0)
                row_before = out.select(is_inside, out.sub(low, 1), low)
                return out.and_(is_inside, out.not_(matrix.is_negligible(row_before).ir))

            with out.while_(is_coupled):
                out.store("i64", out.sub(out.load("i64", low_cell), 1), low_cell)
            sweep(out.load("i64", low_cell), high)

        out.either(is_done, shrink, sweep_block)
    r.fail_if(out.icmp("sgt", out.load("i64", high_cell), 0))


def _sweep_tridiagonal(matrix: _Diagonals, low: Operand, high: Operand, rotations: Rotations) -> None:
    """Write a QR step with Wilkinson's shift on the rows from `low` to `high`."""
    r, out, b = matrix.r, matrix.r.out, matrix.r.b
    before_high = out.sub(high, 1)
    half, corner = (matrix.d(before_high) - matrix.d(high)) * 0.5, matrix.e(before_high)
    radius = b.intrinsic("sqrt", half * half + corner * corner)
    divisor = half + b.intrinsic("copysign", radius, half)
    is_zero = divisor.same(0.0)
    quotient = corner / b.select(is_zero, r.real(1.0), divisor) * corner
    # The next rotation makes z zero beside x. After the first rotation, z is the bulge, outside of the band.
    x_cell, z_cell = r.cell(float64), r.cell(float64)
    r.put(x_cell, matrix.d(low) - (matrix.d(high) - quotient))
    r.put(z_cell, matrix.e(low))
    with r.loop(low, high) as k:
        next_row = out.add(k, 1)
        cosine, sine, length = _rotation(r, r.get(x_cell, float64), r.get(z_cell, float64))
        rotations.store(r, k, cosine, sine)
        with out.if_(out.icmp("sgt", k, low)):
            matrix.set_e(out.sub(k, 1), length)
        first, middle, second = matrix.d(k), matrix.e(k), matrix.d(next_row)
        shear = cosine * sine * middle * 2.0
        matrix.set_d(k, cosine * cosine * first + shear + sine * sine * second)
        matrix.set_d(next_row, sine * sine * first - shear + cosine * cosine * second)
        next_x = cosine * sine * (second - first) + (cosine * cosine - sine * sine) * middle
        matrix.set_e(k, next_x)
        r.put(x_cell, next_x)
        with out.if_(out.icmp("slt", next_row, high)):
            r.put(z_cell, sine * matrix.e(next_row))
            matrix.set_e(next_row, cosine * matrix.e(next_row))


def _sweep_bidiagonal(matrix: _Diagonals, low: Operand, high: Operand, left: Rotations, right: Rotations) -> None:
    """Write a QR step of Golub and Kahan on the rows from `low` to `high`."""
    r, out = matrix.r, matrix.r.out
    shift, top = _bidiagonal_shift(matrix, low, high), matrix.d(low)
    # The next rotation makes z zero beside x. After the first rotation, z is the bulge, outside of the band.
    x_cell, z_cell = r.cell(float64), r.cell(float64)
    is_shifted = shift > 0.0
    divisor = r.b.select(is_shifted, top, r.real(1.0))
    sign = r.b.intrinsic("copysign", r.real(1.0), top)
    shifted_top = (r.b.intrinsic("fabs", top) - shift) * (sign + shift / divisor)
    r.put(x_cell, r.b.select(is_shifted, shifted_top, top))
    r.put(z_cell, matrix.e(low))
    with r.loop(low, high) as k:
        next_row = out.add(k, 1)
        cosine, sine, length = _rotation(r, r.get(x_cell, float64), r.get(z_cell, float64))
        right.store(r, k, cosine, sine)
        with out.if_(out.icmp("sgt", k, low)):
            matrix.set_e(out.sub(k, 1), length)
        first, middle, second = matrix.d(k), matrix.e(k), matrix.d(next_row)
        middle_after, below, second_after = cosine * middle - sine * first, sine * second, cosine * second
        cosine_left, sine_left, length_left = _rotation(r, cosine * first + sine * middle, below)
        left.store(r, k, cosine_left, sine_left)
        matrix.set_d(k, length_left)
        next_x = cosine_left * middle_after + sine_left * second_after
        matrix.set_d(next_row, cosine_left * second_after - sine_left * middle_after)
        matrix.set_e(k, next_x)
        r.put(x_cell, next_x)
        with out.if_(out.icmp("slt", next_row, high)):
            r.put(z_cell, sine_left * matrix.e(next_row))
            matrix.set_e(next_row, cosine_left * matrix.e(next_row))


def _bidiagonal_shift(matrix: _Diagonals, low: Operand, high: Operand) -> Element:
    """Return the smaller singular value of the last two rows.

    Return 0, no shift, if an element of the diagonal counts as zero. Return 0 also if the square of the ratio of the
    shift to the first element of the diagonal is below the epsilon.
    """
    r, out, b = matrix.r, matrix.r.out, matrix.r.b
    smallest_cell = r.cell(float64)
    r.put(smallest_cell, b.intrinsic("fabs", matrix.d(high)))
    with r.loop(low, high) as k:
        magnitude, smallest_so_far = b.intrinsic("fabs", matrix.d(k)), r.get(smallest_cell, float64)
        r.put(smallest_cell, b.select(magnitude < smallest_so_far, magnitude, smallest_so_far))
    before_high = out.sub(high, 1)
    first, second = (b.intrinsic("fabs", matrix.d(row)) for row in (before_high, high))
    corner = matrix.e(before_high)
    squares = [part * part + corner * corner for part in (first + second, first - second)]
    total = b.intrinsic("sqrt", squares[0]) + b.intrinsic("sqrt", squares[1])
    is_singular = (r.get(smallest_cell, float64) <= matrix.threshold) | total.same(0.0)
    shift = first * second * 2.0 / b.select(is_singular, r.real(1.0), total)
    ratio = shift / b.select(is_singular, r.real(1.0), b.intrinsic("fabs", matrix.d(low)))
    return b.select(is_singular | (ratio * ratio < _EPSILON), r.real(0.0), shift)


class _Rotation(NamedTuple):
    """A plane rotation, and the length of the vector that it turns to the first axis."""

    cosine: Element
    sine: Element
    length: Element


def _rotation(r: RoutineText, x: Element, y: Element) -> _Rotation:
    """Return the rotation with cosine·x + sine·y = length and cosine·y - sine·x = 0; of no angle for a tiny length."""
    b = r.b
    length = b.intrinsic("sqrt", x * x + y * y)
    is_zero = length < _MIN_RADIUS
    divisor = b.select(is_zero, r.real(1.0), length)
    cosine, sine = b.select(is_zero, r.real(1.0), x / divisor), b.select(is_zero, r.real(0.0), y / divisor)
    return _Rotation(cosine, sine, length)


def _rotate_columns(r: RoutineText) -> str:
    """Write the function that applies the rotations of a sweep, some rows at a time, and return its name."""
    parameters = [Parameter("ptr" if name in ("x", "cosines", "sines") else "i64", f"%{name}") for name in _PARAMETERS]
    out = FunctionText(r.out.module, Signature("void", parameters, "noinline nounwind"))
    vector = f"<{_LANES} x double>"
    strip_count = out.op("sdiv", "%count", _LANES)

    def splat(number: Operand) -> Operand:
        first = Operand.of(out.new(f"insertelement {vector} poison, double {number}, i32 0"), vector)
        zeros = f"<{_LANES} x i32> zeroinitializer"
        return Operand.of(out.new(f"shufflevector {vector} {first}, {vector} poison, {zeros}"), vector)

    def rotate(ir_type: str, start: Operand, spread: Callable[[Operand], Operand]) -> None:
        """Write the rotations of one row, or of a vector of rows that begins with the row `start`."""
        base, column_cell = out.gep("double", "%x", start), out.alloca(ir_type)

        def address(column: Operand | str) -> Operand:
            return out.gep("double", base, out.mul(column, "%column_stride"))

        out.store(ir_type, out.load(ir_type, address("%first"), ", align 8"), column_cell)
        with out.loop("%first", "%last", unrolled=False) as k:
            cosine, sine = (spread(out.load("double", out.gep("double", part, k))) for part in ("%cosines", "%sines"))
            x, y = out.load(ir_type, column_cell), out.load(ir_type, address(out.add(k, 1)), ", align 8")
            rotated_x = out.op("fadd", out.op("fmul", cosine, x), out.op("fmul", sine, y))
            out.store(ir_type, rotated_x, address(k), ", align 8")
            out.store(ir_type, out.op("fsub", out.op("fmul", cosine, y), out.op("fmul", sine, x)), column_cell)
        out.store(ir_type, out.load(ir_type, column_cell), address("%last"), ", align 8")

    with out.loop("0", strip_count) as strip:
        rotate(vector, out.mul(strip, _LANES), splat)
    with out.loop(out.mul(strip_count, _LANES), "%count") as row:
        rotate("double", row, lambda number: number)
    out.ret()
    return out.finish("rotate_columns")
