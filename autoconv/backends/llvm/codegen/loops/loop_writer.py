"""The writer of element rules inside of loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Index
from autoconv.backends.llvm.ir.scalars import Element, ElementWriter
from autoconv.graph.graph import Value


class NestFunction(NamedTuple):
    """A native function with the loops of a plan item; if `has_rare` is true, it can report rare elements."""

    name: str
    has_rare: bool


class LoopWriter(ElementWriter):
    """A writer of element rules inside of a loop.

    Rules call `mark_rare(condition)` for elements that their fast code does not compute exactly enough. They call
    `fail_if(condition)` for elements that need the op's kernel, and `raise_if` where it raises. All three set
    the i1 at the address `rare_flag`. `at(value, index)` returns an element of an array. With `is_careful`, rules call
    the C library where that is exact, and do not mark elements as rare.
    """

    def __init__(self, out: FunctionText, is_careful: bool, load_element: Callable[[Value, Index], Element]) -> None:
        super().__init__(out)
        self.at = load_element
        self.avoids_library_calls = not is_careful
        self.rare_flag: str | None = None

    def close(self) -> None:
        """Drop the function that loads elements, and with it a reference cycle, which garbage collection is slow to
        free.
        """
        del self.at

    def number(self, value: Value) -> Element:
        return self.at(value, ())

    def mark_rare(self, condition: Element) -> None:
        if self.rare_flag is None:
            self.rare_flag = self.out.alloca("i1", "false")
        old_flag = self.out.new(f"load i1, ptr {self.rare_flag}")
        new_flag = self.out.new(f"or i1 {old_flag}, {condition.ir}")
        self.out.line(f"store i1 {new_flag}, ptr {self.rare_flag}")

    fail_if = raise_if = mark_rare
