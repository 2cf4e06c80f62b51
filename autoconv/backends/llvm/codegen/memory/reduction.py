"""Lower totals (see `totals`): loops over parts of arrays that end with one number.

Long sums of floats are accumulated block by block, the blocks in float64, as in `reductions`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends.llvm.codegen.context import LoweringContext
from autoconv.backends.llvm.codegen.loops.accumulator import Accumulator, neutral_literal
from autoconv.backends.llvm.codegen.memory.step_loops import Routine, StepLoops
from autoconv.backends.llvm.codegen.registry import in_memory
from autoconv.backends.llvm.codegen.values import Memory, RegisterWriter
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Index, Position, element_count, plus, times
from autoconv.backends.llvm.ir.nested_loops import loops, strips
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.legalize.array_reductions import KINDS
from autoconv.backends.llvm.schedule.reduction_depth import BLOCK
from autoconv.graph.dtypes import DType, bool_, int64
from autoconv.graph.graph import Node
from autoconv.ops import OPS

_OF_KIND = {found.kind: found for op in OPS.values() if (found := op.traits.reduction) is not None}
_LANES = 8  # sums side by side, to hide the latency of additions
_NEED_ELEMENTS = ("max", "min", "argmax", "argmin")


@in_memory("array_total", of_held=False)
def write_total(region: LoweringContext, node: Node) -> None:
    """Write the loops; the kernel runs where sizes do not fit, or where an extreme has no elements."""
    out, (result,) = region.out, node.results
    dtype: Any = result.dtype
    kind, b = register(dtype), RegisterWriter(region)
    cell = out.alloca(kind)
    total = _Total(region, node)

    def keep(slow: object) -> None:
        assert isinstance(slow, Element)
        out.store(kind, slow.ir, cell)

    total.run_where_fit(total.fallback_conditions(total.sizes), lambda: total.run(cell), keep)
    region.set(result, b.wrap(dtype, out.load(kind, cell)))


class _Total(StepLoops):
    def __init__(self, region: LoweringContext, node: Node) -> None:
        super().__init__(region, node, node.inputs)
        self.kind = KINDS[node.attributes["op"]]
        self.to: DType = node.results[0].dtype
        self.sizes = self._sizes()

    def _sizes(self) -> tuple[Position, ...]:
        """Return the sizes of the loops: for each dimension the best known size among the inputs."""
        shapes = [(s.type.shape or (), self.sizes_of(s, i)) for i, s in enumerate(self.steps) if not s.op]
        rank = max(len(own) for _, own in shapes)
        found: list[Position] = []
        for axis in range(-rank, 0):
            pairs = [(static[axis], own[axis]) for static, own in shapes if len(own) >= -axis]
            wide = [pair for pair in pairs if pair[0] != 1]
            sure = [own for static, own in wide if static is not None]
            found.append((sure or [own for _, own in wide] or [1])[0])
        return tuple(found)

    def fallback_conditions(self, into: Sequence[Position]) -> list[str]:
        wrong = super().fallback_conditions(into)
        if self.kind in _NEED_ELEMENTS:
            wrong += [self.region.out.icmp("eq", size, 0) for size in self.sizes if not isinstance(size, int)]
        return wrong

    def run(self, cell: str) -> None:
        """Store the result in the cell."""
        routine = Routine(self.region)
        out = routine.out
        total = routine.pointer(cell)
        routine_operands: list[Memory | Element] = []
        for _, operand in self.operands:
            is_number = isinstance(operand, Element)
            routine_operands.append(routine.number(operand) if is_number else routine.memory(operand, "readonly "))  # type: ignore[arg-type]
        lasting: dict[Position, Position] = dict(zip(self.sizes, routine.numbers(self.sizes), strict=True))
        sizes = tuple(lasting[size] for size in self.sizes)

        def write(b: ElementWriter) -> None:
            found = (_best if self.kind[:3] == "arg" else _accumulate)(
                self, b, sizes, lambda i: self.value(b, routine_operands, i)
            )
            out.line(f"store {register(self.to)} {b.cast(found, self.to).ir}, ptr {total}")

        self.write(out, routine_operands, sizes, ("0", str(sizes[0])), write)
        routine.call()


def _accumulate(total: _Total, b: ElementWriter, sizes: Sequence[Position], at: Callable[[Index], Element]) -> Element:
    """Compute a sum, product, mean or extreme, or whether any or all are true."""
    out, kind, last = b.out, total.kind, total.steps[-1].type.dtype
    dtype = bool_ if kind in ("any", "all") else last if kind in ("max", "min") else total.to
    in_blocks = dtype.is_floating and kind in ("sum", "mean")
    lanes = _LANES if in_blocks and _is_strided(total) else 1
    found, *others = (Accumulator(b, _OF_KIND[kind], dtype, in_blocks) for _ in range(lanes))

    def take(index: Index, lane: int = 0) -> None:
        (found, *others)[lane].accumulate(b.cast(at(index), dtype))

    def end_block() -> None:
        found.fold_in(others)
        found.end_block()

    if not found.in_blocks:
        loops(out, sizes, take)
        return found.result()
    _in_blocks(out, sizes, take, end_block, lanes)
    if kind == "sum":
        return found.result()
    return found.result() / b.cast(b.wrap(int64, str(element_count(out, sizes))), dtype)


def _is_strided(total: _Total) -> bool:
    """Return whether elements are not next to each other: LLVM then sums them one after another."""
    arrays = [(value, operand) for value, operand in total.operands if isinstance(operand, Memory) and operand.strides]
    return any(array.strides[-1] != value.dtype.size for value, array in arrays)


def _in_blocks(
    out: FunctionText, sizes: Sequence[Position], take: Callable[..., None], end_block: Callable[[], None], lanes: int
) -> None:
    """Write loops whose innermost one is strip-mined into blocks of BLOCK elements, and those into `lanes` sums."""
    *outer, last = sizes

    def elements(index: Index, first: str, stop: str) -> None:
        if lanes > 1:
            groups = out.op("sdiv", out.sub(stop, first), lanes)
            with out.loop("0", groups) as group:
                start = plus(out, times(out, group, lanes), first)
                for lane in range(lanes):
                    take((*index, plus(out, start, lane)), lane)
            first = out.add(first, out.mul(groups, lanes))
        with out.loop(first, stop) as i:
            take((*index, i))

    def rows(index: Index) -> None:
        if isinstance(last, int) and last <= BLOCK:
            elements(index, "0", str(last))
            end_block()
            return
        with strips(out, 0, last, BLOCK) as (first, stop):
            elements(index, str(first), str(stop))
            end_block()

    loops(out, outer, rows)


def _best(total: _Total, b: ElementWriter, sizes: Sequence[Position], at: Callable[[Index], Element]) -> Element:
    """Return the flat index of the first extreme; the first nan is one."""
    out, dtype = b.out, total.steps[-1].type.dtype
    kind = register(dtype)
    best, place, counter = out.alloca(kind), out.alloca("i64"), out.alloca("i64")
    for cell in (place, counter):
        out.line(f"store i64 0, ptr {cell}")
    out.line(f"store {kind} {neutral_literal(_OF_KIND[total.kind[3:]], dtype)}, ptr {best}")

    def take(index: Index) -> None:
        element = at(index)
        before = b.wrap(dtype, out.new(f"load {kind}, ptr {best}"))
        better = element > before if total.kind == "argmax" else element < before
        if dtype.is_floating:
            first_nan = out.new(f"and i1 {b.is_nan(element).ir}, {out.new(f'xor i1 {b.is_nan(before).ir}, true')}")
            better = b.wrap(bool_, out.new(f"or i1 {better.ir}, {first_nan}"))
        count = out.new(f"load i64, ptr {counter}")
        earlier = out.new(f"load i64, ptr {place}")
        value = out.new(f"select i1 {better.ir}, {kind} {element.ir}, {kind} {before.ir}")
        out.line(f"store {kind} {value}, ptr {best}")
        out.line(f"store i64 {out.new(f'select i1 {better.ir}, i64 {count}, i64 {earlier}')}, ptr {place}")
        out.line(f"store i64 {out.new(f'add nsw i64 {count}, 1')}, ptr {counter}")

    loops(out, sizes, take)
    return b.wrap(int64, out.new(f"load i64, ptr {place}"))


__all__ = ["write_total"]
