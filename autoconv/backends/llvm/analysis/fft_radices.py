"""Factor the size of a transform into radices that have a butterfly."""

from __future__ import annotations

import functools

_RADICES = (4, 2, 5, 3, 7, 11, 13)
_LARGEST_RADIX = 8


@functools.cache
def radices(size: int) -> tuple[int, ...] | None:
    """Return the radices of the stages of a transform; None if a prime factor is too large.

    Two factors of 8 replace one each of 8, 4 and 2: fewer stages pass over the elements.
    """
    factors: list[int] = []
    if size % _LARGEST_RADIX == 0 and size > _LARGEST_RADIX:
        factors.append(_LARGEST_RADIX)
        size //= _LARGEST_RADIX
    for radix in _RADICES:
        while size % radix == 0:
            factors.append(radix)
            size //= radix
    has_second_8 = 2 in factors and 4 in factors
    if has_second_8 and factors[0] == _LARGEST_RADIX:
        factors.remove(2)
        factors.remove(4)
        factors.append(_LARGEST_RADIX)
    return tuple(factors) if size == 1 else None


@functools.cache
def chirp_size(size: int) -> int:
    """Return the size of the transforms that compute one of `size` elements as a convolution (Bluestein's algorithm).

    Of the sizes that are large enough, it is the one whose stages process the fewest elements in total.
    """
    min_size = 2 * size - 1
    max_size = 1 << (min_size - 1).bit_length()
    sizes = range(min_size, max_size + 1)
    costs_and_sizes = [(candidate * len(factors), candidate) for candidate in sizes if (factors := radices(candidate))]
    return min(costs_and_sizes)[1]
