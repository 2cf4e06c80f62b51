"""Replacements of Python's builtins in traced code, keyed by the builtin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

OVERRIDES: dict[Any, Callable[..., Any]] = {}


def overrides(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """Decorator that registers a replacement of `function`."""

    def register(replacement: Any) -> Any:
        OVERRIDES[function] = replacement
        return replacement

    return register
