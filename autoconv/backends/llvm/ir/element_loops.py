"""Loops of element rules, internal functions that apply long rules, and exponents that are constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.signature import Signature
from autoconv.backends.llvm.ir.types import register
from autoconv.backends.llvm.target.machine import current_target
from autoconv.graph.dtypes import DType, float64
from autoconv.ops.elements import Rule, Step

_MAX_EXPONENT = 8


class ElementLoops:
    """The operations `routine`, `iterate` and `known_exponent` of a writer (see `ops.elements.Elements`)."""

    out: FunctionText

    def in_function(self, out: FunctionText) -> Any:
        """Return a writer of single numbers into another function."""
        raise NotImplementedError

    def wrap(self, dtype: DType, ir: str) -> Any:
        raise NotImplementedError

    def known_exponent(self, y: Any) -> int | None:
        """Return an exponent from 3 to 8 that is a constant, if powers by it can be computed like the C library's."""
        is_exponent = y.dtype.is_integer and y.ir.isdecimal() and 3 <= int(y.ir) <= _MAX_EXPONENT
        is_usable = is_exponent and current_target().has_accurate_pow
        return int(y.ir) if is_usable else None

    def routine(self, name: str, rule: Rule, *operands: Any) -> Any:
        """Call an internal function that applies a rule, which may neither fail nor warn, to the operands."""
        parameters = [f"{register(x.dtype)} %x{i}" for i, x in enumerate(operands)]
        out = FunctionText(self.out.module, Signature(register(operands[0].dtype), parameters))
        writer = self.in_function(out)
        result = rule(writer, *(writer.wrap(x.dtype, f"%x{i}") for i, x in enumerate(operands)))
        out.ret(result.ir, register(result.dtype))
        return self.wrap(result.dtype, self.out.call(out.finish(name), *(x.ir for x in operands)))

    def iterate(self, active: Any, state: Sequence[Any], step: Step, max_count: int) -> list[Any]:
        """Write the loop of a rule (see `ops.elements.Elements`); return the final state.

        LLVM keeps the cells of the state and of the number of the iteration, which begins at 1, in registers.
        """
        out, ir_types = self.out, [register(x.dtype) for x in state]
        cell_types, initial_values = ("i1", "double", *ir_types), (active.ir, "1.0", *(x.ir for x in state))
        active_cell, number_cell, *cells = all_cells = [out.alloca(ir_type) for ir_type in cell_types]
        for ir_type, value, cell in zip(cell_types, initial_values, all_cells, strict=True):
            out.store(ir_type, value, cell)

        def load_state() -> list[Any]:
            triples = zip(state, ir_types, cells, strict=True)
            return [self.wrap(x.dtype, out.load(ir_type, cell)) for x, ir_type, cell in triples]

        with out.while_(lambda: out.load("i1", active_cell)):
            n = self.wrap(float64, out.load("double", number_cell))
            is_active, next_state = step(n, load_state())
            for ir_type, x, cell in zip(ir_types, next_state, cells, strict=True):
                out.store(ir_type, x.ir, cell)
            out.store("i1", (is_active & (n < float(max_count))).ir, active_cell)
            out.store("double", (n + 1.0).ir, number_cell)
        return load_state()
