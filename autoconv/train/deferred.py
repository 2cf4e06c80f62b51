"""Restore values into objects that do not exist yet: when an attribute is set, its value is looked up.

Classes with a `__setattr__` of their own that calls `attribute_set` (such as Checkpoint) need no more. An object of
another class belongs to a subclass of its class while values wait for its attributes: only such objects pay for it.
"""

from __future__ import annotations

import weakref
from functools import lru_cache
from typing import Any, Protocol

from autoconv.runtime.recording.regions import current_region


class Matcher(Protocol):
    """A restoration, which sets the values of an object from those of the checkpoint's object with this number."""

    def match(self, number: int, value: Any) -> None: ...


_ORIGINAL = "_original_class"
_WAITING: dict[int, tuple[Any, dict[str, list[tuple[Matcher, int]]]]] = {}
"""Deferred restorations, by the identity of an object: a weak reference to it, and those that wait for attributes."""


def wait_for(owner: Any, name: str, restoration: Matcher, number: int) -> None:
    """Restore the object `number` of a checkpoint as soon as `owner` has an attribute of this name."""
    entry = _WAITING.get(id(owner))
    if entry is None:
        identity = id(owner)
        try:
            reference = weakref.ref(owner, lambda _: _WAITING.pop(identity, None))
        except TypeError:
            return  # a list, tuple or dict: its later items are found when the state of the restoration is read
        entry = _WAITING[identity] = (reference, {})
        if not callable(getattr(type(owner), "_handle_deferred_dependencies", None)) and not _is_waiting(type(owner)):
            owner.__class__ = _waiting_class(type(owner))  # type: ignore[arg-type]
    entry[1].setdefault(name, []).append((restoration, number))


def attribute_set(owner: Any, name: str, value: Any) -> None:
    """Restore what waits for this attribute; the latest checkpoint comes last, so that it wins.

    A trace may be given up and begun again, with another object: what is set by a trace stays waited for until
    `settle` is called.
    """
    entry = _WAITING.get(id(owner))
    if entry is None or name not in entry[1]:
        return
    for restoration, number in entry[1][name]:
        restoration.match(number, value)
    if current_region() is None:
        settle(owner, name)


def settle(owner: Any, name: str) -> None:
    """Wait no more for an attribute."""
    entry = _WAITING.get(id(owner))
    if entry is None:
        return
    entry[1].pop(name, None)
    if not entry[1]:
        del _WAITING[id(owner)]
        if _is_waiting(type(owner)):
            owner.__class__ = getattr(type(owner), _ORIGINAL)


def _is_waiting(kind: type) -> bool:
    return _ORIGINAL in vars(kind)


@lru_cache(maxsize=256)
def _waiting_class(kind: type) -> type:
    def set_attribute(self: Any, name: str, value: Any) -> None:
        kind.__setattr__(self, name, value)  # type: ignore[call-arg]
        attribute_set(self, name, value)

    set_attribute.__autoconv_watches_attributes__ = True  # type: ignore[attr-defined]
    names = {"__setattr__": set_attribute, "__slots__": (), _ORIGINAL: kind}
    names.update({name: getattr(kind, name) for name in ("__module__", "__qualname__", "__doc__")})
    return type(kind)(kind.__name__, (kind,), names)
