"""Reductions in loop nests: in registers where their loops are the innermost, else in the memory of the result."""

from __future__ import annotations

import math
from typing import Any, Protocol

from autoconv.backends.llvm.analysis.classify import reduced_axes, reduction_of
from autoconv.backends.llvm.analysis.representation import is_dense, sizes
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Index, Position, element_count, is_known, linear
from autoconv.backends.llvm.ir.scalars import Element, load, store
from autoconv.backends.llvm.ir.types import is_narrow, literal, register
from autoconv.backends.llvm.schedule.reduction_depth import BLOCK
from autoconv.graph.dtypes import bool_, float32, float64, int64
from autoconv.graph.graph import Node, Value


def _kept_index(node: Node, index: Index) -> Index:
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
    def __init__(self, kernel: LoopNest, node: Node) -> None:
        self.kernel = kernel
        self.node = node
        self.reduction = reduction_of(node)
        self.kind = self.reduction.kind
        dtype = node.inputs[0].dtype
        self.dtype = float32 if is_narrow(dtype) else dtype  # dtype of the accumulator
        self.pointer = kernel.stores.get(node.results[0], "")  # "" for a row's sum that is only read within the row
        self.result_shape = sizes(node.results[0].type)

    def identity(self) -> str:
        return literal(self.reduction.neutral(self.dtype), self.dtype)

    def combine(self, total: str, element: Element, ordered: bool = False) -> str:
        out, kind = self.kernel.out, register(self.dtype)
        if self.kind in ("max", "min"):
            if self.dtype.is_floating:
                return self.kernel.b.intrinsic(f"{self.kind}imum", self.kernel.b.wrap(self.dtype, total), element).ir
            sign = "u" if self.dtype.is_unsigned or self.dtype.is_bool else "s"
            return self.kernel.b.intrinsic(f"{sign}{self.kind}", self.kernel.b.wrap(self.dtype, total), element).ir
        if self.kind in ("any", "all"):
            truth = self.kernel.b.cast(element, bool_)
            return out.new(f"{'or' if self.kind == 'any' else 'and'} i1 {total}, {truth.ir}")
        name = "mul" if self.kind == "prod" else "add"
        flags = "" if not self.dtype.is_floating else f"f{name} {'' if ordered or name == 'mul' else 'reassoc '}"
        return out.new(f"{flags or name + ' '}{kind} {total}, {element.ir}")

    def count(self) -> Element | float:
        """Return the number of elements that are reduced to one."""
        b = self.kernel.b
        found = _count(b.out, self.node)
        return float(found) if isinstance(found, int) else b.cast(b.wrap(int64, found), self.dtype)

    def put(self, total: str, index: Index) -> Element:
        b = self.kernel.b
        element = b.wrap(self.dtype, total)
        if self.kind == "mean":
            element = element / self.count()
        element = b.cast(element, self.node.results[0].dtype)
        if self.pointer:
            store(b, element, self.pointer, linear(b.out, index, self.result_shape))
        return element


class RegisterReduction(Reduction):
    """A reduction with a register as its accumulator, while the loops from `depth` on run.

    `whole`: it covers all loops. Long sums are accumulated block by block, the blocks in float64, so that the rounding
    error grows only with the number of blocks.
    """

    def __init__(self, kernel: LoopNest, node: Node, depth: int, flat: bool) -> None:
        super().__init__(kernel, node)
        self.depth = depth
        shape = kernel.shape or ()
        self.whole = all(size == 1 for size in shape[:depth])
        summed = self.dtype.is_floating and self.kind in ("sum", "mean")
        self.blocks = flat and summed and not (is_known(shape) and math.prod(shape) <= BLOCK)
        self.total_kind = "double" if self.blocks else register(self.dtype)
        # Vector instructions find an extreme if no element is nan; whether one is, is accumulated separately.
        self.extreme = self.dtype.is_floating and self.kind in ("max", "min")

    def enter(self) -> None:
        """Allocate the accumulators at the entry of the loops' function."""
        out = self.kernel.out
        self.cell = out.alloca(register(self.dtype), self.identity())
        self.total = out.alloca("double", literal(0, float64)) if self.blocks else ""
        self.nan = out.alloca("i1", "false") if self.extreme else ""

    def start(self) -> None:
        self.kernel.out.line(f"store {register(self.dtype)} {self.identity()}, ptr {self.cell}")
        if self.extreme:
            self.kernel.out.line(f"store i1 false, ptr {self.nan}")

    def take(self, element: Element, index: Index) -> None:
        out, kind = self.kernel.out, register(self.dtype)
        total = out.new(f"load {kind}, ptr {self.cell}")
        if self.extreme:
            name = f"llvm.{self.kind}num.f{8 * self.dtype.size}"
            function = out.module.declare(name, kind, f"{kind}, {kind}")
            found = out.new(f"call nnan nsz {kind} {function}({kind} {total}, {kind} {element.ir})")
            before = out.new(f"load i1, ptr {self.nan}")
            after = out.new(f"or i1 {before}, {self.kernel.b.is_nan(element).ir}")
            out.line(f"store i1 {after}, ptr {self.nan}")
        else:
            found = self.combine(total, element)
        out.line(f"store {kind} {found}, ptr {self.cell}")

    def _read(self) -> str:
        """Return the accumulated value."""
        out, kind = self.kernel.out, self.total_kind
        found = out.new(f"load {kind}, ptr {self.total if self.blocks else self.cell}")
        if not self.extreme:
            return found
        nan = out.new(f"load i1, ptr {self.nan}")
        return out.new(f"select i1 {nan}, {kind} {literal(float('nan'), self.dtype)}, {kind} {found}")

    def end_block(self) -> None:
        if not self.blocks:
            return
        out, b = self.kernel.out, self.kernel.b
        part = b.cast(b.wrap(self.dtype, out.new(f"load {register(self.dtype)}, ptr {self.cell}")), float64)
        total = out.new(f"fadd double {out.new(f'load double, ptr {self.total}')}, {part.ir}")
        out.line(f"store double {total}, ptr {self.total}")
        self.start()

    def hand_over(self, cells: str) -> None:
        """Store the sum of this part, for `add_up`."""
        out, kind = self.kernel.out, self.total_kind
        found = self._read()
        place = out.new(f"getelementptr inbounds {kind}, ptr {cells}, i64 %part")
        out.line(f"store {kind} {found}, ptr {place}")

    def add_up(self, cells: str, parts: Position) -> None:
        """Combine the sums of all parts, in order, and store the result."""
        self.enter()
        kernel, kind = self.kernel, self.total_kind
        dtype, cell = (float64, self.total) if self.blocks else (self.dtype, self.cell)
        with kernel.out.loop("0", str(parts)) as part:
            place = kernel.out.new(f"getelementptr inbounds {kind}, ptr {cells}, i64 {part}")
            found = kernel.b.wrap(dtype, kernel.out.new(f"load {kind}, ptr {place}"))
            before = kernel.out.new(f"load {kind}, ptr {cell}")
            if self.blocks:
                after = kernel.out.new(f"fadd double {before}, {found.ir}")
            else:
                after = self.combine(before, found, ordered=True)
            kernel.out.line(f"store {kind} {after}, ptr {cell}")
        self.finish(())

    def finish(self, index: Index) -> Element:
        b = self.kernel.b
        total = self._read()
        if self.blocks:
            total = b.cast(b.wrap(float64, total), self.dtype).ir
        rank = len(self.kernel.shape or ())
        whole = (*index, *[0] * (rank - len(index)))
        return self.put(total, _kept_index(self.node, whole))


class MemoryReduction(Reduction):
    """A reduction whose loops are not the innermost: it accumulates in the memory of the result."""

    def start(self) -> None:
        count = element_count(self.kernel.out, self.result_shape)
        with self.kernel.out.loop("0", str(count)) as i:
            store(self.kernel.b, self.kernel.b.wrap(self.dtype, self.identity()), self.pointer, i)

    def take(self, element: Element, index: Index) -> None:
        b = self.kernel.b
        offset = linear(b.out, _kept_index(self.node, index), self.result_shape)
        before = load(b, self.dtype, self.pointer, offset)
        store(b, b.wrap(self.dtype, self.combine(before.ir, element, ordered=True)), self.pointer, offset)

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
