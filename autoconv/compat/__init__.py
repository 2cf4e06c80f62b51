"""The names of `tf.compat`: TensorFlow 1 as `v1`, and conversions of text, dimensions and paths."""

from __future__ import annotations

import importlib
import numbers
from typing import Any

import numpy as np

from autoconv.compat import v1
from autoconv.runtime.support.dimension import Dimension


def as_text(bytes_or_text: bytes | str, encoding: str = "utf-8") -> str:
    """Return a text unchanged, bytes decoded; raises TypeError for anything else.

    >>> autoconv.compat.as_text(b"abc")
    'abc'
    """
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_bytes(bytes_or_text: bytes | bytearray | str, encoding: str = "utf-8") -> bytes:
    """Return bytes unchanged, a text encoded; raises TypeError for anything else.

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
    """Return the size of a dimension, None if it is unknown.

    >>> autoconv.compat.dimension_value(autoconv.TensorShape([2, None])[0])
    2
    """
    return getattr(dimension, "value", dimension)


def dimension_at_index(shape: Any, index: int) -> Any:
    """Return a size of a shape as an object with a `value`, which is None if the size or the rank is unknown.

    >>> autoconv.compat.dimension_at_index(autoconv.TensorShape([2, None]), 0).value
    2
    """
    return Dimension(None) if shape.rank is None else shape.dims[index]


def path_to_str(path: Any) -> Any:
    """Return the text of a path object, and any other value itself.

    >>> autoconv.compat.path_to_str("a/b")
    'a/b'
    """
    return as_str_any(path.__fspath__()) if hasattr(path, "__fspath__") else path


# Tuples of classes for isinstance().
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)
bytes_or_text_types = (bytes, str)

__all__ = [
    "as_bytes", "as_str", "as_str_any", "as_text", "bytes_or_text_types", "complex_types", "dimension_at_index",
    "dimension_value", "integral_types", "path_to_str", "real_types", "v1",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Return `v2`: the module autoconv itself, whose names are those of version 2."""
    if name == "v2":
        return importlib.import_module("autoconv")
    raise AttributeError(f"module 'autoconv.compat' has no attribute {name!r}")
