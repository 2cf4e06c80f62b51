"""`Dimension`: a size of a shape as an object."""

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

    def is_compatible_with(self, other: Any) -> bool:
        """Return whether the other size is unknown or the same."""
        return size_of(other) in (None, int(self))

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError unless the sizes are compatible."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Any:
        """Return this size, if `other` is unknown or equal; raises ValueError for a different size."""
        self.assert_is_compatible_with(other)
        return self

    @classmethod
    def of(cls, size: int | None) -> Any:
        return cls(size)

    def __repr__(self) -> str:
        return f"Dimension({int(self)})"

    __str__ = int.__repr__


class _UnknownDimension:
    """An unknown size: arithmetic gives an unknown size again, and no comparison holds."""

    value = None

    def _absorb(self, other: object = None) -> _UnknownDimension:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = __mod__ = _absorb

    def is_compatible_with(self, other: Any) -> bool:
        return True

    assert_is_compatible_with = _absorb

    def merge_with(self, other: Any) -> Any:
        return Dimension(size_of(other))

    def __eq__(self, other: object) -> Any:
        return None if other is None or other is self else False  # None: two unknown sizes may be equal

    def __hash__(self) -> int:
        return hash(None)

    def __repr__(self) -> str:
        return "Dimension(None)"

    def __str__(self) -> str:
        return "?"


def size_of(size: Any) -> int | None:
    """Return a size, given as an int, None or a Dimension, as an int, or None if it is unknown."""
    value = getattr(size, "value", size)
    return None if value is None else int(value)


_UNKNOWN_DIMENSION = _UnknownDimension()
