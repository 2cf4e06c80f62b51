"""Outer names and attributes as inputs of a trace: leaves that follow those of the arguments.

A list or dict of arrays is flattened as an argument is, under a name of `Call.containers`; the list or dict itself is
a further leaf. If several names and attributes hold one container, they share its leaves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.recording.contracts import Contract
from autoconv.runtime.recording.journal import MISSING, Location
from autoconv.runtime.support.structure import ATOMS, flatten, loses_state, mutable_parts, structure_parts
from autoconv.tracing.key.argument_containers import (
    add_containers,
    can_add_containers,
    consists_of_builtins,
    containers_by_template,
    has_empty_dict,
)
from autoconv.tracing.key.argument_structure import CannotFlatten, find_structures_to_flatten, refuse_shared_containers
from autoconv.tracing.key.array_keys import ArrayKey, make_array_key, may_overlap, needs_numpy
from autoconv.tracing.key.cache_key import (
    LeafKey,
    Literal,
    ObjectKey,
    OuterName,
    SharedKey,
    dict_orders,
    make_object_key,
)
from autoconv.tracing.key.call import Call
from autoconv.tracing.key.leaf_keys import make_leaf_key

_MAX_ITEMS = 256  # items of a container that is flattened


@dataclass(frozen=True, slots=True)
class LocationFacts:
    """Facts that earlier traces found about the locations.

    `opaque` has the keys of locations whose containers are objects of the graph. `by_value_positions` are the positions
    of leaves whose values are part of the key. `location_sequence` is that of the `Key`.
    """

    contract: type[Contract]
    location_sequence: int
    opaque: Collection[Any] = frozenset()
    by_value_positions: Collection[int] = frozenset()


def add_locations(call: Call, locations: Sequence[Location], facts: LocationFacts) -> None:
    """Append the contents of the locations to the leaves and to the key."""
    values = {location.key: location.reader() for location in locations}  # key of a location -> its current value
    flattened = _FlattenedContainers(call, locations, values, facts.opaque)
    unflattened_locations = [location for location in locations if location.key not in flattened.locations_by_key]
    keys_of_objects = {location.key for location in unflattened_locations} - flattened.shared_keys
    flattened_arguments = [call.arguments.get(name) for name, template in call.key.templates if template]
    refuse_shared_containers(flattened_arguments, [values[key] for key in keys_of_objects])
    if flattened.locations_by_key or not flattened.argument_names.issubset(call.key.written_arguments):
        _add_flattened(call, flattened, facts)
    position_by_id = {id(container): position for position, container in enumerate(_containers(call))}
    single_locations = [
        location
        for location in unflattened_locations
        # The items of a written container are leaves already.
        if location.kind != "item" or id(location.owner) not in position_by_id
    ]
    arrays_as_memory, keys = call.key.arrays_as_memory, list(call.key.leaves)
    for location in single_locations:
        value = values[location.key]
        if location.key in flattened.shared_keys:
            keys.append(SharedKey(position_by_id[id(value)]))
        else:
            keys.append(_location_key(value, arrays_as_memory, facts.contract))
    call.leaves += [values[location.key] for location in single_locations]
    call.names += [location.name for location in single_locations]
    call.locations = tuple(single_locations)
    arrays = [leaf for leaf, key in zip(call.leaves, keys, strict=True) if isinstance(key, ArrayKey)]
    overlaps = arrays_as_memory and may_overlap(arrays)
    call.key = replace(call.key, leaves=tuple(keys), overlaps=overlaps, location_sequence=facts.location_sequence)


class _FlattenedContainers:
    """The written locations whose containers are flattened.

    `locations_by_key` maps the key of each to the location and its container. `shared_keys` are the keys of locations
    that hold a container which is already flattened, as part of an argument or of another location. `argument_names`
    are the names of these arguments.
    """

    def __init__(
        self, call: Call, locations: Sequence[Location], values: dict[Any, Any], opaque: Collection[Any]
    ) -> None:
        self.locations_by_key: dict[Any, tuple[Location, Any]] = {}
        self.shared_keys: set[Any] = set()
        self.argument_names: set[str] = set()
        candidates = [
            (location, values[location.key])
            for location in locations
            if location.key not in opaque and not call.arrays_as_objects and _can_flatten(values[location.key])
        ]
        if not candidates:
            return
        candidate_keys = {location.key for location, _ in candidates}
        written_ids = {id(container) for container in _containers(call)}
        # Values that the graph has as objects: through them it could change a flattened container.
        objects = [value for key, value in values.items() if key not in candidate_keys]
        for leaf, key_of_leaf in zip(call.leaves, call.key.leaves, strict=True):
            if isinstance(key_of_leaf, ObjectKey) and not key_of_leaf.item_kind and id(leaf) not in written_ids:
                objects.append(leaf)
        if not _may_reach(objects, {id(part) for _, value in candidates for part in mutable_parts(value)}):
            self._choose(call, candidates)

    def _choose(self, call: Call, candidates: list[tuple[Location, Any]]) -> None:
        """Choose the outermost containers; choose none if two overlap without one containing the other."""
        argument_by_part_id = {
            id(part): name
            for name, template in call.key.templates
            if template is not None
            for part in mutable_parts(call.arguments.get(name))
        }
        known_part_ids = set(argument_by_part_id)
        # Outer containers, which have more parts, come first.
        for location, value in sorted(candidates, key=_part_count, reverse=True):
            if id(value) in known_part_ids:
                self.shared_keys.add(location.key)
                if id(value) in argument_by_part_id:
                    self.argument_names.add(argument_by_part_id[id(value)])
                continue
            part_ids = {id(part) for part in mutable_parts(value)}
            if not known_part_ids.isdisjoint(part_ids):
                self.locations_by_key, self.shared_keys, self.argument_names = {}, set(), set()
                return
            known_part_ids |= part_ids
            self.locations_by_key[location.key] = location, value
        new_names = self.argument_names.difference(call.key.written_arguments)
        if not all(can_add_containers(call, name) for name in new_names):
            raise CannotFlatten("a list or dict is passed that the function also changes by another name")


def _part_count(candidate: tuple[Location, Any]) -> int:
    """Return the number of lists, dicts and objects in the value of a location."""
    _, value = candidate
    return sum(1 for _ in mutable_parts(value))


def _add_flattened(call: Call, flattened: _FlattenedContainers, facts: LocationFacts) -> None:
    """Insert the leaves of containers after those of the arguments, and append the containers themselves."""
    end = call.key.template_leaf_count
    leaves, names, keys = call.leaves[:end], call.names[:end], list(call.key.leaves[:end])
    templates, orders = list(call.key.templates), list(call.key.orders)
    call.containers = {}
    for location, value in flattened.locations_by_key.values():
        is_taken = any(location.name == other_name for other_name, _ in templates)
        name = OuterName(f"{location.name} {len(templates)}" if is_taken else location.name)
        contents, template = flatten(value, loses_state)
        for leaf in contents:
            is_by_value = len(keys) in facts.by_value_positions
            keys.append(_leaf_key(leaf, call.key.arrays_as_memory, is_by_value, facts.contract))
        leaves += contents
        names += [name] * len(contents)
        templates.append((name, template))
        orders += dict_orders(find_structures_to_flatten([value], loses_state, is_under_compile=True))
        call.containers[name] = location
        call.arguments = {**call.arguments, name: value}
    written_names = {*call.key.written_arguments, *flattened.argument_names, *call.containers}
    call.leaves, call.names = leaves, names
    call.key = replace(call.key, templates=tuple(templates), orders=tuple(orders), leaves=tuple(keys))
    add_containers(call, written_names)


def _containers(call: Call) -> Iterator[Any]:
    """Iterate over the written containers of the arguments and locations, in the order of their leaves."""
    for name, template in call.key.templates:
        if name in call.key.written_arguments and template is not None:
            yield from containers_by_template(call.arguments[name], template)


def _can_flatten(value: Any) -> bool:
    """Return whether a value is a list or dict of arrays, numbers and texts, or of such containers."""
    if type(value) not in (list, dict) or len(value) > _MAX_ITEMS:
        return False
    try:
        find_structures_to_flatten([value], loses_state, is_under_compile=True)
    except CannotFlatten:
        return False
    leaves, template = flatten(value, loses_state)
    if len(leaves) > _MAX_ITEMS or template is None or not consists_of_builtins(template):
        return False
    if not all(type(leaf) in ATOMS or isinstance(leaf, (np.ndarray, np.generic)) for leaf in leaves):
        return False
    return any(isinstance(leaf, np.ndarray) for leaf in leaves) or has_empty_dict(template)


def _may_reach(values: Sequence[Any], ids: set[int]) -> bool:
    """Return whether a container whose id is among `ids` may be reached from `values`, which stay objects."""
    pending, visited_ids = list(values), set[int]()
    while pending:
        value = pending.pop()
        if id(value) in visited_ids or type(value) in ATOMS or isinstance(value, (np.ndarray, np.generic)):
            continue
        visited_ids.add(id(value))
        if id(value) in ids:
            return True
        if type(value) in (list, dict, tuple):
            pending += structure_parts(value)
        elif value is not MISSING and type(value) not in (set, frozenset):
            return True  # an object of another class may refer to anything
    return False


def _location_key(value: Any, arrays_as_memory: bool, contract: type[Contract]) -> LeafKey:
    """Return the leaf key of a location's value; for a missing value, the key of None."""
    if value is MISSING:
        return Literal(None)
    if value is None or isinstance(value, (str, bytes, list, dict, set)):
        return make_object_key(value)
    return _leaf_key(value, arrays_as_memory, is_by_value=False, contract=contract)


def _leaf_key(value: Any, arrays_as_memory: bool, is_by_value: bool, contract: type[Contract]) -> LeafKey:
    """Return the leaf key of a value; if `arrays_as_memory` is true, the keys of arrays are their layouts."""
    if arrays_as_memory and isinstance(value, np.ndarray) and not needs_numpy(value):
        return make_array_key(value)
    return make_leaf_key(contract, value, {}, is_by_value)
