"""Hooks: functions that a lower module calls and a higher module provides.

A module may import only what lies below it. Where it needs a function from above, it declares a hook, and the module
that defines the function sets it. The first call imports that module by name if nothing has imported it yet.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


class Hook:
    """A function that the module `provider` sets when it is imported.

    >>> double = Hook("doubling")
    >>> double.set(lambda x: 2 * x)
    >>> double(21)
    42
    """

    __slots__ = ("_function", "_provider")

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._function: Callable[..., Any] | None = None

    def set(self, function: Callable[..., Any]) -> None:
        """Provide the function, once. Raise RuntimeError if another one was set before."""
        if self._function is not None and self._function is not function:
            raise RuntimeError(f"the hook that {self._provider} provides is set already")
        self._function = function

    @property
    def is_set(self) -> bool:
        """True if the module that provides the function is imported."""
        return self._function is not None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._function is None:
            import_module(self._provider)
            if self._function is None:
                raise RuntimeError(f"{self._provider} does not set its hook")
        return self._function(*args, **kwargs)
