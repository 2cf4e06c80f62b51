"""Split loops over open shapes over threads, if they turn out long enough at run time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autoconv.backends.llvm.positions import Position, element_count
from autoconv.backends.llvm.reductions import BLOCK
from autoconv.backends.llvm.split import NARROWEST, PART, WORTHWHILE, Split, independent, work_of_one
from autoconv.backends.llvm.text import FunctionText, ModuleText
from autoconv.backends.llvm.threads import MOST_PARTS, available

if TYPE_CHECKING:
    from autoconv.backends.llvm.fusion import Item, Plan


def choose_open_split(plan: Plan, item: Item, flat: bool) -> OpenSplit | None:
    """Choose the split, as `split.choose_split`; None where all parts would write to one place."""
    shape = item.shape or ()
    if not available():
        return None
    if flat:
        return OpenSplit(None, 0, 1, shape, work_of_one(item), BLOCK)
    for dimension in independent(plan, item, shape):
        multiple = 1 if all(size == 1 for size in shape[:dimension]) else NARROWEST
        if isinstance(shape[dimension], int) and shape[dimension] <= multiple:
            continue
        return OpenSplit(dimension, 0, 1, shape, work_of_one(item), multiple)
    return None


@dataclass(frozen=True)
class OpenSplit(Split):
    """A split of loops over an open shape, into the parts that a constant shape of that size would have.

    each      work of one iteration
    multiple  divisor of the counts of a part
    part      least work of a part
    least     least work of all that is worth splitting
    most      largest number of parts
    size      if given, the limit of the counter; the shape then only gives the amount of work

    Work is in units of 0.05 ns.
    """

    shape: tuple[Position, ...] = ()
    each: int = 0
    multiple: int = 1
    part: int = PART
    least: int = WORTHWHILE
    most: int = MOST_PARTS

    @property
    def parts(self) -> int:
        """The largest possible number of parts."""
        return self.most

    def bounds(self, out: FunctionText) -> tuple[str, str, str]:
        """Return registers of the number of parts, the size of the split dimension, and the step of a part."""
        count = element_count(out, self.shape)
        size = self.size or (count if self.dimension is None else self.shape[self.dimension])
        work = out.new(f"mul nsw i64 {count}, {self.each}")
        low, high = (out.module.declare(f"llvm.{name}.i64", "i64", "i64, i64") for name in ("smax", "smin"))
        wanted = out.new(f"call i64 {high}(i64 {out.new(f'sdiv i64 {work}, {self.part}')}, i64 {self.most})")
        wanted = out.new(f"call i64 {low}(i64 {wanted}, i64 2)")
        step = self._quotient(out, self._quotient(out, str(size), wanted), str(self.multiple))
        step = out.new(f"mul nsw i64 {step}, {self.multiple}")
        large = out.new(f"icmp sge i64 {work}, {self.least}")
        step = out.new(f"select i1 {large}, i64 {step}, i64 {size}")
        step = out.new(f"call i64 {low}(i64 {step}, i64 1)")
        return self._quotient(out, str(size), step), str(size), step

    @staticmethod
    def _quotient(out: FunctionText, dividend: str, divisor: str) -> str:
        """Divide, rounding up."""
        if divisor == "1":
            return dividend
        more = out.new(f"add nsw i64 {dividend}, {out.new(f'sub nsw i64 {divisor}, 1')}")
        return out.new(f"sdiv i64 {more}, {divisor}")

    def run(self, module: ModuleText, out: FunctionText, body: str, parameters: Sequence[str], has_rare: bool) -> str:
        return self.run_parts(module, out, body, parameters, has_rare, self.bounds(out))

    def run_parts(
        self, module: ModuleText, out: FunctionText, body: str, parameters: Sequence[str], has_rare: bool,
        bounds: tuple[str, str, str],
    ) -> str:  # fmt: skip
        parts, size, step = bounds
        cell = out.alloca("i1", "false")
        alone, shared, done = out.label("alone"), out.label("shared"), out.label("done")
        out.branch_if(out.new(f"icmp sgt i64 {parts}, 1"), shared, alone)
        out.begin(shared)
        flag = self.hand_out(module, out, body, parameters, has_rare, parts, (size, step))
        out.line(f"store i1 {flag}, ptr {cell}")
        out.branch(done)
        out.begin(alone)
        given = [f"{one.split(' ')[0]} {one.split(' ')[-1]}" for one in parameters]
        flag = out.new(f"call i1 @{body}({', '.join([*given, 'i64 0', 'i64 0', f'i64 {size}'])})")
        out.line(f"store i1 {flag}, ptr {cell}")
        out.branch(done)
        out.begin(done)
        return out.new(f"load i1, ptr {cell}") if has_rare else "false"
