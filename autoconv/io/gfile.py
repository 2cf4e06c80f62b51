"""Files and folders of this machine, by TensorFlow's names."""

from __future__ import annotations

import glob as _glob
import os
import shutil
from collections.abc import Iterator
from typing import IO, Any

from autoconv.api.files import file_errors
from autoconv.errors import AlreadyExistsError, NotFoundError
from autoconv.lazy_dataclass import dataclass

Path = str | bytes | os.PathLike[str]


def GFile(name: Path, mode: str = "r") -> IO[Any]:
    """Open a file: "r", "w" or "a", with "b" for bytes; raises NotFoundError without the file.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "file")
    >>> with autoconv.io.gfile.GFile(path, "w") as file:
    ...     _ = file.write("abc")
    >>> autoconv.io.gfile.GFile(path).read()
    'abc'
    """
    with file_errors(_text_path(name)):
        return open(_text_path(name), mode, encoding=None if "b" in mode else "utf-8")


def exists(path: Path) -> bool:
    """Return whether there is a file or folder.

    >>> autoconv.io.gfile.exists("no such file")
    False
    """
    return os.path.exists(_text_path(path))


def isdir(path: Path) -> bool:
    """Return whether there is a folder.

    >>> autoconv.io.gfile.isdir(".")
    True
    """
    return os.path.isdir(_text_path(path))


def listdir(path: Path) -> list[str]:
    """Return the names in a folder; raises NotFoundError if the folder does not exist.

    >>> import tempfile
    >>> autoconv.io.gfile.listdir(tempfile.mkdtemp())
    []
    """
    if not isdir(path):
        raise NotFoundError(f"Could not find directory {_text_path(path)}")
    return sorted(os.listdir(_text_path(path)))


def glob(pattern: Path | list[Path]) -> list[str]:
    """Return the files that match one or more patterns, sorted.

    >>> autoconv.io.gfile.glob("no such file*")
    []
    """
    patterns = pattern if isinstance(pattern, list) else [pattern]
    return sorted({path for each_pattern in patterns for path in _glob.glob(_text_path(each_pattern))})


def makedirs(path: Path) -> None:
    """Make a folder and its missing parents.

    >>> import tempfile
    >>> autoconv.io.gfile.makedirs(tempfile.mkdtemp() + "/a/b")
    """
    with file_errors(_text_path(path)):
        os.makedirs(_text_path(path), exist_ok=True)


def mkdir(path: Path) -> None:
    """Make a folder, unless it exists; raises NotFoundError without its parent.

    >>> import tempfile
    >>> autoconv.io.gfile.mkdir(tempfile.mkdtemp() + "/a")
    """
    if not isdir(path):
        with file_errors(_text_path(path)):
            os.mkdir(_text_path(path))


def remove(path: Path) -> None:
    """Remove a file; raises NotFoundError if the file does not exist.

    >>> import tempfile
    >>> autoconv.io.gfile.remove(tempfile.mkstemp()[1])
    """
    with file_errors(_text_path(path)):
        os.remove(_text_path(path))


def rmtree(path: Path) -> None:
    """Remove a folder with its contents; raises NotFoundError if the folder does not exist.

    >>> import tempfile
    >>> autoconv.io.gfile.rmtree(tempfile.mkdtemp())
    """
    if not exists(path):
        raise NotFoundError(f"{_text_path(path)} not found")
    with file_errors(_text_path(path)):
        shutil.rmtree(_text_path(path))


def copy(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Copy a file; raises AlreadyExistsError if `dst` exists, unless `overwrite`.

    >>> import tempfile
    >>> path = tempfile.mkstemp()[1]
    >>> autoconv.io.gfile.copy(path, path + ".copy")
    """
    if exists(dst) and not overwrite:
        raise AlreadyExistsError("file already exists")
    with file_errors(_text_path(src)):
        shutil.copyfile(_text_path(src), _text_path(dst))


def rename(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Rename a file or folder; raises AlreadyExistsError if `dst` exists, unless `overwrite`.

    >>> import tempfile
    >>> path = tempfile.mkstemp()[1]
    >>> autoconv.io.gfile.rename(path, path + ".new")
    """
    if exists(dst) and not overwrite:
        raise AlreadyExistsError("file already exists")
    with file_errors(_text_path(src)):
        os.replace(_text_path(src), _text_path(dst))


@dataclass(frozen=True)
class FileStatistics:
    """The size of a file in bytes, the time of its last change in nanoseconds, and whether it is a folder."""

    length: int
    mtime_nsec: int
    is_directory: bool


def stat(path: Path) -> FileStatistics:
    """Return the size and the time of a file; raises NotFoundError if the file does not exist.

    >>> import tempfile
    >>> autoconv.io.gfile.stat(tempfile.mkstemp()[1]).length
    0
    """
    with file_errors(_text_path(path)):
        status = os.stat(_text_path(path))
    return FileStatistics(status.st_size, status.st_mtime_ns, isdir(path))


def walk(top: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Iterate over a folder and its subfolders: path, names of folders, names of files.

    >>> import tempfile
    >>> len(list(autoconv.io.gfile.walk(tempfile.mkdtemp())))
    1
    """
    return os.walk(_text_path(top))


def join(path: Path, *paths: Path) -> str:
    """Return joined parts of a path.

    >>> autoconv.io.gfile.join("a", "b")
    'a/b'
    """
    return os.path.join(_text_path(path), *map(_text_path, paths))


def get_registered_schemes() -> list[str]:
    """Return the supported prefixes of paths: those of local files.

    >>> autoconv.io.gfile.get_registered_schemes()
    ['', 'file']
    """
    return ["", "file"]


def _text_path(path: Path) -> str:
    """Return a path as text, given as text, bytes or a path object."""
    return os.fsdecode(path)


__all__ = [
    "GFile", "copy", "exists", "get_registered_schemes", "glob", "isdir", "join", "listdir", "makedirs", "mkdir",
    "remove", "rename", "rmtree", "stat", "walk",
]  # fmt: skip
