"""A finished recording of a function, from which a ConcreteFunction is compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from autoconv.graph.graph import Graph
from autoconv.operators.regions.layout import Layout
from autoconv.runtime.recording.contracts import Contract
from autoconv.runtime.recording.journal import Location
from autoconv.tracing.guards.guards import Guards
from autoconv.tracing.key.array_keys import ArrayKey
from autoconv.tracing.key.cache_key import Key, ObjectKey, SharedKey, SpecKey, TensorKey, VariableKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A finished trace: its graph as recorded and optimised, and the facts with which calls use it.

    `uses_arrays` is true where the program sees NumPy's arrays in place of tensors; `locations` are the written
    locations, `containers` those whose containers are flattened. `warns_of_constants` is true where NumPy warned of a
    computation on plain values during the trace.
    """

    graph: Graph
    optimised: Graph
    key: Key
    names: Sequence[str]
    captures: Sequence[Any]
    layout: Layout
    guards: Guards
    contract: type[Contract]
    uses_arrays: bool = False
    locations: Sequence[Location] = ()
    containers: Sequence[Location] = ()
    warns_of_constants: bool = False

    def readers(self) -> tuple[list[Callable[[], Any]], list[Callable[[], Any]]]:
        """Return the readers of the locations: of flattened and shared containers, and of the others."""
        keys = self.key.leaves[len(self.key.leaves) - len(self.locations) :]
        are_shared = [isinstance(key, SharedKey) for key in keys]
        pairs = [(s.reader, is_shared) for s, is_shared in zip(self.locations, are_shared, strict=True)]
        containers = [location.reader for location in self.containers]
        containers += [read for read, is_shared in pairs if is_shared]
        return containers, [read for read, is_shared in pairs if not is_shared]


def input_leaves(key: Key) -> list[int]:
    """Return which leaves of a key are parameters of its trace's graph, in order."""
    return [i for i, leaf in enumerate(key.leaves) if isinstance(leaf, PARAMETER_KEYS)]


PARAMETER_KEYS = (TensorKey, VariableKey, ObjectKey, ArrayKey, SpecKey)  # the leaves that are parameters of the graph
