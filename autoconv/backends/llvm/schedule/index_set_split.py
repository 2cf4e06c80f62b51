"""Split innermost loops into pieces that vectorise."""

from __future__ import annotations

from collections.abc import Callable, Iterator

VECTOR = 64  # bytes of the longest supported vectors
_SHORT_ROW = 1024  # counts up to which the remainder after the last whole vector takes noticeable time
_MOST = 6  # pieces of a loop, each of which is emitted separately


def straight(size: int, cuts: Callable[[int, int], set[int]]) -> list[tuple[int, int]]:
    """Split the counts up to `size` into ranges within which the body does not depend on the count.

    `cuts(low, high)` returns the counts in between where the body changes. With too many ranges the loop stays whole.
    """
    found, left = [], [(0, size)]
    while left:
        low, high = left.pop()
        inside = sorted(cut for cut in cuts(low, high) if low < cut < high)
        if not inside:
            found.append((low, high))
        else:
            left += list(zip([low, *inside], [*inside, high], strict=True))
        if len(found) + len(left) > _MOST:
            return [(0, size)]
    return sorted(found)


def in_vectors(low: int, high: int, lanes: int) -> Iterator[tuple[int, int]]:
    """Split a range that is no multiple of the vector length: whole vectors, and an overlapping last vector.

    Precondition: elements that are computed twice come out the same.
    """
    over = (high - low) % lanes
    if not over or not lanes < high - low <= _SHORT_ROW:
        yield low, high
    else:
        yield low, high - over
        yield high - lanes, high
