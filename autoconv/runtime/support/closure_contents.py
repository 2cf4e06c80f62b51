"""Values inside functions, methods, slices and classes: objects that hold values, but are no lists, dicts or sets.

A function made by the traced code is valid in that trace alone. As a constant of the graph it would be the same object
in all calls, and would leak symbolic values.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import CellType, FunctionType, MethodType
from typing import Any, Generic, TypeVar

_CONTAINERS = (tuple, list, set, frozenset, dict)


_Owner = TypeVar("_Owner")


class BoundSymbolicMethod(Generic[_Owner]):
    """Base of bound methods `owner.name` of symbolic values, called while tracing; all slots hold captures."""

    __slots__ = ("name", "owner")
    __autoconv_function__ = True  # has its own behaviour under trace: no conversion

    def __init__(self, owner: _Owner, name: str) -> None:
        self.owner = owner
        self.name = name


_CAPTURING_TYPES = (FunctionType, MethodType, functools.partial, slice, type, BoundSymbolicMethod)


def is_nested_function(value: object) -> bool:
    """Return whether the value is a function defined inside another one, or a method or partial of one."""
    while isinstance(value, (functools.partial, MethodType)):
        value = value.func if isinstance(value, functools.partial) else value.__func__
    return isinstance(value, FunctionType) and "<locals>" in value.__qualname__


def captures_any(value: object, matches: Callable[[Any], bool]) -> bool:
    """Return whether a function, method, partial, slice or class captures a value for which `matches` holds.

    All depths are searched. False for values of other kinds.
    """
    return isinstance(value, _CAPTURING_TYPES) and _reaches(value, matches, {id(value)})


def _reaches(value: object, matches: Callable[[Any], bool], visited_ids: set[int]) -> bool:
    """Return whether a part of the value, or of its parts, matches."""
    for part in _parts(value):
        if id(part) in visited_ids:
            continue
        visited_ids.add(id(part))
        if matches(part) or _reaches(part, matches, visited_ids):
            return True
    return False


def _parts(value: Any) -> Iterator[Any]:
    """Iterate over the values that a value captures or contains, one level deep."""
    if isinstance(value, FunctionType):
        yield from map(_contents, value.__closure__ or ())
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
    elif isinstance(value, MethodType):
        yield from (value.__self__, value.__func__)
    elif isinstance(value, functools.partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, slice):
        yield from (value.start, value.stop, value.step)
    elif isinstance(value, BoundSymbolicMethod):
        slots = (slot for class_ in type(value).__mro__ for slot in getattr(class_, "__slots__", ()))
        yield from (getattr(value, slot) for slot in slots)
    elif isinstance(value, type) and "<locals>" in value.__qualname__:  # a class at module level is older than the call
        yield from vars(value).values()
    elif isinstance(value, (property, classmethod, staticmethod)):
        yield from (value.fget, value.fset) if isinstance(value, property) else (value.__func__,)
    elif type(value) in _CONTAINERS:
        yield from (*value.keys(), *value.values()) if isinstance(value, dict) else value


def _contents(cell: CellType) -> Any:
    """Return the value in a closure cell; None for an empty cell."""
    try:
        return cell.cell_contents
    except ValueError:  # the cell is empty
        return None
