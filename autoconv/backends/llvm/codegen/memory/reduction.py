"""Lower totals: reductions of mutable arrays, or of expressions over them, to a number.

legalize/array_reductions.py forms totals. Long sums of floats are accumulated in blocks, whose sums are added in
float64, as in loops/reductions.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.loops.accumulator import Accumulator, neutral_literal
from autoconv.backends.llvm.codegen.memory.step_loops import StepLoops, StepRoutine
from autoconv.backends.llvm.codegen.registry import memory_lowering
from autoconv.backends.llvm.codegen.values import Memory, RegisterWriter
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Index, Position, element_count, plus, times
from autoconv.backends.llvm.ir.nested_loops import strips, write_loop_nest
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.legalize.array_reductions import REDUCTION_KIND_BY_OP
from autoconv.backends.llvm.schedule.reduction_depth import BLOCK_ELEMENTS
from autoconv.graph.dtypes import DType, bool_, int64
from autoconv.graph.graph import Node
from autoconv.ops import OPS

_REDUCTION_BY_KIND = {
    reduction.kind: reduction for op in OPS.values() if (reduction := op.traits.reduction) is not None
}
_LANES = 8  # partial sums that are interleaved, to hide the latency of additions
_KINDS_WITHOUT_NEUTRAL = ("max", "min", "argmax", "argmin")


@memory_lowering("array_total", needs_native_values=False)
def write_total(region: LoweringContext, node: Node) -> None:
    """Write the loops; the kernel runs instead if sizes do not broadcast, or if an extreme has no elements."""
    out, (result,) = region.out, node.results
    dtype: Any = result.dtype
    ir_type, b = register(dtype), RegisterWriter(region)
    cell = out.alloca(ir_type)
    writer = _TotalWriter(region, node)

    def store_result(result_of_kernel: object) -> None:
        assert isinstance(result_of_kernel, Element)
        out.store(ir_type, result_of_kernel.ir, cell)

    writer.run_or_call_kernel(writer.fallback_conditions(writer.sizes), lambda: writer.run(cell), store_result)
    region.set(result, b.wrap(dtype, out.load(ir_type, cell)))


class _TotalWriter(StepLoops):
    """The writer of the loops of a total; `sizes` are those of the loops."""

    def __init__(self, region: LoweringContext, node: Node) -> None:
        super().__init__(region, node, node.inputs)
        self.kind = REDUCTION_KIND_BY_OP[node.attributes["op"]]
        self.result_dtype: DType = node.results[0].dtype
        self.sizes = self._loop_sizes()

    def _loop_sizes(self) -> tuple[Position, ...]:
        """Return the sizes of the loops: for each dimension, if possible a size that the type of an input states."""
        shapes = [(step.type.shape or (), self.sizes_of(step)) for step in self.steps if not step.op]
        rank = max(len(sizes) for _, sizes in shapes)
        result: list[Position] = []
        for axis in range(-rank, 0):
            pairs = [(static_shape[axis], sizes[axis]) for static_shape, sizes in shapes if len(sizes) >= -axis]
            pairs_without_1 = [pair for pair in pairs if pair[0] != 1]
            known_sizes = [size for static_size, size in pairs_without_1 if static_size is not None]
            open_sizes = [size for _, size in pairs_without_1]
            result.append((known_sizes or open_sizes or [1])[0])
        return tuple(result)

    def fallback_conditions(self, loop_sizes: Sequence[Position]) -> list[str]:
        """Return the conditions of the base class, and for an extreme those that there is no element."""
        conditions = super().fallback_conditions(loop_sizes)
        if self.kind in _KINDS_WITHOUT_NEUTRAL:
            conditions += [self.region.out.icmp("eq", size, 0) for size in self.sizes if not isinstance(size, int)]
        return conditions

    def run(self, cell: str) -> None:
        """Write and call the routine that stores the result in the cell."""
        routine = StepRoutine(self.region)
        out = routine.out
        target = routine.pointer(cell)
        routine_operands: list[Memory | Element] = []
        for _, operand in self.operands:
            is_number = isinstance(operand, Element)
            routine_operands.append(routine.number(operand) if is_number else routine.memory(operand, "readonly "))  # type: ignore[arg-type]
        parameter_of: dict[Position, Position] = dict(zip(self.sizes, routine.numbers(self.sizes), strict=True))
        sizes = tuple(parameter_of[size] for size in self.sizes)
        write_reduction = _write_arg_extreme if self.kind.startswith("arg") else _write_accumulation

        def write(b: ElementWriter) -> None:
            result = write_reduction(self, b, sizes, lambda i: self.write_element(b, routine_operands, i))
            out.line(f"store {register(self.result_dtype)} {b.cast(result, self.result_dtype).ir}, ptr {target}")

        self.write_loops(out, routine_operands, sizes, ("0", str(sizes[0])), write)
        routine.call()


def _write_accumulation(
    writer: _TotalWriter, b: ElementWriter, sizes: Sequence[Position], load_element: Callable[[Index], Element]
) -> Element:
    """Write the loops of a sum, product, mean, minimum, maximum, any or all; return the result."""
    out, kind, element_dtype = b.out, writer.kind, writer.steps[-1].type.dtype
    dtype = bool_ if kind in ("any", "all") else element_dtype if kind in ("max", "min") else writer.result_dtype
    has_blocks = dtype.is_floating and kind in ("sum", "mean")
    lanes = _LANES if has_blocks and _is_strided(writer) else 1
    accumulators = [Accumulator(b, _REDUCTION_BY_KIND[kind], dtype, has_blocks) for _ in range(lanes)]
    accumulator, *further_accumulators = accumulators

    def accumulate(index: Index, lane: int = 0) -> None:
        accumulators[lane].accumulate(b.cast(load_element(index), dtype))

    def end_block() -> None:
        accumulator.fold_in(further_accumulators)
        accumulator.end_block()

    if not accumulator.has_blocks:
        write_loop_nest(out, sizes, accumulate)
        return accumulator.result()
    _write_blocked_loops(out, sizes, accumulate, end_block, lanes)
    if kind == "sum":
        return accumulator.result()
    return accumulator.result() / b.cast(b.wrap(int64, str(element_count(out, sizes))), dtype)


def _is_strided(writer: _TotalWriter) -> bool:
    """Return whether consecutive elements are not adjacent in memory; LLVM then does not vectorise the sum."""
    arrays = [(value, array) for value, array in writer.operands if isinstance(array, Memory) and array.strides]
    return any(array.strides[-1] != value.dtype.size for value, array in arrays)


def _write_blocked_loops(
    out: FunctionText,
    sizes: Sequence[Position],
    accumulate: Callable[..., None],
    end_block: Callable[[], None],
    lanes: int,
) -> None:
    """Write loops whose innermost loop is strip-mined into blocks of BLOCK_ELEMENTS elements.

    `accumulate(index, lane)` writes the addition of an element to one of `lanes` interleaved sums.
    """
    *outer_sizes, last_size = sizes

    def write_elements(index: Index, first: str, stop: str) -> None:
        """Accumulate the elements from `first` to `stop`, in groups of one element a lane."""
        if lanes > 1:
            groups = out.op("sdiv", out.sub(stop, first), lanes)
            with out.loop("0", groups) as group:
                start = plus(out, times(out, group, lanes), first)
                for lane in range(lanes):
                    accumulate((*index, plus(out, start, lane)), lane)
            first = out.add(first, out.mul(groups, lanes))
        with out.loop(first, stop) as i:
            accumulate((*index, i))

    def write_row(index: Index) -> None:
        """Accumulate the elements along the last dimension, in blocks if it is long."""
        if isinstance(last_size, int) and last_size <= BLOCK_ELEMENTS:
            write_elements(index, "0", str(last_size))
            end_block()
            return
        with strips(out, 0, last_size, BLOCK_ELEMENTS) as (first, stop):
            write_elements(index, str(first), str(stop))
            end_block()

    write_loop_nest(out, outer_sizes, write_row)


def _write_arg_extreme(
    writer: _TotalWriter, b: ElementWriter, sizes: Sequence[Position], load_element: Callable[[Index], Element]
) -> Element:
    """Write the loops that search for the first extreme, or the first nan; return its flat index."""
    out, dtype, reduction = b.out, writer.steps[-1].type.dtype, _REDUCTION_BY_KIND[writer.kind.removeprefix("arg")]
    ir_type = register(dtype)
    best_cell, best_position_cell, counter_cell = out.alloca(ir_type), out.alloca("i64"), out.alloca("i64")
    for cell in (best_position_cell, counter_cell):
        out.line(f"store i64 0, ptr {cell}")
    out.line(f"store {ir_type} {neutral_literal(reduction, dtype)}, ptr {best_cell}")

    def compare(index: Index) -> None:
        """Compare an element with the best one so far; the first NaN is better than all numbers."""
        element = load_element(index)
        best_element = b.wrap(dtype, out.new(f"load {ir_type}, ptr {best_cell}"))
        is_better = element > best_element if writer.kind == "argmax" else element < best_element
        if dtype.is_floating:
            had_no_nan = out.new(f"xor i1 {b.is_nan(best_element).ir}, true")
            is_first_nan = out.new(f"and i1 {b.is_nan(element).ir}, {had_no_nan}")
            is_better = b.wrap(bool_, out.new(f"or i1 {is_better.ir}, {is_first_nan}"))
        count = out.new(f"load i64, ptr {counter_cell}")
        old_position = out.new(f"load i64, ptr {best_position_cell}")
        value = out.new(f"select i1 {is_better.ir}, {ir_type} {element.ir}, {ir_type} {best_element.ir}")
        out.line(f"store {ir_type} {value}, ptr {best_cell}")
        position = out.new(f"select i1 {is_better.ir}, i64 {count}, i64 {old_position}")
        out.line(f"store i64 {position}, ptr {best_position_cell}")
        out.line(f"store i64 {out.new(f'add nsw i64 {count}, 1')}, ptr {counter_cell}")

    write_loop_nest(out, sizes, compare)
    return b.wrap(int64, out.new(f"load i64, ptr {best_position_cell}"))
