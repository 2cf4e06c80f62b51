"""Runs that meet an int beyond 64 bits: whether what they did can be taken back, and is, so that the call can be made
again as plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph
from autoconv.graph.types import ArrayType, TensorType
from autoconv.ops.objects import NotAssigned
from autoconv.ops.overlaps import written_parameters
from autoconv.ops.undo import LOCAL, can_undo, restoring, undoing
from autoconv.optimise.limits import may_exceed

Run = Callable[..., Any]
_PRINTING = frozenset({"print", "python_print", "object_print", "py_call"})


def can_run_again(graph: Graph) -> bool:
    """Whether a run that failed left nothing behind: no output, no draw, no write but to what it made itself."""
    lasting = Effects.RANDOM if _is_on_its_own(graph) else Effects.WRITE | Effects.RANDOM
    if not any(
        (node.effects & lasting and not node.regions and not node.op.name.startswith(LOCAL))
        or node.op.name in _PRINTING
        for node in graph.walk()
    ):
        return True
    return can_undo(graph) and not _has_objects(graph) and not written_parameters(graph)


def taking_back(graph: Graph, run: Run, entry: Run | None, leaves: Sequence[int]) -> tuple[Run, Run | None]:
    """What runs a graph that cannot run again as it is, and the entry of its code: where an int outgrows 64 bits, what
    they wrote is taken back. `leaves` are the positions of the graph's first parameters among an entry's arguments."""
    objects = _has_objects(graph)
    arrays = [i for i, value in enumerate(graph.parameters) if isinstance(value.type, ArrayType)]
    if not can_undo(graph) or (arrays and not may_exceed(graph)):
        return run, entry
    places = arrays if objects else written_parameters(graph)
    if places:
        given = [leaves[i] for i in places if i < len(leaves)]
        run = restoring(run, lambda values: [values[i] for i in places])
        entry = entry and restoring(entry, lambda *arguments: _arrays_at(arguments, given))
    if objects or not arrays:
        run, entry = undoing(run), entry and undoing(entry)
    return run, entry


def _arrays_at(arguments: Sequence[Any], positions: Sequence[int]) -> list[np.ndarray]:
    return [arguments[i] for i in positions if i < len(arguments) and isinstance(arguments[i], np.ndarray)]


def _has_objects(graph: Graph) -> bool:
    return any(node.op.name.startswith("object_") for node in graph.walk())


def _is_on_its_own(graph: Graph) -> bool:
    """Whether all that a graph writes to are objects that it made itself: it is given none that can change."""
    if not all(isinstance(value.type, TensorType) for value in graph.parameters):
        return False
    given = (node.attributes["value"] for node in graph.walk() if node.op.name == "object_constant")
    return all(map(_cannot_change, given))


def _cannot_change(value: Any) -> bool:
    if type(value) in (tuple, frozenset):
        return all(map(_cannot_change, value))
    return value is None or type(value) in (bool, int, float, complex, str, bytes, range, slice, NotAssigned)


__all__ = ["can_run_again", "taking_back"]
