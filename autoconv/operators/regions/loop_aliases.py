"""Alias analysis for the state of a loop: find containers to which more than one name refers.

A layout may rebuild a container as a new one, whose later changes an alias would not show. Conservative: every
reference to a container counts as an alias, to a depth of `_DEPTH` references. They are searched in the other variables
of the loop, in the local variables of all traced frames, and in containers over which enclosing unrolled loops iterate.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

from autoconv.config.paths import is_own_file
from autoconv.errors import StagingError
from autoconv.graph.types import ObjectType
from autoconv.operators.regions.layout import NEVER, Arms, Layout, Leaf, Static, Variant, is_container
from autoconv.operators.regions.layout_join import join_layouts, widen_lists
from autoconv.operators.regions.shared_lists import containers_in
from autoconv.operators.regions.unsharing import copied_objects
from autoconv.operators.regions.value_layout import layout_of
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, TracedList, items_of
from autoconv.runtime.objects.symbolic_objects import as_object
from autoconv.runtime.recording.regions import Region
from autoconv.runtime.support.attributes import attributes_of
from autoconv.runtime.support.spans import current_place, is_region, is_start_of_trace
from autoconv.runtime.support.structure import is_structure, mutable_parts, structure_parts

_DEPTH = 6  # references from a variable to the container

# Containers that an unrolled loop iterates over, as a function of the local variable `iterable` of its code.
ITERATED_CONTAINERS_BY_CODE: dict[CodeType, Callable[[Any], list[Any]]] = {}


def join_state(
    parent: Region,
    region: Region,
    layouts: Sequence[Layout],
    initial_values: Sequence[Any],
    final_values: Sequence[Any],
    names: Sequence[str],
    attributes: Collection[tuple[Any, ...]] = (),
) -> list[Layout]:
    """Return the layouts that hold the loop's variables before it and after an iteration, recorded in `region`.

    `attributes`: the attributes of objects among the variables, as pairs of the object's id and the name.
    """
    states = initial_values, final_values
    shared_ids = {id(part) for values in states for part in _repeated_containers(values, region)}
    joined_layouts = []
    for layout, value_before, value_after, name in zip(layouts, initial_values, final_values, names, strict=True):
        layout_after = NEVER if value_after is NEVER else layout_of(value_after, region)
        joined_layout = _widen_lists(join_layouts(layout, layout_after, name, region.contract), name, region)
        copies_after = _containers(value_after, joined_layout, region)
        copies = [*_containers(value_before, joined_layout), *(x for x in copies_after if parent.is_inside(x._home))]
        is_aliased = any(id(part) in shared_ids or _has_other_reference(part, names, attributes) for part in copies)
        if is_aliased:
            joined_layout = _identity_layout(layout, layout_after, (value_before, value_after), name, region)
        joined_layouts.append(joined_layout)
    return joined_layouts


def _container_finder(region: Region) -> Callable[[object], Iterator[Any]]:
    """Return the function that yields the containers in a value.

    Under `compile` variants need no search, since containers in them are graph objects.
    """
    return mutable_parts if region.contract.promises_identity else containers_in


def _widen_lists(layout: Layout, name: str, region: Region) -> Layout:
    return layout if region.contract.objects_in_graph else widen_lists(layout, name, region.contract)


def _identity_layout(layout: Layout, layout_after: Layout, values: Sequence[Any], name: str, region: Region) -> Layout:
    """Return a layout in which containers from before the loop keep their identity."""
    if region.contract.promises_identity:
        return Leaf(ObjectType(), as_object)
    arms = [arm for joined_layout in (layout, layout_after) for arm in joined_layout.alternatives]
    containers = dict.fromkeys(filter(is_container, arms))
    if not containers:
        raise StagingError(
            f"a loop rebinds {name!r}, and another name refers to a list in its value", current_place(),
            "a copy before the loop: copy.deepcopy(value)",
        )  # fmt: skip
    joined_others: Layout = NEVER
    for arm in arms:
        if not is_container(arm):
            joined_others = join_layouts(joined_others, arm, name, region.contract)
    joined_others = _widen_lists(joined_others, name, region)
    other_arms = () if joined_others is NEVER else joined_others.alternatives
    return Arms((*containers, *other_arms))


def _repeated_containers(values: Sequence[Any], region: Region) -> Iterator[Any]:
    """Yield the containers that occur in more than one of the values."""
    parts_of = _container_finder(region)
    parts_by_value = [{id(part): part for part in parts_of(value) if type(part) in TRACED_TO_PLAIN} for value in values]
    counts = Counter(key for parts in parts_by_value for key in parts)
    for parts in parts_by_value:
        yield from (part for key, part in parts.items() if counts[key] > 1)


def _containers(value: object, layout: Layout, region: Region | None = None) -> Iterator[Any]:
    """Yield the containers in a value that the layout rebuilds as new ones."""
    arms = layout.alternatives
    for part in value.values if type(value) is Variant else (value,):
        if type(part) is TracedList and items_of(part) is not None and Static(part) not in arms:
            yield part
    yield from (part for part in copied_objects(value, layout, region) if type(part) in TRACED_TO_PLAIN)


def _has_other_reference(container: object, names: Collection[str], attributes: Collection[tuple[Any, ...]]) -> bool:
    """Return whether a variable of a traced function, other than the loop's own, refers to the container."""
    seen_ids: set[int] = set()

    def refers_to_container(value: object, depth: int) -> bool:
        """Return whether at most `depth` references lead from the value to the container."""
        if value is container:
            return True
        if depth == 0 or id(value) in seen_ids:
            return False
        seen_ids.add(id(value))
        return any(refers_to_container(part, depth - 1) for part in _parts(value, attributes))

    return any(refers_to_container(value, _DEPTH) for value in _variables(names))


def _variables(names: Collection[str]) -> Iterator[Any]:
    """Yield the values of the variables of the traced functions, except for the loop's own, which have these names."""
    frame: FrameType | None = sys._getframe(1)
    is_of_loop = True  # whether the frame belongs to the function with the loop
    while frame is not None and not is_start_of_trace(frame.f_code):
        if not is_own_file(frame.f_code.co_filename):
            for name, value in frame.f_locals.items():
                if not (is_of_loop and name in names) and not _is_region_function(value):
                    yield value
            is_of_loop = is_of_loop and is_region(frame.f_code)
        elif frame.f_code in ITERATED_CONTAINERS_BY_CODE:
            yield from ITERATED_CONTAINERS_BY_CODE[frame.f_code](frame.f_locals["iterable"])
        frame = frame.f_back


def _is_region_function(value: object) -> bool:
    """Return whether the value is a region function of converted code, whose captures are variables of its frame."""
    return isinstance(value, FunctionType) and is_region(value.__code__)


def _parts(value: object, excluded_attributes: Collection[tuple[Any, ...]]) -> Iterator[Any]:
    """Yield the references of a value: items, attributes, a function's captures and defaults, a method's object."""
    if type(value) is Variant:
        yield from value.values
    elif is_structure(value):
        yield from structure_parts(value)
    elif isinstance(value, FunctionType):
        yield from value.__defaults__ or ()
        for cell in value.__closure__ or ():
            yield from _values_in_cell(cell)
    elif isinstance(value, MethodType):
        yield value.__self__
    elif not isinstance(value, (type, ModuleType)) and not type(value).__module__.startswith("autoconv."):
        yield from (part for name, part in attributes_of(value).items() if (id(value), name) not in excluded_attributes)


def _values_in_cell(cell: Any) -> Iterator[Any]:
    try:
        yield cell.cell_contents
    except ValueError:  # unassigned
        return
