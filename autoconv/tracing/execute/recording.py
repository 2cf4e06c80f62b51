"""A finished recording of a function, from which a ConcreteFunction is compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from autoconv.graph.graph import Graph
from autoconv.lazy_dataclass import dataclass
from autoconv.operators.regions.layout import Layout
from autoconv.optimise import optimise
from autoconv.runtime.recording.contracts import Contract
from autoconv.runtime.recording.journal import Location
from autoconv.tracing.guards.guards import Guards
from autoconv.tracing.key.array_keys import ArrayKey
from autoconv.tracing.key.cache_key import Key, ObjectKey, SharedKey, SpecKey, TensorKey, VariableKey
from autoconv.tracing.views import logs


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A finished trace: its graph as recorded and as it runs, and the facts with which calls use it.

    `is_optimised` is false if the graph that runs, `runnable`, is not optimised yet. `names` are the names of the key's
    leaves, `layout` is that of the result. `uses_arrays` is true if the program sees NumPy arrays in place of tensors.
    `containers` are the written locations whose lists and dicts are flattened, `locations` the other written locations,
    whose keys are the last leaves of the key. `warns_of_constants` is true if NumPy warned of a computation on Python
    values during the trace.
    """

    graph: Graph
    runnable: Graph
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
    is_optimised: bool = False

    def optimise(self, name: str) -> Recording:
        """Return the recording with `runnable` optimised; `name` is the name of the trace in logs."""
        dump = logs.make_optimisation_logger(name)
        optimised = optimise(self.runnable, contract=self.contract.name, dump=dump)
        logs.log_graphs(name, self.graph, optimised)
        return replace(self, runnable=optimised, is_optimised=True)

    def readers(self) -> tuple[list[Callable[[], Any]], list[Callable[[], Any]]]:
        """Return the readers of locations that hold containers, and those of the other locations.

        The first are those of `containers`, and those of `locations` with a SharedKey, which hold such a container too.
        """
        keys = self.key.leaves[len(self.key.leaves) - len(self.locations) :]
        pairs = list(zip(self.locations, keys, strict=True))
        container_locations = [*self.containers, *(location for location, key in pairs if isinstance(key, SharedKey))]
        other_locations = [location for location, key in pairs if not isinstance(key, SharedKey)]
        return [location.reader for location in container_locations], [location.reader for location in other_locations]


def parameter_positions(key: Key) -> list[int]:
    """Return the positions of the leaves of a key that are parameters of its trace's graph."""
    return [i for i, leaf in enumerate(key.leaves) if isinstance(leaf, PARAMETER_KEYS)]


PARAMETER_KEYS = (TensorKey, VariableKey, ObjectKey, ArrayKey, SpecKey)  # the leaves that are parameters of the graph
