"""`tensorflow.compat.v1`, as a module of its own for imports from it."""

from __future__ import annotations

from typing import Any

from autoconv.compat import v1 as _own


def __getattr__(name: str) -> Any:
    """Return the name of `autoconv.compat.v1`; raises AttributeError where it has none."""
    return getattr(_own, name)
