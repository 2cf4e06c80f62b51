"""NumPy's floating-point error state (np.errstate, np.seterr), which only plain Python can honour.

NumPy 2 keeps it in a context variable. While the variable has its default, nothing was requested, and the test is
cheap.
"""

from __future__ import annotations

import contextvars
import sys
from typing import Any

import numpy as np

_FOUND = getattr(sys.modules.get("numpy._core.umath"), "_extobj_contextvar", None)  # missing in older versions
VARIABLE: contextvars.ContextVar[Any] | None = _FOUND if isinstance(_FOUND, contextvars.ContextVar) else None
DEFAULT = contextvars.Context().run(VARIABLE.get) if VARIABLE is not None else None


def acts_on_floats() -> bool:
    """Return whether NumPy is set to do more than warn about floating-point errors."""
    if VARIABLE is not None and VARIABLE.get() is DEFAULT:
        return False
    return not {"raise", "call", "print", "log"}.isdisjoint(np.geterr().values())


__all__ = ["DEFAULT", "VARIABLE", "acts_on_floats"]
