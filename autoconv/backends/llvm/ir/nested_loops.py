"""Nested counted loops over an index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Index, Position


def loops(
    out: FunctionText, counts: Sequence[Position], write: Callable[[Index], Any],
    outermost: tuple[str, str] | None = None, index: Index = (),
) -> None:  # fmt: skip
    """Write loops that run `write(index)` for each index below the counts, in row-major order.

    `outermost` are the bounds of the first loop, if it covers only a part.
    """
    if len(index) == len(counts):
        write(index)
        return
    first, last = outermost or ("0", str(counts[len(index)]))
    with out.loop(first, last) as i:
        loops(out, counts, write, None, (*index, i))
