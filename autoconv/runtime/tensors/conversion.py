"""Conversion of Python and NumPy values to tensors."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.errors import IntegerLimitError, TensorConversionError, UnconvertibleError
from autoconv.graph.dtypes import DType, as_dtype, bool_, complex128, float32, float64, int32, int64
from autoconv.graph.types import TensorType, can_adopt_dtype
from autoconv.hooks import Hook
from autoconv.ops.elementwise.python_numbers import to_python_array
from autoconv.runtime.annotations import DTypeLike, ShapeLike
from autoconv.runtime.recording import tape_recorders
from autoconv.runtime.recording.regions import Region, current_contract, current_region
from autoconv.runtime.support.shape import TensorShape, as_shape
from autoconv.runtime.support.type_spec import is_composite
from autoconv.runtime.tensors.python_arrays import (
    array_of_large_ints,
    array_of_numpy_items,
    cast_array,
    encode_items,
    encode_objects,
    encode_sequence,
    holds_only_ints,
    holds_only_text,
    out_of_range_error,
)
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor, standalone_dtype


def constant(
    value: object, dtype: DTypeLike | None = None, shape: ShapeLike | None = None, name: str = "Const"
) -> Tensor:
    """Create a tensor from a Python number, string, (nested) list or array.

    Python ints become int32 and floats float32, unless `dtype` is given; arrays keep their dtype. `shape` reshapes,
    or broadcasts a single value. Symbolic tensors, and tensors followed by a tape, are combined by ops. Raises
    TypeError or ValueError for values that have no tensor.

    >>> autoconv.constant([1.0, 2.0])
    <autoconv.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>
    >>> autoconv.constant([1, 2], autoconv.float64).dtype
    autoconv.float64
    """
    requested_dtype = as_dtype(dtype) if dtype is not None else None
    static_shape: Any = as_shape(shape) if shape is not None else None
    recorders, region = tape_recorders.active_recorders(), current_region()
    if (recorders or region is not None) and _is_followed(value, recorders):
        return _convert_by_ops(value, requested_dtype, static_shape)
    array = to_array(value, requested_dtype)
    if static_shape is not None:
        if (size := array.size) not in (1, math.prod(static_shape)):
            text = f"{size} elements do not fit into the shape {static_shape}"
            raise TypeError(f"constant with unsupported shape: {text}")
        array = np.full(static_shape, array) if size == 1 else array.reshape(static_shape)
    if region is not None:
        return record_constant(region, array, name=name)
    if _has_array_protocol(value) or (isinstance(value, np.ndarray) and np.may_share_memory(array, value)):
        array = array.copy()  # the program may write to its own array; a tensor is immutable
    return EagerTensor(array)


def convert_to_tensor(
    value: object, dtype: DTypeLike | None = None, dtype_hint: Any = None, name: str | None = None
) -> Tensor:
    """Convert `value` to a tensor: a tensor is unchanged, a variable is read, anything else is converted by `constant`.

    Raises ValueError when a tensor's dtype differs from the requested one.

    >>> autoconv.convert_to_tensor(np.array([1.5])).dtype
    autoconv.float64
    """
    target_dtype = as_dtype(dtype) if dtype is not None else None
    tensor = as_tensor(value)
    if tensor is None:
        tensor = stack_symbolic_list(value)
    if tensor is None:
        return _convert_other_value(value, target_dtype, dtype_hint, name or "Const")
    if tensor.weak:
        return APPLY("python_cast", tensor, dtype=target_dtype or standalone_dtype(tensor.type))
    if target_dtype is not None and tensor.dtype is not target_dtype:
        dtypes = f"{target_dtype.name} for Tensor with dtype {tensor.dtype.name}"
        raise TensorConversionError(f"Tensor conversion requested dtype {dtypes}: {tensor!r}")
    return tensor


def _convert_other_value(value: object, dtype: DType | None, dtype_hint: DTypeLike | None, name: str) -> Tensor:
    """Convert a value that is no tensor, as `convert_to_tensor` does; a list may contain tensors."""
    inner_dtype = _inner_dtype(value)
    if isinstance(value, (list, tuple)):
        is_cast = inner_dtype is not None and dtype not in (None, inner_dtype)
        recorders = tape_recorders.active_recorders()
        if is_cast or has_symbolic_or_variable(value) or (recorders and _is_followed(value, recorders)):
            return _stack(value, dtype)
    dtype = inner_dtype if dtype is None else dtype  # [a float64 tensor, 1.0] becomes float64, in functions too
    if dtype is None and dtype_hint is not None:
        with contextlib.suppress(TypeError, ValueError):
            return constant(value, dtype_hint)
    return constant(value, dtype, name=name)


def _is_followed(value: object, recorders: Sequence[Any]) -> bool:
    """Return whether the value is or contains a tensor of a graph or tape; a NumPy array would cut its gradient."""
    if isinstance(value, (list, tuple)):
        return any(_is_followed(item, recorders) for item in value)
    return isinstance(value, SymbolicTensor) or any(recorder.follows(value) for recorder in recorders)


def _convert_by_ops(value: object, dtype: DType | None, shape: Any) -> Tensor:
    """Convert a value by ops, which graphs and tapes follow, to a tensor of a dtype and shape, if these are given."""
    tensor: Tensor = APPLY("identity", convert_to_tensor(value))  # a new tensor
    if dtype is not None and tensor.dtype is not dtype:
        tensor = APPLY("cast", tensor, dtype=dtype)
    if shape is None or tensor.shape == shape:
        return tensor
    is_repeated = tensor.shape.is_fully_defined() and tensor.shape.num_elements() == 1
    if is_repeated:
        tensor = APPLY("reshape", tensor, shape=())
    return APPLY("broadcast_to" if is_repeated else "reshape", tensor, shape=tuple(shape))  # type: ignore[no-any-return]


def as_tensor(value: object) -> Tensor | None:
    """Return the tensor that `value` is or stands for (a variable is read); None for plain Python and NumPy values."""
    if isinstance(value, Tensor):
        return value
    class_ = type(value)
    reader = getattr(class_, "__autoconv_tensor__", None) or getattr(class_, "__tf_tensor__", None)
    if reader is None and _CONVERSIONS:
        return _convert_registered(value)
    return reader(value) if reader is not None else None


_CONVERSIONS: list[tuple[int, Any, Callable[..., Any]]] = []  # (priority, classes, function), lowest priority first


def register_tensor_conversion_function(
    base_type: type | tuple[type, ...], conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Let objects of the classes be operands: `conversion_func(value, dtype=None, name=None, as_ref=False)`.

    The function returns a tensor, or NotImplemented. Functions of a lower priority are called first.

    >>> class Length:
    ...     metres = 3.0
    >>> autoconv.register_tensor_conversion_function(Length, lambda x, *args, **more: autoconv.constant(x.metres))
    >>> (autoconv.constant(1.0) + Length()).numpy()
    np.float32(4.0)
    """
    classes = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(class_, type) for class_ in classes):
        raise TypeError(f"Argument `base_type` must be a type or a tuple of types. Obtained: {base_type}")
    refused_classes = int | float | str | bytes | list | tuple | np.generic | np.ndarray
    if any(issubclass(class_, refused_classes) for class_ in classes):
        raise TypeError(f"Cannot register conversions for Python numbers, sequences and NumPy's values: {base_type}")
    if not callable(conversion_func):
        raise TypeError("Argument `conversion_func` must be callable.")
    _CONVERSIONS.append((priority, classes, conversion_func))
    _CONVERSIONS.sort(key=lambda entry: entry[0])


def _convert_registered(value: object) -> Tensor | None:
    """Return what the registered functions make of a value; None if none of them converts it."""
    for _, classes, convert in _CONVERSIONS:
        if isinstance(value, classes):
            result = convert(value, dtype=None, name=None, as_ref=False)
            if result is not NotImplemented:
                return as_tensor(result)
    return None


def stack_symbolic_list(value: object) -> Any:
    """Stack a list with a symbolic number of items into one tensor; None for everything else."""
    convert = getattr(type(value), "__autoconv_stack__", None)
    return None if convert is None else convert(value)


def is_tensor(value: object) -> bool:
    """Return whether `value` is a tensor, or is read as one, as a variable is."""
    return isinstance(value, Tensor) or hasattr(type(value), "__autoconv_tensor__")


def to_array(value: object, dtype: DType | None = None) -> np.ndarray:
    """Convert a plain value to a NumPy array, by TensorFlow's rules; raises TypeError or ValueError."""
    if isinstance(value, EagerTensor):
        value = value.numpy()
    if isinstance(value, SymbolicTensor):
        raise TypeError(f"{value!r} has a value only at run time; it cannot become a constant.")
    if is_composite(value):
        raise unsupported_error(value)
    if isinstance(value, (list, tuple, TensorShape)):
        if not current_contract().numpy_arrays:
            numbers = array_of_numpy_items(value, is_eager=current_region() is None)
            if numbers is not None:
                return numbers if dtype is None else _array_of_numbers(numbers, value, dtype)
        value = _convert_items(value)
    if isinstance(value, (np.ndarray, np.generic)) or _has_array_protocol(value):
        array = np.asarray(value)
        if array.dtype.kind in "SU":
            array = encode_items(array)
        elif array.dtype == object:
            array = encode_objects(array)
        return array if dtype is None else cast_array(array, dtype)
    try:
        array = np.array(value)
    except ValueError as error:
        raise ValueError(f"Can't convert non-rectangular Python sequence to Tensor: {error}") from None
    if array.dtype.kind in "SU" or (array.dtype == object and array.size and holds_only_text(array)):
        array = encode_sequence(value)
        if dtype is not None and not dtype.is_string:
            raise TypeError(f"Cannot convert {value!r} to a tensor of dtype {dtype.name}")
        return array
    if array.dtype == object or array.dtype == np.uint64:
        if not holds_only_ints(array):
            raise unsupported_error(value)
        array = array_of_large_ints(array, dtype)
    return _array_of_numbers(array, value, dtype)


def _array_of_numbers(array: np.ndarray, value: object, dtype: DType | None) -> np.ndarray:
    """Convert the array of Python's numbers to the dtype, or to the one that they have by default."""
    inferred_dtype = _inferred_dtype(array, value)
    if dtype is None:
        if inferred_dtype.name == "float32" and current_region() is None and not _fits_float32(array):
            raise ValueError("Can't convert Python sequence with out-of-range double to Tensor.")
        return array.astype(inferred_dtype.numpy)
    if array.size == 0 and isinstance(value, (list, tuple)):
        return np.empty(array.shape, dtype.numpy)  # an empty list takes every dtype
    is_refused_bool = inferred_dtype.is_bool and dtype.name not in _DTYPES_FOR_BOOLS and current_region() is None
    if inferred_dtype.is_string != dtype.is_string or not can_adopt_dtype(inferred_dtype, dtype) or is_refused_bool:
        raise UnconvertibleError(f"Cannot convert {value!r} to EagerTensor of dtype {dtype.name}")
    if dtype.name == "uint64" and array.dtype.kind == "i" and array.min(initial=0) < 0:
        raise out_of_range_error()
    return cast_array(array, dtype)


def _fits_float32(array: np.ndarray) -> bool:
    """Return whether no finite number becomes infinite in float32."""
    if array.size and array.min() > -_FLOAT32_OVERFLOW and array.max() < _FLOAT32_OVERFLOW:
        return True
    return not (np.isfinite(array) & (np.abs(array) >= _FLOAT32_OVERFLOW)).any()


# From this magnitude on, numbers round to infinity: half a unit in the last place above the largest float32.
_FLOAT32_OVERFLOW = float(np.finfo(np.float32).max) + 2.0**103


def unsupported_error(value: object) -> ValueError:
    """Return the error for an object that does not convert to a tensor."""
    return ValueError(f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a Tensor.")


def record_constant(region: Region, array: np.ndarray, weak: bool = False, name: str = "Const") -> SymbolicTensor:
    """Record a constant node in the region. With `constant_sources`, an array is copied: the program may change it."""
    sources = region.trace.constant_sources
    copy = np.array(array) if sources is not None and array.ndim else None
    node = region.record("constant", [], {"value": array if copy is None else copy, "weak": weak}, node_name=name)
    if sources is not None and copy is not None:
        sources.append((node, array))
        region.trace.uses_arrays = region.trace.uses_arrays or region.contract.numpy_arrays
    return SymbolicTensor(node.results[0])


def constant_table(values: object) -> Any:
    """Convert a table of numbers in this package's source to an array, or to a constant of the graph being recorded."""
    region, array = current_region(), np.array(values)
    if region is None:
        return array
    return SymbolicTensor(region.record("constant", [], {"value": array, "weak": False}, node_name="Const").results[0])


def weak_constant(region: Region, value: bool | int | float | complex, name: str = "Const") -> SymbolicTensor:
    """Record a Python number as a weak constant.

    Raises IntegerLimitError for an int beyond 64 bits; the program's handlers do not catch it.
    """
    try:
        array = to_python_array(value, allows_complex=True)
    except IntegerLimitError as error:
        error._autoconv_uncatchable_in_trace = True  # type: ignore[attr-defined]
        raise
    return record_constant(region, array, weak=True, name=name)


def python_number(value: bool | int | float | complex) -> EagerTensor:
    """Create a tensor with Python's arithmetic: ints are exact and checked, and it adopts the dtype of other operands.

    A Python number becomes such a tensor inside a graph. Raises OverflowError for an int beyond 64 bits.

    >>> autoconv.python_number(3) * autoconv.constant(2.5)
    <autoconv.Tensor: shape=(), dtype=float32, numpy=7.5>
    """
    return EagerTensor(weak_array(value), weak=True)


def weak_array(value: bool | int | float | complex) -> np.ndarray:
    """Return a Python number as an array of its weak dtype."""
    return np.array(value, weak_dtype(value).numpy)


def weak_dtype(value: object) -> DType:
    """Return the dtype in which a Python number is held: bool, int64, float64 or complex128."""
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        return int64
    return float64 if isinstance(value, float) else complex128


def has_symbolic_or_variable(values: Any) -> bool:
    """Return whether a nested list holds a symbolic tensor, or a value that is read as a tensor, such as a variable."""
    return any(
        has_symbolic_or_variable(x)
        if isinstance(x, (list, tuple))
        else isinstance(x, SymbolicTensor) or is_read_as_tensor(x)
        for x in values
    )


def _inner_dtype(values: object) -> DType | None:
    """Return the dtype of the first tensor or variable in a nested list; weak tensors are skipped."""
    for value in values if isinstance(values, (list, tuple)) else ():
        result = _inner_dtype(value)
        if result is None and is_tensor(value) and not getattr(value, "weak", False):
            result = as_dtype(value.dtype)
        if result is not None:
            return result
    return None


def is_read_as_tensor(value: object) -> bool:
    """Return whether `value` is no tensor, but is read as one: a variable, or an array in memory."""
    return hasattr(type(value), "__autoconv_tensor__")


APPLY = Hook("autoconv.runtime.tensors.dispatch")  # the function `apply` of dispatch, which imports this module


def _stack(values: Any, dtype: DType | None, inner_dtype: DType | None = None) -> Tensor:
    """Stack the values into one tensor; numbers take the dtype of the first tensor among them."""
    inner_dtype = inner_dtype or _inner_dtype(values)
    rows = [_stack(value, dtype, inner_dtype) if isinstance(value, (list, tuple)) else value for value in values]
    if dtype is not None:
        rows = [APPLY("cast", row, dtype=dtype) if is_tensor(row) else convert_to_tensor(row, dtype) for row in rows]
    elif inner_dtype is not None:
        rows = [row if is_tensor(row) else convert_to_tensor(row, inner_dtype) for row in rows]
    return APPLY("stack", *rows, axis=0)


def _convert_items(value: object) -> Any:
    """Return a nested list with NumPy's values in place of tensors, variables and other arrays."""
    if isinstance(value, TensorShape):
        if not value.is_fully_defined():
            raise ValueError(f"Cannot convert a partially known TensorShape {value} to a Tensor.")
        return _array_of_numbers(np.array(value.as_list(), np.int64), value, None)
    if isinstance(value, (list, tuple)):
        items = list(map(_convert_items, value))
        return np.array(items) if items and all(isinstance(i, (np.ndarray, np.generic)) for i in items) else items
    if isinstance(value, EagerTensor) and value.dtype.is_string:
        return value.numpy()  # bytes, which a list may mix with text
    if isinstance(value, EagerTensor) or is_read_as_tensor(value) or _has_array_protocol(value):
        return np.asarray(value)
    return value


def _has_array_protocol(value: object) -> bool:
    """Return whether the value is an object of another library that implements `__array__`."""
    return hasattr(type(value), "__array__") and not isinstance(value, (np.ndarray, np.generic, Tensor))


def _inferred_dtype(array: np.ndarray, value: object) -> DType:
    """Return the dtype that Python's numbers have in a tensor: int32 or else int64, float32, or NumPy's for others."""
    if array.dtype == np.int64:
        return int64 if array.size and (array.max() > 2**31 - 1 or array.min() < -(2**31)) else int32
    if array.size == 0 and isinstance(value, (list, tuple)):
        return float32
    return float32 if array.dtype == np.float64 else as_dtype(array.dtype)


# Names of the dtypes to which `constant` converts bools.
_DTYPES_FOR_BOOLS = {"bool", "int32", "int64", "uint64", "float16", "float32", "float64", "complex128"}


def type_of(value: object) -> TensorType:
    """Return the tensor type that a value has or would be given."""
    tensor = as_tensor(value)
    if tensor is not None:
        return tensor.type
    array = to_array(value)
    return TensorType(as_dtype(array.dtype), array.shape)
