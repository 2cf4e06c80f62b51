"""Tensors as bytes: TensorFlow's TensorProto."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph import dtypes
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import DType, as_dtype, string
from autoconv.io.host_function import call_on_host
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.annotations import DTypeLike, TensorLike
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.storage.wire import make_field, parse_fields, read_varint

# Numbers of TensorProto's fields. Values are in `_CONTENT_FIELD`, as raw bytes, or in the field of their dtype.
_DTYPE_FIELD, _SHAPE_FIELD, _CONTENT_FIELD, _STRINGS_FIELD, _HALVES_FIELD = 1, 2, 4, 8, 13
_VALUE_FIELDS = {  # dtype: (field, struct's format of one number, or "" for varints)
    dtypes.float32: (5, "f"), dtypes.float64: (6, "d"), dtypes.complex64: (9, "f"), dtypes.complex128: (12, "d"),
    dtypes.int8: (7, ""), dtypes.int16: (7, ""), dtypes.int32: (7, ""), dtypes.uint8: (7, ""), dtypes.uint16: (7, ""),
    dtypes.int64: (10, ""), dtypes.bool_: (11, ""), dtypes.uint32: (16, ""), dtypes.uint64: (17, ""),
}  # fmt: skip
_MAX_ELEMENTS = 2**40  # a larger shape is taken for damage
_MAX_REPEATED = 2**28  # most elements that are filled by repeating one value


def serialize_tensor(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Return the bytes of a tensor, a scalar string tensor, as TensorFlow writes them.

    >>> autoconv.io.parse_tensor(autoconv.io.serialize_tensor([1, 2]), autoconv.int32).numpy()
    array([1, 2], dtype=int32)
    """
    value = convert_to_tensor(tensor)
    return call_on_host(SerializeTensor(value.dtype), [value], [TensorSpec((), string)])[0]


def parse_tensor(serialized: TensorLike, out_type: DTypeLike, name: str | None = None) -> Tensor:
    """Return the tensor of the bytes that `serialize_tensor` made, here or in TensorFlow.

    Raises InvalidArgumentError for bytes that are no tensor, and for a tensor of another dtype.

    >>> autoconv.io.parse_tensor(autoconv.io.serialize_tensor([[1.5]]), autoconv.float32).numpy()
    array([[1.5]], dtype=float32)
    """
    dtype = as_dtype(out_type)
    return call_on_host(ParseTensor(dtype), [convert_to_tensor(serialized, string)], [TensorSpec(None, dtype)])[0]


@attribute_class
@dataclass(frozen=True)
class SerializeTensor:
    """Write an array of the dtype as a TensorProto."""

    graphdef_name: ClassVar = "SerializeTensor"
    dtype: DType

    def __call__(self, array: np.ndarray) -> bytes:
        array = np.asarray(array)
        # In a TensorShapeProto, field 2 is a dimension, and field 1 of that its size; 0 is not written.
        shape = b"".join(make_field(2, make_field(1, size) if size else b"") for size in array.shape)
        head = make_field(_DTYPE_FIELD, self.dtype.enum) + make_field(_SHAPE_FIELD, shape)
        if self.dtype.is_string:
            return head + b"".join(make_field(_STRINGS_FIELD, bytes(text)) for text in array.ravel())
        content = np.ascontiguousarray(array).tobytes()
        return head + (make_field(_CONTENT_FIELD, content) if content else b"")


@attribute_class
@dataclass(frozen=True)
class ParseTensor:
    """Read an array of the dtype from a TensorProto."""

    graphdef_name: ClassVar = "ParseTensor"
    dtype: DType

    def __call__(self, serialized: np.ndarray) -> np.ndarray:
        proto_bytes = bytes(np.asarray(serialized, object).item())
        try:
            fields = parse_fields(proto_bytes)
            enum = fields.get(_DTYPE_FIELD, [0])[-1]
            shape = tuple(_read_shape(fields.get(_SHAPE_FIELD, [b""])[-1]))
        except (ValueError, IndexError, TypeError, struct.error):
            raise InvalidArgumentError(f"Could not parse `serialized` as TensorProto: {proto_bytes[:40]!r}") from None
        if enum != self.dtype.enum:
            raise InvalidArgumentError(
                f"Type mismatch between parsed tensor ({_dtype_name(enum)}) and dtype ({self.dtype.name})"
            )
        try:
            return self._read_array(fields, shape)
        except (ValueError, IndexError, TypeError, struct.error, OverflowError) as error:
            raise InvalidArgumentError(f"Could not parse `serialized` as TensorProto: {error}") from None

    def _read_array(self, fields: dict[int, list[Any]], shape: tuple[int, ...]) -> np.ndarray:
        """Return the array in the fields of a TensorProto; the last value repeats if there are too few."""
        size = math.prod(shape)
        if self.dtype.is_string:
            texts = np.empty(len(fields.get(_STRINGS_FIELD, [])), object)
            texts[:] = [bytes(text) for text in fields.get(_STRINGS_FIELD, [])]
            return _repeat_last(texts, size, b"").reshape(shape)
        if _CONTENT_FIELD in fields:
            return np.frombuffer(fields[_CONTENT_FIELD][-1], self.dtype.numpy).reshape(shape)
        return _repeat_last(self._read_values(fields), size, 0).reshape(shape)

    def _read_values(self, fields: dict[int, list[Any]]) -> np.ndarray:
        """Return the values of the dtype's field; the field has packed values, or is repeated for each value."""
        if self.dtype not in _VALUE_FIELDS:  # 16-bit floats, as their bits
            bits = [field for part in fields.get(_HALVES_FIELD, []) for field in _varints(part)]
            return np.array(bits, np.uint16).view(self.dtype.numpy)
        field, number_format = _VALUE_FIELDS[self.dtype]
        parts = fields.get(field, [])
        if number_format:
            size = struct.calcsize(number_format)
            packed_parts = (part if isinstance(part, bytes) else part.to_bytes(size, "little") for part in parts)
            return np.frombuffer(b"".join(packed_parts), f"<{number_format}").view(self.dtype.numpy)
        numbers = [value for part in parts for value in _varints(part)]
        return np.array(numbers, np.uint64).astype(self.dtype.numpy)


def _read_shape(message: bytes) -> Iterator[int]:
    """Yield the sizes of a TensorShapeProto; raise ValueError for more than `_MAX_ELEMENTS` elements."""
    size = 1
    for dimension in parse_fields(message).get(2, []):
        dimension_size = parse_fields(dimension).get(1, [0])[-1]
        size *= max(dimension_size, 1)
        if size > _MAX_ELEMENTS:
            raise ValueError(f"a dimension of {dimension_size}")
        yield dimension_size


def _varints(part: int | bytes) -> Iterator[int]:
    """Yield the numbers of a field: one number, or several packed into bytes; as unsigned 64-bit integers."""
    if isinstance(part, int):
        yield part & 0xFFFF_FFFF_FFFF_FFFF
        return
    position = 0
    while position < len(part):
        value, position = read_varint(part, position)
        yield value & 0xFFFF_FFFF_FFFF_FFFF


def _repeat_last(values: np.ndarray, size: int, zero: Any) -> np.ndarray:
    """Extend the values to `size` elements by repeating the last value, or `zero` if there is none."""
    if len(values) == size:
        return values
    if len(values) > size or size > _MAX_REPEATED:
        raise ValueError(f"{len(values)} values for {size} elements")
    last_values = np.full(size - len(values), values[-1] if len(values) else zero, values.dtype)
    return np.concatenate([values, last_values])


def _dtype_name(enum: int) -> str:
    """Return the name of the dtype with that number in TensorFlow's enumeration, for messages."""
    readable_dtypes = (*_VALUE_FIELDS, dtypes.float16, dtypes.bfloat16, string)
    return next((dtype.name for dtype in readable_dtypes if dtype.enum == enum), f"unknown dtype {enum}")
