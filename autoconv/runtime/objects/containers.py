"""Traced lists, dicts and sets: Python's own until their contents depend on a tensor, then objects of the graph.

Such a container is a real list with items that are known while tracing. Once a region changes it, so that its length
depends on a tensor, it moves into the graph and every operation on it becomes a node. Under `compile` it becomes an
object of the graph (`materialise`); under `function` a list becomes tensor lists (`GraphItems`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from autoconv.errors import StagingError
from autoconv.runtime.objects.dict_views import DictView
from autoconv.runtime.objects.refused_values import refuse_in_replaced_range
from autoconv.runtime.objects.set_order import insertion_order
from autoconv.runtime.objects.symbol_search import holds_created_objects
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, apply_object, as_object, build_object
from autoconv.runtime.recording.deferred_stores import pause_stores
from autoconv.runtime.recording.journal import MISSING, Location
from autoconv.runtime.recording.regions import current_contract, current_region
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.support.structure import plain_class


class GraphItems:
    """The items of a list whose length is symbolic, under `function`.

    Immutable: a list that changes gets another one. `autoconv.operators.values.list_methods` implements its methods.
    """

    __slots__ = ()

    def call(self, owner: TracedList, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call `owner.name(*args, **kwargs)`, where `owner` holds these items."""
        raise NotImplementedError

    def stack(self, axis: int = 0) -> Any:
        """Stack the items into one tensor, along a new dimension."""
        raise NotImplementedError

    def concatenate(self, axis: int = 0) -> Any:
        """Concatenate the items, which are tensors, along a dimension."""
        raise NotImplementedError

    def reduce(self, op: str) -> Any:
        """Reduce the items, which are tensors, over the first dimension; numbers stay weak."""
        raise NotImplementedError

    def length(self) -> Any:
        """Return the number of items, a weak integer."""
        raise NotImplementedError

    def item(self, position: int) -> Any:
        """Return the item at a position, from the end if negative; IndexError at run time."""
        raise NotImplementedError


class TracedContainer:
    """Base of the traced containers.

    `_heap` is the object of the graph, `_items` the graph's items of a list under `function`, and `_home` the region
    that made the container. `_is_argument` is true for an argument of the traced function, which the caller owns.
    """

    __slots__ = ()
    _heap: SymbolicObject | None
    _items: GraphItems | None = None
    _home: Any
    _is_argument: bool

    def __autoconv_box__(self) -> SymbolicObject:
        return materialise(self)

    def __autoconv_graph_value__(self) -> Any:
        return materialise(self).value_in_graph

    def __autoconv_wrap__(self) -> Any:
        return as_object


class TracedList(list, TracedContainer):  # type: ignore[type-arg]
    """A list that traced code made, or takes as argument."""

    __slots__ = ("_heap", "_home", "_is_argument", "_items")
    move_to_graph: ClassVar[Callable[[TracedList], GraphItems]]  # moves a list into the graph under `function`
    search: ClassVar[Callable[..., Any]]  # the methods that compare symbolic items, under `function`

    def __init__(self, items: Any = ()) -> None:
        list.__init__(self, items)
        self._heap = None
        self._items = None
        self._home = current_region()
        self._is_argument = False

    def __radd__(self, other: object) -> Any:
        """Concatenate a plain list and this one; Python's own method would see a moved list as empty."""
        return trace_container(list(other)) + self if isinstance(other, list) else NotImplemented

    def __autoconv_stack__(self) -> Any:
        """Stack the items into one tensor, where their number is symbolic; else return None."""
        return None if self._items is None else self._items.stack()


class TracedDict(dict, TracedContainer):  # type: ignore[type-arg]
    """A dict that traced code made, or takes as argument."""

    __slots__ = ("_heap", "_home", "_is_argument")
    call_with_optional_keys: ClassVar[Callable[..., Any]]  # the methods of a dict with optional keys
    iterate_static: ClassVar[Callable[..., Any]]  # guards one of Python's own iterators while the contents are static

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        dict.__init__(self, *args, **kwargs)
        self._heap = None
        self._home = current_region()
        self._is_argument = False


class TracedSet(set, TracedContainer):  # type: ignore[type-arg]
    """A set that traced code made; `_source` caches `ordered_source`."""

    __slots__ = ("_heap", "_home", "_is_argument", "_source")

    def __init__(self, items: Any = ()) -> None:
        set.__init__(self, _ordered_source(items) if type(items) is set else items)
        self._heap = None
        self._home = current_region()
        self._source = None
        self._is_argument = False

    def ordered_source(self) -> Any:
        """Return elements from which an equal set with the same iteration order can be made.

        The result is cached: the set must not change after the first call.
        """
        if self._source is None:
            self._source = _ordered_source(self)
        return self._source


def _ordered_source(elements: set[Any], one_by_one: bool = False) -> Any:
    """Return a container of the elements from which a set with the same hash table is made.

    With `one_by_one`, that set is made by adding one element after the other.
    """
    return _order_or_elements(set.__iter__(elements), insertion_order(elements, one_by_one=one_by_one))


def _order_or_elements(elements: Iterator[Any], order: Any) -> Any:
    """Return `order`, or the elements if it is None; raise StagingError for None where the graph makes the set."""
    if order is None and current_contract().objects_in_graph:
        raise StagingError(
            "a set cannot be made again in the order that it has, since elements were removed or it was joined",
            current_place(), "a dict, which keeps the order of insertion",
        )  # fmt: skip
    return list(elements) if order is None else order


TRACED_CLASS_BY_PLAIN: dict[type, type] = {list: TracedList, dict: TracedDict, set: TracedSet}
TRACED_TO_PLAIN: dict[type, type] = {traced: plain for plain, traced in TRACED_CLASS_BY_PLAIN.items()}
for _traced, _plain in TRACED_TO_PLAIN.items():
    _traced.__autoconv_plain__ = _plain  # type: ignore[attr-defined]
    _traced.__name__ = _plain.__name__  # the name in Python's error messages


def trace_container(container: object) -> Any:
    """Wrap a newly made list, dict or set as a traced container; return other values unchanged."""
    traced_class = TRACED_CLASS_BY_PLAIN.get(type(container))
    return container if traced_class is None else traced_class(container)


def traced_result(container: object, references: int = 0) -> Any:
    """Wrap the result of a call as `trace_container` does, if the call allocated it.

    Write the call as the argument itself, so that no variable refers to its result. `references` counts the attributes
    that refer to it; a container with more references existed before the call, and is returned unchanged.
    """
    if type(container) not in TRACED_CLASS_BY_PLAIN:
        return container
    is_new = sys.getrefcount(container) <= _REFERENCES_OF_RESULT + references
    return trace_container(container) if is_new else container


_REFERENCES_OF_RESULT = 2  # the references of the parameter, and of getrefcount's argument


def traced_argument(value: Any) -> Any:
    """Return a copy of an argument in which traced containers replace its lists and dicts, on all levels."""
    class_ = type(value)
    if class_ is dict:
        result: Any = TracedDict({key: traced_argument(item) for key, item in value.items()})
    elif class_ is list:
        result = TracedList(map(traced_argument, value))
    else:
        return tuple(map(traced_argument, value)) if class_ is tuple else value
    result._is_argument = True
    return result


def untraced_copy(value: Any) -> Any:
    """Return a result with traced containers copied to Python's own; return everything else unchanged."""
    plain_class: Any = TRACED_TO_PLAIN.get(type(value), type(value))
    if plain_class not in TRACED_CLASS_BY_PLAIN:
        return tuple(map(untraced_copy, value)) if plain_class is tuple else value
    if plain_class is dict:
        return {key: untraced_copy(item) for key, item in dict.items(value)}
    if plain_class is set:
        return set(value.ordered_source() if type(value) is TracedSet else value)
    return list(map(untraced_copy, list.__iter__(value)))


def heap_of(value: Any) -> SymbolicObject | None:
    """Return the graph's object for a container, or for the dict of a view; None if there is none."""
    if type(value) is DictView:
        return value.heap
    return value._heap if type(value) in TRACED_TO_PLAIN else None


def has_graph_object(value: object) -> bool:
    """Return whether a value is an object of the graph, or a container that has one."""
    return type(value) is SymbolicObject or heap_of(value) is not None


def is_optional(value: Any) -> bool:
    """Return whether the presence of the value depends on a tensor."""
    return hasattr(type(value), "__autoconv_present__") and any(arm is MISSING for arm in value.values)


def has_optional_keys(value: object) -> bool:
    """Return whether some keys of a dict are optional at run time, under `function`."""
    return type(value) is TracedDict and any(map(is_optional, dict.values(value)))


def items_of(value: object) -> Any:
    """Return the graph's items of a list whose length is symbolic, under `function`; None for everything else."""
    if type(value) is not TracedList or value._items is None:
        return None
    if list.__len__(value):
        raise StagingError(
            "Python itself changes a list whose length is known only at run time", current_place(),
            "the list's own methods, in converted code",
        )  # fmt: skip
    return value._items


def has_static_contents(container: object) -> bool:
    """Return whether the contents of a traced list, dict or set are static."""
    return heap_of(container) is None and items_of(container) is None


def set_graph_items(container: TracedList, items: GraphItems) -> None:
    """Replace a list's contents by the graph's items; the region's journal records the change."""
    record_container_change(container)
    _restore_contents(container, items)


class UnmovedError(StagingError):
    """A result of a recorded region refers, as an object of the graph, to a `container` made before the region.

    The container has to be moved into the graph first, and the region recorded again.
    """

    def __init__(self, container: object) -> None:
        super().__init__("a list, dict or set becomes part of the graph too late", current_place())
        self.container = container


def materialise(container: Any) -> SymbolicObject:
    """Move a container into the graph, at the current point of the region being recorded."""
    if container._heap is not None:
        return container._heap
    region = current_region()
    if region is not None and id(container) in region.trace.argument_containers:
        refuse_in_replaced_range(region.trace, container)
        region.contract.require_original(container, "an argument becomes part of a value known only at run time")
    # The journal ends with the code of the region; what is recorded after that converts the region's results.
    is_after_journal = region is not None and region.journal is None and region.parent is not None
    if is_after_journal and _is_from_enclosing_region(container):
        raise UnmovedError(container)
    record_container_change(container)
    plain_class: Any = TRACED_TO_PLAIN[type(container)]
    if plain_class is set:
        items = _ordered_source(container, one_by_one=True)
    else:
        items = list(plain_class.items(container)) if plain_class is dict else list(plain_class.__iter__(container))
    # The listeners would move the container themselves, to store it.
    with pause_stores(region.trace.store_listeners if region is not None else ()):
        if type(items) is frozenset and not holds_created_objects(container):
            heap = apply_object("set", items)
        else:
            heap = build_object(plain_class.__name__, items)
    _restore_contents(container, heap)
    return heap


def _is_from_enclosing_region(container: Any) -> bool:
    """Return whether an enclosing region made the container, not the current one."""
    region = current_region()
    assert region is not None
    return region.is_inside(container._home) and container._home.merged_region is not region


class SetContents(frozenset):  # type: ignore[type-arg]
    """The elements of a set when `contents` read them, with the order from which an equal set can be made."""

    _order: Any

    def __new__(cls, elements: set[Any]) -> SetContents:
        result = super().__new__(cls, elements)
        result._order = insertion_order(elements)
        return result

    def ordered_source(self) -> Any:
        """Return elements from which a set with the same hash table is made."""
        return _order_or_elements(iter(self), self._order)


def contents(container: Any) -> Any:
    """Return the contents: a tuple of items or pairs, a frozenset, the graph's items, or the object of the graph."""
    if type(container) in TRACED_TO_PLAIN and container._heap is not None:
        return container._heap
    if isinstance(container, list):
        result = items_of(container)
        if result is not None:
            return result
        return tuple(list.__iter__(container))
    return tuple(dict.items(container)) if isinstance(container, dict) else SetContents(container)


def _restore_contents(container: Any, items: Any) -> None:
    """Give the container the contents `items`, as `contents` returns them."""
    if type(container) in TRACED_TO_PLAIN:
        container._heap = items if isinstance(items, SymbolicObject) else None
        items = () if container._heap is not None else items
    if type(container) is TracedList:
        items = items if items_of(items) is None else items._items
        container._items = items if isinstance(items, GraphItems) else None
        items = () if container._items is not None else items
    if isinstance(container, list):
        list.__setitem__(container, slice(None), items)
    elif isinstance(container, dict):
        dict.clear(container)
        dict.update(container, [(key, value) for key, value in items if value is not MISSING])
    else:
        set.clear(container)
        set.update(container, items.ordered_source() if type(items) is SetContents else items)


def container_location(container: object) -> Location:
    """Return the contents of a list, dict or set as a location that regions write."""
    plain_class = TRACED_TO_PLAIN.get(type(container), type(container))
    return Location(
        (id(container),),
        with_article(plain_class),
        lambda: contents(container),
        lambda saved_contents: _restore_contents(container, saved_contents),
        owner=container,
        home=getattr(container, "_home", None),
    )


def record_container_change(container: object) -> None:
    """Record in the region's journal that a container is about to change, unless the region made it."""
    region = current_region()
    journal = region.journal if region is not None else None
    is_argument = region is not None and getattr(container, "_is_argument", False)
    if region is not None and is_argument and id(container) not in region.trace.argument_containers:
        region.contract.require_original(container, "an argument is changed")
    if region is not None and id(container) in region.trace.frozen_objects:
        class_name = plain_class(container).__name__
        raise StagingError(
            f"a {class_name} is changed whose return depends on a tensor, or that is an item of a list in the graph",
            current_place(),
            "all changes before it is returned, or becomes an item",
        )
    if journal is None or heap_of(container) is not None:
        return
    journal.record(container_location(container))
