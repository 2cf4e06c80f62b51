"""Write files completely or not at all, and JSON documents with checksums."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from typing import Any

from autoconv.errors import DataLossError, NotFoundError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def replacing(path: str) -> Iterator[str]:
    """Yield the name of a private temporary file beside `path`, which takes the place of `path` at the end.

    After an exception, a full disk included, `path` is as before and the temporary file is gone. An OSError of the disk
    names `path`.
    """
    folder, name = os.path.split(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(prefix=f".{name}.", suffix=".partial", dir=folder)
    os.close(handle)
    try:
        yield temporary
        _sync(temporary)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename in (None, temporary):
            _name_in_disk_error(error, path)
        raise


_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)


def _name_in_disk_error(error: OSError, path: str) -> None:
    """Set the path of an error of the disk, such as a full disk."""
    if error.errno in _DISK_ERRORS:
        error.filename = path


@contextlib.contextmanager
def naming_disk_errors(path: str) -> Iterator[None]:
    """Set `path` in errors of the disk in the `with` block; errors of writes to an open file name no path."""
    try:
        yield
    except OSError as error:
        _name_in_disk_error(error, path)
        raise


@contextlib.contextmanager
def folder_lock(folder: str, shared: bool = False) -> Iterator[None]:
    """Wait until no other process or thread has the lock of a folder, and hold it in the `with` block.

    With `shared`, several processes or threads may hold the lock at once. Where the system or the file system has no
    locks, nothing is locked.
    """
    handle = None
    try:
        if fcntl is not None:
            with contextlib.suppress(OSError):
                handle = os.open(folder or ".", os.O_RDONLY)
                fcntl.flock(handle, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        if handle is not None:
            os.close(handle)


def write_json(path: str, content: dict[str, Any]) -> None:
    """Write a document with the checksum of its content."""
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
        file.write(document_text(content))


def read_json(path: str, file_kind: str) -> dict[str, Any]:
    """Return the content of a document that `write_json` wrote.

    Raises NotFoundError without the file, and DataLossError where it is damaged or is not such a document; `file_kind`
    names the kind of file in messages.
    """
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        raise NotFoundError(f"{path}: there is no such {file_kind}.") from None
    except ValueError as error:
        raise DataLossError(f"{path} is no {file_kind}, or it is damaged: {error}") from None
    return document_content(text, path, file_kind)


def document_text(content: dict[str, Any]) -> str:
    """Return a document as text: the content, and its checksum."""
    body = _canonical_text(content)
    return f'{{"sha256": "{_digest(body)}",\n"content": {body}}}\n'


def document_content(text: str, path: str, file_kind: str) -> dict[str, Any]:
    """Return the content of a document's text, which is in the file `path`; raises DataLossError as `read_json`."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataLossError(f"{path} is no {file_kind}, or it is damaged: {error}") from None
    content = document.get("content") if isinstance(document, dict) else None
    if not isinstance(content, dict):
        raise DataLossError(f"{path} is no {file_kind}.")
    if _digest(_canonical_text(content)) != document.get("sha256"):
        raise DataLossError(f"{path} is damaged: its checksum differs from its content.")
    return content


def _canonical_text(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()


def _sync(path: str) -> None:
    """Write the file's bytes to the disk, so that the new name never refers to an empty file after a crash."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    """Return the permissions that new files lack; the system returns them only when it sets others."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
