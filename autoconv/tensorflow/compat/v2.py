"""`tensorflow.compat.v2`: the names of version 2, as a module of its own for imports of it."""

from __future__ import annotations

import autoconv


def __getattr__(name: str) -> object:
    return getattr(autoconv, name)
