"""Names of earlier versions of TensorFlow, and conversions of text."""

from __future__ import annotations

from typing import Any

from autoconv.compat import v1


def as_text(bytes_or_text: bytes | str, encoding: str = "utf-8") -> str:
    """Return text, decoded where it is bytes; raises TypeError for anything else.

    >>> autoconv.compat.as_text(b"abc")
    'abc'
    """
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_bytes(bytes_or_text: bytes | bytearray | str, encoding: str = "utf-8") -> bytes:
    """Return bytes, encoded where it is text; raises TypeError for anything else.

    >>> autoconv.compat.as_bytes("abc")
    b'abc'
    """
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    return as_text(bytes_or_text, encoding).encode(encoding)


as_str = as_text


def as_str_any(value: Any) -> str:
    """Return a value as text: bytes decoded, everything else by `str`.

    >>> autoconv.compat.as_str_any(3)
    '3'
    """
    return as_text(value) if isinstance(value, bytes) else str(value)


def dimension_value(dimension: Any) -> int | None:
    """Return the size of a dimension, None where it is unknown.

    >>> autoconv.compat.dimension_value(autoconv.TensorShape([2, None])[0])
    2
    """
    return getattr(dimension, "value", dimension)


__all__ = ["as_bytes", "as_str", "as_str_any", "as_text", "dimension_value", "v1"]
