"""The parts of a Python function that a program may replace."""

from __future__ import annotations

from typing import Any


def definition_of(function: Any) -> tuple[Any, ...]:
    """Return the code and the defaults of a function; None for what a callable does not have."""
    return tuple(getattr(function, name, None) for name in ("__code__", "__defaults__", "__kwdefaults__"))


def has_definition(function: Any, definition: tuple[Any, ...]) -> bool:
    """Return whether the function still has this code and these defaults."""
    code, defaults, keyword_defaults = definition
    return (
        getattr(function, "__code__", None) is code
        and getattr(function, "__defaults__", None) is defaults
        and getattr(function, "__kwdefaults__", None) is keyword_defaults
    )


__all__ = ["definition_of", "has_definition"]
