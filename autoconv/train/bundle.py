"""Read TensorFlow's checkpoint bundles: a sorted table of entries, and files of plain bytes.

The index is a table in the format of LevelDB: blocks of entries with shared prefixes, an index of the blocks, and a
footer with a magic number. The values of its entries are protocol buffers.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autoconv.errors import DataLossError, NotFoundError, UnimplementedError
from autoconv.graph.dtypes import as_dtype
from autoconv.storage.arrays import ArrayRecord
from autoconv.storage.crc32c import masked_crc32c
from autoconv.storage.wire import make_field, parse_fields, read_varint
from autoconv.train.object_graph import ObjectNode

_MAGIC = 0xDB4775248B80FB57  # the last 8 bytes of a table
_FOOTER_SIZE = 48  # bytes
GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"  # key of the graph of objects
# Names of dtypes by TensorFlow's numbers.
_DTYPES = {
    1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 7: "string", 8: "complex64", 9: "int64",
    10: "bool", 14: "bfloat16", 17: "uint16", 18: "complex128", 19: "float16", 22: "uint32", 23: "uint64",
}  # fmt: skip


class Bundle:
    """The entries of a bundle; `read` returns an array and checks its checksum."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.records: dict[str, ArrayRecord] = {}
        self._locations: dict[str, tuple[int, int, int]] = {}  # number of the data file, first byte, number of bytes
        self._shard_count = 1
        path = prefix + ".index"
        try:
            with open(path, "rb") as file:
                for key, value in _iterate_table(file.read()):
                    self._add_entry(key.decode(), value)
        except (IndexError, struct.error, UnicodeDecodeError, ValueError, KeyError, TypeError) as error:
            raise DataLossError(f"{path} is damaged, or is no index of a checkpoint: {error}") from None
        self.nodes = _object_nodes(bytes(self.read(GRAPH_KEY)[()])) if GRAPH_KEY in self.records else [ObjectNode()]

    def _add_entry(self, key: str, value: bytes) -> None:
        """Add an entry of the index, or read the header, whose key is empty; the value is a protocol buffer."""
        # Fields of the header: 1 number of shards, 2 byte order. Of an entry: 1 dtype, 2 shape, 3 shard, 4 first byte,
        # 5 number of bytes, 6 checksum, 7 slices.
        fields = parse_fields(value)
        if not key:
            self._shard_count = _last_value(fields, 1, 1)
            if _last_value(fields, 2, 0):
                raise UnimplementedError(f"{self.prefix}.index holds numbers of big-endian machines.")
            return
        if 7 in fields:
            raise UnimplementedError(f"{self.prefix}.index: {key} is stored in slices, which cannot be read here.")
        dtype = _DTYPES[_last_value(fields, 1, 0)]
        dimensions = [parse_fields(size) for size in parse_fields(_last_value(fields, 2, b"")).get(2, [])]
        shape = [_last_value(dimension, 1, 0) for dimension in dimensions]
        self.records[key] = {"dtype": dtype, "shape": shape, "checksum": _last_value(fields, 6, 0)}
        self._locations[key] = _last_value(fields, 3, 0), _last_value(fields, 4, 0), _last_value(fields, 5, 0)

    def read(self, name: str) -> np.ndarray:
        """Return an array; raises NotFoundError for an unknown name, DataLossError for damage."""
        if name not in self.records:
            raise NotFoundError(f"Key {name} not found in checkpoint {self.prefix}")
        record = self.records[name]
        shard, start, size = self._locations[name]
        path = f"{self.prefix}.data-{shard:05d}-of-{self._shard_count:05d}"
        if not os.path.isfile(path):
            raise NotFoundError(f"{path}: there is no such file.")
        with open(path, "rb") as file:
            file.seek(start)
            value_bytes = file.read(size)
        shape = tuple(record["shape"])
        try:
            if record["dtype"] == "string":
                return _read_texts(value_bytes, shape, record["checksum"])
            if masked_crc32c(value_bytes) != record["checksum"]:
                raise ValueError("its checksum differs")
            return np.frombuffer(value_bytes, as_dtype(record["dtype"]).numpy).reshape(shape).copy()
        except (ValueError, IndexError) as error:
            raise DataLossError(f"{path} is damaged: {name}: {error}") from None


def _read_texts(value_bytes: bytes, shape: tuple[int, ...], checksum: int) -> np.ndarray:
    """Return an array of text, stored as the lengths, a checksum of the lengths, and the bytes.

    The checksum of the entry covers the lengths as numbers of 4 bytes (8 for long texts), their checksum and the bytes.
    """
    position, lengths = 0, []
    result = np.empty(int(np.prod(shape, dtype=np.int64)), object)
    for _ in range(result.size):
        length, position = read_varint(value_bytes, position)
        lengths.append(length)
    length_bytes = b"".join(struct.pack("<I" if length < 1 << 32 else "<Q", length) for length in lengths)
    stored_checksum = value_bytes[position : position + 4]
    if struct.pack("<I", masked_crc32c(length_bytes)) != stored_checksum:
        raise ValueError("the checksum of its lengths differs")
    position += 4
    if masked_crc32c(length_bytes + stored_checksum + value_bytes[position:]) != checksum:
        raise ValueError("its checksum differs")
    for number, length in enumerate(lengths):
        result[number] = value_bytes[position : position + length]
        position += length
    return result.reshape(shape)


def _iterate_table(table: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the keys and values of a table."""
    if len(table) < _FOOTER_SIZE or struct.unpack("<Q", table[-8:])[0] != _MAGIC:
        raise ValueError("the magic number at its end is missing")
    # The footer has the handles of the meta-index, which has nothing to read, and of the index.
    _, position = _read_handle(table, len(table) - _FOOTER_SIZE)
    index_location, _ = _read_handle(table, position)
    for _, handle in _iterate_block(_read_block(table, *index_location)):
        block_location, _ = _read_handle(handle, 0)
        yield from _iterate_block(_read_block(table, *block_location))


def _read_handle(buffer: bytes, position: int) -> tuple[tuple[int, int], int]:
    """Return a handle, the start and size of a block, and the position after the handle."""
    start, position = read_varint(buffer, position)
    size, position = read_varint(buffer, position)
    return (start, size), position


def _read_block(table: bytes, start: int, size: int) -> bytes:
    """Return a block of a table, which is followed by a byte for the compression and by its checksum."""
    if start + size + 5 > len(table):
        raise ValueError("a block ends after the end of the file")
    if masked_crc32c(table[start : start + size + 1]) != struct.unpack_from("<I", table, start + size + 1)[0]:
        raise ValueError("the checksum of a block differs")
    if table[start + size] != 0:
        raise UnimplementedError("the index of the checkpoint is compressed, which cannot be read here.")
    return table[start : start + size]


def _iterate_block(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield keys and values; a key shares its first bytes with the key before."""
    # At its end, a block has numbers of 4 bytes: the positions of keys that share nothing, and their count.
    (restart_count,) = struct.unpack_from("<I", block, len(block) - 4)
    end = len(block) - 4 * (restart_count + 1)
    position, key = 0, b""
    while position < end:
        shared_size, position = read_varint(block, position)
        added_size, position = read_varint(block, position)
        value_size, position = read_varint(block, position)
        key = key[:shared_size] + block[position : position + added_size]
        position += added_size
        yield key, block[position : position + value_size]
        position += value_size


def _object_nodes(message: bytes) -> list[ObjectNode]:
    """Return the objects of a TrackableObjectGraph: each with its children's numbers and its attributes' keys."""
    # A node has children in field 1, each with its number in field 1 and its name in field 2. It has attributes in
    # field 2, each with its name in field 1 and its key in field 3.
    nodes = []
    for node in parse_fields(message).get(1, []):
        fields = parse_fields(node)
        children = {
            _last_value(child, 2, b"").decode(): _last_value(child, 1, 0)
            for child in map(parse_fields, fields.get(1, []))
        }
        key_by_name = {
            _last_value(value, 1, b"").decode(): _last_value(value, 3, b"").decode()
            for value in map(parse_fields, fields.get(2, []))
        }
        nodes.append(ObjectNode(children, key_by_name))
    return nodes


def graph_message(nodes: Sequence[ObjectNode]) -> bytes:
    """Return the objects as a TrackableObjectGraph."""
    result = b""
    for node in nodes:
        children = [make_field(1, number) + make_field(2, name.encode()) for name, number in node.children.items()]
        values = [make_field(1, name.encode()) + make_field(3, key.encode()) for name, key in node.key_by_name.items()]
        result += make_field(
            1, b"".join([*(make_field(1, part) for part in children), *(make_field(2, part) for part in values)])
        )
    return result


def _last_value(fields: dict[int, list[Any]], number: int, default: Any) -> Any:
    """Return the value of a field of a protocol buffer: the last one, or the default if there is none."""
    return fields[number][-1] if number in fields else default
