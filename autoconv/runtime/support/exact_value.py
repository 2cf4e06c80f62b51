"""Scalars compared by what they hold, whatever methods their classes define."""

from __future__ import annotations

from typing import Any


def exact_value(value: Any) -> Any:
    """Return what makes two scalars of one class equal: a value of Python's own class, or a text.

    A subclass may have an `__eq__` that ignores case, or a `__repr__` that rounds. Zeros differ by their signs, and
    ranges and slices by their bounds.
    """
    if isinstance(value, float):
        return float.__repr__(value)
    if isinstance(value, complex):
        return complex.__repr__(value)
    if isinstance(value, (range, slice)):
        return repr(value)
    if type(value) in (int, str, bytes, bool):
        return value
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, str):
        return str.__str__(value)
    return bytes.__getitem__(value, slice(None)) if isinstance(value, bytes) else value
