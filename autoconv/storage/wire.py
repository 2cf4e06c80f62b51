"""The wire format of protocol buffers, as far as reading needs it."""

from __future__ import annotations

import struct
from typing import Any


def varint(data: bytes, position: int) -> tuple[int, int]:
    """Return the number at the position, seven bits a byte, lowest first, and the position behind it.

    >>> varint(bytes([0xAC, 0x02]), 0)
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


def fields_of(message: bytes) -> dict[int, list[Any]]:
    """Return the fields of a message by number, each a list of ints or of bytes.

    Raises ValueError or IndexError for bytes that are no message.
    """
    fields: dict[int, list[Any]] = {}
    position = 0
    while position < len(message):
        tag, position = varint(message, position)
        kind = tag & 7
        value: Any
        if kind == 0:
            value, position = varint(message, position)
        elif kind == 2:
            size, position = varint(message, position)
            value, position = message[position : position + size], position + size
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            (value,), position = struct.unpack_from("<Q" if kind == 1 else "<I", message, position), position + size
        else:
            raise ValueError(f"a field of the unknown kind {kind}")
        if position > len(message):
            raise ValueError("a field ends behind its message")
        fields.setdefault(tag >> 3, []).append(value)
    return fields
