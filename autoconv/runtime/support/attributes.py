"""Attributes of objects, read and written without code of the program; the `__dict__` of objects in the graph."""

from __future__ import annotations

import contextlib
import types
import weakref
from typing import Any

from autoconv.errors import StagingError
from autoconv.runtime.support.inline_attributes import has_inline_attributes, inline_attributes
from autoconv.runtime.support.spans import current_place

# The attribute under which a user's object stores its object of the graph.
HEAP = "__autoconv_heap__"

_ABSENT = object()


class GraphAttributes(dict[str, Any]):
    """The `__dict__` of an object that is part of the graph: each use of it raises StagingError.

    Reads and writes of single attributes bypass it, as does `instance_attributes`.
    """

    __slots__ = ()


def dict_of(value: object) -> Any:
    """Return the `__dict__` of an object, or None; no method of the program that reads attributes runs."""
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


def has_method(value: object, name: str) -> bool:
    """Return whether the value's class has the special method: those of the class's own class do not count."""
    return any(name in vars(base) for base in type(value).__mro__)


def is_in_graph(value: object) -> bool:
    """Return whether the value is a user's object that is part of the graph, for which the Python object is a proxy."""
    return not has_inline_attributes(value) and type(dict_of(value)) is GraphAttributes


def instance_attributes(value: object) -> dict[str, Any]:
    """Return the instance attributes, without those of the class, as a new dict."""
    result = inline_attributes(value)
    if result is not None:
        return result
    attributes = dict_of(value)
    return dict(dict.items(attributes)) if isinstance(attributes, dict) else {}


def instance_attribute(value: object, name: str, default: Any = None) -> Any:
    """Return one of the attributes that `instance_attributes` returns."""
    attributes = inline_attributes(value)
    if attributes is None:
        attributes = dict_of(value)
    return dict.get(attributes, name, default) if isinstance(attributes, dict) else default


def attributes_of(value: object) -> dict[str, Any]:
    """Return the instance attributes as `instance_attributes` does, with those held in slots."""
    result = instance_attributes(value)
    for name, slot in slots_of(type(value)):
        with contextlib.suppress(AttributeError):  # the slot is empty
            result[name] = slot.__get__(value)
    return result


def has_dict(value: object) -> bool:
    """Return whether an object has a `__dict__`, or gets one when it is read."""
    return has_inline_attributes(value) or dict_of(value) is not None


def has_plain_dict(value: object) -> bool:
    """Return whether the `__dict__` of an object is, or will be, of Python's own class, and not of the graph."""
    return has_inline_attributes(value) or type(dict_of(value)) is dict


def has_instance_attribute(value: object, name: str) -> bool:
    """Return whether an object itself holds an attribute of that name in its `__dict__`."""
    return instance_attribute(value, name, _ABSENT) is not _ABSENT


def has_attributes(value: object) -> bool:
    """Return whether an object has a `__dict__`, or slots of a class written in Python."""
    return has_dict(value) or bool(slots_of(type(value)))


def set_attributes(value: object, attributes: dict[str, Any]) -> None:
    """Set the attributes of a new object, in its slots where it has a slot of the name."""
    slots = dict(slots_of(type(value)))
    for name in slots.keys() & attributes.keys():
        slots[name].__set__(value, attributes[name])
    if has_dict(value):
        object.__setattr__(value, "__dict__", {name: item for name, item in attributes.items() if name not in slots})


def slots_of(class_: type) -> tuple[tuple[str, Any], ...]:
    """Return the names and descriptors of the slots of a class written in Python."""
    slots = _SLOTS.get(class_)
    if slots is None:
        slots = _SLOTS[class_] = tuple(
            (name, attribute)
            for base in class_.__mro__
            if "__slots__" in vars(base)
            for name, attribute in vars(base).items()
            if isinstance(attribute, types.MemberDescriptorType)
        )
    return slots


_SLOTS: weakref.WeakKeyDictionary[type, tuple[tuple[str, Any], ...]] = weakref.WeakKeyDictionary()


def has_hidden_state(class_: type) -> bool:
    """Return whether objects of the class have state besides their attributes and slots.

    Such state is that of a class written in C among the bases, like the position of a file. It is found by the size of
    the objects: a `class` statement adds one pointer for each slot, for a `__dict__`, and for weak references.

    >>> import io
    >>> class Log(io.StringIO):
    ...     pass
    >>> has_hidden_state(Log), has_hidden_state(type("Point", (), {"__slots__": ("x", "y")}))
    (True, False)
    """
    while class_ is not object and class_ is not types.SimpleNamespace:
        base: Any = class_.__base__
        attributes = type.__getattribute__(class_, "__dict__")
        pointers = [type(attribute) is types.MemberDescriptorType for attribute in attributes.values()]
        pointers += ["__weakref__" in attributes, "__dict__" in attributes and class_.__dictoffset__ > 0]
        is_written_in_python = class_.__flags__ & _IS_HEAP_TYPE and class_.__itemsize__ == base.__itemsize__
        if not is_written_in_python or class_.__basicsize__ > base.__basicsize__ + sum(pointers) * _POINTER_SIZE:
            return True
        class_ = base
    return False


_IS_HEAP_TYPE = 1 << 9  # the flag Py_TPFLAGS_HEAPTYPE: made at run time, as classes written in Python are
_POINTER_SIZE = 8  # bytes


def _refuse(*_: Any, **__: Any) -> Any:
    """Raise StagingError for a use of `__dict__`."""
    raise StagingError(
        "the __dict__ of an object is used that is in a list, dict or name known only at run time",
        current_place(), "the attributes by their names",
    )  # fmt: skip


_OPERATORS = "contains delitem eq getitem ior iter len ne or repr reversed ror setitem"
_METHODS = "clear copy get items keys pop popitem setdefault update values"
for _name in (*(f"__{_operator}__" for _operator in _OPERATORS.split()), *_METHODS.split()):
    setattr(GraphAttributes, _name, _refuse)
