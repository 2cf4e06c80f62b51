"""What functions, methods, slices and classes hold, which are no containers of the program's.

One that the traced code made serves that trace alone: as a constant of the graph it would be one and the same in all
calls, and would give values of the graph to whom knows nothing of them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from types import CellType, FunctionType, MethodType
from typing import Any

_CONTAINERS = (tuple, list, set, frozenset, dict)


class LateMethod:
    """Stands for a method of what only the running graph knows, to be called while it is traced; what a subclass has in
    its slots is what it holds."""

    __slots__ = ()
    __autoconv_function__ = True


_MADE_BY = (FunctionType, MethodType, functools.partial, slice, type, LateMethod)


def is_made(value: Any) -> bool:
    """Whether it is a function that another one made, or a method or partial of such a function."""
    while isinstance(value, (functools.partial, MethodType)):
        value = value.func if isinstance(value, functools.partial) else value.__func__
    return isinstance(value, FunctionType) and "<locals>" in value.__qualname__


def hides(value: Any, is_late: Callable[[Any], bool]) -> bool:
    """Whether a function, method, partial, slice or class holds anything, at any depth, for which `is_late`; False for
    a value of another kind."""
    return isinstance(value, _MADE_BY) and _reaches(value, is_late, {id(value)})


def _reaches(value: Any, is_late: Callable[[Any], bool], seen: set[int]) -> bool:
    for part in _parts(value):
        if id(part) in seen:
            continue
        seen.add(id(part))
        if is_late(part) or _reaches(part, is_late, seen):
            return True
    return False


def _parts(value: Any) -> Iterator[Any]:
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
    elif isinstance(value, LateMethod):
        slots: Sequence[str] = type(value).__slots__
        yield from (getattr(value, slot) for slot in slots)
    elif isinstance(value, type) and "<locals>" in value.__qualname__:  # else it was there before the call
        yield from vars(value).values()
    elif isinstance(value, (property, classmethod, staticmethod)):
        yield from (value.fget, value.fset) if isinstance(value, property) else (value.__func__,)
    elif type(value) in _CONTAINERS:
        yield from (*value.keys(), *value.values()) if isinstance(value, dict) else value


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing is assigned yet
        return None
