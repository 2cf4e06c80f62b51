"""`tf.experimental.numpy`: NumPy's functions over tensors, by the table of NumPy's functions in graphs.

Arguments that are no tensors become tensors of NumPy's dtypes; results are tensors. A function for which the table has
no ops runs on NumPy's arrays, and cannot be part of a graph.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import autoconv.numpy  # noqa: F401 (fills the table)
from autoconv.errors import StagingError, UnimplementedError
from autoconv.graph.dtypes import as_dtype
from autoconv.runtime.recording.numpy_protocol import implementation
from autoconv.runtime.support.made_functions import give_name
from autoconv.runtime.support.structure import map_structure
from autoconv.runtime.tensors.conversion import constant, is_tensor
from autoconv.runtime.tensors.numpy_behaviour import enable_numpy_behaviour
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import Tensor

ndarray = Tensor
pi, e, inf, newaxis = np.pi, np.e, np.inf, None
bool_, object_, string_, unicode_ = np.bool_, np.object_, np.bytes_, np.str_
int_, float_, complex_ = np.int64, np.float64, np.complex128
_SYNONYMS = {"absolute": "abs", "amax": "max", "amin": "min", "fix": "trunc", "cumproduct": "cumprod"}
_SYNONYMS |= {"product": "prod", "alltrue": "all", "sometrue": "any", "round_": "round"}
_prefers_float32 = False
# Names that are NumPy's own here: functions of dtypes and of Python's numbers.
_NOT_OVER_TENSORS = ("iinfo", "issubdtype", "promote_types", "result_type", "isscalar", "inexact")


def __getattr__(name: str) -> Any:
    """Return NumPy's function or dtype of that name over tensors."""
    if name == "random":
        return importlib.import_module("autoconv.tensorflow.experimental.numpy_random")
    result = getattr(np, name, None)
    if result is None or inspect.ismodule(result):
        raise AttributeError(f"module 'autoconv.experimental.numpy' has no attribute {name!r}")
    if name in _NOT_OVER_TENSORS or inspect.isclass(result) or not callable(result):
        return result
    return _lift_to_tensors(name, result)


@functools.cache
def _lift_to_tensors(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of NumPy as one that takes and returns tensors."""
    ops_function = implementation(function) or implementation(getattr(np, _SYNONYMS.get(name, name)))

    def call_function(*args: object, **kwargs: object) -> Any:
        # Otherwise the arguments are Python's numbers, and the dtype of the result may be changed to a preferred one.
        has_dtypes = kwargs.get("dtype") is not None or _contains_tensor((args, kwargs)) or _has_array((args, kwargs))
        kwargs = {key: _numpy_dtype(value) if key == "dtype" else value for key, value in kwargs.items()}
        if ops_function is not None and _contains_tensor((args, kwargs)):
            return ops_function(*args, **kwargs)
        if _contains_tensor((args, kwargs), SymbolicTensor):
            raise StagingError(f"np.{name} has no form in graphs")
        result = function(*map(_to_array, args), **{key: _to_array(value) for key, value in kwargs.items()})
        return _to_tensors(result if has_dtypes else map_structure(_as_preferred, result))

    return give_name(call_function, name, f"NumPy's `{name}` over tensors.")


def experimental_enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy"
) -> None:
    """Add the methods of NumPy's arrays and its rules for operators and indices to tensors, in the whole process.

    Dtypes follow NumPy. With `prefer_float32`, Python's floats, and results computed from them, are float32. Raises
    UnimplementedError for a `dtype_conversion_mode` other than "legacy": tensors have no weak dtypes.
    """
    if dtype_conversion_mode != "legacy":
        raise UnimplementedError(
            f"the dtype conversion mode {dtype_conversion_mode!r} is not implemented",
            remedy='tensors have no weak dtypes: "legacy", which follows NumPy, or autoconv.cast',
        )
    global _prefers_float32
    _prefers_float32 = prefer_float32
    enable_numpy_behaviour()


def _as_preferred(value: object) -> object:
    """Return a value with 32 bits where float32 is preferred: float64 as float32, complex128 as complex64.

    All other values are returned unchanged.
    """
    if _prefers_float32 and isinstance(value, (np.ndarray, np.generic)):
        return value.astype({"d": np.float32, "D": np.complex64}.get(value.dtype.char, value.dtype))
    return value


def _has_array(value: object) -> bool:
    """Return whether a nest of dicts, lists and tuples contains an array or scalar of NumPy."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (list, tuple)):
        return any(map(_has_array, value))
    return isinstance(value, (np.ndarray, np.generic))


def asarray(a: object, dtype: object = None) -> Any:
    """Return a tensor of NumPy's dtype for the value."""
    return a if is_tensor(a) and dtype is None else array(a, dtype)


def array(val: object, dtype: object = None, copy: bool = True, ndmin: int = 0) -> Any:
    """Return a tensor of the dtype, by default of NumPy's for the value, with at least `ndmin` dimensions."""
    import autoconv

    if not _contains_tensor(val):
        result = np.array(val, None if dtype is None else _numpy_dtype(dtype), ndmin=ndmin)
        return constant(result if dtype is not None or _has_array(val) else _as_preferred(result))
    tensor: Any = autoconv.convert_to_tensor(val)
    while len(tensor.shape) < ndmin:
        tensor = tensor[None]
    return tensor if dtype is None else autoconv.cast(tensor, as_dtype(dtype))


asanyarray = ascontiguousarray = asarray


def flatten(a: object, order: str = "C") -> Any:
    """Return the elements in one dimension, in the order "C" or "F"."""
    return __getattr__("ravel")(a, order)


def ndim(a: Any) -> int:
    """Return the number of dimensions."""
    return len(a.shape) if is_tensor(a) else np.ndim(a)


def finfo(dtype: object) -> Any:
    """Return the limits of a dtype of floats, as NumPy does."""
    return np.finfo(as_dtype(dtype).numpy)


def _numpy_dtype(dtype: object) -> Any:
    return dtype if dtype is None or isinstance(dtype, (type, np.dtype)) else as_dtype(dtype).numpy


def _contains_tensor(value: object, tensor_class: type = Tensor) -> bool:
    """Return whether a nest of dicts, lists and tuples contains a tensor of the class."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (list, tuple)):
        return any(_contains_tensor(part, tensor_class) for part in value)
    return isinstance(value, tensor_class) or (tensor_class is Tensor and is_tensor(value))


def _to_array(value: object) -> Any:
    """Return an array for a tensor, a list or tuple with arrays in place of tensors, other values unchanged."""
    if isinstance(value, (list, tuple)) and _contains_tensor(value):
        return type(value)(map(_to_array, value))
    return value.numpy() if is_tensor(value) and hasattr(value, "numpy") else value


def _to_tensors(values: object) -> Any:
    return map_structure(lambda part: constant(part) if isinstance(part, (np.ndarray, np.generic)) else part, values)


__all__ = ["array", "asarray", "finfo", "ndarray", "ndim"]
