"""Into which pieces an innermost loop is cut, so that vectors go over each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

VECTOR = 64  # bytes of the longest vectors that there are
_SHORT_ROW = 1024  # counts up to which what is left over behind the last whole vector takes time that shows
_MOST = 6  # pieces of a loop: each is written out


def straight(size: int, cuts: Callable[[int, int], set[int]]) -> list[tuple[int, int]]:
    """The parts of the counts up to `size` in which nothing depends on which one it is; all in one where they are many.
    `cuts(low, high)` are the counts, of those, where something changes."""
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
    """Counts that vectors do not go into evenly: as many as they do, and a last vector that begins so much earlier,
    instead of one number after the other. What is computed twice has to come out the same."""
    over = (high - low) % lanes
    if not over or not lanes < high - low <= _SHORT_ROW:
        yield low, high
    else:
        yield low, high - over
        yield high - lanes, high
