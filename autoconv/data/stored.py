"""Elements cached in a file: arrays in NumPy's own format, in sequence, written when a pass is complete.

Strings are stored as their lengths and their bytes. Nothing in the file is code: reading never unpickles.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np

from autoconv.data.elements import spec_leaves
from autoconv.data.nodes import Bindings, Element, Node
from autoconv.errors import DataLossError
from autoconv.runtime.support.shape import TensorSpec


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
            yield from self._read()
            return
        unfinished = f"{self.path}.{os.getpid()}.{id(bindings)}.unfinished"
        try:
            with open(unfinished, "wb") as file:
                _write(file, _head(self.spec))
                for element in self.inputs[0].iterate(bindings):
                    for leaf in element:
                        _write(file, leaf)
                    yield element
            os.replace(unfinished, self.path)
        finally:
            if os.path.exists(unfinished):
                os.remove(unfinished)

    def count(self, bindings: Bindings) -> int:
        return self.inputs[0].count(bindings)

    def _read(self) -> Iterator[Element]:
        leaves = spec_leaves(self.spec)
        with open(self.path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            try:
                if _read(file, True).tolist() != _head(self.spec).tolist():
                    raise DataLossError(f"{self.path} does not hold elements of {self.spec}; remove the file")
                while file.tell() < size:
                    yield [_read(file, leaf.dtype.is_string) for leaf in leaves]
            except (ValueError, EOFError, TypeError) as error:
                raise DataLossError(f"{self.path} is not a file of elements, or is damaged: {error}") from None


def _head(spec: Any) -> np.ndarray:
    kinds = ";".join(str(leaf.type) for leaf in spec_leaves(spec))
    result: np.ndarray = np.empty((), object)
    result[()] = f"autoconv elements 1: {kinds}".encode()
    return result


def _write(file: IO[bytes], leaf: Any) -> None:
    array = np.asarray(leaf)
    if array.dtype == object:
        texts: Sequence[bytes] = list(array.flat)
        _save(file, np.array(array.shape, np.int64))
        _save(file, np.array([len(text) for text in texts], np.int64))
        array = np.frombuffer(b"".join(texts), np.uint8)
    _save(file, array)


def _save(file: IO[bytes], array: np.ndarray) -> None:
    np.lib.format.write_array(file, array, allow_pickle=False)


def _read(file: IO[bytes], text: bool) -> np.ndarray:
    array: np.ndarray = np.lib.format.read_array(file, allow_pickle=False)
    if not text:
        return array
    shape, ends = tuple(array.tolist()), np.cumsum(_read(file, False))
    data = _read(file, False).tobytes()
    result: np.ndarray = np.empty(shape, object)
    result.ravel()[:] = [data[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    return result
