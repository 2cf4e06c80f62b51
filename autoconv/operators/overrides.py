"""What stands for Python's builtins in traced code, by what they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

OVERRIDES: dict[Any, Callable[..., Any]] = {}


def overrides(function: Any) -> Callable[[Any], Any]:
    """Registers what is decorated with it in the place of `function`."""

    def register(replacement: Any) -> Any:
        OVERRIDES[function] = replacement
        return replacement

    return register


__all__ = ["OVERRIDES", "overrides"]
