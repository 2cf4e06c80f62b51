"""Loops of element rules, and functions of their own for long rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import register
from autoconv.graph.dtypes import DType, float64
from autoconv.ops.elements import Rule, Step


class LoopWriter:
    """The operations `routine` and `iterate` of a writer of elements (see `ops.elements.Elements`)."""

    out: FunctionText

    def in_function(self, out: FunctionText) -> Any:
        """Return a writer of single numbers into another function."""
        raise NotImplementedError

    def wrap(self, dtype: DType, ir: str) -> Any:
        raise NotImplementedError

    def routine(self, name: str, rule: Rule, *operands: Any) -> Any:
        """Call an internal function that applies a rule, which may neither fail nor warn, to the operands."""
        parameters = [f"{register(x.dtype)} %x{i}" for i, x in enumerate(operands)]
        out = FunctionText(self.out.module, Signature(register(operands[0].dtype), parameters))
        writer = self.in_function(out)
        result = rule(writer, *(writer.wrap(x.dtype, f"%x{i}") for i, x in enumerate(operands)))
        out.ret(result.ir, register(result.dtype))
        return self.wrap(result.dtype, self.out.call(out.finish(name), *(x.ir for x in operands)))

    def iterate(self, active: Any, state: Sequence[Any], step: Step, most: int) -> list[Any]:
        """Write a loop; its state is in cells, which LLVM keeps in registers."""
        out, kinds = self.out, [register(x.dtype) for x in state]
        going, number, *cells = (out.alloca(kind) for kind in ("i1", "double", *kinds))
        for kind, value, cell in zip(("i1", "double", *kinds), (active.ir, "1.0", *(x.ir for x in state)),
                                     (going, number, *cells), strict=True):  # fmt: skip
            out.store(kind, value, cell)

        def load_state() -> list[Any]:
            loaded = zip(state, kinds, cells, strict=True)
            return [self.wrap(x.dtype, out.load(kind, cell)) for x, kind, cell in loaded]

        with out.while_(lambda: out.load("i1", going)):
            n = self.wrap(float64, out.load("double", number))
            goes_on, after = step(n, load_state())
            for kind, x, cell in zip(kinds, after, cells, strict=True):
                out.store(kind, x.ir, cell)
            out.store("i1", (goes_on & (n < float(most))).ir, going)
            out.store("double", (n + 1.0).ir, number)
        return load_state()


__all__ = ["LoopWriter"]
