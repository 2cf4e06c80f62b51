"""Record the body of one region: its results, its writes and its exceptions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from autoconv.errors import AutoconvError, StagingError
from autoconv.graph.graph import Value
from autoconv.lazy_dataclass import dataclass, field
from autoconv.operators.regions.layout import NEVER, Static, Variant
from autoconv.operators.regions.outside_writes import record_outside_write
from autoconv.operators.regions.raised_errors import TRACING_ERRORS, is_tracing_error, record_raise
from autoconv.operators.regions.tracing_signals import Suspended
from autoconv.operators.regions.value_layout import has_leaves
from autoconv.operators.support.optional_attributes import check_presence_on_read
from autoconv.operators.support.protected_names import Undefined
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, is_optional
from autoconv.runtime.recording.journal import MISSING, Journal, Location
from autoconv.runtime.recording.regions import Region, current_region, recording, subregion
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.support.structure import is_structure

Body = Callable[..., tuple[Any, ...]]  # converted code of an arm or loop body: from its inputs to its results


@dataclass(eq=False)
class RecordedBody:
    """A recorded arm or body: its region, its results (NEVER where it always raises) and its writes.

    `locations` are the locations that it writes, by key, and `end_contents` their contents at its end. `diverges`: it
    always raises, or is suspended. `is_suspended`: its recording ended at a recursive call whose result is not known
    yet or that never returns.
    """

    region: Region
    results: Sequence[Any]
    end_contents: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    locations: dict[tuple[Any, ...], Location] = field(default_factory=dict)
    diverges: bool = False
    is_suspended: bool = False
    changes_state: bool = False  # for the test of a loop: whether the test writes any location

    @contextmanager
    def restored_end_state(self) -> Iterator[None]:
        """Inside the block, give the written locations their contents at the end of the arm; restore them after it."""
        contents_before = {key: location.read() for key, location in self.locations.items()}
        for key, location in self.locations.items():
            location.write(self.end_contents[key])
        try:
            yield
        finally:
            for key, location in self.locations.items():
                location.write(contents_before[key])

    def value_of(self, location: Location) -> Any:
        """Return the contents of a location at the end of the arm; NEVER if it diverges."""
        if self.diverges:
            return NEVER
        return self.end_contents[location.key] if location.key in self.end_contents else location.read()


def record_body(parent: Region, name: str, body: Callable[[Region], Sequence[Any]], result_count: int) -> RecordedBody:
    """Run `body(region)` and record its ops into a new region; `result_count` is the number of its results.

    An exception that leaves the body becomes one that the graph raises there. Writes to Python objects are rolled back.
    """
    region = subregion(parent, name)
    region.journal = Journal(region)
    diverges = is_suspended = False
    with recording(region), _prefix_names(parent, name.partition("_")[0]):  # "cond" for the region "cond_true"
        try:
            results = body(region)
        except TRACING_ERRORS:
            region.journal.roll_back()
            raise
        except Suspended as signal:
            signal.mark_caught()
            results, diverges, is_suspended = [NEVER] * result_count, True, True
        except RecursionError:  # recursion ends by itself where calls have the same arguments (`recursion_detection`)
            region.journal.roll_back()
            raise StagingError(
                "a recursion whose depth depends on a tensor passes new functions or objects as arguments "
                "at each call, which cannot be part of a graph",
                current_place(),
                "arguments that are numbers, arrays, or the same objects at every call; or a loop",
            ) from None
        except BaseException as error:  # any exception of the user's code
            if is_tracing_error(error):
                region.journal.roll_back()
                raise
            try:
                record_raise(region, error)
            except AutoconvError as refusal:
                raise refusal from None  # without a context: the user's error has not been raised yet
            results, diverges = [NEVER] * result_count, True
        locations = dict(region.journal.locations)
        changed_ids = {id(location.owner) for location in locations.values()}
        end_values = [_copy_if_changed(value, changed_ids) for value in results]
        end_contents = region.journal.roll_back()
        # An original without values of the graph is a constant: it stays the result, and `locations` has its changes.
        results = [
            end_value if end_value is not value and has_leaves(value, parent) else value
            for value, end_value in zip(results, end_values, strict=True)
        ]
    region.journal = None
    return RecordedBody(region, results, end_contents, locations, diverges, is_suspended)


def _copy_if_changed(value: object, changed_ids: set[int]) -> Any:
    """Return a copy of an untraced list or dict that the body wrote to, since a rollback follows; else the value.

    For a structure of tensors the contents matter, and not the identity.
    """
    is_untraced = isinstance(value, (list, dict)) and type(value) not in TRACED_TO_PLAIN
    return copy.copy(value) if id(value) in changed_ids and is_untraced and is_structure(value) else value


@contextmanager
def _prefix_names(parent: Region, prefix: str) -> Iterator[None]:
    """Prefix the names of nodes recorded inside with the name of the node that will own their region: `cond/add`."""
    trace = parent.trace
    outer_scope = trace.scope
    trace.scope = parent.graph.next_name(outer_scope + prefix) + "/"
    try:
        yield
    finally:
        trace.scope = outer_scope


def apply_body(arm: Body, inputs: Sequence[Any]) -> Callable[[Region], tuple[Any, ...]]:
    """Return the arm, applied to its inputs, as a body for `record_body`."""
    return lambda _: as_tuple(arm(*inputs))


def unify_captures(regions: Sequence[Region], leading_counts: int | Sequence[int] = 0) -> list[Value]:
    """Give all regions the same captures in the same order, after their leading parameters; return the outer values.

    Leading parameters are those that are no captures; `leading_counts` is their number, for all regions or for each.
    """
    union: dict[Value, None] = {}
    for region in regions:
        union.update(dict.fromkeys(region.parent_captures()))
    for position, region in enumerate(regions):
        captured_values = region.parent_captures()
        leading_count = leading_counts if isinstance(leading_counts, int) else leading_counts[position]
        inner_values = []
        for outer in union:
            if outer not in captured_values:
                captured_values[outer] = region.graph.add_parameter(outer.type, outer.name)
                region.captures[outer] = captured_values[outer]
            inner_values.append(captured_values[outer])
        region.graph.parameters = [*region.graph.parameters[:leading_count], *inner_values]
    return list(union)


def write_location(location: Location, value: Any) -> None:
    """Write a value and record the write in the journal of the region being recorded."""
    region = current_region()
    if region is not None and region.journal is not None:
        region.journal.record(location)
    if location.kind == "global":
        refuse_missing(location, value)
    elif isinstance(location.owner, (list, dict, set)) and type(value) is Variant:
        is_list = isinstance(location.owner, list)
        raise StagingError(
            f"{location.name} existed before the call, and its length or keys depend on a tensor",
            current_place(),
            "a list made in the function, and returned"
            if is_list
            else "all keys from the start, with None where there is no value yet",
        )
    if region is not None:
        record_outside_write(region, location, value)
    is_single_value = location.kind != ""  # not the contents of a container
    if is_optional(value) and is_single_value:
        value = _as_location_value(location, value)
    location.write(value)


def refuse_missing(location: Location, value: object) -> None:
    """Raise StagingError for a global name that may be unbound: reads of globals have no check for it."""
    values = value.values if type(value) is Variant else (value,)
    if any(isinstance(arm, Undefined) or (arm is MISSING and len(values) > 1) for arm in values):
        raise StagingError(
            f"whether the global name {location.name!r} exists depends on a tensor", current_place(),
            "a value for it on every path, such as None",
        )  # fmt: skip


def _as_location_value(location: Location, value: Variant) -> Variant:
    """Convert a possibly missing value to the form that reads of its location expect."""
    region = current_region()
    if location.kind == "attribute" and region is not None:
        check_presence_on_read(region, location.owner, location.key[1])
        return value
    arms = [Undefined(location.name) if arm is MISSING else arm for arm in value.values]
    return Variant(value.tag, [Static(arm) if isinstance(arm, Undefined) else layout
                               for arm, layout in zip(arms, value.layouts, strict=True)], arms)  # fmt: skip


def as_tuple(results: Any) -> tuple[Any, ...]:
    """Return the results of a body as a tuple; a body without results may return None."""
    return () if results is None else tuple(results)
