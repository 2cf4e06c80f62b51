"""Cache of code on disk, shared by successive processes.

A folder is trusted only if it belongs to this user, no other user can enter or write to it, and it is not a link;
otherwise nothing is read or written. An entry is a file of a checksum and the data. The checksum covers the key, so
that an entry stored under another key is invalid. The file is written under a temporary name and renamed, so that no
process reads a partial one. An invalid entry is rebuilt.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import threading
import time
import zlib
from pathlib import Path
from typing import NamedTuple

from autoconv.config import cache_folder

_CHECKSUM_BYTES = 32  # bytes (SHA-256)
_PRUNE_EVERY = 256  # average number of writes between two checks of the folder's size


class CacheFile(NamedTuple):
    """The file of an entry: its path, its size in bytes, and the time of its last change, in seconds."""

    path: str
    size: int
    time: float


class CodeCache:
    """Entries of one kind, in the folder `name` of the cache: at most `byte_limit` bytes and `entry_limit` entries."""

    __slots__ = ("byte_limit", "description", "entry_limit", "name")

    def __init__(self, name: str, description: str, byte_limit: int, entry_limit: int = 20_000) -> None:
        self.name = name
        self.description = description
        self.byte_limit = byte_limit
        self.entry_limit = entry_limit

    def folder(self) -> Path | None:
        """Return the folder of the entries; None if the cache is switched off."""
        folder = cache_folder()
        return None if folder is None else folder / self.name

    def load(self, key: str) -> bytes | None:
        """Return the code stored under the key; None if there is no valid entry."""
        folder = self.folder()
        if folder is None or not _is_trusted(folder):
            return None
        try:
            data = _read_file(folder / f"{key}.o", self.byte_limit)
        except OSError:
            return None
        code = data[_CHECKSUM_BYTES:]
        return code if self._checksum(key, code) == data[:_CHECKSUM_BYTES] else None

    def store(self, key: str, code: bytes) -> None:
        """Store the code; without effect if the cache is switched off or its folder is unusable."""
        folder = self.folder()
        if folder is None:
            return
        with contextlib.suppress(OSError):
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
        if not _is_trusted(folder):
            return
        with contextlib.suppress(OSError):
            temporary = folder / f".new-{os.getpid()}-{threading.get_ident()}-{time.monotonic_ns()}"
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                with open(descriptor, "wb") as stream:
                    stream.write(self._checksum(key, code) + code)
                os.replace(temporary, folder / f"{key}.o")
            except BaseException:
                os.unlink(temporary)
                raise
        if zlib.crc32(key.encode()) % _PRUNE_EVERY == 0:  # by key, without a counter: most processes write only a few
            self.prune()

    def _checksum(self, key: str, code: bytes) -> bytes:
        """Return the bytes that precede the code in its file."""
        hash_state = hashlib.sha256(f"{self.name}\0{key}\0".encode())
        hash_state.update(code)
        return hash_state.digest()

    def prune(self) -> None:
        """Remove the oldest entries until the remaining ones are within the limits."""
        newest_first = sorted(self.files(), key=lambda file: file.time, reverse=True)
        total_bytes = 0
        for position, file in enumerate(newest_first):
            total_bytes += file.size
            if total_bytes > self.byte_limit or position >= self.entry_limit:
                with contextlib.suppress(OSError):
                    os.unlink(file.path)

    def clear(self) -> int:
        """Remove every entry; return how many there were."""
        count = 0
        for file in self.files():
            with contextlib.suppress(OSError):
                os.unlink(file.path)
                count += 1
        return count

    def files(self) -> list[CacheFile]:
        """Return the files of all entries; none for an untrusted folder."""
        folder = self.folder()
        result: list[CacheFile] = []
        if folder is None or not _is_trusted(folder):
            return result
        with contextlib.suppress(OSError), os.scandir(folder) as files:
            for file in files:
                if file.name.endswith(".o"):
                    with contextlib.suppress(OSError):
                        status = file.stat(follow_symlinks=False)
                        result.append(CacheFile(file.path, status.st_size, status.st_mtime))
        return result


NATIVE = CodeCache("native", "pieces of machine code", 256 << 20)
FUNCTIONS = CodeCache("functions", "converted functions", 64 << 20)
GRAPHS = CodeCache("graphs", "compiled graphs", 64 << 20)
STARTS = CodeCache("starts", "files that were run", 1 << 20)
XLA = CodeCache("xla", "modules compiled by XLA", 256 << 20)
CACHES = (NATIVE, GRAPHS, FUNCTIONS, STARTS, XLA)


def _read_file(path: Path, byte_limit: int) -> bytes:
    """Return the bytes of a file of this user; empty if it is no regular file, writable by others, or too large.

    Raises OSError.
    """
    # O_NONBLOCK: opening a pipe in its place must not wait for a writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
            return b""
        if status.st_size > byte_limit + _CHECKSUM_BYTES:
            return b""
        with open(descriptor, "rb", closefd=False) as stream:
            return stream.read()
    finally:
        os.close(descriptor)


def _is_trusted(folder: Path) -> bool:
    """Return whether the folder belongs to this user, and is closed to others."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077
