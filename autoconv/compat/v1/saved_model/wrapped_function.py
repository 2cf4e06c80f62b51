"""Functions from graphs of version 1: their feeds are arguments, their fetches results, their variables initialised."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autoconv import nest
from autoconv.api.control.graph_variable import GraphVariable
from autoconv.api.control.graphs import Graph
from autoconv.compat.v1.placeholders import placeholder
from autoconv.compat.v1.saved_model.signatures import TensorInfo
from autoconv.compat.v1.session import Session
from autoconv.compat.v1.slices import graph_part
from autoconv.graph.graph import Value
from autoconv.runtime.objects.storage import Storage
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording.regions import current_region, recording
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import as_tensor
from autoconv.runtime.tensors.dispatch import graph_value
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.saved_model.traces import mark_replaying
from autoconv.tracing.api.decorators import function
from autoconv.tracing.execute.compiled_trace import ConcreteFunction


def wrap_function(fn: Callable[..., Any], signature: Any, name: str | None = None) -> WrappedFunction:
    """Return a function that runs the graph which `fn`, code of version 1, builds for the signature's TensorSpecs.

    The variables of the graph are created once, with their initial values. `prune` selects other feeds and fetches.

    >>> def scaled(x):
    ...     return x * autoconv.compat.v1.get_variable("scale", initializer=3.0)
    >>> f = autoconv.compat.v1.wrap_function(scaled, [autoconv.TensorSpec([])])
    >>> f(autoconv.constant(2.0)).numpy(), [variable.name for variable in f.variables]
    (np.float32(6.0), ['scale:0'])
    """
    function_name = name or str(getattr(fn, "__name__", "wrapped_function"))
    with recording(region=None), Graph().as_default() as graph:
        arguments = nest.map_structure(
            lambda spec: placeholder(spec.dtype, spec.shape, spec.name or "args"), list(signature or ())
        )
        results = fn(*arguments)
    return WrappedFunction(graph, arguments, results, function_name)


class WrappedFunction:
    """A graph of version 1 as a function of its placeholders.

    A call also runs all ops with effects, except the initializers of variables.

    >>> f = autoconv.compat.v1.wrap_function(lambda x: x + 1.0, [autoconv.TensorSpec([])])
    >>> f.graph.get_operations()[0].type
    'Placeholder'
    """

    def __init__(self, graph: Graph, arguments: Sequence[Any], results: Any, name: str) -> None:
        self.graph = graph
        self._variables = initialized_variables(graph)
        initializers = {variable.initializer.name for variable in graph.attachments.get("variables", ())}
        effects = [node.name for node in graph.recorded.nodes if node.effects.must_run]
        fetches = results if nest.is_nested(results) or results is None else [results]
        self._arguments, self._name = arguments, name
        self._is_single = fetches is not results
        self._results = nest.map_structure(lambda item: item if as_tensor(item) is not None else None, fetches)
        self._effects = [name for name in effects if name not in initializers]
        self._function: ConcreteFunction | None = None

    @property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(self._variables.values())

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def structured_outputs(self) -> Any:
        """The tensors that `fn` has returned."""
        return self._results[0] if self._is_single else self._results

    def __call__(self, *args: Any) -> Any:
        """Run the graph for these tensors, which have the structure of the signature."""
        if self._function is None:
            feeds = nest.flatten(list(self._arguments))
            self._function = self._make_function(feeds, self._results, self._name, None, self._effects)
        result = self._function(*nest.flatten(list(args)))
        return result[0] if self._is_single else result

    def prune(self, feeds: Any, fetches: Any, name: str = "pruned", input_signature: Any = None) -> ConcreteFunction:
        """Return a function of the tensors `feeds` that computes `fetches`, as a session would.

        Fetches are tensors, operations and their names, in lists and dicts; operations run and give None. Variables
        are those of this function. Raises InvalidArgumentError for a placeholder that is needed and not fed.
        """
        return self._make_function(nest.flatten(feeds), fetches, name, input_signature, ())

    def _make_function(
        self, feeds: Sequence[Any], fetches: Any, name: str, input_signature: Any, node_names: Sequence[str]
    ) -> ConcreteFunction:
        """Return a function of the feeds, whose parameters have the names of the signature's specs or of the feeds."""
        specs = None if input_signature is None else nest.flatten(input_signature)
        values = [Session(graph=self.graph).resolve(feed) for feed in feeds]
        names = [value.name for value in values] if specs is None else [spec.name for spec in specs]  # type: ignore[union-attr]
        feeds_by_name = dict(zip(names, feeds, strict=True))
        return function_of_graph(self.graph, feeds_by_name, fetches, self._variables, name, node_names)


def initialized_variables(graph: Graph) -> dict[GraphVariable, Variable]:
    """Return a variable with its initial value for each variable of a graph."""
    variables = graph.attachments.get("variables", [])
    with recording(region=None):
        session = Session(graph=graph)
        session.run([variable.initializer for variable in variables])
        return session_variables(session)


def session_variables(session: Session) -> dict[GraphVariable, Variable]:
    """Return a variable for each variable of the session's graph that has a value there, with this value."""
    variables = session.graph.attachments.get("variables", [])
    initialized = [variable for variable in variables if session.has_value(variable)]
    with recording(region=None):
        return {
            variable: Variable(value, trainable=variable.trainable, name=variable.storage.name, shape=variable.shape)
            for variable, value in zip(initialized, session.run(initialized), strict=True)
        }


def function_of_graph(
    graph: Graph, feeds: Mapping[str, Any], fetches: Any, variables: Mapping[GraphVariable, Variable], name: str,
    node_names: Sequence[str] = (),
) -> ConcreteFunction:  # fmt: skip
    """Return a function that computes the fetches and runs the nodes `node_names`, on the given variables.

    `feeds` has the fed tensors by the names of the function's parameters.
    """
    session = Session(graph=graph)

    def resolve(item: Any) -> Any:
        return session.resolve(item.name if isinstance(item, TensorInfo) else item)

    flat_fetches = [None if item is None else resolve(item) for item in nest.flatten(fetches)]
    outputs = [item for item in flat_fetches if isinstance(item, Value)]
    fetched_nodes = [node_name for item in flat_fetches if isinstance(item, tuple) for node_name in item]
    fed_values: list[Any] = [resolve(feed) for feed in feeds.values()]
    part = graph_part(graph, outputs, [*node_names, *fetched_nodes], fed_values)
    storages = {graph_variable.storage: variable.storage for graph_variable, variable in variables.items()}
    captures = [
        storages.get(captured, captured) if isinstance(captured, Storage) else captured
        for captured in part.captured_objects
    ]
    op_name = "StatefulPartitionedCall" if part.graph.effects else "PartitionedCall"

    def call(*tensors: Any) -> Any:
        region = current_region()
        assert region is not None
        values = [region.lift(graph_value(region, value)) for value in (*tensors, *captures)]
        types = [value.type for value in part.graph.outputs]
        node = region.record("call", values, {"name": name}, regions=[part.graph], types=types, node_name=op_name)
        results = iter(node.results)
        leaves = [SymbolicTensor(next(results)) if isinstance(item, Value) else None for item in flat_fetches]
        return nest.pack_sequence_as(fetches, leaves)

    specs = [TensorSpec(v.shape, v.dtype, key) for key, v in zip(feeds, fed_values, strict=True)]
    return function(mark_replaying(call, name), autograph=False).get_concrete_function(*specs)
