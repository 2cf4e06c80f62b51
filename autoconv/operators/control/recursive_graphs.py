"""Record functions whose recursion a tensor ends as recursive graphs.

Inside such a graph (`RecursiveFunction`), recursive calls are `call` nodes. An arm that needs a result of unknown
layout is suspended (`Suspended`); the other arms provide a first layout. The body is then recorded again until the
layouts of its result, arguments and written state reach a fixed point. `recursion_detection.py` detects the calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any

from autoconv.errors import InaccessibleTensorError, StagingError
from autoconv.graph.graph import Graph, Value, compute_effects
from autoconv.operators.control.handler_values import load_handler_value, store_handler_value, stored_layout
from autoconv.operators.regions.container_promotion import (
    is_moved,
    move_into_graph,
    refuse_changed_copies,
    refuse_unrecorded_changes,
)
from autoconv.operators.regions.layout import NEVER, Layout, Never
from autoconv.operators.regions.layout_join import join_layouts, join_objects
from autoconv.operators.regions.marshalling import emit, rebuild, record_absent
from autoconv.operators.regions.raised_errors import record_raise
from autoconv.operators.regions.recursive_signature import (
    argument_layout,
    bound_arguments,
    identity_of,
    invoke,
    join_arguments,
    layout_or_never,
)
from autoconv.operators.regions.region_body import RecordedBody, record_body, write_location
from autoconv.operators.regions.tracing_signals import Suspended
from autoconv.operators.support.speculation import emit_output
from autoconv.runtime.objects.symbolic_objects import record_object
from autoconv.runtime.recording.deferred_stores import DeferredStores
from autoconv.runtime.recording.journal import Location
from autoconv.runtime.recording.regions import Region, current_region, recording
from autoconv.runtime.support.spans import current_place

_MAX_ROUNDS = 16  # recordings of one function after which StagingError is raised
# Rounds under `compile` after which changing parts of arguments and results become graph objects.
_GENERALISE_AFTER = 5


class Call:
    """A call that is being recorded.

    `may_restart`: its effects can be undone, and the call recorded in another way. `inline_count`: the number of
    recursive calls inside of it that were recorded inline.
    """

    def __init__(
        self,
        function: FunctionType,
        target: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        region: Region,
    ) -> None:
        self.function, self.target, self.args, self.kwargs = function, target, args, kwargs
        self.region = region
        self.identity = identity_of(function)
        self.may_restart = False
        self.inline_count = 0
        self._layouts: list[Layout] | None = None

    def layouts(self) -> list[Layout]:
        """Return the layouts of the arguments, in the state at the call."""
        if self._layouts is None:
            values = bound_arguments(self.function, self.args, self.kwargs)
            self._layouts = [argument_layout(value, self.region) for value in values]
        return self._layouts

    def has_layouts_of(self, call: Call) -> bool:
        """Return whether the arguments have the same layouts as another call's."""
        try:
            return self.layouts() == call.layouts()
        except TypeError:  # the arguments do not fit: the function itself raises
            return False


class RecursiveFunction(Call):
    """A function recorded as a graph that calls itself.

    Its parameters are the leaves of the arguments, those of the `locations` that it writes, and its captures. Its
    outputs are the leaves of the result and of the locations. Layouts called `next_…` are those of the next round.
    """

    def __init__(self, call: Call, layouts: Sequence[Layout]) -> None:
        super().__init__(call.function, call.target, call.args, call.kwargs, call.region)
        self.values = bound_arguments(call.function, call.args, call.kwargs)
        self.argument_layouts = list(layouts)
        self.next_argument_layouts = list(layouts)
        self.name = call.region.trace.root.graph.unique_name(f"recursive_{call.function.__name__}")
        self.result_layout: Layout = NEVER
        self.never_returns = False
        self.has_suspended_arms = False
        self.locations: dict[Any, Location] = {}
        self.location_layouts: list[Layout] = []
        self.next_location_layouts: list[Layout] = []
        self.captures: list[Value] = []
        # A dict of the graph with the contents of the locations for a handler around a call; None without a handler.
        self.value_dict: Any = None
        self.is_handled = False  # a handler around a call reads the locations
        self.stored_layouts: dict[Any, Layout] = {}
        self.graph = Graph(self.name)
        recursion = call.region.trace.recursions.get(self.identity)
        if recursion is not None and recursion.layouts() == self.argument_layouts:
            self._start_from(recursion)

    def layouts(self) -> list[Layout]:
        return self.argument_layouts

    def _start_from(self, recursion: RecursiveFunction) -> None:
        """Start from the layouts of an earlier recording; the rounds check whether they hold here."""
        self.result_layout, self.is_handled = recursion.result_layout, recursion.is_handled
        for (key, location), layout in zip(recursion.locations.items(), recursion.location_layouts, strict=True):
            try:
                current_layout = layout_or_never(location.read(), self.region)
            except InaccessibleTensorError:  # created by another call
                continue
            self.locations[key] = location
            self.location_layouts.append(join_layouts(layout, current_layout, location.name, self.region.contract))
        self.next_location_layouts = list(self.location_layouts)

    def widen(self, layouts: Sequence[Layout]) -> RecursiveFunction:
        """Widen the argument layouts of the next round by `layouts`; return the function itself."""
        pairs = zip(self.next_argument_layouts, layouts, strict=True)
        self.next_argument_layouts = [join_arguments(*pair, "", self.region.contract) for pair in pairs]
        return self

    def call(self, values: Sequence[Any], region: Region) -> Any:
        """Record a recursive call inside the function."""
        if isinstance(self.result_layout, Never) and not self.never_returns:
            self.has_suspended_arms = True
            raise Suspended(region)
        for position, location in enumerate(self.locations.values()):
            current_layout = layout_or_never(location.read(), region)
            old_layout = self.next_location_layouts[position]
            joined_layout = join_layouts(old_layout, current_layout, location.name, region.contract)
            self.next_location_layouts[position] = joined_layout
        # With other layouts, the next round records the call; here placeholders stand for its results.
        if self.next_argument_layouts != self.argument_layouts or self.next_location_layouts != self.location_layouts:
            layouts = [self.result_layout, *self.location_layouts]
            leaves = iter([record_absent(leaf, region) for layout in layouts for leaf in layout.types()])
            return self._rebuild_results(leaves, region)
        return self._record_call(values, region)

    def record(self) -> Any:
        """Record the function and a call of it; return the result of the call."""
        parent = self.region
        trace = parent.trace
        last_new_keys: set[Any] = set()
        was_confirmed = False  # whether the round before confirmed its assumptions
        for round_number in range(_MAX_ROUNDS):
            if self.is_handled and self.value_dict is None:
                self.value_dict = record_object("object_build", [], class_name="dict")
            outer_output, trace.pending_output = trace.pending_output, []
            try:
                body = trace_recursion(self)
            finally:
                deferred_output, trace.pending_output = trace.pending_output, outer_output
            new_locations = {key: location for key, location in body.locations.items() if key not in self.locations}
            # Objects created by the body differ in every round: a location met twice belongs to an object from before.
            adopted_locations = {key: location for key, location in new_locations.items() if key in last_new_keys}
            is_confirmed = self._update_layouts(body, round_number, adopted_locations)
            if is_confirmed and (was_confirmed or not new_locations):
                for print_output in deferred_output or ():
                    emit_output(parent, print_output)
                compute_effects(self.graph)
                trace.recursions[self.identity] = self
                return self._record_call(self.values, parent)
            last_new_keys, was_confirmed = new_locations.keys() - adopted_locations.keys(), is_confirmed
        raise StagingError(
            f"the argument and result types of the recursive function {self.function.__name__} do not converge",
            current_place(),
            "arguments and results of one type at every call",
        )

    def _update_layouts(self, body: RecordedBody, round_number: int, adopted_locations: dict[Any, Location]) -> bool:
        """Return whether the round confirmed the layouts that it assumed; if not, set wider ones for the next round.

    `adopted_locations` are written by the body, and belong to objects that existed before it.
    """
        parent, body_region = self.region, body.region
        contract = parent.contract
        assumptions_before = self._assumptions()
        (value,) = body.results
        new_layouts = [NEVER if value is NEVER else argument_layout(value, body_region, is_result=True)]
        new_layouts += [layout_or_never(body.value_of(x), body_region) for x in self.locations.values()]
        old_layouts = [self.result_layout, *self.next_location_layouts]
        titles = [f"what {self.function.__name__} gives", *(location.name for location in self.locations.values())]
        triples = zip(old_layouts, new_layouts, titles, strict=True)
        joined_layouts = [join_layouts(old, new, title, contract) for old, new, title in triples]
        argument_layouts = self.next_argument_layouts
        if contract.objects_in_graph and round_number >= _GENERALISE_AFTER:
            pairs = zip(old_layouts, joined_layouts, strict=True)
            joined_layouts = [old if old == new else join_objects(old, new) for old, new in pairs]
            pairs = zip(self.argument_layouts, argument_layouts, strict=True)
            argument_layouts = [old if old == new else join_objects(old, new) for old, new in pairs]
        locations = (*self.locations.values(), *adopted_locations.values())
        value_pairs = [[body.value_of(location), location.read()] for location in locations]
        contents_layouts = [
            join_layouts(layout_or_never(later, body_region), layout_or_never(earlier, parent), "", contract)
            for later, earlier in value_pairs
        ]
        has_moved = move_into_graph(parent, value_pairs, contents_layouts, locations, result_count=0)
        self.argument_layouts = self.next_argument_layouts = list(argument_layouts)
        self.result_layout, self.location_layouts = joined_layouts[0], joined_layouts[1:]
        self.never_returns = isinstance(self.result_layout, Never) and (self.has_suspended_arms or self.never_returns)
        outputs = [value, *(body.value_of(location) for location in self.locations.values())]
        outputs_with_layouts = list(zip(outputs, joined_layouts, strict=True))
        self._set_outputs(body, outputs_with_layouts)
        for key, location in adopted_locations.items():
            self.locations[key] = location
            current_layout = layout_or_never(location.read(), parent)
            later_layout = layout_or_never(body.value_of(location), body_region)
            self.location_layouts.append(join_layouts(current_layout, later_layout, location.name, contract))
        if has_moved:
            moved_keys = [key for key, location in self.locations.items() if is_moved(location.owner)]
            keys = list(self.locations)
            pairs = zip(keys, self.location_layouts, strict=True)
            self.location_layouts = [layout for key, layout in pairs if key not in moved_keys]
            for key in moved_keys:
                del self.locations[key]
        self.next_location_layouts = list(self.location_layouts)
        refuse_changed_copies(parent, self.locations.values())
        is_unchanged = assumptions_before == self._assumptions() and not adopted_locations and not has_moved
        return is_unchanged and self.is_handled == (self.value_dict is not None)

    def _assumptions(self) -> tuple[Any, ...]:
        """Return a copy of the layouts, captures and flags that the round assumes, to find whether it changed them."""
        layouts = self.argument_layouts, self.result_layout, [*self.location_layouts], dict(self.stored_layouts)
        return *layouts, [*self.captures], self.never_returns

    def _set_outputs(self, body: RecordedBody, outputs: Sequence[tuple[Any, Layout]]) -> None:
        """Make these values the region's outputs, and collect its captures."""
        body_region = body.region
        with recording(body_region):
            body_region.graph.outputs = [leaf for value, layout in outputs for leaf in emit(value, layout, body_region)]
        self.captures += [outer for outer in body_region.parent_captures() if outer not in self.captures]

    def run(self, body_region: Region) -> list[Any]:
        """Run the body with parameters of the assumed layouts; return its result as the only item of a list."""
        self.graph, self.has_suspended_arms = body_region.graph, False
        values = []
        for layout in (*self.argument_layouts, *self.location_layouts):
            leaves = [body_region.graph.add_parameter(leaf, "argument") for leaf in layout.types()]
            values.append(rebuild(layout, iter(leaves)))
        for outer in self.captures:
            body_region.lift(outer)
        count = len(self.argument_layouts)
        for location, value in zip(self.locations.values(), values[count:], strict=True):
            write_location(location, value)
        running_calls = body_region.trace.calls
        running_calls.append(self)
        stores = DeferredStores(self._locations_to_store, self._store, outermost=body_region)
        body_region.trace.store_listeners.append(stores)
        try:
            # Under `function` a list is rebuilt from its items, so that mutations of the new list would be lost.
            copies = [] if body_region.contract.promises_identity else values[:count]
            with refuse_unrecorded_changes(None, copies, current_place()):
                return [invoke(self.function, self.target, values[:count])]
        finally:
            running_calls.remove(self)
            body_region.trace.store_listeners.remove(stores)

    def _locations_to_store(self, region: Region) -> list[Location]:
        """Return the locations to store before an op that may raise."""
        return [] if self.value_dict is None else list(self.locations.values())

    def _store(self, location: Location, value: object, _before: object) -> None:
        """Store the contents of a location for the handler around a call, with the layouts that they have had."""
        region = current_region()
        assert region is not None
        layout = stored_layout(value, region)
        old_layout = self.stored_layouts.get(location.key, layout)
        self.stored_layouts[location.key] = join_layouts(old_layout, layout, location.name, region.contract)
        store_handler_value(self.value_dict, list(self.locations).index(location.key), value, location.name)

    def value_at_raise(self, location: Location) -> Any:
        """Return the contents of the location at the point where a call raised."""
        value_before = location.read()
        self.is_handled = True
        if self.value_dict is None:
            return value_before
        layouts = [self.location_layouts[list(self.locations).index(location.key)]]
        layouts += [self.stored_layouts[location.key]] if location.key in self.stored_layouts else []
        position = list(self.locations).index(location.key)
        return load_handler_value(self.value_dict, position, layouts, location.name, value_before, self.region.contract)

    def _record_call(self, values: Sequence[Any], region: Region) -> Any:
        """Record a node that calls the function with these arguments; return the result."""
        inputs: list[Value] = []
        operands = [*values, *(location.read() for location in self.locations.values())]
        for value, layout in zip(operands, (*self.argument_layouts, *self.location_layouts), strict=True):
            inputs += emit(value, layout, region)
        inputs += [region.lift(outer) for outer in self.captures]
        layouts = [self.result_layout, *self.location_layouts]
        node = region.record(
            "call",
            inputs,
            {"name": self.name, "recursive": True},
            regions=[self.graph],
            types=[leaf for layout in layouts for leaf in layout.types()],
            node_name="StatefulPartitionedCall",
        )
        for listener in region.trace.store_listeners:
            listener.after_call(region)
        return self._rebuild_results(iter(node.results), region)

    def _rebuild_results(self, leaves: Iterator[Value], region: Region) -> Any:
        """Rebuild the result of a call, and write the state that it wrote."""
        result, *location_values = [rebuild(layout, leaves) for layout in (self.result_layout, *self.location_layouts)]
        for location, value in zip(self.locations.values(), location_values, strict=True):
            write_location(location, value)
        if isinstance(self.result_layout, Never):
            # The call never returns, and the raise keeps it alive although its result is unused.
            record_raise(region, RecursionError("maximum recursion depth exceeded"))
            raise Suspended(region)
        return result


def locations_written_by_calls(region: Region) -> list[tuple[Location, Any]]:
    """Return the locations that the active recursive functions write, with their values where a call raised."""
    locations: dict[Any, tuple[Location, Any]] = {}
    for recursion in region.trace.calls:
        if isinstance(recursion, RecursiveFunction):
            for key, location in recursion.locations.items():
                if key not in locations:
                    locations[key] = location, recursion.value_at_raise(location)
    return list(locations.values())


def trace_recursion(recursion: RecursiveFunction) -> RecordedBody:
    """Record one round; the name of this function ends the chain of callers in the graph's spans (see `spans`)."""
    with refuse_unrecorded_changes(recursion.target, recursion.values, current_place()):
        return record_body(recursion.region, recursion.name, recursion.run, 1)
