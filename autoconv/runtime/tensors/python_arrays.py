"""NumPy arrays of Python's texts, of ints beyond 63 bits and of lists of NumPy's numbers, on their way to tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType
from autoconv.runtime.support.articles import with_article


def encode_sequence(value: object) -> np.ndarray:
    """Return the array of the texts in a nested list, as `encode_items` does; NumPy's text arrays drop final zeros."""
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


def cast_array(array: np.ndarray, dtype: DType) -> np.ndarray:
    """Return the array in the dtype; texts become bytes."""
    return encode_items(array) if dtype.is_string else array.astype(dtype.numpy)


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


def array_of_numpy_items(values: Any, is_eager: bool) -> np.ndarray | None:
    """Return the array of a list that begins with a NumPy number or array, in the dtype that TensorFlow gives it.

    Eagerly, ints of all widths become int32, or int64 where they do not fit; the first item decides the width of
    floats. In graphs only int64 and float64 become narrower. Return None for lists with other values than numbers.

    >>> array_of_numpy_items([np.int64(1), 2], is_eager=True).dtype
    dtype('int32')
    """
    first = _first_item(values)
    if not isinstance(first, (np.ndarray, np.generic)) or not _holds_only_numbers(values):
        return None
    array = np.array(values)
    kind = array.dtype.kind
    if kind not in "iufc":
        return None
    if kind in "iu" and (not is_eager and array.dtype != np.int64):
        return array
    if kind in "iu":
        limits = np.iinfo(np.int32)
        if limits.min <= int(array.min(initial=0)) and int(array.max(initial=0)) <= limits.max:
            return array.astype(np.int32)
        return array if array.dtype == np.uint64 else array.astype(np.int64)
    if not is_eager:
        return array.astype(np.float32) if array.dtype == np.float64 else array
    if kind == "c":
        return array.astype(np.complex128)
    keeps_width = first.dtype in (np.float64, np.float16)
    return array.astype(first.dtype if keeps_width else np.float32)


def _first_item(values: Any) -> Any:
    """Return the first number of a nested list, or the first array or empty list."""
    while isinstance(values, (list, tuple)) and values:
        values = values[0]
    return values


def _holds_only_numbers(values: Any) -> bool:
    """Return whether a nested list holds only numbers and arrays, of Python or NumPy."""
    if isinstance(values, (list, tuple)):
        return all(map(_holds_only_numbers, values))
    return isinstance(values, (np.ndarray, np.generic, bool, int, float, complex))
