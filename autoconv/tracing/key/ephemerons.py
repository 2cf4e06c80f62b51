"""A mapping of objects to values that refer to them; the garbage collector frees both together.

A weak mapping would keep such a value for ever, and with it the object. An attribute of the object would not, but it
would be visible to the program: in `vars(x)`, in copies, in files. The values of this mapping are attributes only
during each full collection. The collector then finds an object and its value as one cycle.
"""

from __future__ import annotations

import _thread
import gc
import time
import types
import weakref
from typing import Any, Generic, TypeVar

from autoconv.runtime.support.attributes import dict_of

Value = TypeVar("Value")


class Ephemerons(Generic[Value]):
    """Values by the identity of objects that have attributes and weak references."""

    def __init__(self, name: str) -> None:
        self._name = f"__autoconv_{name}_{id(self)}"  # name of the attribute during a collection
        self.entries: dict[int, tuple[weakref.ref[Any], Value]] = {}  # id of an object -> the object and its value
        # Id of an object -> the object, for those that hold their values as attributes during a collection.
        self._owners_with_attribute: dict[int, weakref.ref[Any]] = {}
        _MAPPINGS.add(self)

    def get(self, owner: object) -> Value | None:
        """Return the value of an object; None if it has none."""
        reference, value = self.entries.get(id(owner), (None, None))
        return value if reference is not None and reference() is owner else None

    def put(self, owner: object, value: Value) -> bool:
        """Set the value of an object; return False, without an entry, if it has no attributes or no weak references."""
        if not _has_attributes(owner) or not type(owner).__weakrefoffset__:
            return False
        self.entries[id(owner)] = weakref.ref(owner), value
        return True

    def __len__(self) -> int:
        return len(self.entries)

    def lend_to_owners(self) -> None:
        """Make each value an attribute of its object."""
        for key, (reference, value) in list(self.entries.items()):
            attributes = _attributes(reference())
            if attributes is not None:
                attributes[self._name] = value
                self._owners_with_attribute[key] = reference
            del self.entries[key]

    def take_back_from_owners(self) -> None:
        """Take the values back from the objects that are still alive."""
        for key, reference in list(self._owners_with_attribute.items()):
            attributes = _attributes(reference())
            if attributes is not None and self._name in attributes:
                self.entries.setdefault(key, (reference, attributes[self._name]))
                del attributes[self._name]
            del self._owners_with_attribute[key]


def _has_attributes(owner: object) -> bool:
    """Return whether an object can have a dict of attributes, without its creation, which would slow down access."""
    cls = type(owner)
    if cls.__getattribute__ is not object.__getattribute__:
        return _attributes(owner) is not None
    descriptor = next((vars(base)["__dict__"] for base in cls.__mro__ if "__dict__" in vars(base)), None)
    return type(descriptor) is types.GetSetDescriptorType


def _attributes(owner: object) -> dict[str, Any] | None:
    """Return the dict of an object's attributes; None if it has no plain dict."""
    attributes = dict_of(owner)
    return attributes if type(attributes) is dict else None


_MAPPINGS: weakref.WeakSet[Ephemerons[Any]] = weakref.WeakSet()
_FULL_GENERATION = 2  # the generation that the garbage collector reports for a full collection
_INTERRUPT_DELAY = 0.01  # seconds until an interrupt during a collection is raised again


def _handle_collection(phase: str, statistics: dict[str, int]) -> None:
    """Move the values when a full collection starts or ends.

    This is a callback of the garbage collector; `phase` is "start" or "stop", and `statistics` has the generation.
    """
    if statistics["generation"] != _FULL_GENERATION:
        return
    try:
        _move_values(phase)
    except KeyboardInterrupt:  # Python ignores exceptions of such a callback, so it is raised again later
        _move_values(phase)
        _thread.start_new_thread(_interrupt_later, ())


def _interrupt_later() -> None:
    """Interrupt the program when the collection has ended."""
    time.sleep(_INTERRUPT_DELAY)
    _thread.interrupt_main()


def _move_values(phase: str) -> None:
    """Lend all values to their objects, or take them back. A second call completes an interrupted one."""
    for mapping in list(_MAPPINGS):
        if phase == "start":
            mapping.lend_to_owners()
        else:
            mapping.take_back_from_owners()


gc.callbacks.append(_handle_collection)
