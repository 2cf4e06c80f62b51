"""Values of a graph being recorded that depend on what the active tapes watch.

Such a value stands for an immutable tensor, also where arrays of the program are memory: gradients flow through values.
"""

from __future__ import annotations

from collections.abc import Iterable

from autoconv.autodiff.cotangents import is_differentiable
from autoconv.graph.graph import Value
from autoconv.runtime.recording import tape_recorders
from autoconv.runtime.recording.regions import Region


def is_differentiated(value: Value, region: Region) -> bool:
    """Return whether a value of `region`, or of an enclosing one, depends on a tensor that an active tape watches.

    Conservative for the state of a loop: any number or tensor there may depend on one.
    """
    return any(_is_dependent(value, region, recorder.graph_values) for recorder in tape_recorders.active_recorders())


def _is_dependent(value: Value, region: Region, is_dependent: dict[Value, bool]) -> bool:
    """Visit the sources of a value in postorder; `is_dependent` holds watched values, and is a cache of results."""
    if not is_dependent:
        return False
    stack = [value]
    while stack:
        current = stack[-1]
        sources = () if current in is_dependent or not is_differentiable(current.type) else _sources(current, region)
        if sources is not None:
            unvisited = [source for source in sources if source not in is_dependent]
            if unvisited:
                stack += unvisited
                continue
        if current not in is_dependent:
            is_dependent[current] = sources is None or any(is_dependent[source] for source in sources)
        stack.pop()
    return is_dependent[value]


def _sources(value: Value, region: Region | None) -> Iterable[Value] | None:
    """Return the values that a value is computed from; None for the state of a loop."""
    if value.node is not None:
        return value.node.inputs
    while region is not None and region.graph is not value.graph:
        region = region.parent
    if region is None or region.parent is None:
        return ()
    outer = next((outer for outer, inner in region.captures.items() if inner is value), None)
    return None if outer is None else (outer,)
