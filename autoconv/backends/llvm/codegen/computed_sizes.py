"""Lower sizes that the graph computes to registers, which hold from their node to the end of its region."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.backends.llvm.analysis.classify import SIZES
from autoconv.backends.llvm.analysis.index_map import IndexMap, variables
from autoconv.backends.llvm.analysis.index_maps import MAPS, PLACES, Place
from autoconv.backends.llvm.analysis.representation import register_of
from autoconv.backends.llvm.analysis.symbolic_sizes import dimension
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.memory.slice_bounds import resolve_bounds
from autoconv.backends.llvm.codegen.registry import lowering
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.index_arith import Index, Position
from autoconv.backends.llvm.target import abi
from autoconv.graph.dimensions import ComputedSize, times
from autoconv.graph.dtypes import int64
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import Dimension, Symbol
from autoconv.ops.index_spec import INPUT

_MOST = 1 << 37  # elements: arrays with more are left to NumPy

SIZES.update(dict.fromkeys(("stretched", "resized", "reshaped", "counted_range"), "view"))
SIZES.update(dict.fromkeys(("sizes_of", "sizes_forgotten"), "memory"))
_SIZES = ("size_sum", "slice_sizes", "range_size", "reshape_sizes", "number_sizes", "common_sizes", "some_elements")
SIZES.update(dict.fromkeys(_SIZES, "sizes"))


def _define(region: LoweringContext, symbol: ComputedSize, value: Position) -> None:
    register, module = register_of(symbol), region.body.module
    region.out.line(f"{register} = add i64 {value}, 0")
    module.sizes = (*module.sizes, register)


def _number(region: LoweringContext, value: Value) -> str:
    b = RegisterWriter(region)
    return b.cast(region.number(value), int64).ir


@lowering("sizes_of")
def _write_sizes_of(region: LoweringContext, node: Node) -> None:
    """Load the sizes of an array; one that is not C-contiguous is copied. A library makes no such arrays."""
    out, body, (x,), (result,) = region.out, region.body, node.inputs, node.results
    last = region.uses[x] == 1
    own = body.own(region.take(x, last))
    shape: Any = result.shape
    if not body.calls.has_python:
        region.set(result, own)
        dimensions = out.load("ptr", out.gep("i8", own.ir, abi.DIMENSIONS))
        for axis, size in enumerate(shape):
            if size in node.attributes["defines"]:
                _define(region, size, out.load("i64", out.gep("i64", dimensions, axis)))
        return
    place = out.alloca(f"[{len(shape)} x i64]")
    kind, descriptor = (body.calls.object(item)(out) for item in (np.ndarray, result.dtype.numpy))

    def load(array: str) -> str:
        for axis, size in enumerate(shape):
            out.store("i64", size if isinstance(size, int) else -1, out.gep("i64", place, axis))
        return out.call("is_open_array", array, kind, descriptor, len(shape), place)

    fits = load(own.ir)
    with out.unlikely(out.not_(fits)):
        copied = body.call_python(_placeholder_array, own.ir)
        body.release(own.slot)
        out.store("ptr", copied, own.slot)
        load(copied)
    region.set(result, type(own)(out.load("ptr", own.slot), own.slot))
    for axis, size in enumerate(shape):
        if size in node.attributes["defines"]:
            _define(region, size, out.load("i64", out.gep("i64", place, axis)))


def _placeholder_array(array: np.ndarray) -> np.ndarray:
    return np.require(array, requirements=("C_CONTIGUOUS", "ALIGNED"))


@lowering("sizes_forgotten")
def _write_sizes_forgotten(region: LoweringContext, node: Node) -> None:
    (x,), (result,) = node.inputs, node.results
    region.set(result, region.body.own(region.take(x, region.uses[x] == 1)))


@lowering("size_sum")
def _write_size_sum(region: LoweringContext, node: Node) -> None:
    total = dimension(region.out, node.attributes["total"])
    (symbol,) = node.attributes["defines"]
    _define(region, symbol, region.out.intrinsic("smax", total, 0))


@lowering("slice_sizes")
def _write_slice_sizes(region: LoweringContext, node: Node) -> None:
    iterator = iter(node.inputs)
    parts: list[Any] = [_number(region, next(iterator)) if part == INPUT else part for part in node.attributes["parts"]]
    size = dimension(region.out, node.attributes["size"])
    start, length, _ = resolve_bounds(region, node, parts, size)
    for symbol, value in zip(node.attributes["defines"], (length, start), strict=False):
        _define(region, symbol, value)


@lowering("range_size")
def _write_range_size(region: LoweringContext, node: Node) -> None:
    """Count the integers from start to limit: the distance divided by the step, rounded up; a step of 0 raises."""
    b = RegisterWriter(region)
    (symbol,) = node.attributes["defines"]
    start, limit, step = (b.cast(region.number(value), int64) for value in node.inputs)
    if step.ir == "1":
        distance = limit - start
    else:
        region.refuse(node, step.same(0).ir)
        up = step > 0
        distance, width = b.select(up, limit - start, start - limit), b.select(up, step, -step)
        distance = b.divide(distance + (width - 1), width)
    length = region.out.intrinsic("smax", distance.ir, 0)
    region.refuse(node, region.out.icmp("ugt", length, _MOST))
    _define(region, symbol, length)


@lowering("reshape_sizes")
def _write_reshape_sizes(region: LoweringContext, node: Node) -> None:
    """Compute the size for -1 by division; the product of all has to be the number of elements."""
    out, given = region.out, iter(node.inputs[1:])
    total = dimension(out, node.attributes["count"])
    requested = [_number(region, next(given)) if size is None else size for size in node.attributes["wanted"]]
    requested = [dimension(out, size) if isinstance(size, Symbol) else size for size in requested]
    left = [out.icmp("eq", size, -1) for size in requested]
    rest: Position = 1
    for size, is_left in zip(requested, left, strict=True):
        rest = out.mul(rest, out.select(is_left, 1, size))
    quotient = out.op("sdiv", total, out.select(out.icmp("eq", rest, 0), 1, rest))
    found = [out.select(is_left, quotient, size) for size, is_left in zip(requested, left, strict=True)]
    several: Position = 0
    whole: Position = 1
    wrong = "false"
    for size, is_left in zip(found, left, strict=True):
        several, whole = out.add(several, out.cast("zext", is_left, "i64")), out.mul(whole, size)
        wrong = out.or_(wrong, out.icmp("ugt", size, _MOST))
    wrong = out.or_(wrong, out.icmp("ne", whole, total))
    undecided = out.and_(out.icmp("eq", several, 1), out.icmp("eq", rest, 0))
    region.refuse(node, out.or_(out.or_(wrong, undecided), out.icmp("ugt", several, 1)))
    defines = iter(node.attributes["defines"])
    for size, before in zip(found, node.attributes["wanted"], strict=True):
        if before is None or before == -1:
            _define(region, next(defines), size)


@lowering("number_sizes")
def _write_number_sizes(region: LoweringContext, node: Node) -> None:
    """Take numbers of the program as sizes; none, nor the product of two, may exceed what memory holds."""
    before: Position = 1
    for symbol, value in zip(node.attributes["defines"], node.inputs, strict=True):
        number = _number(region, value)
        region.refuse(node, region.out.icmp("ugt", number, _MOST))
        _define(region, symbol, number)
        if before != 1:
            most = region.out.op("udiv", _MOST, region.out.intrinsic("umax", before, 1))
            region.refuse(node, region.out.icmp("ugt", number, most))
            number = region.out.mul(before, number)
        before = number


@lowering("common_sizes")
def _write_common_sizes(region: LoweringContext, node: Node) -> None:
    """Compare sizes: each is the common one, or 1 where operands may be broadcast."""
    out, wrong = region.out, "false"
    defines, exact = node.attributes["defines"], node.attributes["exact"]
    for common, members in node.attributes["groups"]:
        sizes = [dimension(out, size) for size, _ in members]
        if common in defines:
            common_size = sizes[0]
            for size in () if exact else sizes[1:]:
                common_size = out.select(out.icmp("eq", common_size, 1), size, common_size)
            _define(region, common, common_size)
        target = dimension(out, common)
        for size, (_, factor) in zip(sizes, members, strict=True):
            if size == target:
                continue
            same = out.icmp("eq", size, target)
            if factor is not None:
                _define(region, factor, out.cast("zext", same, "i64"))
            fits = same if exact else out.or_(same, out.icmp("eq", size, 1))
            wrong = out.or_(wrong, out.not_(fits))
    region.refuse(node, wrong)


@lowering("some_elements")
def _write_some_elements(region: LoweringContext, node: Node) -> None:
    out, wrong = region.out, "false"
    for size in node.attributes["needs"]:
        wrong = out.or_(wrong, out.icmp("eq", dimension(out, size), 0))
    region.refuse(node, wrong)


# ---- views


def _stretch(node: Node) -> IndexMap:
    factors = node.attributes["needs"]
    own: list[Dimension] = [times(i, factor) for i, factor in zip(variables(len(factors)), factors, strict=True)]
    return IndexMap(tuple(own))


def _resize(node: Node) -> IndexMap:
    return IndexMap(variables(len(node.results[0].shape or ())))  # type: ignore[arg-type]


def _counted_range(b: Any, node: Node, index: Index) -> Place:
    dtype = node.results[0].dtype
    start = b.cast(b.number(node.inputs[0]), int64)
    step = b.cast(b.number(node.inputs[1]), int64)
    return b.cast(start + b.wrap(int64, str(index[0])) * step, dtype)  # type: ignore[no-any-return]


MAPS.update(stretched=_stretch, resized=_resize, reshaped=MAPS["reshape"])
PLACES["counted_range"] = _counted_range

__all__: list[str] = []
