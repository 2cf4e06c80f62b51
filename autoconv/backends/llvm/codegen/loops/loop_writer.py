"""Write elements inside of a loop."""

from __future__ import annotations

from collections.abc import Callable

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Index
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter
from autoconv.graph.graph import Value


class LoopWriter(ElementWriter):
    """Write elements inside of a loop.

    `rare(condition)` flags elements for which the rule is not exact enough, `fail(condition)` those that the op's
    kernel has to decide.
    """

    def __init__(self, out: FunctionText, careful: bool, at: Callable[[Value, Index], Element]) -> None:
        super().__init__(out)
        self.at = at
        self.in_loop = not careful
        self.rare_flag: str | None = None

    def number(self, value: Value) -> Element:
        return self.at(value, ())

    def mark_rare(self, condition: Element) -> None:
        if self.rare_flag is None:
            self.rare_flag = self.out.alloca("i1", "false")
        before = self.out.new(f"load i1, ptr {self.rare_flag}")
        after = self.out.new(f"or i1 {before}, {condition.ir}")
        self.out.line(f"store i1 {after}, ptr {self.rare_flag}")

    fail = mark_rare
