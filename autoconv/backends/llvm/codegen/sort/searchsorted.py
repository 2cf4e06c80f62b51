"""Lower searchsorted: binary search in sorted vectors, with several interleaved searches.

NumPy's result for an unsorted vector depends on the steps of its search. Since NumPy 2.5 they are those of the
interleaved search. For older versions the order of the vector is checked first; if the vector is not sorted, or if
there are too few searches for the check to pay, native code takes the same steps as NumPy 2.4.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.backends.llvm.analysis.classify_indexing import shape_of
from autoconv.backends.llvm.analysis.representation import is_complex, is_dense, is_static_array, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import native_lowering
from autoconv.backends.llvm.codegen.routine import PartRoutine, Routine, call, open_dimensions, split_routine
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, element_count, is_known, plus, product, times, unravel
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node

_STEP_COST = 25  # cost of one step of one search, in units of 0.05 ns
_LANES = 8  # interleaved searches, to hide the latency of memory
_ASSUMED_STEPS = 10  # steps of a search in a sequence of open size, for the estimate of work
_CHECKED_PER_SEARCH = 256  # elements whose order is checked in the time that interleaving one search saves


def _is_open_search(node: Node) -> bool:
    """Return whether the shapes prove that there is one sequence for each row of numbers, or one for all rows."""
    if not all(is_dense(value.type) and not is_complex(value.type) for value in (*node.inputs, *node.results)):
        return False
    shape, values_shape = (shape_of(value.type) for value in node.inputs)
    return 0 not in (*shape, *values_shape) and shape[:-1] in ((), values_shape[:-1])


def _is_known_search(node: Node) -> bool:
    """Return whether all arrays have known shapes."""
    return all(is_static_array(value.type) for value in node.inputs)


@native_lowering("searchsorted", fits=_is_known_search, fits_open=_is_open_search)
def write_searchsorted(region: LoweringContext, node: Node) -> None:
    """Write the searches, and the check of a vector's order unless it is the result of a sort; threads share groups."""
    (sequence, values), (result,) = node.inputs, node.results
    shape, values_shape = sizes(sequence.type), sizes(values.type)
    parameters = ["ptr noalias readonly %sequence", "ptr noalias readonly %values", "ptr noalias %result"]
    region.set(result, region.new_array(result.type))
    call_arguments = [f"ptr {region.data(value)}" for value in (sequence, values, result)]
    if is_known((*shape, *values_shape)):
        row_count = math.prod(shape[:-1])
        count = math.prod(values_shape) // row_count if row_count else 0
        lanes = max(min(_LANES, count), 1)
        group_count = -(-count // lanes)
        search = _SearchWriter(PartRoutine(region, parameters, optimises_size=True), node)
        search.write((row_count, group_count), count, lanes)
        work = _STEP_COST * row_count * count * max(shape[-1], 1).bit_length()
        name = split_routine(region, parameters, search.routine, row_count * group_count, work)
    else:
        out, dimensions = region.out, open_dimensions(region)
        call_arguments += [f"i64 {_group_count(out, _searches_per_sequence(out, node))}", *dimensions]
        parameters += ["i64 %groups", *dimensions]
        search = _SearchWriter(PartRoutine(region, parameters, optimises_size=True), node)
        loop_shape: list[Position] = [*shape[:-1], "%groups"]
        search.write_for_any_count(loop_shape, _searches_per_sequence(search.out, node))
        work = _STEP_COST * _ASSUMED_STEPS
        name = split_routine(region, parameters, search.routine, loop_shape, work, values_shape)
    if len(shape) == 1 and shape[0] != 0 and not _is_sorted(node) and not _is_numpy_interleaved():
        name = _write_checked_search(region, parameters, node, name)
    call(region, name, *call_arguments)


@functools.cache
def _is_numpy_interleaved() -> bool:
    """Return whether NumPy's search is the interleaved one, as from version 2.5 on."""
    # In this unsorted sequence, the search of NumPy 2.4 and of earlier versions finds 5.
    return bool(np.searchsorted(np.array([0, 0, 0, 9, 0]), 5) == 3)


def _is_sorted(node: Node) -> bool:
    """Return whether the searched sequence is the result of an ascending sort."""
    source = node.inputs[0].node
    return source is not None and source.op.name == "sort" and not source.attributes.get("descending")


def _write_checked_search(region: LoweringContext, parameters: list[str], node: Node, interleaved_search: str) -> str:
    """Write a routine that calls the interleaved search for a sorted sequence, NumPy 2.4's search for others."""
    numpy_writer = _SearchWriter(Routine(region, parameters, optimises_size=True), node)
    numpy_writer.write_numpy_search()
    numpy_search = numpy_writer.routine.finish()
    search = _SearchWriter(Routine(region, parameters), node)
    out, names = search.out, [parameter.name for parameter in search.out.signature.parameters]
    size, count = sizes(node.inputs[0].type)[-1], _searches_per_sequence(out, node)
    has_many_searches = out.icmp("sle", size, times(out, count, _CHECKED_PER_SEARCH))
    is_sorted = out.where(has_many_searches, search.write_order_check, "false")
    with out.if_(is_sorted):
        out.call(interleaved_search, *names)
    with out.unless(is_sorted):
        out.call(numpy_search, *names)
    return search.routine.finish()


def _searches_per_sequence(out: FunctionText, node: Node) -> Position:
    """Return how many numbers are searched in one sequence."""
    shape, values_shape = (sizes(value.type) for value in node.inputs)
    return element_count(out, values_shape if len(shape) == 1 else values_shape[-1:])


def _group_count(out: FunctionText, search_count: Position) -> str:
    """Return the number of groups of numbers; a group has _LANES numbers, or one if there are fewer than _LANES."""
    full_groups = out.op("udiv", plus(out, search_count, _LANES - 1), _LANES)
    return out.select(out.icmp("slt", search_count, _LANES), search_count, full_groups)


class _SearchWriter:
    """A writer of binary searches; nan is the greatest number.

    The interleaved search has no branches, and equally many steps for every number.
    """

    def __init__(self, routine: Routine, node: Node) -> None:
        self.routine, self.out, self.b = routine, routine.out, routine.b
        sequence_type, result_type = node.inputs[0].type, node.results[0].type
        self._dtype: Any = sequence_type.dtype  # type: ignore[union-attr]
        self._result_dtype: Any = result_type.dtype  # type: ignore[union-attr]
        self._size = sizes(sequence_type)[-1]
        self._node = node
        self._is_right_sided = node.attributes.get("side", "left") == "right"

    def write_for_any_count(self, loop_shape: list[Position], search_count: Position) -> None:
        """Write the interleaved search for groups of one and of _LANES numbers, and the choice by their count."""
        out = self.out
        out.either(
            out.icmp("slt", search_count, _LANES),
            lambda: self.write(loop_shape, search_count, 1),
            lambda: self.write(loop_shape, search_count, _LANES),
        )

    def write(self, loop_shape: Any, search_count: Position, lanes: int) -> None:
        """Write the interleaved search for the groups from `%first` to `%last`, of `lanes` numbers each.

        A row has `search_count` numbers. `loop_shape` is the shape of the rows, then the number of groups in a row.
        """
        out = self.out
        with out.loop("%first", "%last") as group_number:
            *row_index, group = unravel(out, group_number, loop_shape)
            row: Position = 0
            for position, size in zip(row_index, loop_shape, strict=False):
                row = plus(out, product(out, row, size), position)
            # The last group of a row starts earlier, so that it is full.
            group_start, last_group_start = times(out, group, lanes), plus(out, search_count, -lanes)
            precedes_last = out.icmp("slt", group_start, last_group_start)
            group_start = out.select(precedes_last, group_start, last_group_start)
            group_start = plus(out, product(out, row, search_count), group_start)
            self._write_interleaved(row, [plus(out, group_start, lane) for lane in range(lanes)])

    def write_order_check(self) -> str:
        """Return an i1 that is true if no element of the sequence is less than the previous element."""
        out, b = self.out, self.b
        count_cell = out.alloca("i64")
        store(b, b.constant(0, int64), count_cell, 0)
        with out.loop("0", str(plus(out, self._size, -1))) as position:
            element, next_element = (load(b, self._dtype, "%sequence", plus(out, position, step)) for step in (0, 1))
            count = load(b, int64, count_cell, 0)
            store(b, count + b.cast(self._is_less(next_element, element), int64), count_cell, 0)
        return out.icmp("eq", load(b, int64, count_cell, 0).ir, 0)

    def write_numpy_search(self) -> None:
        """Write NumPy 2.4's search of all numbers in turn, in which the previous result bounds the next search."""
        out, b, size = self.out, self.b, self._size
        low_cell, high_cell, last_value_cell = out.alloca("i64"), out.alloca("i64"), out.alloca("i64")
        size_number = b.wrap(int64, str(size))
        store(b, b.constant(0, int64), low_cell, 0)
        store(b, size_number, high_cell, 0)
        store(b, b.constant(0, self._dtype), last_value_cell, 0)
        with out.loop("0", str(_searches_per_sequence(out, self._node))) as position:
            value = load(b, self._dtype, "%values", position)
            is_above = self._is_before(load(b, self._dtype, last_value_cell, 0), value)
            store(b, value, last_value_cell, 0)
            start, end = load(b, int64, low_cell, 0), load(b, int64, high_cell, 0)
            store(b, b.select(is_above, start, b.constant(0, int64)), low_cell, 0)
            store(b, b.select(is_above | ~b.compare("lt", end, size_number), size_number, end + 1), high_cell, 0)
            with out.while_(lambda: b.compare("lt", load(b, int64, low_cell, 0), load(b, int64, high_cell, 0)).ir):
                start, end = load(b, int64, low_cell, 0), load(b, int64, high_cell, 0)
                middle = start + b.bits("lshr", end - start, 1)
                is_before = self._is_before(load(b, self._dtype, "%sequence", middle.ir), value)
                store(b, b.select(is_before, middle + 1, start), low_cell, 0)
                store(b, b.select(is_before, end, middle), high_cell, 0)
            store(b, b.cast(load(b, int64, low_cell, 0), self._result_dtype), "%result", position)

    def _is_less(self, x: Element, y: Element) -> Element:
        """Return whether x is less than y, where nan is the greatest number."""
        is_less = self.b.compare("lt", x, y)
        return is_less | (self.b.is_nan(y) & ~self.b.is_nan(x)) if self._dtype.is_floating else is_less

    def _is_before(self, element: Element, value: Element) -> Element:
        """Return whether the position for `value` is after an element of the sequence."""
        return ~self._is_less(value, element) if self._is_right_sided else self._is_less(element, value)

    def _step_count(self) -> str:
        """Return the number of steps of a search."""
        if isinstance(self._size, int):
            return str(max(self._size - 1, 0).bit_length())
        last_position = plus(self.out, self._size, -1)
        return self.out.op("sub", 64, self.out.call_c("llvm.ctlz.i64", "i64", "i64, i1", last_position, "false"))

    def _write_interleaved(self, row: Position, offsets: list[Position]) -> None:
        """Write the searches of a group; if none of its numbers is nan, they use plain comparisons of floats."""
        out, b = self.out, self.b
        start = product(out, row, self._size)
        values = [load(b, self._dtype, "%values", offset) for offset in offsets]
        if not self._dtype.is_floating:
            self._write_steps(start, offsets, values, self._is_before)
            return
        has_nan = functools.reduce(operator.or_, map(b.is_nan, values))
        relation = "le" if self._is_right_sided else "lt"
        out.either(
            has_nan.ir,
            lambda: self._write_steps(start, offsets, values, self._is_before),
            lambda: self._write_steps(start, offsets, values, lambda x, y: b.compare(relation, x, y)),
        )

    def _write_steps(
        self, start: Position, offsets: list[Position], values: list[Element],
        is_before: Callable[[Element, Element], Element],
    ) -> None:  # fmt: skip
        """Write all steps of a group of searches, and the stores of the results at `offsets`.

        `is_before(element, value)` is true if the position for the value is after the element. `start` is the offset of
        the searched sequence.
        """
        out, b, size = self.out, self.b, self._size
        remaining_cell, *low_cells = [out.alloca("i64") for _ in (None, *offsets)]
        store(b, b.wrap(int64, str(max(size, 1) if isinstance(size, int) else size)), remaining_cell, 0)
        for cell in low_cells:
            store(b, b.constant(0, int64), cell, 0)
        with out.loop("0", self._step_count()):
            remaining_count = load(b, int64, remaining_cell, 0)
            half = b.bits("lshr", remaining_count, 1)
            lows = [load(b, int64, cell, 0) for cell in low_cells]
            middle = plus(out, start, half.ir)
            elements = [load(b, self._dtype, "%sequence", plus(out, middle, low.ir)) for low in lows]
            for element, value, low, cell in zip(elements, values, lows, low_cells, strict=True):
                store(b, b.select(is_before(element, value), low + half, low), cell, 0)
            store(b, remaining_count - half, remaining_cell, 0)
        for offset, value, cell in zip(offsets, values, low_cells, strict=True):
            low = load(b, int64, cell, 0)
            if size:
                is_past = is_before(load(b, self._dtype, "%sequence", plus(out, start, low.ir)), value)
                low = b.select(is_past, low + 1, low)
            store(b, b.cast(low, self._result_dtype), "%result", offset)
