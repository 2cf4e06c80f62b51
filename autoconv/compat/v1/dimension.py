"""`Dimension`: a size of a shape, as version 1 presents it."""

from __future__ import annotations

from typing import Any


class Dimension(int):
    """A known size of a shape: an int with itself as `value`. An unknown size has None as `value`.

    >>> autoconv.compat.v1.Dimension(3).value + 1
    4
    """

    def __new__(cls, value: Any) -> Any:
        return _UNKNOWN_DIMENSION if value is None else super().__new__(cls, value)

    @property
    def value(self) -> int:
        return int(self)

    @classmethod
    def of(cls, size: int | None) -> Any:
        return cls(size)

    def __repr__(self) -> str:
        return f"Dimension({int(self)})"

    __str__ = int.__repr__


class _UnknownDimension:
    """An unknown size: arithmetic with it is unknown, and no comparison holds."""

    value = None

    def _absorb(self, other: object = None) -> _UnknownDimension:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = __mod__ = _absorb

    def __eq__(self, other: object) -> Any:
        return None if other is None or other is self else False

    def __hash__(self) -> int:
        return hash(None)

    def __repr__(self) -> str:
        return "Dimension(None)"

    def __str__(self) -> str:
        return "?"


_UNKNOWN_DIMENSION = _UnknownDimension()
