"""Slices: compiled parts of a graph that compute the values which a session fetches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from autoconv.api.control.graphs import Graph
from autoconv.errors import FailedPreconditionError, InvalidArgumentError
from autoconv.graph import graph as graphs
from autoconv.graph.graph import Node, Value
from autoconv.graph.types import ResourceType, TensorType
from autoconv.lazy_dataclass import dataclass
from autoconv.ops import OPS
from autoconv.optimise import optimise
from autoconv.runtime.objects.storage import Storage
from autoconv.runtime.tensors.tensor import EagerTensor
from autoconv.tracing.execute.differentiable import DifferentiableGraph, to_graph_input


@dataclass(frozen=True, slots=True)
class Slice:
    """A compiled part of a graph.

    run: the function from the arrays of fed values and captured objects to the fetched values
    fed_values: the values that a run gets from the caller
    captured_objects: the objects that the graph captured, in the order of the parameters after the fed ones
    required_storages: the storages of variables that need a value before a run
    assigned_storages: the storages whose first value a run assigns
    outputs: the fetched values
    """

    run: Any
    fed_values: tuple[Value, ...]
    captured_objects: tuple[Any, ...]
    required_storages: tuple[Storage, ...]
    assigned_storages: tuple[Storage, ...]
    outputs: tuple[Value, ...]

    def __call__(self, fed_arrays: Sequence[Any], storages: dict[Storage, Storage]) -> list[Any]:
        """Return the fetched values as arrays; `storages` maps storages of the graph to the session's.

        Raises FailedPreconditionError for a variable without a value.
        """
        for storage in self.required_storages:
            if storage not in storages:
                raise FailedPreconditionError(
                    f"Attempting to use uninitialized value {storage.name}: run its initializer in this session "
                    "first, or autoconv.compat.v1.global_variables_initializer()."
                )
        new_storages = {
            storage: Storage(storage.value.copy(), storage.shape, storage.name)
            for storage in self.assigned_storages
            if storage not in storages
        }
        arguments = [
            to_graph_input(object_)
            if not isinstance(object_, Storage) else new_storages.get(object_) or storages[object_]
            for object_ in self.captured_objects
        ]  # fmt: skip
        result = self.run([*fed_arrays, *arguments])
        storages.update(new_storages)
        return [
            EagerTensor(array).numpy() if isinstance(value.type, (TensorType, ResourceType)) else array
            for array, value in zip(result, self.outputs, strict=True)
        ]


def slice_of(graph: Graph, outputs: Sequence[Value], node_names: Iterable[str], fed_values: Sequence[Value]) -> Slice:
    """Return the compiled slice that computes the outputs and runs the nodes `node_names`, given the fed values.

    Raises InvalidArgumentError for a placeholder that is not fed.
    """
    part = graph_part(graph, outputs, node_names, fed_values)
    required_storages, assigned_storages = _required_and_assigned_storages(part.nodes, graph.captured, outputs)
    run = DifferentiableGraph(optimise(part.graph), "session", "function").run
    return Slice(
        run, tuple(fed_values), tuple(part.captured_objects), required_storages, assigned_storages, tuple(outputs)
    )


class GraphPart(NamedTuple):
    """A part of a graph as a separate graph.

    graph: its parameters are the fed values, then the captured objects in the order in which nodes use them
    captured_objects: the objects that the part captures
    nodes: the copied nodes of the whole graph, in the order of the program
    """

    graph: graphs.Graph
    captured_objects: list[Any]
    nodes: list[Node]


def graph_part(
    graph: Graph, outputs: Sequence[Value], node_names: Iterable[str], fed_values: Sequence[Value]
) -> GraphPart:
    """Return the part of the graph that computes the outputs and runs the nodes `node_names`, given the fed values.

    The nodes keep the order of the program. Raises InvalidArgumentError for a placeholder that is not fed.
    """
    nodes = _needed_nodes(graph.recorded, outputs, node_names, set(fed_values))
    part_graph = graphs.Graph("session")
    values: dict[Value, Value] = {value: part_graph.add_parameter(value.type, value.name) for value in fed_values}
    captured = graph.captured
    captured_objects: list[Any] = []

    def value_in_part(value: Value) -> Value:
        if value not in values:
            if value not in captured:
                raise InvalidArgumentError(_missing_feed_message(value))
            values[value] = part_graph.add_parameter(value.type, value.name)
            captured_objects.append(captured[value])
        return values[value]

    for node in nodes:
        node_copy = graphs.copy_node(part_graph, node, [value_in_part(value) for value in node.inputs])
        for result, result_copy in zip(node.results, node_copy.results, strict=True):
            values.setdefault(result, result_copy)
    for value in outputs:  # a variable is read after all assignments to it
        part_value = value_in_part(value)
        is_variable = isinstance(value.type, ResourceType)
        part_graph.outputs.append(
            part_graph.add(OPS["read_variable"], [part_value]).results[0] if is_variable else part_value
        )
    return GraphPart(part_graph, captured_objects, nodes)


def _needed_nodes(
    graph: graphs.Graph, outputs: Sequence[Value], node_names: Iterable[str], fed_values: set[Value]
) -> list[Node]:
    """Return the named nodes and those on which they and the outputs depend, up to fed values, in program order."""
    node_by_name = {node.name: node for node in graph.nodes}
    worklist = [value.node for value in outputs if value not in fed_values and value.node is not None]
    worklist += [node_by_name[name] for name in node_names if name in node_by_name]
    nodes: set[Node] = set()
    while worklist:
        node = worklist.pop()
        if node not in nodes:
            nodes.add(node)
            worklist += [value.node for value in node.inputs if value not in fed_values and value.node is not None]
            worklist += [node_by_name[name] for name in graph.controls.get(node.name, ()) if name in node_by_name]
    return [node for node in graph.nodes if node in nodes]


def _required_and_assigned_storages(
    nodes: Sequence[Node], captured: Mapping[Value, Any], outputs: Sequence[Value]
) -> tuple[tuple[Storage, ...], tuple[Storage, ...]]:
    """Return the storages that are read before an assignment, and the other storages that are assigned."""
    required_storages: dict[Storage, None] = {}
    assigned_storages: dict[Storage, None] = {}
    for node in nodes:
        for position, value in enumerate(node.inputs):
            if isinstance(value.type, ResourceType) and value in captured and captured[value] not in assigned_storages:
                if node.op.name == "assign_variable" and position == 0:
                    assigned_storages[captured[value]] = None
                else:
                    required_storages[captured[value]] = None
    captured_outputs = [captured[value] for value in outputs if value in captured]
    required_storages.update((storage, None) for storage in captured_outputs if storage not in assigned_storages)
    return tuple(required_storages), tuple(storage for storage in assigned_storages if storage not in required_storages)


def _missing_feed_message(value: Value) -> str:
    """Return the message for a placeholder that is not fed."""
    shape = value.type.shape  # type: ignore[union-attr]
    sizes = "<unknown>" if shape is None else ",".join(str(size) if isinstance(size, int) else "?" for size in shape)
    return (
        f"You must feed a value for placeholder tensor '{value.name}' with dtype {value.dtype.name} and shape "
        f"[{sizes}]: session.run(…, feed_dict={{{value.name}: …}})"
    )
