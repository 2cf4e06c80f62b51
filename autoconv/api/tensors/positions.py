"""Coordinates of flat positions, histograms, stitched rows, identities, truncated division, polynomials."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.api.tensors.accepted_dtypes import as_indices, check_dtype
from autoconv.api.tensors.arguments import convert_pair
from autoconv.api.tensors.casts import cast, stop_gradient
from autoconv.api.tensors.comparison import clip_by_value
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.constants import zeros
from autoconv.api.tensors.gather import where
from autoconv.api.tensors.reductions import reduce_max
from autoconv.api.tensors.shaping import concat, reshape, roll, shape, stack
from autoconv.graph.dtype_sets import LARGE_INTEGERS, SINGLE_OR_DOUBLE
from autoconv.graph.dtypes import as_dtype, int32
from autoconv.operators.control.staged_loops import stage_loop
from autoconv.runtime.annotations import DTypeLike, TensorLike
from autoconv.runtime.objects.variable_updates import IndexedSlices
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def unravel_index(indices: TensorLike, dims: TensorLike, name: str | None = None) -> Tensor:
    """The coordinates, [len(dims), *indices.shape], of flat indices into an array of the sizes `dims`.

    >>> autoconv.unravel_index([5, 7], [3, 4]).numpy()
    array([[1, 1],
           [1, 3]], dtype=int32)
    """
    indices = as_indices("unravel_index", indices)
    check_dtype("unravel_index", LARGE_INTEGERS, indices, dims)
    positions: Any = convert_to_tensor(indices)
    sizes: Any = convert_to_tensor(dims, positions.dtype)
    coordinates = []
    for axis in reversed(range(sizes.shape[0])):
        coordinates.append(positions % sizes[axis])
        positions = positions // sizes[axis]
    return stack(coordinates[::-1])


def histogram_fixed_width_bins(
    values: TensorLike, value_range: TensorLike, nbins: TensorLike = 100, dtype: DTypeLike = int32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The index of each value's bin, int32, where `nbins` equal bins extend from value_range[0] to value_range[1].

    Values outside of the range are in the first or the last bin, and `dtype` has no effect. Raises TypeError unless the
    range is of numbers.

    >>> autoconv.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 15.0], [0.0, 5.0], nbins=5).numpy()
    array([0, 0, 1, 4], dtype=int32)
    """
    tensor: Any = convert_to_tensor(values)
    bounds, bin_count = convert_to_tensor(value_range), convert_to_tensor(nbins, int32)
    fraction = (tensor - bounds[0]) / (bounds[1] - bounds[0])
    bin_numbers = apply("floor", fraction * cast(bin_count, fraction.dtype))
    return clip_by_value(cast(bin_numbers, int32), 0, bin_count - 1)


def histogram_fixed_width(
    values: TensorLike, value_range: TensorLike, nbins: int = 100, dtype: DTypeLike = int32, name: str | None = None
) -> Tensor:
    """The number of values in each of `nbins` equal bins from value_range[0] to value_range[1].

    >>> autoconv.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5).numpy()
    array([2, 1, 1, 0, 2], dtype=int32)
    """
    check_dtype("histogram_fixed_width", SINGLE_OR_DOUBLE | LARGE_INTEGERS, values)
    tensor = convert_to_tensor(values)
    bin_numbers = reshape(histogram_fixed_width_bins(tensor, convert_to_tensor(value_range, tensor.dtype), nbins), [-1])
    is_in_bin = apply("equal", apply("expand_dims", bin_numbers, axis=0), np.arange(nbins, dtype=np.int32)[:, None])
    return apply("reduce_sum", cast(is_in_bin, as_dtype(dtype)), axis=(1,), keepdims=False)


def dynamic_stitch(indices: Sequence[Any], data: Sequence[Any], name: str | None = None) -> Tensor:
    """The rows of all `data` in one tensor, each at its position in `indices`; of several at one position, the last.

    Positions that no row has are filled by zeros.

    >>> autoconv.dynamic_stitch([[0, 2], [1]], [[10, 30], [20]]).numpy()
    array([10, 20, 30], dtype=int32)
    """
    positions: list[Any] = [convert_to_tensor(index, int32) for index in indices]
    row_groups = [convert_to_tensor(group) for group in data]
    flat_positions = concat([reshape(target_positions, [-1]) for target_positions in positions], 0)
    row_shape = shape(row_groups[0])[len(positions[0].shape) :]  # type: ignore[index]
    all_rows = concat([reshape(group, concat([[-1], row_shape], 0)) for group in row_groups], 0)
    result_shape = concat([[reduce_max(flat_positions) + 1], row_shape], 0)
    coordinates = apply("expand_dims", flat_positions, axis=-1)
    return apply("tensor_scatter_nd_update", zeros(result_shape, all_rows.dtype), coordinates, all_rows)


def identity_n(input: Sequence[Any], name: str | None = None) -> list[Tensor]:
    """The values of a list as tensors.

    >>> [x.numpy() for x in autoconv.identity_n([1, 2.0])]
    [np.int32(1), np.float32(2.0)]
    """
    return [apply("identity", convert_to_tensor(x)) for x in input]


def guarantee_const(input: TensorLike, name: str | None = None) -> Tensor:
    """The value of the input, treated as a constant by differentiation.

    >>> autoconv.guarantee_const(3).numpy()
    np.int32(3)
    """
    return stop_gradient(input)


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function with the results of `f` and the gradient of the identity.

    >>> x = autoconv.Variable(2.6)
    >>> with autoconv.GradientTape() as tape:
    ...     y = autoconv.grad_pass_through(autoconv.round)(x)
    >>> y.numpy(), tape.gradient(y, x).numpy()
    (np.float32(3.0), np.float32(1.0))
    """

    def pass_through(x: Any, *args: Any, **kwargs: Any) -> Any:
        tensor: Any = convert_to_tensor(x)
        return tensor + stop_gradient(f(tensor, *args, **kwargs) - tensor)

    return pass_through


def scalar_mul(scalar: TensorLike, x: Any, name: str | None = None) -> Any:
    """A scalar times a tensor, or times IndexedSlices. Raises ValueError unless `scalar` has the rank 0.

    >>> autoconv.scalar_mul(2.0, autoconv.constant([1.0, 2.0])).numpy()
    array([2., 4.], dtype=float32)
    """
    if isinstance(x, IndexedSlices):
        return x.with_values(scalar_mul(scalar, x.values, name))
    tensor = convert_to_tensor(x)
    factor = convert_to_tensor(scalar, tensor.dtype)
    if factor.shape.rank not in (0, None):
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {factor.shape}.")
    return apply("multiply", factor, tensor, name=name)


def truncatediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient of integers, rounded towards zero.

    >>> autoconv.truncatediv([7, -7], [2, 2]).numpy()
    array([ 3, -3], dtype=int32)
    """
    dividend, divisor = convert_pair(x, y)
    quotient = dividend // divisor
    return quotient + cast(_is_floor_below(dividend, divisor), quotient.dtype)


def truncatemod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The remainder, with the sign of `x`, of a division that rounds towards zero.

    >>> autoconv.truncatemod([7, -7], [2, 2]).numpy()
    array([ 1, -1], dtype=int32)
    """
    dividend, divisor = convert_pair(x, y)
    if not dividend.dtype.is_integer:
        return apply("sign", dividend) * (apply("abs", dividend) % apply("abs", divisor))
    remainder = dividend % divisor
    return remainder - divisor * cast(_is_floor_below(dividend, divisor), remainder.dtype)


def _is_floor_below(dividend: Tensor, divisor: Tensor) -> Tensor:
    """Return whether the quotient rounded down is 1 less than that rounded towards zero, to which it is else equal."""
    have_different_signs = apply("not_equal", apply("less", dividend, 0), apply("less", divisor, 0))
    return apply("logical_and", have_different_signs, apply("not_equal", apply("modulo", dividend, divisor), 0))


def realdiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient of floats.

    >>> autoconv.realdiv([7.0], [2.0]).numpy()
    array([3.5], dtype=float32)
    """
    return apply("divide", x, y, name=name)


def polyval(coeffs: Sequence[Any], x: TensorLike, name: str | None = None) -> Tensor:
    """The value at x of the polynomial with the coefficients `coeffs`, that of the highest power first.

    Raises ValueError unless the coefficients are a list.

    >>> autoconv.math.polyval([1.0, 0.0, -2.0], [2.0, 3.0]).numpy()
    array([2., 7.], dtype=float32)
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    point: Any = convert_to_tensor(x)
    result = apply("zeros_like", point)
    for coefficient in coeffs:
        result = coefficient + result * point
    return result


def cumulative_logsumexp(
    x: TensorLike, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> Tensor:
    """The logarithms of the cumulative sums of exp(x) along `axis`; with `exclusive`, without the element itself.

    >>> autoconv.math.cumulative_logsumexp([0.0, 0.0, 0.0]).numpy().round(4)
    array([0.    , 0.6931, 1.0986], dtype=float32)
    """
    tensor: Any = convert_to_tensor(x)
    static_size = tensor.shape[axis]
    size: Any = shape(tensor)[axis] if static_size is None else static_size
    indices = tensor_range(size)
    later_axes = range(axis % len(tensor.shape) + 1, len(tensor.shape))
    # The distances from the place where the sums begin.
    distances = reshape(size - 1 - indices if reverse else indices, [-1, *(1 for _ in later_axes)])

    def shift(values: Any, offset: Any) -> Any:
        """Return the values moved by `offset` places away from the start, with -inf in the first places."""
        moved_values = roll(values, -offset if reverse else offset, axis)
        return where(distances < offset, -math.inf, moved_values)

    def double_width(width: Any, sums: Any) -> tuple[Any, Any]:
        """Return twice the width, and for each element the result for the window of that width which ends there."""
        return 2 * width, _logaddexp(sums, shift(sums, width))

    sums: Any = shift(tensor, 1) if exclusive else tensor
    if static_size is None:
        _, sums = stage_loop(lambda width, _: width < size, double_width, (1, sums), ("width", "sums"))
        return sums
    width = 1
    while width < static_size:
        width, sums = double_width(width, sums)
    return sums


def _logaddexp(x: Tensor, y: Tensor) -> Any:
    """Return log(exp(x) + exp(y)), without overflow."""
    maximum = stop_gradient(apply("maximum", x, y))
    is_finite = apply("is_finite", maximum)
    finite_maximum: Any = where(is_finite, maximum, 0.0)
    sums = apply("exp", x - finite_maximum) + apply("exp", y - finite_maximum)
    return where(is_finite, apply("log", where(is_finite, sums, 1.0)) + finite_maximum, maximum)
