"""ONNX models as functions, run by ONNX Runtime."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping
from importlib import import_module
from os import fspath
from pathlib import Path
from typing import Any

import numpy as np

from autoconv.backends.onnx.model import COMPLEX_KEY, ERROR_OUTPUT
from autoconv.errors import AutoconvError, InvalidArgumentError
from autoconv.graph.dtypes import bfloat16
from autoconv.onnx.checksum import check_checksum
from autoconv.runtime.annotations import TensorLike


def load(model: Any) -> Model:
    """Return an ONNX model, a path, bytes or a ModelProto, as a callable that ONNX Runtime runs.

    Raises AutoconvError where onnxruntime is missing or refuses the model, and DataLossError for a file of `export`
    that is damaged.

    >>> double = autoconv.onnx.export(lambda x: x * 2.0, autoconv.TensorSpec([None], autoconv.float32))
    >>> autoconv.onnx.load(double)(np.float32([1.0, 2.0]))
    array([2., 4.], dtype=float32)
    """
    try:
        runtime = import_module("onnxruntime")
    except ImportError:
        raise AutoconvError("the package onnxruntime is not installed", remedy="pip install 'autoconv[onnx]'") from None
    path_or_bytes = model if isinstance(model, bytes) else None
    if path_or_bytes is None:
        path_or_bytes = model.SerializeToString() if hasattr(model, "SerializeToString") else fspath(model)
    if isinstance(path_or_bytes, str):
        try:
            check_checksum(Path(path_or_bytes).read_bytes(), path_or_bytes)
        except OSError as error:
            raise AutoconvError(f"the model {path_or_bytes!r} cannot be read: {error.strerror}") from None
    try:
        session = runtime.InferenceSession(path_or_bytes, providers=runtime.get_available_providers())
    except Exception as error:  # the runtime's classes differ from release to release
        raise AutoconvError(f"ONNX Runtime refuses the model: {error}") from None
    return Model(session)


class Model:
    """An ONNX model as a function of arrays, by position or by the inputs' names.

    A call returns an array, or a tuple of arrays where the model has several outputs. The error output of models that
    `export` made is checked, and not returned. These models have complex numbers as pairs of parts along a further last
    dimension; a call takes and returns complex arrays for them.

    >>> model = autoconv.onnx.load(autoconv.onnx.export(lambda x: x + 1.0, autoconv.TensorSpec([], autoconv.float32)))
    >>> model.inputs, model(np.float32(2.0))
    (['x'], array(3., dtype=float32))
    """

    def __init__(self, session: Any) -> None:
        self._session = session
        self._types = {value.name: value.type for value in (*session.get_inputs(), *session.get_outputs())}
        metadata = session.get_modelmeta().custom_metadata_map
        self._complex_names = frozenset(metadata.get(COMPLEX_KEY, "").split())
        self.inputs = [value.name for value in session.get_inputs()]
        self.outputs = [value.name for value in session.get_outputs()]

    def __call__(self, *arguments: TensorLike, **named_arguments: TensorLike) -> Any:
        if len(arguments) > len(self.inputs):
            raise TypeError(f"the model takes {len(self.inputs)} arguments, found {len(arguments)}")
        feeds: dict[str, Any] = dict(zip(self.inputs, arguments, strict=False))
        for name, value in named_arguments.items():
            if name not in self.inputs or name in feeds:
                raise TypeError(f"the model takes {', '.join(self.inputs)} once each, found another {name!r}")
            feeds[name] = value
        missing_names = [name for name in self.inputs if name not in feeds]
        if missing_names:
            raise TypeError(f"the model lacks its argument {missing_names[0]!r}")
        feeds = {name: self._as_input(name, value) for name, value in feeds.items()}
        try:
            outputs = self._run(feeds)
        except Exception as error:
            raise InvalidArgumentError(f"ONNX Runtime: {error}") from None
        results = dict(zip(self.outputs, outputs, strict=True))
        self._raise_error_output(results)
        for name in self._complex_names.intersection(results):
            results[name] = results[name].view(np.result_type(results[name].dtype, np.complex64))[..., 0]
        values = [value for name, value in results.items() if name != ERROR_OUTPUT]
        return values[0] if len(values) == 1 else tuple(values)

    def _as_input(self, name: str, value: object) -> np.ndarray | list[np.ndarray]:
        """Return a tensor, or another value, as the input `name`: an array, or a list of arrays."""
        type_ = self._types[name]
        if type_.startswith("seq("):  # such as "seq(tensor(float))"
            items = value if isinstance(value, (list, tuple)) else [value]
            return [_as_model_array(item, type_.removeprefix("seq(")[:-1]) for item in items]
        array = _as_model_array(value, type_)
        return np.stack([array.real, array.imag], -1) if name in self._complex_names else array

    def _run(self, feeds: Mapping[str, Any]) -> list[Any]:
        """Return the outputs for the inputs in `feeds` as arrays; bfloat16 needs ONNX Runtime's own class of values."""
        if _BFLOAT16 not in self._types.values():
            return list(self._session.run(None, feeds))
        value_class = import_module("onnxruntime").OrtValue
        arguments = {}
        for name, value in feeds.items():
            if self._types[name] == _BFLOAT16:
                bits = np.ascontiguousarray(value).view(np.uint16)
                arguments[name] = value_class.ortvalue_from_numpy_with_onnx_type(bits, _BFLOAT16_NUMBER)
            else:
                arguments[name] = value_class.ortvalue_from_numpy(value)
        return [_as_array(value) for value in self._session.run_with_ort_values(None, arguments)]

    def _raise_error_output(self, results: Mapping[str, Any]) -> None:
        """Raise InvalidArgumentError if the error output has the number of a place that failed."""
        number = int(results.get(ERROR_OUTPUT, 0))
        if number:
            places = self._session.get_modelmeta().custom_metadata_map
            raise InvalidArgumentError(f"the model failed in {places.get(f'place_{number}', f'place {number}')}")


_TEXT, _NUMBER_TYPES = "tensor(string)", {"tensor(float)": "float32", "tensor(double)": "float64"}


def _as_model_array(value: object, type_: str) -> np.ndarray:
    """Return a value as an array: numbers and lists of Python with the model's dtype, bytes as text."""
    array = np.asarray(getattr(value, "_array", value))
    if type_ == _TEXT and array.dtype.kind in "OS":
        return np.array([_as_text(item) for item in array.ravel()], object).reshape(array.shape)
    is_plain = isinstance(value, (bool, int, float, list, tuple)) and array.dtype.kind in "biuf"
    if is_plain and type_ not in (_TEXT, _BFLOAT16):
        dtype = np.dtype(_NUMBER_TYPES.get(type_, type_.removeprefix("tensor(").removesuffix(")")))
        with np.errstate(invalid="ignore"):
            converted = array.astype(dtype)
        return converted if dtype.kind == "f" or np.array_equal(converted, array) else array
    return array


def _as_text(item: object) -> object:
    """Return bytes in UTF-8 as a str, and other items as they are: ONNX Runtime would take the repr of bytes.

    Raises InvalidArgumentError for bytes that are not UTF-8.
    """
    if not isinstance(item, bytes):
        return item
    try:
        return item.decode()
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"ONNX has no text of bytes that are not UTF-8, found {item!r}: {error}") from None


_BFLOAT16, _BFLOAT16_NUMBER = "tensor(bfloat16)", 16  # the type in models, and its number in ONNX's protocol buffers


def _as_array(value: Any) -> Any:
    """Convert a value of ONNX Runtime to an array; its own conversion lacks bfloat16."""
    if value.data_type() != _BFLOAT16:
        return value.numpy()
    shape = tuple(value.shape())
    memory = (ctypes.c_uint16 * math.prod(shape)).from_address(value.data_ptr())
    return np.array(memory, np.uint16).view(bfloat16.numpy).reshape(shape)
