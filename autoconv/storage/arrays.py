"""Named arrays in one safetensors file, with records that describe and check them.

safetensors has no complex numbers, no text, and no checksums; NumPy has no bfloat16 for it to return. So every array
is stored as plain numbers, and its record holds the dtype, the shape and a checksum of the stored bytes.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypedDict

import numpy as np

from autoconv.errors import DataLossError, NotFoundError
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.storage.files import replacing

_LENGTHS = ".lengths"  # suffix of the array with the lengths of an array of text


class ArrayRecord(TypedDict):
    """The index entry of one array: the name of its dtype, its shape, and the CRC-32 of its stored bytes."""

    dtype: str
    shape: list[int]
    checksum: int


def write_arrays(
    path: str,
    arrays: Mapping[str, np.ndarray],
    metadata_of: Callable[[Mapping[str, ArrayRecord]], dict[str, str]] = lambda records: {},
) -> dict[str, ArrayRecord]:
    """Write the arrays to a safetensors file, completely or not at all; return their records.

    The arrays have any memory order, and numbers, bools or text (bytes objects). `metadata_of` returns texts for the
    head of the file. Raises TypeError for other dtypes, OSError where the file cannot be written, and ImportError
    without the package safetensors.
    """
    library = _import_safetensors()
    stored_arrays: dict[str, np.ndarray] = {}
    records: dict[str, ArrayRecord] = {}
    for name, array in arrays.items():
        dtype = as_dtype(array.dtype)
        parts = _encode_array(name, array, dtype)
        stored_arrays.update(parts)
        records[name] = {"dtype": dtype.name, "shape": list(array.shape), "checksum": _checksum(*parts.values())}
    with replacing(path) as temporary:
        try:
            library.numpy.save_file(stored_arrays, temporary, metadata_of(records))
        except library.SafetensorError as error:
            match = re.search(r"os error (\d+)", str(error))
            raise (OSError(int(match[1]), os.strerror(int(match[1]))) if match else error) from None
    return records


class ArrayFile:
    """The arrays of a file that `write_arrays` wrote; each is read and checked at its first access.

    The file stays open from `open_if_present` or the first access on: a writer may delete it while its arrays are still
    needed.
    """

    def __init__(self, path: str, records: Mapping[str, ArrayRecord] | None = None) -> None:
        self.path = path
        self.records: Mapping[str, ArrayRecord] = {} if records is None else records
        self._file: Any = None

    def metadata(self) -> dict[str, str]:
        """Return the texts at the head of the file; raises NotFoundError and DataLossError as `read`."""
        file = self._open_file("head")
        with _damage_as_data_loss(self.path, "head"):
            return dict(file.metadata() or {})

    def open_if_present(self) -> bool:
        """Open the file; return False if there is none. Damage is reported where an array is read."""
        with contextlib.suppress(DataLossError):
            try:
                self._open_file("head")
            except NotFoundError:
                return False
        return True

    def read(self, name: str) -> np.ndarray:
        """Return an array; raises NotFoundError for an unknown name, DataLossError for damage of any kind."""
        record = self.records.get(name)
        if record is None:
            raise NotFoundError(f"Key {name} not found in {self.path}.")
        dtype = as_dtype(record["dtype"])
        names = [name, name + _LENGTHS] if dtype.is_string else [name]
        parts = [self._read_stored(part) for part in names]
        if _checksum(*parts) != record["checksum"]:
            raise DataLossError(f"{self.path} is damaged: the checksum of {name} differs from its numbers.")
        try:
            return _decode_array(parts, dtype, tuple(record["shape"]))
        except ValueError as error:
            raise DataLossError(f"{self.path} is damaged: {name}: {error}") from None

    def _read_stored(self, name: str) -> np.ndarray:
        file = self._open_file(name)
        with _damage_as_data_loss(self.path, name):
            return np.asarray(file.get_tensor(name))

    def _open_file(self, part: str) -> Any:
        if self._file is None:
            self._file = _open_safetensors(self.path, part)
        return self._file


def _open_safetensors(path: str, part: str = "head") -> Any:
    """Return a safetensors file; an error of the library is a DataLossError for the part."""
    library = _import_safetensors()
    if not os.path.isfile(path):
        raise NotFoundError(f"{path}: there is no such file.")
    with _damage_as_data_loss(path, part):
        return library.safe_open(path, framework="numpy")


@contextlib.contextmanager
def _damage_as_data_loss(path: str, part: str) -> Iterator[None]:
    """Turn an exception of the library in the block into a DataLossError for the part."""
    try:
        yield
    except Exception as error:  # the library raises several classes of its own, all of them for damage
        raise DataLossError(f"{path} is damaged: {part}: {error}") from None


def _encode_array(name: str, array: np.ndarray, dtype: DType) -> dict[str, np.ndarray]:
    """Return the stored form of an array, by name: contiguous arrays of dtypes that safetensors has."""
    if dtype.is_string:
        texts = [bytes(text) for text in array.ravel()]
        lengths = np.array([len(text) for text in texts], np.int64)
        return {name: np.frombuffer(b"".join(texts), np.uint8), name + _LENGTHS: lengths}
    array = np.ascontiguousarray(array)
    if dtype.is_complex:
        return {name: array.reshape(-1).view(array.real.dtype)}
    if dtype.name not in _SAFETENSORS_DTYPES:
        array = array.view(f"u{array.dtype.itemsize}")
    return {name: array.reshape(-1)}


_SAFETENSORS_DTYPES = {
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
}  # fmt: skip


def _decode_array(parts: list[np.ndarray], dtype: DType, shape: tuple[int, ...]) -> np.ndarray:
    if dtype.is_string:
        texts, lengths = parts
        end_positions = np.cumsum(lengths)
        data = texts.tobytes()
        has_other_size = bool(end_positions.size) and end_positions[-1] != len(data)
        if lengths.size != math.prod(shape) or (lengths < 0).any() or has_other_size:
            raise ValueError("the lengths of its texts do not fit")
        result = np.empty(lengths.size, object)
        result[:] = [data[end - length : end] for end, length in zip(end_positions, lengths, strict=True)]
        return result.reshape(shape)
    return parts[0].view(dtype.numpy).reshape(shape)


def _checksum(*parts: np.ndarray) -> int:
    checksum = 0
    for part in parts:
        checksum = zlib.crc32(np.ascontiguousarray(part).view(np.uint8).data, checksum)
    return checksum


def _import_safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError:
        raise ImportError(
            "saving and loading arrays needs the package safetensors: pip install 'autoconv[train]'"
        ) from None
    return safetensors
