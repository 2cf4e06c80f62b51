"""Values that are observable after a graph raises: stored by the graph before each node that may raise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Node, Value, is_recursive
from autoconv.ops import OPS
from autoconv.ops.analysis.requested_sizes import may_fail_for_sizes
from autoconv.runtime.recording.journal import Location
from autoconv.runtime.recording.regions import Region, StoreListener, recording

UNKNOWN = object()  # in place of a value last stored, where paths may have stored different ones

# Names of regions entered repeatedly: at their start the last stored value is unknown.
_REPEATED_REGION_PREFIXES = ("while", "try_handler", "recursive")


class LastStore(NamedTuple):
    """The value last stored; the last node of the store and its position, if there is a node."""

    value: Any
    node: Node | None = None
    position: int = 0


class DeferredStores:
    """Stores of the values of a set of locations, deferred to the nodes that may raise.

    `write(location, value, last_stored)` records a store. It is called for each changed value before a node that may
    raise. `last_stored` is the value last stored, or `UNKNOWN`. Only nodes in the region `outermost` count, if it is
    given. With `includes_overflows`, nodes that raise only for integers beyond 64 bits count, too. `has_calls` is true
    after a call of a function that is being recorded.
    """

    def __init__(
        self,
        locations: Callable[[Region], Iterable[Location]],
        write: Callable[[Location, Any, Any], None],
        outermost: Region | None = None,
        includes_overflows: bool = False,
    ) -> None:
        self._locations = locations
        self._write = write
        self._outermost = outermost
        self._includes_overflows = includes_overflows
        self._last_stores: dict[tuple[int, Any], LastStore] = {}  # by identity of the region and key of the location
        self.is_suspended = False
        self.has_calls = False

    def mark_stored(self, region: Region, location: Location) -> None:
        """Mark the location's current value as stored."""
        self._last_stores[id(region), location.key] = LastStore(location.read())

    def before_node(self, region: Region, op: str, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> bool:
        """Called before each node is recorded: if it may raise, store changed values and return True."""
        if self.is_suspended or self._is_outside(region) or not may_raise(op, inputs, attributes):
            return False
        if not self._includes_overflows and OPS[op].traits.overflow_error == "only":
            return False
        self.store(region)
        return True

    def locations(self, region: Region) -> Iterable[Location]:
        """Return the locations that are stored where the region raises."""
        return () if self._is_outside(region) else self._locations(region)

    def _is_outside(self, region: Region) -> bool:
        return self._outermost is not None and not region.is_inside(self._outermost)

    def after_call(self, region: Region) -> None:
        """Invalidate the stored values after a call of a function being recorded, which may store; sets `has_calls`."""
        if self._is_outside(region):
            return
        self.has_calls = True
        for location in list(self._locations(region)):
            self._invalidate(region, location)

    def _invalidate(self, region: Region | None, location: Location) -> None:
        """Mark the stored value as unknown, in the region and the enclosing ones."""
        while region is not None:
            self._last_stores[id(region), location.key] = LastStore(UNKNOWN)
            region = region.parent

    def store(self, region: Region) -> None:
        """Record stores of the values that changed since they were last stored."""
        self.is_suspended = True
        try:
            for location in list(self._locations(region)):
                value = location.read()
                last_stored = self._stored_value(region, location)
                if last_stored is value:
                    continue
                nodes = region.graph.nodes
                node_count = len(nodes)
                with recording(region):
                    self._write(location, value, last_stored)
                last_node = nodes[-1] if len(nodes) > node_count else None
                self._last_stores[id(region), location.key] = LastStore(value, last_node, len(nodes) - 1)
                self._invalidate(region.parent, location)
        finally:
            self.is_suspended = False

    def _stored_value(self, region: Region, location: Location) -> Any:
        """Return the value last stored on the path to the region's current end, or `UNKNOWN`."""
        enclosing_region: Region | None = region
        while enclosing_region is not None:
            store = self._last_stores.get((id(enclosing_region), location.key))
            if store is not None:
                nodes = enclosing_region.graph.nodes
                is_in_graph = store.position < len(nodes) and nodes[store.position] is store.node
                return store.value if store.node is None or is_in_graph else UNKNOWN
            if enclosing_region.graph.name.startswith(_REPEATED_REGION_PREFIXES):
                return UNKNOWN
            enclosing_region = enclosing_region.parent
        return UNKNOWN


@contextmanager
def pause_stores(listeners: Sequence[StoreListener]) -> Iterator[None]:
    """Suspend these listeners inside the block."""
    were_suspended = [listener.is_suspended for listener in listeners]
    for listener in listeners:
        listener.is_suspended = True
    try:
        yield
    finally:
        for listener, was_suspended in zip(listeners, were_suspended, strict=True):
            listener.is_suspended = was_suspended


def may_raise(op: str, inputs: Sequence[Value], attributes: Mapping[str, Any]) -> bool:
    """Return whether a node of an op, with these inputs and attributes, may raise."""
    effects = OPS[op].effects
    if not isinstance(effects, Effects):
        effects = effects([value.type for value in inputs], attributes)
    return bool(effects & Effects.RAISE) or may_fail_for_sizes(OPS[op], inputs, attributes)


def is_catchable(node: Node) -> bool:
    """Return whether a node, or one in its regions, may raise an error that a program could catch."""
    if is_recursive(node):
        return True  # Python's recursion limit, if nothing else
    if node.regions:
        return any(is_catchable(inner) for region in node.regions for inner in region.nodes)
    if node.effects & Effects.RAISE and node.op.traits.overflow_error != "only":
        return True
    return may_fail_for_sizes(node.op, node.inputs, node.attributes)
