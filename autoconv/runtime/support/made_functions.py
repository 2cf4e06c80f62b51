"""Names and docstrings of functions that other functions make."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

FunctionT = TypeVar("FunctionT", bound=Callable[..., object])


def give_name(function: FunctionT, name: str, doc: str) -> FunctionT:
    """Give a function its name and docstring; return the function."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function
