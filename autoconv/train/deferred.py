"""Restore values into objects that are created after the restoration, when they are set as attributes.

Classes whose own `__setattr__` calls `restore_attribute` say so by `_restores_attributes`. An object of
another class gets a subclass of its class while values are deferred for its attributes, so that setting attributes
of other objects costs nothing.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Protocol

from autoconv.runtime.objects.trackable import RESTORE_ATTRIBUTE
from autoconv.runtime.recording.regions import current_region


class ObjectMatcher(Protocol):
    """A restoration, which sets the values of an object from those of the checkpoint's object with this number."""

    @property
    def nodes(self) -> Sequence[Any]: ...

    def match(self, number: int, value: Any) -> None: ...


class WaitingList(list[Any]):
    """A list in a checkpoint's attribute; items that are added to it are restored at once.

    `numbers` maps positions to the numbers of the checkpoint's objects.
    """

    __slots__ = ("_numbers", "_restoration")

    def __init__(self, items: list[Any], restoration: ObjectMatcher, numbers: dict[str, int]) -> None:
        super().__init__(items)
        self._restoration = restoration
        self._numbers = numbers

    def append(self, item: Any) -> None:
        super().append(item)
        self._restore_from(len(self) - 1)

    def extend(self, items: Iterable[Any]) -> None:
        start = len(self)
        super().extend(items)
        self._restore_from(start)

    def __iadd__(self, items: Iterable[Any]) -> WaitingList:  # type: ignore[misc]  # `+` makes a plain list
        self.extend(items)
        return self

    def _restore_from(self, start: int) -> None:
        for position in range(start, len(self)):
            if str(position) in self._numbers:
                self._restoration.match(self._numbers[str(position)], self[position])


class WaitingDict(dict[Any, Any]):
    """A dict in a checkpoint's attribute; values that are added to it are restored at once.

    `numbers` maps keys to the numbers of the checkpoint's objects.
    """

    __slots__ = ("_numbers", "_restoration")

    def __init__(self, items: dict[Any, Any], restoration: ObjectMatcher, numbers: dict[str, int]) -> None:
        super().__init__(items)
        self._restoration = restoration
        self._numbers = numbers

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        if key in self._numbers:
            self._restoration.match(self._numbers[key], value)

    def update(self, *args: Any, **kwargs: Any) -> None:
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]


def waiting_container(value: Any, restoration: ObjectMatcher, number: int) -> Any:
    """Return a list or dict that restores items added later, in place of one that lacks items of the checkpoint.

    `number` is that of the checkpoint's object. Every other value is returned unchanged.
    """
    numbers = restoration.nodes[number].children
    if type(value) is list and len(value) < len(numbers):
        return WaitingList(value, restoration, numbers)
    if type(value) is dict and len(value) < len(numbers):
        return WaitingDict(value, restoration, numbers)
    return value


def deferred_restorations(owner: Any, name: str) -> list[tuple[ObjectMatcher, int]]:
    """Return the restorations deferred for an attribute, each with the number of the checkpoint's object."""
    _, restorations_by_name = _DEFERRED.get(id(owner), (None, {}))
    return restorations_by_name.get(name, [])


_ORIGINAL_CLASS = "_original_class"  # attribute of a class that `_waiting_class` made
# By the identity of an object: a weak reference to it, and for each attribute the deferred restorations, each with the
# number of the checkpoint's object.
_DEFERRED: dict[int, tuple[Any, dict[str, list[tuple[ObjectMatcher, int]]]]] = {}


def defer(owner: Any, name: str, restoration: ObjectMatcher, number: int) -> None:
    """Restore the object `number` of a checkpoint as soon as `owner` has an attribute of this name."""
    entry = _DEFERRED.get(id(owner))
    if entry is None:
        identity = id(owner)
        try:
            reference = weakref.ref(owner, lambda _: _DEFERRED.pop(identity, None))
        except TypeError:
            return  # a list, tuple or dict: see `waiting_container`, and `Restoration.match_later_objects`
        entry = _DEFERRED[identity] = reference, {}
        if not getattr(type(owner), "_restores_attributes", False) and not _is_waiting(type(owner)):
            owner.__class__ = _waiting_class(type(owner))  # type: ignore[arg-type]
    _, restorations_by_name = entry
    # A later number replaces that of the same restoration: an object that moves in a list is matched anew.
    numbered_restorations = restorations_by_name.get(name, ())
    others = [(other, other_number) for other, other_number in numbered_restorations if other is not restoration]
    restorations_by_name[name] = [*others, (restoration, number)]


def restore_attribute(owner: Any, name: str, value: Any) -> None:
    """Restore the values deferred for this attribute; the latest checkpoint is applied last, so that it wins.

    A trace may be given up and begun again, with another object: what a trace sets stays deferred until
    `discard_deferred` is called.
    """
    for restoration, number in deferred_restorations(owner, name):
        restoration.match(number, value)
    if current_region() is None:
        discard_deferred(owner, name)


RESTORE_ATTRIBUTE.set(restore_attribute)


def discard_deferred(owner: Any, name: str) -> None:
    """Discard the deferred restorations of an attribute."""
    if id(owner) not in _DEFERRED:
        return
    _, restorations_by_name = _DEFERRED[id(owner)]
    restorations_by_name.pop(name, None)
    if not restorations_by_name:
        del _DEFERRED[id(owner)]
        if _is_waiting(type(owner)):
            owner.__class__ = getattr(type(owner), _ORIGINAL_CLASS)


def _is_waiting(class_: type) -> bool:
    """Return whether `_waiting_class` made the class."""
    return _ORIGINAL_CLASS in vars(class_)


@lru_cache(maxsize=256)
def _waiting_class(class_: type) -> type:
    """Return a subclass whose `__setattr__` restores the values deferred for an attribute."""
    def set_attribute(self: Any, name: str, value: Any) -> None:
        class_.__setattr__(self, name, value)  # type: ignore[call-arg]
        restore_attribute(self, name, value)

    set_attribute.__autoconv_only_restores__ = True  # type: ignore[attr-defined]
    namespace = {"__setattr__": set_attribute, "__slots__": (), _ORIGINAL_CLASS: class_}
    namespace.update({name: getattr(class_, name) for name in ("__module__", "__qualname__", "__doc__")})
    return type(class_)(class_.__name__, (class_,), namespace)
