"""NumPy arrays of Python's texts and of ints beyond 63 bits, on their way to tensors."""

from __future__ import annotations

import numpy as np

from autoconv.graph.dtypes import DType
from autoconv.runtime.support.articles import with_article


def encode_sequence(value: object) -> np.ndarray:
    """Convert strings without loss: NumPy's own text arrays drop trailing zeros."""
    array = np.array(value, object)
    if not holds_only_text(array):
        raise ValueError(f"Can't convert Python sequence with mixed types to Tensor: {value!r}")
    return encode_items(array)


def encode_items(array: np.ndarray) -> np.ndarray:
    """Return an array of objects that holds each text as bytes; raises ValueError for an array of numbers."""
    if array.dtype.kind not in "OSU" and array.size:
        raise ValueError(f"Failed to convert a NumPy array to a Tensor (Unsupported object type {array.dtype.name}).")
    result = np.empty(array.shape, object)
    for position, item in np.ndenumerate(array):
        result[position] = item.encode() if isinstance(item, str) else bytes(item)
    return result


def encode_objects(array: np.ndarray) -> np.ndarray:
    """Encode each item of an array of objects as bytes."""
    for item in array.flat:
        if not isinstance(item, (str, bytes)):
            raise TypeError(
                f"an array of Python objects (there is {with_article(type(item))} in it) is no tensor: objects have to "
                "be str or bytes"
            )
    return encode_items(array) if any(isinstance(item, str) for item in array.flat) else array


def holds_only_text(array: np.ndarray) -> bool:
    return all(isinstance(item, (str, bytes)) for item in array.flat)


def holds_only_ints(array: np.ndarray) -> bool:
    return array.size > 0 and all(type(item) is int for item in array.reshape(-1).tolist())


def array_of_large_ints(array: np.ndarray, dtype: DType | None) -> np.ndarray:
    """Return the array of Python ints, some beyond 63 bits, for the dtype; raises ValueError if they do not fit."""
    if dtype is not None and dtype.is_floating and dtype.name != "bfloat16":
        return array.astype(np.float64)
    if array.dtype == object or dtype is None or dtype.name != "uint64":
        raise out_of_range_error()
    return array


def out_of_range_error() -> ValueError:
    return ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
