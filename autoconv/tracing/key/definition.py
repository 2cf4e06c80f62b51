"""The parts of a Python function that a program may replace."""

from __future__ import annotations

import operator
from typing import Any


def definition_of(function: Any) -> tuple[Any, Any, Any]:
    """Return the code and the defaults of a function; None for what a callable does not have."""
    names = "__code__", "__defaults__", "__kwdefaults__"
    code, defaults, keyword_defaults = (getattr(function, name, None) for name in names)
    return code, defaults, keyword_defaults


def has_definition(function: Any, definition: tuple[Any, Any, Any]) -> bool:
    """Return whether the function still has this code and these defaults."""
    return all(map(operator.is_, definition_of(function), definition))


__all__ = ["definition_of", "has_definition"]
