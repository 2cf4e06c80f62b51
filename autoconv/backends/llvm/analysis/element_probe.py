"""Evaluate element rules on dtypes, without writing code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.ir.element_rules import compute
from autoconv.backends.llvm.ir.scalars import Element
from autoconv.graph.dtypes import DType, bool_, complex64, complex128, float32, float64
from autoconv.ops.elements import Rule, Step


class ElementProbe:
    """An implementation of the operations of element rules (see `ops/elements`) that computes dtypes alone.

    A rule that leaves some operands to the C library sets `is_rare`; a rule whose op may raise sets `fails`.
    """

    avoids_library_calls = True

    def __init__(self) -> None:
        self.is_rare = self.fails = False

    def result(self, name: str, operands: list[DType], dtype: DType, attributes: Any = None) -> DType | None:
        """Return the dtype that an op's rule computes for a result of `dtype`; None if the rule lacks this case."""
        element = compute(self, name, [self.wrap(operand) for operand in operands], dtype, attributes)
        return None if element is None else element.dtype

    def wrap(self, dtype: DType, ir: str = "") -> Element:
        return Element(self, dtype, ir)  # type: ignore[arg-type]

    def constant(self, number: Any, dtype: DType) -> Element:
        return self.wrap(dtype)

    def _like_first_operand(self, x: Element, *_: Any) -> Element:
        return self.wrap(x.dtype)

    add = subtract = multiply = divide = remainder = negative = fma = scale_by_power_of_two = _like_first_operand

    def _like_second_argument(self, name: str, x: Element, *_: Any) -> Element:
        return self.wrap(x.dtype)

    bits = intrinsic = libm = _like_second_argument

    def compare(self, test: str, x: Element, y: Any) -> Element:
        return self.wrap(bool_)

    def is_nan(self, x: Element) -> Element:
        return self.wrap(bool_)

    def select(self, condition: Element, x: Any, y: Any) -> Element:
        return self.wrap(x.dtype if isinstance(x, Element) else y.dtype)

    def like(self, model: Element, operand: Any) -> Element:
        return self.wrap(operand.dtype if isinstance(operand, Element) else model.dtype)

    def with_overflow(self, name: str, x: Element, y: Any) -> tuple[Element, Element]:
        return self.wrap(x.dtype), self.wrap(bool_)

    def pair(self, real: Element, imag: Element) -> Element:
        return self.wrap(complex64 if real.dtype is float32 else complex128)

    def cast(self, x: Element, dtype: DType) -> Element:
        return self.wrap(dtype)

    bitcast = cast

    def routine(self, name: str, rule: Rule, *operands: Element) -> Element:
        # The function handles rare operands and failures itself: the new probe's flags are dropped.
        result: Element = rule(type(self)(), *operands)
        return result

    def known_exponent(self, _y: Element) -> None:
        return None

    def iterate(self, active: Element, state: Sequence[Element], step: Step, max_count: int) -> list[Element]:
        return step(self.wrap(float64), list(state))[1]

    def fail_if(self, condition: Element) -> None:
        self.fails = True

    raise_if = fail_if

    def keep_flags(self, x: Element, is_compared: bool = False) -> Element:
        return x

    def warn(self, error: str, condition: Element) -> None: ...

    def mark_rare(self, condition: Element) -> None:
        self.is_rare = True
