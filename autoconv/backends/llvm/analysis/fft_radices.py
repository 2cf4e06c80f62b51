"""Factor the size of a transform into radices that have a butterfly."""

from __future__ import annotations

import functools

_RADICES = (4, 2, 5, 3, 7, 11, 13)
_LARGEST_FIRST = 8


@functools.cache
def radices(size: int) -> tuple[int, ...] | None:
    """Return the radices of the stages; None if a prime factor is too large."""
    found: list[int] = []
    if size % _LARGEST_FIRST == 0 and size > _LARGEST_FIRST:
        found.append(_LARGEST_FIRST)
        size //= _LARGEST_FIRST
    for radix in _RADICES:
        while size % radix == 0:
            found.append(radix)
            size //= radix
    if len(found) > 2 and found[0] == _LARGEST_FIRST and 2 in found and 4 in found:
        found.remove(2)
        found.remove(4)
        found.append(_LARGEST_FIRST)
    return tuple(found) if size == 1 else None


@functools.cache
def chirp_size(size: int) -> int:
    """Return the size of the transforms by which one of `size` elements is computed as a convolution.

    Of the sizes that a convolution may have, it is the one whose stages go over the fewest numbers.
    """
    least = 2 * size - 1
    most = 1 << (least - 1).bit_length()
    found = [(whole * len(factors), whole) for whole in range(least, most + 1) if (factors := radices(whole))]
    return min(found)[1]
