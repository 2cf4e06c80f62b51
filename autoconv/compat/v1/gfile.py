"""The functions of `io.gfile` by their names in version 1."""

from __future__ import annotations

from typing import Any

from autoconv.io import gfile

_NAMES = {
    "Copy": "copy", "DeleteRecursively": "rmtree", "Exists": "exists", "FastGFile": "GFile", "GFile": "GFile",
    "Glob": "glob", "IsDirectory": "isdir", "ListDirectory": "listdir", "MakeDirs": "makedirs", "MkDir": "mkdir",
    "Open": "GFile", "Remove": "remove", "Rename": "rename", "Stat": "stat", "Walk": "walk",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Return the function of `io.gfile` that corresponds to a name of version 1."""
    if name not in _NAMES or not hasattr(gfile, _NAMES[name]):
        raise AttributeError(f"module 'autoconv.compat.v1.gfile' has no attribute {name!r}")
    return getattr(gfile, _NAMES[name])
