"""`Graph`: ops recorded in a `with` block, for inspection or for a session of TensorFlow 1's interface."""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from autoconv.api.control.graph_variable import GraphVariable
from autoconv.graph.graph import Value
from autoconv.runtime.recording.contracts import Contract
from autoconv.runtime.recording.regions import Region, current_region, new_trace, recording
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.tracing.specialise.trace import LOCK
from autoconv.tracing.views.func_graph import FuncGraph


class Graph(FuncGraph):
    """A graph of the ops in the block `with graph.as_default():`, whose tensors are symbolic.

    A `compat.v1.Session` runs its tensors. Variables made in the block get their values when a session runs their
    initializers.

    >>> with autoconv.Graph().as_default() as graph:
    ...     doubled = autoconv.constant([1, 2], name="x") * 2
    >>> [operation.type for operation in graph.get_operations()]
    ['Const', 'Const', 'Mul']
    """

    def __init__(self) -> None:
        self._trace = new_trace("graph", _GraphContract(self))
        self._collections: dict[Any, list[Any]] = {}
        self.attachments: dict[Any, Any] = {}  # objects of other modules, such as the variables and imported tensors
        self.seed: int | None = None
        super().__init__(self._trace.root.graph, ())
        self.recorded.program_graph = self  # found again by `graph_being_built`

    @contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Record the ops of the block in this graph, which is the value of the block's `as` clause."""
        region = current_region()
        if region is not None and region.trace is self._trace:
            yield self  # a nested block of the same graph: the current branch or loop keeps recording
            return
        with LOCK, recording(self._trace.root):
            yield self

    @property
    def root(self) -> Region:
        """The region into which ops are recorded outside of branches and loops."""
        return self._trace.root

    @property
    def captured(self) -> dict[Value, Any]:
        """The captured objects by their parameters in the graph."""
        return {value: captured for captured, value in self._trace.captures.values()}

    @property
    def captures(self) -> list[tuple[Any, Any]]:
        """Pairs of each captured value and its placeholder."""
        return [(captured, SymbolicTensor(value)) for value, captured in self.captured.items()]

    @property
    def variables(self) -> tuple[Any, ...]:
        return tuple(self._collections.get("variables", ()))

    @property
    def collections(self) -> list[Any]:
        """The names of the collections."""
        return list(self._collections)

    def get_all_collection_keys(self) -> list[Any]:
        return [key for key, values in self._collections.items() if values]

    def get_collection_ref(self, name: Any) -> list[Any]:
        """Return the list of a collection itself, which may be changed."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """Return a copy of a collection; with `scope`, only members whose names begin with a match of that pattern."""
        members = list(self._collections.get(name, ()))
        if not scope:
            return members
        return [member for member in members if re.match(scope, getattr(member, "name", None) or "")]

    def get_tensor_by_name(self, name: str) -> Any:
        """Return the tensor `operation:index`, or the one with this name in an imported GraphDef; raises KeyError."""
        imported_tensor = self.attachments.get("imported", {}).get(name)
        return super().get_tensor_by_name(name) if imported_tensor is None else imported_tensor

    def get_operation_by_name(self, name: str) -> Any:
        """Return the operation, or group of operations, of that name; raises KeyError if there is none."""
        group = self.attachments.get("operations", {}).get(name)
        return super().get_operation_by_name(name) if group is None else group

    def add_to_collection(self, name: Any, value: Any) -> None:
        self.get_collection_ref(name).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Add a value once to each of several collections."""
        for name in dict.fromkeys([names] if isinstance(names, str) else names):
            self.add_to_collection(name, value)

    def clear_collection(self, name: Any) -> None:
        self._collections.pop(name, None)

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """Return an unused name under the current scope; reserve it unless `mark_as_used` is False."""
        full_name = self._trace.scope + name
        return self.recorded.unique_name(full_name) if mark_as_used else self.recorded.next_name(full_name)

    def get_name_scope(self) -> str:
        return self._trace.scope.rstrip("/")

    @property
    def finalized(self) -> bool:
        return self.attachments.get("finalized", False)

    def finalize(self) -> None:
        """Refuse further ops: recording an op raises RuntimeError from now on."""
        self.attachments["finalized"] = True

    @property
    def building_function(self) -> bool:
        return False  # True in `tensorflow.__internal__.func_graph.FuncGraph`

    @property
    def version(self) -> int:
        """The number of nodes, which grows with each op."""
        return len(self.recorded.parameters) + len(self.recorded.nodes)

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """Return the tensor or operation of a name, or the object itself.

        Raises KeyError for a name that the graph lacks, ValueError for an object of another graph, and TypeError for
        anything else. `allow_tensor` and `allow_operation` have no effect.
        """
        if isinstance(obj, str):
            return self.get_tensor_by_name(obj) if ":" in obj else self.get_operation_by_name(obj)
        obj = getattr(obj, "snapshot", obj)  # a variable stands for the tensor that reads it
        graph = getattr(obj, "graph", None)
        if graph is None:
            raise TypeError(f"Can not convert a {type(obj).__name__} into a Tensor or Operation.")
        if graph is not self:
            raise ValueError(f"{obj} is not an element of this graph.")
        return obj

    def __repr__(self) -> str:
        return f"<autoconv.Graph of {self.version} nodes>"


def graph_being_built() -> Graph | None:
    """Return the graph of the enclosing block, None where ops run eagerly or a function is traced."""
    region = current_region()
    return None if region is None else region.trace.root.graph.program_graph  # type: ignore[no-any-return]


class _GraphContract(Contract):
    """The contract of a `Graph` that is being built: its variables are initialised by sessions."""

    def __init__(self, graph: Graph) -> None:
        self._graph = weakref.ref(graph)

    def make_variable(self, create: Callable[..., Any], arguments: dict[str, Any]) -> Any:
        """Return a new variable of the graph; the graph of a function has its variables outside."""
        graph = self._graph()
        if graph is not None and graph.building_function:
            return _create_variable_outside(create, arguments)
        return create(**arguments) if graph is None else GraphVariable(graph=graph, **arguments)

    def count_step(self, unit: str) -> None:
        """Refuse to record in a finalized graph; each recorded op calls this method."""
        graph = self._graph()
        if graph is not None and graph.finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")


def _create_variable_outside(create: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Create a variable outside of the graph of a function; raise ValueError if its value is a tensor of a graph."""
    initial_value = arguments.get("initial_value")
    if isinstance(initial_value, SymbolicTensor):
        raise ValueError(
            f"Argument `initial_value` ({initial_value}) could not be lifted out of a `autoconv.function`. Pass a "
            "function that makes it, such as `autoconv.Variable(lambda: autoconv.random.normal([10, 40]))`."
        )
    with recording(region=None):
        return create(**arguments)
