"""The mark of this package's functions whose results are of the kind of their arguments: arrays of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_Marked = TypeVar("_Marked", bound=Callable[..., Any])


def kind_preserving(function: _Marked) -> _Marked:
    """Mark a function that gives arrays for arrays, so that a trace of arrays may call it; it is not converted."""
    function.__autoconv_keeps_kinds__ = True  # type: ignore[attr-defined]
    function.__autoconv_do_not_convert__ = True  # type: ignore[attr-defined]
    return function


__all__ = ["kind_preserving"]
