"""`tensorflow.compat`, as a module of its own for imports from it."""

from __future__ import annotations

from typing import Any

from autoconv import compat
from autoconv.tensorflow.compat import v1

__all__ = ["v1"]


def __getattr__(name: str) -> Any:
    return getattr(compat, name)
