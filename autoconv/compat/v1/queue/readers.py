"""Readers of files whose names are in a queue, which return lines, records or whole files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.compat.v1.session import running_session
from autoconv.errors import NotFoundError, OutOfRangeError
from autoconv.forks import new_lock
from autoconv.graph.dtypes import int64, string
from autoconv.io.records import tf_record_iterator
from autoconv.runtime.support.shape import TensorSpec


class ReaderBase:
    """Base of the readers. In each session a reader takes names of files from a queue and returns their records.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/lines.txt"
    >>> _ = open(path, "w").write("one\\ntwo\\n")
    >>> v1 = autoconv.compat.v1
    >>> with autoconv.Graph().as_default(), v1.Session() as session:
    ...     queue = v1.FIFOQueue(1, autoconv.string, shapes=[[]])
    ...     key, value = v1.TextLineReader().read(queue)
    ...     session.run(queue.enqueue(path))
    ...     session.run(value), session.run(value)
    (b'one', b'two')
    """

    def __init__(self, name: str | None = None) -> None:
        self._name = name or type(self).__name__
        self._states: WeakKeyDictionary[Any, _ReaderState] = WeakKeyDictionary()

    def read(self, queue: Any, name: str | None = None) -> Any:
        """Return the key and the value of the next record, scalar strings; the key is the file and the position in it.

        A run takes the next file from the queue when one has ended, and waits while the queue is empty. It raises
        OutOfRangeError if the queue is closed and empty, and NotFoundError for a file that does not exist.
        """
        specs = [TensorSpec((), string)] * 2
        return tuple(numpy_function(lambda: self._next(queue), [], specs, name=name or f"{self._name}Read"))

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """Return the keys and the values of at most `num_records` records of one file, as vectors of strings."""
        def read_records(count: Any) -> list[Any]:
            records_read = [self._next(queue)]
            while len(records_read) < int(count) and self._state().records is not None:
                try:
                    records_read.append(self._next(None))
                except OutOfRangeError:
                    break
            return [np.array(column, object) for column in zip(*records_read, strict=True)]

        return tuple(
            numpy_function(read_records, [num_records], [TensorSpec((None,), string)] * 2, name=name or "ReadUpTo")
        )

    def num_records_produced(self, name: str | None = None) -> Any:
        """Return the number of records that the session has read."""
        return self._count("record_count", name)

    def num_work_units_completed(self, name: str | None = None) -> Any:
        """Return the number of files that the session has read to the end."""
        return self._count("file_count", name)

    def _count(self, attribute: str, name: str | None) -> Any:
        """Return `attribute`, a count in the state of the running session, as an int64 tensor."""
        count = lambda: np.int64(getattr(self._state(), attribute))
        return numpy_function(count, [], [TensorSpec((), int64)], name=name or attribute)[0]

    def _state(self) -> _ReaderState:
        """Return the reader's state in the running session."""
        return self._states.setdefault(running_session(), _ReaderState())

    def _next(self, queue: Any) -> list[bytes]:
        """Return the next [key, value]; if `queue` is None, raise OutOfRangeError at the end of the open file."""
        state = self._state()
        with state.lock:
            while True:
                if state.records is None:
                    if queue is None:
                        raise OutOfRangeError("the file has ended")
                    path = bytes(queue.buffer().take(1)[0][0])
                    state.records = self._records(path)
                try:
                    key, value = next(state.records)
                    state.record_count += 1
                    return [key, value]
                except FileNotFoundError as error:
                    raise NotFoundError(str(error)) from None
                except StopIteration:
                    state.records = None
                    state.file_count += 1

    def _records(self, path: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the keys and values of a file's records."""
        raise NotImplementedError


class _ReaderState:
    """A reader's state in one session: the records of its open file, and its counts."""

    def __init__(self) -> None:
        self.records: Iterator[tuple[bytes, bytes]] | None = None
        self.record_count = self.file_count = 0
        self.lock = new_lock()


class TextLineReader(ReaderBase):
    """A reader of the lines of text files; their keys are `file:line`.

    >>> with autoconv.Graph().as_default():
    ...     queue = autoconv.compat.v1.train.string_input_producer(["a.txt"])
    ...     autoconv.compat.v1.TextLineReader(skip_header_lines=1).read(queue)[1].dtype
    autoconv.string
    """

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        super().__init__(name)
        self._skipped_count = skip_header_lines or 0

    def _records(self, path: bytes) -> Iterator[tuple[bytes, bytes]]:
        with Path(path.decode()).open("rb") as file:
            for number, line in enumerate(file, 1):
                if number > self._skipped_count:
                    yield path + b":%d" % number, line.rstrip(b"\r\n")


class TFRecordReader(ReaderBase):
    """A reader of the records of TFRecord files.

    >>> with autoconv.Graph().as_default():
    ...     queue = autoconv.compat.v1.train.string_input_producer(["a.tfrecord"])
    ...     autoconv.compat.v1.TFRecordReader().read(queue)[1].dtype
    autoconv.string
    """

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        super().__init__(name)
        self._options = options

    def _records(self, path: bytes) -> Iterator[tuple[bytes, bytes]]:
        offset = 0
        for record in tf_record_iterator(path.decode(), self._options):
            yield path + b":%d" % offset, record
            offset += len(record) + 16  # a length of 8 bytes, and two checksums of 4


class WholeFileReader(ReaderBase):
    """A reader of whole files: the key is the name, the value the content.

    >>> with autoconv.Graph().as_default():
    ...     queue = autoconv.compat.v1.train.string_input_producer(["a.png"])
    ...     autoconv.compat.v1.WholeFileReader().read(queue)[1].shape
    TensorShape([])
    """

    def _records(self, path: bytes) -> Iterator[tuple[bytes, bytes]]:
        yield path, Path(path.decode()).read_bytes()


class IdentityReader(ReaderBase):
    """A reader that returns the elements of the queue themselves, as key and as value.

    >>> v1 = autoconv.compat.v1
    >>> with autoconv.Graph().as_default(), v1.Session() as session:
    ...     queue = v1.FIFOQueue(1, autoconv.string, shapes=[[]])
    ...     key, value = v1.IdentityReader().read(queue)
    ...     session.run(queue.enqueue("a"))
    ...     session.run(value)
    b'a'
    """

    def _records(self, path: bytes) -> Iterator[tuple[bytes, bytes]]:
        yield path, path


class FixedLengthRecordReader(ReaderBase):
    """A reader of records of `record_bytes` bytes, which lie between a header and a footer of the file.

    Records begin `hop_bytes` bytes apart, by default `record_bytes`.

    >>> with autoconv.Graph().as_default():
    ...     queue = autoconv.compat.v1.train.string_input_producer(["data_batch_1.bin"])
    ...     autoconv.compat.v1.FixedLengthRecordReader(record_bytes=3073).read(queue)[1].shape
    TensorShape([])
    """

    def __init__(
        self, record_bytes: int, header_bytes: int | None = None, footer_bytes: int | None = None,
        hop_bytes: int | None = None, name: str | None = None, encoding: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(name)
        if encoding:
            raise ValueError(f"compressed files are not read: encoding={encoding!r}")
        self._record_size, self._header_size, self._footer_size = record_bytes, header_bytes or 0, footer_bytes or 0
        self._hop_size = hop_bytes or record_bytes

    def _records(self, path: bytes) -> Iterator[tuple[bytes, bytes]]:
        content = Path(path.decode()).read_bytes()
        last_start = len(content) - self._footer_size - self._record_size
        for number, start in enumerate(range(self._header_size, last_start + 1, self._hop_size)):
            yield path + b":%d" % number, content[start : start + self._record_size]
