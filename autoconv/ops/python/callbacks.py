"""The op `py_call`: a call of a Python function while a graph runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import DType, as_dtype, float64
from autoconv.graph.effects import Effects
from autoconv.graph.types import Shape, TensorType, Type, are_shapes_compatible, shape_text
from autoconv.ops.record import Builder, define, sample


def _call_type(
    *inputs: Type, function: Callable[..., Any], dtypes: tuple[DType, ...], shapes: tuple[Shape, ...]
) -> tuple[TensorType, ...]:
    return tuple(TensorType(dtype, shape) for dtype, shape in zip(dtypes, shapes, strict=True))


def _call(
    *inputs: Any, function: Callable[..., Any], dtypes: tuple[DType, ...], shapes: tuple[Shape, ...]
) -> tuple[Any, ...]:
    """Call the function with arrays, and return its values as arrays, one for each dtype.

    The function returns a tuple or list of values, or one value alone. Without dtypes, its result is ignored.
    """
    result = function(*inputs)
    if not dtypes:
        return ()
    values = result if isinstance(result, (tuple, list)) and (len(dtypes) > 1 or len(result) == 1) else (result,)
    values = () if result is None else values
    if len(values) != len(dtypes):
        raise InvalidArgumentError(
            f"{_name(function)} returned {len(values)} values, but expects to see {len(dtypes)} values."
        )
    return tuple(
        _check_result(i, value, dtype, shape, function)
        for i, (value, dtype, shape) in enumerate(zip(values, dtypes, shapes, strict=True))
    )


def _check_result(
    position: int, value: Any, dtype: DType, shape: Shape, function: Callable[..., Any]
) -> np.ndarray:
    """Return the value at `position` of the function's result as an array of the dtype.

    Raises InvalidArgumentError if the value has another dtype or a shape that does not fit.
    """
    if isinstance(value, (str, bytes)) and not dtype.is_string:
        message = f"{position}-th value returned by {_name(function)} is text, but expects {dtype.name}"
        raise InvalidArgumentError(message)
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype.kind not in "SU" and as_dtype(array.dtype) is not dtype:
            raise InvalidArgumentError(
                f"{position}-th value returned by {_name(function)} is {as_dtype(array.dtype).name}, "
                f"but expects {dtype.name}"
            )
    else:  # text as objects, since NumPy's string dtypes drop null characters at the end
        array = np.asarray(value, object if dtype.is_string else None)
    array = _text_array(position, array, function) if dtype.is_string else array.astype(dtype.numpy, copy=False)
    if not are_shapes_compatible(array.shape, shape):
        raise InvalidArgumentError(
            f"{position}-th value returned by {_name(function)} has the shape {list(array.shape)}, "
            f"but expects [{shape_text(shape)}]"
        )
    return array


def _text_array(position: int, array: np.ndarray, function: Callable[..., Any]) -> np.ndarray:
    """Return an object array of bytes; raises InvalidArgumentError for an item that is not text."""
    result = np.empty(array.shape, object)
    for index, item in np.ndenumerate(array):
        if not isinstance(item, (str, bytes, bytearray)):
            class_name, item = type(item).__name__, np.asarray(item)[()]  # the item may be a scalar tensor of text
        if not isinstance(item, (str, bytes, bytearray)):
            raise InvalidArgumentError(
                f"{position}-th value returned by {_name(function)} is {class_name}, but expects string"
            )
        result[index] = item.encode() if isinstance(item, str) else bytes(item)
    return result


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the cotangents by the function's attribute `gradient(b, inputs, results, cotangents)`; None without it."""
    rule = getattr(attributes["function"], "gradient", None)
    return (None,) * len(inputs) if rule is None else rule(b, inputs, results, cotangents)


def _half_of(x: Any) -> Any:
    return x / 2


py_call = define(
    name="py_call", graphdef="PyFunc", result=_call_type, kernel=_call, gradient=_gradient,
    effects=Effects.OUTPUT | Effects.READ | Effects.WRITE | Effects.RAISE,
    samples=(
        sample(np.array([3, 4]), function=_half_of, dtypes=(float64,), shapes=((None,),), differentiable=()),
    ),
    may_alias=True, irreversible=True,
)  # fmt: skip
