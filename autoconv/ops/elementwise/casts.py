"""Changes of dtype, and ops that return their operand."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError, UnsupportedCastError
from autoconv.graph.dtypes import DType, float32, float64, int32, int64, uint8
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.gradients import dtype_of, no_cotangents, pass_cotangent
from autoconv.ops.record import Builder, define, no_gradient, sample
from autoconv.ops.rules import same_type

_X = np.array([[0.5, -1.25, 2.0], [3.5, -0.75, 1.5]])
_INTEGERS = np.array([7, -7, 300], np.int32)
_BOOLS = np.array([True, False])
_COMPLEX = np.array([0.5 + 0.25j, -0.75 - 1.5j])


def _cast_type(x: TensorType, *, dtype: DType, **_: Any) -> TensorType:
    if x.dtype.is_string is not dtype.is_string:
        raise UnsupportedCastError(
            f"cast from {x.dtype.name} to {dtype.name} is not supported; see strings.to_number and as_string"
        )
    return x.with_dtype(dtype)


def _cast(x: Any, *, dtype: DType) -> Any:
    """Return the array with its elements converted as C does; of complex numbers the real parts."""
    if dtype.is_string:
        return x
    if x.dtype.kind == "c" and not dtype.is_complex and not dtype.is_bool:
        x = x.real
    if "bfloat16" in (x.dtype.name, dtype.name):  # by way of float32, as in TensorFlow; releases of ml_dtypes differ
        with np.errstate(over="ignore"):
            x = np.asarray(x).astype(np.float32)
    return np.asarray(x).astype(dtype.numpy)


def cast_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    dtype = dtype_of(inputs[0])
    return (b.cast(cotangents[0], dtype=dtype) if dtype.is_differentiable else None,)


def _saturate_type(x: TensorType, *, dtype: DType, **_: Any) -> TensorType:
    for each_dtype in (x.dtype, dtype):
        if not (each_dtype.is_integer or each_dtype.is_floating):
            raise TypeError(f"saturate_cast takes real dtypes, found {each_dtype.name}")
    return x.with_dtype(dtype)


def common_bounds(source: DType, target: DType) -> tuple[Any, Any]:
    """Return the smallest and largest number of dtype `source` that `target` also represents."""
    if target.is_floating and (source.is_integer or target.max >= source.max):
        return source.min, source.max
    low, high = target.min, target.max
    if source.is_integer:
        return max(low, source.min), min(high, source.max)
    if target.is_floating:
        return source.numpy.type(low), source.numpy.type(high)
    scalar_type = source.numpy.type
    low, high = max(low, int(source.min)), min(high, int(source.max))
    float_low, float_high = scalar_type(low), scalar_type(high)
    if int(float_high) > high:  # `high` was rounded up, so take the next lower number
        float_high = np.nextafter(float_high, scalar_type(0))
    return float_low, float_high


def _saturate(x: Any, *, dtype: DType) -> Any:
    """Convert numbers to the dtype; numbers beyond its range become its limits, and nan becomes 0 in integers."""
    if x.dtype.kind == "V":  # NumPy cannot compare bfloat16
        x = x.astype(np.float32)
    low, high = common_bounds(dtype_of(x), dtype)
    result = np.asarray(np.clip(x, low, high)).astype(dtype.numpy)
    if x.dtype.kind == "f" and dtype.is_integer:  # numbers above the largest common one become the largest integer
        result = np.where(np.greater(x, high), np.asarray(dtype.max, dtype.numpy), result)
        result = np.where(np.isnan(x), np.zeros((), dtype.numpy), result)
    return result


def _saturate_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Pass the cotangent where the operand is within the bounds."""
    (x,), source = inputs, dtype_of(inputs[0])
    if not source.is_differentiable:
        return (None,)
    cotangent = b.cast(cotangents[0], dtype=source)
    low, high = common_bounds(source, attributes["dtype"])
    is_inside = b.logical_and(b.greater_equal(x, float(low)), b.less_equal(x, float(high)))
    return (b.select(is_inside, cotangent, b.zeros_like(cotangent)),)


def _bitcast_type(x: TensorType, *, dtype: DType) -> TensorType:
    """Drop the last dimension for wider elements, append one for narrower elements."""
    for each_dtype in (x.dtype, dtype):
        if each_dtype.is_string or each_dtype.is_bool:
            raise TypeError(f"bitcast takes numeric dtypes, found {each_dtype.name}")
    if x.shape is None or x.dtype.size == dtype.size:
        return x.with_dtype(dtype)
    if x.dtype.size > dtype.size:
        return TensorType(dtype, (*x.shape, x.dtype.size // dtype.size))
    ratio = dtype.size // x.dtype.size
    if not x.shape or (isinstance(x.shape[-1], int) and x.shape[-1] != ratio):
        raise ValueError(
            f"bitcast from {x.dtype.name} to {dtype.name} takes a last dimension of {ratio}, found {x}"
        )
    return TensorType(dtype, x.shape[:-1])


def _bitcast(x: Any, *, dtype: DType) -> Any:
    """Return the bits as another dtype; `_bitcast_type` states how the last dimension changes with the size."""
    array, target = np.ascontiguousarray(x), dtype.numpy
    array = array.reshape(np.shape(x))
    if array.dtype.itemsize == target.itemsize:
        return array.view(target)
    if array.dtype.itemsize > target.itemsize:
        return array[..., np.newaxis].view(target)
    ratio = target.itemsize // array.dtype.itemsize
    if array.ndim == 0 or array.shape[-1] != ratio:
        raise InvalidArgumentError(
            f"Cannot bitcast from {array.dtype.name} to {target.name}: shape {list(array.shape)}, "
            f"the last dimension has to be {ratio}"
        )
    return array.view(target)[..., 0]


def _floating_type(x: TensorType, *, message: str) -> TensorType:
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise TypeError(f"check_numerics takes floating or complex tensors, found {x.dtype.name}")
    return x


def _check_numerics(x: Any, *, message: str) -> Any:
    problems = [text for text, test in (("Inf", np.isinf), ("NaN", np.isnan)) if np.any(test(x))]
    if problems:
        raise InvalidArgumentError(f"{message} : Tensor had {' and '.join(problems)} values")
    return x


def _check_numerics_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    message = "Not a number (NaN) or infinity (Inf) values detected in gradient"
    return (b.check_numerics(cotangents[0], message=f"{message}. {attributes['message']}"),)


cast = define(
    name="cast", graphdef="Cast", result=_cast_type, kernel=quiet(_cast), gradient=cast_gradient,
    elementwise=True,
    samples=(
        sample(_X, dtype=float64), sample(_X, dtype=int32), sample(_INTEGERS, dtype=float32),
        sample(_BOOLS, dtype=int64), sample(_COMPLEX, dtype=float64), sample(_INTEGERS, dtype=uint8),
    ),
    may_alias=True,
)  # fmt: skip
saturate_cast = define(
    name="saturate_cast", graphdef="SaturateCast", result=_saturate_type, kernel=quiet(_saturate),
    gradient=_saturate_gradient, elementwise=True,
    samples=(sample(_X * 100.0, dtype=uint8), sample(_X, dtype=float64), sample(_INTEGERS, dtype=uint8)),
)  # fmt: skip
bitcast = define(
    name="bitcast", graphdef="Bitcast", result=_bitcast_type, kernel=_bitcast, elementwise=True,
    gradient=no_gradient("reads a number's bits"),
    samples=(sample(_X, dtype=int64), sample(_X.astype(np.float32), dtype=int32)),
    may_alias=True,
)  # fmt: skip
bitcast_rows = define(  # a bitcast to elements of another size, which appends or drops a dimension
    name="bitcast_rows", graphdef="Bitcast", result=_bitcast_type, kernel=_bitcast,
    gradient=no_gradient("reads a number's bits"),
    samples=(sample(_X, dtype=int32), sample(np.array([[1, 2]], np.int32), dtype=int64)),
    may_alias=True,
)  # fmt: skip
identity = define(
    name="identity", graphdef="Identity", result=same_type, kernel=lambda x: x, gradient=pass_cotangent,
    elementwise=True, samples=(sample(_X), sample(np.array(b"a", object))),
    view=True,
)  # fmt: skip
stop_gradient = define(
    name="stop_gradient", graphdef="StopGradient", result=same_type, kernel=lambda x: x, gradient=no_cotangents,
    elementwise=True, samples=(sample(_X, differentiable=()),),
    may_alias=True,
)  # fmt: skip
check_numerics = define(
    name="check_numerics", graphdef="CheckNumerics", result=_floating_type, kernel=quiet(_check_numerics),
    gradient=_check_numerics_gradient, effects=Effects.RAISE | Effects.OUTPUT,  # not removed as unused
    samples=(sample(_X, message="x"),),
    may_alias=True,
)  # fmt: skip
