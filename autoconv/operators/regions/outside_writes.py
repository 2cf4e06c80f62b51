"""Variants that a trace under `function` leaves in lists, dicts, attributes and globals that existed before it.

Code outside of a trace cannot select one of the values, since only the graph has the tag.
"""

from __future__ import annotations

from typing import Any

from autoconv.errors import StagingError
from autoconv.operators.regions.layout import Variant
from autoconv.runtime.recording.journal import Location
from autoconv.runtime.recording.regions import Region, Trace
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.symbolic import SymbolicTensor


def record_outside_write(region: Region, location: Location, value: object) -> None:
    """Record a write of the outermost region to a location from before the trace, if it may leave a variant there."""
    is_outer_write = region.parent is None and location.home is None
    if is_outer_write and not region.contract.promises_identity and _variants_in(value):
        region.trace.outside_writes.setdefault(location.key, (location, location.read(), current_place()))


def check_outside_writes(trace: Trace) -> None:
    """Replace variants in locations from before the trace by one of their tensors; raise StagingError if one has none.

    Such a tensor has no value after the trace: a use of it raises an error that names it.
    """
    recorded_writes = list(trace.outside_writes.values())
    trace.outside_writes.clear()
    for location, before, place in recorded_writes:
        current_value = location.read()
        if not _variants_in(current_value):
            continue
        if any(_tensor_alternative(variant) is None for variant in _variants_in(current_value)):
            location.write(before)
            raise StagingError(
                f"{location.name} existed before the call, and a tensor decides which value is left in it", place,
                "a value that the function returns, or an autoconv.Variable",
            )  # fmt: skip
        location.write(_with_tensors(current_value))


def _variants_in(value: object) -> list[Variant]:
    """Return the variants in a value: itself, or those at any depth of tuples."""
    if type(value) is Variant:
        return [value]
    return [variant for part in value for variant in _variants_in(part)] if type(value) is tuple else []


def _with_tensors(value: Any) -> Any:
    """Return a value in which one of its tensors stands for each variant."""
    if type(value) is Variant:
        return _tensor_alternative(value)
    return tuple(map(_with_tensors, value)) if type(value) is tuple else value


def _tensor_alternative(variant: Variant) -> Any:
    """Return the first tensor among the alternatives; None without one."""
    return next((value for value in variant.values if isinstance(value, SymbolicTensor)), None)
