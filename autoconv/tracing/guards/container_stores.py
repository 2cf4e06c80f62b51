"""Stores of changed items in the lists and dicts of a call's arguments, whose contents are known while tracing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from autoconv.runtime.objects.containers import container_location, has_static_contents
from autoconv.runtime.objects.symbolic_objects import apply_object, record_object
from autoconv.runtime.recording.deferred_stores import UNKNOWN
from autoconv.runtime.recording.journal import Location
from autoconv.runtime.recording.regions import Trace, current_region

_Pairs = tuple[tuple[Any, Any], ...]  # (key, value) or (index, item)


class ContainerStores:
    """The contents of the trace's `argument_containers`; those that changed since the last store are stored.

    Contents are tuples: (key, value) pairs of a dict, items of a list. They are interned: contents of a container with
    the same parts, by identity, are one tuple.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        # The id of a container, followed by the ids of its parts -> contents.
        self._contents_by_ids: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def locations(self) -> Iterator[Location]:
        """Iterate over the contents of the containers, as locations."""
        for container, _ in self._trace.argument_containers.values():
            location = container_location(container)

            def read(location: Location = location) -> Any:
                return self._intern(location)

            yield replace(location, read=read, kind="contents")

    def _intern(self, location: Location) -> tuple[Any, ...]:
        """Return the current contents of a container, interned."""
        contents = location.read()
        assert has_static_contents(location.owner)
        parts = [part for pair in contents for part in pair] if isinstance(location.owner, dict) else contents
        return self._contents_by_ids.setdefault((id(location.owner), *map(id, parts)), contents)

    def record_store(self, location: Location, contents: tuple[Any, ...], before: Any) -> None:
        """Record operations that turn the contents of a container from `before`, or UNKNOWN, into `contents`."""
        container, target = self._trace.argument_containers[id(location.owner)]
        self._restart_in_try(container)
        if not isinstance(container, dict):
            self._restart_for_other_length(container, len(contents))
            contents = tuple(enumerate(contents))
            before = before if before is UNKNOWN else tuple(enumerate(before))
        elif before is UNKNOWN and len(self._key_orders(container)) > 1:
            # The dict may have other keys, or another order of them: all items are stored anew.
            record_object("object_method", [target], name="clear", keywords=())
            before = ()
        if before is UNKNOWN:  # the keys or indices are those of `contents`, and all their items are stored
            unchanged_count, old_items = len(contents), dict[Any, Any]()
        else:
            unchanged_count, old_items = _count_unchanged_keys(before, contents), dict(before)
        unchanged_keys = {key for key, _ in contents[:unchanged_count]}
        for key in [key for key in old_items if key not in unchanged_keys]:
            apply_object("delitem", target, key)
        changed_items = [
            (key, self._stored_item(value))
            for position, (key, value) in enumerate(contents)
            if position >= unchanged_count or old_items.get(key, UNKNOWN) is not value
        ]
        for key, value in changed_items:
            apply_object("setitem", target, key, value)

    def _restart_in_try(self, container: Any) -> None:
        """Restart the trace with the container as an object of the graph if it is changed in the body of a `try`.

        In the handler, the container would have its contents from before the `try`.
        """
        region = enclosing_region = current_region()
        while enclosing_region is not None:
            if region is not None and enclosing_region.graph.name.startswith("try_body"):
                region.contract.require_original(container, "an argument is changed in a try")
            enclosing_region = enclosing_region.parent

    def _restart_for_other_length(self, container: Any, length: int) -> None:
        """Restart the trace with the list as an object of the graph if it had another length before."""
        if any(len(ids) - 1 != length for ids in self._contents_by_ids if ids[0] == id(container)):
            region = current_region()
            assert region is not None
            region.contract.require_original(container, "an argument is changed")

    def _key_orders(self, container: Any) -> set[tuple[int, ...]]:
        """Return the ids of the keys, in order, that a dict had whenever its contents were compared."""
        # After the container's id, the ids of keys and values alternate.
        return {ids[1::2] for ids in self._contents_by_ids if ids[0] == id(container)}

    def _stored_item(self, item: Any) -> Any:
        """Return the item to store: the caller's own container for a rebuilt one, otherwise the item itself."""
        _, stored_item = self._trace.argument_containers.get(id(item), (None, item))
        return stored_item


def _count_unchanged_keys(before: _Pairs, contents: _Pairs) -> int:
    """Return the number of leading keys of a dict's contents that it already had, in that order."""
    keys = iter([key for key, _ in before])
    count = 0
    for key, _ in contents:
        if not any(key is other for other in keys):
            break
        count += 1
    return count
