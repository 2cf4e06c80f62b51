"""Find containers and objects that an arm or a loop returns as copies.

Their layout takes them apart, because another path returns a different container or object.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from autoconv.operators.regions.layout import Arms, Layout, Parts, Static, Variant, is_object_layout
from autoconv.operators.regions.region_body import RecordedBody
from autoconv.operators.regions.value_layout import (
    instance_layout,
    is_created_here,
    layout_of,
    take_apart,
    take_static_apart,
)
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, heap_of, items_of
from autoconv.runtime.recording.regions import Region
from autoconv.runtime.support.structure import is_structure, structure_form, structure_parts


def copied_objects(value: object, layout: Layout, region: Region | None = None) -> Iterator[Any]:
    """Yield the containers, and the objects that traced code created, that the layout rebuilds as new ones.

    The value is one of `region`; without it, of the region being recorded.
    """
    if isinstance(layout, Static) or is_object_layout(layout):
        return
    if type(value) is Variant:
        arms = layout.arms if isinstance(layout, Arms) else ()
        for part_layout, part in zip(value.layouts, value.values, strict=True):
            if Static(part) not in arms:
                yield from copied_objects(part, take_static_apart(part_layout, region), region)
        return
    is_container = type(value) in TRACED_TO_PLAIN
    is_traced = is_container or is_created_here(value)
    if isinstance(layout, Arms) and is_traced and Static(value) in layout.arms:
        return
    # A container that is already in the graph is not rebuilt.
    if (is_container and heap_of(value) is None and items_of(value) is None) or is_created_here(value):
        yield value
    if isinstance(layout, Parts) and is_structure(value) and len(structure_parts(value)) == len(layout.parts):
        for part, part_layout in zip(structure_parts(value), layout.parts, strict=True):
            yield from copied_objects(part, part_layout, region)


def changed_copies(arm: RecordedBody, value: object, layout: Layout) -> set[int]:
    """Return the ids of copied objects that the arm changes: their copies have to show the state at the arm's end."""
    owners = {id(location.owner) for location in arm.locations.values()}
    return {id(part) for part in copied_objects(value, layout, arm.region)} & owners


def layout_at_end(arm: RecordedBody, value: object, changed_ids: Collection[int]) -> Layout:
    """Return the layout of an arm's result; objects with ids in `changed_ids` are taken apart in their end state."""

    def layout_in_current_state(value_or_part: object) -> Layout:
        """Return the layout of the result, or of a part of it."""
        if is_created_here(value_or_part) and id(value_or_part) in changed_ids:
            return instance_layout(value_or_part, arm.region)
        if is_structure(value_or_part) and (isinstance(value_or_part, tuple) or id(value_or_part) in changed_ids):
            keys, parts = take_apart(value_or_part)
            return Parts(structure_form(value_or_part), keys, tuple(map(layout_in_current_state, parts)))
        return layout_of(value_or_part, arm.region)

    with arm.restored_end_state():
        return layout_in_current_state(value)
