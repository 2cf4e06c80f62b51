"""Compaction: the coordinates where a condition is true, and the elements or rows that a mask selects.

The selected elements are counted first. Then each element is stored in the next free row of the result, and the row
advances if the element is selected. This loop stops after the last selected element. It has no branch on the selection,
which could not be predicted, but skips blocks without selected elements.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from autoconv.backends.llvm.analysis.representation import is_dense, sizes
from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.registry import data_sized_lowering
from autoconv.backends.llvm.codegen.routine import Routine, call, pointers
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, element_count, plus, product, times, unravel
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dtypes import DType, bool_, int64
from autoconv.graph.graph import Node
from autoconv.ops.index_spec import Mask

_LARGE_BLOCK, _SMALL_BLOCK = 64, 8  # elements that are skipped at once where none is selected
_LOWEST_BITS = int.from_bytes(bytes([1]) * 8)  # of the bools in a word


class VectorSource(NamedTuple):
    """The elements that are stored: `write(out, start)` returns a vector of the next 8 of them, as integers."""

    ir_type: str
    write: Callable[[FunctionText, str], str]


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

    vector = VectorSource("i64", _write_positions) if rank == 1 else None
    _write_compaction_loop(routine, element_count(out, shape), write, vector)
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


def _write_positions(out: FunctionText, start: str) -> str:
    """Return the vector of `start` and the positions after it."""
    type_ = f"<{_SMALL_BLOCK} x i64>"
    single = out.new(f"insertelement {type_} poison, i64 {start}, i64 0")
    starts = out.new(f"shufflevector {type_} {single}, {type_} poison, <{_SMALL_BLOCK} x i32> zeroinitializer")
    offsets = ", ".join(f"i64 {offset}" for offset in range(_SMALL_BLOCK))
    return out.new(f"add {type_} {starts}, <{offsets}>")


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
        """Copy a selected element or row of `x` to a row of the result."""
        if row_size == 1:
            store(b, load(b, dtype, "%x", i), "%result", row)
        else:
            with out.loop("0", str(row_size)) as j:
                element = load(b, dtype, "%x", plus(out, product(out, i, row_size), j))
                store(b, element, "%result", plus(out, product(out, row, row_size), j))

    _write_compaction_loop(routine, element_count(out, sizes(mask.type)), write, _elements_source(dtype, row_size))
    call_arguments = *pointers(region, mask, x, result), f"i64 {count}"
    used_sizes = routine.take_used_sizes()
    call(region, routine.finish(), *used_sizes, *call_arguments)
    region.set(node.results[0], result)


def _elements_source(dtype: DType, row_size: Position) -> VectorSource | None:
    """Return the source of the elements of `%x`; None for rows, and for elements that have no vector instruction."""
    if row_size != 1 or dtype.size not in (4, 8):
        return None
    ir_type = f"i{8 * dtype.size}"
    vector_type = f"<{_SMALL_BLOCK} x {ir_type}>"

    def write(out: FunctionText, start: str) -> str:
        return out.new(f"load {vector_type}, ptr {out.gep(ir_type, '%x', start)}, align {dtype.size}")

    return VectorSource(ir_type, write)


def _count_true(region: LoweringContext, pointer: str, type_: Any) -> str:
    """Write code that counts the true elements of an array of bools at `pointer`; return the register of the count."""
    routine = Routine(region, ["ptr noalias readonly %condition"], "i64")
    out, b = routine.out, routine.b
    cell = out.alloca("i64", "0")
    size = element_count(out, sizes(type_))
    word_count = size // _SMALL_BLOCK if isinstance(size, int) else out.op("lshr", size, 3)
    with out.loop("0", str(word_count)) as i:
        word = out.new(f"load i64, ptr {out.gep('i64', '%condition', i)}, align 1")
        ones = b.wrap(int64, out.new(f"and i64 {word}, {_LOWEST_BITS}"))
        store(b, load(b, int64, cell, 0) + b.intrinsic("ctpop", ones), cell, 0)
    with out.loop(str(times(out, word_count, _SMALL_BLOCK)), str(size)) as i:
        store(b, load(b, int64, cell, 0) + b.cast(load(b, bool_, "%condition", i), int64), cell, 0)
    count, used_sizes = load(b, int64, cell, 0), routine.take_used_sizes()
    name = routine.finish(f"ret i64 {count.ir}")
    return region.out.new(f"call i64 @{name}({', '.join([*used_sizes, f'ptr {pointer}'])})")


def _write_compaction_loop(
    routine: Routine, size: Any, write: Callable[[str, str], None], vector: VectorSource | None
) -> None:
    """Write the loop over the elements of a condition up to the last true one, which skips blocks of false ones.

    `write(i, row)` writes the code that stores element `i` in a row of the result. `vector` has several elements at
    once, for targets that move selected lanes together.
    """
    out, b = routine.out, routine.b
    next_row_cell, position_cell = out.alloca("i64", "0"), out.alloca("i64", "0")

    def has_more() -> str:
        return b.compare("lt", load(b, int64, next_row_cell, 0), b.wrap(int64, "%count")).ir

    def write_step() -> None:
        row, i = load(b, int64, next_row_cell, 0), load(b, int64, position_cell, 0)
        write(i.ir, row.ir)
        store(b, row + b.cast(load(b, bool_, "%condition", i.ir), int64), next_row_cell, 0)
        store(b, i + 1, position_cell, 0)

    def write_steps() -> None:
        with out.loop("0", str(_SMALL_BLOCK), unrolled=False), out.if_(has_more()):
            write_step()

    def write_vector_step(vector: VectorSource) -> None:
        row, start = load(b, int64, next_row_cell, 0), load(b, int64, position_cell, 0)
        store(b, row + _write_compressed(routine, vector, start.ir, row.ir), next_row_cell, 0)
        store(b, start + _SMALL_BLOCK, position_cell, 0)

    def write_block(block_size: int, write_selected: Callable[[], None]) -> None:
        """Write code that skips the next elements if all are false; otherwise `write_selected` writes it."""
        start = load(b, int64, position_cell, 0)
        block = out.new(f"load i{8 * block_size}, ptr {out.gep('i8', '%condition', start.ir)}, align 1")
        is_false = out.new(f"icmp eq i{8 * block_size} {block}, 0")
        out.either(is_false, lambda: store(b, start + block_size, position_cell, 0), write_selected)

    with out.while_(has_more):
        if isinstance(size, int) and size < _LARGE_BLOCK:
            write_step()
        else:
            last_start = b.wrap(int64, str(out.sub(size, _LARGE_BLOCK)))
            has_block = b.compare("le", load(b, int64, position_cell, 0), last_start)
            step = functools.partial(write_block, _SMALL_BLOCK, write_steps)
            if vector is not None and current_target().can_compress:
                step = functools.partial(write_vector_step, vector)
            out.either(has_block.ir, lambda: write_block(_LARGE_BLOCK, step), write_step)


def _write_compressed(routine: Routine, source: VectorSource, start: str, row: str) -> Element:
    """Store the selected ones of the next 8 elements in the result, from `row` on; return their number."""
    out, b = routine.out, routine.b
    lanes, ir_type = f"<{_SMALL_BLOCK} x i1>", f"<{_SMALL_BLOCK} x {source.ir_type}>"
    bools = out.new(f"load <{_SMALL_BLOCK} x i8>, ptr {out.gep('i8', '%condition', start)}, align 1")
    mask = out.new(f"icmp ne <{_SMALL_BLOCK} x i8> {bools}, zeroinitializer")
    suffix = f"v{_SMALL_BLOCK}{source.ir_type}"
    name = f"llvm.experimental.vector.compress.{suffix}"
    compress = out.module.declare(name, ir_type, f"{ir_type}, {lanes}, {ir_type}")
    values = source.write(out, start)
    compressed = out.new(f"call {ir_type} {compress}({ir_type} {values}, {lanes} {mask}, {ir_type} poison)")
    bits = out.new(f"zext i{_SMALL_BLOCK} {out.new(f'bitcast {lanes} {mask} to i{_SMALL_BLOCK}')} to i64")
    count = b.intrinsic("ctpop", b.wrap(int64, bits))
    # Only the first `count` lanes are stored: the others may lie behind the result.
    low_bits = out.new(f"trunc i64 {out.sub(out.new(f'shl i64 1, {count.ir}'), 1)} to i{_SMALL_BLOCK}")
    low_lanes = out.new(f"bitcast i{_SMALL_BLOCK} {low_bits} to {lanes}")
    store_lanes = out.module.declare(f"llvm.masked.store.{suffix}.p0", "void", f"{ir_type}, ptr, i32 immarg, {lanes}")
    address, alignment = out.gep(source.ir_type, "%result", row), int(source.ir_type[1:]) // 8
    out.line(f"call void {store_lanes}({ir_type} {compressed}, ptr {address}, i32 {alignment}, {lanes} {low_lanes})")
    return count
