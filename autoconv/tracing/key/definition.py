"""The parts of a Python function that a program may replace."""

from __future__ import annotations

from typing import Any


def definition_of(function: Any) -> tuple[Any, ...]:
    """Return the code and the defaults of a function; None for what a callable does not have."""
    return tuple(getattr(function, name, None) for name in ("__code__", "__defaults__", "__kwdefaults__"))


_MISSING = object()


class Definition:
    """The code and the defaults of a function at one time. Keyword defaults are compared by item as well."""

    __slots__ = ("_keyword_defaults", "_parts")

    def __init__(self, function: Any) -> None:
        self._parts = definition_of(function)
        _, _, keyword_defaults = self._parts
        self._keyword_defaults = dict(keyword_defaults or {})

    def still_describes(self, function: Any) -> bool:
        """Return whether the function still has this code and these defaults."""
        code, defaults, keyword_defaults = self._parts
        return (
            getattr(function, "__code__", None) is code
            and getattr(function, "__defaults__", None) is defaults
            and getattr(function, "__kwdefaults__", None) is keyword_defaults
            and (not (self._keyword_defaults or keyword_defaults) or self._has_same_keyword_defaults(keyword_defaults))
        )

    def _has_same_keyword_defaults(self, keyword_defaults: Any) -> bool:
        """Return whether the dict still has the same items, by identity of the values."""
        expected = self._keyword_defaults
        return len(expected) == len(keyword_defaults or ()) and all(
            keyword_defaults.get(name, _MISSING) is value for name, value in expected.items()
        )
