"""Messages between the processes of a group: a description in JSON and an array, each with a checksum."""

from __future__ import annotations

import json
import math
import socket
import struct
import zlib
from typing import Any

import numpy as np

from autoconv.graph.dtypes import as_dtype

_HEADER = struct.Struct("<4sIQII")  # magic number, bytes of the description and of the array, CRC-32 of each
_CHECKSUM = struct.Struct("<I")  # CRC-32 of the header: no size is trusted without it
_MAGIC = b"ACW2"
_MAX_DESCRIPTION_BYTES = 4096  # a header with a larger size is damaged
Description = dict[str, Any]


class DamagedMessage(Exception):
    """Raised for a message that differs from what a worker sent; the text of the exception describes the damage."""


def send(connection: socket.socket, description: Description, array: np.ndarray) -> None:
    """Send a description and an array. Raises OSError."""
    text = json.dumps({**description, "array_shape": list(array.shape), "array_dtype": array.dtype.name}).encode()
    array_bytes = array.reshape(-1).view(np.uint8).data
    header = _HEADER.pack(_MAGIC, len(text), array.nbytes, zlib.crc32(text), zlib.crc32(array_bytes))
    connection.sendall(header + _CHECKSUM.pack(zlib.crc32(header)) + text)
    connection.sendall(array_bytes)


def receive(connection: socket.socket) -> tuple[Description, np.ndarray]:
    """Return the next message. Raises DamagedMessage, OSError, and EOFError where the connection ended."""
    header = read(connection, _HEADER.size)
    (header_checksum,) = _CHECKSUM.unpack(read(connection, _CHECKSUM.size))
    magic, text_size, array_size, text_checksum, array_checksum = _HEADER.unpack(header)
    if magic != _MAGIC or header_checksum != zlib.crc32(header) or text_size > _MAX_DESCRIPTION_BYTES:
        raise DamagedMessage("it is not a message of a worker")
    text = read(connection, text_size)
    if zlib.crc32(text) != text_checksum:
        raise DamagedMessage("its description does not match its checksum")
    description = json.loads(text)
    dtype, shape = as_dtype(description["array_dtype"]), description["array_shape"]
    if math.prod(shape) * dtype.size != array_size:
        raise DamagedMessage("its array has another size than its description says")
    array_bytes = read(connection, array_size)
    if zlib.crc32(array_bytes) != array_checksum:
        raise DamagedMessage("its array does not match its checksum")
    return description, np.frombuffer(array_bytes, dtype.numpy).reshape(shape)


def read(connection: socket.socket, size: int) -> bytearray:
    """Return `size` bytes of a connection. Raises OSError, and EOFError where the connection ended."""
    result = bytearray(size)
    view, filled_size = memoryview(result), 0
    while filled_size < size:
        count = connection.recv_into(view[filled_size:])
        if not count:
            raise EOFError
        filled_size += count
    return result
