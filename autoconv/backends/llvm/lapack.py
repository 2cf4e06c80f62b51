"""Calls of LAPACK, the one that NumPy brought along, for each matrix of a batch.

As NumPy does, they compute in float64 or complex128, whatever the dtype of the matrices.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from autoconv.backends.llvm import abi
from autoconv.backends.llvm.blas import alone
from autoconv.backends.llvm.natives import PART, Routine, call
from autoconv.backends.llvm.positions import Position, linear, plus, times, unravelled
from autoconv.backends.llvm.roles import is_array, is_scalar, sizes
from autoconv.backends.llvm.scalars import Element, ElementWriter, Pair, load, memory, store
from autoconv.backends.llvm.split import Split
from autoconv.backends.llvm.threads import available, thread_count
from autoconv.backends.llvm.transposes import transposed
from autoconv.backends.llvm.values import Object
from autoconv.backends.llvm.vectors import registers
from autoconv.graph.dtypes import DType, complex128, float64
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import TensorType

if TYPE_CHECKING:
    from autoconv.backends.llvm.regions import Region

Argument = int | str  # a number or a character, which go by reference, or the register of a pointer

_PART = 400_000  # units of 0.05 ns that a part takes at least
_ON_STACK = 1 << 14  # bytes that a part has on its stack
_SMALL = 2000  # elements of a matrix up to which LAPACK asks for no threads


def has(*names: str) -> bool:
    """Whether the LAPACK that is there has those routines."""
    return all(f"lapack_{name}" in abi.symbols() for name in names)


@functools.cache
def workspace(
    name: str, *arguments: Argument | None, work: int, integers: int | None = None, reals: int | None = None
) -> tuple[int, int, int]:
    """How many numbers, integers, and of a routine of complex numbers real ones, LAPACK would like to have to work in:
    `arguments` as it takes them, None for what it does not look at; at `work`, `integers` and `reals` stand the
    answers, each before its length."""
    kinds: dict[int | None, Any] = {integers: ctypes.c_int64(0), reals: ctypes.c_double(0)}
    kinds[work] = (ctypes.c_double * 2)()  # a complex number writes both
    given: list[Any] = []
    for x in arguments:
        given.append(ctypes.c_int64(x) if isinstance(x, int) else ctypes.c_char((x or " ").encode()))
    for place, answer in kinds.items():
        if place is not None:
            given[place : place + 2] = [answer, ctypes.c_int64(-1)]
    ctypes.CFUNCTYPE(None)(abi.symbols()[f"lapack_{name}"])(*map(ctypes.byref, given))
    found = (kinds[work][0], kinds[integers].value if integers else 0, kinds[reals].value if reals else 0)
    return tuple(max(int(number), 1) for number in found)  # type: ignore[return-value]


class Batch:
    """A routine that goes over the matrices of `node`, as many as its results have: `x` and `results` are pointers to
    what belongs to the one at hand, `spare` gives memory for its own use.

        with batch.each():
            … batch.lapack("getrf", n, n, a, n, pivots)
        batch.run(work of one matrix, in units of 0.05 ns)
    """

    def __init__(self, region: Region, node: Node, ranks: Sequence[int]) -> None:
        self._region, self._node = region, node
        type_: Any = node.inputs[0].type
        self.dtype: DType = type_.dtype
        self.wide = complex128 if self.dtype.is_complex else float64  # that LAPACK computes in
        shape = sizes(node.results[0].type)
        self._batch = shape[: len(shape) - ranks[0]]
        self._ranks = ranks
        inputs = [f"ptr noalias readonly %x{i}" for i in range(len(node.inputs))]
        results = [f"ptr noalias %result{i}" for i in range(len(node.results))]
        self._arguments = [*inputs, *results, "ptr %spare", "ptr %failed"]
        self.routine = Routine(region, [*self._arguments, *PART], "i1")
        self.out, self.b = self.routine.out, self.routine.b
        self._bytes = 0
        self._own = self.out.alloca("ptr")
        self._info = self.out.alloca("i64", "0")
        self.x: list[str] = []
        self.results: list[str] = []

    @property
    def count(self) -> int:
        return math.prod(self._batch)

    @contextmanager
    def each(self) -> Iterator[None]:
        """The loop over the matrices."""
        with self.out.loop("%first", "%last") as number:
            index = unravelled(self.out, number, self._batch)
            self.x = [self._at(f"%x{i}", value, 2, index) for i, value in enumerate(self._node.inputs)]
            self.results = [
                self._at(f"%result{i}", value, rank, index)
                for i, (value, rank) in enumerate(zip(self._node.results, self._ranks, strict=True))
            ]
            yield

    def _at(self, pointer: str, value: Value, rank: int, index: Sequence[Position]) -> str:
        """Of the matrix (or vector, or number) that a value has at an index of the batch, which it is broadcast to."""
        shape = sizes(value.type)
        batch, one = shape[: len(shape) - rank], shape[len(shape) - rank :]
        aligned = index[len(index) - len(batch) :]
        place = tuple(0 if size == 1 else i for size, i in zip(batch, aligned, strict=True))
        by = times(self.out, linear(self.out, place, batch), math.prod(one))
        if by == 0:
            return pointer
        kind = memory(value.type.dtype)  # type: ignore[union-attr]
        return self.out.new(f"getelementptr inbounds {kind}, ptr {pointer}, i64 {by}")

    def matrix(self, count: int) -> str:
        """Memory for so many of the numbers that LAPACK computes with."""
        return self.spare(count * self.wide.size // 8)

    def spare(self, count: int) -> str:
        """Memory for so many doubles or 64-bit integers, that each part has for itself."""
        start = self._bytes
        self._bytes += -(-max(count, 1) // 8) * 64
        whole = self.out.new(f"load ptr, ptr {self._own}")
        return self.out.new(f"getelementptr inbounds i8, ptr {whole}, i64 {start}")

    def routine_of(self, real: str, complex_: str = "") -> str:
        """The name of the routine for these numbers, from that for doubles."""
        return (complex_ or "z" + real[1:]) if self.dtype.is_complex else real

    def lapack(self, name: str, *arguments: Argument) -> str:
        """Calls the routine, `info` behind the arguments; answers the i1 that says whether it failed."""
        out = self.out
        given = []
        for argument in arguments:
            if isinstance(argument, int):
                given.append(out.alloca("i64", str(argument)))
            elif len(argument) == 1:
                given.append(out.alloca("i8", str(ord(argument))))
            else:
                given.append(argument)
        given.append(self._info)
        function = out.module.declare(f"lapack_{name}", "void", ", ".join(["ptr"] * len(given)))
        out.line(f"call void {function}({', '.join(f'ptr {one}' for one in given)})")
        return out.new(f"icmp ne i64 {out.new(f'load i64, ptr {self._info}')}, 0")

    def fail_if(self, failure: str) -> None:
        """Where the i1 holds, the op's kernel has the last word."""
        before = self.out.new("load i8, ptr %failed")
        self.out.line(f"store i8 {self.out.new(f'select i1 {failure}, i8 1, i8 {before}')}, ptr %failed")

    def cell(self, count: int) -> str | None:
        """Memory for a matrix as LAPACK has its numbers; None where the op's are those."""
        return None if self.dtype is self.wide else self.matrix(count)

    def turn(self, source: str, target: str, rows: int, columns: int, back: bool = False) -> None:
        """Copies a matrix, `rows` by `columns` side by side by rows, so that it lies by columns: one of the op's to
        LAPACK's, or (`back`) the other way."""
        machine = registers()
        lanes = machine.size // 8 if machine is not None else 0
        if min(rows, columns) == 1:
            self.copy(source, target, rows * columns, back)
        elif self.dtype is float64 and lanes and min(rows, columns) >= lanes:
            name = transposed(self.out.module, self.dtype, rows, columns, lanes)
            self.out.line(f"call void @{name}(ptr {source}, ptr {target})")
        else:
            out, (from_, to) = self.out, self._kinds(back)
            with out.loop("0", str(rows)) as i, out.loop("0", str(columns)) as j:
                found = load(self.b, from_, source, plus(out, times(out, i, columns), j))
                store(self.b, self.cast(found, to), target, plus(out, times(out, j, rows), i))

    def copy(self, source: str, target: str, count: int, back: bool = False, conjugate: bool = False) -> None:
        """Numbers of the op's to LAPACK's, or (`back`) the other way; of complex ones the conjugates, if told."""
        from_, to = self._kinds(back)
        with self.out.loop("0", str(count)) as i:
            found = load(self.b, from_, source, i)
            if conjugate and isinstance(found, Pair):
                found = self.b.pair(found.real, -found.imag)
            store(self.b, self.cast(found, to), target, i)

    def copy_real(self, source: str, target: str, count: int) -> None:
        """Doubles of LAPACK's to a result of real numbers."""
        with self.out.loop("0", str(count)) as i:
            store(self.b, self.b.cast(load(self.b, float64, source, i), self.dtype.real_dtype), target, i)

    def cast(self, x: Element, dtype: DType) -> Element:
        """The number in another precision."""
        if isinstance(x, Pair):
            return self.b.pair(*(self.b.cast(part, dtype.real_dtype) for part in (x.real, x.imag)))
        return self.b.cast(x, dtype)

    def numbers(self, source: str, rows: int, columns: int) -> list[list[Element]]:
        """A matrix of the op's in registers, as doubles."""
        return [
            [self.b.cast(load(self.b, self.dtype, source, i * columns + j), float64) for j in range(columns)]
            for i in range(rows)
        ]

    def put(self, found: Sequence[Element], which: int = 0) -> None:
        """Numbers into a result, one after the other."""
        kind: Any = self._node.results[which].type
        for place, x in enumerate(found):
            store(self.b, self.cast(x, kind.dtype), self.results[which], place)

    @contextmanager
    def unless(self, fine: Element) -> Iterator[None]:
        """What is written inside runs only where the condition does not hold."""
        careful, done = self.out.label("careful"), self.out.label("done")
        self.out.branch_if(fine.ir, done, careful)
        self.out.begin(careful)
        yield
        self.out.branch(done)
        self.out.begin(done)

    def _kinds(self, back: bool) -> tuple[DType, DType]:
        return (self.wide, self.dtype) if back else (self.dtype, self.wide)

    def run(self, work: int) -> None:
        """Has the routine run, by several threads where all matrices together take long enough; sets the results."""
        region, out, node = self._region, self._region.out, self._node
        parts = min(self.count, self.count * work // _PART, 2 * thread_count()) if available() else 1
        split = Split(None, self.count, -(-self.count // parts)) if parts > 1 and thread_count() > 1 else None
        held = self._reserve(1 if split is None else split.parts)
        body = self.routine.finish("ret i1 false")
        cells = self._new_results()
        failed = out.alloca("i8")
        out.line(f"store i8 0, ptr {failed}")
        pointers = [region.data(value) for value in node.inputs]
        pointers += [cell or region.data(value) for value, cell in zip(node.results, cells, strict=True)]
        pointers += ["null" if held is None else region.address(held[0]), failed]
        given = [f"ptr {pointer}" for pointer in pointers]
        large = max(math.prod(sizes(v.type)[-2:]) for v in node.inputs) > _SMALL
        if region.launches is not None:
            region.launches.is_alone |= large
        with alone(out, large and region.launches is None):
            if split is None:
                region.launch(body, [*given, "i64 0", "i64 0", f"i64 {self.count}"])
            else:
                whole = Routine(region, self._arguments)
                split.run(whole.module, whole.out, body, self._arguments, False)
                call(region, whole.finish(), *given)
        if held is not None:
            region.body.let_go(held[0].slot or "", held[1])
        for value, cell in zip(node.results, cells, strict=True):
            if cell:
                region.set(value, load(ElementWriter(out), value.type.dtype, cell, 0))  # type: ignore[union-attr]
        if all(is_array(value.type) for value in node.results):
            flag = out.new(f"load i8, ptr {failed}")
            region.ask_kernel(node, out.new(f"icmp ne i8 {flag}, 0"))

    def _reserve(self, parts: int) -> tuple[Object, TensorType] | None:
        """Sees to the memory that parts have: on their stacks where that will do."""
        if self._bytes <= _ON_STACK:
            kind = f"[{max(self._bytes // 64, 1)} x <8 x i64>]"
            self.out.first(f"store ptr {self.out.alloca(kind)}, ptr {self._own}")
            return None
        self.out.first(
            f"%spare_offset = mul nsw i64 %part, {self._bytes}",
            "%spare_here = getelementptr inbounds i8, ptr %spare, i64 %spare_offset",
            f"store ptr %spare_here, ptr {self._own}",
        )
        type_ = TensorType(float64, (parts * self._bytes // 8,))
        return self._region.new_array(type_), type_

    def _new_results(self) -> list[str]:
        """Arrays for the results; of numbers, the cells that they are written to."""
        cells = []
        for value in self._node.results:
            if is_scalar(value.type):
                cells.append(self._region.out.alloca(memory(value.type.dtype)))  # type: ignore[union-attr]
            else:
                self._region.set(value, self._region.new_array(value.type))
                cells.append("")
        return cells
