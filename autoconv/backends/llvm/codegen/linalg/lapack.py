"""Calls of NumPy's bundled LAPACK for each matrix of a batch.

As in NumPy, LAPACK computes in float64 or complex128, whatever the dtype of the matrices. Sizes are constants, or
symbols of open dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from autoconv.backends.llvm.analysis.representation import is_dense, is_scalar, register_of, sizes, uses_open_sizes
from autoconv.backends.llvm.analysis.symbolic_sizes import write_dimension
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.linalg.lapack_calls import Argument, call_lapack, pass_by_reference
from autoconv.backends.llvm.codegen.matmul.blas import single_threaded_blas
from autoconv.backends.llvm.codegen.matmul.transpose_kernel import transpose_function
from autoconv.backends.llvm.codegen.parallel.partitioned import (
    SplitBounds,
    call_open_parts,
    call_parts,
    write_split_bounds,
)
from autoconv.backends.llvm.codegen.routine import PartRoutine, Routine, call, open_dimensions, whole_loop
from autoconv.backends.llvm.codegen.values import Object
from autoconv.backends.llvm.ir.index_arith import Position, block_offset, element_count, plus, product, unravel
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, Pair, load, store
from autoconv.backends.llvm.ir.types import memory_type
from autoconv.backends.llvm.schedule.partition import Split
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph import dimensions
from autoconv.graph.dtypes import DType, complex128, float64
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import Dimension, Symbol, TensorType

_PART_WORK = 400_000  # least work of a part for one thread, in units of 0.05 ns
_STACK_BYTES = 1 << 14  # most bytes of a part's workspaces that are on its thread's stack
_UNTHREADED_SIZE = 2000  # most elements of a matrix with which LAPACK uses no threads of its own


def routine_of(dtype: DType, real: str, complex_: str = "") -> str:
    """Return the routine's name for a dtype: `real`, or for complex numbers `complex_`, by default `z` + `real[1:]`."""
    return (complex_ or "z" + real[1:]) if dtype.is_complex else real


class Batch:
    """A native routine under construction that loops over the matrices of the operands of `node`.

        with batch.loop_over_matrices():
            … batch.call_lapack("dgetrf", n, n, a, n, pivots)
        batch.run(work of one matrix, in units of 0.05 ns)

    In the loop, `operands` and `results` are addresses of the current matrices; `new_workspace` returns memory before
    it. `result_ranks` are the ranks of one matrix's results; `workspaces` are sizes that `workspace_sizes` returned.
    """

    def __init__(self, region: LoweringContext, node: Node, *workspaces: Dimension, result_ranks: list[int]) -> None:
        self._region, self._node = region, node
        type_: Any = node.inputs[0].type
        self.dtype: DType = type_.dtype
        self.lapack_dtype = complex128 if self.dtype.is_complex else float64  # dtype of LAPACK's computation
        shape = sizes(node.results[0].type)
        self._batch_shape = shape[: len(shape) - result_ranks[0]]
        self._result_ranks = result_ranks
        operand_parameters = [f"ptr noalias readonly %x{i}" for i in range(len(node.inputs))]
        result_parameters = [f"ptr noalias %result{i}" for i in range(len(node.results))]
        self._size_operands: list[str] = []  # open sizes as "i64 REGISTER", both parameters and arguments
        memory_parameter: list[str] = []
        if uses_open_sizes(node):
            workspace_registers = [register_of(size) for size in workspaces if isinstance(size, Symbol)]
            self._size_operands = [*open_dimensions(region), *(f"i64 {register}" for register in workspace_registers)]
            memory_parameter = ["i64 %each"]  # bytes of the workspaces of a part
        self._parameters = [*self._size_operands, *operand_parameters, *result_parameters, "ptr %spare", "ptr %failed"]
        self._parameters += memory_parameter
        self.routine = PartRoutine(region, self._parameters)
        self.out, self.b = self.routine.out, self.routine.b
        self._workspace_bytes: Dimension = 0  # bytes of the workspaces of a part so far
        self._workspace_cell = self.out.alloca("ptr")
        self._info = self.out.alloca("i64", "0")
        self.operands: list[str] = []
        self.results: list[str] = []

    def size_operand(self, size: Dimension) -> Position:
        """Return a dimension as a constant or a register of the routine."""
        return write_dimension(self.out, size)

    def element_offset(self, row: Position, width: Dimension, column: Position = 0) -> Position:
        """Return the offset of an element in a row-major matrix whose rows have `width` elements.

        In a column-major matrix, `row` is the column and `width` the length of a column.
        """
        return plus(self.out, product(self.out, row, self.size_operand(width)), column)

    @contextmanager
    def loop_over_matrices(self) -> Iterator[None]:
        """Write the loop over the matrices."""
        with self.out.loop("%first", "%last") as matrix_number:
            index = unravel(self.out, matrix_number, self._batch_shape)
            operands = enumerate(self._node.inputs)
            self.operands = [self._matrix_address(f"%x{i}", value, 2, index) for i, value in operands]
            self.results = [
                self._matrix_address(f"%result{i}", value, rank, index)
                for i, (value, rank) in enumerate(zip(self._node.results, self._result_ranks, strict=True))
            ]
            yield

    def _matrix_address(self, pointer: str, value: Value, rank: int, index: Sequence[Position]) -> str:
        """Return the address of a value's matrix, vector or number for an index of the batch, with broadcasting."""
        offset = block_offset(self.out, index, sizes(value.type), rank)
        if offset == 0:
            return pointer
        ir_type = memory_type(value.dtype)
        return self.out.gep(ir_type, pointer, offset)

    def new_matrix(self, count: Dimension) -> str:
        """Return memory for `count` elements of LAPACK's dtype, private to each part."""
        return self.new_workspace(dimensions.times(count, self.lapack_dtype.size // 8))

    def new_workspace(self, count: Dimension) -> str:
        """Return memory for `count` doubles or 64-bit integers, private to each part."""
        start = self.size_operand(self._workspace_bytes)
        count = max(count, 1) if isinstance(count, int) else count
        byte_count = dimensions.times(dimensions.floor_quotient(dimensions.plus(count, 7), 8), 64)
        self._workspace_bytes = dimensions.plus(self._workspace_bytes, byte_count)
        return self.out.gep("i8", self.out.load("ptr", self._workspace_cell), start)

    def routine_of(self, real: str, complex_: str = "") -> str:
        """Return the name of the routine for the batch's dtype (see the function `routine_of`)."""
        return routine_of(self.dtype, real, complex_)

    def call_lapack(self, name: str, *arguments: Argument) -> str:
        """Call a LAPACK routine, whose last argument is `info`; return an i1 that is true if it failed."""
        call_lapack(self.out, name, [*(pass_by_reference(self.out, argument) for argument in arguments), self._info])
        return self.out.icmp("ne", self.out.load("i64", self._info), 0)

    def record_failure_if(self, failure: str) -> None:
        """Record a failure if the i1 `failure` holds: after the last matrix, the op's kernel replaces the results."""
        self.out.store("i8", self.out.select(failure, 1, self.out.load("i8", "%failed")), "%failed")

    def memory_for_copy(self, count: Dimension) -> str | None:
        """Return memory for a copy of `count` elements in LAPACK's dtype; None if the op's dtype is LAPACK's."""
        return None if self.dtype is self.lapack_dtype else self.new_matrix(count)

    def transpose(
        self, source: str, target: str, rows: Dimension, columns: Dimension, from_lapack: bool = False
    ) -> None:  # fmt: skip
        """Transpose a row-major matrix from the op's dtype to LAPACK's, or the other way if `from_lapack`."""
        registers = current_target().vector_registers
        lanes = registers.size // 8 if registers is not None else 0
        fits_vectors = isinstance(rows, int) and isinstance(columns, int) and min(rows, columns) >= lanes > 0
        if 1 in (rows, columns):
            self.copy(source, target, dimensions.times(rows, columns), from_lapack)
        elif fits_vectors and self.dtype is float64:
            name = transpose_function(self.out.module, self.dtype, rows, columns, lanes)  # type: ignore[arg-type]
            self.out.call(name, source, target)
        else:
            out, (source_dtype, target_dtype) = self.out, self._conversion_dtypes(from_lapack)
            height, width = self.size_operand(rows), self.size_operand(columns)
            with out.loop("0", str(height)) as i, out.loop("0", str(width)) as j:
                element = load(self.b, source_dtype, source, plus(out, product(out, i, width), j))
                store(self.b, self.cast(element, target_dtype), target, plus(out, product(out, j, height), i))

    def copy(
        self, source: str, target: str, count: Dimension, from_lapack: bool = False, conjugate: bool = False
    ) -> None:  # fmt: skip
        """Copy numbers, or their conjugates, from the op's dtype to LAPACK's, or the other way if `from_lapack`."""
        source_dtype, target_dtype = self._conversion_dtypes(from_lapack)
        with self.out.loop("0", str(self.size_operand(count))) as i:
            element = load(self.b, source_dtype, source, i)
            if conjugate and isinstance(element, Pair):
                element = self.b.pair(element.real, -element.imag)
            store(self.b, self.cast(element, target_dtype), target, i)

    def copy_real(self, source: str, target: str, count: Dimension) -> None:
        """Copy LAPACK's doubles to a result of real numbers."""
        with self.out.loop("0", str(self.size_operand(count))) as i:
            store(self.b, self.b.cast(load(self.b, float64, source, i), self.dtype.real_dtype), target, i)

    def cast(self, x: Element, dtype: DType) -> Element:
        """Convert a number to another precision."""
        if isinstance(x, Pair):
            return self.b.pair(*(self.b.cast(part, dtype.real_dtype) for part in (x.real, x.imag)))
        return self.b.cast(x, dtype)

    def load_matrix(self, source: str, rows: int, columns: int) -> list[list[Element]]:
        """Load one of the op's matrices into registers, as doubles."""
        return [
            [self.b.cast(load(self.b, self.dtype, source, i * columns + j), float64) for j in range(columns)]
            for i in range(rows)
        ]

    def store_result(self, elements: Sequence[Element], result_number: int = 0) -> None:
        """Store numbers contiguously in a result."""
        result_type: Any = self._node.results[result_number].type
        for offset, x in enumerate(elements):
            store(self.b, self.cast(x, result_type.dtype), self.results[result_number], offset)

    def _conversion_dtypes(self, from_lapack: bool) -> tuple[DType, DType]:
        """Return the dtypes of the source and of the target of a copy."""
        return (self.lapack_dtype, self.dtype) if from_lapack else (self.dtype, self.lapack_dtype)

    def run(self, work: Dimension) -> None:
        """Finish the routine, call it, perhaps on several threads, and define the results; `work` is per matrix."""
        region, out, node = self._region, self._region.out, self._node
        count = element_count(out, self._batch_shape)
        split = self._plan_split(count, work)
        bounds = write_split_bounds(split, out) if split is not None and split.step is None else None
        part_count = bounds.part_count if bounds is not None else "1" if split is None else str(split.parts)
        memory_array, array_type = self._reserve_memory(part_count)
        body = self.routine.finish("ret i1 false")
        scalar_cells = self._new_results()
        failed_cell = out.alloca("i8")
        out.store("i8", 0, failed_cell)
        pointers = [region.data(value) for value in node.inputs]
        pointers += [cell or region.data(value) for value, cell in zip(node.results, scalar_cells, strict=True)]
        pointers += ["null" if memory_array is None else region.address(memory_array), failed_cell]
        arguments = [*self._size_operands, *(f"ptr {pointer}" for pointer in pointers)]
        if self._size_operands:
            arguments.append(f"i64 {write_dimension(out, self._workspace_bytes)}")
        # LAPACK may use threads of its own for matrices of open or large size.
        may_use_threads = bool(self._size_operands) or any(
            math.prod(sizes(value.type)[-2:]) > _UNTHREADED_SIZE for value in node.inputs
        )
        if region.launches is not None:  # the group of concurrent items writes the calls, and the limit around them
            region.launches.is_single_threaded |= may_use_threads
        with single_threaded_blas(out, may_use_threads and region.launches is None):
            self._call_parts(body, arguments, split, bounds or (), count)
        if memory_array is not None and array_type is not None:
            region.body.release_or_keep(memory_array.slot, array_type)
        elif memory_array is not None:
            region.body.release(memory_array.slot)
        for value, cell in zip(node.results, scalar_cells, strict=True):
            if cell:
                region.set(value, load(ElementWriter(out), value.dtype, cell, 0))
        if all(is_dense(value.type) for value in node.results):  # scalar results are determinants, which do not fail
            region.call_kernel_if(node, out.icmp("ne", out.load("i8", failed_cell), 0))

    def _call_parts(
        self, body: str, arguments: Sequence[str], split: Split | None, bounds: Sequence[str], count: Position
    ) -> None:
        """Call the routine on all matrices, in the parts of the split; `bounds` are those of an open size."""
        region = self._region
        if split is None:
            region.launch(body, [*arguments, *whole_loop(count)])
        elif split.step is None:
            bound_registers = SplitBounds("%parts", "%size", "%step")
            routine = Routine(region, [*self._parameters, *(f"i64 {name}" for name in bound_registers)])
            part_arguments = split, routine.module, routine.out, body, self._parameters
            call_open_parts(*part_arguments, has_rare=False, bounds=bound_registers)
            call(region, routine.finish(), *arguments, *(f"i64 {bound}" for bound in bounds))
        else:
            routine = Routine(region, self._parameters)
            call_parts(split, routine.module, routine.out, body, self._parameters, has_rare=False)
            call(region, routine.finish(), *arguments)

    def _plan_split(self, count: Position, work: Dimension) -> Split | None:
        """Return how to split the batch into parts for threads; None if one thread computes all matrices."""
        if not current_target().is_parallel or count == 1:
            return None
        if isinstance(count, int) and isinstance(work, int):
            parts = min(count, count * work // _PART_WORK, 2 * current_target().threads)
            return Split(dimension=None, size=count, step=-(-count // parts)) if parts > 1 else None
        shape = (count, write_dimension(self._region.out, work))
        max_parts = 2 * current_target().threads
        limits = {"min_part_work": _PART_WORK, "min_work": 2 * _PART_WORK, "max_parts": max_parts}
        return Split(dimension=None, size=count, shape=shape, **limits)

    def _reserve_memory(self, part_count: str) -> tuple[Object | None, TensorType | None]:
        """Allocate the workspaces of the parts, on their stacks if they are small enough.

        Otherwise return the array that holds them, and its type if its size is known.
        """
        if isinstance(self._workspace_bytes, int) and self._workspace_bytes <= _STACK_BYTES:
            ir_type = f"[{max(self._workspace_bytes // 64, 1)} x <8 x i64>]"
            self.out.append_to_entry(f"store ptr {self.out.alloca(ir_type)}, ptr {self._workspace_cell}")
            return None, None
        self.out.append_to_entry(
            f"%spare_offset = mul nsw i64 %part, {'%each' if self._size_operands else self._workspace_bytes}",
            "%spare_here = getelementptr inbounds i8, ptr %spare, i64 %spare_offset",
            f"store ptr %spare_here, ptr {self._workspace_cell}",
        )
        if isinstance(self._workspace_bytes, int) and part_count.isdigit():
            type_ = TensorType(float64, (int(part_count) * self._workspace_bytes // 8,))
            return self._region.new_array(type_), type_
        out = self._region.out
        count = product(out, part_count, write_dimension(out, dimensions.floor_quotient(self._workspace_bytes, 8)))
        return self._region.body.new_sized_array(float64, (count,)), None

    def _new_results(self) -> list[str]:
        """Allocate the results; return the cells of scalar results, and "" for arrays."""
        scalar_cells = []
        for value in self._node.results:
            if is_scalar(value.type):
                scalar_cells.append(self._region.out.alloca(memory_type(value.dtype)))
            else:
                self._region.set(value, self._region.new_array(value.type))
                scalar_cells.append("")
        return scalar_cells
