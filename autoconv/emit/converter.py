"""Identity of the converter, so that each version uses only its own cached results."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import sys
from pathlib import Path

from autoconv.config.package_version import files_key

_FOLDERS = ("analysis", "emit", "passes", "syntax")


@functools.cache
def converter_key() -> str:
    """Return a key of this converter: Python's version, and the state of the converter's and gast's files.

    gast is located without importing it.
    """
    fingerprints = [sys.version, files_key(_FOLDERS)]
    gast_spec = importlib.util.find_spec("gast")
    if gast_spec is not None and gast_spec.origin:
        fingerprints.append(_folder_fingerprint(Path(gast_spec.origin).parent))
    return hashlib.sha256("\0".join(fingerprints).encode()).hexdigest()


def _folder_fingerprint(folder: Path) -> str:
    """Return the names, sizes and modification times of a folder's Python files as text."""
    with os.scandir(folder) as entries:
        files = sorted((entry.name, entry.stat()) for entry in entries if entry.name.endswith(".py"))
    return "\n".join(f"{name}:{status.st_size}:{status.st_mtime_ns}" for name, status in files)
