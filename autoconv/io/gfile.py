"""Files and folders of this machine, by TensorFlow's names."""

from __future__ import annotations

import glob as _glob
import os
import shutil
from collections.abc import Iterator
from typing import IO, Any

from autoconv.errors import InvalidArgumentError, NotFoundError

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
    try:
        return open(_name(name), mode, encoding=None if "b" in mode else "utf-8")
    except FileNotFoundError:
        raise NotFoundError(f"{_name(name)}; No such file or directory") from None


def exists(path: Path) -> bool:
    """Return whether there is a file or folder.

    >>> autoconv.io.gfile.exists("no such file")
    False
    """
    return os.path.exists(_name(path))


def isdir(path: Path) -> bool:
    """Return whether there is a folder.

    >>> autoconv.io.gfile.isdir(".")
    True
    """
    return os.path.isdir(_name(path))


def listdir(path: Path) -> list[str]:
    """Return the names in a folder; raises NotFoundError without it.

    >>> import tempfile
    >>> autoconv.io.gfile.listdir(tempfile.mkdtemp())
    []
    """
    if not isdir(path):
        raise NotFoundError(f"Could not find directory {_name(path)}")
    return sorted(os.listdir(_name(path)))


def glob(pattern: Path | list[Path]) -> list[str]:
    """Return the files that match one or more patterns, sorted.

    >>> autoconv.io.gfile.glob("no such file*")
    []
    """
    patterns = pattern if isinstance(pattern, list) else [pattern]
    return sorted({path for one in patterns for path in _glob.glob(_name(one))})


def makedirs(path: Path) -> None:
    """Make a folder and those around it.

    >>> import tempfile
    >>> autoconv.io.gfile.makedirs(tempfile.mkdtemp() + "/a/b")
    """
    os.makedirs(_name(path), exist_ok=True)


mkdir = makedirs


def remove(path: Path) -> None:
    """Remove a file; raises NotFoundError without it.

    >>> import tempfile
    >>> autoconv.io.gfile.remove(tempfile.mkstemp()[1])
    """
    if not exists(path):
        raise NotFoundError(f"{_name(path)}; No such file or directory")
    os.remove(_name(path))


def rmtree(path: Path) -> None:
    """Remove a folder and what is in it; raises NotFoundError without it.

    >>> import tempfile
    >>> autoconv.io.gfile.rmtree(tempfile.mkdtemp())
    """
    if not exists(path):
        raise NotFoundError(f"{_name(path)}; No such file or directory")
    shutil.rmtree(_name(path))


def copy(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Copy a file; raises InvalidArgumentError where there is one already, unless `overwrite`.

    >>> import tempfile
    >>> path = tempfile.mkstemp()[1]
    >>> autoconv.io.gfile.copy(path, path + ".copy")
    """
    if exists(dst) and not overwrite:
        raise InvalidArgumentError(f"{_name(dst)}: file already exists")
    shutil.copyfile(_name(src), _name(dst))


def rename(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Rename a file or folder; raises InvalidArgumentError where there is one already, unless `overwrite`.

    >>> import tempfile
    >>> path = tempfile.mkstemp()[1]
    >>> autoconv.io.gfile.rename(path, path + ".new")
    """
    if exists(dst) and not overwrite:
        raise InvalidArgumentError(f"{_name(dst)}: file already exists")
    os.replace(_name(src), _name(dst))


def stat(path: Path) -> os.stat_result:
    """Return the size and times of a file.

    >>> import tempfile
    >>> autoconv.io.gfile.stat(tempfile.mkstemp()[1]).st_size
    0
    """
    return os.stat(_name(path))


def walk(top: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Iterate over a folder and those in it: path, names of folders, names of files.

    >>> import tempfile
    >>> len(list(autoconv.io.gfile.walk(tempfile.mkdtemp())))
    1
    """
    return os.walk(_name(top))


def join(path: Path, *paths: Path) -> str:
    """Return joined parts of a path.

    >>> autoconv.io.gfile.join("a", "b")
    'a/b'
    """
    return os.path.join(_name(path), *map(_name, paths))


def _name(path: Path) -> str:
    return os.fsdecode(path)


__all__ = [
    "GFile", "copy", "exists", "glob", "isdir", "join", "listdir", "makedirs", "mkdir", "remove", "rename", "rmtree",
    "stat", "walk",
]  # fmt: skip


def get_registered_schemes() -> list[str]:
    """Return the prefixes of paths that are understood: those of this machine's files.

    >>> autoconv.io.gfile.get_registered_schemes()
    ['', 'file']
    """
    return ["", "file"]
