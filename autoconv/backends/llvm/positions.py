"""Arithmetic on the positions that make an index: numbers where they are known, else registers."""

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
    return x if y == 0 else out.new(f"add nsw i64 {x}, {y}")


def times(out: FunctionText, x: Position, factor: int) -> Position:
    if isinstance(x, int):
        return x * factor
    return x if factor == 1 else 0 if factor == 0 else out.new(f"mul nsw i64 {x}, {factor}")


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
