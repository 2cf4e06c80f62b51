"""Factor the size of a transform into radices that have a butterfly."""

from __future__ import annotations

import functools

_RADICES = (4, 2, 5, 3, 7, 11, 13)
_LARGEST_FIRST = 8


@functools.cache
def radices(size: int) -> tuple[int, ...] | None:
    """Return the radices of the stages; None if a prime factor is too large."""
    factors: list[int] = []
    if size % _LARGEST_FIRST == 0 and size > _LARGEST_FIRST:
        factors.append(_LARGEST_FIRST)
        size //= _LARGEST_FIRST
    for radix in _RADICES:
        while size % radix == 0:
            factors.append(radix)
            size //= radix
    if len(factors) > 2 and factors[0] == _LARGEST_FIRST and 2 in factors and 4 in factors:
        factors.remove(2)
        factors.remove(4)
        factors.append(_LARGEST_FIRST)
    return tuple(factors) if size == 1 else None


@functools.cache
def chirp_size(size: int) -> int:
    """Return the size of the transforms by which one of `size` elements is computed as a convolution.

    Of the sizes that a convolution may have, it is the one whose stages go over the fewest numbers.
    """
    least = 2 * size - 1
    most = 1 << (least - 1).bit_length()
    candidates = [(whole * len(factors), whole) for whole in range(least, most + 1) if (factors := radices(whole))]
    return min(candidates)[1]
