"""What NumPy is asked to do about errors of floats (np.errstate, np.seterr), which plain Python has to do.

NumPy 2 keeps that in a context variable. While this has its default, nothing was asked for, and a look is cheap.
"""

from __future__ import annotations

import contextvars
import sys
from typing import Any

import numpy as np

_FOUND = getattr(sys.modules.get("numpy._core.umath"), "_extobj_contextvar", None)  # older versions have none
VARIABLE: contextvars.ContextVar[Any] | None = _FOUND if isinstance(_FOUND, contextvars.ContextVar) else None
DEFAULT = contextvars.Context().run(VARIABLE.get) if VARIABLE is not None else None


def acts_on_floats() -> bool:
    """Return whether NumPy is asked to do more than to warn where a float overflows or is none."""
    if VARIABLE is not None and VARIABLE.get() is DEFAULT:
        return False
    return not {"raise", "call", "print", "log"}.isdisjoint(np.geterr().values())


__all__ = ["DEFAULT", "VARIABLE", "acts_on_floats"]
