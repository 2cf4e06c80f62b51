"""Arithmetic on the positions that make an index: numbers where they are known, else registers.

Of a register that is a multiple of a loop's counter plus a number, that is kept in mind: `below` then knows for a part
of the counts what has to be asked for each of them otherwise, and notes where a loop is to be cut into such parts.
"""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.backends.llvm.text import FunctionText

Position = int | str  # a number, or the i64 that holds it
Index = tuple[Position, ...]


def plus(out: FunctionText, x: Position, y: Position) -> Position:
    if isinstance(x, int) and isinstance(y, int):
        return x + y
    if x == 0:
        return y
    if y == 0:
        return x
    found = out.new(f"add nsw i64 {x}, {y}")
    line, by = (out.lines.get(x), y) if isinstance(x, str) else (out.lines.get(str(y)), x)
    if line is not None and isinstance(by, int):
        out.lines[found] = (line[0], line[1], line[2] + by)
    return found


def times(out: FunctionText, x: Position, factor: int) -> Position:
    if isinstance(x, int):
        return x * factor
    if factor in (0, 1):
        return x if factor else 0
    found = out.new(f"mul nsw i64 {x}, {factor}")
    line = out.lines.get(x)
    if line is not None:
        out.lines[found] = (line[0], line[1] * factor, line[2] * factor)
    return found


def count(out: FunctionText, counter: str, low: int, high: int) -> None:
    """Says of a loop's counter that it goes from `low` up to `high`."""
    out.lines[counter] = (counter, 1, 0)
    out.limits[counter] = (low, high)


def below(out: FunctionText, position: Position, limit: int) -> bool | None:
    """Whether the position is below the limit; None where that depends on the count, or nothing is known of it."""
    if isinstance(position, int):
        return position < limit
    line = out.lines.get(position)
    if line is None:
        return None
    counter, factor, offset = line
    low, high = out.limits[counter]
    ends = sorted((factor * low + offset, factor * (high - 1) + offset))
    if ends[1] < limit:
        return True
    if ends[0] >= limit:
        return False
    if factor in (1, -1):
        out.cuts.setdefault(counter, set()).add(limit - offset if factor == 1 else offset - limit + 1)
    return None


def product(out: FunctionText, x: Position, y: Position) -> Position:
    if isinstance(x, int):
        return times(out, y, x)
    return times(out, x, y) if isinstance(y, int) else out.new(f"mul nsw i64 {x}, {y}")


def linear(out: FunctionText, index: Index, shape: Sequence[int]) -> Position:
    """Where the element lies, counted in elements from the first."""
    total: Position = 0
    for position, size in zip(index, shape, strict=True):
        total = plus(out, times(out, total, size), position)
    return total


def unravelled(out: FunctionText, offset: Position, shape: Sequence[int]) -> Index:
    """The index of the element that lies `offset` elements after the first."""
    index: list[Position] = []
    for size in reversed(shape[1:]):
        if isinstance(offset, int):
            index.append(offset % size if size else 0)
            offset = offset // size if size else 0
        else:
            index.append(out.new(f"urem i64 {offset}, {size}") if size > 1 else 0)
            offset = out.new(f"udiv i64 {offset}, {size}") if size > 1 else offset
    return (offset, *reversed(index)) if len(shape) else ()
