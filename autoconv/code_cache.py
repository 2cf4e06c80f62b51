"""Code on disk, so that a process does not make what an earlier one did.

A folder is trusted as far as its owner: it has to be a folder of this user's that nobody else can enter or
write to, and no link; otherwise nothing is read or written. An entry is its data behind a checksum of them and of the
key, so that an entry under the key of another is none. It is written beside its place and moved there, so that
processes never see half of one. What does not check is made anew.
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

from autoconv.config import cache_folder

_CHECKSUM = 32
_PRUNE_EVERY = 64  # entries that are written, in the mean, between two looks at the size of the folder


class CodeCache:
    """The entries of one kind, in the folder `name` of the cache: up to `limit` bytes and `most` entries."""

    def __init__(self, name: str, what: str, limit: int, most: int = 20_000) -> None:
        self.name = name
        self.what = what
        self.limit = limit
        self.most = most

    def folder(self) -> Path:
        return cache_folder() / self.name

    def load(self, key: str) -> bytes | None:
        """What was kept under that key, None where there is no sound entry."""
        folder = self.folder()
        if not _is_trusted(folder):
            return None
        try:
            data = _content(folder / f"{key}.o", self.limit)
        except OSError:
            return None
        code = data[_CHECKSUM:]
        return code if self._checksum(key, code) == data[:_CHECKSUM] else None

    def store(self, key: str, code: bytes) -> None:
        """Keeps the code; a folder that cannot be used is left alone."""
        folder = self.folder()
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
        if zlib.crc32(key.encode()) % _PRUNE_EVERY == 0:  # not counted: most processes write only a few
            self.prune()

    def _checksum(self, key: str, code: bytes) -> bytes:
        found = hashlib.sha256(f"{self.name}\0{key}\0".encode())
        found.update(code)
        return found.digest()

    def prune(self) -> None:
        """Removes the oldest entries until the rest is within the limits."""
        found = sorted(self.entries(), key=lambda entry: entry[2], reverse=True)
        total = 0
        for count, (path, size, _) in enumerate(found):
            total += size
            if total > self.limit or count >= self.most:
                with contextlib.suppress(OSError):
                    path.unlink()

    def clear(self) -> int:
        """Removes every entry; answers how many there were."""
        count = 0
        for path, _, _ in self.entries():
            with contextlib.suppress(OSError):
                path.unlink()
                count += 1
        return count

    def entries(self) -> list[tuple[Path, int, float]]:
        """Path, bytes and time of each entry; none of a folder that is not to be trusted."""
        found = []
        if _is_trusted(self.folder()):
            for path in self.folder().glob("*.o"):
                with contextlib.suppress(OSError):
                    facts = path.lstat()
                    found.append((path, facts.st_size, facts.st_mtime))
        return found


NATIVE = CodeCache("native", "pieces of machine code", 256 << 20)
FUNCTIONS = CodeCache("functions", "converted functions", 64 << 20)
CACHES = (NATIVE, FUNCTIONS)


def _content(path: Path, limit: int) -> bytes:
    """The bytes of a file of this user's; none of what is no file, of one that others can write to, and of one that is
    larger than the limit. Raises OSError."""
    # A pipe in the place of a file is opened without waiting for who writes to it.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o022:
            return b""
        if facts.st_size > limit + _CHECKSUM:
            return b""
        with open(descriptor, "rb", closefd=False) as stream:
            return stream.read()
    finally:
        os.close(descriptor)


def _is_trusted(folder: Path) -> bool:
    try:
        facts = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o077
