"""Dtypes of operands, as in TensorFlow: operators refuse bools, and `/` converts integers to floats."""

from __future__ import annotations

from typing import Any

from autoconv.errors import DtypeError
from autoconv.graph.dtypes import DType, float32, float64, uint64
from autoconv.graph.python_operators import ARITHMETIC
from autoconv.graph.types import can_adopt_dtype
from autoconv.runtime.recording.regions import current_contract
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.conversion import as_tensor, to_array
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def has_python_numbers() -> bool:
    """Return whether a trace of `compile` is recorded, in which arithmetic is Python's and NumPy's."""
    return current_contract().python_numbers


def as_index_operand(x: Any) -> Any:
    """Return an operand of an index; a uint64 of NumPy as a checked int, as the program raises beyond int64."""
    is_number = isinstance(x, Tensor) and x.type.shape == () and has_python_numbers()
    return apply("python_int", x) if is_number and x.type.dtype is uint64 else x


def refuse_bools(op_name: str, *operands: object) -> None:
    """Raise DtypeError for tensors of bools in arithmetic, except for products, each of which is `and`."""
    if op_name not in _ARITHMETIC or op_name == "multiply":
        return
    for value in operands:
        tensor = as_tensor(value)
        if tensor is not None and not tensor.weak and tensor.dtype.is_bool:
            raise DtypeError(f"{op_name} does not take bool tensors", current_place())


_ARITHMETIC = frozenset(entry.tensor_op for entry in ARITHMETIC)


def is_bool_tensor(value: object) -> bool:
    """Return whether the value is a tensor of bools; False under `compile`, where NumPy's rules apply."""
    tensor = None if has_python_numbers() else as_tensor(value)
    return tensor is not None and not tensor.weak and tensor.dtype.is_bool


def true_division_operands(x: object, y: object) -> tuple[Any, Any]:
    """Cast integer operands of `/`: those of 8 and 16 bits to float32, wider ones to float64.

    Outside of `compile`, an operand that is no tensor first takes the dtype of the tensor, and two tensors of different
    dtypes raise TypeError.
    """
    tensors = [tensor for tensor in (as_tensor(x), as_tensor(y)) if tensor is not None and not tensor.weak]
    if not tensors:
        return x, y
    dtype, last_dtype = tensors[0].dtype, tensors[-1].dtype
    if dtype is not last_dtype and not has_python_numbers():
        message = f"`x` and `y` must have the same dtype, got {dtype.name} != {last_dtype.name}"
        raise TypeError(f"{message}. Cast one of them: autoconv.cast(value, autoconv.{dtype.name}).")
    if not dtype.is_integer:
        return x, y
    if not has_python_numbers():
        x, y = _as_integers(x, dtype), _as_integers(y, dtype)
    float_dtype = float32 if dtype.size <= 2 else float64
    return _cast_integer(x, float_dtype), _cast_integer(y, float_dtype)


def _as_integers(value: object, dtype: DType) -> Any:
    """Convert an operand of `/` that is no tensor to the dtype of the integers that it meets."""
    tensor = as_tensor(value)
    if tensor is None:
        return apply("constant", value=to_array(value, dtype))
    if not tensor.weak:
        return tensor
    if not can_adopt_dtype(tensor.dtype, dtype):
        raise TypeError(f"the Python float does not fit the {dtype.name} tensor it meets; cast the tensor first.")
    return apply("python_cast", tensor, dtype=dtype)


def _cast_integer(value: object, dtype: DType) -> Any:
    """Cast a tensor of integers to a dtype; return other values unchanged."""
    tensor = as_tensor(value)
    if tensor is not None and tensor.dtype.is_integer and not tensor.weak:
        return apply("cast", tensor, dtype=dtype)
    return value
