"""Identity of the converter, so that each version uses only its own cached results."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import sys
from pathlib import Path

from autoconv.paths import PACKAGE

_PARTS = ("analysis", "emit", "passes", "syntax")


@functools.cache
def converter() -> str:
    """Return a key of this converter: Python's version, and size and time of the converter's and gast's files.

    gast is located without importing it.
    """
    state = [sys.version, *(_state(Path(PACKAGE) / part) for part in _PARTS)]
    spec = importlib.util.find_spec("gast")
    if spec is not None and spec.origin:
        state.append(_state(Path(spec.origin).parent))
    return hashlib.sha256("\0".join(state).encode()).hexdigest()


def _state(folder: Path) -> str:
    with os.scandir(folder) as entries:
        files = sorted((entry.name, entry.stat()) for entry in entries if entry.name.endswith(".py"))
    return "\n".join(f"{name}:{facts.st_size}:{facts.st_mtime_ns}" for name, facts in files)
