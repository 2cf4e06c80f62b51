"""Reductions over axes (a tuple of ints, or None for all of them) that keep the dtype, as in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import DType, int64
from autoconv.graph.types import TensorType
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.gradients import conjugate, dtype_of, restore_reduced_axes
from autoconv.ops.record import Builder, Gradient, NoGradient, Op, define, no_gradient, sample
from autoconv.ops.rules import broadcast_shapes, reduced_shape
from autoconv.ops.traits import ALL, ANY, MAX, MEAN, MIN, PROD, SUM, Reduction

Axis = tuple[int, ...] | None

_X = np.array([[0.5, -1.25, 2.0], [3.5, -0.75, 1.5]])
_CUBE = np.linspace(-1.0, 2.5, 12).reshape(2, 3, 2)
_INTEGERS = np.array([[7, -7, 5], [1, 2, -4]], np.int32)
_BOOLS = np.array([[True, False], [True, True]])
_COMPLEX = np.array([[0.5 + 0.25j, -0.75 - 1.5j]])


def _axis_samples(x: Any) -> tuple[Any, ...]:
    return (
        sample(x, axis=None, keepdims=False),
        sample(x, axis=(0,), keepdims=True),
        sample(x, axis=(-1,), keepdims=False),
    )


_TWO_AXES = (sample(_CUBE, axis=(0, -1), keepdims=False), sample(_CUBE, axis=(-3, -1), keepdims=False))


def _define_reduction(
    name: str, graphdef: str, kernel: Callable[..., Any], gradient: Gradient | NoGradient, kinds: str,
    samples: tuple[Any, ...], reduction: Reduction | None = None,
) -> Op:  # fmt: skip
    """Define a reduction; `kinds` has the letter of `element_kind` for each allowed kind of dtypes."""

    def result(x: TensorType, *, axis: Axis = None, keepdims: bool = False, **_: Any) -> TensorType:
        if element_kind(x.dtype) not in kinds:
            raise TypeError(f"{name} does not take {x.dtype.name} tensors")
        return TensorType(x.dtype, reduced_shape(x.shape, axis, keepdims), x.weak)

    def checked_kernel(x: Any, *, axis: Axis = None, keepdims: bool = False) -> Any:
        return kernel(x, check_axis(x, axis), keepdims)

    return define(
        name=name, graphdef=graphdef, result=result, kernel=quiet(checked_kernel), gradient=gradient, samples=samples,
        reduction=reduction,
    )  # fmt: skip


def element_kind(dtype: DType) -> str:
    """Return the kind of a dtype: b for bool, i for all integers, f for floats, c for complex, s for strings."""
    if dtype.is_bool or dtype.is_string:
        return dtype.name[0]
    return "i" if dtype.is_integer else "f" if dtype.is_floating else "c"


def check_axis(x: Any, axis: Axis) -> Axis:
    """Return `axis`; raises InvalidArgumentError unless the array has these axes."""
    rank = np.ndim(x)
    for reduced_axis in axis or ():
        if not -rank <= reduced_axis < rank:
            raise InvalidArgumentError(
                f"Invalid reduction dimension ({reduced_axis} for input with {rank} dimension(s)"
            )
    return axis


def _reduced_count(x: Any, axis: Axis) -> int:
    """Return the number of elements that become one element of the result."""
    return int(np.prod(x.shape if axis is None else [x.shape[i] for i in axis], dtype=np.int64))


def _sum(x: Any, axis: Axis, keepdims: bool) -> Any:
    if x.dtype == np.float32 and isinstance(axis, tuple):
        return _sum_in_blocks(x, axis, keepdims)
    return np.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


_ROWS_PER_BLOCK = 128


def _sum_in_blocks(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    """Sum over leading axes in blocks of rows, and add the sums of the blocks in float64.

    NumPy adds row by row, and loses digits. Its sum over other axes, or of few rows, is exact enough and is returned.
    """
    axis_count = len(axis)
    is_leading = tuple(sorted(i % x.ndim for i in axis)) == tuple(range(axis_count)) and axis_count < x.ndim
    row_count = int(np.prod(x.shape[:axis_count], dtype=np.int64))
    is_exact_enough = not is_leading or row_count <= 4 * _ROWS_PER_BLOCK or not x.flags.c_contiguous
    if is_exact_enough:
        return np.sum(x, axis=axis, keepdims=keepdims, dtype=x.dtype)
    block_sums = np.add.reduceat(x.reshape(row_count, -1), np.arange(0, row_count, _ROWS_PER_BLOCK), axis=0)
    leading_shape = (1,) * axis_count if keepdims else ()
    return np.sum(block_sums, axis=0, dtype=np.float64).astype(x.dtype).reshape(*leading_shape, *x.shape[axis_count:])


def _prod(x: Any, axis: Axis, keepdims: bool) -> Any:
    return np.prod(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def _max(x: Any, axis: Axis, keepdims: bool) -> Any:
    return np.max(x, axis=axis, keepdims=keepdims, initial=_lowest(x.dtype))


def _min(x: Any, axis: Axis, keepdims: bool) -> Any:
    return np.min(x, axis=axis, keepdims=keepdims, initial=_highest(x.dtype))


def _lowest(dtype: Any) -> Any:
    """Return the neutral element of the maximum."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _highest(dtype: Any) -> Any:
    """Return the neutral element of the minimum."""
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf


def _mean(x: Any, axis: Axis, keepdims: bool) -> Any:
    """Return the mean, for integers rounded towards zero; without elements, nan for floats and 0 for integers."""
    count = _reduced_count(x, axis)
    if x.dtype.kind not in "iu":
        if x.dtype == np.float16:
            total = np.sum(x, axis=axis, keepdims=keepdims, dtype=np.float32)
        else:
            total = _sum(x, axis, keepdims)
        return np.asarray(np.divide(total, np.asarray(count, total.dtype))).astype(x.dtype)
    total = np.asarray(_sum(x, axis, keepdims))
    if count == 0:
        return total
    quotient, remainder = np.divmod(total, np.asarray(count, np.int64).astype(x.dtype))
    must_add_one = (remainder != 0) & (total < 0)  # the quotient was rounded down, not towards zero
    return quotient + must_add_one.astype(x.dtype)


def _any(x: Any, axis: Axis, keepdims: bool) -> Any:
    return np.any(x, axis=axis, keepdims=keepdims)


def _all(x: Any, axis: Axis, keepdims: bool) -> Any:
    return np.all(x, axis=axis, keepdims=keepdims)


def _logsumexp(x: Any, axis: Axis, keepdims: bool) -> Any:
    """Return log(sum(exp(x))), with the maximum subtracted before exp so that nothing overflows."""
    maximum = _max(x, axis, keepdims=True)
    finite_maximum = np.where(np.isfinite(maximum), maximum, np.zeros((), x.dtype))
    logarithm = np.log(np.sum(np.exp(x - finite_maximum), axis=axis, keepdims=True, dtype=x.dtype)) + finite_maximum
    return logarithm if keepdims else np.squeeze(logarithm, axis=axis)


def _norm(x: Any, axis: Axis, keepdims: bool) -> Any:
    squares = np.square(x) if x.dtype.kind == "f" else np.square(np.abs(x)).astype(x.dtype)
    return np.sqrt(_sum(squares, axis, keepdims))


def _restore_axes(b: Builder, value: Any, x: Any, attributes: Any) -> Any:
    """Return `value`, a result or cotangent of a reduction of x, with the reduced axes as dimensions of size 1."""
    return restore_reduced_axes(b, value, x, attributes.get("axis"), attributes.get("keepdims", False))


def _sum_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (x,) = cotangents, inputs
    return (b.broadcast_to_shape_of(_restore_axes(b, cotangent, x, attributes), x),)


def _mean_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (x,), (y,) = cotangents, inputs, results
    size_before, size_after = (b.cast(b.size(value, dtype=int64), dtype=dtype_of(x)) for value in (x, y))
    scaled_cotangent = b.divide(b.multiply(cotangent, size_after), size_before)
    return (b.broadcast_to_shape_of(_restore_axes(b, scaled_cotangent, x, attributes), x),)


def _prod_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Multiply the cotangent by the product of all other elements, axis by axis and without division by zeros."""
    (cotangent,), (x,) = cotangents, inputs
    axis = attributes.get("axis")
    if axis is None:
        flat_x = b.reshape(x, shape=(-1,))
        return (b.reshape_like(_times_other_elements(b, flat_x, b.reshape(cotangent, shape=(1,)), 0), x),)
    if not axis:
        return (cotangent,)
    cotangent = _restore_axes(b, cotangent, x, attributes)
    # Products over no axis, over axis[1], over axis[1:3] …; the last product is then reduced over axis[0].
    partial_products = [x]
    for other_axis in axis[1:]:
        partial_products.append(b.reduce_prod(partial_products[-1], axis=(other_axis,), keepdims=True))
    for partial_product, reduced_axis in reversed(list(zip(partial_products, (*axis[1:], axis[0]), strict=True))):
        cotangent = _times_other_elements(b, partial_product, cotangent, reduced_axis)
    return (cotangent,)


def _times_other_elements(b: Builder, x: Any, cotangent: Any, axis: int) -> Any:
    """Return, for each element of x, the cotangent times the product of the other elements along the axis."""
    before = b.cumprod(x, axis=axis, exclusive=True, reverse=False)
    after = b.cumprod(x, axis=axis, exclusive=True, reverse=True)
    return b.multiply(cotangent, conjugate(b, b.multiply(before, after)))


def _extremum_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Distribute the cotangent evenly over all elements that equal the extremum."""
    (cotangent,), (x,), (y,) = cotangents, inputs, results
    is_extremum = b.cast(b.equal(x, _restore_axes(b, y, x, attributes)), dtype=dtype_of(x))
    extremum_count = b.reduce_sum(is_extremum, axis=attributes.get("axis"), keepdims=attributes.get("keepdims", False))
    share = _restore_axes(b, b.divide(cotangent, extremum_count), x, attributes)
    return (b.multiply(is_extremum, share),)


def _logsumexp_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (x,), (y,) = cotangents, inputs, results
    softmax = b.exp(b.subtract(x, _restore_axes(b, y, x, attributes)))
    return (b.multiply(softmax, _restore_axes(b, cotangent, x, attributes)),)


def _norm_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (x,), (y,) = cotangents, inputs, results
    scaled_cotangent = b.divide(cotangent, y)
    if dtype_of(x).is_complex:  # the result is real, although its dtype is complex
        scaled_cotangent = b.complex(b.real(scaled_cotangent), b.zeros_like(b.real(scaled_cotangent)))
    return (b.multiply(x, _restore_axes(b, scaled_cotangent, x, attributes)),)


def _define_extreme_index(name: str, graphdef: str, kernel: Callable[..., Any]) -> Op:
    """Define argmax or argmin; `kernel` is NumPy's function."""

    def result(x: TensorType, *, axis: int = 0, dtype: DType = int64, **_: Any) -> TensorType:
        if element_kind(x.dtype) not in "bif":
            raise TypeError(f"{name} does not take {x.dtype.name} tensors")
        if not dtype.is_integer:
            raise TypeError(f"{name} gives integers, found output type {dtype.name}")
        return TensorType(dtype, reduced_shape(x.shape, axis, keepdims=False))

    def checked_kernel(x: Any, *, axis: int = 0, dtype: DType = int64) -> Any:
        """Return the positions of the extremes; an axis without elements raises if the result has elements."""
        check_axis(x, (axis,))
        result_shape = np.delete(np.array(x.shape), axis)
        if x.shape[axis] == 0 and result_shape.all():  # the result would have elements
            raise InvalidArgumentError(
                f"Reduction axis {axis} is empty in shape [{','.join(map(str, x.shape))}]"
            )
        if x.size == 0:
            return np.zeros(result_shape, dtype.numpy)
        return np.asarray(kernel(x, axis=axis)).astype(dtype.numpy)

    return define(
        name=name, graphdef=graphdef, result=result, kernel=quiet(checked_kernel),
        gradient=no_gradient("the result is an index"),
        samples=(sample(_X, axis=0, dtype=int64), sample(_INTEGERS, axis=-1, dtype=int64)),
    )  # fmt: skip


def _sum_to_type(x: TensorType, like: TensorType, **_: Any) -> TensorType:
    broadcast_shapes(x.shape, like.shape)
    return TensorType(x.dtype, like.shape, x.weak)


def _sum_to(x: Any, like: Any) -> Any:
    """Sum x over the axes along which `like` would be broadcast to the shape of x."""
    shape = np.shape(like)
    if np.shape(x) == shape:
        return x
    extra_rank = np.ndim(x) - len(shape)
    broadcast_axes = (i for i, size in enumerate(shape, extra_rank) if size == 1 and x.shape[i] != 1)
    return np.sum(x, axis=(*range(extra_rank), *broadcast_axes), keepdims=True, dtype=x.dtype).reshape(shape)


def _sum_to_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return b.broadcast_to_shape_of(cotangents[0], inputs[0]), None


_REAL_SAMPLES = (*_axis_samples(_X), *_TWO_AXES, *_axis_samples(_INTEGERS))
_NUMBER_SAMPLES = (*_REAL_SAMPLES, sample(_COMPLEX, axis=(1,), keepdims=False))

reduce_sum = _define_reduction("reduce_sum", "Sum", _sum, _sum_gradient, "ifc", _NUMBER_SAMPLES, SUM)
reduce_prod = _define_reduction("reduce_prod", "Prod", _prod, _prod_gradient, "ifc", _NUMBER_SAMPLES, PROD)
reduce_mean = _define_reduction("reduce_mean", "Mean", _mean, _mean_gradient, "ifc", _NUMBER_SAMPLES, MEAN)
reduce_max = _define_reduction("reduce_max", "Max", _max, _extremum_gradient, "if", _REAL_SAMPLES, MAX)
reduce_min = _define_reduction("reduce_min", "Min", _min, _extremum_gradient, "if", _REAL_SAMPLES, MIN)
_BOOL_RESULT = no_gradient("the result is a bool")
reduce_any = _define_reduction("reduce_any", "Any", _any, _BOOL_RESULT, "b", _axis_samples(_BOOLS), ANY)
reduce_all = _define_reduction("reduce_all", "All", _all, _BOOL_RESULT, "b", _axis_samples(_BOOLS), ALL)
reduce_logsumexp = _define_reduction(
    "reduce_logsumexp", "LogSumExp", _logsumexp, _logsumexp_gradient, "f", (*_axis_samples(_X), *_TWO_AXES)
)
reduce_euclidean_norm = _define_reduction(
    "reduce_euclidean_norm", "EuclideanNorm", _norm, _norm_gradient, "fc", (*_axis_samples(_X), *_TWO_AXES)
)
argmax = _define_extreme_index("argmax", "ArgMax", np.argmax)
argmin = _define_extreme_index("argmin", "ArgMin", np.argmin)
sum_to_shape_of = define(
    name="sum_to_shape_of", graphdef="SumToShapeOf", result=_sum_to_type, kernel=quiet(_sum_to),
    gradient=_sum_to_gradient, shape_only=(1,),
    samples=(
        sample(_X, np.zeros((2, 1)), differentiable=(0,)), sample(_X, np.zeros(3), differentiable=(0,)),
        sample(_X, _X, differentiable=(0,)), sample(_X, np.zeros(()), differentiable=(0,)),
        sample(np.arange(12.0).reshape(2, 3, 2), np.zeros((3, 1)), differentiable=(0,)),
    ),
    may_alias=True, reduction=SUM,
)  # fmt: skip
