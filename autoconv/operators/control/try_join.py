"""Join the ends of a body and its handlers: record the `try` node and the variables after it.

A round records the body and its handlers once; rounds are repeated where containers have to be in the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import flow_edges
from autoconv.graph.types import ObjectType
from autoconv.operators.control.staging import emit_outputs
from autoconv.operators.regions.container_promotion import (
    is_alias_of_outer,
    is_moved,
    move_into_graph,
    move_parts_of_exceptions,
    move_shared_containers,
    move_shared_parts,
    refuse_changed_copies,
)
from autoconv.operators.regions.layout import NEVER, Layout, Leaf, Never
from autoconv.operators.regions.layout_join import join_layouts
from autoconv.operators.regions.region_body import RecordedBody, refuse_missing, unify_captures, write_location
from autoconv.operators.regions.shared_identity import find_shared_identities, mark_shared
from autoconv.operators.regions.tracing_signals import Suspended
from autoconv.operators.regions.value_layout import layout_of
from autoconv.operators.support.protected_names import Undefined
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, UnmovedError, materialise
from autoconv.runtime.objects.symbolic_objects import as_object, box, record_object
from autoconv.runtime.recording.journal import MISSING, Journal, Location
from autoconv.runtime.recording.regions import recording, subregion
from autoconv.runtime.support.spans import current_span


def join_ends(recorder: Any, node_before: Node | None, rounds_journal: Journal) -> bool:
    """Record the try node and write the variables after it; return False if the rounds have to be repeated instead.

    `recorder` is the TryRecorder, `node_before` the last node before the statement, `rounds_journal` the journal of the
    rounds.
    """
    assert recorder.normal_end is not None
    parent = recorder.parent
    outer_journal = parent.journal
    arms = [recorder.normal_end, *recorder.handler_ends]
    locations, columns = _collect_columns(recorder, arms)
    names = [location.name for location in (*recorder.cells, *locations)]
    with recording(parent):
        if _move_before_statement(recorder, node_before, arms, columns, names, locations, rounds_journal):
            return False
        layouts = [_join_column(column, arms, name) for column, name in zip(columns, names, strict=True)]
        rounds_journal.merge_into(outer_journal)
        regions_of_arms = [arm.region for arm in arms]
        # Names that are bound to the same new object share the output of the first of them.
        earlier_positions = find_shared_identities(columns, regions_of_arms)
        no_values = [NEVER] * len(arms)
        unshared_columns = [no_values if n in earlier_positions else column for n, column in enumerate(columns)]
        layouts = [NEVER if n in earlier_positions else layout for n, layout in enumerate(layouts)]
        layouts = mark_shared(layouts, unshared_columns, regions_of_arms)
        try:
            # Results that may be the same list have outputs of their own.
            shared_lists = emit_outputs(arms, unshared_columns, layouts)
        except UnmovedError as unmoved:
            undo_rounds(recorder, node_before, rounds_journal)
            box(unmoved.container)
            return False
        types = shared_lists.types(layouts)
        if parent.contract.python_exceptions:
            _record_tracebacks(recorder)
        if recorder.handler_count:
            _join_handlers(recorder, types)
        recorder.handler_region.journal = None
        parameter_counts = [0, len(recorder.body.region.graph.outputs), 1]
        regions = [recorder.body.region, recorder.normal_end.region, recorder.handler_region]
        captures = unify_captures(regions, parameter_counts)
        graphs: list[Graph] = [region.graph for region in regions]
        parent.trace.catches_errors = True
        node = parent.record("try", captures, {}, regions=graphs, types=types, node_name="try")
        values = shared_lists.rebuild(layouts, node.results, parent)
        output_positions = [earlier_positions.get(position, position) for position in range(len(names))]
        values, layouts = ([parts[i] for i in output_positions] for parts in (values, layouts))
        _write_results(recorder.cells, locations, values, layouts)
        if all(arm.diverges for arm in arms):  # the code that follows is unreachable
            raise Suspended(parent)
    return True


def _collect_columns(recorder: Any, arms: Sequence[Any]) -> tuple[list[Location], list[list[Any]]]:
    """Return the locations that arms change and that are no variables, and the columns of variables, then of locations.

    A column has the values of one variable or location, one for each arm.
    """
    keys = {cell.key for cell in recorder.cells}
    locations = [location for location in recorder.locations.values() if location.key not in keys]
    columns = [[_as_undefined(arm.results[i], cell.name) for arm in arms] for i, cell in enumerate(recorder.cells)]
    return locations, columns + [[arm.value_of(location) for arm in arms] for location in locations]


def _write_results(
    cells: Sequence[Location], locations: Sequence[Location], values: Sequence[Any], layouts: Sequence[Layout]
) -> None:
    """Write the results of the statement to its variables and to the other locations that its arms change."""
    for cell, value, layout in zip(cells, values, layouts, strict=False):
        if isinstance(layout, Never):
            cell.write(MISSING)
            continue
        if cell.kind == "global":
            refuse_missing(cell, value)
        cell.write(value)
    for location, value, layout in zip(locations, values[len(cells) :], layouts[len(cells) :], strict=True):
        if not isinstance(layout, Never):  # otherwise the code that follows is unreachable
            write_location(location, value)


def _move_before_statement(
    recorder: Any, node_before: Node | None, arms: Any, columns: Any, names: Any, locations: Any,
    rounds_journal: Journal,
) -> bool:
    """Box containers whose state depends on a tensor, before the statement; return whether there were any.

    If there were, the rounds are undone.
    """
    outer_journal, recorder.parent.journal = recorder.parent.journal, Journal()
    try:
        has_moved = _move_containers(recorder, arms, columns, names, locations)
    finally:
        journal, recorder.parent.journal = recorder.parent.journal, outer_journal
    if not has_moved:
        journal.merge_into(outer_journal)
        return False
    # The boxes made here may hold objects of the rounds. So these are undone, then the owners are boxed again.
    journal.roll_back()
    undo_rounds(recorder, node_before, rounds_journal)
    for location in journal.locations.values():
        box(location.owner)
    return True


def _move_containers(recorder: Any, arms: Any, columns: Any, names: Any, locations: Any) -> bool:
    """Box containers that the recorded rounds need in the graph, and return whether there were any."""
    values_by_arm = list(zip(*columns, strict=True))
    pairs = zip(arms, values_by_arm, strict=bool(values_by_arm))
    moved_flags = [move_shared_containers(recorder.parent, arm, arm_values) for arm, arm_values in pairs]
    layouts = [_join_column(column, arms, name) for column, name in zip(columns, names, strict=True)]
    refuse_changed_copies(recorder.parent, locations)
    moved_flags.append(move_parts_of_exceptions(recorder.parent, [recorder.body, *arms]))
    columns_by_name = dict(zip(names, columns[: len(recorder.cells)], strict=False))
    moved_flags.append(move_shared_parts(recorder.parent, columns_by_name))
    has_moved = any(moved_flags) or move_into_graph(recorder.parent, columns, layouts, locations, len(recorder.cells))
    for location in locations if recorder.parent.contract.promises_identity else ():
        # A body that always raises has no normal end to record how it changed a list, but handlers see the change.
        if _has_changed_before_raising(recorder, location) and not is_moved(location.owner):
            materialise(location.owner)
            has_moved = True
    return has_moved


def undo_rounds(recorder: Any, node_before: Node | None, rounds_journal: Journal) -> None:
    """Remove the nodes of the rounds, which follow `node_before`, and undo their writes."""
    recorder.parent.graph.truncate(recorder.parent.graph.position(node_before))
    rounds_journal.roll_back()


def _has_changed_before_raising(recorder: Any, location: Location) -> bool:
    """Return whether the body always raises, and changes the container of the location before that."""
    assert recorder.body is not None
    is_container = type(location.owner) in TRACED_TO_PLAIN
    return recorder.body.diverges and is_container and location.key in recorder.body.end_contents


def _join_handlers(recorder: Any, types: Sequence[Any]) -> None:
    """Record the handlers as arms of a cond on the first matching clause; the last arm reraises the exception."""
    handler = recorder.handler_region
    reraise_region = subregion(handler, "not_caught")
    reraise_region.journal = Journal(reraise_region)
    with recording(reraise_region):
        # An outer handler must find the variables as the body left them.
        written_locations = [stores.locations(reraise_region) for stores in reraise_region.trace.store_listeners]
        recorder.restore({location.key for locations in written_locations for location in locations})
        reraise_region.record("object_raise", [reraise_region.lift(recorder.error.value_in_graph)], {"again": True})
        placeholders = [reraise_region.record("absent", [], {"type": leaf}) for leaf in types]
        reraise_region.graph.outputs = [node.results[0] for node in placeholders]
    reraise_region.journal.roll_back()
    reraise_region.journal = None
    for location, value in recorder.values_before:
        if location.read() is not value:
            location.write(value)
    regions = [*(end.region for end in recorder.handler_ends), reraise_region]
    with recording(handler):
        clauses = tuple(recorder.clauses.get(number, ()) for number in range(recorder.handler_count))
        index = record_object("object_match", [recorder.error], clauses=clauses)
        captures = unify_captures(regions)
        node = handler.record(
            "cond", [index.value_in_graph, *captures], {}, regions=[region.graph for region in regions],
            types=list(types), node_name="cond",
        )  # fmt: skip
    handler.graph.outputs = list(node.results)


def _record_tracebacks(recorder: Any) -> None:
    """Record the traceback of the exception at the start of each handler from which it escapes."""
    for end in recorder.handler_ends:
        region = end.region
        value = region.captures.get(recorder.error.value_in_graph, recorder.error.value_in_graph)
        if _escapes(region.graph, value):
            with recording(region):
                span = current_span()
                caller_count = -1  # the span itself does not count
                while span is not None:
                    span, caller_count = span.caller, caller_count + 1
                region.record("object_caught", [value], {"callers": max(caller_count, 0)})
            region.graph.nodes.insert(0, region.graph.nodes.pop())


def _escapes(graph: Graph, value: Value) -> bool:
    """Return whether an exception has uses other than matching, reading, printing and raising it."""
    if any(value is output for output in graph.outputs):
        return True
    users = (node for node in graph.nodes if any(value is operand for operand in node.inputs))
    return any(_escapes_through(graph, node, value) for node in users)


def _escapes_through(graph: Graph, node: Node, value: Value) -> bool:
    """Return whether `node`, a user of an exception, may keep or return it."""
    if not node.regions:
        reads_attribute = node.op.name == "object_get_attribute" and node.attributes["name"] != "__traceback__"
        calls_reading_function = node.op.name == "object_apply" and node.attributes["function"] in _READING_FUNCTIONS
        return not (reads_attribute or calls_reading_function or node.op.name in ("object_match", "object_raise"))
    targets = [target for source, target in flow_edges(node) if source is value]
    return any(target.node is not None or _escapes(target.graph, target) for target in targets)


# Functions that read an exception and keep no reference to it.
_READING_FUNCTIONS = frozenset({"str", "repr", "format", "type", "isinstance"})


def _join_column(column: Sequence[Any], arms: Sequence[RecordedBody], name: str) -> Layout:
    """Return the layout of a variable called `name`; `column` has its value at the end of each arm."""
    region = arms[0].region
    if region.contract.promises_identity and is_alias_of_outer(column, region.parent):
        return Leaf(ObjectType(), as_object)
    joined_layout: Layout = NEVER
    for value, arm in zip(column, arms, strict=True):
        layout = NEVER if value is NEVER else layout_of(value, arm.region)
        joined_layout = join_layouts(joined_layout, layout, name, arm.region.contract)
    return joined_layout


def _as_undefined(value: Any, name: str) -> Any:
    """Convert the value of an unassigned variable to Undefined."""
    return Undefined(name) if value is MISSING else value
