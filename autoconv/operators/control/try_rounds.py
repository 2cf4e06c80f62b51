"""Rounds of recording one try or with statement.

The first round records the body, and is the only one if nothing in the body can raise at run time. Otherwise each
handler has a round, which starts from the variables stored before ops that may raise. `try_join` joins the ends.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from typing import Any

from autoconv.errors import StagingError
from autoconv.graph.types import ObjectType
from autoconv.operators.control.handler_values import (
    as_missing,
    container_contents,
    is_changed,
    is_created_by_trace,
    load_handler_value,
    load_parts,
    refuse_changed_parts,
    store_handler_value,
    store_parts,
    stored_layout,
)
from autoconv.operators.control.recursive_graphs import locations_written_by_calls
from autoconv.operators.control.staging import emit_outputs
from autoconv.operators.control.try_join import join_ends, undo_rounds
from autoconv.operators.regions.container_promotion import is_moved, move_shared_containers
from autoconv.operators.regions.layout import NEVER, Layout, Leaf, Static
from autoconv.operators.regions.raised_errors import bypasses_handlers, record_raise
from autoconv.operators.regions.region_body import RecordedBody, refuse_missing, write_location
from autoconv.operators.regions.shared_identity import find_shared_identities, mark_shared, require_identity
from autoconv.operators.regions.tracing_signals import AbandonTrace, Suspended
from autoconv.operators.regions.value_layout import is_created_in, layout_of
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, heap_of
from autoconv.runtime.objects.staged_exceptions import StagedException
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, as_object, box, graph_object, record_object
from autoconv.runtime.recording.deferred_stores import DeferredStores, is_catchable, pause_stores
from autoconv.runtime.recording.journal import Journal, Location, cell_locations
from autoconv.runtime.recording.regions import Region, current_region, enter, recording, subregion
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.support.structure import mutable_parts

_MAX_RECORDINGS = 8  # of one statement; each but the first follows the move of a container into the graph


class TryRecorder:
    """One try statement being recorded; `read`, if any, is a closure over `names` and the statement's own variables."""

    def __init__(self, parent: Region, handler_count: int, read: Any, names: tuple[str, ...]) -> None:
        self.parent = parent
        self.handler_count = handler_count
        self.cells = cell_locations(read, names, parent.trace.cells) if read is not None else []
        own_names = sorted(set(read.__code__.co_freevars) - set(names)) if read is not None else []
        self.statement_cells = cell_locations(read, tuple(own_names), parent.trace.cells) if own_names else []
        self.clauses: dict[int, Any] = {}  # the number of a handler -> the classes that it catches
        self.entered_value: Any = None  # of a with statement: what the manager's `__enter__` returned
        self.outer_exception = sys.exc_info()[1]  # the exception being handled around the statement
        self.keys_to_move: set[Any] = set()  # locations whose objects move into the graph before the body changes them
        self._reset()

    def _reset(self) -> None:
        """Set the attributes that each sequence of rounds starts from."""
        self.region = self.handler_region = self.parent  # the region being recorded, and the one around the handlers
        self.state = ""  # "body"; after it "normal", "failed" or "inlined"; in later rounds "handler" or "escape"
        self.is_finished = False  # the statement needs no further round
        self.is_passing = False  # an exception that no clause may catch leaves the body
        self.is_suspended = False
        self.body: RecordedBody | None = None
        self.normal_end: RecordedBody | None = None  # what follows a body that ends normally
        self.handler_ends: list[RecordedBody] = []
        self.locations: dict[Any, Location] = {}  # what handlers may read, by key
        self.layouts_by_key: dict[Any, list[Layout]] = {}  # by key, the layouts of its stored values
        # Locations of containers known to Python, each with pairs: a stored container, and its contents at that time.
        self.contents_before: list[tuple[Location, list[tuple[Any, Any]]]] = []
        self.older_containers: list[Any] = []  # those in stored tuples that are older than the statement
        self.stores: DeferredStores | None = None

    def rounds(self) -> Iterator[TryRecorder]:
        """Yield the recorder for the body, then for each handler; start again if a container moved into the graph."""
        for _ in range(_MAX_RECORDINGS):
            start = self.parent.graph.mark()
            outer_journal, self.parent.journal = self.parent.journal, Journal()
            self._reset()
            is_completed = False
            self.values_before = [(location, location.read()) for location in (*self.cells, *self.statement_cells)]
            try:
                yield self
                self._end_first_round()
                if self.is_finished:
                    return
                must_repeat = self._find_objects_to_move()
                if not must_repeat:
                    yield from self._handler_rounds()
                is_completed = True
            finally:
                enter(self.parent)
                self._stop_storing()
                for region in (self.region, self.handler_region):
                    if region is not self.parent and region.journal is not None:  # an exception has ended the round
                        region.journal.merge_into(self.parent.journal)
                rounds_journal, self.parent.journal = self.parent.journal, outer_journal
                if not is_completed:
                    rounds_journal.merge_into(outer_journal)
            if must_repeat:
                undo_rounds(self, start, rounds_journal)
                for container in self.older_containers:
                    box(container)
            elif join_ends(self, start, rounds_journal):
                return
        raise StagingError("the types of the lists that this try statement changes do not converge", current_place())

    def begin(self) -> None:
        """Start the body. In the round of a handler, raise the exception instead, which the handler catches."""
        if self.state in ("handler", "escape"):
            raise StagedException(self.error, is_handled=True)
        with recording(self.parent):
            self.value_dict = record_object("object_build", [], class_name="dict")
        self.region = self._open("try_body", self.parent)
        self.state = "body"
        self.stores = DeferredStores(self._locations_to_store, self._store, outermost=self.region)
        self.parent.trace.store_listeners.append(self.stores)

    def finish_body(self) -> None:
        """End the body before the code of a finally clause; an exception that no clause may catch goes on."""
        error = sys.exc_info()[1]
        is_new = error is not self.outer_exception
        is_uncatchable = is_new and self.parent.contract.python_exceptions and bypasses_handlers(error)
        if is_uncatchable and isinstance(error, (Exception, AbandonTrace)):
            raise error  # it ends the trace, so nothing after it would be recorded
        if self.state != "body":
            self.is_passing |= error is not None and is_new and bypasses_handlers(error)
        elif error is None or not is_new:
            self._end_body(None)
        else:  # unwinding by an exception raised while tracing
            self.handle_exception()

    def classes_of_clause(self, number: int, classes: Any) -> Any:
        """Return what a clause catches: StagedException in its round, () in others; `classes` without rounds."""
        if self.state == "body":
            self.handle_exception()
        if self.is_finished:
            return classes
        self.clauses[number] = classes
        return StagedException if self.state == "handler" and number == self.handler_number else ()

    def classes_of_unwinding(self) -> Any:
        """End the round by the exception that leaves it; return the classes that swallow it, () to let it go on."""
        error = sys.exc_info()[1]
        if self.is_finished or self.is_passing or bypasses_handlers(error):
            return ()
        if self.state == "body":
            self.handle_exception()
            return () if self.is_finished or self.is_passing else BaseException
        if self.state == "failed":
            return BaseException
        assert error is not None
        self._end_by_exception(error)
        return BaseException

    def handle_exception(self) -> None:
        """Handle an exception that the body raised while it was traced."""
        error = sys.exc_info()[1]
        if bypasses_handlers(error):
            self.is_passing = True
            return
        assert error is not None
        self._end_body(error)

    def _open(self, name: str, parent: Region) -> Region:
        region = subregion(parent, name)
        region.journal = Journal(region)
        enter(region)
        return region

    def _close(self, diverges: bool = False) -> RecordedBody:
        """Return this round's region with the variables at its end; restore the state before it."""
        journal = self.region.journal
        assert journal is not None
        results = [NEVER if diverges else location.read() for location in self.cells]
        end_contents = journal.roll_back()
        self.region.journal = None
        for location, value in self.values_before:
            if location.read() is not value:
                location.write(value)
        self.locations.update(journal.locations)
        return RecordedBody(self.region, results, end_contents, dict(journal.locations), diverges)

    def _end_body(self, error: BaseException | None) -> None:
        """End the body: inline it if nothing in it can raise, else make its values parameters of the normal end."""
        if type(error) is Suspended:
            error.mark_caught()
            self.is_suspended = True
        elif not any(map(is_catchable, self.region.graph.nodes)) and (
            error is None or not self.parent.trace.stages_handlers
        ):
            self.parent.trace.inlines_handlers |= error is not None
            self._stop_storing()
            self._inline_body()
            return
        elif error is not None:
            record_raise(self.region, error)
        self._stop_storing()
        body = self.body = self._close(diverges=error is not None)
        self.state = "failed" if error is not None else "normal"
        self.region = self._open("try_normal", self.parent)
        if error is not None:
            return
        locations = [*self.cells, *body.locations.values()]
        values = [*body.results, *(body.end_contents[key] for key in body.locations)]
        move_shared_containers(self.region, body, values, is_for_next_region=True)  # so the body is not repeated
        layouts = [layout_of(value, body.region) for value in values]
        earlier_positions = find_shared_identities([[value] for value in values], [body.region])
        unshared_columns = [[NEVER if n in earlier_positions else value] for n, value in enumerate(values)]
        layouts = [NEVER if n in earlier_positions else layout for n, layout in enumerate(layouts)]
        layouts = mark_shared(layouts, unshared_columns, [body.region])
        shared_lists = emit_outputs([body], unshared_columns, layouts)
        parameters = [self.region.graph.add_parameter(type_, "try") for type_ in shared_lists.types(layouts)]
        values = shared_lists.rebuild(layouts, parameters, self.region)
        for position, location in enumerate(locations):
            value = values[earlier_positions.get(position, position)]
            if position >= len(self.cells):
                write_location(location, value)
            elif location.read() is not value:
                location.write(value)

    def _inline_body(self) -> None:
        """Inline the body into the surrounding region, since nothing in it can raise at run time."""
        graph, parent = self.region.graph, self.parent
        dict_node = self.value_dict.value_in_graph.node
        parent.graph.nodes.remove(dict_node)
        captured_by_inner = {inner: captured for captured, inner in self.region.captures.items()}
        for node in graph.nodes:
            node.inputs = tuple(
                parent.lift(captured_by_inner[value]) if value in captured_by_inner else value for value in node.inputs
            )
            node.name = parent.graph.unique_name(node.name)
            for result in node.results:
                result.graph, result.name = parent.graph, node.name
            parent.graph.nodes.append(node)
        journal = self.region.journal
        assert journal is not None
        journal.merge_into(parent.journal)
        self.region.merged_into = parent
        self.is_finished = True
        self.state = "inlined"  # later clauses are evaluated as well, and must not inline the body again
        enter(parent)

    def _end_first_round(self) -> None:
        self.is_finished |= self.is_passing
        if not self.is_finished and self.state == "body":
            self._end_body(None)
        if not self.is_finished and self.normal_end is None:
            self.normal_end = self._close(diverges=self.state == "failed")

    def _find_objects_to_move(self) -> bool:
        """Register objects that must move into the graph before the rounds are repeated; return whether there are any.

        This concerns an object known to Python that the body creates and changes after an op that may raise: a handler
        may find it in several states. It also concerns a stored tuple with containers from before the statement, since
        a handler would find copies of these.
        """
        changes = ((location.key, is_changed(*pair)) for location, pairs in self.contents_before for pair in pairs)
        keys = {key for key, has_changed in changes if has_changed}
        new_keys = keys - self.keys_to_move if self.parent.contract.objects_in_graph else set()
        self.keys_to_move |= new_keys
        return bool(new_keys or self.older_containers)

    def _handler_rounds(self) -> Iterator[TryRecorder]:
        """Yield the recorder for each handler, or once for the code that runs as the exception passes."""
        self.handler_region = subregion(self.parent, "try_handler")
        self.handler_region.journal = Journal(self.handler_region)
        self.error = SymbolicObject(self.handler_region.graph.add_parameter(ObjectType("Exception"), "exception"))
        if not self.handler_count:
            yield from self._round("escape", 0)
            return
        for number in range(self.handler_count):
            yield from self._round("handler", number)

    def _round(self, state: str, number: int) -> Iterator[TryRecorder]:
        """Record the handler of that number, or for the state "escape" the code that runs as the exception passes."""
        self.state, self.handler_number, self.has_ended = state, number, False
        is_handler = state == "handler"
        self.region = self._open(f"except_{number}", self.handler_region) if is_handler else self.handler_region
        enter(self.region)
        self.restore()
        yield self
        if not self.has_ended:
            self.handler_ends.append(self._close())
        enter(self.parent)

    def _end_by_exception(self, error: BaseException) -> None:
        """End the round of a handler or of the normal end by an exception that leaves it."""
        if type(error) is Suspended:
            error.mark_caught()
            self.is_suspended = True
        else:
            record_raise(self.region, error)
        end = self._close(diverges=True)
        if self.state == "normal":
            self.normal_end = end
        else:
            if self.state == "handler":
                # An exception raised by the expression of the clause propagates in any case.
                self.clauses.setdefault(self.handler_number, BaseException)
            self.handler_ends.append(end)
            self.has_ended = True

    # Variables at the point where the body raised

    def _locations_to_store(self, region: Region) -> Iterator[Location]:
        """Yield the variables of the statement and the locations written since its start, which handlers may read."""
        yield from self.cells
        enclosing_region: Region | None = region
        keys = {location.key for location in self.cells}
        while enclosing_region is not None and enclosing_region is not self.parent:
            journal = enclosing_region.journal
            for key, location in () if journal is None else journal.all_locations():
                is_created_in_body = location.home is not None and location.home.is_inside(self.region)
                if key not in keys and type(location.owner) not in TRACED_TO_PLAIN and not is_created_in_body:
                    keys.add(key)
                    yield location
            enclosing_region = enclosing_region.parent

    def _store(self, location: Location, value: object, _before: object) -> None:
        """Store the value of a location for the handlers, before an op that may raise."""
        region = current_region()
        assert region is not None
        for part, _ in container_contents(value, self.region) if location.key in self.keys_to_move else ():
            box(part)
        if region.contract.objects_in_graph and is_created_in(value, self.region):
            box(value)  # it would stay a Python object local to an arm or loop of the body, out of the handler's reach
        if region.contract.promises_identity and isinstance(value, tuple):
            self.older_containers += [part for part in mutable_parts(value) if self._is_created_before_statement(part)]
        layouts = self.layouts_by_key.setdefault(location.key, [])
        self.locations.setdefault(location.key, location)
        position = list(self.layouts_by_key).index(location.key)
        layout = self._stored_layout(value, region)
        if isinstance(layout, Static):
            self.contents_before.append((location, container_contents(value, self.region)))
        if not region.contract.objects_in_graph:
            store_parts(self.value_dict, position, layouts, value, region)
            return
        layouts.append(layout)
        if isinstance(layout, Static) and is_created_by_trace(value, region):
            return  # nothing to store: the handler finds the object itself, unless another one was stored too
        store_handler_value(self.value_dict, position, value, location.name)

    def _stored_layout(self, value: object, region: Region) -> Layout:
        if graph_object(value) is not None and is_created_in(value, self.region):
            return Leaf(ObjectType(), as_object)  # the stand-in is local to the body
        return stored_layout(value, region)

    def _is_created_before_statement(self, value: Any) -> bool:
        """Return whether a value is a container that is older than the statement and not in the graph."""
        return type(value) in TRACED_TO_PLAIN and heap_of(value) is None and self.parent.is_inside(value._home)

    def _stop_storing(self) -> None:
        if self.stores is not None and self.stores in self.parent.trace.store_listeners:
            self.parent.trace.store_listeners.remove(self.stores)

    def restore(self, keys: Collection[Any] | None = None) -> None:
        """Restore the variables to their state when the body raised; only those with keys in `keys`, if given."""
        with pause_stores(self.parent.trace.store_listeners):  # the previous values must not be stored meanwhile
            self._restore_from_dict(keys)

    def _restore_from_dict(self, keys: Collection[Any] | None) -> None:
        """Read the variables that the handlers need from the dict of values, and write them to their locations."""
        locations = {location.key: location for location in self.cells} | self.locations
        for changed_location, parts in self.contents_before:
            refuse_changed_parts(parts, changed_location.name)
        for position, (key, layouts) in enumerate(self.layouts_by_key.items()):
            if keys is not None and key not in keys:
                continue
            location = locations[key]
            if location.kind == "attribute" and is_moved(location.owner):
                require_identity(location.owner)  # an attribute set before the object moved into the graph
            before = location.read()
            is_cell = any(location is cell for cell in self.cells)
            if not self.parent.contract.python_exceptions:  # variables are stored before each op that may raise
                value = load_parts(self.value_dict, position, layouts, location.name, NEVER if is_cell else before)
            else:
                initial_layouts = [stored_layout(before, self.parent)] if location.kind == "attribute" else []
                value = load_handler_value(
                    self.value_dict, position, [*initial_layouts, *layouts], location.name, before, self.parent.contract
                )
            if location.kind == "attribute":
                value = as_missing(value)
            if location.kind == "global":
                refuse_missing(location, value)
            if is_cell:
                location.write(value)
            else:
                write_location(location, value)
        if self.stores is not None and self.stores.has_calls:
            for location, value in locations_written_by_calls(self.parent):
                write_location(location, value)
