"""Lists, dicts and sets that a region makes and that several places hold after it, under `function`.

The results of a region are rebuilt place by place: `a = b = [x]` gives two lists. Where two places may hold one new
container, the region has one more output, an *alias index*: which earlier place holds the same container, or 0. The
value of the later place is then a variant of its own container and of those of the earlier places. Where the places
hold one container on all paths, they get it without a tag.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import and_
from typing import Any

from autoconv.errors import StagingError
from autoconv.graph.graph import Value
from autoconv.graph.types import Type
from autoconv.lazy_dataclass import dataclass, field
from autoconv.operators.regions.layout import (
    NEVER,
    Arms,
    Layout,
    Leaf,
    Parts,
    RunTimeList,
    Static,
    Variant,
    is_container,
    weak_type,
)
from autoconv.operators.regions.marshalling import arm_index, emit, rebuild, renumber_arms
from autoconv.operators.regions.value_layout import layout_of, take_apart
from autoconv.runtime.objects.containers import TRACED_CLASS_BY_PLAIN, TRACED_TO_PLAIN, TracedList, items_of
from autoconv.runtime.recording.regions import Region
from autoconv.runtime.support.structure import ATOMS, is_structure, mutable_parts, structure_parts
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.symbolic import SymbolicTensor

# The values that a place may hold, as pairs (tests, value). The tests are pairs of a tag and the number of an arm: a
# value is selected if each of its tags has that number.
Alternatives = tuple[tuple[tuple[tuple[Any, int], ...], Any], ...]

_ALIAS_INDEX_LAYOUT = Leaf(weak_type(0))


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a region's results: the position of a result, and the path to the part by numbers of arms and parts."""

    result_position: int
    path: tuple[int, ...] = ()


@dataclass
class SharedLists:
    """Places that may hold one new container.

    `earlier` maps a place to the earlier places that hold the same container on some path. `constant_index` maps a
    place to the position, from 1, among these of the one that holds the same container on all paths. `frozen_results`
    are the positions of results that must not change, since they hold shared containers at no place.
    """

    earlier: dict[Place, tuple[Place, ...]] = field(default_factory=dict)
    constant_index: dict[Place, int] = field(default_factory=dict)
    frozen_results: set[int] = field(default_factory=set)

    def widen(self, other: SharedLists) -> SharedLists:
        """Return the places of both, for a loop whose state has to hold either; each place has an alias index."""
        places = sorted({*self.earlier, *other.earlier}, key=_place_order)
        earlier = {place: {*self.earlier.get(place, ()), *other.earlier.get(place, ())} for place in places}
        ordered = {place: tuple(sorted(earlier_places, key=_place_order)) for place, earlier_places in earlier.items()}
        return SharedLists(ordered, {}, self.frozen_results | other.frozen_results)

    def types(self, layouts: Sequence[Layout]) -> list[Type]:
        """Return the types of a region's outputs in these layouts: those of its results, then the alias indices."""
        indices = [_ALIAS_INDEX_LAYOUT.type for place in self.earlier if place not in self.constant_index]
        return [*(leaf for layout in layouts for leaf in layout.types()), *indices]

    def emit(self, values: Sequence[Any], layouts: Sequence[Layout], region: Region) -> list[Value]:
        """Return the outputs of the region, which is being recorded, for its results in these layouts."""
        pairs = zip(values, layouts, strict=True)
        outputs = [graph_value for value, layout in pairs for graph_value in emit(value, layout, region)]
        for place, earlier in self.earlier.items():
            if place not in self.constant_index:
                alternatives = [_alternatives_at(other, values, layouts, region) for other in (place, *earlier)]
                outputs += emit(_alias_index(alternatives, region), _ALIAS_INDEX_LAYOUT, region)
        return outputs

    def rebuild(self, layouts: Sequence[Layout], outputs: Iterable[Any], region: Region) -> list[Any]:
        """Rebuild the results of a region from its outputs, with one container in the places that hold one."""
        leaves = iter(outputs)
        rebuilt = [rebuild(layout, leaves) for layout in layouts]
        places = dict.fromkeys(place for later, places in self.earlier.items() for place in (later, *places))
        values_by_place = {place: _rebuilt_value_at(place, rebuilt, layouts) for place in places}
        places_with_index = [place for place in self.earlier if place not in self.constant_index]
        indices = {place: SymbolicTensor(next(leaves)) for place in places_with_index}
        for place, earlier in reversed(self.earlier.items()):  # places in a container before the container itself
            if place in indices:
                candidates = [values_by_place[candidate] for candidate in (place, *earlier)]
                value = _select_candidate(indices[place], candidates)
            else:
                value = values_by_place[earlier[self.constant_index[place] - 1]]
            rebuilt[place.result_position] = _replace_part(rebuilt[place.result_position], place.path, value)
        for position in self.frozen_results:
            _freeze_copies(region, rebuilt[position], layouts[position])
        return rebuilt


def find_shared_lists(
    columns: Sequence[Sequence[Any]], layouts: Sequence[Layout], regions: Sequence[Region]
) -> SharedLists:
    """Find the new containers that several places hold; `columns[i][j]` is the result i of region j."""
    result = SharedLists()
    if regions[0].contract.promises_identity:
        return result
    shared_ids = _shared_ids(columns, regions)
    if not shared_ids:
        return result
    containers_by_place: dict[Place, list[dict[int, Any]]] = {}
    for position, (column, layout) in enumerate(zip(columns, layouts, strict=True)):
        for place, values in _places(layout, [*map(_alternatives_with_tests, column)], Place(position), regions):
            containers = [{id(part): part for _, part in value if id(part) in shared_ids} for value in values]
            if any(containers):
                containers_by_place[place] = containers
    for place, containers in containers_by_place.items():
        earlier = tuple(
            candidate for candidate in containers_by_place if _place_order(candidate) < _place_order(place)
            and any(map(_have_common_keys, containers, containers_by_place[candidate]))
        )  # fmt: skip
        if earlier:
            result.earlier[place] = earlier
    result.constant_index = _constant_indices(result.earlier, columns, layouts, regions)
    for position, column in enumerate(columns):
        places = [place for place in containers_by_place if place.result_position == position]
        ids_in_places = {key for place in places for containers in containers_by_place[place] for key in containers}
        ids_in_column = {id(part) for part in _references(column)} & shared_ids
        if not ids_in_column <= ids_in_places:
            result.frozen_results.add(position)
    return result


def _have_common_keys(first: dict[int, Any], second: dict[int, Any]) -> bool:
    return not first.keys().isdisjoint(second)


def _shared_ids(columns: Sequence[Sequence[Any]], regions: Sequence[Region]) -> set[int]:
    """Return the ids of new containers to which the results of a region refer more than once."""
    shared_ids: set[int] = set()
    for region_position, region in enumerate(regions):
        parts = _references([column[region_position] for column in columns])
        references = Counter(id(part) for part in parts if _is_new(part, region))
        shared_ids |= {key for key, count in references.items() if count > 1}
    return shared_ids


def _constant_indices(
    earlier: dict[Place, tuple[Place, ...]], columns: Sequence[Sequence[Any]], layouts: Sequence[Layout],
    regions: Sequence[Region],
) -> dict[Place, int]:  # fmt: skip
    """Return the alias index of places that hold the same new container as an earlier place on all paths."""
    result = {}
    for place, earlier_places in earlier.items():
        positions = set()
        for region_position, region in enumerate(regions):
            if columns[place.result_position][region_position] is not NEVER:
                values = [column[region_position] for column in columns]
                container, *other_containers = (
                    _sole_value(_alternatives_at(candidate, values, layouts, region))
                    for candidate in (place, *earlier_places)
                )
                candidates = enumerate(other_containers if _is_new(container, region) else [], 1)
                positions.add(next((n for n, other in candidates if other is container), 0))
        if len(positions) == 1 and (position := positions.pop()):
            result[place] = position
    return result


def _sole_value(alternatives: Alternatives) -> Any:
    """Return the value of the only alternative, which no tag selects; NEVER if there are tests or several values."""
    if len(alternatives) != 1:
        return NEVER
    ((tests, value),) = alternatives
    return NEVER if tests else value


def _freeze_copies(region: Region, value: Any, layout: Layout) -> None:
    """Refuse changes of rebuilt containers that may be copies of one container."""
    parts = [(layout, value)]
    if type(value) is Variant:
        parts = list(zip(value.layouts, value.values, strict=True))
    for part_layout, part in parts:
        if not is_container(part_layout):
            region.trace.frozen_objects.update({id(container): container for container in containers_in(part)})


def containers_in(value: object) -> Iterator[Any]:
    """Yield the lists, dicts and dataclasses in a value, or in each alternative of a variant."""
    for part in value.values if type(value) is Variant else (value,):
        if type(part) is TracedList and items_of(part) is not None:  # its items are in the graph
            yield part
        else:
            yield from mutable_parts(part)


def _references(values: Sequence[Any]) -> Iterator[Any]:
    """Yield the containers that the values refer to, once for each reference from a value or another container."""
    pending_values, seen_ids = [*values], set()
    while pending_values:
        part = pending_values.pop()
        if type(part) is Variant:
            pending_values += part.values
        elif type(part) not in ATOMS and is_structure(part):
            if not isinstance(part, tuple):
                yield part
            if isinstance(part, tuple) or id(part) not in seen_ids:
                seen_ids.add(id(part))
                pending_values += [] if items_of(part) is not None else structure_parts(part)


def _is_new(value: object, region: Region) -> bool:
    """Return whether a value is a list, dict or set that the region, or one inside of it, made."""
    return type(value) in TRACED_TO_PLAIN and value._home.is_inside(region)  # type: ignore[attr-defined]


def _place_order(place: Place) -> tuple[int, tuple[int, ...]]:
    """Return the sort key of a place: earlier results first, and a container before the places inside of it."""
    return place.result_position, place.path


def _places(
    layout: Layout, values: Sequence[Alternatives], place: Place, regions: Sequence[Region]
) -> Iterator[tuple[Place, Sequence[Alternatives]]]:
    """Yield the places of a result at which a container is rebuilt, with the values of all regions there."""
    if _rebuilds_container(layout):
        yield place, values
    yield from _inner_places(layout, values, place, regions)


def _inner_places(
    layout: Layout, values: Sequence[Alternatives], place: Place, regions: Sequence[Region]
) -> Iterator[tuple[Place, Sequence[Alternatives]]]:
    """Yield the places inside of a place, with the values of all regions there."""
    visit = _inner_places if isinstance(layout, Arms) else _places  # the arms are values of the place itself
    for number, part in enumerate(_child_layouts(layout)):
        pairs = zip(values, regions, strict=True)
        inner_values = [_select_alternatives(value, layout, number, region) for value, region in pairs]
        yield from visit(part, inner_values, Place(place.result_position, (*place.path, number)), regions)


def _child_layouts(layout: Layout) -> Sequence[Layout]:
    """Return the layouts of the arms of a variant or of the parts of a structure; none for others."""
    return layout.arms if isinstance(layout, Arms) else layout.parts if isinstance(layout, Parts) else ()


def _rebuilds_container(layout: Layout) -> bool:
    """Return whether the layout, or an arm of it, makes a new list, dict or set of its parts."""
    if isinstance(layout, Arms):
        return any(map(_rebuilds_container, layout.arms))
    return isinstance(layout, RunTimeList) or (isinstance(layout, Parts) and layout.kind in TRACED_CLASS_BY_PLAIN)


def _alternatives_with_tests(value: Any) -> Alternatives:
    """Return the alternatives of a value, each with the tests of tags that select it."""
    if value is NEVER:
        return ()
    if type(value) is not Variant:
        return (((), value),)
    return tuple(
        (((value.tag, number), *tests), part)
        for number, arm in enumerate(value.values) for tests, part in _alternatives_with_tests(arm)
    )  # fmt: skip


def _select_alternatives(alternatives: Alternatives, layout: Layout, number: int, region: Region) -> Alternatives:
    """Return the alternatives that arm `number` of the layout holds, or the part `number` of each alternative.

    A variant may have other arms than the layout.
    """
    if isinstance(layout, Arms):
        return tuple((tests, value) for tests, value in alternatives if _arm_number(value, layout, region) == number)
    part_count = len(_child_layouts(layout))
    parts_by_tests = [(tests, _parts(value)) for tests, value in alternatives if is_structure(value)]
    return tuple(
        ((*tests, *inner_tests), part)
        for tests, parts in parts_by_tests if len(parts) == part_count
        for inner_tests, part in _alternatives_with_tests(parts[number])
    )  # fmt: skip


def _arm_number(value: Any, layout: Arms, region: Region) -> int:
    """Return the position of the arm of a layout that holds a value of the region; -1 if none does."""
    if Static(value) in layout.arms:
        return layout.arms.index(Static(value))
    try:
        return arm_index(layout, layout_of(value, region))
    except StagingError:
        return -1


def _alternatives_at(
    place: Place, values: Sequence[Any], layouts: Sequence[Layout], region: Region
) -> Alternatives:
    """Return the alternatives at a place of the results of a region."""
    alternatives, layout = _alternatives_with_tests(values[place.result_position]), layouts[place.result_position]
    for number in place.path:
        alternatives = _select_alternatives(alternatives, layout, number, region)
        layout = _child_layouts(layout)[number]
    return alternatives


def _parts(structure: Any) -> list[Any]:
    """Return the parts of a structure, one level deep."""
    _, parts = take_apart(structure)
    return parts


def _rebuilt_value_at(place: Place, values: Sequence[Any], layouts: Sequence[Layout]) -> Any:
    """Return the value at a place of rebuilt results; NEVER where there is none."""
    value, layout = values[place.result_position], layouts[place.result_position]
    for number in place.path:
        if isinstance(layout, Arms):
            value = value.values[number] if type(value) is Variant else NEVER
        elif value is not NEVER:
            parts = _parts(value) if type(value) is not Variant and is_structure(value) else []
            value = parts[number] if len(parts) == len(_child_layouts(layout)) else NEVER
        layout = _child_layouts(layout)[number]
    return value


def _replace_part(value: Any, path: Sequence[int], replacement: Any) -> Any:
    """Return a rebuilt value with `replacement` at the path: containers are changed, tuples and variants made anew."""
    if not path:
        return replacement
    number, *inner_path = path
    if type(value) is Variant:
        arms = [*value.values]
        arms[number] = _replace_part(arms[number], inner_path, replacement)
        return Variant(value.tag, value.layouts, arms)
    keys, parts = take_apart(value)
    new_part = _replace_part(parts[number], inner_path, replacement)
    if isinstance(value, tuple):
        return tuple(new_part if i == number else item for i, item in enumerate(value))
    if isinstance(value, dict):
        assert keys is not None
        dict.__setitem__(value, keys[number], new_part)
    else:
        list.__setitem__(value, number, new_part)
    return value


def _arm_values(value: Any) -> tuple[Any, ...]:
    """Return the alternatives of a variant; another value as the only one."""
    return value.values if type(value) is Variant else (value,)


def _alias_index(alternatives: Sequence[Alternatives], region: Region) -> Any:
    """Return the position of the first value after `alternatives[0]` that is the same container; 0 if none is."""
    index: Any = 0
    for position in range(len(alternatives) - 1, 0, -1):
        is_same = _alias_test(alternatives[0], alternatives[position], region)
        if isinstance(is_same, bool):
            index = position if is_same else index
        else:
            index = dispatch.apply("select", is_same, position, index)
    return index


def _alias_test(first: Alternatives, second: Alternatives, region: Region) -> Any:
    """Return whether two values are one new container of the region, as a bool or a tensor."""
    result: Any = False
    for first_tests, first_value in first:
        for second_tests, second_value in second:
            if first_value is second_value and _is_new(first_value, region):
                tests = [tag == number for tag, number in (*first_tests, *second_tests)]
                if not tests:
                    return True
                is_selected = functools.reduce(and_, tests)
                result = is_selected if result is False else result | is_selected
    return result


def _select_candidate(index: Any, candidates: Sequence[Any]) -> Variant:
    """Return the candidate that the index selects, as a variant of the values of all candidates."""
    values: list[Any] = []
    layouts: list[Layout] = []
    tag: Any = None
    for position, candidate in enumerate(candidates):
        arms = _arm_values(candidate)
        arm_layouts = candidate.layouts if type(candidate) is Variant else (Static(candidate),)
        for arm, layout in zip(arms, arm_layouts, strict=True):
            if not any(arm is value for value in values):
                values.append(arm)
                layouts.append(layout)
        numbers = [next(number for number, value in enumerate(values) if value is arm) for arm in arms]
        candidate_tag = renumber_arms(candidate.tag, numbers) if type(candidate) is Variant else numbers[0]
        tag = candidate_tag if tag is None else dispatch.apply("select", index == position, candidate_tag, tag)
    return Variant(tag, layouts, values)
