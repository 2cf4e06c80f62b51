"""`load`: restore the objects of a saved folder, without their classes and code."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from autoconv.api.control.module import Module
from autoconv.errors import DataLossError
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording.regions import recording
from autoconv.runtime.tensors.tensor import EagerTensor
from autoconv.saved_model.assets import Asset
from autoconv.saved_model.layout import read_folder
from autoconv.saved_model.loaded_function import LoadedFunction, concrete_function_of
from autoconv.saved_model.options import LoadOptions
from autoconv.saved_model.traces import LoadedTrace, read_graph
from autoconv.storage.arrays import ArrayFile, damage_of_document
from autoconv.storage.files import folder_lock


class LoadedObject(Module):
    """An object of a saved folder: its parts are attributes. It is callable if `__call__` was a saved function.

    The object that was passed to `save` has its signatures by name in `signatures`.

    >>> import tempfile
    >>> module, folder = autoconv.Module(), tempfile.mkdtemp()
    >>> module.parts = [autoconv.Variable(1.0), autoconv.Variable(2.0)]
    >>> autoconv.saved_model.save(module, folder)
    >>> [float(part) for part in autoconv.saved_model.load(folder).parts]
    [1.0, 2.0]
    """

    signatures: Mapping[str, Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        saved_call = self.__dict__.get("__call__")
        if saved_call is None:
            raise TypeError(f"the loaded object {self.__dict__.get('_class_name')!r} has no saved __call__")
        return saved_call(*args, **kwargs)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return dict(self.__dict__["_parts"])


class Signatures(Mapping[str, Any]):
    """The signatures of a loaded object by name, in the order in which they were given."""

    def __init__(self, functions: Mapping[str, Any]) -> None:
        self._functions = dict(functions)

    def __getitem__(self, name: str) -> Any:
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __repr__(self) -> str:
        return f"_SignatureMap({self._functions})"


def load(export_dir: str | os.PathLike[str], tags: Any = None, options: LoadOptions | None = None) -> Any:
    """Return the object that `save` wrote to a folder: its variables, containers and functions.

    Only graphs of the folder are executed, after verification. `tags` are None or ["serve"].
    Raises OSError without a saved object, ValueError for other tags, for a SavedModel of TensorFlow's or of another
    version, and DataLossError for damage.

    >>> import tempfile
    >>> module, folder = autoconv.Module(), tempfile.mkdtemp()
    >>> module.v = autoconv.Variable([1.0, 2.0], name="v")
    >>> autoconv.saved_model.save(module, folder)
    >>> autoconv.saved_model.load(folder).v.numpy()
    array([1., 2.], dtype=float32)
    """
    tags = [tags] if isinstance(tags, str) else tags
    if tags is not None and set(tags) != {"serve"}:
        raise ValueError(
            f"Got an incompatible argument to `tags`: {tags}. The SavedModel at {os.fspath(export_dir)} has one "
            f"MetaGraph with tags ['serve']. You may omit the argument, pass 'None', or pass matching tags."
        )
    with folder_lock(os.fspath(export_dir), shared=True), recording(region=None):
        index, graph_texts, arrays, assets = read_folder(os.fspath(export_dir))
        with damage_of_document(export_dir):
            return Loading(index, graph_texts, arrays, assets, options or LoadOptions()).load_root()


class Loading:
    """The state of one run of `load` or `load_function`; a node is the record of an object in the index."""

    def __init__(
        self, index: Mapping[str, Any], graph_texts: list[str], arrays: ArrayFile, assets: list[str],
        options: LoadOptions,
    ) -> None:  # fmt: skip
        self._index = index
        self._graph_texts = graph_texts
        self._arrays = arrays
        self._assets = assets
        self._options = options
        self._nodes = index["nodes"]
        self._graphs: dict[int, Any] = {}
        self._objects: dict[int, Any] = {}
        self._functions_with_nodes: list[tuple[LoadedFunction, Mapping[str, Any]]] = []

    def load_root(self) -> Any:
        """Create all objects, set their parts and traces, and return the first."""
        for number, node in enumerate(self._nodes):
            if node["kind"] != "tuple":
                self._objects[number] = _LOADERS[node["kind"]](self, node)
        for number, node in enumerate(self._nodes):
            self._set_parts(self._object_at(number), node)
        for loaded_function, node in self._functions_with_nodes:
            loaded_function.traces = [self._read_trace(record) for record in node["traces"]]
        root = self._object_at(0)
        trace_records = self._index["signatures"]
        names = self._index.get("signature_order", sorted(trace_records))
        functions = {name: concrete_function_of(self._read_trace(trace_records[name])) for name in names}
        if isinstance(root, LoadedObject):
            root.__dict__["signatures"] = Signatures(functions)
            if self._options.experimental_load_function_aliases:
                aliases = self._index.get("aliases", {})
                root.__dict__["function_aliases"] = {name: self._objects[number] for name, number in aliases.items()}
        return root

    def _make_variable(self, node: Mapping[str, Any]) -> Variable:
        """Return the variable of a node, with the saved value unless an option leaves it at zero."""
        record = self._arrays.records[node["array"]]
        if self._options.experimental_skip_checkpoint:
            value = np.zeros(record["shape"], self._arrays.read(node["array"]).dtype)
        else:
            value = self._arrays.read(node["array"])
        return Variable(value, trainable=bool(node["trainable"]), name=str(node["name"]), shape=node["shape"])

    def _make_function(self, node: Mapping[str, Any]) -> LoadedFunction:
        """Return the function of a node, whose traces are set later."""
        loaded_function = LoadedFunction(str(node["name"]), node["parameters"], bool(node.get("declared", False)))
        self._functions_with_nodes.append((loaded_function, node))
        return loaded_function

    def _make_object(self, node: Mapping[str, Any]) -> LoadedObject:
        """Return the object of a node, whose parts are set later."""
        result = LoadedObject()
        result.__dict__.update(_class_name=str(node["class"]), _parts={})
        return result

    def _make_asset(self, node: Mapping[str, Any]) -> Asset:
        return Asset(self._assets[node["asset"]])

    def _set_parts(self, value: Any, node: Mapping[str, Any]) -> None:
        """Set the parts of an object; a tuple was created with its parts."""
        if isinstance(value, tuple):
            return
        parts = {str(name): self._object_at(number) for name, number in node["parts"].items()}
        if isinstance(value, LoadedObject):
            value.__dict__.update(parts)
            value.__dict__["_parts"].update(parts)
        elif isinstance(value, dict):
            value.update(parts)
        elif isinstance(value, list):
            value.extend(_sequence_items(parts, node))

    def _object_at(self, number: int, enclosing_tuples: frozenset[int] = frozenset()) -> Any:
        """Return the object of a number. A tuple is created when it is first needed, after its parts."""
        if number not in self._objects:
            if number in enclosing_tuples:
                raise DataLossError("a saved tuple holds itself")
            node, tuples_to_here = self._nodes[number], enclosing_tuples | {number}
            parts = {str(name): self._object_at(part, tuples_to_here) for name, part in node["parts"].items()}
            self._objects[number] = tuple(_sequence_items(parts, node))
        return self._objects[number]

    def _read_trace(self, record: Mapping[str, Any]) -> LoadedTrace:
        """Return the trace of a record in the index."""
        graph_number = record["graph"]
        if graph_number not in self._graphs:
            self._graphs[graph_number] = read_graph(self._graph_texts[graph_number], self._arrays.read)
        captures = [self._read_capture(capture) for capture in record["captures"]]
        return LoadedTrace(record, self._graphs[graph_number], captures)

    def _read_capture(self, record: Mapping[str, Any]) -> Any:
        """Return what a trace captures: a tensor, a variable's storage, or the path of an asset."""
        if "array" in record:
            return EagerTensor(self._arrays.read(record["array"]))
        object_ = self._objects[record["object"]]
        return object_.storage if isinstance(object_, Variable) else object_.asset_path


# By the kind of a node, the function that makes its object, without parts.
_LOADERS: dict[str, Callable[[Loading, Mapping[str, Any]], Any]] = {
    "variable": Loading._make_variable,
    "function": Loading._make_function,
    "object": Loading._make_object,
    "asset": Loading._make_asset,
    "dict": lambda loading, node: {},
    "list": lambda loading, node: [],
}


def _sequence_items(items_by_position: Mapping[str, Any], node: Mapping[str, Any]) -> list[Any]:
    """Return the items of a sequence, given by their positions as text; None for those that were not saved."""
    length = node["length"]
    if not 0 <= length <= _MAX_SEQUENCE_LENGTH:
        raise DataLossError(f"a saved sequence has {length} items")
    return [items_by_position.get(str(position)) for position in range(length)]


_MAX_SEQUENCE_LENGTH = 10**6  # of a saved sequence, in items
