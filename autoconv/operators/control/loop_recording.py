"""One while loop under trace: its test and body, with layouts of the state widened from recording to recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.errors import StagingError
from autoconv.graph.dtypes import bool_
from autoconv.graph.types import number_type
from autoconv.operators.control.conditionals import has_user_defined_truth, truth
from autoconv.operators.control.staging import align_keys
from autoconv.operators.regions.container_promotion import (
    contents_layout,
    have_same_items,
    is_moved,
    move_into_graph,
    move_new_into_graph,
    move_shared_containers,
    refuse_changed_copies,
    refuse_unrecorded_changes,
)
from autoconv.operators.regions.layout import NEVER, Layout, Leaf, Parts, RunTimeList, Static, Variant, is_object_layout
from autoconv.operators.regions.layout_join import join_layouts, join_lists
from autoconv.operators.regions.loop_aliases import join_state
from autoconv.operators.regions.marshalling import emit
from autoconv.operators.regions.region_body import (
    Body,
    RecordedBody,
    as_tuple,
    record_body,
    unify_captures,
    write_location,
)
from autoconv.operators.regions.shared_identity import mark_shared
from autoconv.operators.regions.shared_lists import SharedLists, find_shared_lists
from autoconv.operators.regions.value_layout import layout_of, state_layout
from autoconv.runtime.objects.containers import TracedList, heap_of
from autoconv.runtime.objects.symbolic_objects import box
from autoconv.runtime.recording.journal import Location
from autoconv.runtime.recording.regions import Region, current_region, recording
from autoconv.runtime.support.attributes import has_dict, instance_attributes
from autoconv.runtime.support.spans import current_place


class LoopRecording:
    """A while loop, recorded once for each set of layouts until an iteration preserves them.

    The state has the variables `names`, followed by the contents of `locations`. `shared_lists` has the positions in
    the state that may hold the same list, and converts the state to graph values and back. The attributes declared
    below are results of the last recording.
    """

    recorded_test: RecordedBody
    recorded_body: RecordedBody
    deferred_output: list[Callable[[], None]]  # functions that emit the prints of the test and the body
    initial_state: list[Any]  # before the loop
    final_state: list[Any]  # after an iteration
    new_locations: dict[tuple[Any, ...], Location]  # by key, the locations that no earlier recording wrote

    def __init__(
        self,
        test: Callable[..., Any],
        body: Body,
        state: Sequence[Any],
        names: Sequence[str],
        locations: dict[tuple[Any, ...], Location],
    ) -> None:
        parent = current_region()
        assert parent is not None
        # This precedes the first recording, so that none has to be repeated.
        move_shared_containers(parent, arm=None, values=state)
        self.parent, self.test, self.body, self.state = parent, test, body, state
        self.names, self.locations = names, locations
        self.variable_count = len(names)
        # The layouts of the variables, then of the contents of the locations.
        self.layouts: list[Layout] = [state_layout(value, parent) for value in state]
        self.shared_lists = SharedLists()
        self._frozen_before = dict(parent.trace.frozen_objects)

    def record(self) -> None:
        """Record the test and the body for the current layouts."""
        parent = self.parent
        parent.trace.frozen_objects = dict(self._frozen_before)  # this recording freezes objects anew
        locations, known_count = list(self.locations.values()), len(self.layouts)
        self.initial_state = [*self.state, *(location.read() for location in locations)]
        locations_without_layout = locations[known_count - self.variable_count :]
        new_contents = zip(locations_without_layout, self.initial_state[known_count:], strict=True)
        self.layouts += [contents_layout(location.owner, value, parent) for location, value in new_contents]
        for position, value in enumerate(self.state):
            # A variable's list that has moved into the graph since the last recording needs an object layout.
            if heap_of(value) is not None and not is_object_layout(self.layouts[position]):
                self.layouts[position] = state_layout(value, parent)
        with refuse_unrecorded_changes(self.body, self.state, current_place()):
            self._record_iteration()
        written_locations = {**self.recorded_test.locations, **self.recorded_body.locations}
        self.new_locations = {key: location for key, location in written_locations.items() if key not in self.locations}
        self.final_state = [*self.recorded_body.results, *map(self.recorded_body.value_of, self.locations.values())]

    def _record_iteration(self) -> None:
        """Record the test and the body; their prints are deferred, since another recording may follow."""
        trace = self.parent.trace
        outer_output, trace.pending_output = trace.pending_output, []
        try:
            contents_before: dict[Any, Any] = {}
            evaluate = lambda region: [self._evaluate_test(region, contents_before)]
            recorded_test = record_body(self.parent, "while_cond", evaluate, 1)
            recorded_test.changes_state = any(
                key not in contents_before or not have_same_items(contents, contents_before[key])
                for key, contents in recorded_test.end_contents.items()
            )
            run_body = lambda region: as_tuple(self.body(*self._add_parameters(region)))
            self.recorded_test = recorded_test
            self.recorded_body = record_body(self.parent, "while_body", run_body, self.variable_count)
        finally:
            deferred_output, trace.pending_output = trace.pending_output, outer_output
        self.deferred_output = deferred_output or []

    def _add_parameters(self, region: Region) -> list[Any]:
        """Create parameters for the state and return those of the variables; write the others to their locations."""
        name = f"{region.trace.scope}Placeholder"
        parameters = [region.graph.add_parameter(type_, name) for type_ in self.shared_lists.types(self.layouts)]
        values = self.shared_lists.rebuild(self.layouts, parameters, region)
        for location, value in zip(self.locations.values(), values[self.variable_count :], strict=True):
            write_location(location, value)
        return values[: self.variable_count]

    def _evaluate_test(self, region: Region, contents_before: dict[Any, Any]) -> Any:
        """Evaluate the test on parameters of the layouts; `contents_before` receives the contents of locations."""
        values = self._add_parameters(region)
        contents_before.update((key, location.read()) for key, location in self.locations.items())
        attributes = [(arm, instance_attributes(arm)) for arm in _arms_with_truth_method(values)]
        condition = truth(self.test(*values), "while loop")
        if any(not _have_same_attributes(instance_attributes(arm), before) for arm, before in attributes):
            raise StagingError(
                "the test of a loop changes an object, and which one depends on a tensor", current_place()
            )
        return condition

    def variables_after(self) -> list[Layout]:
        """Return the layouts of the variables after the recorded iteration."""
        return [layout_of(value, self.recorded_body.region) for value in self.final_state[: self.variable_count]]

    def widen_layouts(self) -> list[Layout]:
        """Return layouts that hold the state both before the loop and after the recorded iteration."""
        joined_layouts = self._join_variables()
        result = [joined_layouts[position] for position in range(self.variable_count)]
        contents = zip(self.locations.values(), self.layouts[self.variable_count :], strict=True)
        for position, (location, layout) in enumerate(contents, self.variable_count):
            if position in joined_layouts:
                result.append(joined_layouts[position])
                continue
            contents_before = self.initial_state[position]
            aligned_contents = align_keys(location, [contents_before, self.final_state[position]], self.parent)
            self.initial_state[position], self.final_state[position] = aligned_contents
            if self.initial_state[position] is not contents_before:
                layout = _add_keys(layout, contents_layout(location.owner, self.initial_state[position], self.parent))
            result.append(_widen_contents(location, layout, self.final_state[position], self.recorded_body.region))
        return result

    def _join_variables(self) -> dict[int, Layout]:
        """Return the joined layouts of variables by position.

        Unless the contract promises identity, those of attributes and cells are among them.
        """
        locations = [*self.locations.values()]
        positions = [*range(self.variable_count)]
        if not self.parent.contract.promises_identity:
            joined_kinds = ("cell", "attribute")
            numbered_locations = enumerate(locations, self.variable_count)
            positions += [position for position, location in numbered_locations if location.kind in joined_kinds]
        all_names = [*self.names, *(location.name for location in locations)]
        layouts, initial_values, final_values, names = (
            [values[position] for position in positions]
            for values in (self.layouts, self.initial_state, self.final_state, all_names)
        )
        region = self.recorded_body.region
        layouts_after = join_state(self.parent, region, layouts, initial_values, final_values, names, self.locations)
        return dict(zip(positions, layouts_after, strict=True))

    def update_layouts(self, wider_layouts: list[Layout], has_moved: bool) -> bool:
        """Return whether the recorded iteration preserves the layouts; if not, set wider ones for the next recording.

        `has_moved`: a container has moved into the graph since the recording.
        """
        count, parent = self.variable_count, self.parent
        wider_layouts = mark_shared(wider_layouts, [[value] for value in self.final_state], [self.recorded_body.region])
        variable_values = zip(self.initial_state[:count], self.final_state[:count], strict=True)
        values_by_position = [[*pair] for pair in variable_values]
        values_by_position += [[value] for value in self.initial_state[count:]]
        has_moved |= move_into_graph(parent, values_by_position, wider_layouts, list(self.locations.values()), count)
        has_moved |= move_new_into_graph(parent, self.recorded_body, list(self.new_locations.values()))
        if has_moved:
            self.locations, self.new_locations = (
                {key: location for key, location in locations.items() if not is_moved(location.owner)}
                for locations in (self.locations, self.new_locations)
            )
            wider_layouts = wider_layouts[:count]
        refuse_changed_copies(parent, [*self.locations.values(), *self.new_locations.values()])
        places = find_shared_lists([[x] for x in self.final_state], wider_layouts, [self.recorded_body.region])
        shared_lists = self.shared_lists.widen(places)
        is_preserved = wider_layouts == self.layouts and shared_lists == self.shared_lists
        if is_preserved and not self.new_locations and not has_moved:
            return True
        self.layouts, self.shared_lists = wider_layouts, shared_lists
        self.locations.update(self.new_locations)
        return False

    def move_container(self, container: Any) -> None:
        """Move a container into the graph, where the next recording finds it."""
        box(container)
        self.locations = {key: location for key, location in self.locations.items() if location.owner is not container}
        self.layouts = self.layouts[: self.variable_count]

    def finish(self) -> tuple[Any, ...]:
        """Record the `while` node for the final layouts; write the locations, and return the final variables."""
        initial_values = self.shared_lists.emit(self.initial_state, self.layouts, self.parent)
        with recording(self.recorded_test.region):
            condition_layout = Leaf(number_type(bool_))
            condition = emit(self.recorded_test.results[0], condition_layout, self.recorded_test.region)
            self.recorded_test.region.graph.outputs = condition
        with recording(self.recorded_body.region):
            region = self.recorded_body.region
            region.graph.outputs = self.shared_lists.emit(self.final_state, self.layouts, region)
        captures = unify_captures([self.recorded_test.region, self.recorded_body.region], len(initial_values))
        node = self.parent.record(
            "while",
            [*initial_values, *captures],
            {"state": len(initial_values)},
            regions=[self.recorded_test.region.graph, self.recorded_body.region.graph],
            types=self.shared_lists.types(self.layouts),
            node_name="while",
        )
        values_after = self.shared_lists.rebuild(self.layouts, node.results, self.parent)
        for location, value in zip(self.locations.values(), values_after[self.variable_count :], strict=True):
            write_location(location, value)
        return tuple(values_after[: self.variable_count])


def _widen_contents(location: Location, layout: Layout, value: object, region: Region) -> Layout:
    """Join the layouts of a location's contents before the loop and after an iteration."""
    # NEVER: the arm that would give the contents always raises, so there are none.
    layout_after = NEVER if value is NEVER else layout_of(value, region)
    if type(location.owner) is TracedList and not region.contract.objects_in_graph:
        has_run_time_length = isinstance(layout, RunTimeList) or isinstance(layout_after, RunTimeList)
        if has_run_time_length or (isinstance(value, tuple) and _item_count(layout) != len(value)):
            return join_lists([x for x in (layout, layout_after) if x is not NEVER], location.name, region.contract)
    return join_layouts(layout, layout_after, location.name, region.contract)


def _add_keys(layout: Layout, wider_layout: Layout) -> Layout:
    """Extend the layout of a dict's contents by the additional keys of `wider_layout`."""
    assert isinstance(wider_layout, Parts)
    pairs_by_key = {_key(pair): pair for pair in (layout.parts if isinstance(layout, Parts) else ())}
    return Parts(tuple, None, tuple(pairs_by_key.get(_key(pair), pair) for pair in wider_layout.parts))


def _key(pair: Layout) -> Any:
    """Return the key in the layout of a dict's (key, value) pair."""
    if isinstance(pair, Static):
        return pair.value[0]
    assert isinstance(pair, Parts) and isinstance(pair.parts[0], Static)
    return pair.parts[0].value


def _item_count(layout: Layout) -> int:
    """Return the number of items of a list whose contents have the layout; -1 if it is unknown."""
    return len(layout.parts) if isinstance(layout, Parts) else len(layout.value) if isinstance(layout, Static) else -1


def _arms_with_truth_method(values: Sequence[Any]) -> list[Any]:
    """Return the objects, among arms of variants in the state, that have a user-defined truth method."""
    arms = [arm for value in values if type(value) is Variant for arm in value.values]
    return [arm for arm in arms if has_user_defined_truth(arm) and has_dict(arm)]


def _have_same_attributes(current: dict[str, Any], before: dict[str, Any]) -> bool:
    """Return whether two snapshots of an object's attributes have the same names with the same objects."""
    return current.keys() == before.keys() and all(current[name] is before[name] for name in current)
