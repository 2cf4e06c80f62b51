"""Lower NumPy's `reduceat`: reductions of a vector between positions that another vector gives."""

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

_KINDS = {"add.reduceat": "add", "multiply.reduceat": "multiply", "maximum.reduceat": "max", "minimum.reduceat": "min"}

_ALONG = {"axis": ("value", 0)}
_LANES = 8  # partial results of a long part, for vector registers and for less rounding


def is_reduced_at(node: Node) -> bool:
    """Return whether the call reduces a vector between positions, without other arguments."""
    if node.attributes["function"] not in _KINDS or dict(node.attributes.get("keywords", ())) != _ALONG:
        return False
    if node.attributes["arguments"] != (("input", 0), ("input", 1)) or len(node.results) != 1:
        return False
    types: Any = [value.type for value in (*node.inputs, *node.results)]
    if not all(is_dense(one) and len(sizes(one)) == 1 for one in types):
        return False
    x, places, result = (one.dtype for one in types)
    return x is result and not x.is_bool and not x.is_complex and not is_narrow(x) and places is int64


def write_reduced_at(region: LoweringContext, node: Node) -> None:
    """Check the positions, then reduce: each part ends before the next position, or is a single element."""
    out, (x, places), (result,) = region.out, node.inputs, node.results
    region.set(result, region.new_array(result.type))
    wrong = out.alloca("i1", "false")
    pointers = [region.data(places), region.data(x), region.data(result)]
    call(region, _checks(region, node), f"ptr {pointers[0]}", f"ptr {wrong}", *open_dimensions(region))
    region.raise_if(node, out.load("i1", wrong))
    call(region, _write_segment_reduction(region, node), *(f"ptr {one}" for one in pointers), *open_dimensions(region))


def _checks(region: LoweringContext, node: Node) -> str:
    (size,), (count,) = (sizes(value.type) for value in node.inputs)
    routine = Routine(region, ["ptr noalias readonly %places", "ptr noalias %wrong", *open_dimensions(region)])
    out, b = routine.out, routine.b
    with out.loop("0", str(count)) as i:
        outside = b.wrap(bool_, out.icmp("uge", load(b, int64, "%places", i).ir, size))
        out.store("i1", (b.wrap(bool_, out.load("i1", "%wrong")) | outside).ir, "%wrong")
    return routine.finish()


def _write_segment_reduction(region: LoweringContext, node: Node) -> str:
    kind: Any = node.inputs[0].type
    (size,), (count,), dtype = sizes(kind), sizes(node.inputs[1].type), kind.dtype
    names = ("readonly %places", "readonly %x", "%result")
    routine = Routine(region, [*(f"ptr noalias {name}" for name in names), *open_dimensions(region)])
    out, b = routine.out, routine.b
    cells = [out.alloca("i64") for _ in range(_LANES)]
    wide = float64 if dtype is float32 else dtype  # sums of float32 round once
    last = plus(out, count, -1)

    def at(place: Position) -> Element:
        return b.cast(load(b, dtype, "%x", place), wide)

    def join(cell: str, place: Position) -> None:
        store(b, _combine_pair(b, node, load(b, wide, cell, 0), at(place)), cell, 0)

    def reduce_lanes(start: str, length: str) -> None:
        for lane, cell in enumerate(cells):
            store(b, at(plus(out, start, lane)), cell, 0)
        turns = out.op("udiv", length, _LANES)
        with out.loop("1", turns) as turn:
            for lane, cell in enumerate(cells):
                join(cell, plus(out, plus(out, start, out.mul(turn, _LANES)), lane))
        reduce_rest(plus(out, start, out.mul(turns, _LANES)), plus(out, start, length))
        step = _LANES // 2
        while step:
            for cell, other in zip(cells[:step], cells[step:], strict=False):
                store(b, _combine_pair(b, node, load(b, wide, cell, 0), load(b, wide, other, 0)), cell, 0)
            step //= 2

    def reduce_rest(begin: Position, end: Position) -> None:
        with out.loop(str(begin), str(end)) as j:
            join(cells[0], j)

    def reduce_few(start: str, length: str) -> None:
        store(b, at(start), cells[0], 0)
        reduce_rest(plus(out, start, 1), plus(out, start, length))

    with out.loop("0", str(count)) as i:
        start = load(b, int64, "%places", i).ir
        following = out.select(out.icmp("eq", i, last), i, out.add(i, 1))
        end = out.select(out.icmp("eq", i, last), size, load(b, int64, "%places", following).ir)
        length = out.intrinsic("smax", out.op("sub", end, start), 1)
        few = out.icmp("slt", length, 2 * _LANES)
        out.either(few, functools.partial(reduce_few, start, length), functools.partial(reduce_lanes, start, length))
        store(b, b.cast(load(b, wide, cells[0], 0), dtype), "%result", i)
    return routine.finish()


def _combine_pair(b: Any, node: Node, x: Element, y: Element) -> Element:
    """Return the reduction of two numbers; a nan is the extreme of both."""
    kind = _KINDS[node.attributes["function"]]
    if kind in ("add", "multiply"):
        return x + y if kind == "add" else x * y
    better = b.compare("gt" if kind == "max" else "lt", x, y)
    choice = b.select(better, x, y)
    return b.select(b.is_nan(x), x, choice) if x.dtype.is_floating else choice
