"""Arguments that were taken apart and put together again: they hold what the caller's own objects hold, and are others.

What is computed of their parts is right. Where it counts which object one is (it is given out, changed, compared by
identity, or becomes part of the graph as itself) the trace begins anew with the caller's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from autoconv.errors import StagingError
from autoconv.runtime.attributes import attributes_of
from autoconv.runtime.recording import Region, current_region
from autoconv.runtime.spans import current_place
from autoconv.runtime.structure import ATOMS, is_structure, structure_parts


def note_rebuilt(region: Region | None, parts: Iterable[Any]) -> None:
    """Has the trace know these for what they are; tuples too, which only a comparison tells from the caller's."""
    if region is not None:
        region.trace.rebuilt.update((id(part), part) for part in parts)


def is_rebuilt(value: Any) -> bool:
    region = current_region()
    return region is not None and id(value) in region.trace.rebuilt and not isinstance(value, tuple)


def refuse_rebuilt(value: Any, what: str) -> None:
    """Leaves the trace where `value` is such an object, to begin anew with the caller's own; under `function` raises
    StagingError."""
    region = current_region()
    if region is None or not is_rebuilt(value):
        return
    text = f"a {type(value).__name__} {what}"
    if region.trace.outside_effect is not None:
        region.trace.outside_effect(value, text)
    raise StagingError(text, current_place(), "the tensors that it holds, by themselves")


def refuse_identity(a: Any, b: Any) -> None:
    """As `refuse_rebuilt`, where one of two values is such an object and the other may be the caller's own."""
    region = current_region()
    if region is None or not region.trace.rebuilt:
        return
    known, owned = region.trace.rebuilt, region.trace.owned or {}
    for one, other in ((a, b), (b, a)):
        if id(one) not in known or type(one) is not type(other) or id(other) in owned:
            continue
        if id(other) not in known or isinstance(one, tuple):  # two of one kind are two of the caller's
            told = region.trace.outside_effect
            if told is not None:
                told(one, f"a {type(one).__name__} of the arguments is compared by identity")


def rebuilt_in(values: Iterable[Any]) -> Iterator[Any]:
    """Those that are in the values: in structures, sets, keys, and the attributes of what the traced code made."""
    region = current_region()
    if region is None or not region.trace.rebuilt:
        return
    known, owned = region.trace.rebuilt, region.trace.owned or {}
    seen: set[int] = set()
    pending = list(values)
    while pending:
        part = pending.pop()
        if type(part) in ATOMS or id(part) in seen:
            continue
        seen.add(id(part))
        if id(part) in known and not isinstance(part, tuple):
            yield part
        elif type(part).__name__ == "Variant":
            pending += part.values
        elif isinstance(part, (set, frozenset)):
            pending += part
        elif is_structure(part):
            pending += structure_parts(part)
            pending += dict.keys(part) if isinstance(part, dict) else ()
        if id(part) in owned:
            pending += attributes_of(part).values()


__all__ = ["is_rebuilt", "note_rebuilt", "rebuilt_in", "refuse_identity", "refuse_rebuilt"]
