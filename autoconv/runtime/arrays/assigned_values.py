"""Conversion of values that are assigned to elements of arrays, as in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.graph.dtypes import DType, as_dtype, int64
from autoconv.graph.types import ArrayType, Shape
from autoconv.ops.index_spec import Mask, Spec
from autoconv.ops.program_errors import errors_of_program
from autoconv.runtime.arrays.array_checks import has_plain_shape
from autoconv.runtime.objects.symbolic_objects import is_object, record_object
from autoconv.runtime.recording.regions import current_contract, current_region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor, record_constant, to_array
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor


def convert_assigned(value: object, type_: ArrayType) -> Tensor:
    """Convert a value assigned to an array, or to a view of one, as NumPy does."""
    if is_object(value) and type_.shape == ():
        return convert_element(value, type_.dtype)
    return convert_elements(value, type_.dtype)


def convert_elements(value: object, dtype: DType, is_basic: bool = True) -> Tensor:
    """Convert Python's numbers to elements of the dtype; arrays keep their dtype, for `cast_to` to convert later.

    With `is_basic` (the target is one element or a slice), NumPy's scalars are converted and checked like Python's.
    """
    tensor = as_tensor(value)
    if tensor is not None:
        is_checked = tensor.weak or (is_basic and _is_range_checked(value, dtype))
        return cast_checked_number(tensor, dtype) if is_checked else tensor
    if isinstance(value, (bool, int, float, complex)):
        region, number = current_region(), convert_plain_numbers(value, dtype)
        return EagerTensor(number) if region is None else record_constant(region, number)
    if isinstance(value, (list, tuple)):
        value = _convert_nested(value, dtype)
        if isinstance(value, Tensor):
            return value
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufc":
        return EagerTensor(to_array(value))
    description = "value known only at run time" if is_object(value) else value.__class__.__name__
    raise StagingError(f"a {description} is assigned to elements of an array", current_place())


def convert_elements_at(value: object, array: ArrayType, spec: Spec, operands: Sequence[Any]) -> Tensor:
    """Convert the elements assigned at an index of masks or arrays; errors of a mask precede those of the value."""
    try:
        return convert_elements(value, array.dtype, is_basic=False)
    except (TypeError, ValueError, OverflowError):
        mask = as_tensor(operands[0]) if spec == (Mask(),) else None
        mask_sizes = None if mask is None else _static_sizes(mask.type.shape)
        array_sizes = _static_sizes(array.shape)
        if mask_sizes is not None and array_sizes is not None:
            np.broadcast_to(0, array_sizes)[np.broadcast_to(False, mask_sizes)]  # raises NumPy's error
        raise


def _static_sizes(shape: Shape) -> list[int] | None:
    """Return the sizes of a shape; None if one of them is not known while tracing."""
    sizes = [size for size in shape or () if isinstance(size, int)]
    return sizes if shape is not None and len(sizes) == len(shape) else None


def _is_range_checked(value: object, dtype: DType) -> bool:
    """Return whether NumPy checks the range of a NumPy scalar like that of a Python number: only for signed dtypes."""
    if not isinstance(value, SymbolicTensor) or value.type.shape != () or not dtype.is_integer or dtype.is_unsigned:
        return False
    value_dtype = value.type.dtype
    return value_dtype.is_floating or (value_dtype.is_integer and not np.can_cast(value_dtype.numpy, dtype.numpy))


def convert_element(value: object, dtype: DType) -> Tensor:
    """Convert a number to an element of an array of the dtype."""
    if is_object(value):
        return record_object("object_element", [value], dtype=dtype)  # type: ignore[no-any-return]
    tensor = as_tensor(value)
    if tensor is None:
        return EagerTensor(np.asarray(value).astype(dtype.numpy))
    return cast_checked_number(tensor, dtype) if tensor.weak else cast_to(tensor, dtype)  # type: ignore[no-any-return]


def convert_plain_numbers(value: object, dtype: DType) -> np.ndarray:
    """Convert Python numbers, or lists of them, to elements of the dtype; raise NumPy's errors as the program's."""
    with errors_of_program(OverflowError, TypeError, ValueError), np.errstate(all="ignore"):
        return np.array(value, dtype.numpy)


def cast_checked_number(number: Tensor, dtype: DType) -> Tensor:
    """Cast a number with Python's checks: ints out of range raise, as do nan and inf for integers."""
    if dtype.is_bool:
        number = dispatch.apply("python_bool", number)
    refuse_complex(number, dtype)
    if dtype.is_integer and (number.type.dtype.is_floating or not number.weak):
        number = dispatch.apply("python_int", number)
    return dispatch.apply("python_cast", number, dtype=dtype)  # type: ignore[no-any-return]


def refuse_complex(number: object, dtype: DType) -> None:
    """Raise Python's TypeError where a Python complex number would become a real element."""
    if loses_imaginary_parts(number, dtype):
        number_type: Any = int if dtype.is_integer else float
        with errors_of_program(TypeError):
            number_type(0j)  # raises the error


def refuse_warned_conversion(value: Any, dtype: DType) -> None:
    """Refuse under `compile` the conversion of NumPy's complex numbers to real elements, for which NumPy warns."""
    if loses_imaginary_parts(value, dtype) and not value.weak and current_contract().numpy_arrays:
        raise StagingError("complex numbers are converted to real ones, for which NumPy warns", current_place())


def loses_imaginary_parts(number: object, dtype: DType) -> bool:
    """Return whether a number is complex and the dtype real."""
    tensor = as_tensor(number)
    is_complex = isinstance(number, complex) if tensor is None else tensor.type.dtype.is_complex
    return is_complex and not dtype.is_complex and not dtype.is_bool


def is_stored_item_by_item(value: object, type_: ArrayType) -> bool:
    """Return whether an assigned list must be stored item by item: some numbers in it may be out of range.

    NumPy stores the items before such a number, and then raises.
    """
    if not isinstance(value, (list, tuple)) or not type_.dtype.is_integer or type_.shape != (len(value),):
        return False
    items_and_tensors = [(item, as_tensor(item)) for item in value]
    if not all(np.ndim(item) == 0 if tensor is None else tensor.type.shape == () for item, tensor in items_and_tensors):
        return False
    return any(_may_overflow(item, tensor, type_.dtype) for item, tensor in items_and_tensors)


def _may_overflow(value: object, tensor: Tensor | None, dtype: DType) -> bool:
    """Return whether a number may be out of the range of an integer dtype; `tensor` is `as_tensor(value)`."""
    if tensor is not None:
        is_wider = tensor.weak and (dtype is not int64 or not tensor.type.dtype.is_integer)
        return is_wider or _is_range_checked(value, dtype)
    is_checked = isinstance(value, (int, float, complex)) and not isinstance(value, bool)
    return is_checked and not _is_representable(value, dtype)


def _is_representable(number: Any, dtype: DType) -> bool:
    """Return whether the dtype holds the number."""
    try:
        return dtype.min <= int(number) <= dtype.max
    except (OverflowError, TypeError, ValueError):
        return False


def _convert_nested(value: Any, dtype: DType) -> Any:
    """Convert a list, or a list of lists, to an array as NumPy does for elements of the dtype."""
    if holds_numbers(value):
        return convert_plain_numbers(value, dtype)
    if all(as_tensor(item) is None for item in value) and not any(isinstance(item, (list, tuple)) for item in value):
        return np.asarray(value)
    items = [_convert_item(item, dtype) for item in value]
    if not any(isinstance(as_tensor(item), SymbolicTensor) for item in items):
        return np.asarray([item.numpy() if isinstance(item, EagerTensor) else item for item in items])
    return stack_items(items)


def _convert_item(item: object, dtype: DType) -> Any:
    """Convert an item of an assigned list."""
    if isinstance(item, (list, tuple)):
        return _convert_nested(item, dtype)
    if isinstance(item, (bool, int, float, complex)):
        return convert_plain_numbers(item, dtype)
    tensor = as_tensor(item)
    if tensor is None or not (tensor.weak or _is_range_checked(item, dtype)):
        return item
    return cast_checked_number(tensor, dtype)


def holds_numbers(value: Any) -> bool:
    """Return whether a nested list holds only Python numbers, np.float64 included."""
    return all(
        holds_numbers(item) if isinstance(item, (list, tuple)) else isinstance(item, (bool, int, float, complex))
        for item in value
    )


def stack_items(items: Sequence[Any]) -> Any:
    """Stack numbers and arrays into one array of NumPy's result dtype."""
    items_and_tensors = [(item, as_tensor(item)) for item in items]
    tensors = [EagerTensor(np.asarray(item)) if tensor is None else tensor for item, tensor in items_and_tensors]
    dtype = as_dtype(np.result_type(*(tensor.type.dtype.numpy for tensor in tensors)))
    return dispatch.apply("stack", *(cast_to(tensor, dtype) for tensor in tensors), axis=0)


def cast_to(tensor: Any, dtype: DType) -> Any:
    """Cast the tensor to the dtype."""
    refuse_warned_conversion(tensor, dtype)
    if tensor.type.weak:
        return dispatch.apply("python_cast", tensor, dtype=dtype)
    return tensor if tensor.type.dtype is dtype else dispatch.apply("cast", tensor, dtype=dtype)


def convert_plain_sequence(value: Any) -> Any:
    """Return a list or tuple of plain numbers as a tensor of the dtype that NumPy gives it; other values unchanged."""
    is_plain = isinstance(value, (list, tuple)) and has_plain_shape(value)
    return convert_to_tensor(np.asarray(value)) if is_plain else value


