"""Kinds of calls: keys that calls share which should take about the same time in each form, graph or plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.runtime.support.attribute_hooks import has_compared_class

_SIZED_TYPES = (str, bytes, bytearray, list, tuple, dict, set, frozenset)


def kind_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return a key shared by calls that should take about the same time in each form."""
    kinds = tuple(map(_kind, args))
    return (kinds, tuple((name, _kind(value)) for name, value in kwargs.items())) if kwargs else kinds


def _kind(value: Any) -> Any:
    """Return a bool or None itself, or the type of a value with its magnitude, if it has a size.

    Magnitudes are powers of four for sizes of arrays and containers, and powers of 16 for integers.
    """
    type_ = type(value)
    if type_ is float:
        return float
    if type_ is bool or value is None:
        return value
    if type_ is int:
        return int, value.bit_length() >> 2
    if issubclass(type_, np.ndarray):  # `isinstance` reads `__class__`, which may run code of the program
        return type_, value.ndim, value.size.bit_length() >> 1
    if has_compared_class(type_):  # the class is no key
        return object
    if type_ in _SIZED_TYPES:
        return type_, len(value).bit_length() >> 1
    return type_


def exact_kind_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return a key that is shared by calls with arguments of the same types and sizes."""
    return tuple(map(_exact_kind, args)), tuple((name, _exact_kind(value)) for name, value in kwargs.items())


def _exact_kind(value: Any) -> Any:
    """Return the kind of an argument (see `_kind`), but for arrays and containers with the exact size."""
    type_ = type(value)
    if issubclass(type_, np.ndarray):
        return type_, value.dtype, value.shape
    return (type_, len(value)) if not has_compared_class(type_) and type_ in _SIZED_TYPES else _kind(value)


def kind_text(kind: Any) -> str:
    """Return the types of a kind's arguments as text for users."""
    positional, keywords = kind if _has_keywords(kind) else (kind, ())
    return f"({', '.join(_argument_text(argument) for argument in (*positional, *keywords))})"


def _has_keywords(kind: Any) -> bool:
    """Return whether a kind is a pair of the kinds of positional and of keyword arguments (see `kind_of`)."""
    if len(kind) != 2 or not all(isinstance(part, tuple) for part in kind):
        return False
    _, keywords = kind
    return bool(keywords) and all(isinstance(pair, tuple) for pair in keywords)


def _argument_text(argument: Any) -> str:
    """Return the kind of one argument, or a pair of a keyword and such a kind, as text for users."""
    if isinstance(argument, tuple) and isinstance(argument[0], str):
        name, kind = argument
        return f"{name}={_argument_text(kind)}"
    type_or_value = argument[0] if isinstance(argument, tuple) else argument  # without the magnitudes
    return type_or_value.__name__ if isinstance(type_or_value, type) else repr(type_or_value)
