"""The wire format of protocol buffers, as far as files and records need it."""

from __future__ import annotations

import struct
from typing import Any


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """Return the number at the position, seven bits a byte, lowest first, and the position after it.

    >>> read_varint(bytes([0xAC, 0x02]), 0)
    (300, 2)
    """
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
        if shift > 63:
            raise ValueError(f"a number of more than 64 bits at byte {position}")


def parse_fields(message: bytes) -> dict[int, list[Any]]:
    """Return the fields of a message by number, each a list of ints or of bytes.

    Raises ValueError or IndexError for bytes that are no message.
    """
    fields: dict[int, list[Any]] = {}
    position = 0
    while position < len(message):
        tag, position = read_varint(message, position)
        # Wire types: 0 is a varint, 2 a length and bytes; 1 and 5 are 8 and 4 bytes.
        field_number, wire_type = tag >> 3, tag & 7
        value: Any
        if wire_type == 0:
            value, position = read_varint(message, position)
        elif wire_type == 2:
            size, position = read_varint(message, position)
            value, position = message[position : position + size], position + size
        elif wire_type in (1, 5):
            size = 8 if wire_type == 1 else 4
            (value,) = struct.unpack_from("<Q" if wire_type == 1 else "<I", message, position)
            position += size
        else:
            raise ValueError(f"a field of the unknown wire type {wire_type}")
        if position > len(message):
            raise ValueError("a field ends behind its message")
        fields.setdefault(field_number, []).append(value)
    return fields


def make_field(number: int, value: int | bytes) -> bytes:
    """Return the bytes of a field of a message: its number, and its value, an int or the bytes of a text or message.

    >>> make_field(1, 300).hex(), make_field(2, b"ab").hex()
    ('08ac02', '12026162')
    """
    if isinstance(value, int):
        return make_varint(number << 3) + make_varint(value)
    return make_varint(number << 3 | 2) + make_varint(len(value)) + value


def make_varint(value: int) -> bytes:
    """Return the bytes of a number that is not negative, seven bits a byte, lowest first.

    >>> make_varint(300).hex()
    'ac02'
    """
    bytes_ = bytearray()
    while value > 0x7F:
        bytes_.append(value & 0x7F | 0x80)
        value >>= 7
    bytes_.append(value)
    return bytes(bytes_)
