"""Reading and writing of files, at once or when the graph runs."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.api.tensors.shaping import reshape
from autoconv.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnknownError,
)
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import string
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.tensors.conversion import constant, convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


def read_file(filename: TensorLike, name: str | None = None) -> Tensor:
    """The bytes of a file as a scalar string tensor, read at once or when the graph runs.

    Raises NotFoundError if there is no file.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "file")
    >>> autoconv.io.write_file(path, b"abc")
    >>> autoconv.io.read_file(path).numpy()
    b'abc'
    """
    path = convert_to_tensor(filename)
    if current_region() is None:
        return constant(_read(path.numpy()))  # type: ignore[attr-defined]
    result: Any = numpy_function(ReadFile(), [path], string)
    return reshape(result, [])


def write_file(filename: TensorLike, contents: TensorLike, name: str | None = None) -> None:
    """Write bytes to a file, at once or when the graph runs. Missing folders are created.

    >>> import tempfile, os
    >>> autoconv.io.write_file(os.path.join(tempfile.mkdtemp(), "new", "file"), b"abc")
    """
    path, contents_tensor = convert_to_tensor(filename), convert_to_tensor(contents)
    if current_region() is None:
        _write(path.numpy(), contents_tensor.numpy())  # type: ignore[attr-defined]
    else:
        numpy_function(WriteFile(), [path, contents_tensor], [])


@attribute_class
@dataclass(frozen=True)
class ReadFile:
    """A function that returns the bytes of a file, called when the graph runs."""

    graphdef_name: ClassVar = "ReadFile"

    def __call__(self, path: Any) -> Any:
        return np.array(_read(path), object)


@attribute_class
@dataclass(frozen=True)
class WriteFile:
    """A function that writes bytes to a file, called when the graph runs."""

    graphdef_name: ClassVar = "WriteFile"

    def __call__(self, path: Any, contents: Any) -> None:
        _write(path, contents)


_ERROR_CLASS_BY_NUMBER: dict[int, type[OpError]] = {  # for the system's error numbers
    **dict.fromkeys((errno.ENOENT,), NotFoundError),
    **dict.fromkeys((errno.EEXIST,), AlreadyExistsError),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), PermissionDeniedError),
    **dict.fromkeys((errno.EISDIR, errno.ENOTDIR, errno.ENOTEMPTY, errno.EBUSY, errno.EXDEV), FailedPreconditionError),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENOMEM), ResourceExhaustedError),
}


@contextmanager
def file_errors(path: str) -> Iterator[None]:
    """Raise the system's errors in the block as the error class of TensorFlow for their `errno`."""
    try:
        yield
    except OSError as error:
        error_class = _ERROR_CLASS_BY_NUMBER.get(error.errno or 0, UnknownError)
        raise error_class(f"{path}; {error.strerror or error}") from None


def _read(path: Any) -> bytes:
    """Return the bytes of a file; the path is an array without dimensions, bytes or a string."""
    name = os.fsdecode(path.item() if isinstance(path, np.ndarray) else path)
    with file_errors(name), open(name, "rb") as file:
        return file.read()


def _write(path: Any, contents: Any) -> None:
    """Write the bytes to a file, and create its folders if they are missing."""
    name = os.fsdecode(path.item() if isinstance(path, np.ndarray) else path)
    folder = os.path.dirname(name) or "."
    with file_errors(name):
        if not os.path.exists(folder):
            os.makedirs(folder)
    with file_errors(name), open(name, "wb") as file:
        file.write(contents.item() if isinstance(contents, np.ndarray) else contents)
