"""`keys()`, `values()` and `items()` of a traced dict.

A view shows the current contents, also of a dict that moved into the graph after the view was made.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from autoconv.graph.python_operators import COMPARISONS
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, apply_object, record_object

_CLASS_BY_VIEW = {"keys": type({}.keys()), "values": type({}.values()), "items": type({}.items())}
VIEWS = frozenset(_CLASS_BY_VIEW)
SET_LIKE_VIEWS = (_CLASS_BY_VIEW["keys"], _CLASS_BY_VIEW["items"])  # Python's classes of views with set operators


class DictView:
    """A view of `owner`, a traced dict; `name` is the method that makes it."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: Any, name: str) -> None:
        self.owner = owner
        self.name = name

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return _CLASS_BY_VIEW[self.name]

    @property
    def heap(self) -> SymbolicObject | None:
        """The graph's object for the dict, or None."""
        result: SymbolicObject | None = self.owner._heap
        return result

    def current_view(self) -> Any:
        """Return Python's own view, or the graph's object where the dict is in the graph."""
        view = getattr(self.owner, self.name)()
        return getattr(dict, self.name)(self.owner) if type(view) is DictView else view

    def __autoconv_box__(self) -> SymbolicObject:
        result: SymbolicObject = record_object("object_method", [self.owner], name=self.name, keywords=())
        return result

    def __autoconv_leaves_as_object__(self, region: Any) -> bool:
        """Return whether the dict belongs to the region; at the region's end the view becomes a graph object."""
        home = self.owner._home
        return home is not None and home.is_inside(region)

    def __iter__(self) -> Iterator[Any]:
        return self.owner.iterate_static(iter(self.current_view())) if self.heap is None else iter(self.current_view())

    def __reversed__(self) -> Iterator[Any]:
        return self.owner.iterate_static(reversed(self.current_view()))

    def __len__(self) -> int:
        return len(self.current_view())

    def __contains__(self, item: object) -> bool:
        return item in self.current_view()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.current_view(), name)

    def __repr__(self) -> str:
        return repr(self.current_view())

    __hash__ = object.__hash__


def _apply(name: str, x: object, y: object) -> Any:
    """Apply an operator to two operands, at least one of them a view.

    Python's own operator would read the other operand's storage directly, which is empty for a dict in the graph.
    """
    heaps = (operand.heap if type(operand) is DictView else getattr(operand, "_heap", None) for operand in (x, y))
    if any(heap is not None for heap in heaps):
        return apply_object(name, x, y)
    first, second = (operand.current_view() if type(operand) is DictView else operand for operand in (x, y))
    return getattr(operator, f"{name}_" if name in ("and", "or") else name)(first, second)


def _operator_method(name: str) -> Any:
    return lambda self, other: _apply(name, self, other)


def _reflected_method(name: str) -> Any:
    return lambda self, other: _apply(name, other, self)


for _name in ("and", "or", "xor", "sub", *(comparison.name for comparison in COMPARISONS)):
    setattr(DictView, f"__{_name}__", _operator_method(_name))
for _name in ("and", "or", "xor", "sub"):
    setattr(DictView, f"__r{_name}__", _reflected_method(_name))
