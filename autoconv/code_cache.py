"""Machine code on disk, so that a process does not compile what an earlier one did.

The folder is trusted as far as its owner: it has to be a folder of this user's that nobody else can enter or
write to, and no link; otherwise nothing is read or written. An entry is an object file behind its checksum; it is
written beside its place and moved there, so that processes never see half of one. What does not check is made anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from pathlib import Path

from autoconv.config import cache_folder

LIMIT = 256 << 20  # bytes that all entries together may take
MOST = 20_000  # entries
_CHECKSUM = 32
_PRUNE_EVERY = 64  # entries written between two looks at the size of the folder

_written = 0


def folder() -> Path:
    return cache_folder() / "native"


def load(key: str) -> bytes | None:
    """The object file of that key, None where there is no sound one."""
    if not _is_trusted():
        return None
    try:
        descriptor = os.open(folder() / f"{key}.o", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(descriptor, "rb") as stream:
            facts = os.fstat(descriptor)
            if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o022:
                return None
            data = stream.read()
    except OSError:
        return None
    code = data[_CHECKSUM:]
    return code if hashlib.sha256(code).digest() == data[:_CHECKSUM] else None


def store(key: str, code: bytes) -> None:
    """Keeps an object file; a folder that cannot be used is left alone."""
    global _written
    with contextlib.suppress(OSError):
        folder().parent.mkdir(parents=True, exist_ok=True)
        folder().mkdir(mode=0o700, exist_ok=True)
    if not _is_trusted():
        return
    with contextlib.suppress(OSError):
        descriptor, temporary = tempfile.mkstemp(dir=folder(), prefix=".new-")
        try:
            with open(descriptor, "wb") as stream:
                stream.write(hashlib.sha256(code).digest() + code)
            os.replace(temporary, folder() / f"{key}.o")
        except BaseException:
            os.unlink(temporary)
            raise
    _written += 1
    if _written % _PRUNE_EVERY == 0:
        prune()


def prune(limit: int = LIMIT) -> None:
    """Removes the oldest entries until the rest fits into `limit` bytes, and is no more than MOST."""
    found = sorted(entries(), key=lambda entry: entry[2], reverse=True)
    total = 0
    for count, (path, size, _) in enumerate(found):
        total += size
        if total > limit or count >= MOST:
            with contextlib.suppress(OSError):
                path.unlink()


def clear() -> int:
    """Removes every entry; answers how many there were."""
    count = 0
    for path, _, _ in entries():
        with contextlib.suppress(OSError):
            path.unlink()
            count += 1
    return count


def entries() -> list[tuple[Path, int, float]]:
    """Path, bytes and time of each entry; none of a folder that is not to be trusted."""
    found = []
    if _is_trusted():
        for path in folder().glob("*.o"):
            with contextlib.suppress(OSError):
                facts = path.lstat()
                found.append((path, facts.st_size, facts.st_mtime))
    return found


def _is_trusted() -> bool:
    try:
        facts = os.lstat(folder())
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid() and not facts.st_mode & 0o077
