"""The standard's functions that rearrange elements, and those that search or select them."""

from __future__ import annotations

from typing import Any

from autoconv.numpy.operands import axis_of, rank_of, require_known_shape, tensor
from autoconv.numpy.standard import numpy_implementation
from autoconv.runtime.annotations import AxisLike, DTypeLike, IntLike, ShapeLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def concat(arrays: TensorLike, /, *, axis: AxisLike = 0) -> Tensor:
    """The arrays concatenated along an axis; flattened first if `axis` is None.

    >>> autoconv.xp.concat([[1, 2], [3]]).numpy()
    array([1, 2, 3])
    """
    return numpy_implementation("concatenate")(arrays, axis)


def expand_dims(x: TensorLike, /, axis: AxisLike = 0) -> Tensor:
    """The array with a dimension of size 1 inserted at `axis`.

    >>> autoconv.xp.expand_dims([1, 2], axis=1).numpy()
    array([[1],
           [2]])
    """
    return numpy_implementation("expand_dims")(x, axis)


def flip(x: TensorLike, /, *, axis: AxisLike | None = None) -> Tensor:
    """The elements in reverse order along the axes, all of them if `axis` is None.

    >>> autoconv.xp.flip([1, 2, 3]).numpy()
    array([3, 2, 1])
    """
    return numpy_implementation("flip")(x, axis)


def moveaxis(x: TensorLike, source: TensorLike, destination: Any, /) -> Tensor:
    """The array with axes moved to other positions.

    >>> autoconv.xp.moveaxis(np.zeros((2, 3, 4)), 0, 2).shape
    TensorShape([3, 4, 2])
    """
    return numpy_implementation("moveaxis")(x, source, destination)


def permute_dims(x: TensorLike, /, axes: AxisLike) -> Tensor:
    """The array with its axes permuted.

    >>> autoconv.xp.permute_dims(np.zeros((2, 3, 4)), (2, 0, 1)).shape
    TensorShape([4, 2, 3])
    """
    return numpy_implementation("transpose")(x, axes)


def repeat(x: TensorLike, repeats: TensorLike, /, *, axis: AxisLike | None = None) -> Tensor:
    """The array with each element repeated `repeats` times along an axis; it is flattened first if `axis` is None.

    >>> autoconv.xp.repeat([1, 2], 2).numpy()
    array([1, 1, 2, 2])
    """
    return numpy_implementation("repeat")(x, repeats, axis)


def reshape(x: TensorLike, /, shape: ShapeLike, *, copy: bool | None = None) -> Tensor:
    """The same elements in another shape; one size may be -1 and is then inferred.

    >>> autoconv.xp.reshape([1, 2, 3, 4], (2, 2)).numpy()
    array([[1, 2],
           [3, 4]])
    """
    return numpy_implementation("reshape")(x, shape)


def roll(x: TensorLike, /, shift: TensorLike, *, axis: AxisLike | None = None) -> Tensor:
    """The elements shifted cyclically along the axes; as in the flattened array if `axis` is None.

    >>> autoconv.xp.roll([1, 2, 3], 1).numpy()
    array([3, 1, 2])
    """
    return numpy_implementation("roll")(x, shift, axis)


def squeeze(x: TensorLike, /, axis: AxisLike) -> Tensor:
    """The array without the axes `axis`; raises ValueError for an axis whose size is not 1.

    >>> autoconv.xp.squeeze([[1, 2]], axis=0).numpy()
    array([1, 2])
    """
    return numpy_implementation("squeeze")(x, axis)


def stack(arrays: TensorLike, /, *, axis: AxisLike = 0) -> Tensor:
    """The arrays, all of one shape, stacked along a new axis.

    >>> autoconv.xp.stack([[1, 2], [3, 4]]).numpy()
    array([[1, 2],
           [3, 4]])
    """
    return numpy_implementation("stack")(arrays, axis)


def tile(x: TensorLike, repetitions: ShapeLike, /) -> Tensor:
    """The array repeated along each axis.

    >>> autoconv.xp.tile([1, 2], 2).numpy()
    array([1, 2, 1, 2])
    """
    return numpy_implementation("tile")(x, repetitions)


def unstack(x: TensorLike, /, *, axis: AxisLike = 0) -> tuple[Tensor, ...]:
    """The parts of the array along an axis, without that axis.

    >>> [part.numpy().tolist() for part in autoconv.xp.unstack([[1, 2], [3, 4]])]
    [[1, 2], [3, 4]]
    """
    x_tensor = tensor(x)
    axis_index = axis_of(axis, rank_of(x_tensor))
    rows = moveaxis(x_tensor, axis_index, 0)
    return tuple(get_item(rows, i) for i in range(require_known_shape(rows)[0]))


# ---- search and selection


def argmax(x: TensorLike, /, *, axis: AxisLike | None = None, keepdims: bool = False) -> Tensor:
    """The index of the first of the largest elements.

    >>> autoconv.xp.argmax([2.0, 7.0, 5.0]).numpy()
    np.int64(1)
    """
    return numpy_implementation("argmax")(x, axis, keepdims=keepdims)


def argmin(x: TensorLike, /, *, axis: AxisLike | None = None, keepdims: bool = False) -> Tensor:
    """The index of the first of the smallest elements.

    >>> autoconv.xp.argmin([2.0, 7.0, 5.0]).numpy()
    np.int64(0)
    """
    return numpy_implementation("argmin")(x, axis, keepdims=keepdims)


def count_nonzero(x: TensorLike, /, *, axis: AxisLike | None = None, keepdims: bool = False) -> Tensor:
    """The number of nonzero elements, int64.

    >>> autoconv.xp.count_nonzero([1, 0, 2]).numpy()
    np.int64(2)
    """
    return numpy_implementation("count_nonzero")(x, axis, keepdims=keepdims)


def nonzero(x: TensorLike, /) -> tuple[Tensor, ...]:
    """The indices of the nonzero elements, one vector for each axis; raises ValueError for an array without axes.

    >>> [part.numpy().tolist() for part in autoconv.xp.nonzero([0, 3, 0, 4])]
    [[1, 3]]
    """
    return numpy_implementation("nonzero")(x)


def searchsorted(x1: TensorLike, x2: TensorLike, /, *, side: str = "left", sorter: TensorLike | None = None) -> Tensor:
    """The index at which an insertion of each element of `x2` into the vector `x1` keeps the order of `x1`.

    `x1` is sorted, or `sorter` are the indices that sort it.

    >>> autoconv.xp.searchsorted([1, 3, 5], [0, 3, 6]).numpy()
    array([0, 1, 3])
    """
    return numpy_implementation("searchsorted")(x1, x2, side, sorter)


def take(x: TensorLike, indices: TensorLike, /, *, axis: AxisLike | None = None) -> Tensor:
    """The elements at `indices` along an axis, which may be omitted for a vector.

    >>> autoconv.xp.take([10, 20, 30], [2, 0]).numpy()
    array([30, 10])
    """
    if axis is None and rank_of(tensor(x)) != 1:
        raise ValueError("take needs an axis for an array of other than one dimension")
    return numpy_implementation("take")(x, indices, 0 if axis is None else axis)


def take_along_axis(x: TensorLike, indices: TensorLike, /, *, axis: AxisLike = -1) -> Tensor:
    """The elements at `indices` along an axis, with separate indices for each row.

    >>> autoconv.xp.take_along_axis(np.array([[3, 1], [2, 4]]), np.array([[1], [0]])).numpy()
    array([[1],
           [2]])
    """
    return numpy_implementation("take_along_axis")(x, indices, axis)


def where(condition: TensorLike, x1: TensorLike, x2: TensorLike, /) -> Tensor:
    """Elements of `x1` where the condition is true, else of `x2`.

    >>> autoconv.xp.where([True, False], [1, 2], [3, 4]).numpy()
    array([1, 4])
    """
    return numpy_implementation("where")(condition, x1, x2)


# ---- order


def argsort(x: TensorLike, /, *, axis: AxisLike = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The indices that sort the array; equal elements keep their order.

    >>> autoconv.xp.argsort([3, 1, 2]).numpy()
    array([1, 2, 0])
    """
    if not descending:
        return numpy_implementation("argsort")(x, axis, stable=stable)
    x_tensor = tensor(x)
    reversed_order = flip(numpy_implementation("argsort")(flip(x_tensor, axis=axis), axis, stable=stable), axis=axis)
    last_index = tensor(require_known_shape(x_tensor)[axis_of(axis, rank_of(x_tensor))] - 1)
    return apply("subtract", last_index, reversed_order)


def sort(x: TensorLike, /, *, axis: AxisLike = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements sorted along an axis; equal elements, such as 0.0 and -0.0, keep their order.

    >>> autoconv.xp.sort([3, 1, 2], descending=True).numpy()
    array([3, 2, 1])
    """
    sort_ascending = numpy_implementation("sort")
    return flip(sort_ascending(flip(x, axis=axis), axis), axis=axis) if descending else sort_ascending(x, axis)


def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Cumulative sums along an axis (optional for a vector), with a leading zero for `include_initial`.

    >>> autoconv.xp.cumulative_sum([1, 2, 3], include_initial=True).numpy()
    array([0, 1, 3, 6])
    """
    return _cumulate("cumsum", x, axis, dtype, include_initial)


def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Cumulative products along an axis (optional for a vector), with a leading one for `include_initial`.

    >>> autoconv.xp.cumulative_prod([2, 3, 4]).numpy()
    array([ 2,  6, 24])
    """
    return _cumulate("cumprod", x, axis, dtype, include_initial)


def _cumulate(name: str, x: TensorLike, axis: AxisLike, dtype: DTypeLike, include_initial: bool) -> Tensor:
    """Return NumPy's cumulative function of that name; with `include_initial`, its neutral element comes first."""
    x_tensor = tensor(x)
    if axis is None and rank_of(x_tensor) != 1:
        raise ValueError(f"{name} needs an axis for an array of other than one dimension")
    axis_index = axis_of(0 if axis is None else axis, rank_of(x_tensor))
    result = numpy_implementation(name)(x_tensor, axis_index, dtype)
    if not include_initial:
        return result
    shape = tuple(1 if i == axis_index else size for i, size in enumerate(require_known_shape(result)))
    initial = apply("fill", tensor(name == "cumprod", result.dtype), shape=shape)
    return apply("concat", initial, result, axis=axis_index)


def diff(
    x: TensorLike, /, *, axis: AxisLike = -1, n: IntLike = 1, prepend: TensorLike | None = None,
    append: TensorLike | None = None,
) -> Tensor:  # fmt: skip
    """Differences of neighbours along an axis, taken n times in succession.

    >>> autoconv.xp.diff([1, 4, 9]).numpy()
    array([3, 5])
    """
    further_elements = {name: value for name, value in (("prepend", prepend), ("append", append)) if value is not None}
    return numpy_implementation("diff")(x, n, axis, **further_elements)


# ---- sets: distinct elements of the flattened array, where each nan is distinct


def unique_all(x: TensorLike, /) -> Any:
    """(values, indices, inverse_indices, counts) of the distinct elements.

    >>> [part.numpy().tolist() for part in autoconv.xp.unique_all([3, 1, 3])]
    [[1, 3], [1, 0], [1, 0, 1], [1, 2]]
    """
    return numpy_implementation("unique_all")(x)


def unique_counts(x: TensorLike, /) -> Any:
    """(values, counts) of the distinct elements.

    >>> [part.numpy().tolist() for part in autoconv.xp.unique_counts([3, 1, 3])]
    [[1, 3], [1, 2]]
    """
    return numpy_implementation("unique_counts")(x)


def unique_inverse(x: TensorLike, /) -> Any:
    """(values, inverse_indices) of the distinct elements.

    >>> [part.numpy().tolist() for part in autoconv.xp.unique_inverse([3, 1, 3])]
    [[1, 3], [1, 0, 1]]
    """
    return numpy_implementation("unique_inverse")(x)


def unique_values(x: TensorLike, /) -> Tensor:
    """The distinct elements.

    >>> autoconv.xp.unique_values([3, 1, 3]).numpy()
    array([1, 3])
    """
    return numpy_implementation("unique_values")(x)


__all__ = [
    "argmax", "argmin", "argsort", "concat", "count_nonzero", "cumulative_prod", "cumulative_sum", "diff",
    "expand_dims", "flip", "moveaxis", "nonzero", "permute_dims", "repeat", "reshape", "roll", "searchsorted", "sort",
    "squeeze", "stack", "take", "take_along_axis", "tile", "unique_all", "unique_counts", "unique_inverse",
    "unique_values", "unstack", "where",
]  # fmt: skip
