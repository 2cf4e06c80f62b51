"""Generation of Python functions specialised for particular values."""

from __future__ import annotations

import enum
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.runtime.support.exact_value import exact_value

_MAX_LINES = 500  # lines of a generated function


class TooLong(Exception):
    """The function would have too many lines."""


class FunctionWriter:
    """Writer of a function, statement by statement.

    The function returns the expression `fallback` as soon as a requirement fails or raises.
    """

    def __init__(self, parameters: str = "", fallback: str = "None") -> None:
        self._header = f"def function({parameters}):"
        self._fallback = fallback
        self._lines: list[str] = []
        self._constants: dict[str, Any] = {}

    def finish(self, result: str) -> Callable[..., Any]:
        """Compile the function; it returns the expression `result` if all requirements hold."""
        lines = (*self._lines, f"return {result}")
        body = "\n".join(f"        {line}" for line in lines)
        text = f"{self._header}\n    try:\n{body}\n    except Exception:\n        return {self._fallback}\n"
        exec(compile(text, "<written for a trace>", "exec"), self._constants)
        function: Callable[..., Any] = self._constants["function"]
        return function

    def constant(self, value: Any) -> str:
        """Return a new name by which the function refers to the value."""
        name = f"k{len(self._constants)}"
        self._constants[name] = value
        return name

    def variable(self, expression: str) -> str:
        """Assign the expression to a variable; return its name."""
        name = f"v{len(self._lines)}"
        self._write(f"{name} = {expression}")
        return name

    def require(self, condition: str) -> None:
        """Require that the expression `condition` is true."""
        self._write(f"if not ({condition}): return {self._fallback}")

    def require_same(self, value: Any, expression: str) -> None:
        """Require the same object, without keeping it alive where possible."""
        try:
            self.require(f"{self.constant(weakref.ref(value))}() is {expression}")
        except TypeError:
            self.require(f"{expression} is {self.constant(value)}")

    def require_equal(self, value: Any, expression: str) -> None:
        """Require a value of the same class: a number with the same bits, the same text, or a range of equal bounds.

        A zero has to have the same sign. A member of an Enum has to be the same object.
        """
        constant, cls = self.constant(value), self.constant(type(value))
        if isinstance(value, enum.Enum):
            self.require(f"{expression} is {constant}")
            return
        comparison = "{0} == {1}"
        if isinstance(value, np.generic):
            comparison = "{0}.tobytes() == {1}.tobytes()"
        elif isinstance(value, (complex, range)) or (isinstance(value, float) and not abs(value) > 0):  # zero or nan
            # `==` ignores the sign of zero and the bounds of ranges with equal numbers, and nan differs from itself.
            comparison = "repr({0}) == repr({1})"
        if isinstance(value, (int, float, complex, str, bytes)) and type(value).__module__ not in ("builtins", "numpy"):
            # A subclass may redefine `__eq__` and `__repr__`.
            is_equal = f"{self.constant(exact_value)}({expression}) == {self.constant(exact_value(value))}"
        else:
            is_equal = comparison.format(expression, constant)
        self.require(f"({expression} is {constant} or type({expression}) is {cls} and {is_equal})")

    def require_keys(self, keys: list[Any], expression: str) -> None:
        """Require a dict's keys, their order and their classes."""
        classes = self.constant([type(key) for key in keys])
        self.require(f"[*{expression}] == {self.constant(keys)} and [*map(type, {expression})] == {classes}")

    def _write(self, line: str) -> None:
        """Append a line to the body; raise TooLong beyond the limit."""
        if len(self._lines) >= _MAX_LINES:
            raise TooLong
        self._lines.append(line)
