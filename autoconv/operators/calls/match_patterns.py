"""Tests that the patterns of a match statement apply to their subject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autoconv.operators.calls.call import call
from autoconv.operators.control.conditionals import and_, not_
from autoconv.operators.values.comparisons import in_
from autoconv.runtime.tensors.tensor import Tensor

# Classes whose single positional pattern matches the whole subject.
_WHOLE = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
_TEXTS = (str, bytes, bytearray)


def is_sequence(subject: object, count: int, or_more: bool = False) -> Any:
    """Return whether a sequence pattern with that many items can match."""
    if isinstance(subject, Tensor) and not subject.weak:
        return False
    size = lambda: call(len)(subject) >= count if or_more else call(len)(subject) == count
    return and_(call(isinstance)(subject, Sequence), lambda: _is_no_text(subject), size)


def is_mapping(subject: object, keys: tuple[Any, ...]) -> Any:
    """Return whether the subject is a mapping with all the keys."""
    return and_(call(isinstance)(subject, Mapping), *[_has(subject, key) for key in keys])


def is_instance(subject: object, cls: Any, attributes: tuple[str, ...] = (), positional: int = 0) -> Any:
    """Return whether the subject is an instance of the class with the attributes of the pattern.

    Raises TypeError for too many positional patterns.
    """
    if positional and cls not in _WHOLE:
        names = getattr(cls, "__match_args__", ())
        if positional > len(names):
            raise TypeError(f"{cls.__name__}() accepts {len(names)} positional sub-patterns ({positional} given)")
        attributes = (*names[:positional], *attributes)
    return and_(call(isinstance)(subject, cls), *[_has_attribute(subject, name) for name in attributes])


def match_argument(subject: object, cls: Any, position: int) -> Any:
    """Return the value that the positional pattern at that position is matched against."""
    return subject if cls in _WHOLE else getattr(subject, cls.__match_args__[position])


def rest_of(subject: object, keys: tuple[Any, ...]) -> Any:
    """Return a dict of a mapping's items without those keys."""
    rest = call(dict)(subject)
    for key in keys:
        del rest[key]
    return rest


def _is_no_text(subject: object) -> Any:
    return not_(call(isinstance)(subject, _TEXTS))


def _has(subject: object, key: object) -> Any:
    return lambda: in_(key, subject)


def _has_attribute(subject: object, name: str) -> Any:
    return lambda: call(hasattr)(subject, name)
