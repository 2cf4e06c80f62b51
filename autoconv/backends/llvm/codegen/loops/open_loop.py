"""Innermost loops up to an open size, cut where padding ends and begins again."""

from __future__ import annotations

from collections.abc import Callable

from autoconv.backends.llvm.analysis.index_map import OpenSpan
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, maximum, minimum, plus, record_open_counter


def write_open_loop(
    out: FunctionText, span: OpenSpan, size: Position, bounds: tuple[str, str], write: Callable[[Position], None]
) -> None:
    """Write a loop from the first to the last of `bounds`, which are within `size`.

    The iterations of the span that read no padding are a loop of their own, which vectorises: its loads test nothing.
    """
    first, last = bounds

    def loop(start: Position, stop: Position) -> None:
        with out.loop(str(start), str(stop)) as i:
            write(i)

    inner_first, inner_last = first, last
    if span.start:
        loop(first, minimum(out, last, span.start))
        inner_first = str(maximum(out, first, span.start))
    if span.end:
        inner_last = str(minimum(out, last, plus(out, size, -span.end)))
    with out.loop(inner_first, inner_last) as i:
        if span.start or span.limits:
            record_open_counter(out, i, span.start, span.bounds())
        write(i)
    if span.end:
        loop(maximum(out, inner_first, plus(out, size, -span.end)), last)


__all__ = ["write_open_loop"]
