"""Convolutions of `autoconv.nn`, as matrix products.

One product takes all patches under the kernel (im2col) unless these are too many; otherwise there is one product for
each element of the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.api.control.flow import cond
from autoconv.api.nn.computed_filters import convolve_computed_sides
from autoconv.api.nn.correlation import Correlation, convolve_depthwise, needs_gradient
from autoconv.api.nn.windows import (
    Padding,
    Part,
    Windows,
    as_image,
    check_format,
    has_channels_first,
    padding_of_channels_last,
    per_side,
)
from autoconv.api.tensors.accepted_dtypes import check_dtype
from autoconv.api.tensors.comparison import equal
from autoconv.api.tensors.dimensions import sizes_of
from autoconv.api.tensors.shaping import concat, reshape, transpose
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtype_sets import FLOATING
from autoconv.graph.dtypes import int32
from autoconv.graph.types import Dimension
from autoconv.runtime.annotations import ShapeLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

_MAX_PATCH_ELEMENTS = 1 << 23  # limit of the elements in all patches of one product
# With at least so many filters per channel, all patches take little memory in comparison with the product.
_MIN_FILTERS_PER_CHANNEL = 16
_MIN_CHANNELS = 16  # images of unknown sizes with at least so many channels take a product for each kernel element


def convolution(
    input: TensorLike, filters: TensorLike, strides: ShapeLike | None = None, padding: Padding = "VALID",
    data_format: str | None = None, dilations: ShapeLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The cross-correlation of inputs with filters: shape [batch, sides, filters].

    `input` is [batch, sides, channels], where sides are one to three spatial sizes. For a `data_format` that begins
    with NC, the input and the result have the channels before the sides. `filters` is [sides, channels, filters].
    `strides` and `dilations` are a number, one for each side, or one for each dimension. `padding` is "VALID", "SAME"
    (zeros around, one more after than before if their number is odd) or (before, after) for each dimension.
    Filters with fewer channels than the input apply to groups of channels: the first filters to the first group, and
    so on. Raises ValueError where strides and dilations are both above 1, which only `conv1d`, `conv2d` and `conv3d`
    accept. Raises ValueError while tracing, or its subclass InvalidArgumentError at run time, if filters do not fit
    into the input.

    >>> autoconv.nn.convolution(autoconv.ones([1, 4, 4, 1]), autoconv.ones([2, 2, 1, 3]), padding="SAME").shape
    TensorShape([1, 4, 4, 3])
    """
    if all(amounts is not None and np.asarray(amounts).max() > 1 for amounts in (strides, dilations)):
        raise ValueError(f"strides > 1 not supported in conjunction with dilations > 1: {strides!r}, {dilations!r}")
    return _convolution(input, filters, strides, padding, data_format, dilations, name)


def _convolution(
    input: TensorLike, filters: TensorLike, strides: ShapeLike | None, padding: Padding, data_format: str | None,
    dilations: ShapeLike | None, name: str | None,
) -> Tensor:  # fmt: skip
    """Return the result of `convolution`, for which both strides and dilations may be above 1."""
    kernel = convert_to_tensor(filters)
    rank = 0 if kernel.type.shape is None else len(kernel.type.shape)
    x = as_image(input, rank)
    is_channels_first = has_channels_first(rank, data_format)
    image = transpose(x, [0, *range(2, rank), 1]) if is_channels_first else x
    image_padding = padding_of_channels_last(padding, rank, is_channels_first)
    side_strides = per_side("strides", strides, rank - 2, is_channels_first)
    side_dilations = per_side("dilations", dilations, rank - 2, is_channels_first)
    result = _convolve(image, kernel, side_strides, side_dilations, image_padding)
    result = transpose(result, [0, rank - 1, *range(1, rank - 1)]) if is_channels_first else result
    return apply("identity", result, name=name)


def conv2d(
    input: TensorLike, filters: TensorLike, strides: ShapeLike, padding: Padding, data_format: str = "NHWC",
    dilations: ShapeLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """`convolution` of images, [batch, height, width, channels] (NCHW: [batch, channels, height, width]).

    >>> autoconv.nn.conv2d(autoconv.ones([1, 4, 4, 1]), autoconv.ones([2, 2, 1, 3]), strides=1, padding="SAME").shape
    TensorShape([1, 4, 4, 3])
    """
    check_dtype("conv2d", FLOATING | {int32}, input)
    check_format(4, data_format)
    return _convolution(input, filters, strides, padding, data_format, dilations, name)


def conv1d(
    input: TensorLike, filters: TensorLike, stride: ShapeLike, padding: Padding, data_format: str = "NWC",
    dilations: ShapeLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """`convolution` of sequences, [batch, width, channels] (NCW: [batch, channels, width]).

    >>> autoconv.nn.conv1d([[[1.0], [2.0], [3.0]]], [[[1.0]], [[1.0]]], stride=1, padding="VALID").numpy()
    array([[[3.],
            [5.]]], dtype=float32)
    """
    check_format(3, data_format)
    return _convolution(input, filters, stride, padding, data_format, dilations, name)


def conv3d(
    input: TensorLike, filters: TensorLike, strides: ShapeLike, padding: Padding, data_format: str = "NDHWC",
    dilations: ShapeLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """`convolution` of volumes, [batch, depth, height, width, channels] (NCDHW: channels after the batch).

    >>> x, kernel = autoconv.ones([1, 3, 3, 3, 1]), autoconv.ones([2, 2, 2, 1, 1])
    >>> autoconv.nn.conv3d(x, kernel, strides=[1, 1, 1, 1, 1], padding="VALID").shape
    TensorShape([1, 2, 2, 2, 1])
    """
    check_format(5, data_format)
    return _convolution(input, filters, strides, padding, data_format, dilations, name)


def depthwise_conv2d(
    input: TensorLike, filter: TensorLike, strides: ShapeLike, padding: Padding, data_format: str | None = None,
    dilations: ShapeLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """`conv2d` in which each channel has filters of its own.

    `filter` is [height, width, channels, multiplier]; the result has channels * multiplier channels, those of the first
    input channel first.

    >>> x, kernel = autoconv.ones([1, 3, 3, 2]), autoconv.ones([2, 2, 2, 1])
    >>> autoconv.nn.depthwise_conv2d(x, kernel, strides=[1, 1, 1, 1], padding="VALID").shape
    TensorShape([1, 2, 2, 2])
    """
    check_dtype("depthwise_conv2d", FLOATING, input)
    kernel = convert_to_tensor(filter)
    if len(kernel.shape) != 4:
        raise ValueError(f"filters for each channel have four dimensions, found {kernel.type}")
    *sides, channels, multiplier = sizes_of(kernel)
    kernel = reshape(kernel, [*sides, 1, channels * multiplier])
    return conv2d(input, kernel, strides, padding, data_format or "NHWC", dilations, name)


def separable_conv2d(
    input: TensorLike, depthwise_filter: TensorLike, pointwise_filter: TensorLike, strides: ShapeLike, padding: Padding,
    data_format: str | None = None, dilations: ShapeLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """`depthwise_conv2d`, then a product of the channels with a filter, [1, 1, channels * multiplier, filters].

    >>> x, kernel = autoconv.ones([1, 3, 3, 2]), autoconv.ones([2, 2, 2, 1])
    >>> point = autoconv.ones([1, 1, 2, 5])
    >>> autoconv.nn.separable_conv2d(x, kernel, point, strides=[1, 1, 1, 1], padding="VALID").shape
    TensorShape([1, 2, 2, 5])
    """
    channels = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(channels, pointwise_filter, 1, "VALID", data_format or "NHWC", name=name)


def atrous_conv2d(
    value: TensorLike, filters: TensorLike, rate: int, padding: Padding, name: str | None = None
) -> Tensor:
    """`conv2d` with filters whose elements are `rate` pixels apart.

    >>> x, kernel = autoconv.ones([1, 5, 5, 1]), autoconv.ones([2, 2, 1, 1])
    >>> autoconv.nn.atrous_conv2d(x, kernel, rate=2, padding="VALID").shape
    TensorShape([1, 3, 3, 1])
    """
    return conv2d(value, filters, 1, padding, dilations=rate, name=name)


def _convolve(
    image: Tensor, filters: Tensor, side_strides: Sequence[int], side_dilations: Sequence[int], padding: Padding
) -> Tensor:
    """Return the convolution of an image [batch, sides, channels], in which each group of channels has its filters."""
    image_shape, filter_shape = image.type.shape, filters.type.shape
    if image_shape is None or filter_shape is None or len(image_shape) != len(filter_shape):
        raise ValueError(f"an image and its filters have to be of one rank, found {image_shape} and {filter_shape}")
    group_count = _group_count(image_shape[-1], filter_shape)
    are_sides_known = all(isinstance(side, int) for side in filter_shape[:-2])

    def convolve_computed() -> Tensor:
        return convolve_computed_sides(image, filters, side_strides, side_dilations, padding, group_count)

    def convolve_groups(group_count: int) -> Tensor:
        return _convolve_groups(image, filters, side_strides, side_dilations, padding, group_count)

    if not are_sides_known or (group_count not in (1, None) and not isinstance(filter_shape[-1], int)):
        return convolve_computed()
    if group_count is None:
        has_one_group = equal(sizes_of(image)[-1], sizes_of(filters)[-2])
        return cond(has_one_group, lambda: convolve_groups(1), convolve_computed)
    return convolve_groups(group_count)


def _convolve_groups(
    image: Tensor, filters: Tensor, side_strides: Sequence[int], side_dilations: Sequence[int], padding: Padding,
    group_count: int,
) -> Tensor:  # fmt: skip
    """Return the result of `_convolve` for filters with known sides and a known number of groups."""
    filter_shape: tuple[Any, ...] = filters.type.shape or ()
    *kernel_sides, channels, filter_count = filter_shape
    if group_count > 1 and channels > 1:
        sizes = channels, filter_count // group_count
        slices = [[(..., slice(i * size, (i + 1) * size)) for size in sizes] for i in range(group_count)]
        groups = [(get_item(image, of_image), get_item(filters, of_filters)) for of_image, of_filters in slices]
        geometry: Any = side_strides, side_dilations, padding, 1
        return concat([_convolve_groups(*group, *geometry) for group in groups], -1)
    windows = Windows(image, kernel_sides, side_strides, side_dilations, padding, "filters")
    multiplier = filter_count // group_count if group_count > 1 else 0
    if _has_gradient_by_convolution(windows, image, filters, side_strides, multiplier):
        image_sides = [side if isinstance(side, int) else None for side in image.type.shape[1:-1]]  # type: ignore[index]
        correlation = Correlation(
            kernel_sides=kernel_sides, strides=side_strides, dilations=side_dilations, padding=windows.padding,
            image_sides=image_sides, multiplier=multiplier,
        )  # fmt: skip
        return correlation.convolve_with_gradient(image, filters)
    parts = windows.elements_by_position(0)
    return convolve_depthwise(parts, filters, multiplier) if multiplier else multiply(parts, filters)


def _has_gradient_by_convolution(
    windows: Windows, image: Tensor, filters: Tensor, strides: Sequence[int], multiplier: int
) -> bool:
    """Return whether a convolution should have the gradients of `Correlation`.

    Channels and the sides of filters have to be known, and filters of more than one element. With unknown sides of
    images, steps have to be 1, and no padding may be wider than its filter reaches. With few channels, a convolution
    of the cotangent would waste most lanes of vectors, except where each channel has filters of its own.
    """
    filter_shape: tuple[Any, ...] = filters.type.shape or ()
    *kernel_sides, channels, _ = filter_shape
    sizes = (*filter_shape, image.type.shape[-1])  # type: ignore[index]
    if not all(isinstance(size, int) for size in sizes) or math.prod(kernel_sides) == 1:
        return False
    if None in windows.window_counts:
        pairs = zip(windows.padding, windows.reaches, strict=True)
        if max(strides) > 1 or any(max(padding) > reach for padding, reach in pairs):
            return False
    return (channels >= _MIN_CHANNELS or multiplier > 0) and needs_gradient(image)


def _group_count(channels: Dimension, filter_shape: Sequence[Dimension]) -> int | None:
    """Return the number of groups into which `channels` of an image fall; None if a number of channels is unknown."""
    filter_channels, filter_count = filter_shape[-2:]
    if not isinstance(channels, int) or not isinstance(filter_channels, int):
        return None
    if channels == filter_channels:
        return 1
    if filter_channels == 0 or channels % filter_channels:
        raise InvalidArgumentError(f"the image has {channels} channels, the filters have {filter_channels}")
    group_count = channels // filter_channels
    if isinstance(filter_count, int) and filter_count % group_count:
        raise ValueError(
            f"{filter_count} filters cannot be divided into {group_count} groups, of {filter_channels} channels each"
        )
    return group_count


def multiply(parts: Sequence[Part], filters: Tensor) -> Tensor:
    """Return the sum of the products of `parts` with the filters at their positions, by one product if that is small.

    `parts` are the elements of the windows by their position in the kernel, see `Windows.elements_by_position`.
    """
    filter_shape = filters.type.shape
    assert filter_shape is not None
    channels, filter_count = filter_shape[-2:]
    _, first_part = parts[0]
    batch, *sides, _ = first_part.type.shape  # type: ignore[misc]
    if isinstance(channels, int) and len(parts) > 1:
        patch_size = channels * len(parts)
        known_sizes = [size for size in (batch, *sides) if isinstance(size, int)]
        fits_one_product = math.prod(known_sizes) * patch_size <= _MAX_PATCH_ELEMENTS or (
            isinstance(filter_count, int) and channels * _MIN_FILTERS_PER_CHANNEL <= filter_count
        )
        are_all_sizes_known = len(known_sizes) == len(sides) + 1
        if fits_one_product and (are_all_sizes_known or channels < _MIN_CHANNELS):
            patches = concat([part for _, part in parts], -1)
            return apply(
                "matmul", patches, reshape(filters, [patch_size, filter_count if filter_count is not None else -1])
            )
    total: Any = None
    for position, part in parts:
        product = apply("matmul", part, get_item(filters, position))
        total = product if total is None else apply("add", total, product)
    return total
