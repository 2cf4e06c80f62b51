"""Lower order statistics to NumPy's selection on a copy of the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.backends.llvm.analysis.representation import is_complex, is_dense, is_scalar, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import native
from autoconv.backends.llvm.codegen.routine import Routine, open_dimensions
from autoconv.backends.llvm.codegen.sort.sort_keys import from_key, key_dtype, to_key
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.index_arith import Position, element_count, is_known, plus, product
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.ir.types import register
from autoconv.graph.dtypes import DType, int64
from autoconv.graph.graph import Node
from autoconv.graph.types import TensorType


def _is_native(node: Node) -> bool:
    x, places = (value.type for value in node.inputs)
    return is_dense(x) and not is_complex(x) and (is_scalar(places) or is_dense(places))


@native("order_statistics", fits=_is_native, of_open=_is_native)
def write_order_statistics(region: LoweringContext, node: Node) -> None:
    """Copy the rows, let NumPy move the elements at the positions to their places, and gather them.

    Medians and quantiles also need the element after a selected position, and the last one. These are the least and
    the greatest of the elements after that position, and a scan finds them.
    """
    out, b, (x, places), (result,) = region.out, RegisterWriter(region), node.inputs, node.results
    shape, dtype = sizes(x.type), x.dtype
    count = 1 if is_scalar(places.type) else sizes(places.type)[0]
    rows = x.type if is_known(shape) else TensorType(dtype, (None,))
    selected = region.new_array(x.type) if is_known(shape) else region.body.new_sized_array(dtype, shape)
    out.copy(region.address(selected), region.data(x), product(out, element_count(out, shape), dtype.size))
    if is_scalar(result.type):
        target = out.alloca("i64")
    else:
        region.set(result, region.new_array(result.type))
        target = region.data(result)
    pivot, name = out.alloca("i64"), _gather_routine(region, node, count)
    last = plus(out, shape[node.attributes["axis"]], -1)
    for i, place in enumerate(_checked_positions(region, node, count)):
        if i:
            before = out.load("i64", pivot)
            is_last = out.and_(out.icmp("eq", place, last), out.icmp("sge", place, before))
            with out.unless(out.or_(is_last, out.icmp("ult", out.op("sub", place, before), 2))):
                _select(region, node, selected, place, pivot)
        else:
            _select(region, node, selected, place, pivot)
        pointers = (region.data(x), region.address(selected), target)
        out.call(name, *pointers, out.load("i64", pivot), place, i, *region.body.module.sizes)
    if is_scalar(result.type):
        region.set(result, load(b, dtype, target, 0))
    region.body.release_or_keep(selected.slot, rows)


def _select(region: LoweringContext, node: Node, array: Any, place: str, pivot: str) -> None:
    """Partition each row at the position `place`, as `numpy.partition` does, and store the position in `pivot`."""
    out, vector = region.out, TensorType(int64, (1,))
    kth = region.new_array(vector)
    out.store("i64", place, region.address(kth))
    axis = node.attributes["axis"]
    status = out.call_c("PyArray_Partition", "i32", "ptr, ptr, i32, i32", array.ir, kth.ir, axis, 0)
    region.body.fail_if(out.icmp("slt", status, 0))
    region.body.release_or_keep(kth.slot, vector)
    out.store("i64", place, pivot)


def _checked_positions(region: LoweringContext, node: Node, count: int) -> list[str]:
    """Return the positions, checked; a negative one counts from the end."""
    out, b, (x, places) = region.out, RegisterWriter(region), node.inputs
    size = sizes(x.type)[node.attributes["axis"]]
    elements = (
        [region.number(places)] if is_scalar(places.type) else [region.element(places, (i,)) for i in range(count)]
    )
    result: list[str] = []
    for place in (b.cast(element, int64).ir for element in elements):
        result.append(out.select(out.icmp("slt", place, 0), out.add(place, size), place))
        region.raise_if(node, out.icmp("uge", result[-1], size))
    return result


def _gather_routine(region: LoweringContext, node: Node, count: int) -> str:
    """Return the name of a routine that takes one element of each row, at or after the position that was selected last.

    Of zeros, which are equal, it takes the one that a stable sort puts there.
    """
    kind: Any = node.inputs[0].type
    shape, axis, dtype = sizes(kind), node.attributes["axis"], kind.dtype
    arguments = ["ptr noalias readonly %x", "ptr noalias readonly %selected", "ptr noalias %result"]
    arguments += [f"{register(int64)} {name}" for name in ("%pivot", "%place", "%column")]
    arguments += open_dimensions(region)
    routine = Routine(region, arguments)
    out, b = routine.out, routine.b
    inner, size = element_count(out, shape[axis + 1 :]), shape[axis]
    with out.loop("0", str(element_count(out, shape[:axis]))) as row, out.loop("0", str(inner)) as column:
        start = plus(out, product(out, product(out, row, size), inner), column)

        def at(place: Position, start: Position = start) -> Element:
            return load(b, dtype, "%selected", plus(out, start, product(out, place, inner)))

        target = plus(out, product(out, plus(out, product(out, row, count), "%column"), inner), column)
        store(b, _scan(routine, dtype, at, size), "%result", target)
        if dtype.is_floating:
            with out.unlikely(load(b, dtype, "%result", target).same(0.0).ir):
                store(b, _stable_zero(routine, dtype, start, inner, size), "%result", target)
    return routine.finish()


def _scan(routine: Routine, dtype: DType, at: Callable[[Position], Element], size: Position) -> Element:
    """Return the element at `%place`: `%pivot`, the least one behind it if that is the next, else the greatest."""
    out, b = routine.out, routine.b
    cell, keys = out.alloca("i64"), key_dtype(dtype)
    begin = plus(out, "%pivot", 1)

    def scan(name: str) -> None:
        store(b, to_key(b, at("%place" if name == "umin" else "%pivot"), False, False), cell, 0)
        with out.loop(str(begin), str(size)) as i:
            key = to_key(b, at(i), False, False)
            store(b, b.intrinsic(name, load(b, keys, cell, 0), key), cell, 0)

    is_next = out.icmp("eq", out.op("sub", "%place", "%pivot"), 1)
    is_same = out.icmp("eq", "%place", "%pivot")
    out.either(
        is_same,
        lambda: store(b, to_key(b, at("%pivot"), False, False), cell, 0),
        lambda: out.either(is_next, lambda: scan("umin"), lambda: scan("umax")),
    )
    return from_key(b, load(b, keys, cell, 0), dtype, False)


def _stable_zero(routine: Routine, dtype: DType, start: Position, step: Position, size: Position) -> Element:
    """Return the zero of a row of `%x` that a stable sort moves to `%place`."""
    out, b = routine.out, routine.b
    before, after = out.alloca("i64"), out.alloca("i64")
    out.store("i64", 0, before)

    def counted(condition: Element) -> None:
        out.store("i64", out.add(out.load("i64", before), b.cast(condition, int64).ir), before)

    with out.loop("0", str(size)) as i:
        counted(load(b, dtype, "%x", plus(out, start, product(out, i, step))) < 0.0)
    with out.loop("0", str(size)) as i:
        number = load(b, dtype, "%x", plus(out, start, product(out, i, step)))
        is_zero = number.same(0.0)
        here = out.and_(is_zero.ir, out.icmp("eq", out.load("i64", before), "%place"))
        with out.unlikely(here):
            store(b, number, after, 0)
        counted(is_zero)
    return load(b, dtype, after, 0)
