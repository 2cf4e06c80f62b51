"""Convolutions of `autoconv.nn`, as matrix products.

One product takes all patches under the kernel (im2col) unless these are too many; otherwise there is one product for
each element of the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.api.nn.windows import Padding, Part, Windows, channels_first, per_side
from autoconv.api.tensors.shaping import concat, reshape, transpose
from autoconv.errors import InvalidArgumentError
from autoconv.graph.types import Dimension
from autoconv.runtime.annotations import ShapeLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

_MOST_PATCHES = 1 << 23  # elements in all patches of one matrix product
_FEWEST_CHANNELS = 16  # from which number on the kernel's elements have a product each, for open sizes


def convolution(
    input: TensorLike, filters: TensorLike, strides: ShapeLike | None = None, padding: Padding = "VALID",
    data_format: str | None = None, dilations: ShapeLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The cross-correlation of inputs with filters: shape [batch, sides, filters].

    `input` is [batch, sides, channels] with one to three sides ([batch, channels, sides] for a `data_format` that
    begins with NC, like the result). `filters` is [sides, channels, filters], with known sides. `strides` and
    `dilations` are a number, one for each side, or one for each dimension. `padding` is "VALID", "SAME" (zeros around,
    one more after than before if their number is odd) or (before, after) for each dimension. Filters with fewer
    channels than the input apply to groups of channels: the first filters to the first group, and so on. Raises
    ValueError for strides and dilations that are both above 1, which `conv2d` and its like take; ValueError, and
    InvalidArgumentError, which is one, where filters do not fit into the input: at run time for unknown sizes.

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
    x, kernel = convert_to_tensor(input), convert_to_tensor(filters)
    rank = 0 if kernel.type.shape is None else len(kernel.type.shape)
    first = channels_first(rank, data_format)
    sides = list(range(2, rank))
    pads = padding if isinstance(padding, str) or not first else [padding[i] for i in (0, *sides, 1)]
    image = transpose(x, [0, *sides, 1]) if first else x
    steps, gaps = (per_side(what, n, rank - 2, first) for what, n in (("strides", strides), ("dilations", dilations)))
    result = _convolve(image, kernel, steps, gaps, pads)
    return apply("identity", transpose(result, [0, rank - 1, *range(1, rank - 1)]) if first else result, name=name)


def conv2d(
    input: TensorLike, filters: TensorLike, strides: ShapeLike, padding: Padding, data_format: str = "NHWC",
    dilations: ShapeLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """`convolution` of images, [batch, height, width, channels] (NCHW: [batch, channels, height, width]).

    >>> autoconv.nn.conv2d(autoconv.ones([1, 4, 4, 1]), autoconv.ones([2, 2, 1, 3]), strides=1, padding="SAME").shape
    TensorShape([1, 4, 4, 3])
    """
    channels_first(4, data_format)
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
    channels_first(3, data_format)
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
    channels_first(5, data_format)
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
    kernel = convert_to_tensor(filter)
    height, width, channels, each = _known_all(kernel)
    kernel = reshape(kernel, [height, width, 1, channels * each])
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
    image: Tensor, filters: Tensor, steps: Sequence[int], gaps: Sequence[int], padding: Padding
) -> Tensor:
    """Convolve an image whose last dimension are the channels; each group of channels separately."""
    shape, kernel = image.type.shape, filters.type.shape
    if shape is None or kernel is None or len(shape) != len(kernel):
        raise ValueError(f"a convolution takes an image and filters of one rank, found {shape} and {kernel}")
    kernel_sides = _known_sizes(kernel[:-2])
    groups = _groups(shape[-1], kernel)
    windows = Windows(image, kernel_sides, steps, gaps, padding, "filters")
    parts = windows.parts(0)
    channels, several = kernel[-2:]
    if groups > 1:
        assert isinstance(channels, int) and isinstance(several, int)
        if channels == 1:
            return _each_by_itself(parts, filters, several // groups)
        whole = slice(None)
        share, leading = several // groups, (whole,) * (len(kernel) - 1)
        products = []
        for g in range(groups):
            own = [(at, get_item(x, (*leading, slice(g * channels, (g + 1) * channels)))) for at, x in parts]
            products.append(_product(own, get_item(filters, (*leading, slice(g * share, (g + 1) * share))), windows))
        return concat(products, -1)
    return _product(parts, filters, windows)


def _groups(channels: Dimension, kernel: Sequence[Dimension]) -> int:
    """Return the number of groups of channels with their own filters, by the number of channels of a filter."""
    own, several = kernel[-2:]
    if not isinstance(channels, int) or not isinstance(own, int) or channels == own:
        return 1
    if own == 0 or channels % own:
        raise InvalidArgumentError(f"the image has {channels} channels, the filters have {own}")
    groups = channels // own
    if not isinstance(several, int) or several % groups:
        raise ValueError(f"there are {several} filters for {groups} groups of {own} channels: not as many for each")
    return groups


def _product(parts: Sequence[Part], filters: Tensor, windows: Windows) -> Tensor:
    shape = filters.type.shape
    assert shape is not None
    channels, several = shape[-2:]
    batch, sides = parts[0][1].type.shape[0], windows.sizes  # type: ignore[index]
    if isinstance(channels, int) and len(parts) > 1:
        patch = channels * len(parts)
        sizes = [size for size in (batch, *sides) if isinstance(size, int)]
        few = math.prod(sizes) * patch <= _MOST_PATCHES
        if few and (len(sizes) == len(sides) + 1 or channels < _FEWEST_CHANNELS):
            patches = concat([part for _, part in parts], -1)
            return apply("matmul", patches, reshape(filters, [patch, several if several is not None else -1]))
    total: Any = None
    for at, part in parts:
        product = apply("matmul", part, get_item(filters, at))
        total = product if total is None else apply("add", total, product)
    return total


def _each_by_itself(parts: Sequence[Part], filters: Tensor, each: int) -> Tensor:
    """Convolve groups of one channel (depthwise): elementwise products, for one filter of each channel at a time."""
    totals = []
    for number in range(each):
        total: Any = None
        for at, part in parts:
            product = apply("multiply", part, get_item(filters, (*at, 0, slice(number, None, each))))
            total = product if total is None else apply("add", total, product)
        totals.append(total)
    if each == 1:
        return totals[0]
    channels = filters.type.shape[-1] // each  # type: ignore[index,operator]
    order = np.arange(each * channels).reshape(each, channels).T.ravel()
    return apply("gather", concat(totals, -1), convert_to_tensor(order), axis=-1)


def _known_sizes(sizes: Sequence[Any]) -> list[int]:
    static_sizes = [size for size in sizes if isinstance(size, int)]
    if len(static_sizes) < len(sizes):
        raise ValueError(f"a convolution needs to know the sides of its filters, found {list(sizes)}")
    return static_sizes


def _known_all(filters: Tensor) -> list[int]:
    shape = filters.type.shape
    if shape is None or len(shape) != 4:
        raise ValueError(f"filters for each channel have four dimensions, found {filters.type}")
    return _known_sizes(shape)
