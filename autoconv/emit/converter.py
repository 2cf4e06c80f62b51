"""Tells one converter from another, so that what one of them made is not taken for another's."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import sys
from pathlib import Path

_PARTS = ("analysis", "emit", "passes", "syntax")


@functools.cache
def converter() -> str:
    """A text for this converter: Python's version, and size and time of the files that it is made of, so that a
    changed one counts; gast's too, found without importing it."""
    folder = Path(__file__).parents[1]
    state = [sys.version, *(_state(folder / part) for part in _PARTS)]
    found = importlib.util.find_spec("gast")
    if found is not None and found.origin:
        state.append(_state(Path(found.origin).parent))
    return hashlib.sha256("\0".join(state).encode()).hexdigest()


def _state(folder: Path) -> str:
    with os.scandir(folder) as entries:
        files = sorted((entry.name, entry.stat()) for entry in entries if entry.name.endswith(".py"))
    return "\n".join(f"{name}:{facts.st_size}:{facts.st_mtime_ns}" for name, facts in files)
