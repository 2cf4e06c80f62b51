"""A file of elements: blocks of bytes, each with a checksum; the last one covers the number of elements.

    magic, block with the types of the leaves, a block for each element, last block

A block consists of its length, a CRC-32 and its bytes. The checksum continues that of the block before, so a missing
block and exchanged blocks are detected too. The last block has no bytes, but its checksum includes the number of
elements. A leaf consists of its rank, its sizes and its bytes. An array of text has the lengths of the texts before
their bytes. Nothing in the file is code.
"""

from __future__ import annotations

import math
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np

from autoconv.data.elements import spec_leaves
from autoconv.data.nodes import Element
from autoconv.errors import DataLossError

_MAGIC = b"autoconv elements 2\n"
_BLOCK_HEAD = struct.Struct("<QI")  # length and checksum of a block
_END = (1 << 64) - 1  # in place of a length, in the last block


def write_while_iterating(elements: Iterator[Element], spec: Any, path: str) -> Iterator[Element]:
    """Yield elements of the spec, each written into a file first; the file is complete after the last element."""
    with open(path, "wb") as file:
        file.write(_MAGIC)
        checksum = _write_block(file, _type_text(spec), 0)
        count = 0
        for element in elements:
            checksum = _write_block(file, b"".join(map(_leaf_bytes, element)), checksum)
            count += 1
            yield element
        file.write(_BLOCK_HEAD.pack(_END, _checksum(_END, struct.pack("<Q", count), checksum)))


def read_elements(path: str, spec: Any) -> Iterator[Element]:
    """Yield the elements of a file; raises DataLossError where it is damaged or has elements of another spec."""
    dtypes = [leaf.dtype for leaf in spec_leaves(spec)]
    try:
        opened_file = open(path, "rb")  # noqa: SIM115 the next statement closes it
    except FileNotFoundError:
        raise DataLossError(f"{path}: the file of elements is missing") from None
    with opened_file as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise DataLossError(f"{path} is not a file of elements, or is damaged")
        blocks = _read_blocks(file, path)
        if next(blocks, None) != _type_text(spec):
            raise DataLossError(f"{path} does not hold elements of {spec}; remove the file")
        for block in blocks:
            reader = _LeafReader(block)
            yield [reader.read_texts() if dtype.is_string else reader.read_array(dtype.numpy) for dtype in dtypes]


def _read_blocks(file: IO[bytes], path: str) -> Iterator[bytes]:
    """Yield all blocks before the last one; raises DataLossError where one is damaged or missing."""
    file_size, checksum, block_count = os.fstat(file.fileno()).st_size, 0, 0
    while True:
        head = file.read(_BLOCK_HEAD.size)
        # Without a whole head, the length is one that no block can have.
        length, expected_checksum = _BLOCK_HEAD.unpack(head) if len(head) == _BLOCK_HEAD.size else (file_size, 0)
        if length == _END:
            element_count = block_count - 1  # the first block has the types
            end_checksum = _checksum(_END, struct.pack("<Q", element_count), checksum)
            if end_checksum != expected_checksum or file.tell() != file_size:
                break
            return
        if length > file_size - file.tell():
            break
        block = file.read(length)
        checksum = _checksum(length, block, checksum)
        if checksum != expected_checksum:
            break
        yield block
        block_count += 1
    raise DataLossError(f"{path} is damaged, or incomplete, after {max(block_count - 1, 0)} elements")


def _write_block(file: IO[bytes], block: bytes, checksum: int) -> int:
    """Write a block after one with the given checksum; return the checksum of this one."""
    checksum = _checksum(len(block), block, checksum)
    file.write(_BLOCK_HEAD.pack(len(block), checksum))
    file.write(block)
    return checksum


def _checksum(length: int, block: bytes, previous_checksum: int) -> int:
    """Return the checksum of a block, which continues that of the block before."""
    return zlib.crc32(block, zlib.crc32(struct.pack("<Q", length), previous_checksum))


def _type_text(spec: Any) -> bytes:
    """Return the types of an element's leaves as text, the content of the first block."""
    return ";".join(str(leaf.type) for leaf in spec_leaves(spec)).encode()


def _leaf_bytes(leaf: Any) -> bytes:
    """Return a leaf as the bytes that `_LeafReader` reads."""
    array = np.asarray(leaf)
    sizes = struct.pack(f"<B{array.ndim}q", array.ndim, *array.shape)
    if array.dtype != object:
        return sizes + array.tobytes()
    texts: Sequence[bytes] = list(array.flat)
    return b"".join([sizes, np.array([len(text) for text in texts], np.int64).tobytes(), *texts])


class _LeafReader:
    """Read the leaves of a block, one after the other; its checksum has been verified."""

    def __init__(self, block: bytes) -> None:
        self._block = block
        self._position = 0

    def read_array(self, dtype: np.dtype) -> np.ndarray:
        shape = self._read_shape()
        return self._read_numbers(math.prod(shape), dtype).reshape(shape)

    def read_texts(self) -> np.ndarray:
        shape = self._read_shape()
        result: np.ndarray = np.empty(math.prod(shape), object)
        lengths = self._read_numbers(result.size, np.dtype(np.int64))
        result[:] = [self._read_bytes(length) for length in lengths.tolist()]
        return result.reshape(shape)

    def _read_shape(self) -> tuple[int, ...]:
        """Return the sizes of the next leaf."""
        return tuple(self._read_numbers(self._read_bytes(1)[0], np.dtype(np.int64)).tolist())

    def _read_numbers(self, count: int, dtype: np.dtype) -> np.ndarray:
        """Return the next `count` numbers of the dtype."""
        return np.frombuffer(self._read_bytes(count * dtype.itemsize), dtype).copy()

    def _read_bytes(self, length: int) -> bytes:
        """Return the next `length` bytes."""
        start, self._position = self._position, self._position + length
        return self._block[start : self._position]
