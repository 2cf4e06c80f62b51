"""Record the arms of a condition and join their results."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from autoconv.graph.types import ObjectType
from autoconv.lazy_dataclass import dataclass
from autoconv.operators.regions.container_promotion import (
    check_alias,
    is_alias_of_outer,
    move_into_graph,
    move_parts_of_exceptions,
    move_shared_containers,
    move_shared_parts,
    refuse_changed_copies,
    refuse_unrecorded_changes,
)
from autoconv.operators.regions.layout import NEVER, Arms, Layout, Leaf, Static, Variant, is_container
from autoconv.operators.regions.layout_join import join_layouts, join_lists
from autoconv.operators.regions.marshalling import STAGE_ARMS
from autoconv.operators.regions.region_body import (
    Body,
    RecordedBody,
    apply_body,
    record_body,
    unify_captures,
    write_location,
)
from autoconv.operators.regions.shared_identity import find_shared_identities, mark_shared
from autoconv.operators.regions.shared_lists import SharedLists, find_shared_lists
from autoconv.operators.regions.tracing_signals import Suspended
from autoconv.operators.regions.unsharing import changed_copies, layout_at_end
from autoconv.operators.regions.value_layout import holds_created_here, layout_of
from autoconv.operators.support.narrowing import record_implications, record_result_classes
from autoconv.runtime.objects.containers import TracedDict, TracedList, UnmovedError
from autoconv.runtime.objects.symbolic_objects import as_object, box
from autoconv.runtime.recording.journal import MISSING, Location
from autoconv.runtime.recording.regions import Region, current_region, recording
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.symbolic import SymbolicTensor


def stage_arms(
    index: SymbolicTensor, arms: Sequence[Body], inputs: Sequence[Any], names: Sequence[str]
) -> tuple[Any, ...]:
    """Record a `cond` node, and return the values of `names` after it.

    `index` is an integer that selects the arm, or a bool: then the first arm is that for True, the second for False.
    The arms are recorded again whenever a container has to move into the graph.
    """
    parent = current_region()
    assert parent is not None
    frozen_before = dict(parent.trace.frozen_objects)
    joined_arms = None
    while joined_arms is None:
        parent.trace.frozen_objects = dict(frozen_before)  # this recording freezes objects anew
        joined_arms = _emit_arm_outputs(parent, index, arms, inputs, names)
    regions = [arm.region for arm in joined_arms.arms]
    captures = unify_captures(regions)
    node = parent.record(
        "cond",
        [index.value_in_graph, *captures],
        {},
        regions=[region.graph for region in regions],
        types=joined_arms.shared_lists.types(joined_arms.layouts),
        node_name="cond",
    )
    if all(arm.diverges for arm in joined_arms.arms) and any(arm.is_suspended for arm in joined_arms.arms):
        raise Suspended(parent)
    record_result_classes(node, regions)
    values_after = joined_arms.shared_lists.rebuild(joined_arms.layouts, node.results, parent)
    for position, earlier_position in joined_arms.earlier_positions.items():
        values_after[position] = values_after[earlier_position]
    name_count = len(names)
    location_values = zip(joined_arms.locations, values_after[name_count:], strict=True)
    for position, (location, value) in enumerate(location_values, name_count):
        # Without a layout of its own or an earlier position, the code that follows is unreachable.
        if joined_arms.layouts[position] is not NEVER or position in joined_arms.earlier_positions:
            write_location(location, value)
    return tuple(values_after[:name_count])


@dataclass(slots=True)
class _JoinedArms:
    """The recorded arms of a condition, whose results and `locations` have layouts that hold those of every arm.

    `columns[i][j]` is result i of arm j. `earlier_positions` maps the position of a result to an earlier one that is
    the same object in every arm. `shared_lists` has the places in the results that may hold the same list.
    """

    arms: list[RecordedBody]
    locations: list[Location]
    columns: list[list[Any]]
    layouts: list[Layout]
    earlier_positions: dict[int, int]
    shared_lists: SharedLists


def _emit_arm_outputs(
    parent: Region, index: SymbolicTensor, arms: Sequence[Body], inputs: Sequence[Any], names: Sequence[str]
) -> _JoinedArms | None:
    """Record the arms and emit their outputs; None if a container has moved into the graph meanwhile."""
    name_count = len(names)
    recorded_arms = _record_arms(parent, index, arms, inputs, name_count)
    regions = [arm.region for arm in recorded_arms]
    locations = list({key: location for arm in recorded_arms for key, location in arm.locations.items()}.values())
    columns = [[arm.results[i] for arm in recorded_arms] for i in range(name_count)]
    location_columns = [[arm.value_of(location) for arm in recorded_arms] for location in locations]
    columns += [align_keys(*pair, parent) for pair in zip(locations, location_columns, strict=True)]
    has_moved = [
        move_shared_containers(parent, arm, [column[position] for column in columns])
        for position, arm in enumerate(recorded_arms)
    ]
    has_moved.append(move_parts_of_exceptions(parent, recorded_arms))
    if any(has_moved) or move_shared_parts(parent, dict(zip(names, columns, strict=False))):
        return None
    frozen_before = set(parent.trace.frozen_objects)
    titles = [*names, *(location.name for location in locations)]
    joined_layouts, changed_ids = _join_results(columns, recorded_arms, titles, [*[None] * name_count, *locations])
    layouts = list(joined_layouts)
    earlier_positions = find_shared_identities(columns, regions)
    for position in earlier_positions:
        layouts[position] = NEVER
    unshared_columns = [
        column if position not in earlier_positions else [NEVER] * len(column)
        for position, column in enumerate(columns)
    ]
    layouts = mark_shared(layouts, unshared_columns, regions)
    refuse_changed_copies(parent, locations, changed_ids - frozen_before)
    if move_into_graph(parent, [*columns], layouts, locations, name_count):
        return None
    if parent.contract.promises_identity:
        for position, name in enumerate(names):
            for body, arm in zip(arms, recorded_arms, strict=True):
                check_alias(parent, body, arm.results[position], joined_layouts[position], name)
    try:
        shared_lists = emit_outputs(recorded_arms, unshared_columns, layouts, at_end=bool(changed_ids))
    except UnmovedError as unmoved:
        box(unmoved.container)
        return None
    return _JoinedArms(recorded_arms, locations, unshared_columns, layouts, earlier_positions, shared_lists)


def emit_outputs(
    recorded_arms: Sequence[RecordedBody], columns: Sequence[Sequence[Any]], layouts: Sequence[Layout],
    at_end: bool = False,
) -> SharedLists:
    """Emit the outputs of each arm in those layouts; with `at_end`, objects have their state at the end of the arm.

    Returns the places in the results that may hold the same list; these have outputs of their own.
    """
    shared_lists = find_shared_lists(columns, layouts, [arm.region for arm in recorded_arms])
    for position, arm in enumerate(recorded_arms):
        with recording(arm.region), arm.restored_end_state() if at_end else nullcontext():
            arm.region.graph.outputs = shared_lists.emit([column[position] for column in columns], layouts, arm.region)
    return shared_lists


def _record_arms(
    parent: Region, index: SymbolicTensor, arms: Sequence[Body], inputs: Sequence[Any], name_count: int
) -> list[RecordedBody]:
    """Record each arm in a region; raise StagingError for changes of lists or dicts that no journal has."""
    arm_names = ("true", "false") if len(arms) == 2 else tuple(f"arm_{i}" for i in range(len(arms)))
    recorded_arms = []
    for arm_name, arm in zip(arm_names, arms, strict=True):
        body = apply_body(arm, inputs)
        if len(arms) == 2:
            body = _with_implications(index, arm_name == "true", body)
        with refuse_unrecorded_changes(arm, inputs, current_place()):
            recorded_arms.append(record_body(parent, f"cond_{arm_name}", body, name_count))
    return recorded_arms


def _with_implications(test: SymbolicTensor, is_true: bool, body: Body) -> Body:
    """Wrap the body of an arm with what the test implies."""

    def run(region: Region) -> Any:
        record_implications(region, test, is_true)
        return body(region)

    return run


def _join_results(
    columns: Sequence[list[Any]],
    recorded_arms: list[RecordedBody],
    titles: Sequence[str],
    locations: Sequence[Location | None],
) -> tuple[list[Layout], set[int]]:
    """Return the layouts of results and locations, and the ids of objects that an arm changes and returns copies of.

    `columns` has one column for each result and location, `titles` its name in error messages, and `locations` its
    location, or None for a result.
    """
    layouts: list[Layout] = []
    changed_ids: set[int] = set()
    regions = [arm.region for arm in recorded_arms]
    for column, title, location in zip(columns, titles, locations, strict=True):
        contents_layout = None if location is None else _join_contents(location, column, regions)
        if contents_layout is not None:
            layouts.append(contents_layout)
            continue
        layout = _join_column(column, recorded_arms, title)
        changed_by_arm = [changed_copies(arm, value, layout) for value, arm in zip(column, recorded_arms, strict=True)]
        if any(changed_by_arm):
            layout = _join_column(column, recorded_arms, title, changed_by_arm)
            changed_ids.update(*changed_by_arm)
        layouts.append(layout)
    return layouts, changed_ids


def _join_column(
    column: list[Any], recorded_arms: list[RecordedBody], title: str, changed_by_arm: Sequence[set[int]] | None = None
) -> Layout:
    """Return the layout of a result called `title` in error messages; `column` has its value in each arm.

    `changed_by_arm`, if given, has the ids of objects that each arm changes and whose copy it returns.
    """
    region = recorded_arms[0].region
    is_alias = region.contract.promises_identity and is_alias_of_outer(column, region.parent)
    if is_alias and not any(map(holds_created_here, column)):
        return Leaf(ObjectType(), as_object)
    if _is_outer_variant(column, region):
        return Static(next(value for value in column if value is not NEVER))
    joined_layout: Layout = NEVER
    values_and_arms = zip(column, recorded_arms, strict=True)
    layouts = [NEVER if value is NEVER else layout_of(value, arm.region) for value, arm in values_and_arms]
    if changed_by_arm is not None:
        arms = zip(layouts, recorded_arms, column, changed_by_arm, strict=True)
        layouts = [layout_at_end(arm, value, ids) if ids else layout for layout, arm, value, ids in arms]
    if is_alias_of_outer(column, region.parent):  # either alias may be changed: each container is an arm
        joined_layout = Arms(tuple(dict.fromkeys(filter(is_container, layouts))))
        layouts = [NEVER if is_container(layout) else layout for layout in layouts]
    for layout, arm in zip(layouts, recorded_arms, strict=True):
        joined_layout = join_layouts(joined_layout, layout, title, arm.region.contract)
    return joined_layout


def _join_contents(location: Location, column: Sequence[Any], regions: Sequence[Region]) -> Layout | None:
    """Return the layout of a list's contents if its length is known only at run time; None for others."""
    if type(location.owner) is not TracedList or regions[0].contract.objects_in_graph:
        return None
    values = [(value, region) for value, region in zip(column, regions, strict=True) if value is not NEVER]
    lengths = {len(value) for value, _ in values if isinstance(value, tuple)}
    if len(lengths) < 2 and all(isinstance(value, tuple) for value, _ in values):
        return None
    return join_lists([layout_of(value, region) for value, region in values], location.name, regions[0].contract)


def align_keys(location: Location, column: list[Any], region: Region) -> list[Any]:
    """Return a dict's contents on several paths with all keys on each: MISSING marks one whose presence varies."""
    if type(location.owner) is not TracedDict or region.contract.objects_in_graph:
        return column
    dicts = [dict(value) if isinstance(value, tuple) else None for value in column]
    keys = list(dict.fromkeys(key for pairs in dicts if pairs is not None for key in pairs))
    if all(pairs is None or list(pairs) == keys for pairs in dicts):
        return column
    return [
        value if pairs is None else tuple((key, pairs.get(key, MISSING)) for key in keys)
        for value, pairs in zip(column, dicts, strict=True)
    ]


def _is_outer_variant(column: list[Any], arm_region: Region) -> bool:
    """Return whether all arms return one variant from outside, which must not be rebuilt: its lists would be copies."""
    values = [value for value in column if value is not NEVER]
    if not values or type(values[0]) is not Variant or any(value is not values[0] for value in values):
        return False
    tag, enclosing_region = values[0].tag, arm_region.parent
    while (
        enclosing_region is not None and isinstance(tag, SymbolicTensor)
        and tag.value_in_graph.graph is not enclosing_region.graph
    ):  # fmt: skip
        enclosing_region = enclosing_region.parent
    return enclosing_region is not None


STAGE_ARMS.set(stage_arms)  # for `marshalling`, which cannot import this module
