"""Conversion of the leaves of a call's arguments to the inputs of a graph's run."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.backends.call_form import BY_COLUMNS
from autoconv.config.placement import other_device_request
from autoconv.errors import IntegerLimitError
from autoconv.ops.elementwise.python_numbers import to_python_array
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording import tape_recorders
from autoconv.runtime.tensors.conversion import to_array
from autoconv.runtime.tensors.remote_tensor import RemoteTensor
from autoconv.runtime.tensors.tensor import ArrayTensor, EagerTensor
from autoconv.tracing.key.cache_key import ObjectKey, TensorKey

# Arrays are copied with their strides if they span at most this number of times the bytes of their elements.
_MAX_GAP_RATIO = 16


def run_value(leaf: Any, copies: bool = True) -> Any:
    """Return the input of a run for a leaf; if `copies` is true, arrays are copied, as the program may change them."""
    if isinstance(leaf, EagerTensor):
        return leaf.remote if isinstance(leaf, RemoteTensor) and other_device_request() else leaf._array
    if isinstance(leaf, Variable):
        return leaf.storage
    to_run_value = getattr(type(leaf), "__autoconv_run_value__", None)
    if to_run_value is not None:
        return to_run_value(leaf)
    if isinstance(leaf, (np.ndarray, np.generic)):
        return _copy(to_array(leaf)) if copies else to_array(leaf)
    return _to_integer_array(leaf) if isinstance(leaf, int) else np.asarray(leaf)


def apply_key_layout(leaf: Any, key: Any) -> Any:
    """Return the argument as the graph takes it: arrays with a key in column order are transposed."""
    return leaf.T if isinstance(key, TensorKey) and key.origin == BY_COLUMNS else leaf


def _to_integer_array(leaf: int) -> np.ndarray:
    """Return an int as an int64 array; NumPy would convert one beyond 64 bits to an unsigned number or an object."""
    try:
        return to_python_array(leaf)
    except IntegerLimitError as error:
        error._autoconv_undone = True  # type: ignore[attr-defined]  # nothing has run, so the call can rerun as plain
        raise


def taped_leaf(leaf: Any, key: Any) -> Any:
    """Return a leaf as an input of a call that tapes record."""
    if isinstance(key, ObjectKey):  # tapes do not differentiate objects
        return leaf
    return leaf.storage if isinstance(leaf, Variable) else to_taped_input(leaf)


def to_taped_input(value: Any) -> Any:
    """Return an input of a call that tapes record: tensors unchanged, as tapes identify them; others as tensors."""
    if isinstance(value, EagerTensor) or hasattr(type(value), "__autoconv_run_value__"):
        return value if isinstance(value, EagerTensor) else run_value(value)
    tensor = tape_recorders.tensor_for(value)
    if tensor is not None:
        return tensor
    return (ArrayTensor if isinstance(value, np.ndarray) else EagerTensor)(run_value(value))


def _copy(array: np.ndarray) -> np.ndarray:
    """Copy an array with its strides: NumPy sums in memory order, which affects rounding."""
    if array.flags.forc or array.dtype.hasobject:
        return np.array(array)
    first_byte, end_byte = np.lib.array_utils.byte_bounds(array)
    byte_count = end_byte - first_byte
    if byte_count > _MAX_GAP_RATIO * array.nbytes:
        return np.array(array)
    offset = array.__array_interface__["data"][0] - first_byte  # above 0 for negative strides
    copy: np.ndarray = np.ndarray(array.shape, array.dtype, np.empty(byte_count, np.uint8), offset, array.strides)
    copy[...] = array
    return copy
