"""Lower sort, argsort and top_k.

Elements are sorted by keys (see sort_keys.py), in loops of this package or, for long rows and rows of open size, by
NumPy. argsort and top_k use the same loops for open and for constant sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autoconv.backends.llvm.analysis.representation import (
    has_only_dense,
    is_complex,
    is_sorted_whole,
    is_static_array,
    sizes,
)
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import complex_lowering, native_lowering
from autoconv.backends.llvm.codegen.routine import PartRoutine, Routine, call, open_dimensions, pointers, split_routine
from autoconv.backends.llvm.codegen.sort.numpy_routines import array_object, copy_of, release_copy
from autoconv.backends.llvm.codegen.sort.parallel_merge import HalvesSorter, is_worthwhile
from autoconv.backends.llvm.codegen.sort.radix import INSERTION_LIMITS, STACK_LIMIT, Sorter, write_insertion
from autoconv.backends.llvm.codegen.sort.sort_keys import from_key, key_dtype, to_key
from autoconv.backends.llvm.ir.index_arith import Position, element_count, is_known, plus, product, times
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dtypes import DType, bool_, float64, int32, int64, uint32
from autoconv.graph.graph import Node
from autoconv.graph.types import TensorType

_ELEMENT_COST = 60  # cost of one element, in units of 0.05 ns
_LOOP_SORT_LIMIT = 24  # most elements of a row that a loop sorts faster than NumPy
_NUMPY_SORT_LIMIT = 1024  # most elements that NumPy sorts faster than a radix sort, on processors that compress slowly
_NUMPY_ORDER_LIMIT = 1500  # most elements of a row for which NumPy finds the stable order of float64 faster
_QUICK_SORT, _STABLE_SORT = 0, 2  # NPY_QUICKSORT, NPY_STABLESORT
_TOP_K_LIMIT = 32  # largest k for which one pass keeps the k best elements in order


# ---- the ops


def _is_descending(node: Node) -> bool:
    """Return whether a node orders its elements from the greatest to the least."""
    return bool(node.attributes.get("descending", node.op.name == "top_k"))


class _RowSorter:
    """A routine under construction that sorts the rows of an array; a row has the `size` elements along one axis."""

    def __init__(self, region: LoweringContext, node: Node, result_count: int, returns_positions: bool) -> None:
        x: Any = node.inputs[0].type
        shape, axis = sizes(x), node.attributes.get("axis", -1)
        axis %= len(shape)
        self.shape, self.size, self._outer_shape = shape, shape[axis], shape[:axis]
        self.dtype: DType = x.dtype
        self.is_descending = _is_descending(node)
        self.results = [f"%result{i}" for i in range(result_count)]
        pointer_parameters = [f"ptr noalias {name}" for name in (*self.results, "%keys", "%positions")]
        self._region = region
        self._parameters = [*open_dimensions(region), "ptr noalias readonly %x", *pointer_parameters]
        self.routine = PartRoutine(region, self._parameters, optimises_size=True)
        self.column_count = element_count(self.routine.out, shape[axis + 1 :])
        size = max(self.size, 1) if isinstance(self.size, int) else self.size
        self.sorter = Sorter(self.routine, size, key_dtype(self.dtype), returns_positions)

    def offset_of(self, row: Position, step: Position, column: Position) -> Position:
        """Return the offset of element `step` of a row; `row` and `column` index the axes before and after its axis."""
        out = self.routine.out
        return plus(out, product(out, plus(out, product(out, row, self.size), step), self.column_count), column)

    def key_loader(self, row: Position, column: Position, zeros_are_equal: bool) -> Callable[[str], Element]:
        """Return a function that loads the sort key of a row's element at a position."""
        b = self.routine.b

        def load_key(i: str) -> Element:
            element = load(b, self.dtype, "%x", self.offset_of(row, i, column))
            return to_key(b, element, self.is_descending, zeros_are_equal)

        return load_key

    def loop_over_rows(self, write: Callable[[Position, Position], None]) -> None:
        """Write the loops over the rows."""
        out = self.routine.out
        if 0 not in self.shape:
            with out.loop("%first", "%last") as row, out.loop("0", str(self.column_count)) as column:
                write(row, column)

    def finish(self) -> str:
        """Finish the routine, and return its name.

        Threads share the rows if the sort buffers are on the threads' stacks.
        """
        element_cost = _ELEMENT_COST if self.sorter.has_stack_buffers else 0
        if is_known(self.shape):
            row_count, work = math.prod(self._outer_shape), element_cost * math.prod(self.shape)
            return split_routine(self._region, self._parameters, self.routine, row_count, work)
        return split_routine(
            self._region, self._parameters, self.routine, self._outer_shape, element_cost, self.shape
        )


def _call_row_routine(
    region: LoweringContext, node: Node, row_sorter: _RowSorter, is_sorted_by_numpy: bool = False
) -> None:
    """Call the routine, after NumPy's sort of the rows if `is_sorted_by_numpy`."""
    for value in node.results:
        region.set(value, region.new_array(value.type))
    if is_sorted_by_numpy:
        _sort_by_numpy(region, node)
    call_arguments = pointers(region, node.inputs[0], *node.results)
    buffers = []
    size = row_sorter.size
    if is_sorted_by_numpy or (isinstance(size, int) and size <= STACK_LIMIT):
        call_arguments += ["ptr null", "ptr null"]  # the buffers are on the stack, or not needed
    else:
        for dtype in (row_sorter.sorter.dtype, uint32):
            if isinstance(size, int):
                type_ = TensorType(dtype, (2 * size,))
                buffer = region.new_array(type_)
            else:
                type_ = TensorType(dtype, (None,))
                buffer = region.body.new_sized_array(dtype, (times(region.out, size, 2),))
            buffers.append((buffer.slot or "", type_))
            call_arguments += pointers(region, buffer)
    call(region, row_sorter.finish(), *open_dimensions(region), *call_arguments)
    for slot, type_ in buffers:
        region.body.release_or_keep(slot, type_)


def _sort_by_numpy(region: LoweringContext, node: Node) -> None:
    """Write a copy of the operand and the call of NumPy's sort of the copy, the result, in place."""
    out, (x,), (result,) = region.out, node.inputs, node.results
    type_: Any = x.type
    byte_count = product(out, element_count(out, sizes(type_)), type_.dtype.size)
    out.copy(region.data(result), region.data(x), byte_count)
    axis = node.attributes.get("axis", -1) % len(sizes(type_))
    status = out.call_c("PyArray_Sort", "i32", "ptr, i32, i32", region.object(result).ir, axis, _QUICK_SORT)
    region.body.fail_if(out.icmp("slt", status, 0))


def _is_sortable(node: Node) -> bool:
    """Return whether the operand is an array of known shape whose positions along the axis fit into an int32."""
    type_: Any = node.inputs[0].type
    return is_static_array(type_) and sizes(type_)[node.attributes.get("axis", -1)] < 2**31


def _is_sortable_open(node: Node) -> bool:
    """Return whether the node has one operand and all its arrays are dense."""
    return len(node.inputs) == 1 and has_only_dense(node)


def _is_sorted_by_numpy(node: Node) -> bool:
    """Return whether NumPy sorts the rows: its sorts without positions use vector registers."""
    type_: Any = node.inputs[0].type
    size, target = sizes(type_)[node.attributes.get("axis", -1)], current_target()
    if not target.has_libraries or node.op.name != "sort":
        return False
    if not isinstance(size, int):
        return True
    limit = _NUMPY_SORT_LIMIT if target.stores_compressed_slowly else math.inf
    return _LOOP_SORT_LIMIT < size <= limit and type_.dtype.size >= 4


def _single_thread_work(node: Node) -> int:
    """Estimate the work of a sort that one thread executes, in units of 0.05 ns; return 0 if threads share the sort."""
    shape, axis = sizes(node.inputs[0].type), node.attributes.get("axis", -1)
    is_single_threaded = shape[axis] > STACK_LIMIT and not _is_sorted_in_halves(node) and not _is_sorted_by_numpy(node)
    return _ELEMENT_COST * math.prod(shape) if is_single_threaded else 0


def _is_sorted_in_halves(node: Node) -> bool:
    """Return whether one long row is sorted by several threads."""
    type_: Any = node.inputs[0].type
    shape = sizes(type_)
    size = shape[node.attributes.get("axis", -1)]
    if _is_sorted_by_numpy(node):
        return False
    return is_known(shape) and math.prod(shape) == size and is_worthwhile(size, type_.dtype, _ELEMENT_COST * size)


def _sort_in_halves(region: LoweringContext, node: Node, returns_positions: bool) -> None:
    """Write the sort of a single row in halves, in parallel; the result is the elements, or their positions."""
    type_: Any = node.inputs[0].type
    size, dtype, is_descending = math.prod(sizes(type_)), type_.dtype, _is_descending(node)
    (result,) = node.results
    region.set(result, region.new_array(result.type))
    halves = HalvesSorter(region, size, key_dtype(dtype), returns_positions, _ELEMENT_COST * size)

    def load_key(routine: Routine, offset: str) -> Element:
        return to_key(routine.b, load(routine.b, dtype, "%x", offset), is_descending, zeros_are_equal=returns_positions)

    def store_result(routine: Routine, offset: str, key: Element, position: Element | None) -> None:
        b = routine.b
        element = from_key(b, key, dtype, is_descending) if position is None else b.cast(position, int32)
        store(b, element, "%result0", offset)

    x_address, result_address = region.data(node.inputs[0]), region.data(result)
    halves.sort(x_address, result_address, load_key, store_result)
    if dtype.is_floating and not returns_positions:
        routine = Routine(region, ["ptr noalias readonly %x", "ptr noalias %result0"], optimises_size=True)
        _restore_zeros(routine, dtype, is_descending, size, lambda i: i)
        call(region, routine.finish(), f"ptr {x_address}", f"ptr {result_address}")


@complex_lowering("sort", fits=is_sorted_whole)
@native_lowering("sort", fits=_is_sortable, work=_single_thread_work, fits_open=_is_sortable_open)
def write_sort(region: LoweringContext, node: Node) -> None:
    """Sort the elements by their keys; -0.0 and 0.0, which are equal, keep their order."""
    if is_complex(node.inputs[0].type):
        region.set(node.results[0], region.new_array(node.results[0].type))
        _sort_by_numpy(region, node)
        return
    if _is_sorted_in_halves(node):
        _sort_in_halves(region, node, returns_positions=False)
        return
    row_sorter = _RowSorter(region, node, result_count=1, returns_positions=False)
    out, b, dtype = row_sorter.routine.out, row_sorter.routine.b, row_sorter.dtype
    is_sorted_by_numpy = _is_sorted_by_numpy(node)

    def write(row: Position, column: Position) -> None:
        """Sort a row of the result; zeros get their signs back at the end."""

        def offset_of(i: str) -> Position:
            return row_sorter.offset_of(row, i, column)

        if is_sorted_by_numpy:
            if row_sorter.is_descending:
                _reverse_row(row_sorter, row, column)
        else:
            keys, _ = row_sorter.sorter.sort(row_sorter.key_loader(row, column, zeros_are_equal=False))
            with out.loop("0", str(row_sorter.size)) as i:
                key = load(b, key_dtype(dtype), keys, i)
                store(b, from_key(b, key, dtype, row_sorter.is_descending), "%result0", offset_of(i))
        if dtype.is_floating:
            _restore_zeros(row_sorter.routine, dtype, row_sorter.is_descending, row_sorter.size, offset_of)

    row_sorter.loop_over_rows(write)
    _call_row_routine(region, node, row_sorter, is_sorted_by_numpy=is_sorted_by_numpy)


def _reverse_row(row_sorter: _RowSorter, row: Position, column: Position) -> None:
    """Write the reversal of a sorted row in place, for the descending order."""
    out, b = row_sorter.routine.out, row_sorter.routine.b
    half = row_sorter.size // 2 if isinstance(row_sorter.size, int) else out.op("lshr", row_sorter.size, 1)
    with out.loop("0", str(half)) as i:
        last = plus(out, row_sorter.size, -1)
        offsets = [row_sorter.offset_of(row, step, column) for step in (i, plus(out, times(out, i, -1), last))]
        pair = [load(b, row_sorter.dtype, "%result0", offset) for offset in offsets]
        for offset, x in zip(reversed(offsets), pair, strict=True):
            store(b, x, "%result0", offset)


def _restore_zeros(
    routine: Routine, dtype: DType, is_descending: bool, size: Position, offset_of: Callable[[str], Position]
) -> None:
    """Restore the original order of the zeros of a row, if one of them is negative.

    `offset_of` maps a position in the row to its offset in `%x` and `%result0`.
    """
    out, b = routine.out, routine.b
    has_negative_zero_cell = out.alloca("i1")
    out.store("i1", "false", has_negative_zero_cell)
    bits_dtype = key_dtype(dtype)
    with out.loop("0", str(size)) as i:
        sign_bit = 1 << bits_dtype.size * 8 - 1  # all other bits of -0.0 are 0
        is_negative_zero = load(b, bits_dtype, "%x", offset_of(i)).same(sign_bit)  # NumPy's sorts may lose its sign
        has_negative_zero = b.wrap(bool_, out.load("i1", has_negative_zero_cell)) | is_negative_zero
        out.store("i1", has_negative_zero.ir, has_negative_zero_cell)
    with out.unlikely(out.load("i1", has_negative_zero_cell)):
        next_position_cell = out.alloca("i64")  # position in the result of the next zero
        out.store("i64", 0, next_position_cell)

        def advance_if(condition: Element) -> None:
            increment = b.cast(condition, int64).ir
            out.store("i64", out.op("add", out.load("i64", next_position_cell), increment), next_position_cell)

        with out.loop("0", str(size)) as i:
            x = load(b, dtype, "%result0", offset_of(i))
            advance_if((x > 0.0) | b.is_nan(x) if is_descending else x < 0.0)
        with out.loop("0", str(size)) as i:
            x = load(b, dtype, "%x", offset_of(i))
            with out.if_(x.same(0.0).ir):
                store(b, x, "%result0", offset_of(out.load("i64", next_position_cell)))
                advance_if(b.constant(True, bool_))


@native_lowering("argsort", fits=_is_sortable, work=_single_thread_work, fits_open=_is_sortable_open)
def write_argsort(region: LoweringContext, node: Node) -> None:
    """Compute the positions of the elements in sorted order; equal elements keep their order."""
    if _is_sorted_in_halves(node):
        _sort_in_halves(region, node, returns_positions=True)
        return
    if _is_ordered_by_numpy(node):
        _order_by_numpy(region, node)
        return
    row_sorter = _RowSorter(region, node, result_count=1, returns_positions=True)
    out, b = row_sorter.routine.out, row_sorter.routine.b

    def write(row: Position, column: Position) -> None:
        _, positions = row_sorter.sorter.sort(row_sorter.key_loader(row, column, zeros_are_equal=True))
        with out.loop("0", str(row_sorter.size)) as i:
            store(b, load(b, int32, positions, i), "%result0", row_sorter.offset_of(row, i, column))

    row_sorter.loop_over_rows(write)
    _call_row_routine(region, node, row_sorter)


def _is_ordered_by_numpy(node: Node) -> bool:
    """Return whether NumPy's stable sort of the positions is faster than insertion and than a radix sort."""
    (x,), shape = node.inputs, sizes(node.inputs[0].type)
    is_float64_sort = x.dtype is float64 and not _is_descending(node)
    if not current_target().has_libraries or not is_float64_sort or not is_known(shape):
        return False
    return INSERTION_LIMITS[x.dtype.size] < shape[node.attributes.get("axis", -1)] <= _NUMPY_ORDER_LIMIT


def _order_by_numpy(region: LoweringContext, node: Node) -> None:
    """Order the rows by NumPy, and convert its positions to the dtype of the result."""
    out, (x,), (result,) = region.out, node.inputs, node.results
    original = array_object(region, x)
    array = original or copy_of(region, x)
    axis = node.attributes.get("axis", -1) % len(sizes(x.type))
    positions = out.call_c("PyArray_ArgSort", "ptr", "ptr, i32, i32", array.ir, axis, _STABLE_SORT)
    region.body.fail_if(out.is_null(positions))
    owned_positions = region.body.own_reference(positions)
    region.set(result, region.new_array(result.type))
    routine = Routine(region, ["ptr noalias readonly %x", "ptr noalias %result"])
    with routine.out.loop("0", str(math.prod(sizes(result.type)))) as i:
        number = load(routine.b, int64, "%x", i)
        store(routine.b, routine.b.cast(number, result.dtype), "%result", i)
    call(region, routine.finish(), *pointers(region, owned_positions, result))
    region.body.release(owned_positions.slot)
    if original is None:
        release_copy(region, x, array)


@native_lowering("top_k", fits=lambda node: len(node.inputs) == 1 and _is_sortable(node), fits_open=_is_sortable_open)
def write_top_k(region: LoweringContext, node: Node) -> None:
    """Select the k best elements in one pass, which keeps them in order, if k is small; otherwise sort each row."""
    row_sorter = _RowSorter(region, node, result_count=2, returns_positions=True)
    out, b, count = row_sorter.routine.out, row_sorter.routine.b, node.attributes["k"]
    is_small = count <= _TOP_K_LIMIT and (not isinstance(row_sorter.size, int) or count * 4 <= row_sorter.size)

    def write(row: Position, column: Position) -> None:
        """Store the `count` first elements of the sorted row, and their positions."""
        load_key = row_sorter.key_loader(row, column, zeros_are_equal=True)
        positions = _select_least_keys(row_sorter, load_key, count) if is_small else row_sorter.sorter.sort(load_key)[1]
        start = times(out, row, count)
        with out.loop("0", str(count)) as i:
            position = load(b, int32, positions, i)
            offset = row_sorter.offset_of(row, b.cast(position, int64).ir, column)
            store(b, load(b, row_sorter.dtype, "%x", offset), "%result0", plus(out, start, i))
            store(b, position, "%result1", plus(out, start, i))

    if count:
        row_sorter.loop_over_rows(write)
    _call_row_routine(region, node, row_sorter)


def _select_least_keys(row_sorter: _RowSorter, load_key: Callable[[str], Element], count: int) -> str:
    """Write the search for the `count` least keys, the best elements, by insertion in one pass.

    Return the address of their positions, in order.
    """
    out, b, sorter = row_sorter.routine.out, row_sorter.routine.b, row_sorter.sorter
    keys, positions = sorter.keys[0], sorter.positions[0]

    def insert(i: str, key: Element, last: str) -> None:
        """Insert a key, and its position, into the sorted ones up to `last`."""

        def is_before(target_position: str) -> str:
            return b.compare("gt", load(b, sorter.dtype, keys, target_position), key).ir

        def move(source: str, target: str) -> None:
            store(b, load(b, sorter.dtype, keys, source), keys, target)
            store(b, load(b, uint32, positions, source), positions, target)

        target_position = write_insertion(out, last, is_before, move)
        store(b, key, keys, target_position)
        store(b, b.cast(b.wrap(int64, i), uint32), positions, target_position)

    with out.loop("0", str(count)) as i:
        insert(i, load_key(i), i)
    with out.loop(str(count), str(row_sorter.size)) as i:
        key = load_key(i)
        greatest_kept_key = load(b, sorter.dtype, keys, count - 1)
        with out.unlikely(b.compare("lt", key, greatest_kept_key).ir):
            insert(i, key, str(count - 1))
    return positions
