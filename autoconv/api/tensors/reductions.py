"""Reductions. `axis` is None (all axes), an int, a list or tuple of ints, or an integer tensor.

Raises ValueError for an axis that the tensor does not have.
"""

from __future__ import annotations

from typing import Any

from autoconv.api.tensors.accepted_dtypes import with_default_dtype
from autoconv.api.tensors.arguments import static_axes, static_int
from autoconv.api.tensors.axis_choice import accepts_run_time_axes
from autoconv.graph.dtypes import as_dtype, bool_, float64, int64
from autoconv.runtime.annotations import AxisLike, DTypeLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def _reduce(op: str, x: Any, axis: Any, keepdims: bool | None, name: str | None) -> Tensor:
    """Return the result of the reduction `op`.

    Raises UnknownAxis, which `accepts_run_time_axes` handles, for an axis known only at run time.
    """
    return apply(op, x, axis=static_axes(axis), keepdims=bool(keepdims), name=name)


def _reduce_bools(op: str, x: Any, axis: Any, keepdims: bool | None, name: str | None) -> Tensor:
    """Return the result of a reduction of bools; NumPy's arrays are cast to bools, as TensorFlow does."""
    return _reduce(op, with_default_dtype(x, bool_), axis, keepdims, name)


@accepts_run_time_axes()
def reduce_sum(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The sum over `axis`; the dtype is kept.

    >>> autoconv.reduce_sum([[1, 2], [3, 4]], axis=0).numpy()
    array([4, 6], dtype=int32)
    """
    return _reduce("reduce_sum", input_tensor, axis, keepdims, name)


@accepts_run_time_axes()
def reduce_prod(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The product over `axis`; the dtype is kept.

    >>> autoconv.reduce_prod([1, 2, 3, 4]).numpy()
    np.int32(24)
    """
    return _reduce("reduce_prod", input_tensor, axis, keepdims, name)


@accepts_run_time_axes()
def reduce_mean(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The mean over `axis`; for integers an integer, rounded towards zero.

    >>> autoconv.reduce_mean([[1.0, 2.0], [3.0, 4.0]], axis=1).numpy()
    array([1.5, 3.5], dtype=float32)
    """
    return _reduce("reduce_mean", input_tensor, axis, keepdims, name)


@accepts_run_time_axes()
def reduce_max(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The maximum over `axis`.

    >>> autoconv.reduce_max([[1, 5], [3, 4]], axis=1, keepdims=True).numpy()
    array([[5],
           [4]], dtype=int32)
    """
    return _reduce("reduce_max", input_tensor, axis, keepdims, name)


@accepts_run_time_axes()
def reduce_min(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The minimum over `axis`.

    >>> autoconv.reduce_min([[1, 5], [3, 4]]).numpy()
    np.int32(1)
    """
    return _reduce("reduce_min", input_tensor, axis, keepdims, name)


@accepts_run_time_axes()
def reduce_any(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """True where any of the bools over `axis` is true.

    >>> autoconv.reduce_any([[True, False], [False, False]], axis=1).numpy()
    array([ True, False])
    """
    return _reduce_bools("reduce_any", input_tensor, axis, keepdims, name)


@accepts_run_time_axes()
def reduce_all(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """True where all of the bools over `axis` are true.

    >>> autoconv.reduce_all([True, False]).numpy()
    np.False_
    """
    return _reduce_bools("reduce_all", input_tensor, axis, keepdims, name)


@accepts_run_time_axes()
def reduce_logsumexp(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """log(sum(exp(x))) over `axis`, without overflow.

    >>> autoconv.reduce_logsumexp([0.0, 0.0]).numpy().round(4)
    np.float32(0.6931)
    """
    return _reduce("reduce_logsumexp", input_tensor, axis, keepdims, name)


@accepts_run_time_axes()
def reduce_euclidean_norm(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The root of the sum of squares over `axis`.

    >>> autoconv.math.reduce_euclidean_norm([3.0, 4.0]).numpy().round(3)
    np.float32(5.0)
    """
    x = convert_to_tensor(input_tensor)
    if not x.dtype.is_integer:
        return _reduce("reduce_euclidean_norm", x, axis, keepdims, name)
    exact_norm = _reduce("reduce_euclidean_norm", apply("cast", x, dtype=float64), axis, keepdims, name)
    return apply("cast", exact_norm, dtype=x.dtype)


@accepts_run_time_axes()
def reduce_variance(
    input_tensor: TensorLike, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The mean squared distance from the mean over `axis`, of floating or complex tensors; the result is real.

    >>> autoconv.math.reduce_variance([1.0, 2.0, 3.0]).numpy().round(3)
    np.float32(0.667)
    """
    x = convert_to_tensor(input_tensor)
    if not x.dtype.is_differentiable:
        raise TypeError(f"reduce_variance takes floating or complex tensors, found {x.dtype.name}; cast first")
    deviation = apply("subtract", x, _reduce("reduce_mean", x, axis, keepdims=True, name=None))
    if x.dtype.is_complex:
        deviation = apply("abs", deviation)
    return _reduce("reduce_mean", apply("square", deviation), axis, keepdims, name)


@accepts_run_time_axes()
def reduce_std(
    input_tensor: TensorLike, axis: AxisLike | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The standard deviation over `axis`: the root of `reduce_variance`.

    >>> autoconv.math.reduce_std([1.0, 2.0, 3.0]).numpy().round(3)
    np.float32(0.816)
    """
    return apply("sqrt", reduce_variance(input_tensor, axis, keepdims), name=name)


@accepts_run_time_axes()
def argmax(
    input: TensorLike, axis: AxisLike | None = None, output_type: DTypeLike = int64, name: str | None = None
) -> Tensor:
    """The index along `axis` (0 by default) of the largest element, the first of equal ones.

    >>> autoconv.argmax([[1, 5], [6, 4]], axis=1).numpy()
    array([1, 0])
    """
    static_axis = static_int(0 if axis is None else axis, "axis")
    return apply("argmax", input, axis=static_axis, dtype=as_dtype(output_type), name=name)


@accepts_run_time_axes()
def argmin(
    input: TensorLike, axis: AxisLike | None = None, output_type: DTypeLike = int64, name: str | None = None
) -> Tensor:
    """The index along `axis` (0 by default) of the smallest element, the first of equal ones.

    >>> autoconv.argmin([3, 1, 2]).numpy()
    np.int64(1)
    """
    static_axis = static_int(0 if axis is None else axis, "axis")
    return apply("argmin", input, axis=static_axis, dtype=as_dtype(output_type), name=name)


@accepts_run_time_axes()
def count_nonzero(
    input: TensorLike, axis: Any = None, keepdims: bool | None = None, dtype: DTypeLike = int64, name: str | None = None
) -> Tensor:
    """The number of elements over `axis` that are not zero, or of strings that are not empty.

    >>> autoconv.math.count_nonzero([0, 3, 5]).numpy()
    np.int64(2)
    """
    x = convert_to_tensor(input)
    zeros = apply("zeros_like", x)
    is_nonzero = apply("cast", apply("not_equal", x, zeros), dtype=as_dtype(dtype))
    return _reduce("reduce_sum", is_nonzero, axis, keepdims, name)


def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """The fraction of all elements that are zero; float32.

    >>> autoconv.math.zero_fraction([0, 0, 1, 2]).numpy()
    np.float32(0.5)
    """
    x = convert_to_tensor(value)
    is_zero = apply("cast", apply("equal", x, apply("zeros_like", x)), dtype=as_dtype("float32"))
    return _reduce("reduce_mean", is_zero, axis=None, keepdims=False, name=name)
