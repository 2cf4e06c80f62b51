"""Lower heaps and deques, and the order of the items of typed lists: numbers, or tuples in lexicographic order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.lists.typed import (
    TypedList,
    append_item,
    load_item,
    reserve,
    set_item,
    store_item,
    typed_operand,
)
from autoconv.backends.llvm.codegen.registry import data_sized_lowering
from autoconv.backends.llvm.codegen.routine import Routine
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.scalars import Element
from autoconv.backends.llvm.ir.types import register
from autoconv.graph.graph import Node
from autoconv.graph.types import TensorType
from autoconv.ops.lists.item_layout import ItemType, has_floats


def is_less(first: Sequence[Element], second: Sequence[Element]) -> str:
    """Return the i1 of `first < second`: the first different numbers decide."""
    *pairs, (last_x, last_y) = zip(first, second, strict=True)
    result = last_x.b.compare("lt", last_x, last_y)
    for x, y in reversed(pairs):
        result = x.b.compare("lt", x, y) | (x.same(y) & result)
    return str(result.ir)


def has_nan(elements: Sequence[Element]) -> str:
    """Return the i1 of whether a number of an item is a nan."""
    flags = [element.b.is_nan(element) for element in elements if element.dtype.is_floating]
    return str(reduce(or_, flags).ir)


class _Comparison:
    """A writer of comparisons in a routine, which notes whether a tuple with a nan was compared."""

    def __init__(self, out: FunctionText, item: ItemType) -> None:
        self.out = out
        # Python compares numbers by value; only in tuples does it compare identities first.
        self._nan_cell = out.alloca("i1", "false") if has_floats(item) and not isinstance(item, TensorType) else None

    def is_less(self, first: Sequence[Element], second: Sequence[Element]) -> str:
        """Return the i1 of `first < second`; note whether one of them has a nan."""
        if self._nan_cell is not None:
            found_nan = self.out.or_(has_nan(first), has_nan(second))
            self.out.store("i1", self.out.or_(found_nan, self.out.load("i1", self._nan_cell)), self._nan_cell)
        return is_less(first, second)

    def found_nan(self) -> str:
        """Return the i1 of whether a nan was compared."""
        return "false" if self._nan_cell is None else self.out.load("i1", self._nan_cell)


def extremum_function(region: LoweringContext, item: ItemType, extremum: str) -> str:
    """Return the name of a function that returns the position of the first least or greatest item; -1 for a nan.

    `extremum` is "min" or "max".
    """
    routine = Routine(region, ["ptr readonly %items", "i64 %count"], "i64")
    out = routine.out
    comparison, cell = _Comparison(out, item), out.alloca("i64", "0")
    with out.loop("1", "%count") as i:
        best = load_item(out, "%items", out.load("i64", cell), item)
        pair = load_item(out, "%items", i, item), best
        is_better = comparison.is_less(*(pair if extremum == "min" else pair[::-1]))
        out.store("i64", out.select(is_better, i, out.load("i64", cell)), cell)
    return routine.finish(f"ret i64 {out.select(comparison.found_nan(), -1, out.load('i64', cell))}")


# ---- heaps, in the order of CPython's


@data_sized_lowering("typed_list_heap")
def _write_heap(region: LoweringContext, node: Node) -> None:
    """Write a function of `heapq`; the kernel raises for an empty list and for a nan in a tuple."""
    out, x, function = region.out, typed_operand(region, node), node.attributes["function"]
    pushed = [region.number(value) for value in node.inputs[1:]]
    if function == "heappush":
        append_item(region, x, pushed)
        found_nan = out.call(_sift_down_function(region, x.item), x.start(), out.op("sub", x.length(), 1))
        region.raise_if(node, found_nan)
        return
    if function == "heapify":
        region.raise_if(node, out.call(_heapify_function(region, x.item), x.start(), x.length()))
        return
    count = x.length()
    if function == "heappushpop":
        set_item(region, node, _write_push_pop(region, node, x, pushed))
        return
    region.raise_if(node, out.icmp("eq", count, 0))
    result = x.load("0")
    if function == "heappop":
        count = out.op("sub", count, 1)
        x.store("0", x.load(count))
        x.set_size(out.op("mul", count, x.item_size))
    else:
        x.store("0", pushed)
    region.raise_if(node, out.call(_sift_up_function(region, x.item), x.start(), count, "0"))
    set_item(region, node, result)


def _write_push_pop(region: LoweringContext, node: Node, x: TypedList, pushed: Sequence[Element]) -> list[Element]:
    """Write the exchange of the first item for a greater one; return the smaller one of the two."""
    out, b = region.out, RegisterWriter(region)
    cells = [out.alloca(register(element.dtype)) for element in pushed]

    def store_result(elements: Sequence[Element]) -> None:
        for element, cell in zip(elements, cells, strict=True):
            out.store(register(element.dtype), element.ir, cell)

    store_result(pushed)
    with out.if_(out.icmp("ne", x.size(), 0)):
        first, comparison = x.load("0"), _Comparison(out, x.item)
        is_exchanged = comparison.is_less(first, pushed)
        region.raise_if(node, comparison.found_nan())
        with out.if_(is_exchanged):
            store_result(first)
            x.store("0", pushed)
            found_nan = out.call(_sift_up_function(region, x.item), x.start(), x.length(), "0")
            region.raise_if(node, found_nan)
    dtypes = [element.dtype for element in pushed]
    return [b.wrap(dtype, out.load(register(dtype), cell)) for dtype, cell in zip(dtypes, cells, strict=True)]


def _sift_down_function(region: LoweringContext, item: ItemType) -> str:
    """Return the name of a function that moves the item at `%position` towards the root, as `heappush` does.

    It returns whether it compared a nan.
    """
    routine = Routine(region, ["ptr %items", "i64 %position"], "i1")
    comparison, elements = _Comparison(routine.out, item), load_item(routine.out, "%items", "%position", item)
    _write_sift_down(routine.out, comparison, "%position", "0", elements, item)
    return routine.finish(f"ret i1 {comparison.found_nan()}")


def _write_sift_down(
    out: FunctionText, comparison: _Comparison, position: str, root: str, elements: Sequence[Element], item: ItemType
) -> None:
    """Write the search for the place of an item, from a free position towards the root, and its store there."""
    cell, is_placed = out.alloca("i64"), out.alloca("i1")
    out.store("i64", position, cell)
    out.store("i1", "false", is_placed)

    def goes_on() -> str:
        is_below_root = out.icmp("sgt", out.load("i64", cell), root)
        return str(out.op("and", is_below_root, out.op("xor", out.load("i1", is_placed), "true")))

    with out.while_(goes_on):
        current = out.load("i64", cell)
        parent = out.op("lshr", out.op("sub", current, 1), 1)
        parent_item = load_item(out, "%items", parent, item)

        def move() -> None:
            store_item(out, "%items", current, parent_item, item)
            out.store("i64", parent, cell)

        out.either(comparison.is_less(elements, parent_item), move, lambda: out.store("i1", "true", is_placed))
    store_item(out, "%items", out.load("i64", cell), elements, item)


def _sift_up_function(region: LoweringContext, item: ItemType) -> str:
    """Return the name of a function that restores a heap whose item at `%root` is new; see `_sift_down_function`.

    As in CPython, the smaller child moves up until a leaf is free, from which the item moves towards the root.
    """
    routine = Routine(region, ["ptr %items", "i64 %count", "i64 %root"], "i1")
    out = routine.out
    comparison, cell = _Comparison(out, item), out.alloca("i64")
    out.store("i64", "%root", cell)
    elements, limit = load_item(out, "%items", "%root", item), out.op("lshr", "%count", 1)
    with out.while_(lambda: out.icmp("slt", out.load("i64", cell), limit)):
        current = out.load("i64", cell)
        left = out.op("add", out.op("shl", current, 1), 1)
        right = out.op("add", left, 1)

        def smaller_child(left: str = left, right: str = right) -> str:
            pair = load_item(out, "%items", left, item), load_item(out, "%items", right, item)
            return str(out.select(comparison.is_less(*pair), left, right))

        child = out.where(out.icmp("slt", right, "%count"), smaller_child, left)
        store_item(out, "%items", current, load_item(out, "%items", child, item), item)
        out.store("i64", child, cell)
    _write_sift_down(out, comparison, out.load("i64", cell), "%root", elements, item)
    return routine.finish(f"ret i1 {comparison.found_nan()}")


def _heapify_function(region: LoweringContext, item: ItemType) -> str:
    """Return the name of a function that makes a heap of items; see `_sift_down_function`."""
    sift_up = _sift_up_function(region, item)
    routine = Routine(region, ["ptr %items", "i64 %count"], "i1")
    out = routine.out
    half, cell = out.op("lshr", "%count", 1), out.alloca("i1", "false")
    with out.loop("0", half, unrolled=False) as i:
        root = out.op("sub", out.op("sub", half, 1), i)
        found_nan = out.call(sift_up, "%items", "%count", root)
        out.store("i1", out.or_(found_nan, out.load("i1", cell)), cell)
    return routine.finish(f"ret i1 {out.load('i1', cell)}")


# ---- deques


@data_sized_lowering("typed_list_pop_left")
def _write_pop_left(region: LoweringContext, node: Node) -> None:
    """Write the removal of the first item: the start moves behind it, or back to the memory's start if none is left."""
    out, x = region.out, typed_operand(region, node)
    size = x.size()
    region.raise_if(node, out.icmp("eq", size, 0))
    set_item(region, node, x.load("0"))
    new_size = out.op("sub", size, x.item_size)
    next_start = out.gep("i8", x.start(), x.item_size)
    x.set_start(out.select(out.icmp("eq", new_size, 0), x.start_of_memory(), next_start))
    x.set_size(new_size)


@data_sized_lowering("typed_list_push_left")
def _write_push_left(region: LoweringContext, node: Node) -> None:
    """Write an insertion at the start, before which there is room after the list has moved towards the end."""
    out, x = region.out, typed_operand(region, node)
    size = x.size()
    new_size = out.op("add", size, x.item_size)
    gap = out.op("sub", out.cast("ptrtoint", x.start(), "i64"), out.cast("ptrtoint", x.start_of_memory(), "i64"))
    with out.unlikely(out.icmp("ult", gap, x.item_size)):
        # As many bytes are left free as there are items, so that the moves of all insertions take linear time.
        room = out.op("add", size, 8 * x.item_size)
        reserve(region, x, out.op("add", new_size, room))
        start = x.start()
        moved_start = out.gep("i8", start, room, inbounds=False)
        out.move(moved_start, start, size)
        x.set_start(moved_start)
    first = out.gep("i8", x.start(), -x.item_size, inbounds=False)
    store_item(out, first, "0", [region.number(value) for value in node.inputs[1:]], x.item)
    x.set_start(first)
    x.set_size(new_size)
