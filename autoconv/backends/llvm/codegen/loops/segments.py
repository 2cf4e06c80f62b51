"""Lower NumPy's `reduceat`: reductions of segments of a vector; another vector has the positions where they begin."""

from __future__ import annotations

import functools
from typing import Any

from autoconv.backends.llvm.analysis.representation import is_dense, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.routine import Routine, call, open_dimensions
from autoconv.backends.llvm.ir.index_arith import Position, plus
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.ir.types import is_narrow
from autoconv.graph.dtypes import bool_, float32, float64, int64
from autoconv.graph.graph import Node

_COMBINE_BY_FUNCTION = {
    "add.reduceat": "add", "multiply.reduceat": "multiply", "maximum.reduceat": "max", "minimum.reduceat": "min",
}  # fmt: skip

_AXIS_KEYWORDS = {"axis": ("value", 0)}  # the keyword arguments of a call whose axis is the constant 0
_LANES = 8  # partial results of a long segment, which use vector registers and round less


def is_reduceat(node: Node) -> bool:
    """Return whether a call of a ufunc's method is a `reduceat` of a vector that has native code."""
    keywords = dict(node.attributes.get("keywords", ()))
    if node.attributes["function"] not in _COMBINE_BY_FUNCTION or keywords != _AXIS_KEYWORDS:
        return False
    if node.attributes["arguments"] != (("input", 0), ("input", 1)) or len(node.results) != 1:
        return False
    types: Any = [value.type for value in (*node.inputs, *node.results)]
    if not all(is_dense(type_) and len(sizes(type_)) == 1 for type_ in types):
        return False
    x, positions, result = (type_.dtype for type_ in types)
    return x is result and not x.is_bool and not x.is_complex and not is_narrow(x) and positions is int64


def write_reduceat(region: LoweringContext, node: Node) -> None:
    """Write the check of the positions, and the reduction of each segment.

    A segment ends before the next position; if that is not greater, the segment is a single element.
    """
    out, (x, positions), (result,) = region.out, node.inputs, node.results
    region.set(result, region.new_array(result.type))
    is_wrong_cell = out.alloca("i1", "false")
    pointers = [f"ptr {region.data(value)}" for value in (positions, x, result)]
    call(region, _write_position_check(region, node), pointers[0], f"ptr {is_wrong_cell}", *open_dimensions(region))
    region.raise_if(node, out.load("i1", is_wrong_cell))
    call(region, _write_segment_reduction(region, node), *pointers, *open_dimensions(region))


def _write_position_check(region: LoweringContext, node: Node) -> str:
    """Return the name of a function that sets an i1 if a position is out of range."""
    (size,), (count,) = (sizes(value.type) for value in node.inputs)
    routine = Routine(region, ["ptr noalias readonly %places", "ptr noalias %wrong", *open_dimensions(region)])
    out, b = routine.out, routine.b
    with out.loop("0", str(count)) as i:
        is_outside = b.wrap(bool_, out.icmp("uge", load(b, int64, "%places", i).ir, size))
        out.store("i1", (b.wrap(bool_, out.load("i1", "%wrong")) | is_outside).ir, "%wrong")
    return routine.finish()


def _write_segment_reduction(region: LoweringContext, node: Node) -> str:
    """Return the name of a function that reduces all segments."""
    type_: Any = node.inputs[0].type
    (size,), (count,), dtype = sizes(type_), sizes(node.inputs[1].type), type_.dtype
    parameters = [f"ptr noalias {name}" for name in ("readonly %places", "readonly %x", "%result")]
    routine = Routine(region, [*parameters, *open_dimensions(region)])
    out, b = routine.out, routine.b
    cells = [out.alloca("i64") for _ in range(_LANES)]
    total_dtype = float64 if dtype is float32 else dtype  # sums of float32 round once
    last_segment = plus(out, count, -1)

    def load_element(position: Position) -> Element:
        return b.cast(load(b, dtype, "%x", position), total_dtype)

    def combine(cell: str, position: Position) -> None:
        store(b, _combine_pair(b, node, load(b, total_dtype, cell, 0), load_element(position)), cell, 0)

    def reduce_lanes(start: str, length: str) -> None:
        for lane, cell in enumerate(cells):
            store(b, load_element(plus(out, start, lane)), cell, 0)
        trip_count = out.op("udiv", length, _LANES)
        with out.loop("1", trip_count) as iteration:
            for lane, cell in enumerate(cells):
                combine(cell, plus(out, plus(out, start, out.mul(iteration, _LANES)), lane))
        reduce_serially(plus(out, start, out.mul(trip_count, _LANES)), plus(out, start, length))
        half = _LANES // 2
        while half:
            for cell, other in zip(cells[:half], cells[half:], strict=False):
                store(b, _combine_pair(b, node, load(b, total_dtype, cell, 0), load(b, total_dtype, other, 0)), cell, 0)
            half //= 2

    def reduce_serially(start: Position, end: Position) -> None:
        with out.loop(str(start), str(end)) as j:
            combine(cells[0], j)

    def reduce_short(start: str, length: str) -> None:
        store(b, load_element(start), cells[0], 0)
        reduce_serially(plus(out, start, 1), plus(out, start, length))

    with out.loop("0", str(count)) as i:
        start = load(b, int64, "%places", i).ir
        next_i = out.select(out.icmp("eq", i, last_segment), i, out.add(i, 1))  # the last segment has no next position
        end = out.select(out.icmp("eq", i, last_segment), size, load(b, int64, "%places", next_i).ir)
        length = out.intrinsic("smax", out.op("sub", end, start), 1)
        is_short = out.icmp("slt", length, 2 * _LANES)
        write_short = functools.partial(reduce_short, start, length)
        out.either(is_short, write_short, functools.partial(reduce_lanes, start, length))
        store(b, b.cast(load(b, total_dtype, cells[0], 0), dtype), "%result", i)
    return routine.finish()


def _combine_pair(b: Any, node: Node, x: Element, y: Element) -> Element:
    """Return the reduction of two numbers; if one is nan, so is their maximum or minimum."""
    operation = _COMBINE_BY_FUNCTION[node.attributes["function"]]
    if operation in ("add", "multiply"):
        return x + y if operation == "add" else x * y
    is_better = b.compare("gt" if operation == "max" else "lt", x, y)
    choice = b.select(is_better, x, y)
    return b.select(b.is_nan(x), x, choice) if x.dtype.is_floating else choice
