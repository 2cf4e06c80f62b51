"""Python's ints in registers whose results are known not to overflow: without checks, and by shorter code."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.scalars import Element, ElementWriter
from autoconv.graph.dtypes import int64
from autoconv.ops.integer_ranges import Range


def unchecked(b: ElementWriter, name: str, operands: Sequence[Element], given: Sequence[Range]) -> Element | None:
    """The result of an op that is known not to raise; None where it has no shorter form."""
    if any(x.dtype is not int64 for x in operands):
        return None
    if name in _PLAIN:
        x, y = operands
        return b.wrap(int64, b.out.new(f"{_PLAIN[name]} nsw i64 {x.ir}, {y.ir}"))
    if name in ("python_floor_divide", "python_modulo") and given[0][0] >= 0 and given[1][0] > 0:
        x, y = operands
        return b.wrap(int64, b.out.new(f"{'udiv' if name == 'python_floor_divide' else 'urem'} i64 {x.ir}, {y.ir}"))
    return None


_PLAIN = {"python_add": "add", "python_subtract": "sub", "python_multiply": "mul"}
