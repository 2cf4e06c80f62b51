"""Nested counted loops over an index, and loops over consecutive parts of a range."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from autoconv.backends.llvm.ir.function import FunctionText
from autoconv.backends.llvm.ir.index_arith import Index, Position, minimum, plus, times


def write_loop_nest(
    out: FunctionText, counts: Sequence[Position], write: Callable[[Index], Any],
    outermost: tuple[str, str] | None = None, outer_index: Index = (),
) -> None:  # fmt: skip
    """Write loops that run `write(index)` for each index below the counts, in row-major order.

    `outermost` are the bounds of the first loop, if it covers only a part. `outer_index` is the index in the loops of
    the first counts, which are written already.
    """
    if len(outer_index) == len(counts):
        write(outer_index)
        return
    if counts[len(outer_index)] == 1 and outermost is None:
        write_loop_nest(out, counts, write, None, (*outer_index, 0))
        return
    start, end = outermost or ("0", str(counts[len(outer_index)]))
    with out.loop(start, end) as i:
        write_loop_nest(out, counts, write, None, (*outer_index, i))


@contextmanager
def strips(out: FunctionText, first: Position, end: Position, size: int) -> Iterator[tuple[Position, Position]]:
    """Write a loop over parts of a range; yield the half-open bounds of a part.

    Each part has `size` positions, the last one may have fewer.
    """
    length = plus(out, end, -first if isinstance(first, int) else times(out, first, -1))
    count = -(-length // size) if isinstance(length, int) else out.op("sdiv", plus(out, length, size - 1), size)
    with out.loop("0", str(count)) as number:
        start = plus(out, times(out, number, size), first)
        yield start, minimum(out, plus(out, start, size), end)
