"""`keys()`, `values()` and `items()` of a dict that traced code made: what they show is what the dict holds when they
are asked, also where it has moved into the graph since they were made."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from autoconv.runtime.objects import SymbolicObject, record_object

_CLASSES = {"keys": type({}.keys()), "values": type({}.values()), "items": type({}.items())}
VIEWS = frozenset(_CLASSES)


class DictView:
    """A view of `owner`, a traced dict; `name` is the method that makes it."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: Any, name: str) -> None:
        self.owner = owner
        self.name = name

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return _CLASSES[self.name]

    @property
    def heap(self) -> SymbolicObject | None:
        """The object of the graph that the dict has become."""
        found: SymbolicObject | None = self.owner._heap
        return found

    def now(self) -> Any:
        """Python's own view, or the graph's where the dict is there."""
        found = getattr(self.owner, self.name)()
        return getattr(dict, self.name)(self.owner) if type(found) is DictView else found

    def __autoconv_box__(self) -> SymbolicObject:
        made: SymbolicObject = record_object("object_method", [self.owner], name=self.name, keywords=())
        return made

    def __autoconv_made_in__(self, region: Any) -> bool:
        """Whether the dict is the region's own: where that ends, the view is an object of the graph."""
        home = self.owner._home
        return home is not None and home.is_inside(region)

    def __iter__(self) -> Iterator[Any]:
        return self.owner.known_items(iter(self.now())) if self.heap is None else iter(self.now())

    def __reversed__(self) -> Iterator[Any]:
        return self.owner.known_items(reversed(self.now()))

    def __len__(self) -> int:
        return len(self.now())

    def __contains__(self, item: Any) -> bool:
        return item in self.now()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.now(), name)

    def __repr__(self) -> str:
        return repr(self.now())

    __hash__ = object.__hash__


def _as_it_is_now(value: Any) -> Any:
    return value.now() if type(value) is DictView else value


def _operator(function: Any) -> Any:
    return lambda self, other: function(self.now(), _as_it_is_now(other))


for _name in ("and", "or", "xor", "sub", "eq", "ne", "lt", "le", "gt", "ge"):
    setattr(DictView, f"__{_name}__", _operator(getattr(operator, f"{_name}_" if _name in ("and", "or") else _name)))
for _name in ("and", "or", "xor", "sub"):
    _function = getattr(operator, f"{_name}_" if _name in ("and", "or") else _name)
    setattr(DictView, f"__r{_name}__", lambda self, other, _function=_function: _function(other, self.now()))

__all__ = ["VIEWS", "DictView"]
