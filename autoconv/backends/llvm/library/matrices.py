"""Linear algebra in exported C libraries, in place of LAPACK: column-major matrices, and code that routines share.

A routine has the name and the parameters of the LAPACK routine that native code calls, of float64 ("d") or complex128
("z"). Parameters are passed by reference; the last one is `info`, which is 0, or not 0 where the routine failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, Pair, load, store
from autoconv.backends.llvm.ir.signature import Parameter, Signature
from autoconv.backends.llvm.ir.types import memory_type
from autoconv.graph.dtypes import DType, bool_, float64

Index = Operand | str | int


class Matrix:
    """A column-major matrix in memory; `column_stride` is the distance between columns, in elements."""

    def __init__(self, routine: RoutineText, pointer: object, column_stride: Index) -> None:
        self._routine = routine
        self.pointer = str(pointer)
        self.column_stride = column_stride

    def _offset(self, row: Index, column: Index) -> Operand:
        """Return the distance of an element from the first one, in elements."""
        out = self._routine.out
        return out.add(out.mul(column, self.column_stride), row)

    def get(self, row: Index, column: Index) -> Element:
        """Load an element."""
        return load(self._routine.b, self._routine.dtype, self.pointer, self._offset(row, column))

    def set(self, row: Index, column: Index, x: Element) -> None:
        """Store an element."""
        store(self._routine.b, x, self.pointer, self._offset(row, column))

    def submatrix(self, row: Index, column: Index) -> Matrix:
        """Return the view of the elements from (row, column) to the end."""
        routine = self._routine
        return Matrix(routine, routine.address_after(self.pointer, self._offset(row, column)), self.column_stride)


class RoutineText:
    """The text of a routine: `integer` loads parameters; arithmetic is that of `dtype`, real or complex."""

    def __init__(self, module: ModuleText, name: str, parameters: str, dtype: DType) -> None:
        parameter_list = [Parameter("ptr", f"%{parameter}") for parameter in parameters.split()]
        self.out = FunctionText(module, Signature("void", parameter_list, "nounwind", f"lapack_{name}", exported=True))
        self.b = ElementWriter(self.out)
        self.dtype = dtype
        self.is_complex = dtype.is_complex
        self.out.store("i64", 0, "%info")

    def integer(self, name: str) -> Operand:
        """Load an integer parameter."""
        return self.out.load("i64", f"%{name}")

    def is_letter(self, name: str, letter: str) -> Operand:
        """Return whether a parameter is a letter, as an i1."""
        return self.out.icmp("eq", self.out.load("i8", f"%{name}"), ord(letter))

    def matrix(self, name: str, column_stride: Index) -> Matrix:
        """Return the matrix that a parameter points to."""
        return Matrix(self, f"%{name}", column_stride)

    def finish(self) -> None:
        """End the routine."""
        self.out.ret()
        self.out.finish()

    def fail_if(self, condition: object) -> None:
        """Report in `info` that the routine fails, if an i1 holds."""
        with self.out.if_(str(condition)):
            self.out.store("i64", 1, "%info")

    def address_after(self, pointer: object, count: object) -> str:
        """Return the address after that many numbers."""
        return self.out.gep("double", pointer, self.out.mul(count, 2 if self.is_complex else 1))

    # ---- numbers

    def real(self, number: float) -> Element:
        """Return a constant real number."""
        return self.b.constant(number, float64)

    def number(self, real: Element | float) -> Element:
        """Return a real number as one of the dtype."""
        part = real if isinstance(real, Element) else self.real(real)
        return self.b.pair(part, self.real(0.0)) if self.is_complex else part

    def conjugate(self, x: Element) -> Element:
        """Return the complex conjugate; of a real number, the number itself."""
        return self.b.pair(x.real, -x.imag) if isinstance(x, Pair) else x

    def subtract(self, x: Element, y: Element) -> Element:
        if isinstance(x, Pair) and isinstance(y, Pair):
            return self.b.pair(x.real - y.real, x.imag - y.imag)
        return x - y

    def scale(self, x: Element, factor: Element) -> Element:
        """Multiply by a real number."""
        return self.b.pair(x.real * factor, x.imag * factor) if isinstance(x, Pair) else x * factor

    def real_part(self, x: Element) -> Element:
        """Return the real part; of a real number, the number itself."""
        return x.real if isinstance(x, Pair) else x

    def magnitude(self, x: Element) -> Element:
        """Return the absolute value."""
        return self.b.libm("hypot", x.real, x.imag) if isinstance(x, Pair) else self.b.intrinsic("fabs", x)

    def square(self, x: Element) -> Element:
        """Return the square of the magnitude."""
        return x.real * x.real + x.imag * x.imag if isinstance(x, Pair) else x * x

    def reciprocal(self, x: Element) -> Element:
        """Return 1/x, by a division by the larger part (Smith, 1962)."""
        if not isinstance(x, Pair):
            return 1.0 / x
        is_real_larger = self.b.intrinsic("fabs", x.real) >= self.b.intrinsic("fabs", x.imag)
        orders = (x.real, x.imag), (x.imag, x.real)
        larger_part, smaller_part = (self.b.select(is_real_larger, *parts) for parts in orders)
        ratio = smaller_part / larger_part
        # Magnitudes of the result's parts in the places of the operand's larger part and of its smaller part.
        part_at_larger = 1.0 / (larger_part + smaller_part * ratio)
        part_at_smaller = ratio * part_at_larger
        real = self.b.select(is_real_larger, part_at_larger, part_at_smaller)
        return self.b.pair(real, self.b.select(is_real_larger, -part_at_smaller, -part_at_larger))

    def select(self, condition: Element, x: Element, y: Element) -> Element:
        if isinstance(x, Pair) and isinstance(y, Pair):
            real, imag = self.b.select(condition, x.real, y.real), self.b.select(condition, x.imag, y.imag)
            return self.b.pair(real, imag)
        return self.b.select(condition, x, y)

    # ---- loops

    @contextmanager
    def loop(self, start: Index, stop: Index) -> Iterator[Operand]:
        """Write a loop from `start` up to `stop`; the block gets the counter."""
        with self.out.loop(str(start), str(stop)) as i:
            yield i

    def total(self, dtype: DType, start: Index, stop: Index, term: Callable[[Operand], Element]) -> Element:
        """Return the sum of `term(i)` from `start` up to `stop`, in an order that suits the processor."""
        cells = [self.cell(float64) for _ in range(2 if dtype.is_complex else 1)]
        with self.loop(start, stop) as i:
            x = term(i)
            for cell, part in zip(cells, (x.real, x.imag) if isinstance(x, Pair) else (x,), strict=True):
                self.out.store("double", self.out.op("fadd reassoc", self.out.load("double", cell), part.ir), cell)
        parts = [self.get(cell, float64) for cell in cells]
        return self.b.pair(*parts) if dtype.is_complex else parts[0]

    def cell(self, dtype: DType) -> str:
        """Return a cell that holds 0."""
        cell = self.out.alloca(memory_type(dtype))
        self.put(cell, self.b.constant(0, dtype) if not dtype.is_complex else self.number(0.0))
        return cell

    def get(self, cell: str, dtype: DType) -> Element:
        """Load the number in a cell."""
        return load(self.b, dtype, cell, 0)

    def put(self, cell: str, x: Element) -> None:
        """Store a number in a cell."""
        store(self.b, x, cell, 0)

    def truth(self, condition: object) -> Element:
        """Return an i1 as an element."""
        return self.b.wrap(bool_, str(condition))
