"""The arguments of a call, in the form in which traces take them."""

from __future__ import annotations

from typing import Any

from autoconv.lazy_dataclass import dataclass, field
from autoconv.runtime.recording.journal import Location
from autoconv.tracing.key.cache_key import Key


@dataclass(slots=True)
class Call:
    """One call's arguments: names and leaves in order, and the key.

    The last leaves are the contents of `locations`: the attributes and outer names that the traced code writes.
    Written locations whose lists and dicts are flattened are `containers`, by their names among `arguments`. `facts`
    were found by earlier traces:

    - ("holder", key): objects of the graph are stored in attributes of the name `key`, or in the place with that key
      of `class_inference`;
    - ("class", name): objects of the class of that name are created in the graph;
    - ("made", (class, names)): the graph created instances of the class, which has special methods and these
      attributes;
    - ("handlers", ""): an exception raised in a handler needs the handled exception as its context;
    - `PARTS_ARE_VIEWS`: real and imaginary parts of arrays are views of them.
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
    trace_reason: str = ""  # why the call needs a trace, as a text for users; "" if not known yet
    tracing_budget: Any = None  # the `TracingBudget` that all attempts to trace this call share
    restart_seconds: float = 0.0  # processor seconds in attempts that were restarted
    fault: Exception | None = None  # an internal error in its trace (see internal_errors.is_fault)
    must_trace: bool = False  # whether the caller requests the trace, not a result
    # The kind of the call (see `plain_presumption`) if its trace is postponed, because plain runs are presumed to be
    # faster; else None.
    deferred: Any = None
    general_key: Key | None = None  # for a call specialised by numbers that decide sizes: the key for all values

    @property
    def all_locations(self) -> tuple[Location, ...]:
        """All written locations: those of `containers`, then `locations`."""
        return (*self.containers.values(), *self.locations)
