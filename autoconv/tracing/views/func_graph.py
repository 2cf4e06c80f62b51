"""The graph of a trace in TensorFlow's form: its inputs and outputs are tensors, its nodes operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.graphdef import NodeDef, as_graph_def
from autoconv.graph.picture import graph_html
from autoconv.hooks import Hook
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.recording.tracebacks import present_errors
from autoconv.runtime.tensors.symbolic import SymbolicTensor

STABLEHLO_HOOK = Hook("autoconv.stablehlo")  # `autoconv.stablehlo` sets its writer here; imported at the first use


@dataclass(frozen=True, slots=True)
class Operation:
    """A node or parameter of a graph in TensorFlow's form; the type of a parameter is "Placeholder".

    `values` are the results in the graph, or the parameter itself.
    """

    node_def: NodeDef
    graph: FuncGraph
    values: tuple[Value, ...]
    operands: tuple[Value, ...] = ()

    @property
    def name(self) -> str:
        return self.node_def.name

    @property
    def type(self) -> str:
        return self.node_def.op

    @property
    def device(self) -> str:
        return self.node_def.device

    @property
    def inputs(self) -> tuple[Any, ...]:
        return tuple(map(_tensor, self.operands))

    @property
    def outputs(self) -> list[Any]:
        return list(map(_tensor, self.values))

    @property
    def control_names(self) -> tuple[str, ...]:
        """The names that a node with a control dependency on the operation waits for: that of the operation."""
        return (self.name,)

    @property
    def control_inputs(self) -> list[Operation]:
        names = [name[1:] for name in self.node_def.input if name.startswith("^")]
        return [self.graph.get_operation_by_name(name) for name in names]

    def get_attr(self, name: str) -> Any:
        """Return an attribute; raises ValueError for one that the operation lacks."""
        if name not in self.node_def.attr:
            raise ValueError(f"operation {self.name!r} has no attribute {name!r}; it has {sorted(self.node_def.attr)}")
        return self.node_def.attr[name]

    def __repr__(self) -> str:
        return f"<autoconv.Operation {self.name!r} type={self.type}>"


class GraphMember:
    """Mixin of functions that a program may add to a graph; nodes of graphs refer to the functions that they call."""

    def add_to_graph(self, g: object = None, overwrite: bool = False) -> None:
        """Do nothing: graphs refer to the functions that they call."""

    def add_gradient_functions_to_graph(self, g: object = None) -> None:
        """Do nothing, as `add_to_graph`."""

    @property
    def inference_fn(self) -> AtomicFunction:
        """The trace as a function of its tensors."""
        return AtomicFunction(self)


class AtomicFunction:
    """A trace as a function of its signature, without variables and tensors from outside.

    >>> f = autoconv.function(lambda x: x + 1)
    >>> f.get_concrete_function(autoconv.constant(1)).inference_fn(autoconv.constant(2)).numpy()
    np.int32(3)
    """

    def __init__(self, trace: Any) -> None:
        self._trace = trace

    @property
    def name(self) -> bytes:
        return self._trace.name  # type: ignore[no-any-return]

    @property
    def function_type(self) -> Any:
        return self._trace.function_type

    @property
    def graph(self) -> FuncGraph:
        return self._trace.graph  # type: ignore[no-any-return]

    @present_errors
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._trace.captured_inputs:
            raise ValueError(
                "The trace uses variables or tensors from outside, so it is no function of its arguments alone: call "
                "the concrete function itself."
            )
        return self._trace(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<AtomicFunction> {self.name.decode()}{self.function_type}"


class FuncGraph:
    """The recorded graph of a trace in TensorFlow's form.

    `captured` are the objects that the trace captured. The last parameters of the graph stand for them, in this order.
    """

    def __init__(self, graph: Graph, captured: Sequence[Any], variables: Sequence[Any] = ()) -> None:
        self.recorded = graph
        self._captured = tuple(captured)
        self._variables = tuple(variables)

    @property
    def name(self) -> str:
        return self.recorded.name

    def _repr_html_(self) -> str:
        return graph_html(self.recorded)

    @property
    def inputs(self) -> list[Any]:
        return list(map(_tensor, self.recorded.parameters))

    @property
    def outputs(self) -> list[Any]:
        return list(map(_tensor, self.recorded.outputs))

    @property
    def captures(self) -> list[tuple[Any, Any]]:
        """The captured objects, each in a pair with the symbolic tensor of its parameter."""
        placeholders = self.inputs[len(self.inputs) - len(self._captured) :]
        return list(zip(self._captured, placeholders, strict=True))

    @property
    def variables(self) -> tuple[Any, ...]:
        """The captured variables that still exist in the program."""
        return self._variables

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        return tuple(variable for variable in self._variables if variable.trainable)

    @property
    def nodes(self) -> list[Node]:
        """The nodes of `recorded`, in this package's form."""
        return self.recorded.nodes

    def walk(self) -> Iterator[Node]:
        """Iterate over every node, those of regions after the node that owns them."""
        return self.recorded.walk()

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> Any:
        """Return the graph as a GraphDef: TensorBoard's protocol buffer, or without TensorBoard a plain substitute."""
        return self.recorded.as_graph_def()

    def to_stablehlo(self, capacity: int = 64) -> str:
        """Return the graph as the text of a StableHLO module; see `autoconv.stablehlo.export`.

        Raises autoconv.stablehlo.GraphUnfit, with the op and its place, for a graph that it cannot represent.
        """
        return str(STABLEHLO_HOOK(self.recorded, capacity).text)

    def get_operations(self) -> list[Operation]:
        """Return the parameters, then the nodes in program order."""
        node_defs = as_graph_def(self.recorded).node
        parameters = self.recorded.parameters
        operations = [Operation(node_defs[i], self, (value,)) for i, value in enumerate(parameters)]
        nodes = zip(node_defs[len(parameters) :], self.recorded.nodes, strict=True)
        return operations + [Operation(definition, self, node.results, node.inputs) for definition, node in nodes]

    def get_operation_by_name(self, name: str) -> Operation:
        """Return the operation of that name; raises KeyError if there is none."""
        for operation in self.get_operations():
            if operation.name == name:
                return operation
        raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")

    def get_tensor_by_name(self, name: str) -> Any:
        """Return the tensor named "OPERATION:INDEX"; raises KeyError if there is none."""
        operation, _, index = name.partition(":")
        outputs = self.get_operation_by_name(operation).outputs
        if not index.isdigit() or int(index) >= len(outputs):
            raise KeyError(f"The name {name!r} refers to a Tensor not in the graph.")
        return outputs[int(index)]

    def __repr__(self) -> str:
        return f"FuncGraph(name={self.name}, id={id(self.recorded)})"


def _tensor(value: Value) -> Any:
    """Return a tensor value as a symbolic tensor; return resources and other values as they are."""
    return SymbolicTensor(value) if hasattr(value.type, "dtype") else value
