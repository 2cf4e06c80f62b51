"""SipHash-2-4, a hash of bytes under a key; TensorFlow's `to_hash_bucket_strong` takes its remainder.

The algorithm is that of Aumasson and Bernstein. Numbers are unsigned and wrap at 64 bits.
"""

from __future__ import annotations

import struct

_MASK = 2**64 - 1


def siphash(data: bytes, first: int, second: int) -> int:
    """Return a number below 2**64 that depends on the bytes, and on a key with the halves `first` and `second`."""
    state = [
        first ^ 0x736F6D6570736575,
        second ^ 0x646F72616E646F6D,
        first ^ 0x6C7967656E657261,
        second ^ 0x7465646279746573,
    ]
    bytes_in_whole_words = len(data) // 8 * 8
    words = [word for (word,) in struct.iter_unpack("<Q", data[:bytes_in_whole_words])]
    last = int.from_bytes(data[bytes_in_whole_words:], "little") | (len(data) & 0xFF) << 56
    for word in (*words, last):
        state[3] ^= word
        _rounds(state, 2)
        state[0] ^= word
    state[2] ^= 0xFF
    _rounds(state, 4)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _rounds(v: list[int], count: int) -> None:
    """Change the state v, four words, by `count` rounds of SipHash."""
    for _ in range(count):
        v[0] = (v[0] + v[1]) & _MASK
        v[1] = _rotate(v[1], 13) ^ v[0]
        v[0] = _rotate(v[0], 32)
        v[2] = (v[2] + v[3]) & _MASK
        v[3] = _rotate(v[3], 16) ^ v[2]
        v[0] = (v[0] + v[3]) & _MASK
        v[3] = _rotate(v[3], 21) ^ v[0]
        v[2] = (v[2] + v[1]) & _MASK
        v[1] = _rotate(v[1], 17) ^ v[2]
        v[2] = _rotate(v[2], 32)


def _rotate(x: int, distance: int) -> int:
    return (x << distance | x >> (64 - distance)) & _MASK
