"""Read checkpoints: those of this package, and TensorFlow's bundles."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from autoconv.errors import DataLossError, NotFoundError
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.storage.arrays import ArrayFile, ArrayRecord
from autoconv.storage.files import read_json
from autoconv.train.bundle import GRAPH_KEY, Bundle, graph_message
from autoconv.train.object_graph import ObjectNode

FORMAT = "autoconv checkpoint"
VERSION = 1  # of the format
INDEX_SUFFIX = ".index.json"  # end of the index's name, after the checkpoint's prefix


class Arrays(Protocol):
    """The arrays of a checkpoint by key: an `ArrayFile`, or a `Bundle` of TensorFlow."""

    @property
    def records(self) -> Mapping[str, ArrayRecord]: ...

    def read(self, name: str) -> np.ndarray: ...


class CheckpointReader:
    """The values of a checkpoint by key; an array is read when it is accessed.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = autoconv.train.Checkpoint(v=autoconv.Variable([1.0, 2.0])).save(folder + "/ckpt")
    >>> reader = autoconv.train.load_checkpoint(path)
    >>> reader.get_variable_to_shape_map()["v/.ATTRIBUTES/VARIABLE_VALUE"]
    [2]
    >>> reader.get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE")
    array([1., 2.], dtype=float32)
    """

    def __init__(self, path: str, nodes: list[ObjectNode], arrays: Arrays) -> None:
        self.path = path
        self.nodes = nodes
        self._arrays = arrays
        # The object graph, which this package's files store beside the arrays, is presented as a value, too.
        self._records = {**arrays.records}
        if nodes and GRAPH_KEY not in self._records:
            self._records[GRAPH_KEY] = {"dtype": "string", "shape": [], "checksum": 0}

    def has_tensor(self, key: str) -> bool:
        return key in self._records

    def get_tensor(self, key: str) -> Any:
        """Return the value: an array, or for a scalar of text the bytes.

        Raises NotFoundError for an unknown key, and DataLossError for a damaged file.
        """
        array = self.get_array(key)
        return array[()] if array.dtype == object and not array.ndim else array

    def get_array(self, key: str) -> np.ndarray:
        """Return the value as an array, also that of a scalar of text."""
        if key == GRAPH_KEY and key in self._records and key not in self._arrays.records:
            return np.array(graph_message(self.nodes), object)
        return self._arrays.read(key)

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Return the shapes of all values, lists of sizes, by key."""
        return {key: list(record["shape"]) for key, record in sorted(self._records.items())}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """Return the dtypes of all values by key."""
        return {key: as_dtype(record["dtype"]) for key, record in sorted(self._records.items())}


def checkpoint_exists(prefix: str) -> bool:
    """Return whether there is a checkpoint, of this package or of TensorFlow, with this prefix.

    >>> autoconv.compat.v1.train.checkpoint_exists("nowhere/model-1")
    False
    """
    return os.path.isfile(prefix + INDEX_SUFFIX) or os.path.isfile(prefix + ".index")


def open_checkpoint(prefix: str) -> CheckpointReader:
    """Return the reader of the checkpoint with this prefix.

    Raises NotFoundError where there is none, and DataLossError for a damaged index or an index of another version.
    """
    if not os.path.isfile(prefix + INDEX_SUFFIX):
        if os.path.isfile(prefix + ".index"):
            bundle = Bundle(prefix)
            return CheckpointReader(prefix, bundle.nodes, bundle)
        raise NotFoundError(
            f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for {prefix}"
        )
    previous_path = None
    while True:
        nodes, arrays = _read_index(prefix)
        # A writer may have replaced the index and deleted the file to which the earlier index refers.
        if arrays.open_if_present() or arrays.path == previous_path:
            return CheckpointReader(prefix, nodes, arrays)
        previous_path = arrays.path


def _read_index(prefix: str) -> tuple[list[ObjectNode], ArrayFile]:
    """Return the object graph, and the file of the arrays, to which an index refers."""
    content = read_json(prefix + INDEX_SUFFIX, "index of a checkpoint")
    if content.get("format") != FORMAT:
        raise DataLossError(f"{prefix}{INDEX_SUFFIX} is no index of a checkpoint.")
    if content.get("version") != VERSION:
        raise DataLossError(
            f"{prefix}{INDEX_SUFFIX} has version {content.get('version')}; this release reads version {VERSION}."
        )
    nodes = [ObjectNode(node["children"], key_by_name=node["values"]) for node in content["nodes"]]
    data_name = content["data"]
    if os.path.basename(data_name) != data_name:  # a path with folders could leave the folder
        raise DataLossError(f"{prefix}{INDEX_SUFFIX} refers to {data_name!r}, which is no file beside it.")
    return nodes, ArrayFile(os.path.join(os.path.dirname(prefix), data_name), content["arrays"])
