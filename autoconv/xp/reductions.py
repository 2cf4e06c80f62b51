"""Functions of the array API standard that reduce axes (sums, extrema, deviations), and products of arrays."""

from __future__ import annotations

from autoconv.numpy.standard import numpy_implementation
from autoconv.runtime.annotations import AxisLike, DTypeLike, TensorLike
from autoconv.runtime.tensors.tensor import Tensor


def all(x: TensorLike, /, *, axis: AxisLike | None = None, keepdims: bool = False) -> Tensor:
    """True where all elements are nonzero.

    >>> autoconv.xp.all([[True, False], [True, True]], axis=1).numpy()
    array([False,  True])
    """
    return numpy_implementation("all")(x, axis, keepdims=keepdims)


def any(x: TensorLike, /, *, axis: AxisLike | None = None, keepdims: bool = False) -> Tensor:
    """True where some element is nonzero.

    >>> autoconv.xp.any([[False, False], [True, False]], axis=1).numpy()
    array([False,  True])
    """
    return numpy_implementation("any")(x, axis, keepdims=keepdims)


def max(x: TensorLike, /, *, axis: AxisLike | None = None, keepdims: bool = False) -> Tensor:
    """The largest element; nan if one of them is nan.

    >>> autoconv.xp.max([[1.0, 5.0], [3.0, 2.0]], axis=0).numpy()
    array([3., 5.])
    """
    return numpy_implementation("max")(x, axis, keepdims=keepdims)


def mean(x: TensorLike, /, *, axis: AxisLike | None = None, keepdims: bool = False) -> Tensor:
    """The arithmetic mean.

    >>> autoconv.xp.mean([1.0, 2.0, 6.0]).numpy()
    np.float64(3.0)
    """
    return numpy_implementation("mean")(x, axis, keepdims=keepdims)


def min(x: TensorLike, /, *, axis: AxisLike | None = None, keepdims: bool = False) -> Tensor:
    """The smallest element; nan if one of them is nan.

    >>> autoconv.xp.min([[1.0, 5.0], [3.0, 2.0]], axis=0).numpy()
    array([1., 2.])
    """
    return numpy_implementation("min")(x, axis, keepdims=keepdims)


def prod(
    x: TensorLike, /, *, axis: AxisLike | None = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> Tensor:
    """The product; integers of fewer than 64 bits are multiplied in int64, unsigned ones in uint64.

    >>> autoconv.xp.prod([2, 3, 4]).numpy()
    np.int64(24)
    """
    return numpy_implementation("prod")(x, axis, dtype, keepdims=keepdims)


def std(
    x: TensorLike, /, *, axis: AxisLike | None = None, correction: TensorLike = 0.0, keepdims: bool = False
) -> Tensor:
    """The standard deviation; the divisor is the number of elements minus `correction`.

    >>> autoconv.xp.std([1.0, 3.0], correction=1).numpy()
    np.float64(1.4142135623730951)
    """
    return numpy_implementation("std")(x, axis, ddof=correction, keepdims=keepdims)


def sum(
    x: TensorLike, /, *, axis: AxisLike | None = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> Tensor:
    """The sum; integers of fewer than 64 bits are added in int64, unsigned ones in uint64.

    >>> autoconv.xp.sum([[1, 2], [3, 4]], axis=1).numpy()
    array([3, 7])
    """
    return numpy_implementation("sum")(x, axis, dtype, keepdims=keepdims)


def var(
    x: TensorLike, /, *, axis: AxisLike | None = None, correction: TensorLike = 0.0, keepdims: bool = False
) -> Tensor:
    """The variance; the divisor is the number of elements minus `correction`.

    >>> autoconv.xp.var([1.0, 3.0], correction=1).numpy()
    np.float64(2.0)
    """
    return numpy_implementation("var")(x, axis, ddof=correction, keepdims=keepdims)


# ---- products


def matmul(x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """The product of matrices, stacks of them, or vectors.

    >>> autoconv.xp.matmul([[1, 2], [3, 4]], [1, 1]).numpy()
    array([3, 7])
    """
    return numpy_implementation("matmul")(x1, x2)


def matrix_transpose(x: TensorLike, /) -> Tensor:
    """The array with its last two axes exchanged.

    >>> autoconv.xp.matrix_transpose([[1, 2], [3, 4]]).numpy()
    array([[1, 3],
           [2, 4]])
    """
    return numpy_implementation("matrix_transpose")(x)


def tensordot(x1: TensorLike, x2: TensorLike, /, *, axes: AxisLike = 2) -> Tensor:
    """The sum of products over `axes`: two sequences of axes, one for each array.

    A number n stands for the last n axes of `x1` and the first n of `x2`.

    >>> autoconv.xp.tensordot([[1, 2], [3, 4]], [1, 1], axes=1).numpy()
    array([3, 7])
    """
    return numpy_implementation("tensordot")(x1, x2, axes)


def vecdot(x1: TensorLike, x2: TensorLike, /, *, axis: AxisLike = -1) -> Tensor:
    """The sum of products along an axis; complex elements of `x1` are conjugated.

    >>> autoconv.xp.vecdot([1, 2, 3], [4, 5, 6]).numpy()
    np.int64(32)
    """
    return numpy_implementation("vecdot")(x1, x2, axis=axis)


__all__ = [
    "all", "any", "matmul", "matrix_transpose", "max", "mean", "min", "prod", "std", "sum", "tensordot", "var",
    "vecdot",
]  # fmt: skip
