"""Innermost loops of an open size, cut where the padding at the start ends and the padding at the end begins."""

from __future__ import annotations

from collections.abc import Callable

from autoconv.backends.llvm.analysis.index_map import OpenCounterRange
from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Position, maximum, minimum, plus, record_open_counter


def write_open_loop(
    out: FunctionText, counter_range: OpenCounterRange, size: Position, bounds: tuple[str, str],
    write: Callable[[Position], None],
) -> None:
    """Write a loop with the `bounds` first and last, which are between 0 and `size`; `write` writes its body.

    The iterations that read no padding are a separate loop. As its loads need no tests, it vectorises.
    """
    first, last = bounds

    def write_loop(start: Position, stop: Position) -> None:
        with out.loop(str(start), str(stop)) as i:
            write(i)

    inner_first, inner_last = first, last
    if counter_range.padding_at_start:
        write_loop(first, minimum(out, last, counter_range.padding_at_start))
        inner_first = str(maximum(out, first, counter_range.padding_at_start))
    if counter_range.padding_at_end:
        inner_last = str(minimum(out, last, plus(out, size, -counter_range.padding_at_end)))
    with out.loop(inner_first, inner_last) as i:
        if counter_range.padding_at_start or counter_range.limits:
            record_open_counter(out, i, counter_range.padding_at_start, counter_range.bounds())
        write(i)
    if counter_range.padding_at_end:
        write_loop(maximum(out, inner_first, plus(out, size, -counter_range.padding_at_end)), last)
