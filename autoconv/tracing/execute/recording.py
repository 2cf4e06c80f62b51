"""A finished recording of a function, from which a ConcreteFunction is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autoconv.graph.graph import Graph
from autoconv.operators.regions.layout import Layout
from autoconv.runtime.recording.contracts import Contract
from autoconv.runtime.recording.journal import Location
from autoconv.tracing.guards.guards import Guards
from autoconv.tracing.key.array_keys import ArrayKey
from autoconv.tracing.key.cache_key import Key, ObjectKey, SpecKey, TensorKey, VariableKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A finished trace: its graph as recorded and optimised, and the facts with which calls use it.

    `arrays` is true where the program sees NumPy's arrays in place of tensors; `locations` are the written locations;
    `warns` is true where NumPy warned of a computation on plain values during the trace.
    """

    graph: Graph
    optimised: Graph
    key: Key
    names: Sequence[str]
    captures: Sequence[Any]
    layout: Layout
    guards: Guards
    contract: type[Contract]
    arrays: bool = False
    locations: Sequence[Location] = ()
    warns: bool = False


def input_leaves(key: Key) -> list[int]:
    """Return which leaves of a key are parameters of its trace's graph, in order."""
    return [i for i, leaf in enumerate(key.leaves) if isinstance(leaf, PARAMETER_KEYS)]


PARAMETER_KEYS = (TensorKey, VariableKey, ObjectKey, ArrayKey, SpecKey)  # the leaves that are parameters of the graph
