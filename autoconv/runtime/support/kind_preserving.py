"""This package's functions whose results are of the kind of their arguments: arrays for arrays."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, TypeVar

_Marked = TypeVar("_Marked", bound=Callable[..., Any])
_CODES: set[types.CodeType] = set()


def kind_preserving(function: _Marked) -> _Marked:
    """Mark a function that gives arrays for arrays, so that a trace of arrays may call it."""
    _CODES.add(function.__code__)
    return function


def is_kind_preserving(function: object) -> bool:
    """Return whether a function, or the one that it wraps, is marked."""
    return any(getattr(each, "__code__", None) in _CODES for each in (function, getattr(function, "__wrapped__", None)))


__all__ = ["is_kind_preserving", "kind_preserving"]
