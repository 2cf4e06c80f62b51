"""Lower operations on whole typed lists: sort, sum, search, conversion to and from an array."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import and_

from autoconv.backends.llvm.analysis.representation import is_dense, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.lists.ordering import extremum_function, has_nan, is_less
from autoconv.backends.llvm.codegen.lists.typed import (
    BYTES_LIMIT,
    LENGTH_RANGE,
    TypedList,
    dtype_of,
    item_of,
    load_item,
    new_list,
    remove_item,
    reserve,
    set_item,
    store_item,
    typed_operand,
)
from autoconv.backends.llvm.codegen.lists.typed_slices import clamp_bound, insert_gap
from autoconv.backends.llvm.codegen.memory.ops import normalise_index
from autoconv.backends.llvm.codegen.registry import data_sized_lowering
from autoconv.backends.llvm.codegen.routine import Routine
from autoconv.backends.llvm.codegen.sort.radix import write_insertion
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.index_arith import element_count, times
from autoconv.backends.llvm.ir.operand import TRUE
from autoconv.backends.llvm.ir.scalars import Element
from autoconv.backends.llvm.ir.types import register
from autoconv.graph.dtypes import bool_, int64
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Node
from autoconv.graph.python_operators import SUM_COMPENSATES
from autoconv.graph.types import TensorType
from autoconv.ops.lists.item_layout import ItemType, fields, has_floats, item_size
from autoconv.ops.numpy.list_arrays import TYPED_LIST_ARRAY

_INSERTION_LIMIT = 40  # most items that are sorted by insertion; the kernel sorts more of them by NumPy


_NATIVE_CHANGES = ("delete", "insert", "reverse", "sort")


@data_sized_lowering("typed_list_change", fits=lambda node: node.attributes["method"] in _NATIVE_CHANGES)
def _write_change(region: LoweringContext, node: Node) -> None:
    """Write a change of a list; a list that native code cannot sort is sorted by the kernel."""
    out, x, method = region.out, typed_operand(region, node), node.attributes["method"]
    if method == "reverse":
        out.call(_reverse_function(region, x.item), x.start(), x.length())
        return
    if method == "delete":
        remove_item(x, normalise_index(region, node, node.inputs[1], x.length()))
        return
    if method == "insert":
        position = clamp_bound(region, region.number(node.inputs[1]), x.length())
        insert_gap(region, x, position)
        x.store(position, [region.number(value) for value in node.inputs[2:]])
        return
    is_unsorted = out.call(_sort_function(region, x.item), x.start(), x.length())
    with out.unlikely(is_unsorted):
        region.call_kernel(node, is_rare=True)


def _sort_function(region: LoweringContext, item: ItemType) -> str:
    """Return the name of a function that sorts a few items by insertion, which is stable.

    If there are many items, or one has a nan, the function returns true and leaves the list as it is.
    """
    routine = Routine(region, ["ptr %items", "i64 %count"], "i1")
    out = routine.out
    with out.leaving(out.icmp("ugt", "%count", _INSERTION_LIMIT)):
        out.ret(TRUE)
    if has_floats(item):
        has_nan_cell = out.alloca("i1", "false")
        with out.loop("0", "%count") as i:
            old_flag = out.load("i1", has_nan_cell)
            out.store("i1", out.or_(has_nan(load_item(out, "%items", i, item)), old_flag), has_nan_cell)
        with out.leaving(out.load("i1", has_nan_cell), unlikely=True):
            out.ret(TRUE)
    with out.loop("1", "%count") as i:
        elements = load_item(out, "%items", i, item)
        final_position = write_insertion(
            out, i, lambda source: is_less(elements, load_item(out, "%items", source, item)),
            lambda source, position: store_item(
                out, "%items", position, load_item(out, "%items", source, item), item
            ),
        )  # fmt: skip
        store_item(out, "%items", final_position, elements, item)
    return routine.finish("ret i1 false")


def _reverse_function(region: LoweringContext, item: ItemType) -> str:
    """Return the name of a routine that reverses items in place."""
    routine = Routine(region, ["ptr %items", "i64 %count"])
    out = routine.out
    half, last = out.op("lshr", "%count", 1), out.op("sub", "%count", 1)
    with out.loop("0", half) as i:
        mirrored_index = out.op("sub", last, i)
        first, second = (load_item(out, "%items", index, item) for index in (i, mirrored_index))
        store_item(out, "%items", i, second, item)
        store_item(out, "%items", mirrored_index, first, item)
    return routine.finish()


@data_sized_lowering("typed_list_reduce", fits=lambda node: _is_native_reduction(node))
def _write_reduce(region: LoweringContext, node: Node) -> None:
    """Write `sum`, `min` or `max` of a list; integers that overflow raise."""
    out, x = region.out, typed_operand(region, node)
    function, length = node.attributes["function"], x.length()
    if function in ("min", "max") or (function == "sum" and has_floats(x.item)):
        region.raise_if(node, out.icmp("eq", length, 0))
    if not isinstance(x.item, TensorType):
        position = out.call(extremum_function(region, x.item, function), x.start(), length)
        region.raise_if(node, out.icmp("slt", position, 0))  # for a nan
        set_item(region, node, x.load(position))
        return
    if function == "sum" and not has_floats(x.item):
        total = out.call(_sum_function(region, x.item), x.start(), length)
        result = out.cast("trunc", total, "i64")
        region.raise_if(node, out.icmp("ne", out.cast("sext", result, "i128"), total))
        region.set(node.results[0], RegisterWriter(region).wrap(int64, result))
        return
    name = _fold_function(region, x.item, function)
    result = out.call(name, x.start(), length)
    region.set(node.results[0], RegisterWriter(region).wrap(x.item.dtype, result))


def _is_native_reduction(node: Node) -> bool:
    """Return whether a reduction has native code."""
    item, function = item_of(node), node.attributes["function"]
    return function in ("min", "max") or (function == "sum" and (not has_floats(item) or item_size(item) == 8))


def _sum_function(region: LoweringContext, item: ItemType) -> str:
    """Return the name of a routine that adds integers in 128 bits."""
    routine = Routine(region, ["ptr readonly %items", "i64 %count"], "i128")
    out, b = routine.out, routine.b
    total_cell = out.alloca("i128", "0")
    with out.loop("0", "%count") as i:
        (element,) = load_item(out, "%items", i, item)
        wide_item = out.cast("sext", b.cast(element, int64).ir, "i128")
        out.store("i128", out.op("add", wide_item, out.load("i128", total_cell)), total_cell)
    return routine.finish(f"ret i128 {out.load('i128', total_cell)}")


def _fold_function(region: LoweringContext, item_type: TensorType, function: str) -> str:
    """Return the name of a function that reduces the items in order.

    As in Python, a comparison with a nan keeps the earlier item, and from version 3.12 on, a sum is compensated.
    """
    dtype, ir_type = item_type.dtype, register(item_type.dtype)
    if function == "sum" and SUM_COMPENSATES:
        return _compensated_sum_function(region, item_type)
    routine = Routine(region, ["ptr readonly %items", "i64 %count"], ir_type)
    out, b = routine.out, routine.b
    cell = out.alloca(ir_type)
    initial = b.constant(0, dtype) if function == "sum" else load_item(out, "%items", "0", item_type)[0]
    out.store(ir_type, initial.ir, cell)
    with out.loop("0", "%count") as i:
        (item,), total = load_item(out, "%items", i, item_type), b.wrap(dtype, out.load(ir_type, cell))
        if function == "sum":
            new_total = total + item
        else:
            new_total = b.select(b.compare("lt" if function == "min" else "gt", item, total), item, total)
        out.store(ir_type, new_total.ir, cell)
    return routine.finish(f"ret {ir_type} {out.load(ir_type, cell)}")


def _compensated_sum_function(region: LoweringContext, item_type: TensorType) -> str:
    """Return the name of a function that adds floats, and then the rounding errors of these additions."""
    dtype, ir_type = item_type.dtype, register(item_type.dtype)
    routine = Routine(region, ["ptr readonly %items", "i64 %count"], ir_type)
    out, b = routine.out, routine.b
    zero = b.constant(0, dtype)
    total_cell, error_cell = out.alloca(ir_type, zero.ir), out.alloca(ir_type, zero.ir)
    with out.loop("0", "%count") as i:
        (item,), total = load_item(out, "%items", i, item_type), b.wrap(dtype, out.load(ir_type, total_cell))
        new_total = total + item
        is_total_larger = b.compare("ge", b.intrinsic("fabs", total), b.intrinsic("fabs", item))
        error = b.select(is_total_larger, (total - new_total) + item, (item - new_total) + total)
        out.store(ir_type, (b.wrap(dtype, out.load(ir_type, error_cell)) + error).ir, error_cell)
        out.store(ir_type, new_total.ir, total_cell)
    total, error = (b.wrap(dtype, out.load(ir_type, cell)) for cell in (total_cell, error_cell))
    # The error is left out if it is infinite or NaN, or zero: a total of -0.0 keeps its sign.
    is_counted = b.compare("lt", zero, b.intrinsic("fabs", error)) & b.compare("eq", error - error, zero)
    return routine.finish(f"ret {ir_type} {b.select(is_counted, total + error, total).ir}")


@data_sized_lowering("typed_list_find", fits=lambda node: not has_floats(item_of(node)))
def _write_find(region: LoweringContext, node: Node) -> None:
    """Write `count`, `index` or a test of membership."""
    out, x, b = region.out, typed_operand(region, node), RegisterWriter(region)
    method, length = node.attributes["method"], x.length()
    numbers = [region.number(value).ir for value in node.inputs[1:]]
    name = _count_function(region, x.item) if method == "count" else _search_function(region, x.item)
    result = b.wrap(int64, out.call(name, x.start(), length, *numbers))
    if method == "__contains__":
        region.set(node.results[0], b.wrap(bool_, out.icmp("ne", result.ir, length)))
        return
    if method == "index":
        region.raise_if(node, out.icmp("eq", result.ir, length))
    region.body.record_range(result, LENGTH_RANGE)
    region.set(node.results[0], result)


def _search_routine(region: LoweringContext, item: ItemType) -> tuple[Routine, Callable[[str], Element]]:
    """Return a routine with the parameter `%count`, and a function that writes whether the item at a position is equal.

    The other parameters are the address of the items, and the numbers of the sought item.
    """
    registers = [(f"%number{i}", field.dtype) for i, field in enumerate(fields(item))]
    parameters = [f"{register(dtype)} {name}" for name, dtype in registers]
    routine = Routine(region, ["ptr readonly %items", "i64 %count", *parameters], "i64")

    def is_found(position: str) -> Element:
        elements = load_item(routine.out, "%items", position, item)
        pairs = zip(registers, elements, strict=True)
        return reduce(and_, [routine.b.wrap(dtype, name).same(element) for (name, dtype), element in pairs])

    return routine, is_found


def _search_function(region: LoweringContext, item: ItemType) -> str:
    """Return the name of a function that returns the index of the first equal item, or the length if there is none."""
    routine, is_found = _search_routine(region, item)
    with routine.out.loop("0", "%count") as i, routine.out.leaving(is_found(i).ir):
        routine.out.ret(i)
    return routine.finish("ret i64 %count")


def _count_function(region: LoweringContext, item: ItemType) -> str:
    """Return the name of a routine that counts the items that equal the given one."""
    routine, is_found = _search_routine(region, item)
    out = routine.out
    cell = out.alloca("i64", "0")
    with out.loop("0", "%count") as i:
        out.store("i64", out.op("add", routine.b.cast(is_found(i), int64).ir, out.load("i64", cell)), cell)
    return routine.finish(f"ret i64 {out.load('i64', cell)}")


@data_sized_lowering(TYPED_LIST_ARRAY, fits=lambda node: _needs_no_conversion(node))
def _write_array(region: LoweringContext, node: Node) -> None:
    """Copy the items into a new array; the kernel raises for an empty list if its array would have another dtype."""
    out, x = region.out, typed_operand(region, node)
    size = x.size()
    if node.effects & Effects.RAISE:
        region.raise_if(node, out.icmp("eq", size, 0))
    array = region.body.new_sized_array(dtype_of(node), (x.length(),))
    out.copy(region.address(array), x.start(), size)
    region.set(node.results[0], array)


def _needs_no_conversion(node: Node) -> bool:
    """Return whether the array has the items of the list as they are, in one dimension."""
    return node.attributes["dtype"] is dtype_of(node) and node.attributes["shape"] == (None,)


@data_sized_lowering("typed_list_from_array", fits=lambda node: is_dense(node.inputs[0].type))
def _write_from_array(region: LoweringContext, node: Node) -> None:
    """Write a new list of an array's elements."""
    out, (x,), item = region.out, node.inputs, item_of(node)
    size = str(times(out, element_count(out, sizes(x.type)), item_size(item)))
    result = new_list(region, size)
    out.copy(TypedList(out, result.ir, item).start(), region.data(x), size)
    region.set(node.results[0], result)


@data_sized_lowering("typed_list_extend")
def _write_extend(region: LoweringContext, node: Node) -> None:
    """Write the addition of another list's items at the end."""
    out, x = region.out, typed_operand(region, node)
    added_list = TypedList(out, region.object(node.inputs[1]).ir, x.item)
    size, added_size = x.size(), added_list.size()
    new_size = out.op("add", size, added_size)
    reserve(region, x, new_size)
    target = out.gep("i8", x.start(), size, inbounds=False)
    out.copy(target, added_list.start(), added_size)
    x.set_size(new_size)


@data_sized_lowering("typed_list_range", fits=lambda node: _constant_step(node) == 1)
def _write_range(region: LoweringContext, node: Node) -> None:
    """Write a list of consecutive integers."""
    out = region.out
    start, stop = (region.number(value).ir for value in node.inputs[:2])
    is_nonempty = out.icmp("sgt", stop, start)
    count = out.select(is_nonempty, out.op("sub", stop, start), 0)
    region.raise_if(node, out.icmp("ugt", count, BYTES_LIMIT // 8))
    result, item = new_list(region, out.op("shl", count, 3)), item_of(node)
    routine = Routine(region, ["ptr %items", "i64 %count", "i64 %start"])
    with routine.out.loop("0", "%count") as i:
        store_item(routine.out, "%items", i, [routine.b.wrap(int64, routine.out.op("add", i, "%start"))], item)
    name = routine.finish()
    out.call(name, TypedList(out, result.ir, item).start(), count, start)
    region.set(node.results[0], result)


def _constant_step(node: Node) -> int | None:
    """Return the step of a range if it is a constant, else None."""
    constant = node.inputs[2].node
    return int(constant.attributes["value"]) if constant is not None and constant.op.name == "constant" else None


def _has_flat_items(node: Node) -> bool:
    """Return whether the items are Python's numbers or tuples of them, which do not nest."""
    item = item_of(node)
    return item.weak if isinstance(item, TensorType) else all(isinstance(part, TensorType) for part in item.items)


@data_sized_lowering("typed_list_of", "typed_list_of_rows", fits=_has_flat_items)
def _write_typed_list_of(region: LoweringContext, node: Node) -> None:
    """Convert a Python list to a typed list; the kernel raises if an item is of another class."""
    out, body, item = region.out, region.body, item_of(node)
    dtypes = [field.dtype for field in fields(item)]
    classes = out.alloca(f"[{len(dtypes)} x ptr]")
    for i, dtype in enumerate(dtypes):
        class_ = bool if dtype.is_bool else float if dtype.is_floating else int
        out.store("ptr", body.objects.reference(class_)(out), out.gep("ptr", classes, i))
    list_, depth = region.object(node.inputs[0]).ir, node.attributes.get("depth", 1)
    number_count = 0 if isinstance(item, TensorType) else len(dtypes)
    call_arguments = (list_, classes, number_count, item_size(item), depth)
    result = out.call_c("object_numbers", "ptr", "ptr, ptr, i64, i64, i64", *call_arguments)
    region.raise_if(node, out.is_null(result))
    region.set(node.results[0], body.own_reference(result))
