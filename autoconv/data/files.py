"""Datasets of files: lines of text, records, lists of files."""

from __future__ import annotations

import glob
import gzip
import io
import os
import struct
import zlib
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from autoconv.data.nodes import NO_BINDINGS, Bindings, Element, Node
from autoconv.data.sources import Slices, object_scalar
from autoconv.errors import DataLossError, InvalidArgumentError, NotFoundError
from autoconv.graph.dtypes import string
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.storage.crc32c import masked_crc32c


class FileNode(Node):
    """The contents of files, one after the other; their names are strings, tensors of strings, or a dataset of them."""

    name = "files"

    def __init__(self, filenames: Any, spec: Any, compression_type: str | None) -> None:
        if compression_type not in (None, "", "GZIP", "ZLIB"):
            raise ValueError(f"compression_type is one of '', 'GZIP' and 'ZLIB', found {compression_type!r}")
        node = getattr(filenames, "node", None)
        self.compression = compression_type
        self.names_node = node if isinstance(node, Node) else _file_names_node(filenames)
        super().__init__(spec, [self.names_node])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        for element in self.names_node.iterate(bindings):
            for name in np.ravel(np.asarray(element[0], object)):
                yield from self.contents(os.fsdecode(name), bindings)

    def contents(self, path: str, bindings: Bindings = NO_BINDINGS) -> Iterator[Element]:
        """Yield the elements of one file; raises DataLossError where its compression is damaged."""
        try:
            with self.open_file(path) as file:
                yield from self.read(file, path, bindings)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataLossError(f"{path} is damaged, or not compressed by {self.compression}: {error}") from None

    def read(self, file: IO[bytes], path: str, bindings: Bindings) -> Iterator[Element]:
        """Yield the elements of an open file; `path` is for messages."""
        raise NotImplementedError

    def open_file(self, path: str) -> IO[bytes]:
        """Open a file for reading, decompressed."""
        try:
            file = open(path, "rb")  # noqa: SIM115 the caller closes it
        except FileNotFoundError:
            raise NotFoundError(f"{path}; No such file or directory") from None
        except IsADirectoryError:
            raise InvalidArgumentError(f"{path} is a folder. Dataset.list_files gives the files in it.") from None
        if self.compression == "GZIP":
            return _OwningReader(gzip.GzipFile(fileobj=file), file)
        if self.compression == "ZLIB":
            with file:
                return io.BytesIO(zlib.decompress(file.read()))
        return file


class TextLines(FileNode):
    """The lines of text files, as bytes without line ends."""

    name = "text_lines"

    def __init__(self, filenames: Any, compression_type: str | None = None) -> None:
        super().__init__(filenames, TensorSpec((), string), compression_type)

    def read(self, file: IO[bytes], path: str, bindings: Bindings) -> Iterator[Element]:
        for line in file:
            yield [object_scalar(line.removesuffix(b"\n").removesuffix(b"\r"))]


class Records(FileNode):
    """The records of TFRecord files, as bytes.

    A record consists of its length (8 bytes, little endian), a checksum of the length, the data, and a checksum of the
    data. The checksum is CRC-32C, rotated right by 15 bits, plus a constant.
    """

    name = "records"

    def __init__(self, filenames: Any, compression_type: str | None = None) -> None:
        super().__init__(filenames, TensorSpec((), string), compression_type)

    def read(self, file: IO[bytes], path: str, bindings: Bindings) -> Iterator[Element]:
        record_start = 0
        while head := file.read(12):
            if len(head) < 12 or masked_crc32c(head[:8]) != struct.unpack("<I", head[8:])[0]:
                raise DataLossError(f"corrupted record at {record_start} in {path}: this is no file of TFRecords")
            (length,) = struct.unpack("<Q", head[:8])
            record_bytes, tail = file.read(length), file.read(4)
            if len(record_bytes) < length or len(tail) < 4:
                raise DataLossError(f"truncated record at {record_start} in {path}")
            if masked_crc32c(record_bytes) != struct.unpack("<I", tail)[0]:
                raise DataLossError(f"corrupted record at {record_start} in {path}")
            yield [object_scalar(record_bytes)]
            record_start += 16 + length


class FixedLengthRecords(FileNode):
    """Records of `record_size` bytes each, between a header and a footer; a shorter last record is an error."""

    name = "fixed_length_records"

    def __init__(
        self, filenames: Any, record_size: int, header_size: int = 0, footer_size: int = 0,
        compression_type: str | None = None,
    ) -> None:  # fmt: skip
        if record_size < 1:
            raise InvalidArgumentError(f"record_bytes must be positive, found {record_size}")
        self.record_size, self.header_size, self.footer_size = record_size, header_size, footer_size
        super().__init__(filenames, TensorSpec((), string), compression_type)

    def read(self, file: IO[bytes], path: str, bindings: Bindings) -> Iterator[Element]:
        content = file.read()
        body_end = len(content) - self.footer_size
        body_size = body_end - self.header_size
        if body_size < 0 or body_size % self.record_size:
            raise InvalidArgumentError(
                f"{path} has {body_size} bytes of records, which is not a multiple of {self.record_size} bytes a record"
            )
        for start in range(self.header_size, body_end, self.record_size):
            yield [object_scalar(content[start : start + self.record_size])]


def match_patterns(pattern: Any) -> list[str]:
    """Return the files that match one or more glob patterns, sorted; raises InvalidArgumentError if there are none."""
    patterns = list(map(os.fsdecode, np.ravel(np.asarray(_as_strings(pattern), object))))
    result = sorted({path for each_pattern in patterns for path in glob.glob(each_pattern)})
    if not result:
        raise InvalidArgumentError(f"No files matched pattern: {', '.join(patterns)}")
    return result


def _file_names_node(filenames: Any) -> Slices:
    """Return a source of the names of files, given as one name, a list, or a tensor of them."""
    names = convert_to_tensor(_as_strings(filenames))
    if not names.dtype.is_string:
        raise TypeError(f"`filenames` must be names of files, found {filenames!r}")
    return Slices(names if names.type.shape else [names])


def _as_strings(names: Any) -> Any:
    """Return names with each path object as a string; lists and tuples become lists."""
    if isinstance(names, os.PathLike):
        return os.fspath(names)
    return [_as_strings(name) for name in names] if isinstance(names, (list, tuple)) else names


class _OwningReader(io.BufferedReader):
    """A reader that also closes the underlying file."""

    def __init__(self, reader: Any, file: IO[bytes]) -> None:
        super().__init__(reader)
        self._file = file

    def close(self) -> None:
        super().close()
        self._file.close()
