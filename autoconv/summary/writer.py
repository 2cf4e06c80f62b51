"""Writers of event files."""

from __future__ import annotations

import itertools
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from autoconv.config.refused_options import refuse_options
from autoconv.forks import new_lock
from autoconv.io.records import TFRecordWriter
from autoconv.runtime.recording.regions import current_region
from autoconv.summary.effects import call_on_run
from autoconv.summary.protos import messages
from autoconv.summary.state import STATE, read_state

_FILE_NUMBERS = itertools.count()  # of the event files of this process


class SummaryWriter:
    """A writer of summaries: `as_default` makes it the writer to which `scalar` and the other functions write.

    This class writes nothing; `create_file_writer` makes a writer of an event file.

    >>> with autoconv.summary.create_noop_writer().as_default():
    ...     bool(autoconv.summary.scalar("loss", 0.5, step=1))
    False
    """

    writes = False  # whether summaries reach a file
    __autoconv_identity__ = True  # guards of a trace compare the writer by identity, not its contents

    def set_as_default(self, step: Any = None) -> None:
        """Make this the thread's default writer, with a default step if one is given."""
        self._check_open()
        read_state().writer = self
        if step is not None:
            STATE.step = step

    @contextmanager
    def as_default(self, step: Any = None) -> Iterator[SummaryWriter]:
        """Make this the default writer in the block, with a default step if one is given; flush it at the end."""
        previous_state = STATE.writer, STATE.step
        self.set_as_default(step)
        try:
            yield self
            self.flush()
        finally:
            STATE.writer, STATE.step = previous_state

    def init(self) -> None:
        """Do nothing: a writer is ready when it is made."""

    def flush(self) -> None:
        """Write all buffered summaries to the file; in a traced function, each time it runs."""

    def close(self) -> None:
        """Complete the file; the writer cannot be the default one afterwards."""

    def _check_open(self) -> None:
        """Raise RuntimeError for a closed writer."""


class FileWriter(SummaryWriter):
    """A writer of one event file in a folder; the first event creates the file."""

    writes = True

    def __init__(self, folder: str, max_pending: int, flush_seconds: float, suffix: str) -> None:
        self._file = EventFile(folder, max_pending, flush_seconds, suffix)

    def flush(self) -> None:
        """Write all buffered summaries to the file; in a traced function, each time it runs."""
        call_on_run(self._file.flush)

    def close(self) -> None:
        """Complete the file; the writer cannot be the default one afterwards."""
        call_on_run(self._file.close)

    def add(self, event: Any) -> None:
        self._file.add(event)

    def _check_open(self) -> None:
        if self._file.is_closed and current_region() is None:
            raise RuntimeError(f"SummaryWriter {self!r} is already closed")


class EventFile:
    """The events of one writer, as records of a file."""

    def __init__(self, folder: str, max_pending: int, flush_seconds: float, suffix: str) -> None:
        self.is_closed = False
        self._folder = folder
        self._suffix = suffix
        self._max_pending, self._flush_seconds = max_pending, flush_seconds
        self._pending_count, self._flush_time = 0, time.monotonic()
        self._records: TFRecordWriter | None = None
        self._lock = new_lock()

    def add(self, event: Any) -> None:
        """Write an event, with the time; raises RuntimeError for a closed writer."""
        if self.is_closed:
            raise RuntimeError(f"the writer of {self._folder} is already closed")
        event.wall_time = time.time()
        with self._lock:
            self._open_records().write(event.SerializeToString())
            self._pending_count += 1
            if self._pending_count >= self._max_pending or time.monotonic() - self._flush_time >= self._flush_seconds:
                self.flush()

    def flush(self) -> None:
        """Write all buffered events to the file; without an effect on a closed one."""
        if not self.is_closed:
            with self._lock:
                self._open_records().flush()
                self._pending_count, self._flush_time = 0, time.monotonic()

    def close(self) -> None:
        """Complete the file; a second call has no effect."""
        with self._lock:
            if not self.is_closed:
                self._open_records().close()
                self.is_closed = True

    def reopen(self) -> None:
        """Let a closed writer write further events, to a new file."""
        with self._lock:
            if self.is_closed:
                self.is_closed, self._records = False, None

    def _open_records(self) -> TFRecordWriter:
        """Return the writer of the file; the first call makes the file, with its event of the version."""
        if self._records is None:
            os.makedirs(self._folder, exist_ok=True)
            file_id = f"{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{next(_FILE_NUMBERS)}"
            self._records = TFRecordWriter(
                os.path.join(self._folder, f"events.out.tfevents.{file_id}{self._suffix}")
            )
            version_event = messages("event").Event(wall_time=time.time(), file_version="brain.Event:2")
            version_event.source_metadata.writer = "autoconv.summary"
            self._records.write(version_event.SerializeToString())
        return self._records


def create_file_writer(
    logdir: str | bytes | os.PathLike[str], max_queue: int | None = None, flush_millis: int | None = None,
    filename_suffix: str | None = None, name: str | None = None, experimental_trackable: bool = False,
    experimental_mesh: Any = None,
) -> SummaryWriter:  # fmt: skip
    """Return a writer of an event file in a folder, which TensorBoard shows as a run.

    Events reach the file after `max_queue` of them (10), after `flush_millis` (two minutes), with `flush`, and at the
    end of the `as_default` block. `filename_suffix` ends the file's name (".v2"). Raises ImportError without the
    package tensorboard, and ValueError without a folder.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with autoconv.summary.create_file_writer(folder).as_default():
    ...     for step in range(3):
    ...         _ = autoconv.summary.scalar("loss", 1 / (step + 1), step=step)
    >>> len(os.listdir(folder))
    1
    """
    refuse_options("create_file_writer", experimental_mesh=experimental_mesh)
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    messages("event")  # raises ImportError now rather than at the first event
    flush_seconds = 120.0 if flush_millis is None else flush_millis / 1000
    suffix = ".v2" if filename_suffix is None else filename_suffix
    return FileWriter(os.fsdecode(logdir), 10 if max_queue is None else max_queue, flush_seconds, suffix)


def create_noop_writer() -> SummaryWriter:
    """Return a writer that writes nothing.

    >>> with autoconv.summary.create_noop_writer().as_default():
    ...     bool(autoconv.summary.should_record_summaries())
    False
    """
    return SummaryWriter()
