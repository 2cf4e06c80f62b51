"""Lower NumPy's `reduceat`: reductions of segments along an axis; a vector has the segments' first positions."""

from __future__ import annotations

import functools
from typing import Any

from autoconv.backends.llvm.analysis.representation import is_dense, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import native_lowering
from autoconv.backends.llvm.codegen.routine import Routine, call, open_dimensions
from autoconv.backends.llvm.ir.index_arith import Position, element_count, plus, product
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.ir.types import is_narrow
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dtypes import bool_, float32, float64, int64
from autoconv.graph.graph import Node

_LANES = 8  # partial results of a long segment, which use vector registers and round less


def _is_native_reduction(node: Node) -> bool:
    """Return whether native code reduces the segments.

    It reduces those of vectors, and in a C library, which cannot call NumPy, those of other arrays too.
    """
    x: Any = node.inputs[0].type
    if not is_dense(x) or is_narrow(x.dtype) or x.dtype.is_complex:
        return False
    functions = ("logical_or", "logical_and") if x.dtype.is_bool else ("add", "multiply", "maximum", "minimum")
    is_supported = node.attributes["function"] in functions
    return is_supported and (len(sizes(x)) == 1 or not current_target().has_libraries)


@native_lowering("reduceat", fits=_is_native_reduction, fits_open=_is_native_reduction)
def write_reduceat(region: LoweringContext, node: Node) -> None:
    """Write the check of the positions, and the reduction of each segment.

    A segment ends before the next position. If the next position is not greater, the segment is a single element.
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
    shape, (count,) = (sizes(value.type) for value in node.inputs)
    size = shape[node.attributes["axis"] % len(shape)]
    routine = Routine(region, ["ptr noalias readonly %positions", "ptr noalias %wrong", *open_dimensions(region)])
    out, b = routine.out, routine.b
    with out.loop("0", str(count)) as i:
        is_outside = b.wrap(bool_, out.icmp("uge", load(b, int64, "%positions", i).ir, size))
        out.store("i1", (b.wrap(bool_, out.load("i1", "%wrong")) | is_outside).ir, "%wrong")
    return routine.finish()


def _write_segment_reduction(region: LoweringContext, node: Node) -> str:
    """Return the name of a function that reduces all segments."""
    type_: Any = node.inputs[0].type
    shape, (count,), dtype = sizes(type_), sizes(node.inputs[1].type), type_.dtype
    axis = node.attributes["axis"] % len(shape)
    parameters = [f"ptr noalias {name}" for name in ("readonly %positions", "readonly %x", "%result")]
    routine = Routine(region, [*parameters, *open_dimensions(region)])
    out, b = routine.out, routine.b
    outer_count, inner_count = element_count(out, shape[:axis]), element_count(out, shape[axis + 1 :])
    first_cell = out.alloca("i64")  # the position in `x` of the first element of the row that is reduced
    cells = [out.alloca("i64") for _ in range(_LANES)]
    total_dtype = float64 if dtype is float32 else dtype  # sums of float32 round once
    last_segment = plus(out, count, -1)

    def load_element(position: Position) -> Element:
        offset = plus(out, out.load("i64", first_cell), product(out, position, inner_count))
        return b.cast(load(b, dtype, "%x", offset), total_dtype)

    def combine(cell: str, position: Position) -> None:
        store(b, _combine_pair(b, node, load(b, total_dtype, cell, 0), load_element(position)), cell, 0)

    def reduce_lanes(start: str, length: str) -> None:
        """Reduce a long segment to `_LANES` partial results, and combine these pairwise."""
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

    row_loop, segment_loop, column_loop = (out.loop("0", str(size)) for size in (outer_count, count, inner_count))
    with row_loop as row, segment_loop as i, column_loop as column:
        out.store("i64", plus(out, product(out, row, product(out, shape[axis], inner_count)), column), first_cell)
        start = load(b, int64, "%positions", i).ir
        next_i = out.select(out.icmp("eq", i, last_segment), i, out.add(i, 1))  # the last segment has no next position
        end = out.select(out.icmp("eq", i, last_segment), shape[axis], load(b, int64, "%positions", next_i).ir)
        length = out.intrinsic("smax", out.op("sub", end, start), 1)
        is_short = out.icmp("slt", length, 2 * _LANES)
        write_short = functools.partial(reduce_short, start, length)
        out.either(is_short, write_short, functools.partial(reduce_lanes, start, length))
        target = plus(out, product(out, plus(out, product(out, row, count), i), inner_count), column)
        store(b, b.cast(load(b, total_dtype, cells[0], 0), dtype), "%result", target)
    return routine.finish()


def _combine_pair(b: Any, node: Node, x: Element, y: Element) -> Element:
    """Return the reduction of two numbers; if one is nan, so is their maximum or minimum."""
    match node.attributes["function"]:
        case "add":
            return x + y
        case "multiply":
            return x * y
        case "logical_or":
            return x | y
        case "logical_and":
            return x & y
        case function:
            choice = b.select(b.compare("gt" if function == "maximum" else "lt", x, y), x, y)
            return b.select(b.is_nan(x), x, choice) if x.dtype.is_floating else choice
