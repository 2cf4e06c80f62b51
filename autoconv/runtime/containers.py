"""Lists, dicts and sets that traced code makes: Python's own until a tensor decides what they hold, then the graph's.

Such a container is a real list with its items known while tracing; once it is changed in a region, so that how long it
is depends on a tensor, it moves into the graph, and every operation on it becomes a node. Under `compile` it is an
object of the graph then (`materialise`); under `function` a list is tensor lists (`GraphItems`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, ClassVar

from autoconv.errors import StagingError
from autoconv.runtime.dict_views import DictView
from autoconv.runtime.journal import MISSING, Spot
from autoconv.runtime.objects import SymbolicObject, as_object, build_object
from autoconv.runtime.recording import current_region
from autoconv.runtime.spans import current_place
from autoconv.runtime.stores import paused
from autoconv.runtime.structure import plain_kind


class GraphItems:
    """What a list holds whose length only the graph knows, under `function`. It is never changed: a list that changes
    holds another one. `autoconv.operators.list_methods` has what its methods do.
    """

    __slots__ = ()

    def call(self, owner: TracedList, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`owner.name(*args, **kwargs)`, where `owner` holds these items."""
        raise NotImplementedError

    def stacked(self, axis: int = 0) -> Any:
        """The items as one tensor, along a new dimension."""
        raise NotImplementedError

    def joined(self, axis: int = 0) -> Any:
        """The items, which are tensors, one behind the other along a dimension."""
        raise NotImplementedError

    def reduced(self, op: str) -> Any:
        """A reduction of the items, which are tensors, over the first dimension; numbers stay weak."""
        raise NotImplementedError

    def length(self) -> Any:
        """How many there are, a weak integer."""
        raise NotImplementedError

    def item(self, position: Any) -> Any:
        """The item at a position, counted from the end where it is negative; IndexError when the graph runs."""
        raise NotImplementedError


class Traced:
    """What the three have in common.

    `_heap` is the object of the graph, `_items` what a list has become under `function`, `_home` the region that made
    it; `_outside` stands for an argument of the traced function, which is somebody else's.
    """

    __slots__ = ()
    _heap: SymbolicObject | None
    _items: GraphItems | None = None
    _home: Any
    _outside: bool

    def __autoconv_box__(self) -> SymbolicObject:
        return materialise(self)

    def __autoconv_graph_value__(self) -> Any:
        return materialise(self).value_in_graph

    def __autoconv_wrap__(self) -> Any:
        return as_object


class TracedList(list, Traced):  # type: ignore[type-arg]
    __slots__ = ("_heap", "_home", "_items", "_outside")
    grow: ClassVar[Callable[[TracedList], GraphItems]]  # moves a list into the graph under `function`

    def __init__(self, items: Any = ()) -> None:
        list.__init__(self, items)
        self._heap = None
        self._items = None
        self._home = current_region()
        self._outside = False

    def __radd__(self, other: Any) -> Any:
        """A list that no trace follows, and this one: Python's own would find one that has moved empty."""
        return traced(list(other)) + self if isinstance(other, list) else NotImplemented

    def __autoconv_stacked__(self) -> Any:
        """The items as one tensor, where only the graph knows how many there are; else None."""
        return None if self._items is None else self._items.stacked()


class TracedDict(dict, Traced):  # type: ignore[type-arg]
    __slots__ = ("_heap", "_home", "_outside")
    call_maybe: ClassVar[Callable[..., Any]]  # the methods of a dict that may not have all of its keys
    known_items: ClassVar[Callable[..., Any]]  # what an iterator of Python's own over it gives, while that is known

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        dict.__init__(self, *args, **kwargs)
        self._heap = None
        self._home = current_region()
        self._outside = False


class TracedSet(set, Traced):  # type: ignore[type-arg]
    __slots__ = ("_heap", "_home", "_outside")

    def __init__(self, items: Any = ()) -> None:
        set.__init__(self, items)
        self._heap = None
        self._home = current_region()
        self._outside = False


KINDS: dict[type, type] = {list: TracedList, dict: TracedDict, set: TracedSet}
PLAIN: dict[type, type] = {traced: plain for plain, traced in KINDS.items()}
for _traced, _plain in PLAIN.items():
    _traced.__autoconv_plain__ = _plain  # type: ignore[attr-defined]
    _traced.__name__ = _plain.__name__  # what messages of Python's call it


def traced(container: Any) -> Any:
    """A list, dict or set that was just made, as one that a trace can follow."""
    kind = KINDS.get(type(container))
    return container if kind is None else kind(container)


def traced_result(given: Any, held: int = 0) -> Any:
    """As `traced`, for what a call gave, written as the argument itself: what others hold than `held` attributes was
    there before, and is no copy."""
    return traced(given) if type(given) in KINDS and sys.getrefcount(given) <= _OF_A_CALL + held else given


_OF_A_CALL = 2  # the parameter, and what is given to getrefcount


def traced_argument(value: Any) -> Any:
    """An argument that was taken apart and put together again, as what a trace follows."""
    kind = type(value)
    if kind is dict:
        made: Any = TracedDict({key: traced_argument(item) for key, item in value.items()})
    elif kind is list:
        made = TracedList(map(traced_argument, value))
    else:
        return tuple(map(traced_argument, value)) if kind is tuple else value
    made._outside = True
    return made


def untraced_copy(value: Any) -> Any:
    """New containers of Python's own for those in a result, which belong to the trace; everything else as it is."""
    kind: Any = PLAIN.get(type(value), type(value))
    if kind not in KINDS:
        return tuple(map(untraced_copy, value)) if kind is tuple else value
    if kind is dict:
        return {key: untraced_copy(item) for key, item in dict.items(value)}
    return kind(map(untraced_copy, kind.__iter__(value)))


def heap_of(value: Any) -> SymbolicObject | None:
    """The object of the graph that a container has become; of a view of a dict, that the dict has."""
    kind = type(value)
    return value._heap if kind in PLAIN else value.heap if kind is DictView else None


def is_maybe(value: Any) -> bool:
    """Whether a tensor decides that there is such a value."""
    return hasattr(type(value), "__autoconv_present__") and any(arm is MISSING for arm in value.values)


def may_lack_keys(value: Any) -> bool:
    """Whether a tensor decides that a dict has some of its keys, under `function`."""
    return type(value) is TracedDict and any(map(is_maybe, dict.values(value)))


def items_of(value: Any) -> Any:
    """What a list holds whose length only the graph knows under `function`; None for everything else."""
    if type(value) is not TracedList or value._items is None:
        return None
    if list.__len__(value):
        raise StagingError(
            "a list is changed by Python itself whose length only the running graph knows", current_place(),
            "the list's own methods, in converted code",
        )  # fmt: skip
    return value._items


def is_known(container: Any) -> bool:
    """Whether Python knows what a list, dict or set of the traced code holds."""
    return heap_of(container) is None and items_of(container) is None


def hold_items(container: TracedList, items: GraphItems) -> None:
    """Makes a list hold what only the graph knows; noted where a region is traced."""
    note_container(container)
    _put(container, items)


class UnmovedError(StagingError):
    """What a region that has been recorded gives out holds, as an object of the graph, a `container` that was there
    before it. The container has to move into the graph first, and the region to be recorded again."""

    def __init__(self, container: Any) -> None:
        super().__init__("a list, dict or set becomes part of the graph too late", current_place())
        self.container = container


def materialise(container: Any) -> SymbolicObject:
    """Moves a container into the graph, at this point of the region that is recorded."""
    if container._heap is not None:
        return container._heap
    region = current_region()
    is_recorded = region is not None and region.journal is None and region.parent is not None
    if is_recorded and _is_from_around(container):
        raise UnmovedError(container)
    note_container(container)
    kind: Any = PLAIN[type(container)]
    items = list(kind.items(container)) if kind is dict else list(kind.__iter__(container))
    with paused(region.trace.stores if region is not None else ()):  # which would move it themselves, to store it
        heap = build_object(kind.__name__, items)
    _put(container, heap)
    return heap


def _is_from_around(container: Any) -> bool:
    region = current_region()
    assert region is not None
    return region.is_inside(container._home) and container._home.standing is not region


def contents(container: Any) -> Any:
    """What a container holds: a tuple of items (of pairs), a frozenset, or the object of the graph."""
    if type(container) in PLAIN and container._heap is not None:
        return container._heap
    if isinstance(container, list):
        found = items_of(container)
        if found is not None:
            return found
        return tuple(list.__iter__(container))
    return tuple(dict.items(container)) if isinstance(container, dict) else frozenset(set.__iter__(container))


def _put(container: Any, held: Any) -> None:
    """Makes a container hold what `contents` gave."""
    if type(container) in PLAIN:
        container._heap = held if isinstance(held, SymbolicObject) else None
        held = () if container._heap is not None else held
    if type(container) is TracedList:
        held = held if items_of(held) is None else held._items
        container._items = held if isinstance(held, GraphItems) else None
        held = () if container._items is not None else held
    if isinstance(container, list):
        list.__setitem__(container, slice(None), held)
    elif isinstance(container, dict):
        dict.clear(container)
        dict.update(container, [pair for pair in held if pair[1] is not MISSING])
    else:
        set.clear(container)
        set.update(container, held)


def container_spot(container: Any) -> Spot:
    """The contents of a list, dict or set, as something that regions write."""
    plain = PLAIN.get(type(container), type(container))
    return Spot(
        (id(container),),
        f"a {plain.__name__}",
        lambda: contents(container),
        lambda held: _put(container, held),
        container,
        getattr(container, "_home", None),
    )


def note_container(container: Any) -> None:
    """Notes in the journal of the region that a container is about to change, unless the region made it."""
    region = current_region()
    journal = region.journal if region is not None else None
    if region is not None and getattr(container, "_outside", False) and region.trace.outside_effect is not None:
        region.trace.outside_effect(container, "an argument is changed")
    if region is not None and id(container) in region.trace.frozen:
        kind = plain_kind(container).__name__
        raise StagingError(
            f"a {kind} is changed that a tensor decides to return, or that is an item of a list of the graph",
            current_place(),
            "all changes before it is returned, or becomes an item",
        )
    if journal is None or heap_of(container) is not None:
        return
    journal.note(container_spot(container))


__all__ = ["PLAIN", "Traced", "container_spot", "contents", "heap_of", "materialise", "note_container", "traced"]
