"""Dependence analysis: whether a value of a graph being recorded depends on what the active tapes watch.

The analysis follows values only, and not writes to arrays in memory: gradients flow through immutable tensors.
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


def _is_dependent(value: Value, region: Region, results: dict[Value, bool]) -> bool:
    """Return whether a value depends on a watched one, visiting its sources in postorder.

    `results` has True for the watched values, and keeps the results for the visited ones.
    """
    if not results:
        return False
    stack = [value]
    while stack:
        current = stack[-1]
        sources = () if current in results or not is_differentiable(current.type) else _sources(current, region)
        if sources is not None:
            unvisited = [source for source in sources if source not in results]
            if unvisited:
                stack += unvisited
                continue
        if current not in results:
            results[current] = sources is None or any(results[source] for source in sources)
        stack.pop()
    return results[value]


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
