"""Functions of this package that traced code may call without conversion.

Their results are arrays for arrays, and tensors for tensors.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])
_MARKED_CODES: set[types.CodeType] = set()


def called_unconverted(function: _Function) -> _Function:
    """Mark a function that returns arrays for arrays: traced code may call it without conversion."""
    _MARKED_CODES.add(function.__code__)
    return function


def is_called_unconverted(function: object) -> bool:
    """Return whether a function, or the one that it wraps, is marked."""
    functions = (function, getattr(function, "__wrapped__", None))
    return any(getattr(candidate, "__code__", None) in _MARKED_CODES for candidate in functions)
