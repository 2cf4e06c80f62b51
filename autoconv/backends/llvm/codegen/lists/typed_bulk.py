"""Lower operations on whole typed lists: sort, sum, search, slice."""

from __future__ import annotations

import sys

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.lists.typed import TypedList, dtype_of, get, list_of, new_list, put
from autoconv.backends.llvm.codegen.registry import counted
from autoconv.backends.llvm.codegen.routine import Routine
from autoconv.backends.llvm.codegen.sort.radix import shift_up_larger
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.operand import TRUE
from autoconv.backends.llvm.ir.scalars import Element
from autoconv.backends.llvm.ir.types import register
from autoconv.graph.dtypes import DType, bool_, int64
from autoconv.graph.graph import Node

_FEW = 40  # items up to which insertion sorts; the kernel sorts more by NumPy


@counted("typed_list_change", fits=lambda node: node.attributes["method"] in ("sort", "reverse"))
def _write_change(region: LoweringContext, node: Node) -> None:
    out, x = region.out, list_of(region, node)
    if node.attributes["method"] == "reverse":
        out.call(_reverse_function(region, x.dtype), x.start(), x.length())
        return
    others = out.call(_sort_function(region, x.dtype), x.start(), x.length())
    with out.unlikely(others):
        region.call_kernel(node, rarely=True)


def _sort_function(region: LoweringContext, dtype: DType) -> str:
    """Return a function that sorts a few items by insertion, which is stable.

    It returns true, having done nothing, if there are many items or one is a nan.
    """
    routine = Routine(region, ["ptr %items", "i64 %count"], "i1")
    out, b = routine.out, routine.b
    with out.leaving(out.icmp("ugt", "%count", _FEW)):
        out.ret(TRUE)
    if dtype.is_floating:
        wrong = out.alloca("i1", "false")
        with out.loop("0", "%count") as i:
            nan = b.is_nan(get(out, "%items", i, dtype))
            before = out.load("i1", wrong)
            out.store("i1", out.or_(nan.ir, before), wrong)
        with out.leaving(out.load("i1", wrong), unlikely=True):
            out.ret(TRUE)
    with out.loop("1", "%count") as i:
        item = get(out, "%items", i, dtype)
        place = shift_up_larger(
            out, i, lambda last: b.compare("lt", item, get(out, "%items", last, dtype)).ir,
            lambda last, place: put(out, "%items", place, get(out, "%items", last, dtype)),
        )  # fmt: skip
        put(out, "%items", place, item)
    return routine.finish("ret i1 false")


def _reverse_function(region: LoweringContext, dtype: DType) -> str:
    routine = Routine(region, ["ptr %items", "i64 %count"])
    out = routine.out
    half, last = out.op("lshr", "%count", 1), out.op("sub", "%count", 1)
    with out.loop("0", half) as i:
        other = out.op("sub", last, i)
        first, second = (get(out, "%items", at, dtype) for at in (i, other))
        put(out, "%items", i, second)
        put(out, "%items", other, first)
    return routine.finish()


@counted("typed_list_reduce", fits=lambda node: _has_loop(node))
def _write_reduce(region: LoweringContext, node: Node) -> None:
    out, x = region.out, list_of(region, node)
    function, length = node.attributes["function"], x.length()
    if function in ("min", "max") or (function == "sum" and x.dtype.is_floating):
        region.refuse(node, out.icmp("eq", length, 0))
    if function == "sum" and not x.dtype.is_floating:
        total = out.call(_whole_sum(region, x.dtype), x.start(), length)
        result = out.cast("trunc", total, "i64")
        region.refuse(node, out.icmp("ne", out.cast("sext", result, "i128"), total))
        region.set(node.results[0], RegisterWriter(region).wrap(int64, result))
        return
    name = _fold_function(region, x.dtype, function)
    result = out.call(name, x.start(), length)
    region.set(node.results[0], RegisterWriter(region).wrap(x.dtype, result))


def _has_loop(node: Node) -> bool:
    """Return whether the reduction is native; floats are summed one by one, as Python does up to 3.11."""
    dtype, function = dtype_of(node), node.attributes["function"]
    return function in ("min", "max") or (
        function == "sum" and (not dtype.is_floating or (sys.version_info < (3, 12) and dtype.size == 8))
    )


def _whole_sum(region: LoweringContext, dtype: DType) -> str:
    routine = Routine(region, ["ptr readonly %items", "i64 %count"], "i128")
    out, b = routine.out, routine.b
    total = out.alloca("i128", "0")
    with out.loop("0", "%count") as i:
        item = b.cast(get(out, "%items", i, dtype), int64)
        wide = out.cast("sext", item.ir, "i128")
        out.store("i128", out.op("add", wide, out.load("i128", total)), total)
    return routine.finish(f"ret i128 {out.load('i128', total)}")


def _fold_function(region: LoweringContext, dtype: DType, function: str) -> str:
    """Return a function that reduces the items in order.

    As in Python, a comparison with a nan keeps the earlier item.
    """
    kind = register(dtype)
    routine = Routine(region, ["ptr readonly %items", "i64 %count"], kind)
    out, b = routine.out, routine.b
    cell = out.alloca(kind)
    first = b.constant(0, dtype) if function == "sum" else get(out, "%items", "0", dtype)
    out.store(kind, first.ir, cell)
    with out.loop("0", "%count") as i:
        item, best = get(out, "%items", i, dtype), b.wrap(dtype, out.load(kind, cell))
        if function == "sum":
            after = best + item
        else:
            after = b.select(b.compare("lt" if function == "min" else "gt", item, best), item, best)
        out.store(kind, after.ir, cell)
    return routine.finish(f"ret {kind} {out.load(kind, cell)}")


@counted("typed_list_find", fits=lambda node: not dtype_of(node).is_floating)
def _write_find(region: LoweringContext, node: Node) -> None:
    out, x, b = region.out, list_of(region, node), RegisterWriter(region)
    item, method, length = region.number(node.inputs[1]), node.attributes["method"], x.length()
    name = _count_routine(region, x.dtype) if method == "count" else _search_function(region, x.dtype)
    result = b.wrap(int64, out.call(name, x.start(), length, item.ir))
    if method == "__contains__":
        region.set(node.results[0], b.wrap(bool_, out.icmp("ne", result.ir, length)))
        return
    if method == "index":
        region.refuse(node, out.icmp("eq", result.ir, length))
    region.body.note_range(result, (0, 1 << 60))
    region.set(node.results[0], result)


def _search_function(region: LoweringContext, dtype: DType) -> str:
    """Return a function that finds the first equal item; its result is the length if there is none."""
    routine = Routine(region, ["ptr readonly %items", "i64 %count", f"{register(dtype)} %item"], "i64")
    out, b = routine.out, routine.b
    with out.loop("0", "%count") as i:
        is_found = _is_equal(b.wrap(dtype, "%item"), get(out, "%items", i, dtype))
        with out.leaving(is_found):
            out.ret(i)
    return routine.finish("ret i64 %count")


def _count_routine(region: LoweringContext, dtype: DType) -> str:
    routine = Routine(region, ["ptr readonly %items", "i64 %count", f"{register(dtype)} %item"], "i64")
    out, b = routine.out, routine.b
    cell = out.alloca("i64", "0")
    with out.loop("0", "%count") as i:
        same = b.cast(b.wrap(dtype, "%item").same(get(out, "%items", i, dtype)), int64).ir
        out.store("i64", out.op("add", same, out.load("i64", cell)), cell)
    return routine.finish(f"ret i64 {out.load('i64', cell)}")


def _is_equal(first: Element, second: Element) -> str:
    return first.same(second).ir


@counted("typed_list_slice", fits=lambda node: not node.attributes["given"][2])
def _write_slice(region: LoweringContext, node: Node) -> None:
    out, x = region.out, list_of(region, node)
    length = x.length()
    start, stop, _ = node.attributes["given"]
    bounds = iter(node.inputs[1:])
    first = _clamp(region, region.number(next(bounds)), length) if start else "0"
    last = _clamp(region, region.number(next(bounds)), length) if stop else length
    none = out.icmp("slt", last, first)
    last = out.select(none, first, last)
    size = out.op("mul", out.op("sub", last, first), x.dtype.size)
    items = new_list(region, size)
    source = out.gep("i8", x.start(), out.op("mul", first, x.dtype.size), inbounds=False)
    out.copy(TypedList(out, items.ir, x.dtype).start(), source, size)
    region.set(node.results[0], items)


def _clamp(region: LoweringContext, bound: Element, length: str) -> str:
    """Clamp a bound of a slice to the list."""
    out = region.out
    position = RegisterWriter(region).cast(bound, int64).ir
    below = out.icmp("slt", position, 0)
    moved = out.select(below, out.op("add", position, length), position)
    low = out.select(out.icmp("slt", moved, 0), 0, moved)
    return out.select(out.icmp("sgt", low, length), length, low)


@counted("typed_list_extend", fits=lambda node: True)
def _write_extend(region: LoweringContext, node: Node) -> None:
    out, x = region.out, list_of(region, node)
    more = TypedList(out, region.object(node.inputs[1]).ir, x.dtype)
    size, added = x.size(), more.size()
    region.body.check(out.call("grow_bytes", x.ir, out.op("add", added, 1)))
    target = out.gep("i8", x.start(), size, inbounds=False)
    out.copy(target, more.start(), added)
    x.set_size(out.op("add", size, added))


@counted("typed_list_range", fits=lambda node: _step(node) == 1)
def _write_range(region: LoweringContext, node: Node) -> None:
    out = region.out
    start, stop = (region.number(value).ir for value in node.inputs[:2])
    many = out.icmp("sgt", stop, start)
    count = out.select(many, out.op("sub", stop, start), 0)
    region.refuse(node, out.icmp("ugt", count, 1 << 43))
    items = new_list(region, out.op("shl", count, 3))
    routine = Routine(region, ["ptr %items", "i64 %count", "i64 %start"])
    with routine.out.loop("0", "%count") as i:
        put(routine.out, "%items", i, routine.b.wrap(int64, routine.out.op("add", i, "%start")))
    name = routine.finish()
    out.call(name, TypedList(out, items.ir, int64).start(), count, start)
    region.set(node.results[0], items)


def _step(node: Node) -> int | None:
    constant = node.inputs[2].node
    return int(constant.attributes["value"]) if constant is not None and constant.op.name == "constant" else None


@counted("typed_list_of", "typed_list_of_rows", fits=lambda node: node.attributes["element"].weak)
def _write_of(region: LoweringContext, node: Node) -> None:
    """Convert a Python list; the kernel raises if an item is of another class."""
    out, body, dtype = region.out, region.body, dtype_of(node)
    kind = bool if dtype.is_bool else float if dtype.is_floating else int
    call_arguments = (
        region.object(node.inputs[0]).ir,
        body.calls.object(kind)(out),
        dtype.size,
        node.attributes.get("depth", 1),
    )
    result = out.call_c("object_numbers", "ptr", "ptr, ptr, i64, i64", *call_arguments)
    region.refuse(node, out.is_null(result))
    region.set(node.results[0], body.own(result))
