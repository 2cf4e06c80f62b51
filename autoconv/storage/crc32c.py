"""CRC-32C (Castagnoli), the checksum of TensorFlow's record and checkpoint files, in NumPy.

Long data is cut into parts of equal length whose checksums advance together; then neighbours are joined, as a checksum
of joined data is a linear function of the parts' checksums.
"""

from __future__ import annotations

import functools

import numpy as np

_POLYNOMIAL = 0x82F63B78  # with its bits in reverse order
_MIN_PARALLEL_BYTES = 4096  # for shorter data, one loop over bytes is quicker


def crc32c(data: bytes | memoryview) -> int:
    """Return the checksum of the data.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    if len(data) < _MIN_PARALLEL_BYTES:
        return _advance(0xFFFFFFFF, data) ^ 0xFFFFFFFF
    part_count = 1 << max(len(data).bit_length() - 10, 10)  # at least 1,024 parts, of less than 1,024 bytes
    part_length = len(data) // part_count
    table = _byte_table()
    byte_columns = np.frombuffer(data, np.uint8, part_length * part_count).reshape(part_count, part_length).T
    state = np.zeros(part_count, np.uint32)
    for byte_column in np.ascontiguousarray(byte_columns):
        state = (state >> 8) ^ table[(state ^ byte_column) & 0xFF]
    advance_matrix = _zero_bytes_matrix(part_length)
    # The first part begins with the state 0xFFFFFFFF, whose effect is added.
    state[0] ^= _multiply_bits(advance_matrix, np.array([0xFFFFFFFF], np.uint32))[0]
    while len(state) > 1:
        state = _multiply_bits(advance_matrix, state[::2]) ^ state[1::2]
        advance_matrix = _multiply_bits(advance_matrix, advance_matrix)
    return _advance(int(state[0]), memoryview(data)[part_length * part_count :]) ^ 0xFFFFFFFF


def masked_crc32c(data: bytes | memoryview) -> int:
    """Return the checksum as files store it: rotated right by 15 bits, plus a constant."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _advance(state: int, data: bytes | memoryview) -> int:
    """Return the state of the checksum after further bytes."""
    table = _byte_table_list()
    for byte in data:
        state = (state >> 8) ^ table[(state ^ byte) & 0xFF]
    return state


@functools.cache
def _byte_table() -> np.ndarray:
    """Return the effect of each value of a byte on the state: uint32 [256]."""
    table: np.ndarray = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = (table >> 1) ^ np.where(table & 1, np.uint32(_POLYNOMIAL), np.uint32(0))
    return table


@functools.cache
def _byte_table_list() -> list[int]:
    return [int(entry) for entry in _byte_table()]


@functools.lru_cache(maxsize=64)
def _zero_bytes_matrix(length: int) -> np.ndarray:
    """Return the effect of `length` zero bytes on each of the 32 bits of a state: the columns of a bit matrix."""
    table = _byte_table()
    power = np.uint32(1) << np.arange(32, dtype=np.uint32)
    power = (power >> 8) ^ table[power & 0xFF]  # one byte
    result = np.uint32(1) << np.arange(32, dtype=np.uint32)
    while length:
        if length & 1:
            result = _multiply_bits(power, result)
        power = _multiply_bits(power, power)
        length >>= 1
    return result


def _multiply_bits(matrix: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Multiply each state, a column of 32 bits, by the matrix, which is the array of its columns."""
    result = np.zeros_like(states)
    for bit in range(32):
        result ^= np.where(states >> np.uint32(bit) & 1, matrix[bit], np.uint32(0))
    return result
