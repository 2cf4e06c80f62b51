"""Rebuilt arguments: equal to the caller's objects, but others, since arguments are flattened and reassembled.

Values computed from their parts are right. Where identity matters, the trace restarts with the caller's own objects:
when such an argument escapes, is changed, is compared by identity, or becomes part of the graph as an object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from autoconv.errors import StagingError
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.attributes import attributes_of
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.support.structure import ATOMS, is_structure, structure_parts


def register_rebuilt(region: Region | None, rebuilt: Iterable[Any]) -> None:
    """Register rebuilt arguments with the trace, tuples included."""
    if region is not None:
        region.trace.rebuilt_arguments.update((id(argument), argument) for argument in rebuilt)


def is_rebuilt(value: object) -> bool:
    """Return whether a value is a rebuilt argument of the trace; tuples do not count, as they cannot change."""
    region = current_region()
    return region is not None and id(value) in region.trace.rebuilt_arguments and not isinstance(value, tuple)


def refuse_rebuilt(value: object, use: str) -> None:
    """Restart the trace with the caller's own objects if `value` is rebuilt; raise StagingError under `function`."""
    region = current_region()
    if region is None or not is_rebuilt(value):
        return
    reason = f"{with_article(type(value))} {use}"
    region.contract.require_original(value, reason)
    raise StagingError(reason, current_place(), "the tensors that it holds, by themselves")


def refuse_identity(x: object, y: object) -> None:
    """Restart the trace where a rebuilt value is compared by identity with one that may be the caller's own."""
    region = current_region()
    if region is None or not region.trace.rebuilt_arguments:
        return
    rebuilt_arguments, created_objects = region.trace.rebuilt_arguments, region.trace.created_objects or {}
    for first, second in ((x, y), (y, x)):
        if id(first) not in rebuilt_arguments or type(first) is not type(second) or id(second) in created_objects:
            continue
        # Two different rebuilt objects stand for two different objects of the caller; equal tuples may be one.
        if id(second) not in rebuilt_arguments or isinstance(first, tuple):
            region.contract.require_original(
                first, f"{with_article(type(first))} of the arguments is compared by identity"
            )


def find_rebuilt(values: Iterable[Any]) -> Iterator[Any]:
    """Iterate over rebuilt arguments in structures, sets, keys, and attributes of objects made in the trace."""
    region = current_region()
    if region is None or not region.trace.rebuilt_arguments:
        return
    rebuilt_arguments, created_objects = region.trace.rebuilt_arguments, region.trace.created_objects or {}
    visited_ids: set[int] = set()
    worklist = list(values)
    while worklist:
        value = worklist.pop()
        if type(value) in ATOMS or id(value) in visited_ids:
            continue
        visited_ids.add(id(value))
        if id(value) in rebuilt_arguments and not isinstance(value, tuple):
            yield value
        elif type(value).__name__ == "Variant":  # a class of the operators, which import this module
            worklist += value.values
        elif isinstance(value, (set, frozenset)):
            worklist += value
        elif is_structure(value):
            worklist += structure_parts(value)
            worklist += dict.keys(value) if isinstance(value, dict) else ()
        if id(value) in created_objects:
            worklist += attributes_of(value).values()
