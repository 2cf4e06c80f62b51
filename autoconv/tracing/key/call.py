"""The arguments of a call, in the form in which traces take them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from autoconv.runtime.recording.journal import Location
from autoconv.tracing.key.cache_key import Key


@dataclass(slots=True)
class Call:
    """One call's arguments: names and leaves in order, and the key.

    The last leaves are the contents of `locations`: the attributes and outer names that the traced code writes. Those
    whose lists and dicts are flattened are `containers`, by their names among `arguments`. `facts` are facts found by
    earlier traces:

    - ("holder", the name of an attribute that holds objects of the graph, or of all items);
    - ("class", the name of a class whose objects are made in the graph);
    - ("made", (a class with special methods whose instances were made in the graph, the names of its attributes));
    - ("handlers", ""): errors of handlers need the exception that these handle as their context.
    """

    key: Key
    names: list[str]
    leaves: list[Any]
    arguments: dict[str, Any]
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    locations: tuple[Location, ...] = ()
    containers: dict[str, Location] = field(default_factory=dict)
    arrays_as_objects: bool = False  # arrays are passed as objects, because they could not be traced as memory
    facts: frozenset[tuple[str, Any]] = frozenset()
    trace_reason: str = ""  # the reason for the trace, if it is known before the call is bound again
    tracing_budget: Any = None  # the work of all attempts to trace
    restart_seconds: float = 0.0  # processor seconds in attempts that were restarted
    fault: Exception | None = None  # an internal error met by its trace (see internal_errors.is_fault)
    is_for_trace: bool = False  # whether the caller needs the trace itself
    deferred: Any = None  # the kind of a call that runs plain, without a trace, until a trace may pay
    general_key: Key | None = None  # the key before size-determining numbers became part of it

    @property
    def all_locations(self) -> tuple[Location, ...]:
        """All written locations: those of `containers`, then `locations`."""
        return (*self.containers.values(), *self.locations)
