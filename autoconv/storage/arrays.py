"""Named arrays in one safetensors file, with records that describe and check them.

safetensors has no complex numbers, no text, and no checksums, and it cannot return bfloat16 as a dtype of NumPy. So
every array is stored as plain numbers, and its record has the dtype, the shape and a checksum of the stored bytes.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypedDict

import numpy as np

from autoconv.errors import DataLossError, NotFoundError
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.storage.files import document_content, document_text, replacing

_LENGTHS_SUFFIX = ".lengths"  # suffix of the array with the lengths of an array of text


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

    The arrays contain numbers, bools or text (bytes objects), in any memory order. `metadata_of(records)` returns
    texts for the head of the file. Raises TypeError for other dtypes, OSError where the file cannot be written, and
    ImportError without the package safetensors.
    """
    library = _import_safetensors()
    stored_arrays: dict[str, np.ndarray] = {}
    records: dict[str, ArrayRecord] = {}
    for name, array in arrays.items():
        dtype = as_dtype(array.dtype)
        encoded_arrays = _encode_array(name, array, dtype)
        stored_arrays.update(encoded_arrays)
        checksum = _checksum(*encoded_arrays.values())
        records[name] = {"dtype": dtype.name, "shape": list(array.shape), "checksum": checksum}
    with replacing(path) as temporary:
        try:
            library.numpy.save_file(stored_arrays, temporary, metadata_of(records))
        except library.SafetensorError as error:
            system_error = re.search(r"os error (\d+)", str(error))
            if system_error is None:
                raise
            number = int(system_error[1])
            raise OSError(number, os.strerror(number)) from None
    return records


class ArrayFile:
    """The arrays of a file that `write_arrays` wrote; each is read and checked at its first access.

    The file stays open from `open_if_present` or the first access on, so that its arrays can be read after a writer
    has deleted it.
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
        stored_names = [name, name + _LENGTHS_SUFFIX] if dtype.is_string else [name]
        stored_arrays = list(map(self._read_stored, stored_names))
        if _checksum(*stored_arrays) != record["checksum"]:
            raise DataLossError(f"{self.path} is damaged: the checksum of {name} differs from its numbers.")
        try:
            return _decode_array(stored_arrays, dtype, tuple(record["shape"]))
        except ValueError as error:
            raise DataLossError(f"{self.path} is damaged: {name}: {error}") from None

    def _read_stored(self, name: str) -> np.ndarray:
        """Return an array as it is stored, under the name in the file."""
        file = self._open_file(name)
        with _damage_as_data_loss(self.path, name):
            return np.asarray(file.get_tensor(name))

    def _open_file(self, first_read: str) -> Any:
        """Return the open file; `first_read` names, for errors, what is read from it first."""
        if self._file is None:
            self._file = _open_safetensors(self.path, first_read)
        return self._file


class DocumentFormat(NamedTuple):
    """A format of files: arrays, and a document in the head of the file, under the name of the format."""

    name: str
    version: int
    file_kind: str  # a noun phrase for messages, such as "file of a saved function"

    def write(self, path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], content: dict[str, Any]) -> None:
        """Write the arrays and the document, completely or not at all."""

        def make_metadata(records: Mapping[str, ArrayRecord]) -> dict[str, str]:
            return {self.name: document_text({"version": self.version, "arrays": records, **content})}

        write_arrays(os.fspath(path), arrays, make_metadata)

    def open(self, path: str | os.PathLike[str]) -> tuple[dict[str, Any], ArrayFile]:
        """Return the document and the arrays of a file.

        Raises NotFoundError without the file, ValueError for another version, and DataLossError for damage and for
        other files.
        """
        arrays = ArrayFile(os.fspath(path))
        text = arrays.metadata().get(self.name)
        if text is None:
            raise self.other_file(path)
        content = document_content(text, arrays.path, self.file_kind)
        check_version(arrays.path, content.get("version"), self.version)
        with damage_of_document(path):
            arrays.records = content["arrays"]
        return content, arrays

    def other_file(self, path: str | os.PathLike[str]) -> DataLossError:
        """Return the error for a file of another kind."""
        return DataLossError(f"{os.fspath(path)} is no {self.file_kind}.")


def check_version(path: str, saved_version: object, version: int) -> None:
    """Raise ValueError if what was saved at `path` is of another version of the format."""
    if saved_version != version:
        raise ValueError(f"{path} was saved in version {saved_version} of the format; this is {version}.")


@contextlib.contextmanager
def damage_of_document(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an exception for a document without the expected content into a DataLossError."""
    try:
        yield
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise DataLossError(f"{os.fspath(path)} is damaged: {error!r}") from None


def _open_safetensors(path: str, first_read: str) -> Any:
    """Open a safetensors file; raises NotFoundError, or DataLossError that names what is read from it first."""
    library = _import_safetensors()
    if not os.path.isfile(path):
        raise NotFoundError(f"{path}: there is no such file.")
    with _damage_as_data_loss(path, first_read):
        return library.safe_open(path, framework="numpy")


@contextlib.contextmanager
def _damage_as_data_loss(path: str, damaged_name: str) -> Iterator[None]:
    """Turn an exception of the library in the `with` block into a DataLossError that names an array or the head."""
    try:
        yield
    except Exception as error:  # the library raises several classes of its own, all of them for damage
        raise DataLossError(f"{path} is damaged: {damaged_name}: {error}") from None


def _encode_array(name: str, array: np.ndarray, dtype: DType) -> dict[str, np.ndarray]:
    """Return the contiguous arrays, by names in the file, that store an array: in dtypes that safetensors has."""
    if dtype.is_string:
        texts = [bytes(text) for text in array.ravel()]
        lengths = np.array([len(text) for text in texts], np.int64)
        return {name: np.frombuffer(b"".join(texts), np.uint8), name + _LENGTHS_SUFFIX: lengths}
    array = np.ascontiguousarray(array)
    if dtype.is_complex:
        return {name: array.reshape(-1).view(array.real.dtype)}
    if dtype.name not in _SAFETENSORS_DTYPES:
        array = array.view(f"u{array.dtype.itemsize}")
    return {name: array.reshape(-1)}


_SAFETENSORS_DTYPES = {
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
}  # fmt: skip


def _decode_array(stored_arrays: list[np.ndarray], dtype: DType, shape: tuple[int, ...]) -> np.ndarray:
    """Return the array that `_encode_array` stored; raises ValueError where sizes do not fit."""
    if dtype.is_string:
        characters, lengths = stored_arrays
        end_positions = np.cumsum(lengths)
        data = characters.tobytes()
        has_other_size = bool(end_positions.size) and end_positions[-1] != len(data)
        if lengths.size != math.prod(shape) or (lengths < 0).any() or has_other_size:
            raise ValueError("the lengths of its texts do not fit")
        result = np.empty(lengths.size, object)
        result[:] = [data[end - length : end] for end, length in zip(end_positions, lengths, strict=True)]
        return result.reshape(shape)
    (numbers,) = stored_arrays
    return numbers.view(dtype.numpy).reshape(shape)


def _checksum(*stored_arrays: np.ndarray) -> int:
    """Return the CRC-32 of the bytes of the arrays, one after another."""
    checksum = 0
    for array in stored_arrays:
        checksum = zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data, checksum)
    return checksum


def _import_safetensors() -> Any:
    """Return the package safetensors; raise ImportError with the command that installs it."""
    try:
        import safetensors.numpy
    except ImportError:
        raise ImportError(
            "saving and loading arrays needs the package safetensors: pip install 'autoconv[train]'"
        ) from None
    return safetensors
