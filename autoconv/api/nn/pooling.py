"""Pooling of `autoconv.nn`: the maximum or the mean of each window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from autoconv.api.nn.windows import (
    FORMATS_BY_RANK,
    Windows,
    as_image,
    lowest_number,
    padding_of_channels_last,
    per_side,
)
from autoconv.api.tensors.accepted_dtypes import check_dtype
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.dimensions import sizes_of
from autoconv.api.tensors.gather import where
from autoconv.api.tensors.shaping import reshape, transpose
from autoconv.graph.dtype_sets import FLOATING, REAL
from autoconv.graph.dtypes import as_dtype, int64, uint32, uint64
from autoconv.runtime.annotations import DTypeLike, ShapeLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def max_pool(
    input: TensorLike, ksize: ShapeLike, strides: ShapeLike, padding: str, data_format: str | None = None,
    name: str | None = None
) -> Tensor:
    """The maximum of each window, channel by channel: shape [batch, windows along each dimension, channels].

    `input` is [batch, spatial dimensions, channels] with one to three spatial dimensions. For a `data_format` that
    begins with NC, the input and the result have the channels before these. `ksize` and `strides` are a number, one
    for each spatial dimension, or one for each dimension. `padding` is "VALID", "SAME" or (before, after) for each
    dimension; padding is never the maximum. A gradient goes to the first of several maximal elements. Raises
    ValueError for other arguments, and its subclass InvalidArgumentError if windows do not fit into the image, at run
    time if sizes are unknown.

    >>> autoconv.nn.max_pool(autoconv.ones([1, 4, 4, 1]), ksize=2, strides=2, padding="VALID").shape
    TensorShape([1, 2, 2, 1])
    """
    return _pool(input, ksize, strides, padding, data_format, name, _max_of_windows)


def avg_pool(
    input: TensorLike, ksize: ShapeLike, strides: ShapeLike, padding: str, data_format: str | None = None,
    name: str | None = None
) -> Tensor:
    """The mean of the elements of each window that lie in the image; parameters as in `max_pool`.

    >>> autoconv.nn.avg_pool(autoconv.ones([1, 4, 4, 1]), ksize=2, strides=2, padding="VALID").shape
    TensorShape([1, 2, 2, 1])
    """
    return _pool(input, ksize, strides, padding, data_format, name, _mean_of_windows)


def max_pool1d(
    input: TensorLike, ksize: ShapeLike, strides: ShapeLike, padding: str, data_format: str = "NWC",
    name: str | None = None
) -> Tensor:
    """`max_pool` of an input of rank 3.

    >>> autoconv.nn.max_pool1d([[[1.0], [3.0], [2.0], [4.0]]], ksize=2, strides=2, padding="VALID").numpy()
    array([[[3.],
            [4.]]], dtype=float32)
    """
    return _pool(input, ksize, strides, padding, data_format, name, _max_of_windows)


def avg_pool1d(
    input: TensorLike, ksize: ShapeLike, strides: ShapeLike, padding: str, data_format: str = "NWC",
    name: str | None = None
) -> Tensor:
    """`avg_pool` of an input of rank 3.

    >>> autoconv.nn.avg_pool1d([[[1.0], [3.0], [2.0], [4.0]]], ksize=2, strides=2, padding="VALID").numpy()
    array([[[2.],
            [3.]]], dtype=float32)
    """
    check_dtype("avg_pool1d", FLOATING, input)
    return _pool(input, ksize, strides, padding, data_format, name, _mean_of_windows)


def max_pool2d(
    input: TensorLike, ksize: ShapeLike, strides: ShapeLike, padding: str, data_format: str = "NHWC",
    name: str | None = None
) -> Tensor:
    """`max_pool` of an input of rank 4.

    >>> autoconv.nn.max_pool2d(autoconv.ones([1, 4, 4, 1]), ksize=2, strides=2, padding="VALID").shape
    TensorShape([1, 2, 2, 1])
    """
    check_dtype("max_pool2d", REAL - {uint32, uint64}, input)
    return _pool(input, ksize, strides, padding, data_format, name, _max_of_windows)


def avg_pool2d(
    input: TensorLike, ksize: ShapeLike, strides: ShapeLike, padding: str, data_format: str = "NHWC",
    name: str | None = None
) -> Tensor:
    """`avg_pool` of an input of rank 4.

    >>> autoconv.nn.avg_pool2d(autoconv.ones([1, 4, 4, 1]), ksize=2, strides=2, padding="VALID").shape
    TensorShape([1, 2, 2, 1])
    """
    check_dtype("avg_pool2d", FLOATING, input)
    return _pool(input, ksize, strides, padding, data_format, name, _mean_of_windows)


def pool(
    input: TensorLike, window_shape: ShapeLike, pooling_type: str, strides: ShapeLike | None = None,
    padding: str = "VALID", data_format: str | None = None, dilations: ShapeLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """`max_pool` or `avg_pool` with windows whose elements are `dilations` apart; `pooling_type` is "MAX" or "AVG".

    `strides` are 1 unless they are given. Raises ValueError for another type.

    >>> autoconv.nn.pool([[[1.0], [3.0], [2.0]]], [2], "MAX").numpy().ravel()
    array([3., 3.], dtype=float32)
    """
    reducers = {"MAX": _max_of_windows, "AVG": _mean_of_windows}
    if pooling_type not in reducers:
        raise ValueError(f"`pooling_type` must be 'MAX' or 'AVG', found {pooling_type!r}")
    return _pool(input, window_shape, strides, padding, data_format, name, reducers[pooling_type], dilations)


_MakeWindows = Callable[[Tensor], Windows]  # returns the windows over an image


def _pool(
    input: TensorLike, ksize: ShapeLike, strides: ShapeLike | None, padding: str, data_format: str | None,
    name: str | None, reduce_windows: Callable[[Tensor, _MakeWindows], Tensor], dilations: ShapeLike | None = None,
) -> Tensor:  # fmt: skip
    """Return the result of `reduce_windows` in the input's format.

    `reduce_windows` gets the image, channels last, and a function that makes the windows over an image of the same
    spatial sizes.
    """
    x = convert_to_tensor(input) if data_format is None else as_image(input, len(data_format))
    rank = 0 if x.type.shape is None else len(x.type.shape)
    formats = FORMATS_BY_RANK.get(rank)
    if formats is None or data_format not in (None, *formats):
        requirement = "of 3 to 5 dimensions" if formats is None else f"with a data_format of {' or '.join(formats)}"
        raise ValueError(f"pooling takes an input {requirement}, found {x.type} and {data_format!r}")
    is_channels_first = data_format == formats[1]
    image = transpose(x, [0, *range(2, rank), 1]) if is_channels_first else x
    image_padding = padding_of_channels_last(padding, rank, is_channels_first)
    window_sizes = per_side("ksize", ksize, rank - 2, is_channels_first)
    side_strides = per_side("strides", strides, rank - 2, is_channels_first)
    side_dilations = per_side("dilations", dilations, rank - 2, is_channels_first)
    result = reduce_windows(
        image, lambda x: Windows(x, window_sizes, side_strides, side_dilations, image_padding, label="windows")
    )
    result = transpose(result, [0, rank - 1, *range(1, rank - 1)]) if is_channels_first else result
    return apply("identity", result, name=name)


def _max_of_windows(image: Tensor, make_windows: _MakeWindows) -> Tensor:
    """Return the maximum of each window."""
    filler = lowest_number(image.dtype)
    (_, maxima), *other_positions = make_windows(image).elements_by_position(filler)
    for _, elements in other_positions:
        maxima = apply("maximum", maxima, elements)
    return maxima


def _mean_of_windows(image: Tensor, make_windows: _MakeWindows) -> Tensor:
    """Return the mean of each window, over the elements that lie in the image."""
    windows = make_windows(image)
    if not any(isinstance(amount, Tensor) or amount for pair in windows.padding for amount in pair):
        elements_by_position = windows.elements_by_position(0)
        return apply("divide", _sum_over_positions(elements_by_position), float(len(elements_by_position)))
    one_channel = (slice(0, 1), *[slice(None)] * (len(windows.window_counts)), slice(0, 1))
    ones = apply("ones_like", get_item(image, one_channel))  # their sum over a window counts its elements
    total = _sum_over_positions(windows.elements_by_position(0))
    count = _sum_over_positions(make_windows(ones).elements_by_position(0))
    return apply("divide", total, count)


def _sum_over_positions(elements_by_position: Any) -> Tensor:
    """Return the sum of the elements of each window, from the result of `Windows.elements_by_position`."""
    (_, total), *other_positions = elements_by_position
    for _, elements in other_positions:
        total = apply("add", total, elements)
    return total


def max_pool3d(
    input: TensorLike, ksize: ShapeLike, strides: ShapeLike, padding: str, data_format: str = "NDHWC",
    name: str | None = None
) -> Tensor:
    """`max_pool` of an input of rank 5.

    >>> autoconv.nn.max_pool3d(autoconv.ones([1, 4, 4, 4, 1]), ksize=2, strides=2, padding="VALID").shape
    TensorShape([1, 2, 2, 2, 1])
    """
    return max_pool(input, ksize, strides, padding, data_format, name)


def avg_pool3d(
    input: TensorLike, ksize: ShapeLike, strides: ShapeLike, padding: str, data_format: str = "NDHWC",
    name: str | None = None
) -> Tensor:
    """`avg_pool` of an input of rank 5.

    >>> autoconv.nn.avg_pool3d(autoconv.ones([1, 4, 4, 4, 1]), ksize=2, strides=2, padding="VALID").shape
    TensorShape([1, 2, 2, 2, 1])
    """
    return avg_pool(input, ksize, strides, padding, data_format, name)


class MaxPoolWithArgmax(NamedTuple):
    """The result of `max_pool_with_argmax`."""

    output: Tensor
    argmax: Tensor


def max_pool_with_argmax(
    input: TensorLike, ksize: ShapeLike, strides: ShapeLike, padding: str, data_format: str = "NHWC",
    output_dtype: DTypeLike = int64, include_batch_in_index: bool = False, name: str | None = None,
) -> MaxPoolWithArgmax:  # fmt: skip
    """The maximum of each window, and its index in the flat image: (row · width + column) · channels + channel.

    With `include_batch_in_index`, the index is that in the flat batch. Of equal elements the first one is taken.

    >>> image = autoconv.reshape([1.0, 4.0, 3.0, 2.0], [1, 2, 2, 1])
    >>> maxima, indices = autoconv.nn.max_pool_with_argmax(image, 2, 2, "VALID")
    >>> maxima.numpy().item(), indices.numpy().item()
    (4.0, 1)
    """
    if data_format != "NHWC":
        raise ValueError("`data_format` values other  than 'NHWC' are not supported. Found: " + repr(data_format))
    x: Any = convert_to_tensor(input)
    sizes = sizes_of(x)
    window_sizes = per_side("ksize", ksize, 2, is_channels_first=False)
    side_strides = per_side("strides", strides, 2, is_channels_first=False)
    windows = Windows(x, window_sizes, side_strides, (1, 1), padding, "windows")
    values_by_position = windows.elements_by_position(lowest_number(x.dtype))
    image_element_count = sizes[1] * sizes[2] * sizes[3]
    flat_indices: Any = reshape(tensor_range(cast(image_element_count, int64)), [1, *sizes[1:]])
    index_windows = Windows(flat_indices, window_sizes, side_strides, (1, 1), padding, "windows")
    indices_by_position = index_windows.elements_by_position(0)
    (_, maxima), *later_values = values_by_position
    (_, first_indices), *later_indices = indices_by_position
    argmax = apply("broadcast_to_shape_of", first_indices, maxima)
    for (_, value), (_, indices) in zip(later_values, later_indices, strict=True):
        is_greater = apply("greater", value, maxima)
        maxima, argmax = where(is_greater, value, maxima), where(is_greater, indices, argmax)
    if include_batch_in_index:
        argmax = argmax + reshape(tensor_range(cast(sizes[0], int64)) * cast(image_element_count, int64), [-1, 1, 1, 1])
    return MaxPoolWithArgmax(maxima, cast(argmax, as_dtype(output_dtype)))
