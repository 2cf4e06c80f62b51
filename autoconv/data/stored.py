"""Elements stored in files, for a cache or in a folder with their spec.

A file has a temporary name until a pass is complete. The index of a folder is written last: it has the spec of an
element as JSON, and names the file. After an interruption the folder therefore holds the old elements or the new ones.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from typing import Any

from autoconv.api.ragged.tensor import RaggedTensorSpec
from autoconv.api.sparse.tensor import SparseTensorSpec
from autoconv.data.element_file import read_elements, write_while_iterating
from autoconv.data.elements import spec_leaves
from autoconv.data.nodes import Bindings, CountPreservingNode, Element, Node
from autoconv.errors import DataLossError, NotFoundError
from autoconv.graph.dtypes import as_dtype
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.structure import flatten
from autoconv.storage.files import read_json, replacing, write_json

_INDEX = "dataset.json"  # name of the index in a folder
_ELEMENTS = "elements"  # start of the name of the file of elements, before a random suffix


class FileCache(CountPreservingNode):
    """The same elements, read from a file if it exists; otherwise the first complete pass writes it."""

    name = "cache"

    def __init__(self, source: Node, path: Any) -> None:
        self.path = os.fspath(path)
        for leaf in spec_leaves(source.spec):
            if not isinstance(leaf, TensorSpec):
                raise TypeError(f"a file keeps elements made of tensors, found {leaf}")
        super().__init__(source.spec, [source])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        if os.path.exists(self.path):
            yield from read_elements(self.path, self.spec)
            return
        with replacing(self.path) as temporary_path:
            yield from write_while_iterating(self.inputs[0].iterate(bindings), self.spec, temporary_path)


class SavedElements(Node):
    """The elements of a folder that `save` wrote; raises ValueError if they do not fit a given `element_spec`."""

    name = "load"

    def __init__(self, path: Any, element_spec: Any = None) -> None:
        self.path = os.fspath(path)
        index = read_json(os.path.join(self.path, _INDEX), "saved dataset")
        try:
            spec, self.length = _spec_from_json(index["spec"]), int(index["count"])
            self._element_path = os.path.join(self.path, os.path.basename(index["file"]))
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise DataLossError(f"{self.path} has no spec of elements that can be read: {error}") from None
        if element_spec is not None and not _is_compatible(spec, element_spec):
            raise ValueError(f"{self.path} has elements of {spec}, not of {element_spec}")
        super().__init__(spec)

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        yield from read_elements(self._element_path, self.spec)

    def count(self, bindings: Bindings) -> int:
        return self.length


class Snapshot(CountPreservingNode):
    """The same elements, read from a folder if they are saved there; otherwise the first complete pass saves them."""

    name = "snapshot"

    def __init__(self, source: Node, path: Any) -> None:
        self.path = os.fspath(path)
        super().__init__(source.spec, [source])

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        if os.path.exists(os.path.join(self.path, _INDEX)):
            yield from SavedElements(self.path, self.spec).iterate(bindings)
        else:
            yield from save_while_iterating(self.inputs[0], bindings, self.path)


def save_while_iterating(node: Node, bindings: Bindings, path: Any) -> Iterator[Element]:
    """Write the elements of a node into a folder while they are iterated over; the index comes last."""
    folder, spec_content = os.fspath(path), _spec_to_json(node.spec)
    os.makedirs(folder, exist_ok=True)
    count, file_name, old_file = 0, f"{_ELEMENTS}.{secrets.token_hex(4)}", _file_in_index(folder)
    try:
        with replacing(os.path.join(folder, file_name)) as temporary_path:
            for element in write_while_iterating(node.iterate(bindings), node.spec, temporary_path):
                count += 1
                yield element
        write_json(os.path.join(folder, _INDEX), {"spec": spec_content, "count": count, "file": file_name})
    finally:  # also after an interruption, the index tells which file has the elements
        for unused_file in {old_file, file_name} - {None, _file_in_index(folder)}:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, str(unused_file)))


def _file_in_index(folder: str) -> str | None:
    """Return the name of the file that a folder's index names, or None without an undamaged index."""
    try:
        name = read_json(os.path.join(folder, _INDEX), "saved dataset").get("file")
    except (NotFoundError, DataLossError):
        return None
    return os.path.basename(name) if isinstance(name, str) else None


def _is_compatible(spec: Any, requested_spec: Any) -> bool:
    """Return whether elements of `spec` fit the requested spec."""
    (leaves, template), (requested_leaves, requested_template) = flatten(spec), flatten(requested_spec)
    return template == requested_template and all(
        requested_leaf.is_compatible_with(leaf) for leaf, requested_leaf in zip(leaves, requested_leaves, strict=True)
    )


def _spec_to_json(spec: Any) -> Any:
    """Convert the spec of an element to JSON values; raise TypeError for other components than tensors."""
    if isinstance(spec, dict):
        return {"dict": [[key, _spec_to_json(part)] for key, part in spec.items()]}
    if isinstance(spec, tuple):
        return {"tuple": [_spec_to_json(part) for part in spec]}
    if isinstance(spec, TensorSpec):
        return {"tensor": [spec.dtype.name, _shape_to_json(spec)]}
    if isinstance(spec, SparseTensorSpec):
        return {"sparse": [spec.dtype.name, _shape_to_json(spec)]}
    if isinstance(spec, RaggedTensorSpec):
        return {"ragged": [spec.dtype.name, _shape_to_json(spec), spec.ragged_rank, spec.row_splits_dtype.name]}
    raise TypeError(f"datasets of tensors, and of tuples and dicts of them, can be saved; found {spec}")


def _shape_to_json(spec: Any) -> Any:
    """Return the sizes of a spec, None for an open size and for an unknown rank."""
    return None if spec.shape.rank is None else spec.shape.as_list()


def _spec_from_json(content: Any) -> Any:
    """Return the spec that `_spec_to_json` converted; raises various errors for other content."""
    ((tag, fields),) = content.items()
    if tag == "dict":
        return {key: _spec_from_json(field_spec) for key, field_spec in fields}
    if tag == "tuple":
        return tuple(map(_spec_from_json, fields))
    dtype, shape, *ragged_attributes = fields
    if tag == "ragged":
        return RaggedTensorSpec(shape, as_dtype(dtype), ragged_attributes[0], as_dtype(ragged_attributes[1]))
    return {"tensor": TensorSpec, "sparse": SparseTensorSpec}[tag](shape, as_dtype(dtype))
