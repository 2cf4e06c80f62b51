"""The accumulator of a reduction: a number that elements are folded into, and that LLVM keeps in a register.

Reductions of whole arrays and of parts of arrays use it. Long sums of floats are accumulated in blocks, whose sums are
added in float64, so that the rounding error grows only with the number of blocks.
"""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.ir.index_arith import Position
from autoconv.backends.llvm.ir.operand import FALSE
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter
from autoconv.backends.llvm.ir.types import literal, register
from autoconv.graph.dtypes import DType, bool_, float64
from autoconv.ops.traits import Reduction


def neutral_literal(reduction: Reduction, dtype: DType) -> str:
    """Return the literal of the reduction's neutral element."""
    return literal(reduction.neutral(dtype), dtype)


def fold(b: ElementWriter, reduction: Reduction, dtype: DType, total: str, element: Element, is_ordered: bool) -> str:
    """Write the fold of an element into `total`, a register; return the register of the new total.

    Unless `is_ordered` is true, LLVM may reorder sums of floats.
    """
    kind, out = reduction.kind, b.out
    if kind in ("max", "min"):
        sign = "u" if dtype.is_unsigned or dtype.is_bool else "s"
        name = f"{kind}imum" if dtype.is_floating else f"{sign}{kind}"
        return b.intrinsic(name, b.wrap(dtype, total), element).ir
    if kind in ("any", "all"):
        is_true = b.cast(element, bool_)
        return (out.or_ if kind == "any" else out.and_)(total, is_true.ir)
    name = "mul" if kind == "prod" else "add"
    if dtype.is_floating:
        name = f"f{name}" if is_ordered or name == "mul" else f"f{name} reassoc"
    return out.new(f"{name} {register(dtype)} {total}, {element.ir}")


class Accumulator:
    """A total of elements of one dtype.

    If `has_blocks` is true, elements are folded into the total of a block, which `end_block` adds to the total of all
    blocks, a float64.
    """

    def __init__(self, b: ElementWriter, reduction: Reduction, dtype: DType, has_blocks: bool) -> None:
        self.b = b
        self.reduction = reduction
        self.dtype = dtype
        self.has_blocks = has_blocks
        # Vector instructions compute an extreme of numbers that are not nan; a separate flag records nans.
        self._tracks_nan = dtype.is_floating and reduction.kind in ("max", "min")
        out = b.out
        self._block_cell = out.alloca(register(dtype), neutral_literal(reduction, dtype))
        self._total_cell = out.alloca("double", literal(0, float64)) if has_blocks else self._block_cell
        self._nan_cell = out.alloca("i1", "false") if self._tracks_nan else ""

    @property
    def ir_type(self) -> str:
        """The type of the total in memory."""
        return "double" if self.has_blocks else register(self.dtype)

    def reset(self) -> None:
        """Set the total of the block to the neutral element."""
        out = self.b.out
        out.store(register(self.dtype), neutral_literal(self.reduction, self.dtype), self._block_cell)
        if self._tracks_nan:
            out.store("i1", FALSE, self._nan_cell)

    def accumulate(self, element: Element) -> None:
        """Fold an element into the total of the block."""
        out, block_type = self.b.out, register(self.dtype)
        total = out.load(block_type, self._block_cell)
        if self._tracks_nan:
            name = f"llvm.{self.reduction.kind}num.f{8 * self.dtype.size}"
            function = out.module.declare(name, block_type, f"{block_type}, {block_type}")
            operands = f"{block_type} {total}, {block_type} {element.ir}"
            total_after = out.new(f"call nnan nsz {block_type} {function}({operands})")
            out.store("i1", out.or_(out.load("i1", self._nan_cell), self.b.is_nan(element).ir), self._nan_cell)
        else:
            total_after = fold(self.b, self.reduction, self.dtype, total, element, is_ordered=False)
        out.store(block_type, total_after, self._block_cell)

    def fold_in(self, accumulators: Sequence[Accumulator]) -> None:
        """Add the block totals of other accumulators of a sum to the block total of this one, and reset those."""
        out, b, block_type = self.b.out, self.b, register(self.dtype)
        for other in accumulators:
            total = out.load(block_type, self._block_cell)
            block = b.wrap(self.dtype, out.load(block_type, other._block_cell))
            out.store(block_type, fold(b, self.reduction, self.dtype, total, block, is_ordered=True), self._block_cell)
            other.reset()

    def end_block(self) -> None:
        """Add the block to the total, and begin the next block."""
        if not self.has_blocks:
            return
        out, b = self.b.out, self.b
        block = b.cast(b.wrap(self.dtype, out.load(register(self.dtype), self._block_cell)), float64)
        out.store("double", out.op("fadd", out.load("double", self._total_cell), block.ir), self._total_cell)
        self.reset()

    def load_total(self) -> str:
        """Return a register with the total, whose type is `ir_type`."""
        out = self.b.out
        result = out.load(self.ir_type, self._total_cell)
        if not self._tracks_nan:
            return result
        nan = out.load("i1", self._nan_cell)
        return out.new(f"select i1 {nan}, {self.ir_type} {literal(float('nan'), self.dtype)}, {self.ir_type} {result}")

    def result(self) -> Element:
        """Return the total in the dtype of the elements."""
        total = self.b.wrap(float64 if self.has_blocks else self.dtype, self.load_total())
        return self.b.cast(total, self.dtype) if self.has_blocks else total

    def fold_parts(self, totals: str, part_count: Position) -> None:
        """Fold in the totals of all parts of a partitioned loop, in order; `totals` is the address of the first."""
        out, b = self.b.out, self.b
        with out.loop("0", str(part_count)) as part:
            part_total = out.load(self.ir_type, out.gep(self.ir_type, totals, part))
            old_total = out.load(self.ir_type, self._total_cell)
            if self.has_blocks:
                new_total: str = out.op("fadd", old_total, part_total)
            else:
                element = b.wrap(self.dtype, part_total)
                new_total = fold(b, self.reduction, self.dtype, old_total, element, is_ordered=True)
            out.store(self.ir_type, new_total, self._total_cell)
