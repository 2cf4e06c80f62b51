"""Binary search in sorted vectors, several searches interleaved.

NumPy's result for an unsorted vector depends on its steps. A vector is therefore checked first. NumPy's search is
followed step by step where it is not sorted, and where there are too few numbers to pay for the check.
"""

from __future__ import annotations

import math
from typing import Any

from autoconv.backends.llvm.analysis.classify_indexing import shape_of
from autoconv.backends.llvm.analysis.representation import is_array, is_complex, is_dense, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import native_lowering
from autoconv.backends.llvm.codegen.routine import PART, Routine, call, open_dimensions, partitioned_routine
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, element_count, is_known, plus, product, times, unravel
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node

_WORK = 25  # cost of one step of one search, in units of 0.05 ns
_LANES = 8  # interleaved searches, to hide the latency of memory
_STEPS = 10  # assumed steps of a search in a sequence of open size
_CHECKED = 256  # elements whose order is checked in the time that an interleaved search saves


def _of_open(node: Node) -> bool:
    """Return whether each row of numbers has a sequence, by the symbols of both."""
    if not all(is_dense(value.type) and not is_complex(value.type) for value in (*node.inputs, *node.results)):
        return False
    shape, needles = (shape_of(value.type) for value in node.inputs)
    return 0 not in (*shape, *needles) and shape[:-1] in ((), needles[:-1])


@native_lowering("searchsorted", fits=lambda node: all(is_array(value.type) for value in node.inputs), of_open=_of_open)
def write_searchsorted(region: LoweringContext, node: Node) -> None:
    (sequence, values), (result,) = node.inputs, node.results
    shape, needles = sizes(sequence.type), sizes(values.type)
    arguments = ["ptr noalias readonly %sequence", "ptr noalias readonly %values", "ptr noalias %result"]
    region.set(result, region.new_array(result.type))
    call_arguments = [f"ptr {region.data(value)}" for value in (sequence, values, result)]
    if is_known((*shape, *needles)):
        rows = math.prod(shape[:-1])
        each = math.prod(needles) // rows if rows else 0
        lanes = max(min(_LANES, each), 1)
        search = _Search(Routine(region, [*arguments, *PART], "i1", optimises_size=True), node)
        search.write((rows, -(-each // lanes)), each, lanes)
        work = _WORK * rows * each * max(shape[-1], 1).bit_length()
        name = partitioned_routine(region, arguments, search.routine, rows * -(-each // lanes), work)
    else:
        out, dimensions = region.out, open_dimensions(region)
        call_arguments += [f"i64 {_group_count(out, _searches_per_sequence(out, node))}", *dimensions]
        arguments += ["i64 %groups", *dimensions]
        search = _Search(Routine(region, [*arguments, *PART], "i1", optimises_size=True), node)
        counts: list[Position] = [*shape[:-1], "%groups"]
        search.write_either(counts, _searches_per_sequence(search.out, node))
        name = partitioned_routine(region, arguments, search.routine, counts, _WORK * _STEPS, needles)
    if len(shape) == 1 and shape[0] != 0 and not _is_sorted(node):
        name = _for_any_order(region, arguments, node, name)
    call(region, name, *call_arguments)


def _is_sorted(node: Node) -> bool:
    """Return whether the searched sequence is the result of a sort."""
    source = node.inputs[0].node
    return source is not None and source.op.name == "sort" and not source.attributes.get("descending")


def _for_any_order(region: LoweringContext, arguments: list[str], node: Node, interleaved: str) -> str:
    """Return a routine that calls the interleaved search for a sorted sequence, and NumPy's for others."""
    stepwise = _Search(Routine(region, arguments, optimises_size=True), node)
    stepwise.write_numpy_search()
    numpy_search = stepwise.routine.finish()
    search = _Search(Routine(region, arguments), node)
    out, names = search.out, [parameter.name for parameter in search.out.signature.parameters]
    size, count = sizes(node.inputs[0].type)[-1], _searches_per_sequence(out, node)
    is_many = out.icmp("sle", size, times(out, count, _CHECKED))
    is_sorted = out.where(is_many, search.write_order_check, "false")
    with out.if_(is_sorted):
        out.call(interleaved, *names)
    with out.unless(is_sorted):
        out.call(numpy_search, *names)
    return search.routine.finish()


def _searches_per_sequence(out: FunctionText, node: Node) -> Position:
    """Return how many numbers are searched in one sequence."""
    shape, needles = (sizes(value.type) for value in node.inputs)
    return element_count(out, needles if len(shape) == 1 else needles[-1:])


def _group_count(out: FunctionText, each: Position) -> str:
    """Return the number of groups: of _LANES numbers where there are enough, else of one."""
    several = out.op("udiv", plus(out, each, _LANES - 1), _LANES)
    return out.select(out.icmp("slt", each, _LANES), each, several)


class _Search:
    """Branch-free binary search, with equally many steps for every number; nan exceeds all numbers."""

    def __init__(self, routine: Routine, node: Node) -> None:
        self.routine, self.out, self.b = routine, routine.out, routine.b
        kind, target = node.inputs[0].type, node.results[0].type
        self._dtype: Any = kind.dtype  # type: ignore[union-attr]
        self._target: Any = target.dtype  # type: ignore[union-attr]
        self._size = sizes(kind)[-1]
        self._node = node
        self._right = node.attributes.get("side", "left") == "right"

    def write_either(self, counts: list[Position], each: Position) -> None:
        """Write the search, as `write`, in groups of one or _LANES numbers, chosen at run time."""
        out = self.out
        few = out.icmp("slt", each, _LANES)
        out.either(few, lambda: self.write(counts, each, 1), lambda: self.write(counts, each, _LANES))

    def write(self, counts: Any, each: Position, lanes: int) -> None:
        """Search the part's groups of `lanes` numbers.

        A row has `each` numbers, in as many groups as the last of `counts`.
        """
        out = self.out
        with out.loop("%first", "%last") as number:
            *rows, group = unravel(out, number, counts)
            row: Position = 0
            for position, size in zip(rows, counts, strict=False):
                row = plus(out, product(out, row, size), position)
            # The last group of a row starts earlier, to be full.
            begin, latest = times(out, group, lanes), plus(out, each, -lanes)
            early = out.icmp("slt", begin, latest)
            begin = out.select(early, begin, latest)
            begin = plus(out, product(out, row, each), begin)
            self._search(row, [plus(out, begin, lane) for lane in range(lanes)])

    def write_order_check(self) -> str:
        """Return the i1 that holds where no element of the sequence is less than the one before it."""
        out, b = self.out, self.b
        descents = out.alloca("i64")
        store(b, b.constant(0, int64), descents, 0)
        with out.loop("0", str(plus(out, self._size, -1))) as place:
            one, next_one = (load(b, self._dtype, "%sequence", plus(out, place, step)) for step in (0, 1))
            store(b, load(b, int64, descents, 0) + b.cast(self._is_less(next_one, one), int64), descents, 0)
        return out.icmp("eq", load(b, int64, descents, 0).ir, 0)

    def write_numpy_search(self) -> None:
        """Search all numbers in turn, as NumPy does: the bounds of each search begin at the result before it."""
        out, b, size = self.out, self.b, self._size
        low, high, latest = out.alloca("i64"), out.alloca("i64"), out.alloca("i64")
        whole = b.wrap(int64, str(size))
        store(b, b.constant(0, int64), low, 0)
        store(b, whole, high, 0)
        store(b, b.constant(0, self._dtype), latest, 0)
        with out.loop("0", str(_searches_per_sequence(out, self._node))) as place:
            value = load(b, self._dtype, "%values", place)
            is_above = self._goes_before(load(b, self._dtype, latest, 0), value)
            store(b, value, latest, 0)
            begin, end = load(b, int64, low, 0), load(b, int64, high, 0)
            store(b, b.select(is_above, begin, b.constant(0, int64)), low, 0)
            store(b, b.select(is_above | ~b.compare("lt", end, whole), whole, end + 1), high, 0)
            with out.while_(lambda: b.compare("lt", load(b, int64, low, 0), load(b, int64, high, 0)).ir):
                begin, end = load(b, int64, low, 0), load(b, int64, high, 0)
                middle = begin + b.bits("lshr", end - begin, 1)
                is_before = self._goes_before(load(b, self._dtype, "%sequence", middle.ir), value)
                store(b, b.select(is_before, middle + 1, begin), low, 0)
                store(b, b.select(is_before, end, middle), high, 0)
            store(b, b.cast(load(b, int64, low, 0), self._target), "%result", place)

    def _is_less(self, x: Element, y: Element) -> Element:
        less = self.b.compare("lt", x, y)
        return less | (self.b.is_nan(y) & ~self.b.is_nan(x)) if self._dtype.is_floating else less

    def _goes_before(self, element: Element, value: Element) -> Element:
        return ~self._is_less(value, element) if self._right else self._is_less(element, value)

    def _step_count(self) -> str:
        if isinstance(self._size, int):
            return str(max(self._size - 1, 0).bit_length())
        before = plus(self.out, self._size, -1)
        return self.out.op("sub", 64, self.out.call_c("llvm.ctlz.i64", "i64", "i64, i1", before, "false"))

    def _search(self, row: Position, places: list[Position]) -> None:
        out, b, size = self.out, self.b, self._size
        start = product(out, row, size)
        sought = [load(b, self._dtype, "%values", place) for place in places]
        cells = [out.alloca("i64") for _ in (None, *places)]
        store(b, b.wrap(int64, str(max(size, 1) if isinstance(size, int) else size)), cells[0], 0)
        for cell in cells[1:]:
            store(b, b.constant(0, int64), cell, 0)
        with out.loop("0", self._step_count()):
            left = load(b, int64, cells[0], 0)
            half = b.bits("lshr", left, 1)
            lows = [load(b, int64, cell, 0) for cell in cells[1:]]
            middle = plus(out, start, (half - 1).ir)
            elements = [load(b, self._dtype, "%sequence", plus(out, middle, low.ir)) for low in lows]
            for one, value, low, cell in zip(elements, sought, lows, cells[1:], strict=True):
                store(b, b.select(self._goes_before(one, value), low + half, low), cell, 0)
            store(b, left - half, cells[0], 0)
        for place, value, cell in zip(places, sought, cells[1:], strict=True):
            low = load(b, int64, cell, 0)
            if size:
                last = self._goes_before(load(b, self._dtype, "%sequence", plus(out, start, low.ir)), value)
                low = b.select(last, low + 1, low)
            store(b, b.cast(low, self._target), "%result", place)
