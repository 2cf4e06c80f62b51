"""FarmHash's 64-bit fingerprint of bytes; TensorFlow's `to_hash_bucket_fast` takes its remainder.

The algorithm is the function `farmhashna::Hash64` of Google's FarmHash (Geoff Pike), whose source has the same names of
single letters. The algorithm must not change, as its values are stored in files. Numbers are unsigned and wrap around
at 64 bits.
"""

from __future__ import annotations

import struct

_MASK = 2**64 - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def fingerprint(data: bytes) -> int:
    """Return a number below 2**64 that depends on the bytes alone, on every machine."""
    length = len(data)
    if length <= 16:
        return _hash_up_to_16(data)
    if length <= 32:
        return _hash_up_to_32(data)
    return _hash_up_to_64(data) if length <= 64 else _hash_longer(data)


def _word(data: bytes, offset: int) -> int:
    """Return the integer of the 8 bytes at an offset."""
    result: int = struct.unpack_from("<Q", data, offset)[0]
    return result


def _rotate(x: int, distance: int) -> int:
    return (x >> distance | x << (64 - distance)) & _MASK


def _shift_mix(x: int) -> int:
    """Return the word, mixed with its own upper bits."""
    return x ^ x >> 47


def _hash_pair(u: int, v: int, multiplier: int) -> int:
    """Return FarmHash's hash of two words, under a multiplier."""
    a = _shift_mix((u ^ v) * multiplier & _MASK)
    b = _shift_mix((v ^ a) * multiplier & _MASK)
    return b * multiplier & _MASK


def _hash_up_to_16(data: bytes) -> int:
    """Return the fingerprint of up to 16 bytes."""
    length = len(data)
    multiplier = _K2 + length * 2 & _MASK
    if length >= 8:
        a, b = _word(data, 0) + _K2 & _MASK, _word(data, length - 8)
        c = _rotate(b, 37) * multiplier + a & _MASK
        d = (_rotate(a, 25) + b) * multiplier & _MASK
        return _hash_pair(c, d, multiplier)
    if length >= 4:
        first, last = struct.unpack_from("<I", data)[0], struct.unpack_from("<I", data, length - 4)[0]
        return _hash_pair(length + (first << 3) & _MASK, last, multiplier)
    if length:
        y = data[0] + (data[length >> 1] << 8)
        z = length + (data[-1] << 2)
        return _shift_mix((y * _K2 ^ z * _K0) & _MASK) * _K2 & _MASK
    return _K2


def _hash_up_to_32(data: bytes) -> int:
    """Return the fingerprint of 17 to 32 bytes."""
    length = len(data)
    multiplier = _K2 + length * 2 & _MASK
    a, b = _word(data, 0) * _K1 & _MASK, _word(data, 8)
    c, d = _word(data, length - 8) * multiplier & _MASK, _word(data, length - 16) * _K2 & _MASK
    u = _rotate(a + b & _MASK, 43) + _rotate(c, 30) + d & _MASK
    v = a + _rotate(b + _K2 & _MASK, 18) + c & _MASK
    return _hash_pair(u, v, multiplier)


def _hash_up_to_64(data: bytes) -> int:
    """Return the fingerprint of 33 to 64 bytes."""
    length = len(data)
    multiplier = _K2 + length * 2 & _MASK
    a, b = _word(data, 0) * _K2 & _MASK, _word(data, 8)
    c, d = _word(data, length - 8) * multiplier & _MASK, _word(data, length - 16) * _K2 & _MASK
    y = _rotate(a + b & _MASK, 43) + _rotate(c, 30) + d & _MASK
    z = _hash_pair(y, a + _rotate(b + _K2 & _MASK, 18) + c & _MASK, multiplier)
    e, f = _word(data, 16) * multiplier & _MASK, _word(data, 24)
    g = (y + _word(data, length - 32)) * multiplier & _MASK
    h = (z + _word(data, length - 24)) * multiplier & _MASK
    u = _rotate(e + f & _MASK, 43) + _rotate(g, 30) + h & _MASK
    return _hash_pair(u, e + _rotate(f + a & _MASK, 18) + g & _MASK, multiplier)


def _hash_longer(data: bytes) -> int:
    """Return the fingerprint of more than 64 bytes, by blocks of 64; the last block may overlap the one before it."""
    length = len(data)
    x, y = 81, 81 * _K1 + 113 & _MASK
    z = _shift_mix(y * _K2 + 113 & _MASK) * _K2 & _MASK
    v = w = (0, 0)
    x = x * _K2 + _word(data, 0) & _MASK
    end = (length - 1) // 64 * 64
    for offset in range(0, end, 64):
        x = _rotate(x + y + v[0] + _word(data, offset + 8) & _MASK, 37) * _K1 & _MASK
        y = _rotate(y + v[1] + _word(data, offset + 48) & _MASK, 42) * _K1 & _MASK
        x ^= w[1]
        y = y + v[0] + _word(data, offset + 40) & _MASK
        z = _rotate(z + w[0] & _MASK, 33) * _K1 & _MASK
        v = _hash_32_bytes(data, offset, v[1] * _K1, x + w[0])
        w = _hash_32_bytes(data, offset + 32, z + w[1], y + _word(data, offset + 16))
        z, x = x, z
    multiplier = _K1 + ((z & 0xFF) << 1) & _MASK
    offset = length - 64
    w = (w[0] + (length - 1 & 63) & _MASK, w[1])
    v = (v[0] + w[0] & _MASK, v[1])
    w = (w[0] + v[0] & _MASK, w[1])
    x = _rotate(x + y + v[0] + _word(data, offset + 8) & _MASK, 37) * multiplier & _MASK
    y = _rotate(y + v[1] + _word(data, offset + 48) & _MASK, 42) * multiplier & _MASK
    x ^= w[1] * 9 & _MASK
    y = y + v[0] * 9 + _word(data, offset + 40) & _MASK
    z = _rotate(z + w[0] & _MASK, 33) * multiplier & _MASK
    v = _hash_32_bytes(data, offset, v[1] * multiplier, x + w[0])
    w = _hash_32_bytes(data, offset + 32, z + w[1], y + _word(data, offset + 16))
    z, x = x, z
    u = _hash_pair(v[0], w[0], multiplier) + _shift_mix(y) * _K0 + z & _MASK
    return _hash_pair(u, _hash_pair(v[1], w[1], multiplier) + x & _MASK, multiplier)


def _hash_32_bytes(data: bytes, offset: int, a: int, b: int) -> tuple[int, int]:
    """Return the hash of 32 bytes and of the seeds a and b, as two words."""
    w, x, y, z = struct.unpack_from("<4Q", data, offset)
    a = a + w & _MASK
    b = _rotate(b + a + z & _MASK, 21)
    c = a
    a = a + x + y & _MASK
    b = b + _rotate(a, 44) & _MASK
    return a + z & _MASK, b + c & _MASK
