"""Reductions in loop nests: in registers where their loops are the innermost, else in the memory of the result."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from autoconv.backends.llvm.analysis.classify import reduced_axes, reduction_of
from autoconv.backends.llvm.analysis.representation import is_dense, sizes
from autoconv.backends.llvm.codegen.loops.accumulator import Accumulator, fold, neutral
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Index, Position, element_count, is_known, linear_offset
from autoconv.backends.llvm.ir.nested_loops import strips
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
    """Base of reductions in registers and in memory: the op, the dtype of the accumulator, the result.

    The loop at `strip_depth` (None: no loop) is written in strips of so many `strip` positions.
    """

    strip_depth: int | None = None
    strip = BLOCK

    def __init__(self, kernel: LoopNest, node: Node) -> None:
        self.kernel = kernel
        self.node = node
        self.reduction = reduction_of(node)
        self.kind = self.reduction.kind
        dtype = node.inputs[0].dtype
        self.dtype = float32 if is_narrow(dtype) else dtype  # dtype of the accumulator
        self.pointer = kernel.stores.get(node.results[0], "")  # "" for a row's sum that is only read within the row
        self.result_shape = sizes(node.results[0].type)

    def begin(self) -> None:
        """Write the code before all loops."""

    def end(self) -> None:
        """Write the code after all loops."""

    def allocate(self) -> None:
        """Allocate memory at the entry of the function of the loops, or of a part of them."""

    def enter(self, index: Index) -> None:
        """Write the code before the loops inside of those over an index."""

    def leave(self, index: Index, part: int | None) -> None:
        """Write the code after these loops; `part` is the dimension that is computed in part."""

    def end_strip(self, index: Index, part: int | None) -> None:
        """Write the code after a strip of the loop inside of those over an index."""

    def accumulate(self, element: Element, index: Index) -> None:
        raise NotImplementedError

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
            store(b, element, self.pointer, linear_offset(b.out, index, self.result_shape))
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
        self._block_depth = _block_depth(shape) if self.blocks and not flat else None
        self.strip_depth = 0 if self.blocks and flat else None
        self.total_kind = "double" if self.blocks else register(self.dtype)

    def allocate(self) -> None:
        self._total = Accumulator(self.kernel.b, self.reduction, self.dtype, self.blocks)

    def start(self) -> None:
        self._total.start()

    def accumulate(self, element: Element, index: Index) -> None:
        self._total.accumulate(element)

    def enter(self, index: Index) -> None:
        if len(index) == self.depth and not self.whole:
            self.start()

    def leave(self, index: Index, part: int | None) -> None:
        if len(index) == self.depth and not self.whole:
            self.finish(index)
        if len(index) == self._block_depth:
            self._total.end_block()

    def end_strip(self, index: Index, part: int | None) -> None:
        self._total.end_block()

    def store_partial(self, cells: str) -> None:
        """Store the sum of this part, for `combine_parts`."""
        out, kind, total = self.kernel.out, self.total_kind, self._total.read()
        out.store(kind, total, out.gep(kind, cells, "%part"))

    def combine_parts(self, cells: str, parts: Position) -> None:
        """Combine the sums of all parts, in order, and store the result."""
        self.allocate()
        self._total.combine_parts(cells, parts)
        self.finish(())

    def end(self) -> None:
        if self.whole:
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

    Long float32 sums are accumulated in strips. After each strip, its sums are added to totals in float64, so that the
    rounding error grows with the number of strips. The totals begin and end around the first reduced loop.
    """

    def __init__(self, kernel: LoopNest, node: Node) -> None:
        super().__init__(kernel, node)
        shape, axes = kernel.shape or (), reduced_axes(node)
        wide = [d for d in range(len(shape)) if shape[d] != 1]
        self._total_depth = min((d for d in wide if d in axes), default=len(shape))
        self._kept_dimensions = [d for d in wide if d not in axes and d > self._total_depth]
        if node.inputs[0].dtype is float32 and self.kind in ("sum", "mean") and self._kept_dimensions:
            self._choose_strips(shape, [d for d in wide if d in axes])

    def _choose_strips(self, shape: tuple[Position, ...], reduced: list[int]) -> None:
        totals = [shape[d] for d in self._kept_dimensions]
        if not is_known(totals) or math.prod(map(int, totals)) > MOST_TOTALS:
            return
        self._count = math.prod(map(int, totals))
        for depth in [d for d in reduced if d < self._kept_dimensions[-1]]:
            inner, size = [shape[d] for d in reduced if d > depth], shape[depth]
            self.strip_depth, is_static = depth, is_known(inner)
            self.strip = max(1, SUMMED // math.prod(map(int, inner))) if is_static else 1
            if is_static and math.prod(map(int, inner)) <= SUMMED:
                break
        if [self.strip_depth] == reduced[:1] and isinstance(size, int) and size <= self.strip:
            self.strip_depth = None  # there is one strip

    def enter(self, index: Index) -> None:
        if not self._is_around_totals(index):
            return
        out = self.kernel.out
        self._totals = out.alloca(f"[{self._count} x double]")
        with out.loop("0", str(self._count)) as i:
            out.store("double", literal(0, float64), out.gep("double", self._totals, i))

    def _is_around_totals(self, index: Index) -> bool:
        return self.strip_depth is not None and len(index) == self._total_depth

    def end_strip(self, index: Index, part: int | None) -> None:
        """Add the sums of the strip to the totals, and start from 0 again."""
        b, out = self.kernel.b, self.kernel.out

        def move(cell: str, offset: Position) -> None:
            added = b.cast(load(b, self.dtype, self.pointer, offset), float64)
            out.store("double", out.op("fadd", out.load("double", cell), added.ir), cell)
            store(b, b.wrap(self.dtype, literal(0, self.dtype)), self.pointer, offset)

        self._each_total(index, part, move)

    def leave(self, index: Index, part: int | None) -> None:
        """Store the totals as the sums."""
        if not self._is_around_totals(index):
            return
        b, out = self.kernel.b, self.kernel.out

        def move(cell: str, offset: Position) -> None:
            total = b.cast(b.wrap(float64, out.load("double", cell)), self.dtype)
            store(b, total, self.pointer, offset)

        self._each_total(index, part, move)

    def _each_total(self, place: Index, part: int | None, move: Callable[[str, Position], None]) -> None:
        """Write loops over the totals at and behind a place."""
        out, shape, depth = self.kernel.out, self.kernel.shape or (), len(place)
        if depth == len(shape):
            dimensions = self._kept_dimensions
            cell = linear_offset(out, tuple(place[d] for d in dimensions), tuple(shape[d] for d in dimensions))
            offset = linear_offset(out, _result_index(self.node, place), self.result_shape)
            move(out.gep("double", self._totals, cell), offset)
        elif depth not in self._kept_dimensions:
            self._each_total((*place, 0), part, move)
        else:
            bounds = ("%first", "%last") if depth == part else ("0", str(shape[depth]))
            with out.loop(*bounds) as i:
                self._each_total((*place, i), part, move)

    def begin(self) -> None:
        count = element_count(self.kernel.out, self.result_shape)
        with self.kernel.out.loop("0", str(count)) as i:
            store(self.kernel.b, self.kernel.b.wrap(self.dtype, neutral(self.reduction, self.dtype)), self.pointer, i)

    def accumulate(self, element: Element, index: Index) -> None:
        b = self.kernel.b
        offset = linear_offset(b.out, _result_index(self.node, index), self.result_shape)
        before = load(b, self.dtype, self.pointer, offset)
        total = fold(b, self.reduction, self.dtype, before.ir, element, ordered=True)
        store(b, b.wrap(self.dtype, total), self.pointer, offset)

    def end(self) -> None:
        if self.kind != "mean":
            return
        b = self.kernel.b
        count, by = element_count(b.out, self.result_shape), self.count()
        with b.out.loop("0", str(count)) as i:
            store(b, load(b, self.dtype, self.pointer, i) / by, self.pointer, i)


def loop_in_strips(
    out: FunctionText, reductions: Sequence[Reduction], index: Index, bounds: tuple[str, str], part: int | None,
    write: Callable[[Position, Position], None],
) -> None:  # fmt: skip
    """Write the loop inside of those over an index by `write(first, last)`, in strips where reductions need them."""
    in_strips = [one for one in reductions if one.strip_depth == len(index)]
    if not in_strips:
        write(*bounds)
        return
    first, last = (int(bound) if bound.isdigit() else bound for bound in bounds)
    with strips(out, first, last, min(one.strip for one in in_strips)) as (start, stop):
        write(start, stop)
        for one in in_strips:
            one.end_strip(index, part)


def _count(out: FunctionText, node: Node) -> Position:
    shape = sizes(node.inputs[0].type)
    return element_count(out, [shape[axis] for axis in sorted(reduced_axes(node))])
