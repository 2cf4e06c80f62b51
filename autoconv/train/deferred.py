"""Restore values into objects that are created after the restoration, when they are set as attributes.

Classes whose own `__setattr__` calls `restore_attribute` say so by `_restores_attributes`. An object of
another class gets a subclass of its class while values are deferred for its attributes, so that setting attributes
of other objects costs nothing.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

from autoconv.runtime.objects.trackable import RESTORE_ATTRIBUTE
from autoconv.runtime.recording.regions import current_region


class ObjectMatcher(Protocol):
    """A restoration, which sets the values of an object from those of the checkpoint's object with this number."""

    @property
    def nodes(self) -> Sequence[Any]: ...

    def match(self, number: int, value: Any) -> None: ...


class WaitingContainer:
    """A list or dict in a checkpoint's attribute that restores items as soon as they are added to it.

    It stands in for `original`, which the program may change as well: each change of one is made to the other.
    `numbers` maps the names of items to the numbers of the checkpoint's objects.
    """

    def __init__(self, original: Any, restoration: ObjectMatcher, numbers: dict[str, int]) -> None:
        super().__init__(original)  # type: ignore[call-arg]  # list's or dict's
        self.original = original
        self._restoration = restoration
        self._numbers = numbers

    def restore_items(self) -> None:
        """Restore the items that have not been restored; `match` ignores the others."""
        items = dict(self.original) if isinstance(self.original, dict) else dict(enumerate(self.original))
        for key, item in items.items():
            if str(key) in self._numbers:
                self._restoration.match(self._numbers[str(key)], item)


class WaitingList(WaitingContainer, list[Any]):
    """A list that stands in for another one."""


class WaitingDict(WaitingContainer, dict[Any, Any]):
    """A dict that stands in for another one."""


def _mutator(class_: type, name: str) -> Any:
    """Return the method `name` of a container that changes it and its original, and restores added items."""
    method = getattr(class_, name)

    def mutate(self: Any, *args: Any, **kwargs: Any) -> Any:
        _replace_items(class_, self, self.original)
        result = method(self, *args, **kwargs)
        _replace_items(class_, self.original, self)
        self.restore_items()
        return self if result is self else result

    return mutate


def _replace_items(class_: type, container: Any, source: Any) -> None:
    """Give the container the items of `source`, by the methods of `class_`, which is list or dict."""
    items = class_(source)
    class_.clear(container)  # type: ignore[attr-defined]
    (list.extend if class_ is list else dict.update)(container, items)


for _class, _waiting, _names in (
    (list, WaitingList, "append extend insert pop remove clear sort reverse __setitem__ __delitem__ __iadd__ __imul__"),
    (dict, WaitingDict, "update setdefault pop popitem clear __setitem__ __delitem__ __ior__"),
):
    for _name in _names.split():
        setattr(_waiting, _name, _mutator(_class, _name))


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
    other_restorations = [pair for pair in numbered_restorations if pair[0] is not restoration]
    restorations_by_name[name] = [*other_restorations, (restoration, number)]


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
