"""Lower cumulative sums, products and extremes, and linear recurrences, to loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.analysis.classify_indexing import broadcasts_to, shape_of
from autoconv.backends.llvm.analysis.representation import is_array, is_dense, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import complex_native, native
from autoconv.backends.llvm.codegen.routine import PART, Routine, call, open_dimensions, partitioned_routine, pointers
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
from autoconv.backends.llvm.ir.types import memory
from autoconv.graph.dtypes import DType
from autoconv.graph.graph import Node
from autoconv.ops.elements import ELEMENTS
from autoconv.ops.traits import MAX, MIN

_LANES = 8  # interleaved rows, to hide the latency of additions
_COST = 8  # cost of one element, in units of 0.05 ns
_LONG_ROW = 4096  # length from which a single row is cut into _LANES parts


class _IterationSpace:
    """`outer` rows of `size` steps, each of `inner` columns; `reverse` iterates from the last step to the first."""

    def __init__(self, out: FunctionText, node: Node, shape: Sequence[Position]) -> None:
        axis_given = node.attributes["axis"]
        axis = 0 if axis_given is None else axis_given % len(shape)
        self.outer = element_count(out, shape[:axis])
        self.size = element_count(out, shape) if axis_given is None else shape[axis]
        self.inner: Position = 1 if axis_given is None else element_count(out, shape[axis + 1 :])
        self.reverse = node.attributes.get("reverse", False)

    def at(self, out: Any, row: Position, step: Position, column: Position) -> Position:
        """Return the offset of an element."""
        along = plus(out, times(out, step, -1), plus(out, self.size, -1)) if self.reverse else step
        start = plus(out, product(out, row, self.size), along)
        return plus(out, product(out, start, self.inner), column)


def _can_scan(node: Node) -> bool:
    return all(is_array(value.type) for value in node.inputs)


def _multiplies_complex(node: Node) -> bool:
    """Return whether operands and results have one dtype (complex sums are split into parts before)."""
    kinds = {value.dtype for value in (*node.inputs, *node.results)}
    return len(kinds) == 1 and _can_scan(node)


def _scans_open(node: Node) -> bool:
    return all(is_dense(value.type) for value in (*node.inputs, *node.results))


@complex_native("cumprod", "numpy_cumprod", fits=_multiplies_complex)
@native("cumsum", "cumprod", "numpy_cumsum", "numpy_cumprod", "cummax", "cummin", fits=_can_scan, of_open=_scans_open)
def write_scan(region: LoweringContext, node: Node) -> None:
    """Vectorise a scan over columns where there are several, else interleave several rows.

    A single long row is cut into parts; afterwards the total of the preceding parts is added to each. Ops with NumPy's
    names keep NumPy's order of float operations.
    """
    (x,), (result,) = node.inputs, node.results
    arguments = [*open_dimensions(region), "ptr noalias readonly %x", "ptr noalias %result"]
    routine = Routine(region, [*arguments, *PART], "i1")
    scan = _Scan(routine, node)
    space, shape = scan.space, sizes(x.type)
    row_axes = shape[: node.attributes["axis"] % len(shape)] if node.attributes["axis"] is not None else ()
    rows: Position | Sequence[Position]
    if not isinstance(space.inner, int) or space.inner > 1:
        rows = row_axes
        scan.by_columns()
    elif _is_long(space) and scan.is_associative:
        rows = 1
        scan.by_parts()
    else:
        rows = -(-space.outer // _LANES) if isinstance(space.outer, int) else row_axes
        scan.by_rows()
    region.set(result, region.new_array(result.type))
    work = _COST * math.prod(shape) if is_known(shape) else _COST
    name = partitioned_routine(region, arguments, routine, rows, work, shape)
    call(region, name, *open_dimensions(region), *pointers(region, x, result))


def _is_long(space: _IterationSpace) -> bool:
    """Return whether there are few rows, each long or of open length."""
    few = isinstance(space.outer, int) and space.outer < _LANES
    return few and (not isinstance(space.size, int) or space.size >= _LONG_ROW)


def _neutral_of_products(b: ElementWriter, dtype: DType) -> Element:
    """Return the neutral element of products."""
    if not dtype.is_complex:
        return b.constant(1, dtype)
    return b.pair(b.constant(1, dtype.real_dtype), b.constant(0, dtype.real_dtype))


class _Scan:
    """A cumulative sum, product or extreme: its operands, and the loops in three orders."""

    def __init__(self, routine: Routine, node: Node) -> None:
        self.out, self.b = routine.out, routine.b
        type_: Any = node.inputs[0].type
        to: Any = node.results[0].type
        self.source_dtype, self.dtype = type_.dtype, to.dtype
        self.space = _IterationSpace(self.out, node, sizes(type_))
        self.product = node.op.name.endswith("cumprod")
        inexact = self.dtype.is_floating or self.dtype.is_complex
        name = node.op.name
        self.extreme = MAX if name == "cummax" else MIN if name == "cummin" else None
        self.is_associative = not inexact or self.extreme is not None or name == "cumsum"
        self.exclusive = node.attributes.get("exclusive", False)
        zero = -0.0 if self.dtype.is_floating and not self.exclusive else 0  # -0.0 + -0.0 stays -0.0
        if self.extreme is not None:
            self.start = self.b.constant(self.extreme.neutral(self.dtype), self.dtype)
        elif self.product:
            self.start = _neutral_of_products(self.b, self.dtype)
        else:
            self.start = self.b.constant(zero, self.dtype)

    def element(self, place: Position) -> Element:
        found = load(self.b, self.source_dtype, "%x", place)
        return found if self.source_dtype is self.dtype else self.b.cast(found, self.dtype)

    def combine(self, x: Element, y: Element) -> Element:
        if self.extreme is not None:
            return ELEMENTS[self.extreme.combine](self.b, x, y)
        return x * y if self.product else x + y

    def by_columns(self) -> None:
        """Scan step by step, all columns of a step in one loop."""
        out, b, at = self.out, self.b, self.space.at
        if not self.space.size:
            return
        with out.loop("%first", "%last") as row:
            with out.loop("0", str(self.space.inner)) as column:
                place = at(out, row, 0, column)
                store(b, self.start if self.exclusive else self.element(place), "%result", place)
            with out.loop("1", str(self.space.size)) as step:
                before = plus(out, step, -1)
                with out.loop("0", str(self.space.inner)) as column:
                    last, place = at(out, row, before, column), at(out, row, step, column)
                    element = self.element(last if self.exclusive else place)
                    store(b, self.combine(load(b, self.dtype, "%result", last), element), "%result", place)

    def by_rows(self) -> None:
        """Scan _LANES rows at once.

        A last, incomplete block repeats rows of the one before; with an open number of rows, it repeats the last row.
        """
        out, space = self.out, self.space
        if not isinstance(space.outer, int):
            count, end = out.new("sub nsw i64 %last, %first"), out.new("sub nsw i64 %last, 1")
            blocks = out.new(f"sdiv i64 {plus(out, count, _LANES - 1)}, {_LANES}")
            with out.loop("0", blocks) as block:
                start = plus(out, times(out, block, _LANES), "%first")
                rows = [minimum(out, plus(out, start, i), end) for i in range(_LANES)]
                self._scan_interleaved(rows, [0] * _LANES, space.size)
            return
        lanes = min(_LANES, space.outer)
        with out.loop("%first", "%last") as block:
            first, latest = times(out, block, lanes), space.outer - lanes
            early = out.new(f"icmp slt i64 {first}, {latest}")
            first = out.new(f"select i1 {early}, i64 {first}, i64 {latest}")
            self._scan_interleaved([plus(out, first, lane) for lane in range(lanes)], [0] * lanes, space.size)

    def by_parts(self) -> None:
        """Scan _LANES parts of each row at once, then add the totals of the preceding parts to each."""
        out, b = self.out, self.b
        size = self.space.size
        part = size // _LANES if isinstance(size, int) else out.new(f"sdiv i64 {size}, {_LANES}")
        with out.loop("0", str(self.space.outer)) as row:
            cells = self._scan_interleaved([row] * _LANES, [times(out, part, lane) for lane in range(_LANES)], part)
            total = load(b, self.dtype, cells[0], 0)
            for lane in range(1, _LANES):
                with out.loop(str(times(out, part, lane)), str(times(out, part, lane + 1))) as step:
                    place = self.space.at(out, row, step, 0)
                    store(b, self.combine(total, load(b, self.dtype, "%result", place)), "%result", place)
                total = self.combine(total, load(b, self.dtype, cells[lane], 0))
            done = times(out, part, _LANES)
            left = plus(out, size, -done if isinstance(done, int) else times(out, done, -1))
            self._scan_interleaved([row], [done], left, total)

    def _scan_interleaved(
        self, rows: Sequence[Position], begins: Sequence[Position], length: Position, start: Element | None = None
    ) -> list[str]:
        """Scan `length` steps in each row from its begin; return the memory of each row's last total."""
        out, b = self.out, self.b
        cells = [out.alloca(memory(self.dtype)) for _ in rows]
        for cell in cells:
            store(b, start or self.start, cell, 0)
        with out.loop("0", str(length)) as step:
            places = [
                self.space.at(out, row, plus(out, step, begin), 0) for row, begin in zip(rows, begins, strict=True)
            ]
            before = [load(b, self.dtype, cell, 0) for cell in cells]
            elements = [self.element(place) for place in places]
            after = [self.combine(x, y) for x, y in zip(before, elements, strict=True)]
            for cell, place, old, new in zip(cells, places, before, after, strict=True):
                store(b, new, cell, 0)
                store(b, old if self.exclusive else new, "%result", place)
        return cells


def _recurs_open(node: Node) -> bool:
    whole = node.results[0].type
    return _scans_open(node) and all(broadcasts_to(shape_of(value.type), shape_of(whole)) for value in node.inputs)


@complex_native("linear_recurrence", fits=_multiplies_complex)
@native("linear_recurrence", fits=_can_scan, of_open=_recurs_open)
def write_recurrence(region: LoweringContext, node: Node) -> None:
    """Compute each step as its addend plus its coefficient times the step before."""
    (coefficient, addend), (result,) = node.inputs, node.results
    names = [f"ptr noalias {name}" for name in ("%coefficient", "%addend", "%result")]
    routine = Routine(region, [*open_dimensions(region), *names])
    out, b = routine.out, routine.b
    type_: Any = result.type
    shape, dtype = sizes(type_), type_.dtype
    space = _IterationSpace(out, node, shape)

    def operand(name: str, value: Any, place: Position) -> Element:
        own = sizes(value.type)
        if own != shape:
            place = linear_offset(out, broadcast_index(unravel(out, place, shape), own), own)
        return load(b, dtype, name, place)

    def step_of(row: Position, step: Position, first: bool) -> None:
        with out.loop("0", str(space.inner)) as column:
            place = space.at(out, row, step, column)
            total = operand("%addend", addend, place)
            if not first:
                last = load(b, dtype, "%result", space.at(out, row, plus(out, step, -1), column))
                total = total + operand("%coefficient", coefficient, place) * last
            store(b, total, "%result", place)

    if 0 not in shape:
        with out.loop("0", str(space.outer)) as row:
            step_of(row, 0, True)
            with out.loop("1", str(space.size)) as step:
                step_of(row, step, False)
    region.set(result, region.new_array(result.type))
    call(region, routine.finish(), *open_dimensions(region), *pointers(region, coefficient, addend, result))
