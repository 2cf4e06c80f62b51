"""Sort one short row of keys by a network: comparisons in an order that does not depend on the keys.

A network has no branches that the processor may mispredict, as insertion has for keys in random order: nine random
numbers take a tenth of the time.
"""

from __future__ import annotations

from collections.abc import Iterator

from autoconv.backends.llvm.ir.scalars import Element, ElementWriter

# Most elements of a row for which a network is faster than insertion: of keys alone, and of keys with positions.
KEY_LIMIT, POSITION_LIMIT = 24, 16



def sort_keys(b: ElementWriter, keys: list[Element]) -> list[Element]:
    """Return the keys in ascending order."""
    result = list(keys)
    for low, high in comparators(len(keys)):
        x, y = result[low], result[high]
        result[low], result[high] = b.intrinsic("umin", x, y), b.intrinsic("umax", x, y)
    return result


def sort_pairs(b: ElementWriter, keys: list[Element], positions: list[Element]) -> tuple[list[Element], list[Element]]:
    """Return the keys in ascending order, with their positions; equal keys are in the order of their positions."""
    keys, positions = list(keys), list(positions)
    for low, high in comparators(len(keys)):
        is_equal = b.compare("eq", keys[low], keys[high])
        is_later = is_equal & b.compare("gt", positions[low], positions[high])
        is_after = b.compare("gt", keys[low], keys[high]) | is_later
        for items in (keys, positions):
            x, y = items[low], items[high]
            items[low], items[high] = b.select(is_after, y, x), b.select(is_after, x, y)
    return keys, positions


def comparators(size: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs of positions to be compared, by Batcher's odd-even merges: 28 pairs for a row of nine."""
    merged = 1  # sorted runs of so many elements are merged in pairs
    while merged < size:
        distance = merged
        while distance:
            for start in range(distance % merged, size - distance, 2 * distance):
                for low in range(start, min(start + distance, size - distance)):
                    if low // (2 * merged) == (low + distance) // (2 * merged):
                        yield low, low + distance
            distance //= 2
        merged *= 2
