"""Generation of Python functions specialised for particular values."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

_MOST_LINES = 500  # of a generated function


class TooLong(Exception):
    """The function would have too many lines."""


class FunctionWriter:
    """Writes a function statement by statement; it returns `otherwise` as soon as a requirement fails or raises."""

    def __init__(self, parameters: str = "", otherwise: str = "None") -> None:
        self._header = f"def function({parameters}):"
        self._otherwise = otherwise
        self._lines: list[str] = []
        self._constants: dict[str, Any] = {}

    def finish(self, answer: str) -> Callable[..., Any]:
        lines = (*self._lines, f"return {answer}")
        body = "\n".join(f"        {line}" for line in lines)
        text = f"{self._header}\n    try:\n{body}\n    except Exception:\n        return {self._otherwise}\n"
        exec(compile(text, "<written for a trace>", "exec"), self._constants)
        function: Callable[..., Any] = self._constants["function"]
        return function

    def constant(self, value: Any) -> str:
        """Return a name for the value."""
        name = f"k{len(self._constants)}"
        self._constants[name] = value
        return name

    def variable(self, expression: str) -> str:
        """Assign the expression to a variable; return its name."""
        name = f"v{len(self._lines)}"
        self._write(f"{name} = {expression}")
        return name

    def require(self, condition: str) -> None:
        self._write(f"if not ({condition}): return {self._otherwise}")

    def require_same(self, value: Any, place: str) -> None:
        """Require the same object, without keeping it alive where possible."""
        try:
            self.require(f"{self.constant(weakref.ref(value))}() is {place}")
        except TypeError:
            self.require(f"{place} is {self.constant(value)}")

    def require_plain(self, value: Any, place: str) -> None:
        """Require that the variable `place` holds an equivalent number or text of the same class."""
        constant, kind = self.constant(value), self.constant(type(value))
        same = "{0} == {1}"
        if isinstance(value, complex) or (isinstance(value, float) and not abs(value) > 0):
            same = "repr({0}) == repr({1})"  # `==` ignores the sign of zero, and nan differs from itself
        self.require(f"({place} is {constant} or type({place}) is {kind} and {same.format(place, constant)})")

    def require_keys(self, keys: list[Any], place: str) -> None:
        """Require a dict's keys, their order and their classes."""
        kinds = self.constant([type(key) for key in keys])
        self.require(f"[*{place}] == {self.constant(keys)} and [*map(type, {place})] == {kinds}")

    def _write(self, line: str) -> None:
        if len(self._lines) >= _MOST_LINES:
            raise TooLong
        self._lines.append(line)
