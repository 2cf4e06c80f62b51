"""MurmurHash64A, a hash of bytes (Austin Appleby); TensorFlow's `to_hash_bucket` takes its remainder.

Numbers are unsigned and wrap at 64 bits.
"""

from __future__ import annotations

_MASK = 2**64 - 1
_FACTOR, _SHIFT = 0xC6A4A7935BD1E995, 47
_SEED = 0xDECAFCAFFE  # TensorFlow's


def murmur(data: bytes, seed: int = _SEED) -> int:
    """Return a number below 2**64 that depends on the bytes alone."""
    hash_value = seed ^ (len(data) * _FACTOR & _MASK)
    bytes_in_whole_words = len(data) // 8 * 8
    for start in range(0, bytes_in_whole_words, 8):
        word = int.from_bytes(data[start : start + 8], "little") * _FACTOR & _MASK
        word = (word ^ word >> _SHIFT) * _FACTOR & _MASK
        hash_value = (hash_value ^ word) * _FACTOR & _MASK
    if bytes_in_whole_words < len(data):
        hash_value = (hash_value ^ int.from_bytes(data[bytes_in_whole_words:], "little")) * _FACTOR & _MASK
    hash_value = (hash_value ^ hash_value >> _SHIFT) * _FACTOR & _MASK
    return hash_value ^ hash_value >> _SHIFT
