"""Reductions in loop nests.

The total is in a register if the reduced loops are the innermost ones, else in the memory of the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from autoconv.backends.llvm.analysis.classify import reduced_axes, reduction_of
from autoconv.backends.llvm.analysis.representation import is_dense, sizes
from autoconv.backends.llvm.codegen.loops.accumulator import Accumulator, fold, neutral_literal
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Index, Position, element_count, is_known, linear_offset
from autoconv.backends.llvm.ir.nested_loops import strips
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.ir.types import is_narrow, literal, register
from autoconv.backends.llvm.schedule.reduction_depth import BLOCK_ELEMENTS
from autoconv.graph.dtypes import float32, float64, int64
from autoconv.graph.graph import Node, Value

_BLOCK_ITERATIONS = 64  # fewest iterations of the inner loops whose sum is a block
STRIP_ELEMENTS = 128  # most elements in a float32 sum of a strip, which is then added to its total
TOTALS_LIMIT = 2048  # most totals in float64, because they are on the stack


def _result_index(node: Node, index: Index) -> Index:
    """Return the index in the result for `index`, the counters of the loops."""
    axes = reduced_axes(node)
    if not is_dense(node.results[0].type):
        return ()
    result_rank = len(sizes(node.results[0].type))
    if len(index) - len(axes) == result_rank:
        return tuple(i for dimension, i in enumerate(index) if dimension not in axes)
    # Reduced dimensions remain with size 1, except leading ones that a sum to a shape drops.
    full_index = tuple(0 if dimension in axes else i for dimension, i in enumerate(index))
    return full_index[len(index) - result_rank :]


class LoopNest(Protocol):
    """The loop nest that a reduction is written into."""

    out: FunctionText
    b: Any  # the writer of element rules in the loops
    stores: dict[Value, str]  # registers of the memory of results

    @property
    def shape(self) -> tuple[Any, ...] | None: ...


class ReductionWriter:
    """Base class of writers of a reduction in a loop nest.

    The depth of a loop is the number of loops around it. The loop at `strip_depth`, unless that is None, is written in
    strips of `strip_length` iterations.
    """

    strip_depth: int | None = None
    strip_length = BLOCK_ELEMENTS

    def __init__(self, nest: LoopNest, node: Node) -> None:
        self.nest = nest
        self.node = node
        self.reduction = reduction_of(node)
        self.kind = self.reduction.kind
        dtype = node.inputs[0].dtype
        self.dtype = float32 if is_narrow(dtype) else dtype  # dtype of the accumulator
        self.pointer = nest.stores.get(node.results[0], "")  # "" if the total of a row is only read within the row
        self.result_shape = sizes(node.results[0].type)

    def write_before_loops(self) -> None:
        """Write the code before all loops."""

    def write_after_loops(self) -> None:
        """Write the code after all loops."""

    def allocate(self) -> None:
        """Allocate memory at the entry of the function of the loops, or of a part of them."""

    def enter(self, index: Index) -> None:
        """Write the code before the loop at depth `len(index)`; `index` are the positions of the outer loops."""

    def leave(self, index: Index, split_dimension: int | None) -> None:
        """Write the code after the loop at depth `len(index)`.

        `split_dimension` is the depth of the loop that threads share, if any.
        """

    def end_strip(self, index: Index, split_dimension: int | None) -> None:
        """Write the code after a strip of the loop at depth `len(index)`."""

    def accumulate(self, element: Element, index: Index) -> None:
        """Fold an element into the total; `index` has the counters of all loops."""
        raise NotImplementedError

    def count(self) -> Element | float:
        """Return the number of elements that are reduced to one element of the result."""
        b = self.nest.b
        count = _reduced_count(b.out, self.node)
        return float(count) if isinstance(count, int) else b.cast(b.wrap(int64, count), self.dtype)

    def store_result(self, element: Element, index: Index) -> Element:
        """Store the total, or the mean, of the result's element at `index`; return it in the result's dtype."""
        b = self.nest.b
        if self.kind == "mean":
            element = element / self.count()
        element = b.cast(element, self.node.results[0].dtype)
        if self.pointer:
            store(b, element, self.pointer, linear_offset(b.out, index, self.result_shape))
        return element


class RegisterReduction(ReductionWriter):
    """A reduction whose accumulator is a register during the loops from `depth` on.

    `is_outermost` is true if no loop around these has more than one iteration.
    """

    def __init__(self, nest: LoopNest, node: Node, depth: int, is_flat: bool) -> None:
        super().__init__(nest, node)
        self.depth = depth
        shape = nest.shape or ()
        self.is_outermost = all(size == 1 for size in shape[:depth])
        is_float_sum = self.dtype.is_floating and self.kind in ("sum", "mean")
        is_short = is_known(shape) and math.prod(shape) <= BLOCK_ELEMENTS
        self.has_blocks = (is_flat or self.is_outermost) and is_float_sum and not is_short
        self._block_depth = _block_depth(shape) if self.has_blocks and not is_flat else None
        self.strip_depth = 0 if self.has_blocks and is_flat else None
        self.total_type = "double" if self.has_blocks else register(self.dtype)

    def allocate(self) -> None:
        self._accumulator = Accumulator(self.nest.b, self.reduction, self.dtype, self.has_blocks)

    def reset(self) -> None:
        self._accumulator.reset()

    def accumulate(self, element: Element, index: Index) -> None:
        self._accumulator.accumulate(element)

    def enter(self, index: Index) -> None:
        if len(index) == self.depth and not self.is_outermost:
            self.reset()

    def leave(self, index: Index, split_dimension: int | None) -> None:
        if len(index) == self.depth and not self.is_outermost:
            self.finish(index)
        if len(index) == self._block_depth:
            self._accumulator.end_block()

    def end_strip(self, index: Index, split_dimension: int | None) -> None:
        self._accumulator.end_block()

    def store_partial(self, totals: str) -> None:
        """Store the total of this part in the array `totals`, for `combine_parts`."""
        out, total = self.nest.out, self._accumulator.load_total()
        out.store(self.total_type, total, out.gep(self.total_type, totals, "%part"))

    def combine_parts(self, totals: str, part_count: Position) -> None:
        """Combine the totals of all parts, in order, and store the result."""
        self.allocate()
        self._accumulator.fold_parts(totals, part_count)
        self.finish(())

    def write_after_loops(self) -> None:
        if self.is_outermost:
            self.finish(())

    def finish(self, index: Index) -> Element:
        """Store the total after the loops inside of `index`, and return it in the result's dtype."""
        rank = len(self.nest.shape or ())
        full_index = (*index, *[0] * (rank - len(index)))
        return self.store_result(self._accumulator.result(), _result_index(self.node, full_index))


def _block_depth(shape: Sequence[Any]) -> int:
    """Return the greatest depth from which on the loops have enough iterations for a block of a sum."""
    depth, trip_count = len(shape), 1
    while depth and trip_count < _BLOCK_ITERATIONS:
        depth -= 1
        trip_count *= shape[depth] if isinstance(shape[depth], int) else _BLOCK_ITERATIONS
    return depth


class MemoryReduction(ReductionWriter):
    """A reduction over loops that are not the innermost ones, which accumulates in the memory of the result.

    Long float32 sums are accumulated in strips. After each strip, its sums are added to totals in float64, so that the
    rounding error grows only with the number of strips. The totals are allocated before the outermost reduced loop, and
    become the sums after it.

    Loops that set or complete the elements of results, outside the loops of the nest, are shared by reductions whose
    results have one layout: the first of them writes the loops for all (see `share_loops`).
    """

    def __init__(self, nest: LoopNest, node: Node) -> None:
        super().__init__(nest, node)
        shape, axes = nest.shape or (), reduced_axes(node)
        looped_dimensions = [dimension for dimension, size in enumerate(shape) if size != 1]
        reduced_dimensions = [dimension for dimension in looped_dimensions if dimension in axes]
        # Depth of the outermost reduced loop, and the dimensions of the loops inside it that are not reduced.
        self._total_depth = min(reduced_dimensions, default=len(shape))
        self._kept_dimensions = [x for x in looped_dimensions if x not in axes and x > self._total_depth]
        self._total_count, self._totals = 0, ""  # the number of totals, and their address
        if node.inputs[0].dtype is float32 and self.kind in ("sum", "mean") and self._kept_dimensions:
            self._choose_strips(shape, reduced_dimensions)
        self.sharers: Sequence[MemoryReduction] = ()  # reductions whose loops over results this reduction writes
        self.is_written_by_other = False

    @property
    def members(self) -> Sequence[MemoryReduction]:
        """The reductions whose loops over results this reduction writes; none if they are left to another reduction."""
        return () if self.is_written_by_other else (self, *self.sharers)

    def layout(self) -> object:
        """Return what reductions that share their loops have in common."""
        return tuple(sorted(reduced_axes(self.node))), self.result_shape, self.strip_depth, self.strip_length

    def _choose_strips(self, shape: tuple[Position, ...], reduced_dimensions: list[int]) -> None:
        """Set `strip_depth` and `strip_length`, if there are at most `TOTALS_LIMIT` totals and more than one strip."""
        kept_sizes = [shape[dimension] for dimension in self._kept_dimensions]
        if not is_known(kept_sizes) or math.prod(map(int, kept_sizes)) > TOTALS_LIMIT:
            return
        self._total_count = math.prod(map(int, kept_sizes))
        # Cut the outermost reduced loop whose inner reduced loops have at most STRIP_ELEMENTS iterations.
        for depth in [dimension for dimension in reduced_dimensions if dimension < self._kept_dimensions[-1]]:
            size = shape[depth]
            inner_sizes = [shape[dimension] for dimension in reduced_dimensions if dimension > depth]
            inner_count = math.prod(map(int, inner_sizes)) if is_known(inner_sizes) else None
            self.strip_depth = depth
            self.strip_length = 1 if inner_count is None else max(1, STRIP_ELEMENTS // max(1, inner_count))
            if inner_count is not None and inner_count <= STRIP_ELEMENTS:
                break
        cuts_outermost_loop = [self.strip_depth] == reduced_dimensions[:1]
        if cuts_outermost_loop and isinstance(size, int) and size <= self.strip_length:
            self.strip_depth = None  # a single strip needs no totals

    def enter(self, index: Index) -> None:
        """Allocate the running totals of each member, as zeros, before the loop that adds to them."""
        if not self.members or not self._is_around_totals(index):
            return
        out = self.nest.out
        for member in self.members:
            member._totals = out.alloca(f"[{self._total_count} x double]")
        with out.loop("0", str(self._total_count)) as i:
            for member in self.members:
                out.store("double", literal(0, float64), out.gep("double", member._totals, i))

    def _is_around_totals(self, index: Index) -> bool:
        """Return whether the loop at depth `len(index)` is the outermost reduced loop, and there are totals."""
        return self.strip_depth is not None and len(index) == self._total_depth

    def end_strip(self, index: Index, split_dimension: int | None) -> None:
        """Add the sums of the strip to the totals, and reset the sums to 0."""
        self._loop_over_totals(index, split_dimension, MemoryReduction._add_to_total)

    def _add_to_total(self, cell: str, offset: Position) -> None:
        """Add the sum of a strip at an offset of the result to the total in a cell, and reset the sum."""
        b, out = self.nest.b, self.nest.out
        strip_sum = b.cast(load(b, self.dtype, self.pointer, offset), float64)
        out.store("double", out.op("fadd", out.load("double", cell), strip_sum.ir), cell)
        store(b, b.wrap(self.dtype, literal(0, self.dtype)), self.pointer, offset)

    def leave(self, index: Index, split_dimension: int | None) -> None:
        """After the outermost reduced loop, store the totals, or the means, in the result."""
        if self._is_around_totals(index):
            self._loop_over_totals(index, split_dimension, MemoryReduction._store_total)

    def _store_total(self, cell: str, offset: Position) -> None:
        """Store the total in a cell, or its mean, at an offset of the result."""
        b = self.nest.b
        total = b.cast(b.wrap(float64, self.nest.out.load("double", cell)), self.dtype)
        store(b, total / self.count() if self.kind == "mean" else total, self.pointer, offset)

    def _loop_over_totals(
        self, index: Index, split_dimension: int | None, write: Callable[[MemoryReduction, str, Position], None]
    ) -> None:
        """Write loops over the members' totals whose leading positions are `index`.

        The body is `write(member, cell, offset)` for each member: the address of a total, and the offset of its sum in
        the result.
        """
        if not self.members:
            return
        out, shape, depth = self.nest.out, self.nest.shape or (), len(index)
        if depth == len(shape):
            dimensions = self._kept_dimensions
            kept_index = tuple(index[dimension] for dimension in dimensions)
            kept_shape = tuple(shape[dimension] for dimension in dimensions)
            number = linear_offset(out, kept_index, kept_shape)
            offset = linear_offset(out, _result_index(self.node, index), self.result_shape)
            for member in self.members:
                write(member, out.gep("double", member._totals, number), offset)
        elif depth not in self._kept_dimensions:
            self._loop_over_totals((*index, 0), split_dimension, write)
        else:
            bounds = ("%first", "%last") if depth == split_dimension else ("0", str(shape[depth]))
            with out.loop(*bounds) as i:
                self._loop_over_totals((*index, i), split_dimension, write)

    def write_before_loops(self) -> None:
        """Fill the memory of the results with the neutral elements."""
        if not self.members:
            return
        count = element_count(self.nest.out, self.result_shape)
        with self.nest.out.loop("0", str(count)) as i:
            for member in self.members:
                neutral = self.nest.b.wrap(member.dtype, neutral_literal(member.reduction, member.dtype))
                store(self.nest.b, neutral, member.pointer, i)

    def accumulate(self, element: Element, index: Index) -> None:
        b = self.nest.b
        offset = linear_offset(b.out, _result_index(self.node, index), self.result_shape)
        old_total = load(b, self.dtype, self.pointer, offset)
        total = fold(b, self.reduction, self.dtype, old_total.ir, element, is_ordered=True)
        store(b, b.wrap(self.dtype, total), self.pointer, offset)

    def write_after_loops(self) -> None:
        """Divide sums without totals by the counts of their means."""
        means = [member for member in self.members if member.kind == "mean"]
        if not means or self.strip_depth is not None:
            return
        b = self.nest.b
        count, divisors = element_count(b.out, self.result_shape), [mean.count() for mean in means]
        with b.out.loop("0", str(count)) as i:
            for mean, divisor in zip(means, divisors, strict=True):
                store(b, load(b, mean.dtype, mean.pointer, i) / divisor, mean.pointer, i)


def share_loops(reductions: Iterable[ReductionWriter]) -> None:
    """Have the first of the reductions in memory that share a layout write the loops over the results of all."""
    groups: dict[object, list[MemoryReduction]] = {}
    for reduction in reductions:
        if isinstance(reduction, MemoryReduction):
            groups.setdefault(reduction.layout(), []).append(reduction)
    for first, *sharers in groups.values():
        first.sharers = sharers
        for sharer in sharers:
            sharer.is_written_by_other = True


def loop_in_strips(
    out: FunctionText, reductions: Sequence[ReductionWriter], index: Index, bounds: tuple[str, str],
    split_dimension: int | None, write: Callable[[Position, Position], None],
) -> None:  # fmt: skip
    """Write the loop at depth `len(index)`, in strips if reductions need them; `write(first, last)` writes a loop."""
    reductions_in_strips = [reduction for reduction in reductions if reduction.strip_depth == len(index)]
    if not reductions_in_strips:
        write(*bounds)
        return
    first, last = (int(bound) if bound.isdigit() else bound for bound in bounds)
    with strips(out, first, last, min(reduction.strip_length for reduction in reductions_in_strips)) as (start, stop):
        write(start, stop)
        for reduction in reductions_in_strips:
            reduction.end_strip(index, split_dimension)


def _reduced_count(out: FunctionText, node: Node) -> Position:
    """Return the number of elements that are reduced to one element of the result."""
    shape = sizes(node.inputs[0].type)
    return element_count(out, [shape[axis] for axis in sorted(reduced_axes(node))])
