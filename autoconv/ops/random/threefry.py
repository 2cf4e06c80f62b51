"""Threefry: random bits by 20 rounds of additions, rotations and exclusive ors, on two words of 32 bits.

Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)  # in bits, by round modulo 8
_ROUNDS = 20
_PARITY = 0x1BD11BDA  # the third word of the key is the exclusive or of this and the other two
_WORD_RANGE = 2**32  # number of values of a word


def threefry2x32(key: tuple[int, int], counters: np.ndarray) -> np.ndarray:
    """Return the block of each counter, uint32 [n, 2]; counters, blocks and the key have two words each."""
    words = [counters[:, 0].astype(np.uint32), counters[:, 1].astype(np.uint32)]
    keys = [np.uint32(key[0]), np.uint32(key[1]), np.uint32(_PARITY ^ key[0] ^ key[1])]
    with np.errstate(over="ignore"):  # sums wrap around
        first, second = words[0] + keys[0], words[1] + keys[1]
        for round_number in range(_ROUNDS):
            rotation = np.uint32(_ROTATIONS[round_number % 8])
            first = first + second
            second = ((second << rotation) | (second >> (np.uint32(32) - rotation))) ^ first
            if round_number % 4 == 3:
                injection_number = round_number // 4 + 1
                first = first + keys[injection_number % 3]
                second = second + keys[(injection_number + 1) % 3] + np.uint32(injection_number)
    return np.stack([first, second], axis=1)


class Threefry:
    """The stream of random words for a seed of two integers.

    The first integer, as a key, turns the second one, as a counter, into a block. With this block as the key, the
    stream consists of the blocks of the counters 0, 1, 2 …
    """

    def __init__(self, first: int, second: int) -> None:
        block = threefry2x32(_words(first), np.array([_words(second)], np.uint32))[0]
        self._key = int(block[0]), int(block[1])
        self._position = 0

    def blocks(self, numbers: np.ndarray) -> np.ndarray:
        """Return the pairs of blocks with these numbers, counted from the first pair: uint32 [n, 4]."""
        counters: Any = (numbers[:, None] * np.uint64(2) + np.arange(2, dtype=np.uint64)).reshape(-1)
        halves = np.stack([counters & np.uint64(_WORD_RANGE - 1), counters >> np.uint64(32)], axis=1)
        return threefry2x32(self._key, halves).reshape(-1, 4)

    def words(self, count: int) -> np.ndarray:
        """Return the next `count` words, which begin with a new pair of blocks."""
        block_count = -(-count // 4)
        numbers = np.arange(self._position, self._position + block_count, dtype=np.uint64)
        self._position += block_count
        return self.blocks(numbers).reshape(-1)[:count]


def _words(number: int) -> tuple[int, int]:
    """Return the lower and the upper half of 64 bits."""
    return number % _WORD_RANGE, number // _WORD_RANGE % _WORD_RANGE
