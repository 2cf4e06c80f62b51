"""Lower cumulative sums, products and extremes, and linear recurrences, to loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.analysis.classify_indexing import broadcasts_to, shape_of
from autoconv.backends.llvm.analysis.representation import has_only_dense, is_static_array, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import complex_lowering, native_lowering
from autoconv.backends.llvm.codegen.routine import PartRoutine, Routine, call, open_dimensions, pointers, split_routine
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import (
    Position,
    broadcast_index,
    element_count,
    is_known,
    linear_offset,
    minimum,
    plus,
    product,
    times,
    unravel,
)
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter, load, store
from autoconv.backends.llvm.ir.types import memory_type
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Node
from autoconv.ops.elements import ELEMENTS
from autoconv.ops.traits import MAX, MIN

_LANES = 8  # rows, or parts of a row, that are interleaved, to hide the latency of additions
_ELEMENT_COST = 8  # cost of one element, in units of 0.05 ns
_LONG_ROW = 4096  # least length of a row that is cut into _LANES parts


class _IterationSpace:
    """The loops of a scan: `outer` rows, each of `size` steps along the axis, each of `inner` columns.

    If `is_reversed` is true, the first step is the last position of the axis.
    """

    def __init__(self, out: FunctionText, node: Node, shape: Sequence[Position]) -> None:
        axis_attribute = node.attributes["axis"]  # None: the scan runs over all elements, as one row
        axis = 0 if axis_attribute is None else axis_attribute % len(shape)
        self.outer = element_count(out, shape[:axis])
        self.size = element_count(out, shape) if axis_attribute is None else shape[axis]
        self.inner: Position = 1 if axis_attribute is None else element_count(out, shape[axis + 1 :])
        self.is_reversed = node.attributes.get("reverse", False)

    def first_step_columns(self, out: FunctionText) -> Position:
        """Return the number of columns of the first step, which is 0 if the axis has no elements."""
        return product(out, self.inner, minimum(out, self.size, 1))

    def offset_of(self, out: Any, row: Position, step: Position, column: Position) -> Position:
        """Return the offset of an element."""
        step_position = plus(out, times(out, step, -1), plus(out, self.size, -1)) if self.is_reversed else step
        start = plus(out, product(out, row, self.size), step_position)
        return plus(out, product(out, start, self.inner), column)


def _has_known_arrays(node: Node) -> bool:
    """Return whether all operands are arrays of known shapes."""
    return all(is_static_array(value.type) for value in node.inputs)


def _has_single_dtype(node: Node) -> bool:
    """Return whether operands and results have one dtype; complex sums were split into parts by legalisation."""
    dtypes = {value.dtype for value in (*node.inputs, *node.results)}
    return len(dtypes) == 1 and _has_known_arrays(node)


@complex_lowering("cumprod", "numpy_cumprod", fits=_has_single_dtype)
@native_lowering(
    "cumsum", "cumprod", "numpy_cumsum", "numpy_cumprod", "cummax", "cummin", fits=_has_known_arrays,
    fits_open=has_only_dense,
)  # fmt: skip
def write_scan(region: LoweringContext, node: Node) -> None:
    """Write a scan: vectorised over columns if there are several, otherwise with several rows interleaved.

    A single long row is cut into parts, and the total of the preceding parts is added to each part at the end. The ops
    "numpy_cumsum" and "numpy_cumprod" keep NumPy's order of float operations.
    """
    (x,), (result,) = node.inputs, node.results
    parameters = [*open_dimensions(region), "ptr noalias readonly %x", "ptr noalias %result"]
    routine = PartRoutine(region, parameters)
    scan = _Scan(routine, node)
    space, shape = scan.space, sizes(x.type)
    outer_shape = shape[: node.attributes["axis"] % len(shape)] if node.attributes["axis"] is not None else ()
    iterations: Position | Sequence[Position]  # of the routine's outer loop, from %first to %last in each thread
    if space.inner != 1:
        iterations = outer_shape
        scan.write_by_columns()
    elif _has_few_long_rows(space) and scan.may_reassociate:
        iterations = 1
        scan.write_by_parts()
    else:
        iterations = -(-space.outer // _LANES) if isinstance(space.outer, int) else outer_shape
        scan.write_by_rows()
    region.set(result, region.new_array(result.type))
    work = _ELEMENT_COST * math.prod(shape) if is_known(shape) else _ELEMENT_COST
    name = split_routine(region, parameters, routine, iterations, work, shape)
    call(region, name, *open_dimensions(region), *pointers(region, x, result))


def _has_few_long_rows(space: _IterationSpace) -> bool:
    """Return whether there are few rows, which are long or of open length."""
    has_few = isinstance(space.outer, int) and space.outer < _LANES
    return has_few and (not isinstance(space.size, int) or space.size >= _LONG_ROW)


def _neutral_of_products(b: ElementWriter, dtype: DType) -> Element:
    """Return the number 1 in the dtype, which may be complex."""
    if not dtype.is_complex:
        return b.constant(1, dtype)
    return b.pair(b.constant(1, dtype.real_dtype), b.constant(0, dtype.real_dtype))


class _Scan:
    """A writer of a cumulative sum, product or extreme, with three forms of loops: by columns, by rows, by parts."""

    def __init__(self, routine: Routine, node: Node) -> None:
        self.out, self.b = routine.out, routine.b
        type_: Any = node.inputs[0].type
        result_type: Any = node.results[0].type
        self.source_dtype, self.dtype = type_.dtype, result_type.dtype
        self.space = _IterationSpace(self.out, node, sizes(type_))
        self.is_product = node.op.name.endswith("cumprod")
        is_inexact = self.dtype.is_floating or self.dtype.is_complex
        name = node.op.name
        self.extreme = MAX if name == "cummax" else MIN if name == "cummin" else None
        # Among the sums and products of floats, only `cumsum` may be reassociated.
        self.may_reassociate = not is_inexact or self.extreme is not None or name == "cumsum"
        self.is_exclusive = node.attributes.get("exclusive", False)
        zero = -0.0 if self.dtype.is_floating and not self.is_exclusive else 0  # a sum of -0.0 stays -0.0
        if self.extreme is not None:
            self.neutral = self.b.constant(self.extreme.neutral(self.dtype), self.dtype)
        elif self.is_product:
            self.neutral = _neutral_of_products(self.b, self.dtype)
        else:
            self.neutral = self.b.constant(zero, self.dtype)

    def load_element(self, offset: Position) -> Element:
        """Return the element of the operand at an offset, in the dtype of the result."""
        element = load(self.b, self.source_dtype, "%x", offset)
        return element if self.source_dtype is self.dtype else self.b.cast(element, self.dtype)

    def combine(self, x: Element, y: Element) -> Element:
        """Return the sum, the product or the extreme of two numbers."""
        if self.extreme is not None:
            return ELEMENTS[self.extreme.combine](self.b, x, y)
        return x * y if self.is_product else x + y

    def write_by_columns(self) -> None:
        """Write the scan of the rows from %first to %last step by step; an inner loop covers the columns of a step."""
        out, b, offset_of = self.out, self.b, self.space.offset_of
        first_step_columns = self.space.first_step_columns(out)
        with out.loop("%first", "%last") as row:
            with out.loop("0", str(first_step_columns)) as column:
                offset = offset_of(out, row, 0, column)
                store(b, self.neutral if self.is_exclusive else self.load_element(offset), "%result", offset)
            with out.loop("1", str(self.space.size)) as step:
                previous_step = plus(out, step, -1)
                with out.loop("0", str(self.space.inner)) as column:
                    previous_offset = offset_of(out, row, previous_step, column)
                    offset = offset_of(out, row, step, column)
                    element = self.load_element(previous_offset if self.is_exclusive else offset)
                    store(b, self.combine(load(b, self.dtype, "%result", previous_offset), element), "%result", offset)

    def write_by_rows(self) -> None:
        """Write the scan of blocks of _LANES rows at once.

        %first and %last are numbers of blocks; they are numbers of rows if the number of rows is open. The last block
        is filled up with rows of the block before it, or for open numbers by repeating the last row. The rows that are
        computed twice get the same results.
        """
        out, space = self.out, self.space
        if not isinstance(space.outer, int):
            row_count, last_row = out.new("sub nsw i64 %last, %first"), out.new("sub nsw i64 %last, 1")
            block_count = out.new(f"sdiv i64 {plus(out, row_count, _LANES - 1)}, {_LANES}")
            with out.loop("0", block_count) as block:
                start = plus(out, times(out, block, _LANES), "%first")
                rows = [minimum(out, plus(out, start, i), last_row) for i in range(_LANES)]
                self._scan_interleaved(rows, [0] * _LANES, space.size)
            return
        lanes = min(_LANES, space.outer)
        with out.loop("%first", "%last") as block:
            first, last_start = times(out, block, lanes), space.outer - lanes
            is_full = out.new(f"icmp slt i64 {first}, {last_start}")
            first = out.new(f"select i1 {is_full}, i64 {first}, i64 {last_start}")
            self._scan_interleaved([plus(out, first, lane) for lane in range(lanes)], [0] * lanes, space.size)

    def write_by_parts(self) -> None:
        """Write the scan of _LANES parts of each row at once; then add the total of the preceding parts to each part.
        """
        out, b = self.out, self.b
        size = self.space.size
        part_length = size // _LANES if isinstance(size, int) else out.new(f"sdiv i64 {size}, {_LANES}")
        with out.loop("0", str(self.space.outer)) as row:
            starts = [times(out, part_length, lane) for lane in range(_LANES)]
            total_cells = self._scan_interleaved([row] * _LANES, starts, part_length)
            total = load(b, self.dtype, total_cells[0], 0)
            for lane in range(1, _LANES):
                with out.loop(str(times(out, part_length, lane)), str(times(out, part_length, lane + 1))) as step:
                    offset = self.space.offset_of(out, row, step, 0)
                    store(b, self.combine(total, load(b, self.dtype, "%result", offset)), "%result", offset)
                total = self.combine(total, load(b, self.dtype, total_cells[lane], 0))
            scanned = times(out, part_length, _LANES)
            remaining_count = plus(out, size, -scanned if isinstance(scanned, int) else times(out, scanned, -1))
            self._scan_interleaved([row], [scanned], remaining_count, total)

    def _scan_interleaved(
        self, rows: Sequence[Position], starts: Sequence[Position], length: Position, initial: Element | None = None
    ) -> list[str]:
        """Write the scan of `length` steps of each row from its start; return the address of each row's last total."""
        out, b = self.out, self.b
        total_cells = [out.alloca(memory_type(self.dtype)) for _ in rows]
        for cell in total_cells:
            store(b, initial or self.neutral, cell, 0)
        with out.loop("0", str(length)) as step:
            offsets = [
                self.space.offset_of(out, row, plus(out, step, first_step), 0)
                for row, first_step in zip(rows, starts, strict=True)
            ]
            old_totals = [load(b, self.dtype, cell, 0) for cell in total_cells]
            elements = [self.load_element(offset) for offset in offsets]
            new_totals = [self.combine(x, y) for x, y in zip(old_totals, elements, strict=True)]
            for cell, offset, old_total, new_total in zip(total_cells, offsets, old_totals, new_totals, strict=True):
                store(b, new_total, cell, 0)
                store(b, old_total if self.is_exclusive else new_total, "%result", offset)
        return total_cells


def _has_dense_broadcast_operands(node: Node) -> bool:
    """Return whether all operands of the node are dense arrays that broadcast to its result."""
    result_type = node.results[0].type
    shape = shape_of(result_type)
    return has_only_dense(node) and all(broadcasts_to(shape_of(value.type), shape) for value in node.inputs)


@complex_lowering("linear_recurrence", fits=_has_single_dtype)
@native_lowering("linear_recurrence", fits=_has_known_arrays, fits_open=_has_dense_broadcast_operands)
def write_recurrence(region: LoweringContext, node: Node) -> None:
    """Compute each step as addend + coefficient · previous step; the first step is its addend."""
    (coefficient, addend), (result,) = node.inputs, node.results
    parameters = [f"ptr noalias {name}" for name in ("%coefficient", "%addend", "%result")]
    routine = Routine(region, [*open_dimensions(region), *parameters])
    out, b = routine.out, routine.b
    type_: Any = result.type
    shape, dtype = sizes(type_), type_.dtype
    space = _IterationSpace(out, node, shape)

    def load_operand(name: str, value: Any, offset: Position) -> Element:
        operand_shape = sizes(value.type)
        if operand_shape != shape:
            index = broadcast_index(unravel(out, offset, shape), operand_shape)
            offset = linear_offset(out, index, operand_shape)
        return load(b, dtype, name, offset)

    def write_step(row: Position, step: Position, is_first: bool) -> None:
        """Write one step of a recurrence: addend + coefficient * previous total.

        The first step has no previous total.
        """
        with out.loop("0", str(first_step_columns if is_first else space.inner)) as column:
            offset = space.offset_of(out, row, step, column)
            total = load_operand("%addend", addend, offset)
            if not is_first:
                previous_total = load(b, dtype, "%result", space.offset_of(out, row, plus(out, step, -1), column))
                total = total + load_operand("%coefficient", coefficient, offset) * previous_total
            store(b, total, "%result", offset)

    first_step_columns = space.first_step_columns(out)
    with out.loop("0", str(space.outer)) as row:
        write_step(row, 0, is_first=True)
        with out.loop("1", str(space.size)) as step:
            write_step(row, step, is_first=False)
    region.set(result, region.new_array(result.type))
    call(region, routine.finish(), *open_dimensions(region), *pointers(region, coefficient, addend, result))
