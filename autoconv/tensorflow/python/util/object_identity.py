"""`tensorflow.python.util.object_identity`: dicts and sets whose keys are compared by identity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping, MutableSet
from typing import Any


class Reference:
    """A reference to an object, equal to other references to the same one."""

    __slots__ = ("_referenced",)

    def __init__(self, wrapped: object) -> None:
        self._referenced = wrapped

    def deref(self) -> object:
        """Return the object."""
        return self._referenced

    unwrapped = property(deref)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._referenced is other._referenced

    def __hash__(self) -> int:
        return id(self._referenced)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._referenced!r}>"


class ObjectIdentityDictionary(MutableMapping[object, object]):
    """A dict whose keys are compared by identity."""

    def __init__(self, *args: Any, **kwargs: object) -> None:
        self._storage: dict[Reference, object] = {}
        self.update(*args, **kwargs)

    def __getitem__(self, key: object) -> object:
        return self._storage[Reference(key)]

    def __setitem__(self, key: object, value: object) -> None:
        self._storage[Reference(key)] = value

    def __delitem__(self, key: object) -> None:
        del self._storage[Reference(key)]

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[object]:
        return (reference.deref() for reference in self._storage)


class ObjectIdentitySet(MutableSet[object]):
    """A set whose items are compared by identity."""

    def __init__(self, items: Iterable[object] = ()) -> None:
        self._storage = dict.fromkeys(map(Reference, items))

    def __contains__(self, item: object) -> bool:
        return Reference(item) in self._storage

    def add(self, value: object) -> None:
        """Add an item."""
        self._storage[Reference(value)] = None

    def discard(self, value: object) -> None:
        """Remove an item if it is there."""
        self._storage.pop(Reference(value), None)

    def update(self, items: Iterable[object]) -> None:
        """Add items."""
        for item in items:
            self.add(item)

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[object]:
        return (reference.deref() for reference in self._storage)

