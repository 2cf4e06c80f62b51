"""Meta graphs: graphs of version 1 with their variables, collections and signatures, as data.

A meta graph has the graph as text, JSON values that refer to its values and nodes by name, and arrays. To import a
meta graph, its text is parsed and verified, and its nodes are added to the default graph; nothing is run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.api.control.graph_variable import GraphVariable, declare_storage
from autoconv.api.control.graphs import Graph
from autoconv.compat.v1.operations import Operation, StartOperation
from autoconv.compat.v1.saved_model.signatures import SignatureDef
from autoconv.graph.graph import Graph as RecordedGraph
from autoconv.graph.graph import Value, copy_node
from autoconv.graph.text import to_text
from autoconv.graph.types import ResourceType
from autoconv.runtime.objects.storage import Storage
from autoconv.runtime.recording.name_scopes import current_scope
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor
from autoconv.saved_model.stored_arrays import array_extractor
from autoconv.saved_model.traces import read_graph, refers_to_python
from autoconv.storage.arrays import DocumentFormat, damage_of_document

FORMAT = DocumentFormat("autoconv.meta_graph", version=1, file_kind="file of a meta graph")


class MetaGraphDef:
    """A graph of version 1 as data: `record` has JSON values, `text` the nodes; `read` returns an array by its name.

    >>> with autoconv.Graph().as_default():
    ...     x = autoconv.compat.v1.placeholder(autoconv.float32, [], name="x")
    ...     autoconv.compat.v1.train.export_meta_graph().signature_def
    {}
    """

    def __init__(self, record: Mapping[str, Any], text: str, read: Callable[[str], np.ndarray]) -> None:
        self.record = record
        self.text = text
        self.read = read

    @property
    def signature_def(self) -> dict[str, SignatureDef]:
        """The signatures by name: the names of the tensors that they take and return."""
        return {name: SignatureDef.from_record(record) for name, record in self.record["signatures"].items()}

    @property
    def tags(self) -> list[str]:
        return list(self.record["tags"])


def make_meta_graph(
    graph: Graph, arrays: dict[str, np.ndarray], collections: Sequence[Any] | None = None,
    signatures: Mapping[str, SignatureDef] | None = None, tags: Sequence[str] = (),
    saved_variables: Mapping[str, GraphVariable] | None = None,
) -> MetaGraphDef:  # fmt: skip
    """Return a graph as data; add its arrays to `arrays`.

    `collections` are the names of the collections to keep, by default all. `saved_variables` are the variables of a
    saver by their names in checkpoints. Nodes that refer to Python functions or objects are left out, with the
    nodes that depend on them.
    """
    captured = graph.captured
    part = _storable_part(graph)
    names = {*(value.name for value in part.parameters), *(node.name for node in part.nodes)}
    variables = [item for item in graph.attachments.get("variables", []) if item.assignment.op.name in names]
    variable_numbers = {variable: number for number, variable in enumerate(variables)}
    # Names that stand for several nodes. A StartOperation calls Python, so it is left out.
    operations = {
        name: list(item.control_names) for name, item in graph.attachments.get("operations", {}).items()
        if not isinstance(item, StartOperation) and names.issuperset(item.control_names)
    }  # fmt: skip
    imported = graph.attachments.get("imported", {})  # tensors by their names in an imported GraphDef
    kept_collections = graph.collections if collections is None else collections
    members = {
        name: [_element_record(item, variable_numbers, names, operations) for item in graph.get_collection(name)]
        for name in kept_collections if isinstance(name, str)
    }  # fmt: skip
    record = {
        "captures": {
            value.name: _capture_record(captured[value], arrays) for value in part.parameters if value in captured
        },
        "controls": {name: list(earlier) for name, earlier in graph.recorded.controls.items() if name in names},
        "variables": [_variable_record(variable) for variable in variables],
        "operations": operations,
        "imported": {
            name: _reference(tensor.value_in_graph) for name, tensor in imported.items()
            if isinstance(tensor, SymbolicTensor) and tensor.value_in_graph.name in names
        },
        "collections": [[name, [item for item in items if item is not None]] for name, items in members.items()],
        "signatures": {name: signature.record() for name, signature in (signatures or {}).items()},
        "tags": list(tags),
        "saver": {
            name: variable_numbers[variable] for name, variable in (saved_variables or {}).items()
            if variable in variable_numbers
        },
    }  # fmt: skip
    return MetaGraphDef(record, to_text(part, spans=True, attributes=array_extractor(arrays)), arrays.__getitem__)


def _storable_part(graph: Graph) -> RecordedGraph:
    """Return the graph without the nodes that refer to Python functions or objects, and all that needs them."""
    recorded = graph.recorded
    missing_values = {value for value, object_ in graph.captured.items() if not isinstance(object_, _STORABLE_CAPTURES)}
    part = RecordedGraph(recorded.name, [value for value in recorded.parameters if value not in missing_values])
    missing_names: set[str] = set()
    for node in recorded.nodes:
        inner_nodes = [inner for region in node.regions for inner in region.walk()]
        is_missing = not missing_values.isdisjoint(node.inputs) or any(map(refers_to_python, [node, *inner_nodes]))
        if is_missing or not missing_names.isdisjoint(recorded.controls.get(node.name, ())):
            missing_values.update(node.results)
            missing_names.add(node.name)
        else:
            part.nodes.append(node)
    return part


_STORABLE_CAPTURES = (Storage, EagerTensor, np.ndarray)


def _capture_record(captured: Any, arrays: dict[str, np.ndarray]) -> str | None:
    """Add the array of a captured tensor to `arrays` and return its name; return None for a variable.

    The values of variables are in checkpoints.
    """
    if isinstance(captured, Storage):
        return None
    name = f"capture/{len(arrays)}"
    arrays[name] = np.asarray(getattr(captured, "_array", captured))
    return name


def _variable_record(variable: GraphVariable) -> dict[str, Any]:
    """Return a variable as JSON values that refer to the graph."""
    tensors = variable.initial_value, variable.assignment, variable.snapshot
    return {
        "storage": variable.storage.name,
        "trainable": variable.trainable,
        "tensors": [_reference(tensor.value_in_graph) for tensor in tensors],
    }


def _element_record(
    item: Any, variable_numbers: Mapping[GraphVariable, int], names: set[str], operations: Mapping[str, Any]
) -> Any:
    """Return a member of a collection as JSON values; None for an object that no file can hold."""
    if isinstance(item, GraphVariable):
        return {"variable": variable_numbers[item]} if item in variable_numbers else None
    if isinstance(item, SymbolicTensor):
        value = item.value_in_graph
        return {"tensor": _reference(value)} if value.name in names else None
    if isinstance(item, Operation):
        return {"operation": item.name} if item.name in operations else None
    return {"literal": item} if isinstance(item, (str, int, float, bool)) else None


def _reference(value: Value) -> str:
    """Return the name by which records refer to a value of the graph."""
    return f"{value.name}:{value.index}"


def add_to_graph(
    meta_graph: MetaGraphDef, graph: Graph, scope: str = "", input_map: Mapping[str, Any] | None = None
) -> list[GraphVariable]:
    """Add the nodes, variables, operations and collections of a meta graph to a graph; return the variables.

    Names get the prefix `scope`. `input_map` has tensors that replace placeholders, by their names. Raises
    DataLossError for damage.
    """
    recorded = read_graph(meta_graph.text, meta_graph.read)
    with damage_of_document("a meta graph"):
        return _Importing(meta_graph, recorded, graph, scope, input_map or {}).run()


class _Importing:
    """The state of adding one meta graph to a graph."""

    def __init__(
        self, meta_graph: MetaGraphDef, recorded: Any, graph: Graph, scope: str, input_map: Mapping[str, Any]
    ) -> None:
        self._record, self._read = meta_graph.record, meta_graph.read
        self._recorded, self._graph, self._input_map = recorded, graph, input_map
        self._prefix = current_scope() + (f"{scope.rstrip('/')}/" if scope else "")
        self._values: dict[Value, Value] = {}  # in the meta graph -> in the graph
        self._storages: dict[str, Storage] = {}  # of variables, by the names of their parameters in the meta graph
        self._names: dict[str, str] = {}  # of nodes and operations: in the meta graph -> in the graph

    def run(self) -> list[GraphVariable]:
        """Add all parts; return the variables."""
        target = self._graph.recorded
        for parameter in self._recorded.parameters:
            self._values[parameter] = self._parameter_in_graph(parameter)
        for node in self._recorded.nodes:
            old_name, node.name = node.name, self._prefix + node.name
            copy = copy_node(target, node, [self._values[value] for value in node.inputs])
            self._values.update(zip(node.results, copy.results, strict=True))
            self._names[old_name] = copy.name
        for name, earlier in self._record["controls"].items():
            target.controls[self._names[name]] = tuple(self._names[other] for other in earlier)
        tensors = {_reference(value): SymbolicTensor(copy) for value, copy in self._values.items()}
        variables = [self._variable(record, tensors) for record in self._record["variables"]]
        operations = {name: self._operation(name, nodes) for name, nodes in self._record["operations"].items()}
        imported = self._graph.attachments.setdefault("imported", {})
        imported.update({self._prefix + name: tensors[value] for name, value in self._record["imported"].items()})
        elements: dict[str, Any] = {"variable": variables, "tensor": tensors, "operation": operations}
        for collection, members in self._record["collections"]:
            for member in members:
                ((kind, key),) = member.items()
                self._graph.add_to_collection(collection, key if kind == "literal" else elements[kind][key])
        return variables

    def _parameter_in_graph(self, parameter: Value) -> Value:
        """Return the graph's value for a parameter: a variable's storage, a captured tensor, or a placeholder."""
        name = self._prefix + parameter.name
        if parameter.name not in self._record["captures"]:
            replacement = self._input_map.get(f"{parameter.name}:0", self._input_map.get(parameter.name))
            if replacement is not None:
                return replacement.value_in_graph
            return self._graph.recorded.add_parameter(parameter.type, name)
        if isinstance(parameter.type, ResourceType):
            element_type: Any = parameter.type.value
            storage = declare_storage(self._graph, element_type.dtype, element_type.shape, name)
            self._storages[parameter.name] = storage
            return self._graph.root.trace.capture(storage, storage.type, name)
        tensor = EagerTensor(self._read(self._record["captures"][parameter.name]))
        return self._graph.root.trace.capture(tensor, parameter.type, name)

    def _variable(self, record: Mapping[str, Any], tensors: Mapping[str, Any]) -> GraphVariable:
        initial_value, assignment, snapshot = (tensors[reference] for reference in record["tensors"])
        storage = self._storages[record["storage"]]
        return GraphVariable.from_graph(
            self._graph, storage, bool(record["trainable"]), (initial_value, assignment, snapshot)
        )

    def _operation(self, name: str, control_names: Sequence[str]) -> Operation:
        return Operation(self._prefix + name, self._graph, [self._names[other] for other in control_names])


def export_graph(
    graph: Graph, path: str | os.PathLike[str] | None, collections: Sequence[Any] | None,
    saved_variables: Mapping[str, GraphVariable],
) -> MetaGraphDef:  # fmt: skip
    """Return a graph as data; write it, if a path is given, to one safetensors file with the text in its head."""
    arrays: dict[str, np.ndarray] = {}
    meta_graph = make_meta_graph(graph, arrays, collections, saved_variables=saved_variables)
    if path:
        FORMAT.write(path, arrays, {"graph": meta_graph.text, "record": meta_graph.record})
    return meta_graph


def read_meta_graph(path: str | os.PathLike[str]) -> MetaGraphDef:
    """Return the meta graph of a file.

    Raises OSError without the file, ValueError for another version, and DataLossError for a file that
    is damaged or holds no meta graph.
    """
    name = os.fspath(path)
    if not os.path.isfile(name):
        raise OSError(f"File {name} does not exist.")
    content, arrays = FORMAT.open(name)
    with damage_of_document(name):
        return MetaGraphDef(content["record"], content["graph"], arrays.read)
