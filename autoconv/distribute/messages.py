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

_HEAD = struct.Struct("<4sIQII")  # mark, bytes of the description and of the array, CRC-32 of each
_SUM = struct.Struct("<I")  # CRC-32 of the head: no size is trusted without it
_MARK = b"ACW2"
_MOST_DESCRIPTION = 4096  # bytes of a description
Description = dict[str, Any]


class DamagedMessage(Exception):
    """A message that arrived is not the one that a worker sent."""


def send(link: socket.socket, description: Description, array: np.ndarray) -> None:
    """Send a description and an array. Raises OSError."""
    text = json.dumps({**description, "sizes": list(array.shape), "kind": array.dtype.name}).encode()
    data = array.reshape(-1).view(np.uint8).data
    head = _HEAD.pack(_MARK, len(text), array.nbytes, zlib.crc32(text), zlib.crc32(data))
    link.sendall(head + _SUM.pack(zlib.crc32(head)) + text)
    link.sendall(data)


def receive(link: socket.socket) -> tuple[Description, np.ndarray]:
    """Return the next message. Raises Damaged, OSError, and EOFError where the connection ended."""
    head = read(link, _HEAD.size)
    (total,) = _SUM.unpack(read(link, _SUM.size))
    mark, length, size, text_sum, data_sum = _HEAD.unpack(head)
    if mark != _MARK or total != zlib.crc32(head) or length > _MOST_DESCRIPTION:
        raise DamagedMessage("it is no message of a worker")
    text = read(link, length)
    if zlib.crc32(text) != text_sum:
        raise DamagedMessage("its description does not have its checksum")
    description = json.loads(text)
    dtype, sizes = as_dtype(description["kind"]), description["sizes"]
    if math.prod(sizes) * dtype.size != size:
        raise DamagedMessage("its array does not have the size of its description")
    data = read(link, size)
    if zlib.crc32(data) != data_sum:
        raise DamagedMessage("its array does not have its checksum")
    return description, np.frombuffer(data, dtype.numpy).reshape(sizes)


def read(link: socket.socket, size: int) -> bytearray:
    """Return so many bytes of a connection. Raises OSError, and EOFError where the connection ended."""
    result = bytearray(size)
    view, at = memoryview(result), 0
    while at < size:
        count = link.recv_into(view[at:])
        if not count:
            raise EOFError
        at += count
    return result


__all__ = ["DamagedMessage", "Description", "read", "receive", "send"]
