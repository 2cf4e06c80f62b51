"""Files of TFRecords: a writer, and an iterator over the records of one file."""

from __future__ import annotations

import contextlib
import gzip
import os
import struct
import zlib
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from autoconv.data.files import Records
from autoconv.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from autoconv.storage.crc32c import masked_crc32c
from autoconv.storage.files import naming_disk_errors

_COMPRESSION_TYPES = ("", "GZIP", "ZLIB")


class TFRecordOptions:
    """Compression of a file of records: "", "GZIP" or "ZLIB", and the level from 0 to 9.

    Further arguments of TensorFlow, which set sizes of buffers, have no effect. Raises ValueError for another
    compression.

    >>> autoconv.io.TFRecordOptions("GZIP").compression_type
    'GZIP'
    """

    def __init__(
        self,
        compression_type: str | TFRecordOptions | None = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        if isinstance(compression_type, TFRecordOptions):
            compression_type = compression_type.compression_type
        if (compression_type or "") not in _COMPRESSION_TYPES:
            raise ValueError(f'Not a valid compression_type: "{compression_type}"')
        self.compression_type: str = compression_type or ""
        self.compression_level = compression_level


class TFRecordWriter:
    """Write records, which are bytes, to a file of TFRecords: each with its length and checksums.

    `options` is a TFRecordOptions, or its `compression_type`. The file is complete after `close`, or at the end of a
    `with` block. Raises NotFoundError where the folder is missing, FailedPreconditionError for a closed writer. On a
    full disk, `write`, `flush` and `close` raise OSError with the file's name.

    >>> import tempfile
    >>> path = tempfile.mkstemp()[1]
    >>> with autoconv.io.TFRecordWriter(path) as writer:
    ...     writer.write(b"one")
    ...     writer.write(b"two")
    >>> [record.numpy() for record in autoconv.data.TFRecordDataset(path)]
    [b'one', b'two']
    """

    def __init__(
        self, path: str | bytes | os.PathLike[str], options: TFRecordOptions | str | None = None
    ) -> None:
        self._options = options if isinstance(options, TFRecordOptions) else TFRecordOptions(options)
        self._name = name = os.fsdecode(path)
        try:
            self._disk_file = open(name, "wb")  # noqa: SIM115 close() closes it
        except FileNotFoundError:
            raise NotFoundError(f"{name}; No such file or directory") from None
        level = self._options.compression_level
        level = -1 if level is None else level
        self._file: Any = self._disk_file  # with GZIP, the file object that compresses
        self._zlib = zlib.compressobj(level) if self._options.compression_type == "ZLIB" else None
        if self._options.compression_type == "GZIP":
            gzip_level = 6 if level < 0 else level
            self._file = gzip.GzipFile(fileobj=self._disk_file, mode="wb", compresslevel=gzip_level, mtime=0)

    def write(self, record: bytes | str) -> None:
        """Write one record. Raises TypeError for anything but bytes or text, which is written as UTF-8."""
        if self._disk_file.closed:
            raise FailedPreconditionError("Writer is closed.")
        if isinstance(record, str):
            record = record.encode()
        if not isinstance(record, (bytes, bytearray, memoryview)):
            raise TypeError(f"a record is bytes, found {record!r}: use example.SerializeToString() for an Example")
        record_bytes = bytes(record)
        length_bytes = struct.pack("<Q", len(record_bytes))
        checked_parts = [part + struct.pack("<I", masked_crc32c(part)) for part in (length_bytes, record_bytes)]
        with naming_disk_errors(self._name):
            self._write_bytes(b"".join(checked_parts))

    def flush(self) -> None:
        """Write buffered records to the file."""
        if self._disk_file.closed:
            raise FailedPreconditionError("Writer is closed.")
        with naming_disk_errors(self._name):
            if self._zlib is not None:
                self._file.write(self._zlib.flush(zlib.Z_SYNC_FLUSH))
            self._file.flush()
            self._disk_file.flush()

    def close(self) -> None:
        """Complete the file; a second call has no effect."""
        if self._disk_file.closed:
            return
        with naming_disk_errors(self._name), contextlib.closing(self._disk_file):
            if self._zlib is not None:
                self._file.write(self._zlib.flush())
            if self._file is not self._disk_file:
                self._file.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(
        self, error_class: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _write_bytes(self, data: bytes) -> None:
        """Write bytes of the uncompressed file; GZIP compresses them in its own file object."""
        self._file.write(data if self._zlib is None else self._zlib.compress(data))


def tf_record_iterator(path: str, options: TFRecordOptions | str | None = None) -> Iterator[bytes]:
    """Iterate over the records of a file of TFRecords, as bytes.

    Raises NotFoundError without the file, and DataLossError for a damaged one.

    >>> import tempfile
    >>> path = tempfile.mkstemp()[1]
    >>> with autoconv.io.TFRecordWriter(path, "ZLIB") as writer:
    ...     writer.write(b"one")
    >>> list(autoconv.io.tf_record_iterator(path, "ZLIB"))
    [b'one']
    """
    file_options = options if isinstance(options, TFRecordOptions) else TFRecordOptions(options)
    if isinstance(path, (list, tuple)):
        raise InvalidArgumentError(f"tf_record_iterator reads one file, found {path!r}: use data.TFRecordDataset")
    for (record,) in Records(path, file_options.compression_type).contents(os.fsdecode(path)):
        yield record.item()
