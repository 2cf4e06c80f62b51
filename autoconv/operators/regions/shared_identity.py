"""Shared identity: objects that traced code created and that several names refer to, after a branch or loop.

A region's results are taken apart and rebuilt, each name separately. Where two names refer to one object on every
path, it is rebuilt once. Where they do on some paths only, changing the object or testing its identity is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from autoconv.errors import StagingError
from autoconv.operators.regions.layout import NEVER, Instance, Layout, Variant
from autoconv.operators.regions.value_layout import creating_region_of, is_created_in
from autoconv.runtime.objects.rebuilt_arguments import refuse_identity
from autoconv.runtime.objects.symbolic_objects import graph_object
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.attributes import attributes_of, has_attributes
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.support.structure import is_structure, structure_parts


def find_shared_identities(columns: Sequence[Sequence[Any]], regions: Sequence[Region]) -> dict[int, int]:
    """Return {position: earlier position} for names that refer, in every region, to the same object as an earlier name.

    `columns[i][j]` is the value of name i at the end of region j.
    """
    result: dict[int, int] = {}
    first_positions: dict[tuple[int, ...], int] = {}
    for position, column in enumerate(columns):
        values = [(value, region) for value, region in zip(column, regions, strict=True) if value is not NEVER]
        if values and all(is_created_in(*pair) and has_attributes(pair[0]) for pair in values):
            key = tuple(map(id, column))
            if first_positions.setdefault(key, position) != position:
                result[position] = first_positions[key]
    return result


def mark_shared(
    layouts: Sequence[Layout], columns: Sequence[Sequence[Any]], regions: Sequence[Region]
) -> list[Layout]:
    """Return the layouts; objects are marked as shared where two columns refer to one object on some path.

    Changes of the rebuilt objects are then refused.
    """
    shared_ids: set[int] = set()
    for arm_index, region in enumerate(regions):
        values = [column[arm_index] for column in columns]
        counts = Counter(id(object_) for value in values for object_ in _created_objects(value, region))
        shared_ids |= {key for key, count in counts.items() if count > 1}
    if not shared_ids:
        return list(layouts)
    have_shared_objects = [
        any(
            id(object_) in shared_ids
            for value, region in zip(column, regions, strict=True)
            for object_ in _created_objects(value, region)
        )
        for column in columns
    ]
    pairs = zip(layouts, have_shared_objects, strict=True)
    return [_as_shared(layout) if is_shared else layout for layout, is_shared in pairs]


def class_name(kind: type) -> str:
    """Return a name for the class that stays the same across traces, each of which may create the class anew."""
    return f"{kind.__module__}.{kind.__qualname__}"


def require_identity(owner: object) -> None:
    """Restart the trace with all objects of the owner's class as objects of the graph, which keep their identity.

    There is no effect if they are objects of the graph already, if the trace did not create the owner, or under another
    contract than `compile`.
    """
    region = current_region()
    if region is None or not region.contract.objects_in_graph or creating_region_of(owner, region) is None:
        return
    if class_name(type(owner)) not in region.trace.classes_made_in_graph:
        region.contract.restart("class", class_name(type(owner)))


def refuse_change(owner: object, attribute: str) -> NoReturn:
    """Raise StagingError for a write to an object that was copied on some path, unless the trace can be restarted."""
    require_identity(owner)
    raise StagingError(
        f"the attribute {attribute!r} of {with_article(type(owner))} is changed, and which one that is "
        "depends on a tensor",
        current_place(),
    )


def require_known_identity(first: object, second: object) -> None:
    """Raise StagingError where it is unknown whether two objects are one."""
    refuse_identity(first, second)
    region = current_region()
    if region is None or first is second or type(first) is not type(second):
        return
    frozen_objects, created_objects = region.trace.frozen_objects, region.trace.created_objects or {}
    ids = {id(first), id(second)}
    if ids <= created_objects.keys() and not ids.isdisjoint(frozen_objects):
        require_identity(first)
        raise StagingError(
            "an object is compared by identity, and which one it is depends on a tensor", current_place(),
            "a comparison of the objects' contents",
        )  # fmt: skip


def restart_for_shared_objects(values: Iterable[Any]) -> None:
    """Restart the trace if its results hold an object twice, since each occurrence is rebuilt separately.

    So it does if a branch has rebuilt one of two objects of one class in the results: they may be one object.
    """
    region = current_region()
    assert region is not None
    ids_by_type: dict[type, set[int]] = {}
    for part in _created_outside_graph(values, set()):
        ids = ids_by_type.setdefault(type(part), set())
        if id(part) in ids or (ids and not region.trace.frozen_objects.keys().isdisjoint({id(part), *ids})):
            require_identity(part)
        ids.add(id(part))


def _created_outside_graph(values: Iterable[Any], seen_ids: set[int]) -> Iterator[Any]:
    """Yield the values' objects that traced code created and that are not in the graph, once for each reference."""
    region = current_region()
    assert region is not None
    for value in values:
        if creating_region_of(value, region) is not None and has_attributes(value):
            if graph_object(value) is not None:
                continue
            yield value
            parts: Iterable[Any] = attributes_of(value).values()
        elif type(value) is Variant:
            parts = value.values
        else:
            parts = structure_parts(value) if is_structure(value) else ()
        if id(value) not in seen_ids:
            seen_ids.add(id(value))
            yield from _created_outside_graph(parts, seen_ids)


def _created_objects(value: object, region: Region) -> Iterator[Any]:
    """Yield the objects in a value that the region, or one inside of it, created, once for each reference."""
    pending: list[Any] = [value]
    seen: dict[int, Any] = {}
    while pending:
        part = pending.pop()
        is_created = part is not NEVER and is_created_in(part, region) and has_attributes(part)
        if is_created:
            yield part
        if id(part) in seen or part is NEVER:
            continue
        seen[id(part)] = part  # kept alive: another part does not get its id
        if is_created:
            pending += attributes_of(part).values()
        elif is_structure(part):
            pending += structure_parts(part)


def _as_shared(layout: Layout) -> Layout:
    """Return the layout with all layouts of instances in it marked as shared."""
    layout = layout.with_children(_as_shared)
    return replace(layout, is_shared=True) if isinstance(layout, Instance) else layout
