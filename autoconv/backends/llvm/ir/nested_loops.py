"""Nested counted loops over an index, and loops over consecutive parts of a range."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Index, Position, minimum, plus, times


def write_loop_nest(
    out: FunctionText, counts: Sequence[Position], write: Callable[[Index], Any],
    outermost: tuple[str, str] | None = None, index: Index = (),
) -> None:  # fmt: skip
    """Write loops that run `write(index)` for each index below the counts, in row-major order.

    `outermost` are the bounds of the first loop, if it covers only a part.
    """
    if len(index) == len(counts):
        write(index)
        return
    if counts[len(index)] == 1 and outermost is None:
        write_loop_nest(out, counts, write, None, (*index, 0))
        return
    first, last = outermost or ("0", str(counts[len(index)]))
    with out.loop(first, last) as i:
        write_loop_nest(out, counts, write, None, (*index, i))


@contextmanager
def strips(out: FunctionText, first: Position, last: Position, size: int) -> Iterator[tuple[Position, Position]]:
    """Write a loop over parts of a range, of `size` positions or fewer in the last; yield the bounds of a part."""
    length = plus(out, last, -first if isinstance(first, int) else times(out, first, -1))
    count = -(-length // size) if isinstance(length, int) else out.op("sdiv", plus(out, length, size - 1), size)
    with out.loop("0", str(count)) as number:
        start = plus(out, times(out, number, size), first)
        yield start, minimum(out, plus(out, start, size), last)
