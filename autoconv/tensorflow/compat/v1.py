"""`tensorflow.compat.v1`, as a module of its own for imports from it."""

from __future__ import annotations

from typing import Any

from autoconv.compat import v1 as _own


def __getattr__(name: str) -> Any:
    """Return the value of the name in `autoconv.compat.v1`; raises AttributeError without one."""
    return getattr(_own, name)
