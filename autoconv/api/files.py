"""Files as ops: their contents are read and written when the graph runs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.api.tensors.shaping import reshape
from autoconv.errors import NotFoundError
from autoconv.graph.attribute_text import attribute_class
from autoconv.graph.dtypes import string
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.tensors.conversion import constant, convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


def read_file(filename: TensorLike, name: str | None = None) -> Tensor:
    """The bytes of a file, a scalar string tensor; raises NotFoundError without the file, in graphs at run time.

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
    """Write bytes to a file, in graphs when they run; folders are made as needed.

    >>> import tempfile, os
    >>> autoconv.io.write_file(os.path.join(tempfile.mkdtemp(), "new", "file"), b"abc")
    """
    path, data = convert_to_tensor(filename), convert_to_tensor(contents)
    if current_region() is None:
        _write(path.numpy(), data.numpy())  # type: ignore[attr-defined]
    else:
        numpy_function(WriteFile(), [path, data], [])


@attribute_class
@dataclass(frozen=True)
class ReadFile:
    """Return the bytes of a file, when the graph runs."""

    graphdef: ClassVar = "ReadFile"

    def __call__(self, path: Any) -> Any:
        return np.array(_read(path), object)


@attribute_class
@dataclass(frozen=True)
class WriteFile:
    """Write bytes to a file, when the graph runs."""

    graphdef: ClassVar = "WriteFile"

    def __call__(self, path: Any, contents: Any) -> None:
        _write(path, contents)


def _read(path: Any) -> bytes:
    name = os.fsdecode(path.item() if isinstance(path, np.ndarray) else path)
    try:
        with open(name, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise NotFoundError(f"{name}; No such file or directory") from None


def _write(path: Any, contents: Any) -> None:
    name = os.fsdecode(path.item() if isinstance(path, np.ndarray) else path)
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "wb") as file:
        file.write(contents.item() if isinstance(contents, np.ndarray) else contents)
