"""What NumPy is asked to do about errors of floats (np.errstate, np.seterr), which plain Python has to do.

NumPy 2 keeps that in a context variable. While this has its default, nothing was asked for, and a look is cheap.
"""

from __future__ import annotations

import contextvars
from typing import Any

import numpy as np


try:
    from numpy._core.umath import _extobj_contextvar as _FOUND  # type: ignore[attr-defined]
except ImportError:  # of another version of NumPy
    _FOUND = None

VARIABLE: contextvars.ContextVar[Any] | None = _FOUND if isinstance(_FOUND, contextvars.ContextVar) else None
DEFAULT = contextvars.Context().run(VARIABLE.get) if VARIABLE is not None else None


def acts_on_floats() -> bool:
    """Return whether NumPy is asked to do more than to warn where a float overflows or is none."""
    if VARIABLE is not None and VARIABLE.get() is DEFAULT:
        return False
    return not {"raise", "call", "print", "log"}.isdisjoint(np.geterr().values())


__all__ = ["DEFAULT", "VARIABLE", "acts_on_floats"]
