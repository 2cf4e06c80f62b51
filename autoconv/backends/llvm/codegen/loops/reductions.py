"""Reductions in loop nests: in registers where their loops are the innermost, else in the memory of the result."""

from __future__ import annotations

import math
from typing import Any, Protocol

from autoconv.backends.llvm.analysis.classify import reduced_axes, reduction_of
from autoconv.backends.llvm.analysis.representation import is_dense, sizes
from autoconv.backends.llvm.codegen.loops.accumulator import Accumulator, fold, neutral
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Index, Position, element_count, is_known, linear
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.ir.types import is_narrow, register
from autoconv.backends.llvm.schedule.reduction_depth import BLOCK
from autoconv.graph.dtypes import float32, int64
from autoconv.graph.graph import Node, Value


def _result_index(node: Node, index: Index) -> Index:
    axes = reduced_axes(node)
    if not is_dense(node.results[0].type):
        return ()
    kept = len(sizes(node.results[0].type))
    if len(index) - len(axes) == kept:
        return tuple(i for d, i in enumerate(index) if d not in axes)
    # Reduced dimensions remain as ones: all of them, or those after the ones that a sum to a shape drops.
    return tuple(0 if d in axes else i for d, i in enumerate(index))[len(index) - kept :]


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
        self.blocks = flat and summed and not (is_known(shape) and math.prod(shape) <= BLOCK)
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
        out, kind, found = self.kernel.out, self.total_kind, self._total.read()
        out.store(kind, found, out.gep(kind, cells, "%part"))

    def combine_parts(self, cells: str, parts: Position) -> None:
        """Combine the sums of all parts, in order, and store the result."""
        self.enter()
        self._total.combine_parts(cells, parts)
        self.finish(())

    def finish(self, index: Index) -> Element:
        rank = len(self.kernel.shape or ())
        whole = (*index, *[0] * (rank - len(index)))
        return self.store_result(self._total.result(), _result_index(self.node, whole))


class MemoryReduction(Reduction):
    """A reduction over loops that are not the innermost ones. It accumulates in the memory of the result."""

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


def _count(out: FunctionText, node: Node) -> Position:
    shape = sizes(node.inputs[0].type)
    return element_count(out, [shape[axis] for axis in sorted(reduced_axes(node))])
