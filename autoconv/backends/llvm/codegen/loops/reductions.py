"""Reductions in loop nests: in registers where their loops are the innermost, else in the memory of the result."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from autoconv.backends.llvm.analysis.classify import reduced_axes, reduction_of
from autoconv.backends.llvm.analysis.representation import is_dense, sizes
from autoconv.backends.llvm.codegen.loops.accumulator import Accumulator, fold, neutral
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Index, Position, element_count, is_known, linear
from autoconv.backends.llvm.ir.operand import Operand
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.ir.types import is_narrow, literal, register
from autoconv.backends.llvm.schedule.reduction_depth import BLOCK
from autoconv.graph.dtypes import float32, float64, int64
from autoconv.graph.graph import Node, Value

_FEWEST = 64  # elements of a block of nested loops
SUMMED = 128  # elements of a float32 sum in memory, after which the sum is added to its total
MOST_TOTALS = 2048  # totals in float64, which are on the stack


def _result_index(node: Node, index: Index) -> Index:
    axes = reduced_axes(node)
    if not is_dense(node.results[0].type):
        return ()
    result_rank = len(sizes(node.results[0].type))
    if len(index) - len(axes) == result_rank:
        return tuple(i for d, i in enumerate(index) if d not in axes)
    # Reduced dimensions remain as ones: all of them, or those after the ones that a sum to a shape drops.
    return tuple(0 if d in axes else i for d, i in enumerate(index))[len(index) - result_rank :]


class LoopNest(Protocol):
    """The loop nest that a reduction is written into."""

    out: FunctionText
    b: Any  # the writer of element rules in the loops
    stores: dict[Value, str]  # registers of the memory of results

    @property
    def shape(self) -> tuple[Any, ...] | None: ...


class Reduction:
    """Base of reductions in registers and in memory: the op, the dtype of the accumulator, the result."""

    def __init__(self, kernel: LoopNest, node: Node) -> None:
        self.kernel = kernel
        self.node = node
        self.reduction = reduction_of(node)
        self.kind = self.reduction.kind
        dtype = node.inputs[0].dtype
        self.dtype = float32 if is_narrow(dtype) else dtype  # dtype of the accumulator
        self.pointer = kernel.stores.get(node.results[0], "")  # "" for a row's sum that is only read within the row
        self.result_shape = sizes(node.results[0].type)

    def count(self) -> Element | float:
        """Return the number of elements that are reduced to one."""
        b = self.kernel.b
        found = _count(b.out, self.node)
        return float(found) if isinstance(found, int) else b.cast(b.wrap(int64, found), self.dtype)

    def store_result(self, element: Element, index: Index) -> Element:
        b = self.kernel.b
        if self.kind == "mean":
            element = element / self.count()
        element = b.cast(element, self.node.results[0].dtype)
        if self.pointer:
            store(b, element, self.pointer, linear(b.out, index, self.result_shape))
        return element


class RegisterReduction(Reduction):
    """A reduction whose accumulator is a register during the loops from `depth` on; `whole` if these are all loops."""

    def __init__(self, kernel: LoopNest, node: Node, depth: int, flat: bool) -> None:
        super().__init__(kernel, node)
        self.depth = depth
        shape = kernel.shape or ()
        self.whole = all(size == 1 for size in shape[:depth])
        summed = self.dtype.is_floating and self.kind in ("sum", "mean")
        self.blocks = (flat or self.whole) and summed and not (is_known(shape) and math.prod(shape) <= BLOCK)
        self.block_depth = _block_depth(shape) if self.blocks and not flat else None
        self.total_kind = "double" if self.blocks else register(self.dtype)

    def enter(self) -> None:
        """Allocate the accumulator at the entry of the loops' function."""
        self._total = Accumulator(self.kernel.b, self.reduction, self.dtype, self.blocks)

    def start(self) -> None:
        self._total.start()

    def accumulate(self, element: Element, index: Index) -> None:
        self._total.accumulate(element)

    def end_block(self) -> None:
        self._total.end_block()

    def store_partial(self, cells: str) -> None:
        """Store the sum of this part, for `combine_parts`."""
        out, kind, total = self.kernel.out, self.total_kind, self._total.read()
        out.store(kind, total, out.gep(kind, cells, "%part"))

    def combine_parts(self, cells: str, parts: Position) -> None:
        """Combine the sums of all parts, in order, and store the result."""
        self.enter()
        self._total.combine_parts(cells, parts)
        self.finish(())

    def finish(self, index: Index) -> Element:
        rank = len(self.kernel.shape or ())
        whole = (*index, *[0] * (rank - len(index)))
        return self.store_result(self._total.result(), _result_index(self.node, whole))


def _block_depth(shape: Sequence[Any]) -> int:
    """Return the depth of the loops over a block of nested loops: of the innermost ones, as many as have enough turns.
    """
    depth, turns = len(shape), 1
    while depth and turns < _FEWEST:
        depth -= 1
        turns *= shape[depth] if isinstance(shape[depth], int) else _FEWEST
    return depth


class MemoryReduction(Reduction):
    """A reduction over loops that are not the innermost ones. It accumulates in the memory of the result.

    Long float32 sums are accumulated in blocks of the loop at `block_depth`. After each block of `block_rows` counts,
    the sums of that block are added to totals in float64, so that the rounding error grows with the number of blocks.
    The totals begin and end around the first reduced loop, at `total_depth`.
    """

    def __init__(self, kernel: LoopNest, node: Node) -> None:
        super().__init__(kernel, node)
        shape, axes = kernel.shape or (), reduced_axes(node)
        wide = [d for d in range(len(shape)) if shape[d] != 1]
        self.total_depth = min((d for d in wide if d in axes), default=len(shape))
        self._kept_dimensions = [d for d in wide if d not in axes and d > self.total_depth]
        self.block_depth: int | None = None
        self.block_rows = 1
        if node.inputs[0].dtype is float32 and self.kind in ("sum", "mean") and self._kept_dimensions:
            self._choose_blocks(shape, [d for d in wide if d in axes])

    def _choose_blocks(self, shape: tuple[Position, ...], reduced: list[int]) -> None:
        totals = [shape[d] for d in self._kept_dimensions]
        if not is_known(totals) or math.prod(map(int, totals)) > MOST_TOTALS:
            return
        self._count = math.prod(map(int, totals))
        for depth in [d for d in reduced if d < self._kept_dimensions[-1]]:
            inner, size = [shape[d] for d in reduced if d > depth], shape[depth]
            self.block_depth, is_static = depth, is_known(inner)
            self.block_rows = max(1, SUMMED // math.prod(map(int, inner))) if is_static else 1
            if is_static and math.prod(map(int, inner)) <= SUMMED:
                break
        if [self.block_depth] == reduced[:1] and isinstance(size, int) and size <= self.block_rows:
            self.block_depth = None  # there is one block

    def begin_totals(self) -> None:
        out = self.kernel.out
        self._totals = out.alloca(f"[{self._count} x double]")
        with out.loop("0", str(self._count)) as i:
            out.store("double", literal(0, float64), out.gep("double", self._totals, i))

    def end_block(self, index: Index, split: int | None) -> None:
        """Add the sums of the block to the totals, and start from 0 again."""
        b, out = self.kernel.b, self.kernel.out

        def move(cell: str, offset: Position) -> None:
            part = b.cast(load(b, self.dtype, self.pointer, offset), float64)
            out.store("double", out.op("fadd", out.load("double", cell), part.ir), cell)
            store(b, b.wrap(self.dtype, literal(0, self.dtype)), self.pointer, offset)

        self._each_total(index, split, move)

    def end_totals(self, index: Index, split: int | None) -> None:
        """Store the totals as the sums."""
        b, out = self.kernel.b, self.kernel.out

        def move(cell: str, offset: Position) -> None:
            total = b.cast(b.wrap(float64, out.load("double", cell)), self.dtype)
            store(b, total, self.pointer, offset)

        self._each_total(index, split, move)

    def _each_total(self, place: Index, split: int | None, move: Callable[[str, Position], None]) -> None:
        """Write loops over the totals at and behind a place; `split` is the dimension that is computed in part."""
        out, shape, depth = self.kernel.out, self.kernel.shape or (), len(place)
        if depth == len(shape):
            dimensions = self._kept_dimensions
            cell = linear(out, tuple(place[d] for d in dimensions), tuple(shape[d] for d in dimensions))
            offset = linear(out, _result_index(self.node, place), self.result_shape)
            move(out.gep("double", self._totals, cell), offset)
        elif depth not in self._kept_dimensions:
            self._each_total((*place, 0), split, move)
        else:
            bounds = ("%first", "%last") if depth == split else ("0", str(shape[depth]))
            with out.loop(*bounds) as i:
                self._each_total((*place, i), split, move)

    def start(self) -> None:
        count = element_count(self.kernel.out, self.result_shape)
        with self.kernel.out.loop("0", str(count)) as i:
            store(self.kernel.b, self.kernel.b.wrap(self.dtype, neutral(self.reduction, self.dtype)), self.pointer, i)

    def accumulate(self, element: Element, index: Index) -> None:
        b = self.kernel.b
        offset = linear(b.out, _result_index(self.node, index), self.result_shape)
        before = load(b, self.dtype, self.pointer, offset)
        total = fold(b, self.reduction, self.dtype, before.ir, element, ordered=True)
        store(b, b.wrap(self.dtype, total), self.pointer, offset)

    def finish(self) -> None:
        if self.kind != "mean":
            return
        b = self.kernel.b
        count, by = element_count(b.out, self.result_shape), self.count()
        with b.out.loop("0", str(count)) as i:
            store(b, load(b, self.dtype, self.pointer, i) / by, self.pointer, i)


def with_blocks(
    out: FunctionText, sums: Sequence[Reduction], index: Index, bounds: tuple[str, str], split: int | None,
    write: Callable[[Position], None],
) -> None:  # fmt: skip
    """Write a loop around others, in blocks where long sums need them; `split` as in `MemoryReduction`."""
    blocked = [one for one in sums if isinstance(one, MemoryReduction) and one.block_depth is not None]
    begun = [one for one in blocked if one.total_depth == len(index)]
    blocked = [one for one in blocked if one.block_depth == len(index)]
    for one in begun:
        one.begin_totals()
    if blocked:
        rows = min(one.block_rows for one in blocked)
        end = Operand.of(bounds[1], "i64")
        with out.loop("0", out.op("sdiv", out.add(end, rows - 1), rows)) as block:
            start = out.op("mul", block, rows)
            stop = out.intrinsic("smin", out.add(start, rows), end)
            with out.loop(start, stop) as i:
                write(i)
            for one in blocked:
                one.end_block(index, split)
    else:
        with out.loop(*bounds) as i:
            write(i)
    for one in begun:
        one.end_totals(index, split)


def _count(out: FunctionText, node: Node) -> Position:
    shape = sizes(node.inputs[0].type)
    return element_count(out, [shape[axis] for axis in sorted(reduced_axes(node))])
