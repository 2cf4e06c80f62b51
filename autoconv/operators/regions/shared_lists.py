"""Lists, dicts and sets that an arm makes and that several names hold after it, under `function`.

The results of an arm are rebuilt name by name. Where two names hold the same new containers on the same paths, one of
them gets what was rebuilt for the other. Where they share containers on some paths only, changes are refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from autoconv.errors import StagingError
from autoconv.operators.regions.layout import NEVER, Arms, Layout, Variant, is_container, layout_of
from autoconv.operators.regions.marshalling import arm_index
from autoconv.operators.regions.region_body import Recorded
from autoconv.runtime.objects.containers import PLAIN, TracedList, items_of
from autoconv.runtime.recording.regions import Region
from autoconv.runtime.support.structure import mutable_parts

_Slot = tuple[int, int]  # a column, and the arm of its layout


@dataclass
class SharedLists:
    """`twins`: slot -> the earlier slot that holds the same containers. `frozen`: columns that must not change."""

    twins: dict[_Slot, _Slot] = field(default_factory=dict)
    frozen: set[int] = field(default_factory=set)


def shared_lists(
    columns: Sequence[Sequence[Any]], layouts: Sequence[Layout], recorded: Sequence[Recorded]
) -> SharedLists:
    """Find the new containers that several columns hold."""
    result = SharedLists()
    if recorded[0].region.contract.keeps_identity:
        return result
    holders: Counter[int] = Counter()
    for column in columns:
        for value, arm in zip(column, recorded, strict=True):
            holders.update(id(part) for part in containers_in(value) if _is_new(part, arm.region))
    shared = {key for key, count in holders.items() if count > 1}
    firsts: dict[frozenset[tuple[int, int]], _Slot] = {}
    for position, (column, layout) in enumerate(zip(columns, layouts, strict=True)):
        if not any(id(part) in shared for value in column for part in containers_in(value)):
            continue
        try:
            slots = _containers_by_arm(column, layout, recorded)
        except StagingError:  # the layout has no arm for one of the values, as it is of a wider kind
            slots = {}
        for number, pairs in slots.items():
            if {key for _, key in pairs} <= shared:
                first = firsts.setdefault(pairs, (position, number))
                if first != (position, number):
                    result.twins[position, number] = first
        # Containers inside other values, and those whose slot holds more than the container itself.
        alone = shared - {key for pairs in slots.values() for _, key in pairs}
        if any(id(part) in alone for value in column for part in containers_in(value)):
            result.frozen.add(position)
    paired = {*result.twins, *result.twins.values()}
    for pairs, slot in firsts.items():
        if slot not in paired and {key for _, key in pairs} & shared:
            result.frozen.add(slot[0])
    return result


def share(rebuilt: list[Any], layouts: Sequence[Layout], shared: SharedLists, region: Region) -> None:
    """Put the same containers into the rebuilt values of twins; freeze those that may not change."""
    for (position, number), (first, number_of_first) in shared.twins.items():
        container, layout = _arm_at(rebuilt[first], layouts[first], number_of_first)
        value = rebuilt[position]
        if type(value) is not Variant:
            rebuilt[position] = container
            continue
        arms, values = list(value.layouts), list(value.values)
        arms[number], values[number] = layout, container
        rebuilt[position] = Variant(value.tag, arms, values)
    for position in shared.frozen:
        freeze_copies(region, rebuilt[position], layouts[position])


def freeze_copies(region: Region, value: Any, layout: Layout) -> None:
    """Refuse changes of rebuilt containers that may be one object, which several variables hold as copies."""
    parts = [(layout, value)]
    if type(value) is Variant:
        parts = list(zip(value.layouts, value.values, strict=True))
    for part_layout, part in parts:
        if not is_container(part_layout):
            region.trace.frozen.update({id(inner): inner for inner in containers_in(part)})


def _arm_at(value: Any, layout: Layout, number: int) -> tuple[Any, Layout]:
    return (value.values[number], value.layouts[number]) if type(value) is Variant else (value, layout)


def _containers_by_arm(
    column: Sequence[Any], layout: Layout, recorded: Sequence[Recorded]
) -> dict[int, frozenset[tuple[int, int]]]:
    """Return {arm of the layout: (number of the region, the container that it holds)}."""
    pairs_by_arm: dict[int, set[tuple[int, int]]] = {}
    for region_number, (value, arm) in enumerate(zip(column, recorded, strict=True)):
        layout_of_value = NEVER if value is NEVER else layout_of(value, arm.region)
        parts = [(value, layout_of_value)]
        if type(value) is Variant and isinstance(layout_of_value, Arms):
            parts = list(zip(value.values, layout_of_value.arms, strict=True))
        for part, kind in parts:
            if part is not NEVER and type(part) in PLAIN:
                number = arm_index(layout, kind) if isinstance(layout, Arms) else 0
                pairs_by_arm.setdefault(number, set()).add((region_number, id(part)))
    # Where a region has several containers for one slot, its own tag chooses among them.
    return {
        number: frozenset(pairs) for number, pairs in pairs_by_arm.items() if len({n for n, _ in pairs}) == len(pairs)
    }


def containers_in(value: object) -> Iterator[Any]:
    """Yield the lists, dicts and dataclasses in a value, or in each alternative of a variant."""
    for part in value.values if type(value) is Variant else (value,):
        if type(part) is TracedList and items_of(part) is not None:  # its items are in the graph
            yield part
        else:
            yield from mutable_parts(part)


def _is_new(part: object, region: Region) -> bool:
    return type(part) in PLAIN and part._home.is_inside(region)  # type: ignore[attr-defined]


__all__ = ["SharedLists", "containers_in", "freeze_copies", "share", "shared_lists"]
