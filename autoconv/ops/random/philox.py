"""Philox: random bits by ten rounds of products and exclusive ors, on four words of 32 bits.

Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)  # added to the two words of the key after each round
ROUNDS = 10
BLOCK_WORDS = 4  # words of 32 bits
SEED_KEY = 0x02461E293EC8F720  # the key under which seeds are mixed, as in TensorFlow
_WORD_RANGE, _KEY_RANGE = 2**32, 2**64  # numbers of values of a word and of a key
_CHUNK_SIZE = 1 << 12  # blocks that are computed together, so that they stay in the processor's cache


def philox4x32(key: int, low: Any, high: int) -> np.ndarray:
    """Return the blocks of n counters of 128 bits, uint32 [n, 4]; `low` has their lower halves, uint64 [n]."""
    mask = np.uint64(_WORD_RANGE - 1)
    words: list[Any] = [low & mask, low >> np.uint64(32), np.uint64(high % _WORD_RANGE), np.uint64(high // _WORD_RANGE)]
    keys = [key % _WORD_RANGE, key // _WORD_RANGE]
    for _ in range(ROUNDS):
        products = [words[0] * np.uint64(MULTIPLIERS[0]), words[2] * np.uint64(MULTIPLIERS[1])]
        words = [
            (products[1] >> np.uint64(32)) ^ words[1] ^ np.uint64(keys[0]), products[1] & mask,
            (products[0] >> np.uint64(32)) ^ words[3] ^ np.uint64(keys[1]), products[0] & mask,
        ]  # fmt: skip
        keys = [(key_word + step) % _WORD_RANGE for key_word, step in zip(keys, WEYL, strict=True)]
    return np.stack(words, axis=-1).astype(np.uint32)


class Philox:
    """The stream of random words for a key of 64 bits; `low` and `high` are the halves of its first counter."""

    def __init__(self, key: int, low: int, high: int) -> None:
        self.key, self.low, self.high = key % _KEY_RANGE, low % _KEY_RANGE, high % _KEY_RANGE
        self._position = 0

    @classmethod
    def of_seed(cls, first: int, second: int) -> Philox:
        """Return the stream for a seed of two integers, whose 128 bits are mixed into a key and a counter."""
        words = philox4x32(SEED_KEY, np.array([first % _KEY_RANGE], np.uint64), second % _KEY_RANGE)[0].tolist()
        return cls(words[0] + words[1] * _WORD_RANGE, 0, words[2] + words[3] * _WORD_RANGE)

    def blocks(self, numbers: np.ndarray) -> np.ndarray:
        """Return the blocks with these numbers (uint64 [n], 0 for the first block of the stream): uint32 [n, 4]."""
        result = np.empty((numbers.size, 4), np.uint32)
        with np.errstate(over="ignore"):  # sums wrap around
            for start in range(0, numbers.size, _CHUNK_SIZE):
                chunk = slice(start, start + _CHUNK_SIZE)
                low = numbers[chunk] + np.uint64(self.low)
                result[chunk] = philox4x32(self.key, low, self.high)
                has_wrapped = low < np.uint64(self.low)
                if has_wrapped.any():
                    result[chunk][has_wrapped] = philox4x32(self.key, low[has_wrapped], (self.high + 1) % _KEY_RANGE)
        return result

    def words(self, count: int) -> np.ndarray:
        """Return the next `count` words, which begin with a new block."""
        block_count = -(-count // BLOCK_WORDS)
        numbers = np.arange(self._position, self._position + block_count, dtype=np.uint64)
        self._position += block_count
        return self.blocks(numbers).reshape(-1)[:count]
