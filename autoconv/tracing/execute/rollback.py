"""Rollback of runs that meet an int beyond 64 bits, so that the call can rerun as plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph
from autoconv.graph.types import ArrayType, TensorType
from autoconv.ops.analysis.alias import written_parameters
from autoconv.ops.python.objects import NotAssigned
from autoconv.ops.python.reversibility import TO_LOCAL_OBJECTS, can_undo, is_irreversible, makes_all_generators
from autoconv.ops.python.undo_log import restoring, undoing
from autoconv.optimise.overflow import may_be_another, may_exceed, may_run_code, rerun_point
from autoconv.tracing.guards.python_contract import RunPlain

Run = Callable[..., Any]


def can_run_again(graph: Graph) -> bool:
    """Return whether a failed run has no side effects: no output, no draw, and writes only to its own objects."""
    lasting = Effects.RANDOM if _is_on_its_own(graph) else Effects.WRITE | Effects.RANDOM
    if not any(
        (node.effects & lasting and not node.regions and not node.op.name.startswith(TO_LOCAL_OBJECTS))
        or node.op.traits.prints
        or node.op.traits.irreversible
        for node in graph.walk()
    ):
        return True
    prints = any(node.op.traits.prints for node in graph.walk())
    return can_undo(graph) and not prints and not _has_objects(graph) and not written_parameters(graph)


def leaves_nothing(graph: Graph) -> bool:
    """Return whether a complete run has no side effects: no output, no draw, and writes only to new arrays."""
    if any(
        node.op.traits.prints or node.op.traits.irreversible or node.effects & Effects.RANDOM for node in graph.walk()
    ):
        return False
    if _is_on_its_own(graph):
        return True
    if _has_objects(graph) or not all(isinstance(value.type, (ArrayType, TensorType)) for value in graph.parameters):
        return False
    return can_undo(graph) and not written_parameters(graph)


def refuse_lasting(graph: Graph) -> None:
    """Raise RunPlain for a graph that may have to rerun as plain Python after an irreversible side effect.

    Output is not irreversible here, as a rerun suppresses it.
    """
    made = makes_all_generators(graph)
    node, what = rerun_point(
        graph, lambda node: is_irreversible(node) and not (made and node.op.name == "generator_draw")
    )
    if node is not None:
        place = "" if node.span is None else f" in line {node.span.line}"
        raise RunPlain(f"{what} after a change{place} that cannot be undone")


def taking_back(graph: Graph, run: Run, entry: Run | None, leaves: Sequence[int]) -> tuple[Run, Run | None]:
    """Wrap the run of a graph, and the entry of its code, to roll back their writes where the call has to rerun.

    No irreversible side effect precedes that (`refuse_lasting`). `leaves` are the positions of the graph's first
    parameters among an entry's arguments.
    """
    objects = _has_objects(graph)
    arrays = [i for i, value in enumerate(graph.parameters) if isinstance(value.type, ArrayType)]
    ends = may_exceed(graph) or any(may_be_another(node) or may_run_code(node) for node in graph.walk())
    prints = any(node.op.traits.prints for node in graph.walk())
    if not ends and (arrays or not objects or not can_undo(graph)):
        return run, entry
    places = arrays if objects else written_parameters(graph)
    if places:
        given = [leaves[i] for i in places if i < len(leaves)]
        run = restoring(run, lambda values: [values[i] for i in places])
        entry = entry and restoring(entry, lambda *arguments: _arrays_at(arguments, given))
    if objects or prints or not arrays:
        run, entry = undoing(run, ends), entry and undoing(entry, ends)
    return run, entry


def _arrays_at(arguments: Sequence[Any], positions: Sequence[int]) -> list[np.ndarray]:
    return [arguments[i] for i in positions if i < len(arguments) and isinstance(arguments[i], np.ndarray)]


def _has_objects(graph: Graph) -> bool:
    return any(node.op.name.startswith("object_") for node in graph.walk())


def _is_on_its_own(graph: Graph) -> bool:
    """Return whether a graph writes only objects that it made itself: none of its inputs is mutable."""
    if not all(isinstance(value.type, TensorType) for value in graph.parameters):
        return False
    given = (node.attributes["value"] for node in graph.walk() if node.op.name == "object_constant")
    return all(map(_cannot_change, given))


def _cannot_change(value: Any) -> bool:
    if type(value) in (tuple, frozenset):
        return all(map(_cannot_change, value))
    return value is None or type(value) in (bool, int, float, complex, str, bytes, range, slice, NotAssigned)


__all__ = ["can_run_again", "leaves_nothing", "taking_back"]
