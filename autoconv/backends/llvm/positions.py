"""Arithmetic on the positions that make an index: numbers where they are known, else registers.

Of a register that is a multiple of a loop's counter plus a number, that is kept in mind: `below` then knows for a part
of the counts what has to be asked for each of them otherwise, and notes where a loop is to be cut into such parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from autoconv.backends.llvm.text import FunctionText

Position = int | str  # a number, or the i64 that holds it
Index = tuple[Position, ...]


class UnknownSize(TypeError):
    """Code is asked for that needs the number."""


class Size(str):
    """A dimension that only the call knows, always 2 or more: a register of that name holds it in every function. What
    takes it for a number, and does arithmetic of its own, fails where code is made, instead of going wrong later."""

    __slots__ = ()

    def _refuse(self, *_: object) -> Any:
        raise UnknownSize(f"{self} is a dimension that only the call knows")

    __add__ = __radd__ = __mul__ = __rmul__ = __mod__ = __rmod__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __int__ = __index__ = _refuse


def is_known(shape: Iterable[Position]) -> bool:
    """Whether all of it is numbers."""
    return all(isinstance(size, int) for size in shape)


def element_count(out: FunctionText, shape: Iterable[Position]) -> Position:
    """How many elements there are."""
    found: Position = 1
    for size in shape:
        found = product(out, found, size)
    return found


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


def below(out: FunctionText, position: Position, limit: Position) -> bool | None:
    """Whether the position is below the limit; None where that depends on the count, or nothing is known of it."""
    if not isinstance(limit, int):
        return None
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


def linear(out: FunctionText, index: Index, shape: Sequence[Position]) -> Position:
    """Where the element lies, counted in elements from the first."""
    found: Position = 0
    for position, size in zip(index, shape, strict=True):
        found = plus(out, product(out, found, size), position)
    return found


def unravelled(out: FunctionText, offset: Position, shape: Sequence[Position]) -> Index:
    """The index of the element that lies `offset` elements after the first."""
    index: list[Position] = []
    for size in reversed(shape[1:]):
        if isinstance(offset, int) and isinstance(size, int):
            index.append(offset % size if size else 0)
            offset = offset // size if size else 0
        elif isinstance(size, str) or size > 1:
            index.append(out.new(f"urem i64 {offset}, {size}"))
            offset = out.new(f"udiv i64 {offset}, {size}")
        else:
            index.append(0)
    return (offset, *reversed(index)) if len(shape) else ()
