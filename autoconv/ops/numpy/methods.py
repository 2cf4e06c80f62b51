"""Ops for methods of NumPy's arrays, with NumPy's dtypes, errors, and results for arrays without elements.

The ops of `reduction` and `elementwise` follow TensorFlow instead: a sum has the dtype of its elements, and the maximum
of an array without elements is -inf.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.graph.dtypes import DType, as_dtype, float32, float64
from autoconv.graph.effects import Effects
from autoconv.graph.types import ObjectType, Shape, TensorType
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.gradients import as_dtype_of, dtype_of, no_cotangents, pass_cotangent, restore_reduced_axes
from autoconv.ops.record import OPS, Builder, define, no_gradient, sample
from autoconv.ops.rules import broadcast, element_count, normalised_axes, reduced_shape, same_type

_X = np.array([[0.5, -1.25, 2.0], [3.5, -0.75, 1.5]])
_INTEGERS = np.array([[7, -7, 5], [1, 2, -4]], np.int32)
_BOOLS = np.array([[True, False], [True, True]])
_BOOL_RESULT = no_gradient("the result is a bool")
_INDEX_RESULT = no_gradient("the result is an index")

Axis = int | tuple[int, ...] | None


def _numpy_dtype(method: str, x: TensorType, **options: Any) -> DType:
    """Return the dtype of the method's result for elements of the dtype of x, by calling it on an example."""
    if x.dtype.is_string:
        raise TypeError(f"{method} takes arrays of numbers, found {x.dtype.name}")
    dtype = options.pop("dtype", None)
    options.pop("ddof", None)  # it may exceed the number of elements of the example, one
    if dtype is not None:
        options["dtype"] = dtype.numpy
    return as_dtype(np.asarray(getattr(np.ones(1, x.dtype.numpy), method)(**options)).dtype)


def _method_kernel(method: str) -> Callable[..., Any]:
    """Return the kernel that calls the method of that name; the attributes of the op are its keyword arguments."""

    def kernel(x: Any, **options: Any) -> Any:
        dtype = options.pop("dtype", None)
        if dtype is not None:
            options["dtype"] = dtype.numpy
        return getattr(np.asarray(x), method)(**options)

    return quiet(kernel)


def _effects_of_extreme(types: Sequence[Any], attributes: Any) -> Effects:
    """Return RAISE unless the operand is known to have elements; a size that is a symbol is never 0."""
    shape = types[0].shape
    return Effects.RAISE if shape is None or None in shape or 0 in shape else Effects.PURE


# ---- reductions


def _define_reduction(method: str, gradient: Any, samples: tuple[Any, ...], effects: Any = Effects.PURE) -> None:
    """Define the op of a method that reduces axes, such as `sum`."""

    def result(x: TensorType, *, axis: Axis = None, keepdims: bool = False, **options: Any) -> TensorType:
        return TensorType(_numpy_dtype(method, x, **options), reduced_shape(x.shape, axis, keepdims))

    define(
        name=f"numpy_{method}", graphdef=f"Numpy{method.capitalize()}", result=result, kernel=_method_kernel(method),
        gradient=gradient, effects=effects, samples=samples,
    )  # fmt: skip


def _gradient_of_reduction(op: str) -> Callable[..., Any]:
    """Return the gradient rule of a method that computes, for floats, the same as TensorFlow's reduction `op`."""

    def rule(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
        """Apply the gradient of `op`, with the result and its cotangent in the operand's dtype."""
        dtype = dtype_of(inputs[0])
        if not dtype.is_differentiable:
            return (None,)
        attributes = {"axis": _axes(inputs[0], attributes), "keepdims": attributes.get("keepdims", False)}
        result, cotangent = (b.cast(value[0], dtype=dtype) for value in (results, cotangents))
        return OPS[op].gradient(b, inputs, (result,), (cotangent,), attributes)  # type: ignore[operator]

    return rule


def _axes(x: Any, attributes: Any) -> tuple[int, ...] | None:
    axis = attributes.get("axis")
    return (axis,) if isinstance(axis, int) else axis


def _variance_gradient(is_deviation: bool) -> Callable[..., Any]:
    """Return the gradient rule of the standard deviation if `is_deviation`, else of the variance."""

    def rule(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
        """Return 2 · (x - mean) · cotangent / count; for a deviation y, divided by 2 · y."""
        (cotangent,), (x,), (y,) = cotangents, inputs, results
        dtype, axes = dtype_of(x), _axes(x, attributes)
        if dtype_of(y) is not dtype.real_dtype:
            raise TypeError(f"the variance or deviation of {dtype.name} elements is not differentiable")
        size_before, size_after = (b.cast(b.size(value), dtype=dtype.real_dtype) for value in (x, y))
        count = b.subtract(b.divide(size_before, size_after), float(attributes.get("ddof", 0)))
        if is_deviation:
            scale = b.divide(cotangent, b.multiply(count, y))
        else:
            scale = b.divide(b.multiply(cotangent, 2.0), count)
        scale = restore_reduced_axes(b, scale, x, axes, attributes.get("keepdims", False))
        return (b.multiply(b.subtract(x, b.reduce_mean(x, axis=axes, keepdims=True)), as_dtype_of(b, scale, x)),)

    return rule


_AXIS_SAMPLES = (
    sample(_X, axis=None), sample(_X, axis=(0,), keepdims=True), sample(_X, axis=-1), sample(_INTEGERS, axis=1),
)  # fmt: skip
_define_reduction("sum", _gradient_of_reduction("reduce_sum"), (*_AXIS_SAMPLES, sample(_BOOLS, axis=None)))
_define_reduction("prod", _gradient_of_reduction("reduce_prod"), (*_AXIS_SAMPLES, sample(_BOOLS, axis=0)))
_define_reduction("mean", _gradient_of_reduction("reduce_mean"), (*_AXIS_SAMPLES, sample(_BOOLS, axis=None)))
_define_reduction("max", _gradient_of_reduction("reduce_max"), _AXIS_SAMPLES, _effects_of_extreme)
_define_reduction("min", _gradient_of_reduction("reduce_min"), _AXIS_SAMPLES, _effects_of_extreme)
_define_reduction("any", _BOOL_RESULT, (sample(_BOOLS, axis=0), sample(_X, axis=None)))
_define_reduction("all", _BOOL_RESULT, (sample(_BOOLS, axis=0), sample(_X, axis=None)))
_SPREAD_SAMPLES = (sample(_X, axis=None), sample(_X, axis=0, ddof=1), sample(_X, axis=(1,), keepdims=True))
_define_reduction("var", _variance_gradient(is_deviation=False), _SPREAD_SAMPLES)
_define_reduction("std", _variance_gradient(is_deviation=True), _SPREAD_SAMPLES)
_INDEX_SAMPLES = (sample(_X, axis=None), sample(_INTEGERS, axis=-1, keepdims=True))
_define_reduction("argmax", _INDEX_RESULT, _INDEX_SAMPLES, _effects_of_extreme)
_define_reduction("argmin", _INDEX_RESULT, _INDEX_SAMPLES, _effects_of_extreme)


# ---- scans


def _define_scan(method: str) -> None:
    """Define the op of an array's method `cumsum` or `cumprod`; with axis None it scans the flattened array."""

    def result(x: TensorType, *, axis: int | None = None, dtype: DType | None = None) -> TensorType:
        """Return the type with NumPy's dtype, a vector if `axis` is None."""
        shape: Shape = x.shape
        if axis is None:
            shape = (element_count(x.shape),)
        elif x.shape is not None:
            normalised_axes(axis, len(x.shape))
        return TensorType(_numpy_dtype(method, x, dtype=dtype), shape)

    def gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
        """Apply the gradient of TensorFlow's scan, to the flattened array if `axis` is None."""
        (x,), dtype, axis = inputs, dtype_of(inputs[0]), attributes.get("axis")
        if not dtype.is_differentiable:
            return (None,)
        scanned_x = b.reshape(x, shape=(-1,)) if axis is None else x
        result, cotangent = (b.cast(value[0], dtype=dtype) for value in (results, cotangents))
        scan_attributes = {"axis": axis or 0, "exclusive": False, "reverse": False}
        operand_cotangent = OPS[method].gradient(b, (scanned_x,), (result,), (cotangent,), scan_attributes)[0]  # type: ignore[operator]
        return (b.reshape_like(operand_cotangent, x) if axis is None else operand_cotangent,)

    define(
        name=f"numpy_{method}", graphdef=f"Numpy{method.capitalize()}", result=result, kernel=_method_kernel(method),
        gradient=gradient, samples=(sample(_X, axis=None), sample(_X, axis=1), sample(_INTEGERS, axis=0)),
    )  # fmt: skip


_define_scan("cumsum")
_define_scan("cumprod")


# ---- elementwise


def _clip_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Differentiate minimum(maximum(x, low), high)."""
    x, low, high = inputs
    x_above_low = b.maximum(x, low)
    raised_cotangent, high_cotangent = OPS["minimum"].gradient(b, (x_above_low, high), results, cotangents, {})  # type: ignore[operator]
    return (*OPS["maximum"].gradient(b, (x, low), (x_above_low,), (raised_cotangent,), {}), high_cotangent)  # type: ignore[operator]


def _clip(x: Any, low: Any, high: Any) -> Any:
    return np.clip(x, low, high).astype(x.dtype, copy=False)  # NumPy returns float32 for bfloat16


define(
    name="numpy_clip", graphdef="ClipByValue", result=broadcast, kernel=quiet(_clip), gradient=_clip_gradient,
    unify="all", elementwise=True,
    samples=(sample(_X, np.array(-1.0), np.array([1.0, 1.8, 1.7])), sample(_INTEGERS, np.int32(-3), np.int32(4))),
)  # fmt: skip
define(
    name="numpy_round", graphdef="NumpyRound",
    result=lambda x, *, decimals=0: x.with_dtype(_numpy_dtype("round", x, decimals=decimals)),
    kernel=_method_kernel("round"), gradient=no_cotangents, elementwise=True,
    samples=(sample(_X + 0.125), sample(_X + 0.03125, decimals=1), sample(_INTEGERS, decimals=-1)),
)  # fmt: skip


# ---- copies


def _copy_type(x: TensorType, *, method: str, dtype: DType | None = None, copy_id: int = 0) -> TensorType:
    if method == "flatten":
        return x.with_shape((element_count(x.shape),))
    if x.dtype.is_string or (dtype is not None and dtype.is_string):
        raise TypeError(f"{method} takes arrays of numbers, found {(dtype or x.dtype).name}")
    return x if dtype is None else x.with_dtype(dtype)


def _copy(x: Any, *, method: str, dtype: DType | None = None, copy_id: int = 0) -> Any:
    """Copy the array by the named method; `copy_id` differs among copies of one array, so that none are merged."""
    return getattr(np.asarray(x), method)(*(() if dtype is None else (dtype.numpy,)))


def _copy_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    if not dtype_of(inputs[0]).is_differentiable or not dtype_of(results[0]).is_differentiable:
        return (None,)
    return (b.reshape_like(b.cast(cotangents[0], dtype=dtype_of(inputs[0])), inputs[0]),)


define(
    name="numpy_copy", graphdef="NumpyCopy", result=_copy_type, kernel=quiet(_copy), gradient=_copy_gradient,
    samples=(
        sample(_X, method="copy"), sample(_X, method="flatten"),
        sample(_X, method="astype", dtype=float64), sample(_INTEGERS, method="astype", dtype=float32),
    ),
)  # fmt: skip


def _read_only(x: Any) -> Any:
    """Return a read-only copy that owns its memory; native code has a view of the operand in its place."""
    result = np.array(x, order="C")
    result.flags.writeable = False
    return result


define(
    name="numpy_read_only", graphdef="NumpyReadOnly", result=same_type, kernel=_read_only,
    gradient=pass_cotangent, samples=(sample(_X), sample(_INTEGERS)),
    view=True,
)  # fmt: skip
define(
    name="numpy_tolist", graphdef="NumpyToList", result=lambda x: ObjectType("list" if x.shape else "any"),
    kernel=lambda x: (np.asarray(x).tolist(),), gradient=no_gradient("a Python list"),
    effects=Effects.READ | Effects.WRITE,
)  # fmt: skip
