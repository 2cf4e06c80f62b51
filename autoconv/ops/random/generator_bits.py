"""The bits of random generators of NumPy and of Python, as ordinary code over the words of their states.

The code is converted when a graph is exported: as a C library, as StableHLO or as ONNX.
PCG64, of NumPy's `default_rng`, has six words of 64 bits. The first four are the high and low half of the state, and
the high and low half of the increment. The fifth is 1 if the sixth has 32 drawn bits that are not used yet, else 0.

The Mersenne Twister, of `RandomState` and of Python's `random`, has 624 words of 32 bits and the position of the next
one. Five words for normal numbers follow, which RandomState draws in pairs. The first is 1 if the second number of a
pair is not used yet, else 0. The other four hold the bits of the two uniform numbers from which the pair is made: for
each number its upper 27 bits, then its lower 26 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

_ONE, _HALF_BITS = np.uint64(1), np.uint64(32)
_HALF, _FULL = np.uint64(0xFFFFFFFF), np.uint64(0xFFFFFFFFFFFFFFFF)
_MULTIPLIER_HIGH, _MULTIPLIER_LOW = np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645)
_POOL_FACTOR, _WORD_FACTOR = np.uint64(0x931E8875), np.uint64(0x58F38DED)  # `factor` of `_hash`
_POSITION, _HAS_SPARE = 624, 625  # positions of two words in the state of a Mersenne Twister


class GeneratorBits(NamedTuple):
    """The functions that draw bits from a generator's state, which is their first argument."""

    next_half: Callable[[Any], Any]  # 32 bits
    next_word: Callable[[Any], Any]  # 64 bits
    next_float: Callable[[Any], Any]  # in [0, 1)
    up_to: Callable[[Any, Any], Any]  # a word from 0 to the second argument, inclusive


# ---- PCG64


def high_product(x: Any, y: Any) -> Any:
    """Return the upper 64 bits of the product of two words."""
    x_low, x_high, y_low, y_high = x & _HALF, x >> _HALF_BITS, y & _HALF, y >> _HALF_BITS
    first_middle = x_high * y_low + (x_low * y_low >> _HALF_BITS)
    second_middle = x_low * y_high + (first_middle & _HALF)
    return x_high * y_high + (first_middle >> _HALF_BITS) + (second_middle >> _HALF_BITS)


def _advance_pcg64(state: Any) -> None:
    """Multiply the state by PCG's multiplier, and add the increment."""
    high, low, increment = state[0], state[1], state[3]
    product = low * _MULTIPLIER_LOW
    new_low = product + increment
    carry = np.uint64(new_low < increment)
    cross_products = high * _MULTIPLIER_LOW + low * _MULTIPLIER_HIGH
    state[0] = cross_products + high_product(low, _MULTIPLIER_LOW) + state[2] + carry
    state[1] = new_low


def next_word_of_pcg64(state: Any) -> Any:
    """Return the next 64 bits."""
    _advance_pcg64(state)
    mixed, rotation = state[0] ^ state[1], state[0] >> np.uint64(58)
    return (mixed >> rotation) | (mixed << ((np.uint64(64) - rotation) & np.uint64(63)))


def next_half_of_pcg64(state: Any) -> Any:
    """Return the next 32 bits as a word of 64 bits: the unused upper half of the last word, or half of a new one."""
    half = state[5]
    if state[4] != 0:  # the upper half is not used yet
        state[4] = 0
    else:
        word = next_word_of_pcg64(state)
        state[4] = 1
        state[5] = word >> _HALF_BITS
        half = word & _HALF
    return half


def next_float_of_pcg64(state: Any) -> Any:
    """Return a number in [0, 1) of 53 bits."""
    return fraction_of_word(next_word_of_pcg64(state))


def fraction_of_word(word: Any) -> Any:
    """Return the number in [0, 1) that PCG64 makes of 64 bits."""
    return np.float64(word >> np.uint64(11)) * (1.0 / 9007199254740992.0)


def seed_pcg64(state: Any, seed: Any, count: Any) -> None:
    """Write the state for a seed, a nonnegative integer of at most 64 bits, as NumPy's SeedSequence spreads it.

    `count` is 4, the number of words in the pool of SeedSequence. It is an argument so that the loops over these words
    are loops of the graph.
    """
    if seed < 0:
        raise ValueError("expected non-negative integer")
    initial_high, initial_low, sequence_high, sequence_low = _spread(np.uint64(seed), count)
    state[0] = 0
    state[1] = 0
    state[2] = (sequence_high << np.uint64(1)) | (sequence_low >> np.uint64(63))
    state[3] = (sequence_low << np.uint64(1)) | np.uint64(1)
    state[4] = 0
    state[5] = 0
    _advance_pcg64(state)
    new_low = state[1] + initial_low
    state[0] = state[0] + initial_high + np.uint64(new_low < initial_low)
    state[1] = new_low
    _advance_pcg64(state)


def _spread(word: Any, count: Any) -> np.ndarray:
    """Return the four words of 64 bits that SeedSequence makes of a word; `count` is 4, as for `seed_pcg64`."""
    multiplier = np.uint64(0x43B0D7E5)
    pool = np.zeros(4, np.uint64)
    pool[0] = word & _HALF
    pool[1] = word >> _HALF_BITS
    for i in range(count):
        pool[i] = _hash(pool[i], multiplier, _POOL_FACTOR)
        multiplier = multiplier * _POOL_FACTOR & _HALF
    for i in range(3 * count):
        source, target = i // 3, i % 3
        if target >= source:
            target += 1
        pool[target] = _mix(pool[target], _hash(pool[source], multiplier, _POOL_FACTOR))
        multiplier = multiplier * _POOL_FACTOR & _HALF
    multiplier = np.uint64(0x8B51F9DD)
    words = np.zeros(4, np.uint64)
    for i in range(2 * count):
        half = _hash(pool[i % 4], multiplier, _WORD_FACTOR)
        words[i // 2] = words[i // 2] | (half << (_HALF_BITS * np.uint64(i % 2)))
        multiplier = multiplier * _WORD_FACTOR & _HALF
    return words


def _hash(value: Any, multiplier: Any, factor: Any) -> Any:
    """Return SeedSequence's hash of 32 bits; the multiplier of its next call is `multiplier * factor`."""
    mixed = (value ^ multiplier) * (multiplier * factor & _HALF) & _HALF
    return mixed ^ (mixed >> np.uint64(16))


def _mix(x: Any, y: Any) -> Any:
    """Return SeedSequence's combination of two words of 32 bits."""
    mixed = (np.uint64(0xCA01F9DD) * x - np.uint64(0x4973F715) * y) & _HALF
    return mixed ^ (mixed >> np.uint64(16))


# ---- the Mersenne Twister


def _generate_words(state: Any) -> None:
    """Compute the next 624 words."""
    for i in range(624):
        joined = (state[i] & np.uint32(0x80000000)) | (state[(i + 1) % 624] & np.uint32(0x7FFFFFFF))
        state[i] = state[(i + 397) % 624] ^ (joined >> np.uint32(1)) ^ ((joined & np.uint32(1)) * np.uint32(0x9908B0DF))
    state[_POSITION] = 0


def next_half_of_mersenne(state: Any) -> Any:
    """Return the next 32 bits, as a word of 64 bits."""
    if state[_POSITION] >= 624:
        _generate_words(state)
    word = state[np.int64(state[_POSITION])]
    state[_POSITION] = state[_POSITION] + np.uint32(1)
    word = word ^ (word >> np.uint32(11))
    word = word ^ ((word << np.uint32(7)) & np.uint32(0x9D2C5680))
    word = word ^ ((word << np.uint32(15)) & np.uint32(0xEFC60000))
    return np.uint64(word ^ (word >> np.uint32(18)))


def next_word_of_mersenne(state: Any) -> Any:
    """Return the next 64 bits."""
    high = next_half_of_mersenne(state)
    return (high << np.uint64(32)) | next_half_of_mersenne(state)


def next_float_of_mersenne(state: Any) -> Any:
    """Return a number in [0, 1) of 53 bits."""
    high = np.float64(next_half_of_mersenne(state) >> np.uint64(5))
    return (high * 67108864.0 + np.float64(next_half_of_mersenne(state) >> np.uint64(6))) / 9007199254740992.0


def next_normal(state: Any) -> Any:
    """Return a normal number by Marsaglia's polar method, as RandomState does."""
    has_spare = state[_HAS_SPARE] != 0
    square = 2.0
    while square >= 1.0 or square == 0.0:
        if not has_spare:
            for i in range(4):
                state[_HAS_SPARE + 1 + i] = next_half_of_mersenne(state) >> np.uint64(5 + i % 2)
        x, y = _symmetric_fraction(state, _HAS_SPARE + 1), _symmetric_fraction(state, _HAS_SPARE + 3)
        square = x * x + y * y
    state[_HAS_SPARE] = 0 if has_spare else 1
    scale = np.sqrt(-2.0 * np.log(square) / square)
    return scale * (x if has_spare else y)


def _symmetric_fraction(state: Any, position: int) -> Any:
    """Return a number in [-1, 1) from the two words at a position of the state, of 27 and 26 bits."""
    fraction = (np.float64(state[position]) * 67108864.0 + np.float64(state[position + 1])) / 9007199254740992.0
    return 2.0 * fraction - 1.0


def seed_mersenne(state: Any, seed: Any) -> None:
    """Write the state for a seed, an integer of 32 bits, as RandomState does."""
    if seed < 0 or seed >= 4294967296:
        raise ValueError("Seed must be between 0 and 2**32 - 1")
    word = np.uint32(seed)
    for i in range(624):
        state[i] = word
        word = (word ^ (word >> np.uint32(30))) * np.uint32(1812433253) + np.uint32(i + 1)
    state[_POSITION] = 624
    state[_HAS_SPARE] = 0


# ---- integers from 0 to a largest one


def up_to_by_product(state: Any, last: Any) -> Any:
    """Return a word from 0 to `last` from PCG64, by Lemire's method, as `Generator` does."""
    count, number = last + _ONE, last
    is_settled = last == 0  # 0 is the only possible result, and no bits are drawn
    if last <= _HALF:
        threshold = (_HALF - last) % count
        while not is_settled:
            product = next_half_of_pcg64(state) * count
            number, is_settled = product >> _HALF_BITS, (product & _HALF) >= threshold
    else:
        threshold = (_FULL - last) % count if last != _FULL else np.uint64(0)
        while not is_settled:
            word = next_word_of_pcg64(state)
            number = high_product(word, count) if last != _FULL else word
            is_settled = word * count >= threshold
    return number


def masked_up_to(bits: GeneratorBits, state: Any, last: Any) -> Any:
    """Return a word from 0 to `last`, as `RandomState` does.

    Words of the width of `last` are drawn until one is at most `last`.
    """
    mask = last
    for shift in (1, 2, 4, 8, 16, 32):
        mask = mask | (mask >> np.uint64(shift))
    number, is_settled = last, last == 0
    while not is_settled:
        number = (bits.next_half(state) if last <= _HALF else bits.next_word(state)) & mask
        is_settled = number <= last
    return number


def up_to_by_mask(state: Any, last: Any) -> Any:
    return masked_up_to(RANDOM_STATE, state, last)


def up_to_by_upper_bits(state: Any, last: Any) -> Any:
    """Return a word from 0 to `last` from the upper bits of words of 32 bits, as Python's `random` does."""
    count = last + _ONE
    upper_bits, width = count, np.uint64(1)  # the width of the count in bits
    for shift in (32, 16, 8, 4, 2, 1):
        if upper_bits >> np.uint64(shift) != 0:
            width = width + np.uint64(shift)
            upper_bits = upper_bits >> np.uint64(shift)
    number = count
    while number >= count:
        number = next_half_of_mersenne(state)
        if width <= _HALF_BITS:
            number = number >> (_HALF_BITS - width)
        else:
            number = number | (next_half_of_mersenne(state) >> (np.uint64(64) - width) << _HALF_BITS)
    return number


PCG64 = GeneratorBits(next_half_of_pcg64, next_word_of_pcg64, next_float_of_pcg64, up_to_by_product)
RANDOM_STATE = GeneratorBits(next_half_of_mersenne, next_word_of_mersenne, next_float_of_mersenne, up_to_by_mask)
PYTHON = GeneratorBits(next_half_of_mersenne, next_word_of_mersenne, next_float_of_mersenne, up_to_by_upper_bits)
