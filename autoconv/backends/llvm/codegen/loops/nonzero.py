"""Compaction: the coordinates where a condition is true, and the elements or rows that a mask selects.

The selected elements are counted first. Then each element is stored in the next free row of the result, and the row
advances if the element is selected. This loop needs no branches, and stops after the last selected element.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoconv.backends.llvm.analysis.representation import is_dense, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import data_sized_lowering
from autoconv.backends.llvm.codegen.routine import Routine, call, pointers
from autoconv.backends.llvm.ir.index_arith import element_count, plus, product, times, unravel
from autoconv.backends.llvm.ir.scalars import load, store
from autoconv.graph.dtypes import bool_, int64
from autoconv.graph.graph import Node
from autoconv.ops.index_spec import Mask


@data_sized_lowering("where_indices", fits=lambda node: is_dense(node.inputs[0].type))
def write_where(region: LoweringContext, node: Node) -> None:
    """Store the coordinates of the true elements, in the order of the elements."""
    (condition,) = node.inputs
    shape = sizes(condition.type)
    rank, count = len(shape), _count_true(region, region.data(condition), condition.type)
    positions = region.body.new_sized_array(int64, (count, rank))
    parameters = ["ptr noalias readonly %condition", "ptr noalias %result", "i64 %count"]
    routine = Routine(region, parameters)
    out, b = routine.out, routine.b

    def write(i: str, row: str) -> None:
        store(b, b.wrap(int64, i), "%result", times(out, row, rank))

    _write_compaction_loop(routine, write)
    if rank > 1:
        with out.loop("0", "%count") as row:
            start = times(out, row, rank)
            flat_index = load(b, int64, "%result", start)
            for axis, coordinate in enumerate(unravel(out, flat_index.ir, shape)):
                store(b, b.wrap(int64, str(coordinate)), "%result", plus(out, start, axis))
    call_arguments = *pointers(region, condition, positions), f"i64 {count}"
    used_sizes = routine.take_used_sizes()
    call(region, routine.finish(), *used_sizes, *call_arguments)
    region.set(node.results[0], positions)


def _selects_by_mask(node: Node) -> bool:
    """Return whether the node selects elements or rows by a mask of the array's leading shape."""
    if node.attributes["spec"] != (Mask(),) or not all(is_dense(value.type) for value in node.inputs):
        return False
    shape, mask = (sizes(value.type) for value in node.inputs)
    return shape[: len(mask)] == mask


@data_sized_lowering("get_item", fits=_selects_by_mask)
def write_masked(region: LoweringContext, node: Node) -> None:
    """Store the elements that a mask selects, or the rows if the mask has fewer dimensions than the array."""
    x, mask = node.inputs
    row_shape = sizes(x.type)[len(sizes(mask.type)) :]
    dtype = x.dtype
    count = _count_true(region, region.data(mask), mask.type)
    result = region.body.new_sized_array(dtype, (count, *row_shape))
    parameters = ["ptr noalias readonly %condition", "ptr noalias readonly %x", "ptr noalias %result", "i64 %count"]
    routine = Routine(region, parameters)
    out, b = routine.out, routine.b
    row_size = element_count(out, row_shape)

    def write(i: str, row: str) -> None:
        if row_size == 1:
            store(b, load(b, dtype, "%x", i), "%result", row)
        else:
            with out.loop("0", str(row_size)) as j:
                element = load(b, dtype, "%x", plus(out, product(out, i, row_size), j))
                store(b, element, "%result", plus(out, product(out, row, row_size), j))

    _write_compaction_loop(routine, write)
    call_arguments = *pointers(region, mask, x, result), f"i64 {count}"
    used_sizes = routine.take_used_sizes()
    call(region, routine.finish(), *used_sizes, *call_arguments)
    region.set(node.results[0], result)


def _count_true(region: LoweringContext, pointer: str, type_: Any) -> str:
    """Write code that counts the true elements of an array of bools at `pointer`; return the register of the count."""
    routine = Routine(region, ["ptr noalias readonly %condition"], "i64")
    out, b = routine.out, routine.b
    cell = out.alloca("i64", "0")
    with out.loop("0", str(element_count(out, sizes(type_)))) as i:
        store(b, load(b, int64, cell, 0) + b.cast(load(b, bool_, "%condition", i), int64), cell, 0)
    count, used_sizes = load(b, int64, cell, 0), routine.take_used_sizes()
    name = routine.finish(f"ret i64 {count.ir}")
    return region.out.new(f"call i64 @{name}({', '.join([*used_sizes, f'ptr {pointer}'])})")


def _write_compaction_loop(routine: Routine, write: Callable[[str, str], None]) -> None:
    """Write the loop over the elements up to the last true one.

    `write(i, row)` writes the code that stores element `i` in a row of the result.
    """
    out, b = routine.out, routine.b
    next_row_cell, position_cell = out.alloca("i64", "0"), out.alloca("i64", "0")
    with out.while_(lambda: b.compare("lt", load(b, int64, next_row_cell, 0), b.wrap(int64, "%count")).ir):
        row, i = load(b, int64, next_row_cell, 0), load(b, int64, position_cell, 0)
        write(i.ir, row.ir)
        store(b, row + b.cast(load(b, bool_, "%condition", i.ir), int64), next_row_cell, 0)
        store(b, i + 1, position_cell, 0)
