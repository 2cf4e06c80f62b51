"""Tensors as protocol buffers, whose classes come from the package tensorboard."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, as_dtype, string
from autoconv.graph.graphdef_protobuf import protobuf_classes
from autoconv.io.tensor_records import ParseTensor, SerializeTensor
from autoconv.runtime.annotations import DTypeLike
from autoconv.runtime.tensors.conversion import to_array

# The field of the values by dtype, unless they are written as raw bytes.
_VALUE_FIELDS = {
    "float32": "float_val", "float64": "double_val", "int64": "int64_val", "bool": "bool_val", "uint32": "uint32_val",
    "uint64": "uint64_val", "complex64": "scomplex_val", "complex128": "dcomplex_val",
    **dict.fromkeys(("int8", "int16", "int32", "uint8", "uint16"), "int_val"),
}  # fmt: skip


def make_tensor_proto(
    values: Any, dtype: DTypeLike | None = None, shape: Sequence[int] | None = None, verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> Any:  # fmt: skip
    """Return values as a TensorProto of a shape, by default their own.

    Raises ValueError for more elements than `shape` has. Raises TypeError for another shape with `verify_shape`, and
    for another number of elements with `allow_broadcast`. A number, or a vector of one element, always fits with
    `allow_broadcast`.

    >>> autoconv.make_tensor_proto(2.5).float_val
    [2.5]
    """
    array = to_array(values, None if dtype is None else as_dtype(dtype))
    element_dtype: DType = string if array.dtype == object else as_dtype(array.dtype)
    sizes = array.shape if shape is None else tuple(map(int, shape))
    count = math.prod(sizes)
    may_broadcast = allow_broadcast and array.shape in ((), (1,))
    has_wrong_shape = verify_shape and array.shape != sizes
    has_wrong_size = allow_broadcast and array.size != count
    if not may_broadcast and (has_wrong_shape or has_wrong_size):
        raise TypeError(f"Expected Tensor's shape: {sizes}, but got {array.shape}.")
    if array.size > count:
        raise ValueError(f"Too many elements provided. Takes at most {count}, but got {array.size}")
    result = _message_class()()
    result.dtype = element_dtype.enum
    for size in sizes:
        result.tensor_shape.dim.add(size=size)
    _fill(result, array, element_dtype, has_all_values=array.size == count)
    return result


def _fill(message: Any, array: np.ndarray, dtype: DType, has_all_values: bool) -> None:
    """Write the values into the message, in the field of their dtype or as raw bytes.

    Numbers are raw bytes if there are two or more and `has_all_values`, or if their dtype has no field. Without
    `has_all_values`, the shape has more elements than `array`, and a reader repeats the last value for the others.
    """
    if dtype.is_string:
        message.string_val.extend(bytes(text) for text in array.ravel())
    elif (has_all_values and array.size > 1) or dtype.name not in _VALUE_FIELDS:
        message.tensor_content = _raw_bytes(array, dtype)
    else:
        values = array.ravel()
        numbers = values.view(values.real.dtype) if dtype.is_complex else values
        getattr(message, _VALUE_FIELDS[dtype.name]).extend(numbers.tolist())


def _raw_bytes(array: np.ndarray, dtype: DType) -> bytes:
    """Return the values as the bytes of the field `tensor_content`."""
    proto = _message_class().FromString(SerializeTensor(dtype)(array))
    return bytes(proto.tensor_content)


def make_ndarray(tensor: Any) -> np.ndarray:
    """Return the array of a TensorProto.

    >>> autoconv.make_ndarray(autoconv.make_tensor_proto([[1, 2]]))
    array([[1, 2]], dtype=int32)
    """
    return np.array(ParseTensor(as_dtype(tensor.dtype))(np.array(tensor.SerializeToString(), object)))


def _message_class() -> Any:
    """Return the class of TensorProto; raises ImportError without tensorboard."""
    if protobuf_classes() is None:
        raise ImportError("TensorProto needs the package tensorboard: pip install 'autoconv[summary]'")
    from tensorboard.compat.proto import tensor_pb2  # heavy and optional

    return tensor_pb2.TensorProto
