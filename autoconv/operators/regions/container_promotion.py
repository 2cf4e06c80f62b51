"""Move into the graph the containers that several regions share, or refuse them."""

from __future__ import annotations

import keyword
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any

from autoconv.errors import StagingError
from autoconv.operators.regions.layout import (
    NEVER,
    Arms,
    Layout,
    Leaf,
    Never,
    Parts,
    Static,
    Variant,
    is_number_layout,
    is_object_layout,
)
from autoconv.operators.regions.layout_join import join_layouts
from autoconv.operators.regions.region_body import RecordedBody
from autoconv.operators.regions.shared_identity import require_identity
from autoconv.operators.regions.unsharing import copied_objects
from autoconv.operators.regions.value_layout import creating_region_of, is_created_here, layout_of, state_layout
from autoconv.operators.support.protected_names import is_absent
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, container_location, heap_of, materialise
from autoconv.runtime.objects.symbol_search import holds_symbols
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, box, graph_object
from autoconv.runtime.recording.journal import Location
from autoconv.runtime.recording.regions import Region, recording
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.attributes import attributes_of
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.support.structure import ATOMS, is_structure, mutable_parts, structure_parts


def move_into_graph(
    parent: Region,
    columns: Sequence[Sequence[Any]],
    layouts: Sequence[Layout],
    locations: Sequence[Location],
    result_count: int,
) -> bool:
    """Move into the graph the traced containers whose structure, not only the values of items, depends on a tensor.

    A column has the values of one result, or of one location, in each region: first the results, `result_count` of
    them, then the `locations`. Returns whether there were any such containers: the regions have to be recorded again.
    """
    if not parent.contract.promises_identity:
        return False
    moving_containers = []
    for column, layout in zip(columns, layouts, strict=True):
        if is_object_layout(layout):  # existing containers in such a result keep their identity only in the graph
            containers = [part for value in column for part in _containers_and_instances(value)]
            moving_containers += [part for part in containers if _exists_before_regions(part, parent)]
    for location, column, layout in zip(locations, columns[result_count:], layouts[result_count:], strict=True):
        is_container = type(location.owner) in TRACED_TO_PLAIN
        if location.kind == "instance" or (is_container and not _keeps_structure(column, layout)):
            moving_containers.append(location.owner)
    has_moved = False
    for container in moving_containers:
        if not is_moved(container):
            box(container)
            has_moved = True
    return has_moved


def _containers_and_instances(value: object) -> Iterator[Any]:
    """Yield the traced containers, and instances created in this trace, in a value that will become a graph object."""
    if type(value) is Variant:
        for arm in value.values:
            yield from _containers_and_instances(arm)
    elif type(value) in TRACED_TO_PLAIN or is_created_here(value):
        yield value
    elif type(value) is tuple:
        for part in value:
            yield from _containers_and_instances(part)


def _exists_before_regions(value: Any, parent: Region) -> bool:
    """Return whether a container or instance was created outside the regions that are recorded inside `parent`."""
    return parent.is_inside(value._home if type(value) in TRACED_TO_PLAIN else creating_region_of(value, parent))


def is_moved(value: object) -> bool:
    """Return whether a container or object is in the graph."""
    return heap_of(value) is not None or graph_object(value) is not None


def move_shared_containers(
    parent: Region, arm: RecordedBody | None, values: Sequence[Any], is_for_next_region: bool = False
) -> bool:
    """Move containers that several of the values hold into the graph, where they keep their identity.

    Returns whether any of them existed before the arm, which then has to be recorded again. Without `arm`, all count
    as existing before. With `is_for_next_region`, the values of the arm go only to the region after it, and a
    container from before the arm stays as it is.
    """
    if not parent.contract.promises_identity:
        return False
    seen_ids: set[int] = set()
    has_moved_older = False
    for part in [part for value in values for part in mutable_parts(value)]:
        if id(part) in seen_ids and type(part) in TRACED_TO_PLAIN and heap_of(part) is None:
            is_older = arm is None or parent.is_inside(part._home)
            if is_older and is_for_next_region:
                continue
            with recording(parent if arm is None or is_older else arm.region):
                materialise(part)
            has_moved_older |= is_older
        seen_ids.add(id(part))
    return has_moved_older


def is_alias_of_outer(column: Sequence[Any], parent: Region | None) -> bool:
    """Return whether a tensor decides that a name becomes an alias of an existing container."""
    if parent is None:
        return False
    outer_containers = [value for value in column if type(value) in TRACED_TO_PLAIN and parent.is_inside(value._home)]
    if not outer_containers:
        return False
    # Under `compile`, a container known at trace time with symbolic items would be rebuilt as a copy; then the alias
    # matters even if the name is absent on the other paths.
    container = outer_containers[0]
    is_copied = container._home.contract.promises_identity and heap_of(container) is None and holds_symbols(container)
    other_values = [value for value in column if value is not container and value is not NEVER]
    return bool(other_values) if is_copied else not all(map(is_absent, other_values))


def move_shared_parts(parent: Region, columns: Mapping[str, Sequence[Any]]) -> bool:
    """Move into the graph the existing containers in tuples, new containers and new instances that arms bind to names.

    They keep their identity there: `r = [c] if x > 0 else [[0]]` makes `r[0]` an alias of `c`. Returns whether there
    were any.
    """
    if not parent.contract.promises_identity:
        return False
    has_moved = False
    for name, column in columns.items():
        values = [value for value in column if value is not NEVER]
        if name.startswith("retval_") or all(value is values[0] for value in values):
            continue
        for part in [part for value in values for part in _existing_parts(value, parent)]:
            if heap_of(part) is None:
                materialise(part)
                has_moved = True
    return has_moved


def _existing_parts(value: object, parent: Region) -> Iterator[Any]:
    """Yield the existing traced containers that a tuple, a new container or a new instance holds.

    Existing ones are those from before the regions inside `parent`.
    """
    if not (isinstance(value, tuple) or type(value) in TRACED_TO_PLAIN or is_created_here(value)):
        return
    visited_ids: set[int] = set()
    worklist = [value]
    while worklist:
        part = worklist.pop()
        if type(part) in ATOMS or id(part) in visited_ids:
            continue
        visited_ids.add(id(part))
        is_instance = is_created_here(part)
        if (is_instance or type(part) in TRACED_TO_PLAIN) and _exists_before_regions(part, parent):
            if is_instance or part is value:
                continue
            yield part
        if is_instance:
            worklist += attributes_of(part).values()
        elif is_structure(part):
            worklist += structure_parts(part)


def move_parts_of_exceptions(parent: Region, arms: Iterable[RecordedBody]) -> bool:
    """Move into the graph the containers and instances whose contents became graph objects in an arm that raises.

    Such an arm has no other output that would carry their changes. Returns whether there were any.
    """
    if not parent.contract.promises_identity:
        return False
    has_moved = False
    for arm in arms:
        for key, location in arm.locations.items() if arm.diverges else ():
            has_identity = type(location.owner) in TRACED_TO_PLAIN or location.kind == "instance"
            if has_identity and type(arm.end_contents.get(key)) is SymbolicObject and not is_moved(location.owner):
                box(location.owner)
                has_moved = True
    return has_moved


def move_new_into_graph(parent: Region, recorded_body: RecordedBody, locations: Sequence[Location]) -> bool:
    """Apply `move_into_graph` to locations that this recording of a loop's body was the first to write.

    Returns whether a container was moved.
    """
    columns, layouts = [], []
    for location in locations:
        before, after = location.read(), recorded_body.value_of(location)
        layout_after = NEVER if after is NEVER else layout_of(after, recorded_body.region)
        columns.append([before, after])
        layout_before = contents_layout(location.owner, before, parent)
        layouts.append(join_layouts(layout_before, layout_after, location.name, parent.contract))
    return move_into_graph(parent, columns, layouts, locations, result_count=0)


def contents_layout(owner: object, contents: Any, region: Region) -> Layout:
    """Return the layout of a container's contents as state of a loop, in which the keys of a dict are fixed."""
    if not isinstance(owner, dict) or not isinstance(contents, tuple) or not contents:
        return state_layout(contents, region)
    pairs = [Parts(tuple, None, (Static(key), state_layout(value, region))) for key, value in contents]
    return Parts(tuple, None, tuple(pairs))


def refuse_changed_copies(region: Region, locations: Iterable[Location], copied_ids: Collection[int] = ()) -> None:
    """Raise StagingError for an object that one path changes and another replaces: copies would not share the change.

    Objects with ids in `copied_ids` are exempt: they were copied in their state at the end of the path.
    """
    for location in locations:
        if id(location.owner) in region.trace.frozen_objects and id(location.owner) not in copied_ids:
            require_identity(location.owner)
            message = f"{location.name} is changed, and which object that is depends on a tensor"
            raise StagingError(message, current_place())


def _keeps_structure(column: Sequence[Any], layout: Layout) -> bool:
    """Return whether contents have the same keys and kinds of items on all paths, so that they stay known."""
    if any(value is not NEVER and not isinstance(value, tuple) for value in column):
        return False
    return isinstance(layout, (Static, Never)) or _is_of_known_values(layout)


def _is_of_known_values(layout: Layout) -> bool:
    """Return whether a layout is of a tuple whose parts are static, graph values, numbers, or such tuples."""
    return isinstance(layout, Parts) and layout.kind is tuple and all(
        _is_of_known_values(part)
        or (isinstance(part, (Static, Leaf, Never)) and not is_object_layout(part))
        or (isinstance(part, Arms) and all(is_number_layout(arm) or arm == Static(None) for arm in part.arms))
        for part in layout.parts
    )


def check_alias(region: Region, body: Callable[..., Any], value: object, layout: Layout, name: str) -> None:
    """Abandon the trace under `compile` if the arm's result `value` shares parts with another name.

    A result that is a traced container itself is not checked. A returned value must not contain arguments, and
    containers that it copies are frozen.
    """
    if type(value) in TRACED_TO_PLAIN:
        return
    if name.startswith("retval_"):  # a returned container has no other alias unless it is changed afterwards
        for part in mutable_parts(value):
            if type(part) in TRACED_TO_PLAIN and part._is_argument:  # the result must be the argument itself
                region.contract.require_original(part, "whether an argument is returned depends on a tensor")
        copies = copied_objects(value, layout)
        region.trace.frozen_objects.update({id(part): part for part in copies if type(part) in TRACED_TO_PLAIN})
        return
    part_ids = {id(part) for part in mutable_parts(value)}
    other_parts = (part for other in _free_variable_values(body, name) for part in mutable_parts(other))
    if part_ids and any(id(part) in part_ids for part in other_parts):
        names = f"{_result_text(name)} and another name"
        message = f"whether {names} are one list, dict or object depends on a number or array"
        region.contract.require_original(region, message)


def _result_text(name: str) -> str:
    """Return how messages refer to the result `name` of an arm: a variable, a kind of expression, or a description."""
    if name.startswith("the result"):
        return name
    if keyword.iskeyword(name):  # `and` or `or`
        return f"the result of {name!r}"
    return repr(name) if name.isidentifier() else f"the result of a {name}"


def _free_variable_values(body: Any, name: str, depth: int = 3) -> Iterator[Any]:
    """Yield the values of a function's free variables except `name`; also those of functions in them, to this depth."""
    function = _function_of(body)
    cells = function.__closure__ or () if function is not None else ()
    for free_name, cell in zip(function.__code__.co_freevars if function and cells else (), cells, strict=True):
        try:
            value = cell.cell_contents
        except ValueError:
            continue
        if free_name != name:
            yield value
        if depth and _function_of(value) is not None:
            yield from _free_variable_values(value, name, depth - 1)


def _function_of(value: Any) -> FunctionType | None:
    """Return the function that runs when `value` is called: itself, or that of a loop body or of its bound method."""
    if type(value) is MethodType:
        value = value.__self__
    if hasattr(type(value), "__autoconv_loop_body__"):
        value = value.run
    return value if isinstance(value, FunctionType) else None


@contextmanager
def refuse_unrecorded_changes(body: Any, inputs: Any, place: Any) -> Iterator[None]:
    """Undo a change in the block that no journal records, then raise StagingError with `place`.

    The lists, dicts, deques and bytearrays in `inputs`, and in free variables of `body` unless that is None, are
    compared with their contents before the block.
    """
    values = [*inputs, *_free_variable_values(body, "")]
    containers = [part for value in values for part in mutable_parts(value)]
    locations = [container_location(part) for part in containers if isinstance(part, (list, dict))]
    locations += [_queue_location(value) for value in values if type(value) in (deque, bytearray)]
    contents_before = [location.read() for location in locations]
    changed_name = ""
    try:
        yield
    finally:
        for location, contents in zip(locations, contents_before, strict=True):
            if not have_same_items(location.read(), contents):
                location.write(contents)
                changed_name = location.name
    if changed_name:
        raise StagingError(
            f"{changed_name} is changed in place under a condition on a tensor",
            place,
            "an assignment of a new value to the name",
        )


def _queue_location(queue: deque[Any] | bytearray) -> Location:
    """Return the location of the contents of a deque or bytearray."""

    def write(items: Any) -> None:
        queue.clear()
        queue.extend(items)

    return Location((id(queue),), with_article(type(queue)), lambda: tuple(queue), write, queue)


def have_same_items(current: Any, before: object) -> bool:
    """Return whether two snapshots of a container hold the same objects, or those of a set equal elements."""
    if isinstance(current, frozenset):
        return current == before
    if not isinstance(current, tuple) or not isinstance(before, tuple):
        return current is before
    return len(current) == len(before) and all(map(_is_same_entry, current, before))


def _is_same_entry(first: object, second: object) -> bool:
    """Return whether two entries are one object, or (key, value) pairs of the same objects."""
    are_pairs = type(first) is tuple and type(second) is tuple and len(first) == len(second) == 2
    return first is second or (are_pairs and first[0] is second[0] and first[1] is second[1])  # type: ignore[index]
