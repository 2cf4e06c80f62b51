"""Objects that run code of the program when they are examined.

Their class does so on each read of an attribute, `isinstance` included. Or the class is compared or hashed by code of
the program, that of a metaclass, wherever classes are compared or are keys of a dict. These objects are therefore found
by `type` and by the slots of Python's own classes alone, which read no attribute.
"""

from __future__ import annotations

import gc
import types
import weakref
from collections.abc import Iterable
from functools import partial
from typing import Any

from autoconv.runtime.support.attributes import instance_attribute
from autoconv.runtime.support.structure import ATOMS

MAX_EXAMINED = 10_000  # the number of objects after which a search ends


def hooked_class(
    values: Iterable[Any], limit: int = MAX_EXAMINED, examined: dict[int, Any] | None = None
) -> type | None:
    """Return the class of the first object whose examination runs code of the program; None if there is none.

    The search starts at `values`, enters containers, objects, bound methods and partial functions, and ends after
    `limit` objects. Of a compiled function it enters the Python function alone. `examined` holds the objects of earlier
    searches, by id: they are not examined again, and those of this search are added.
    """
    worklist: list[Iterable[Any]] = [values]
    examined = {} if examined is None else examined
    limit += len(examined)
    while worklist:
        for value in worklist.pop():
            class_ = type(value)
            if id(value) in examined or (not has_compared_class(class_) and class_ in ATOMS):
                continue
            if hooks_attributes(class_):
                return class_
            if len(examined) == limit:
                return None
            examined[id(value)] = value
            worklist.append(_parts(value, class_))
    return None


def hooks_attributes(class_: type) -> bool:
    """Return whether code of the program reads attributes of the objects of this class, or compares their class."""
    if has_compared_class(class_):
        return True
    result = _HAS_HOOK.get(class_)
    if result is None:
        bases = type.__getattribute__(class_, "__mro__")
        hooks = (type.__getattribute__(base, "__dict__").get("__getattribute__") for base in bases)
        result = _HAS_HOOK[class_] = any(type(hook) is types.FunctionType for hook in hooks)
    return result


def has_compared_class(class_: type) -> bool:
    """Return whether objects of the class are classes, or have a class, that Python code compares or hashes."""
    if type(class_) is type and (class_ is type or not issubclass(class_, type)):
        return False
    metaclasses = [metaclass for metaclass in (class_, type(class_)) if issubclass(metaclass, type)]
    return any(
        type(type.__getattribute__(base, "__dict__").get(name)) is types.FunctionType
        for metaclass in metaclasses for base in type.__getattribute__(metaclass, "__mro__")
        for name in ("__eq__", "__hash__")
    )  # fmt: skip


_HAS_HOOK: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()


def _parts(value: Any, class_: type) -> tuple[Any, ...]:
    """Return the objects that a value consists of."""
    if issubclass(class_, (list, tuple, set, frozenset)):
        base: Any = next(base_type for base_type in (list, tuple, set, frozenset) if issubclass(class_, base_type))
        return tuple(base.__iter__(value))
    if issubclass(class_, dict):
        return (*dict.keys(value), *dict.values(value))
    if issubclass(class_, types.MethodType):
        return (value.__self__,)
    if issubclass(class_, partial):
        return (value.func, *value.args, *value.keywords.values())
    if issubclass(class_, (type, types.ModuleType, types.FunctionType)):
        return ()
    if not _has_attributes(class_):
        return ()
    if str(type.__getattribute__(class_, "__module__")).startswith("autoconv."):
        function = instance_attribute(value, "python_function")
        if function is not None:  # a compiled function, whose traces and graphs are not the program's
            return (function,)
    return tuple(gc.get_referents(value))


def _has_attributes(class_: type) -> bool:
    """Return whether objects of the class have slots or a `__dict__`."""
    result = _HAS_ATTRIBUTES.get(class_)
    if result is None:
        dicts = [type.__getattribute__(base, "__dict__") for base in type.__getattribute__(class_, "__mro__")]
        slots = [slot for names in dicts if "__slots__" in names for slot in names.values()]
        slots += [names["__dict__"] for names in dicts if "__dict__" in names]
        slot_types = {types.MemberDescriptorType, types.GetSetDescriptorType}
        result = _HAS_ATTRIBUTES[class_] = not slot_types.isdisjoint(map(type, slots))
    return result


_HAS_ATTRIBUTES: weakref.WeakKeyDictionary[type, bool] = weakref.WeakKeyDictionary()
