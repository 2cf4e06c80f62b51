"""Elements stored in files, for a cache or in a folder with their spec: a sequence of arrays in NumPy's own format.

A file takes its name when a pass is complete; the index of a folder, with the spec of an element as JSON, comes last.
Strings are stored as their lengths and their bytes. Nothing in the file is code: reading never unpickles.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np

from autoconv.api.ragged.tensor import RaggedTensorSpec
from autoconv.api.sparse.tensor import SparseTensorSpec
from autoconv.data.elements import spec_leaves
from autoconv.data.nodes import Bindings, Element, Node
from autoconv.errors import DataLossError
from autoconv.graph.dtypes import as_dtype
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.structure import flatten
from autoconv.storage.files import read_json, replacing, write_json

_INDEX, _ELEMENTS = "dataset.json", "elements"


class FileCache(Node):
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
        with replacing(self.path) as unfinished:
            yield from write_through(self.inputs[0].iterate(bindings), self.spec, unfinished)

    def count(self, bindings: Bindings) -> int:
        return self.inputs[0].count(bindings)


class SavedElements(Node):
    """The elements of a folder that `save` wrote. With a spec given, the folder has to have elements of that spec."""

    name = "load"

    def __init__(self, path: Any, element_spec: Any = None) -> None:
        self.path = os.fspath(path)
        index = read_json(os.path.join(self.path, _INDEX), "saved dataset")
        try:
            spec, self.length = _spec_from_json(index["spec"]), int(index["count"])
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise DataLossError(f"{self.path} has no spec of elements that can be read: {error}") from None
        if element_spec is not None and not _is_compatible(spec, element_spec):
            raise ValueError(f"{self.path} has elements of {spec}, not of {element_spec}")
        super().__init__(spec)

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        yield from read_elements(os.path.join(self.path, _ELEMENTS), self.spec)

    def count(self, bindings: Bindings) -> int:
        return self.length


class Snapshot(Node):
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

    def count(self, bindings: Bindings) -> int:
        return self.inputs[0].count(bindings)


def save_while_iterating(node: Node, bindings: Bindings, path: Any) -> Iterator[Element]:
    """Write the elements of a node into a folder while they are iterated over; the index comes last."""
    folder, content = os.fspath(path), _spec_to_json(node.spec)
    os.makedirs(folder, exist_ok=True)
    count = 0
    with replacing(os.path.join(folder, _ELEMENTS)) as temporary:
        for element in write_through(node.iterate(bindings), node.spec, temporary):
            count += 1
            yield element
    write_json(os.path.join(folder, _INDEX), {"spec": content, "count": count})


def _is_compatible(spec: Any, requested: Any) -> bool:
    (leaves, template), (requested_leaves, requested_template) = flatten(spec), flatten(requested)
    return template == requested_template and all(
        b.is_compatible_with(a) for a, b in zip(leaves, requested_leaves, strict=True)
    )


def _spec_to_json(spec: Any) -> Any:
    """Convert the spec of an element to JSON values; raises TypeError for parts that are no tensors."""
    if isinstance(spec, dict):
        return {"dict": [[key, _spec_to_json(part)] for key, part in spec.items()]}
    if isinstance(spec, tuple):
        return {"tuple": [_spec_to_json(part) for part in spec]}
    if isinstance(spec, TensorSpec):
        return {"tensor": [spec.dtype.name, _sizes(spec)]}
    if isinstance(spec, SparseTensorSpec):
        return {"sparse": [spec.dtype.name, _sizes(spec)]}
    if isinstance(spec, RaggedTensorSpec):
        return {"ragged": [spec.dtype.name, _sizes(spec), spec.ragged_rank, spec.row_splits_dtype.name]}
    raise TypeError(f"datasets of tensors, and of tuples and dicts of them, can be saved; found {spec}")


def _sizes(spec: Any) -> Any:
    return None if spec.shape.rank is None else spec.shape.as_list()


def _spec_from_json(content: Any) -> Any:
    ((kind, parts),) = content.items()
    if kind == "dict":
        return {key: _spec_from_json(part) for key, part in parts}
    if kind == "tuple":
        return tuple(map(_spec_from_json, parts))
    dtype, shape, *others = parts
    if kind == "ragged":
        return RaggedTensorSpec(shape, as_dtype(dtype), others[0], as_dtype(others[1]))
    return {"tensor": TensorSpec, "sparse": SparseTensorSpec}[kind](shape, as_dtype(dtype))


def write_through(elements: Iterator[Element], spec: Any, path: str) -> Iterator[Element]:
    """Write elements of the spec into a file while they are iterated over."""
    with open(path, "wb") as file:
        _write_leaf(file, _header(spec))
        for element in elements:
            for leaf in element:
                _write_leaf(file, leaf)
            yield element


def read_elements(path: str, spec: Any) -> Iterator[Element]:
    """Read the elements of a file; raises DataLossError where it is damaged or has elements of another spec."""
    leaves = spec_leaves(spec)
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            if _read_leaf(file, True).tolist() != _header(spec).tolist():
                raise DataLossError(f"{path} does not hold elements of {spec}; remove the file")
            while file.tell() < size:
                yield [_read_leaf(file, leaf.dtype.is_string) for leaf in leaves]
        except (ValueError, EOFError, TypeError) as error:
            raise DataLossError(f"{path} is not a file of elements, or is damaged: {error}") from None


def _header(spec: Any) -> np.ndarray:
    kinds = ";".join(str(leaf.type) for leaf in spec_leaves(spec))
    result: np.ndarray = np.empty((), object)
    result[()] = f"autoconv elements 1: {kinds}".encode()
    return result


def _write_leaf(file: IO[bytes], leaf: Any) -> None:
    array = np.asarray(leaf)
    if array.dtype == object:
        texts: Sequence[bytes] = list(array.flat)
        _write_array(file, np.array(array.shape, np.int64))
        _write_array(file, np.array([len(text) for text in texts], np.int64))
        array = np.frombuffer(b"".join(texts), np.uint8)
    _write_array(file, array)


def _write_array(file: IO[bytes], array: np.ndarray) -> None:
    np.lib.format.write_array(file, array, allow_pickle=False)


def _read_leaf(file: IO[bytes], is_text: bool) -> np.ndarray:
    array: np.ndarray = np.lib.format.read_array(file, allow_pickle=False)
    if not is_text:
        return array
    shape, text_ends = tuple(array.tolist()), np.cumsum(_read_leaf(file, False))
    data = _read_leaf(file, False).tobytes()
    result: np.ndarray = np.empty(shape, object)
    result.ravel()[:] = [data[start:end] for start, end in zip([0, *text_ends[:-1]], text_ends, strict=True)]
    return result
