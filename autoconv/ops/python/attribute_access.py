"""Analysis of accesses to attributes of Python objects: find those that run the user's code."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from typing import Any

from autoconv.errors import NotInGraphError

# Hooks that an access calls: those of the object's class, and those of a descriptor.
_ON_READING = ("__getattribute__",), ("__get__",)
_ON_WRITING = ("__setattr__", "__delattr__"), ("__set__", "__delete__")


@functools.lru_cache(maxsize=1024)
def runs_user_code(class_: type, name: str, writes: bool = False) -> bool:
    """Return whether access may run the user's code (a property, a hook), or gives a function of the class.

    `writes` is for setting and deleting. Attributes that `may_compute_attribute` decides about are not included.
    """
    attribute = inspect.getattr_static(class_, name, None)
    if isinstance(attribute, (property, types.FunctionType)):
        return True
    hooks, descriptor_hooks = _ON_WRITING if writes else _ON_READING
    methods = [getattr(class_, hook, None) for hook in hooks]
    methods += [getattr(type(attribute), hook, None) for hook in descriptor_hooks]
    return any(map(_is_user_function, methods)) and not isinstance(attribute, functools.cached_property)


@functools.lru_cache(maxsize=1024)
def may_compute_attribute(class_: type, name: str) -> bool:
    """Return whether the class computes an attribute that the object lacks: `__getattr__`, a cached_property."""
    attribute = inspect.getattr_static(class_, name, None)
    is_from_getattr = attribute is None and _is_user_function(getattr(class_, "__getattr__", None))
    return is_from_getattr or isinstance(attribute, functools.cached_property)


def _is_user_function(method: Any) -> bool:
    """Return whether this is a function written in Python, outside of the standard library."""
    if not isinstance(method, types.FunctionType):
        return False
    return (method.__module__ or "").partition(".")[0] not in sys.stdlib_module_names


def refuse_access_running_user_code(x: Any, name: str, writes: bool = False) -> None:
    """Raise NotInGraphError for an attribute whose access runs the user's code."""
    class_: Any = type(x)
    is_computed = not writes and may_compute_attribute(class_, name)
    if runs_user_code(class_, name, writes) or (is_computed and name not in getattr(x, "__dict__", ())):
        raise NotInGraphError(
            f"the {class_.__name__} whose {name!r} is used is known only at run time, and a graph cannot run its code"
        )
