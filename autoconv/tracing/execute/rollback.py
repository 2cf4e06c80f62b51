"""Rollback of runs that failed on a value which a graph cannot represent; the call then reruns as plain Python."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from autoconv.backends.call_form import CallForm
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node
from autoconv.graph.types import ArrayType, TensorType
from autoconv.lazy_dataclass import dataclass
from autoconv.ops.analysis.alias import written_parameters
from autoconv.ops.python.generator_states import SavedStates, state_saver
from autoconv.ops.python.reversibility import (
    LOCAL_WRITE_PREFIX,
    can_restore_generators,
    can_undo,
    changes_generator_state,
    is_irreversible,
    makes_all_generators,
)
from autoconv.ops.python.unassigned_names import NotAssigned
from autoconv.ops.python.undo_log import UNDONE_ERRORS, with_undo
from autoconv.optimise.overflow import may_change_kind, may_exceed_int64, may_run_user_code, rerun_point
from autoconv.runtime.support.immutable_classes import is_immutable_object
from autoconv.tracing.guards.trace_restrictions import RunPlain

Run = Callable[..., Any]


def can_run_again(graph: Graph) -> bool:
    """Return whether a run changes nothing that existed before it, so that a failed one needs no rollback.

    Then the graph has no output, draws only from random generators that it makes, and writes only to arrays and objects
    that it makes.
    """
    lasting_effects = Effects.RANDOM if _is_self_contained(graph) else Effects.WRITE | Effects.RANDOM
    nodes = list(graph.walk())
    prints = any(node.op.traits.prints for node in nodes)
    if not prints and not any(_is_lasting(node, lasting_effects) for node in nodes):
        return True
    if not makes_all_generators(graph):
        return False
    return can_undo(graph) and not prints and not _has_objects(graph) and not written_parameters(graph)


def _is_lasting(node: Node, lasting_effects: Effects) -> bool:
    """Return whether a node is irreversible, or has one of the effects on an object from before the run."""
    is_local = node.op.name.startswith(LOCAL_WRITE_PREFIX)
    has_effect = bool(node.effects & lasting_effects) and not node.regions  # the nodes in regions count instead
    return node.op.traits.irreversible or (has_effect and not is_local)


def has_no_lasting_effects(graph: Graph) -> bool:
    """Return whether a call that has run completely may run once more, as it has no side effects.

    `can_run_again` is about runs that have failed. A graph that has run completely must meet further conditions: it
    draws no random numbers at all, and has no operations on Python objects if one of its inputs is mutable.
    """
    if any(
        node.op.traits.prints or node.op.traits.irreversible or node.effects & Effects.RANDOM for node in graph.walk()
    ):
        return False
    if _is_self_contained(graph):
        return True
    if _has_objects(graph) or not all(isinstance(value.type, (ArrayType, TensorType)) for value in graph.parameters):
        return False
    return can_undo(graph) and makes_all_generators(graph) and not written_parameters(graph)


def refuse_lasting_effects(graph: Graph) -> None:
    """Raise RunPlain for a graph that may have to rerun as plain Python after an irreversible side effect.

    Output counts as reversible, as a rerun does not print it again.
    """
    can_restore = can_restore_generators(graph)
    node, description = rerun_point(
        graph, lambda node: is_irreversible(node) and not (can_restore and changes_generator_state(node))
    )
    if node is not None:
        line_text = "" if node.span is None else f" in line {node.span.line}"
        raise RunPlain(f"{description} after a change{line_text} that cannot be undone")


@dataclass(frozen=True, slots=True)
class Rollback:
    """The rollback of the writes of a graph's runs, for calls that have to rerun.

    `saved_positions` are the positions of the array parameters that are copied before each run. If `logs_objects` is
    true, changes of Python objects are logged. If `may_abandon` is true, a run may end early with one of
    `UNDONE_ERRORS`: its changes are undone, and the call reruns. Then an irreversible change raises such an error
    instead of happening. `save_states` saves the states of random generators (see `state_saver`).
    """

    saved_positions: tuple[int, ...] = ()
    logs_objects: bool = False
    may_abandon: bool = False
    save_states: Callable[[Iterable[Any]], SavedStates] | None = None

    def add_saved_arrays(self, form: CallForm | None) -> CallForm | None:
        """Return the call form of an entry that copies the saved arrays before each run, and restores them.

        An entry is the native function for a user's call. Its CallForm states how the arguments and results of the call
        are converted.
        """
        if form is None or not self.saved_positions:
            return form
        return replace(form, saved=frozenset(self.saved_positions), restore=restore)

    def wrap(self, run: Run, entry: Run | None) -> tuple[Run, Run | None]:
        """Wrap the run of a graph, and its entry, which has the call form that `add_saved_arrays` returned."""
        if self.saved_positions:
            run = wrap_restoring(run, lambda values: [values[i] for i in self.saved_positions])
        if self.logs_objects:
            save = self.save_states
            run = with_undo(run, self.may_abandon, save)
            if entry is not None:  # it takes the arguments one by one, and a run takes them as one sequence
                save_of_entry = None if save is None else (lambda *arguments: save(arguments))
                entry = with_undo(entry, self.may_abandon, save_of_entry)
        return run, entry


def make_rollback(graph: Graph) -> Rollback:
    """Return the rollback of a graph whose runs have side effects (see `can_run_again`).

    `refuse_lasting_effects` has accepted the graph.
    """
    has_objects = _has_objects(graph)
    array_positions = [i for i, value in enumerate(graph.parameters) if isinstance(value.type, ArrayType)]
    nodes = list(graph.walk())
    may_abandon = may_exceed_int64(graph) or any(may_change_kind(node) or may_run_user_code(node) for node in nodes)
    prints = any(node.op.traits.prints for node in nodes)
    # If no run can be abandoned, only an error of the program may call for a rerun, and only a log of objects can undo
    # that run.
    if not may_abandon and (array_positions or not has_objects or not can_undo(graph)):
        return Rollback()
    saved_positions = array_positions if has_objects else written_parameters(graph)
    save_states = state_saver(graph)
    # The log also counts printed text and restores generators. Where no arrays are saved, it is the log, not `restore`,
    # that sets `_autoconv_undone`.
    logs_objects = has_objects or prints or not array_positions or save_states is not None
    return Rollback(tuple(saved_positions), logs_objects, may_abandon, save_states)


def wrap_restoring(run: Callable[..., Any], arrays_of: Callable[..., list[np.ndarray]]) -> Callable[..., Any]:
    """Return a run that restores arrays if `run` raises one of `UNDONE_ERRORS`.

    `arrays_of(*arguments)` returns these arrays, which are copied before each run.
    """

    def run_restoring(*arguments: Any) -> Any:
        """Run the graph; restore the arrays if the run ends with one of `UNDONE_ERRORS`."""
        writeable_arrays = [array for array in arrays_of(*arguments) if array.flags.writeable]
        copies = [array.copy() for array in writeable_arrays]
        try:
            return run(*arguments)
        except UNDONE_ERRORS as error:
            restore(error, *itertools.chain.from_iterable(zip(writeable_arrays, copies, strict=True)))
            raise

    return run_restoring


def restore(error: BaseException, *arrays_and_copies: np.ndarray) -> None:
    """Restore arrays, each followed by its copy from before a run, if `error` is one of `UNDONE_ERRORS`."""
    if isinstance(error, UNDONE_ERRORS):
        for array, copy in zip(arrays_and_copies[::2], arrays_and_copies[1::2], strict=True):
            array[...] = copy
        error._autoconv_undone = True  # type: ignore[union-attr]


def _has_objects(graph: Graph) -> bool:
    """Return whether a graph has operations on Python objects."""
    return any(node.op.name.startswith("object_") for node in graph.walk())


def _is_self_contained(graph: Graph) -> bool:
    """Return whether a graph writes only to objects that it created: none of its inputs is mutable."""
    if not all(isinstance(value.type, TensorType) for value in graph.parameters) or not makes_all_generators(graph):
        return False
    values = (node.attributes["value"] for node in graph.walk() if node.op.name == "object_constant")
    return all(map(_is_immutable, values))


def _is_immutable(value: Any) -> bool:
    """Return whether no run can change the value, or a part of it."""
    if type(value) in (tuple, frozenset):
        return all(map(_is_immutable, value))
    is_of_language = type(value) in (bool, int, float, complex, str, bytes, range, slice, NotAssigned)
    return value is None or is_of_language or is_immutable_object(value)
