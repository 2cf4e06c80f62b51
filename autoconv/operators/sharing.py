"""Lists, dicts and sets that several regions see: what moves into the graph, and what is refused."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from autoconv.errors import (
    StagingError,
)
from autoconv.operators.bodies import Recorded
from autoconv.operators.copies import copied
from autoconv.operators.joining import join_layouts
from autoconv.operators.layout import (
    NEVER,
    Layout,
    Leaf,
    Never,
    Parts,
    Static,
    Variant,
    home_of,
    is_object_layout,
    layout_of,
    made_here,
    state_layout,
)
from autoconv.operators.names import Undefined
from autoconv.operators.twins import wants_identity
from autoconv.runtime.containers import PLAIN, container_spot, heap_of, materialise
from autoconv.runtime.journal import Spot
from autoconv.runtime.objects import SymbolicObject, box, heap_instance, holds_symbols
from autoconv.runtime.recording import COMPILE, Region, recording
from autoconv.runtime.spans import current_place
from autoconv.runtime.structure import mutable_parts


def move_into_graph(
    parent: Region, columns: Sequence[Sequence[Any]], layouts: Sequence[Layout], spots: Sequence[Spot], count: int
) -> bool:
    """Moves lists, dicts and sets of the traced code, whose contents depend on a tensor in more than the values of
    their items, into the graph; says whether there were any, so that the regions have to be recorded again."""
    if parent.contract != COMPILE:
        return False
    moving = []
    for column, layout in zip(columns, layouts, strict=True):
        if is_object_layout(layout):  # which is more than one region: each would make an object of its own
            held = [part for value in column for part in _containers(value)]
            moving += [part for part in held if parent.is_inside(_home(part, parent))]
    for spot, column, layout in zip(spots, columns[count:], layouts[count:], strict=True):
        if spot.kind == "instance" or (type(spot.owner) in PLAIN and not _keeps_shape(column, layout)):
            moving.append(spot.owner)
    found = False
    for container in moving:
        if not is_moved(container):
            box(container)
            found = True
    return found


def _containers(value: Any) -> Iterator[Any]:
    """The lists, dicts and sets of the traced code in a value that is about to become an object of the graph."""
    if type(value) is Variant:
        for arm in value.values:
            yield from _containers(arm)
    elif type(value) in PLAIN or made_here(value):
        yield value
    elif type(value) is tuple:
        for part in value:
            yield from _containers(part)


def _home(value: Any, region: Region) -> Region | None:
    return value._home if type(value) in PLAIN else home_of(value, region)


def is_moved(value: Any) -> bool:
    """Whether a container, or an object of the user's, is in the graph."""
    return heap_of(value) is not None or heap_instance(value) is not None


def move_shared(parent: Region, arm: Recorded | None, values: Sequence[Any], hands_on: bool = False) -> bool:
    """Moves lists, dicts and sets that several of the values hold into the graph, where they stay one. Says whether any
    was there before the arm, which then has to be recorded again; where the arm `hands_on` to the region behind it,
    and to no other, such a one stays what it is."""
    if parent.contract != COMPILE:
        return False
    seen: set[int] = set()
    found = False
    for part in [part for value in values for part in mutable_parts(value)]:
        if id(part) in seen and type(part) in PLAIN and heap_of(part) is None:
            before = arm is None or parent.is_inside(part._home)
            if before and hands_on:
                continue
            with recording(parent if arm is None or before else arm.region):
                materialise(part)
            found |= before
        seen.add(id(part))
    return found


def is_another_name(column: Sequence[Any], parent: Region | None) -> bool:
    """Whether a tensor decides that a name is another name of a list, dict or set that is there already."""
    there = [v for v in column if type(v) in PLAIN and parent is not None and parent.is_inside(v._home)]
    if not there:
        return False
    # Under `compile`, what is known of it would be put together anew.
    copied = there[0]._home.contract == COMPILE and heap_of(there[0]) is None and holds_symbols(there[0])
    return any(v is not there[0] for v in column if not (v is NEVER or (_is_nothing(v) and not copied)))


def _is_nothing(value: Any) -> bool:
    return value is None or isinstance(value, Undefined)


def move_parts(parent: Region, columns: Mapping[str, Sequence[Any]]) -> bool:
    """Moves lists, dicts and sets that were there before the arms, and are in a tuple that a name holds behind one of
    them, into the graph, where they stay the ones that they are. Says whether there were any."""
    if parent.contract != COMPILE:
        return False
    found = False
    for name, column in columns.items():
        held = [value for value in column if value is not NEVER]
        if name.startswith("retval_") or all(value is held[0] for value in held):
            continue
        for part in [part for value in held if isinstance(value, tuple) for part in mutable_parts(value)]:
            if type(part) in PLAIN and heap_of(part) is None and parent.is_inside(part._home):
                materialise(part)
                found = True
    return found


def move_raised(parent: Region, arms: Iterable[Recorded]) -> bool:
    """Moves lists, dicts, sets and objects of the traced code, which became part of an exception where an arm ends by
    raising it, into the graph: nothing but this tells of what the arm did. Says whether there were any."""
    if parent.contract != COMPILE:
        return False
    found = False
    for arm in arms:
        for key, spot in arm.spots.items() if arm.diverges else ():
            kept = type(spot.owner) in PLAIN or spot.kind == "instance"
            if kept and type(arm.written.get(key)) is SymbolicObject and not is_moved(spot.owner):
                box(spot.owner)
                found = True
    return found


def move_new_into_graph(parent: Region, stepped: Recorded, spots: Sequence[Spot]) -> bool:
    """As `move_into_graph`, for what a loop's body was seen to write for the first time."""
    columns, layouts = [], []
    for spot in spots:
        before, after = spot.read(), stepped.value_of(spot)
        later = NEVER if after is NEVER else layout_of(after, stepped.region)
        columns.append([before, after])
        layouts.append(join_layouts(state_layout(before, parent), later, spot.name, parent.contract))
    return move_into_graph(parent, columns, layouts, spots, 0)


def refuse_changed_copies(region: Region, spots: Iterable[Spot], handled: Collection[int] = ()) -> None:
    """Refuses an object that one path changes and another replaces: its copies would not know of each other. What is
    `handled` was copied as the path leaves it."""
    for spot in spots:
        if id(spot.owner) in region.trace.frozen and id(spot.owner) not in handled:
            wants_identity(spot.owner)
            raise StagingError(f"a tensor decides which object this is, and {spot.name} is changed", current_place())


def _keeps_shape(column: Sequence[Any], layout: Layout) -> bool:
    """Whether contents written on several paths are as many items of one kind each, so that they stay known."""
    if any(value is not NEVER and not isinstance(value, tuple) for value in column):
        return False
    return isinstance(layout, (Static, Never)) or (
        isinstance(layout, Parts) and all(isinstance(part, (Static, Leaf, Never)) for part in layout.parts)
        and not any(map(is_object_layout, layout.parts))
    )  # fmt: skip


def check_alias(region: Region, body: Any, value: Any, layout: Layout, name: str) -> None:
    """Under `compile`, a list that an arm gives a second name stays one list: plain Python."""
    if type(value) in PLAIN:
        return
    if name.startswith("retval_"):  # what a function returns has no other name any more, unless something changes it
        for part in mutable_parts(value):
            if type(part) in PLAIN and part._outside:  # the result has to be the argument itself
                region.trace.outside_effect(part, "a tensor decides whether an argument is returned")
        region.trace.frozen.update({id(part): part for part in copied(value, layout) if type(part) in PLAIN})
        return
    parts = {id(part) for part in mutable_parts(value)}
    if parts and any(id(part) in parts for other in _read_by(body, name) for part in mutable_parts(other)):
        region.trace.outside_effect(region, f"a tensor decides whether {name!r} is another name of a list or dict")


def _read_by(body: Any, name: str, depth: int = 3) -> Iterator[Any]:
    """What the names but `name` hold that a function's body reads from around it."""
    cells = getattr(body, "__closure__", None) or ()
    for known, cell in zip(body.__code__.co_freevars if cells else (), cells, strict=True):
        try:
            value = cell.cell_contents
        except ValueError:
            continue
        if known != name:
            yield value
        if depth and isinstance(value, FunctionType):
            yield from _read_by(value, name, depth - 1)


@contextmanager
def unnoted_changes(body: Any, inputs: Any, place: Any) -> Iterator[None]:
    """Refuses a body that changes a list or dict unnoticed by the journal, and takes the change back."""
    known = [*inputs, *_read_by(body, "")]
    held = [part for value in known for part in mutable_parts(value)]
    spots = [container_spot(part) for part in held if isinstance(part, (list, dict))]
    spots += [_queue_spot(value) for value in known if type(value) in (deque, bytearray)]
    before = [spot.read() for spot in spots]
    changed = ""
    try:
        yield
    finally:
        for spot, contents in zip(spots, before, strict=True):
            if not same_items(spot.read(), contents):
                spot.write(contents)
                changed = spot.name
    if changed:
        raise StagingError(
            f"{changed} is changed in place where a tensor decides whether it is",
            place,
            "an assignment of a new value to the name",
        )


def _queue_spot(queue: deque[Any] | bytearray) -> Spot:
    """The contents of a queue or of bytes that can be changed."""

    def write(items: Any) -> None:
        queue.clear()
        queue.extend(items)

    return Spot((id(queue),), f"a {type(queue).__name__}", lambda: tuple(queue), write, queue)


def same_items(now: Any, before: Any) -> bool:
    """Whether the contents of a container are the same objects."""
    if not isinstance(now, (tuple, frozenset)) or not isinstance(before, (tuple, frozenset)):
        return now is before
    if len(now) != len(before):
        return False
    return all(
        a is b or (type(a) is tuple and type(b) is tuple and len(a) == len(b) == 2 and a[0] is b[0] and a[1] is b[1])
        for a, b in zip(now, before, strict=True)
    )
