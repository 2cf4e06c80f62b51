"""Convolutions of `autoconv.nn`, as matrix products.

One product takes all patches under the kernel (im2col) unless these are too many; otherwise there is one product for
each element of the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.api.nn.windows import Part, Windows, per_side
from autoconv.api.tensors.shaping import concat, expand_dims, reshape, squeeze, transpose
from autoconv.errors import InvalidArgumentError
from autoconv.graph.types import Dimension
from autoconv.runtime.annotations import ShapeLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

_MOST_PATCHES = 1 << 23  # elements in all patches of one matrix product
_FEWEST_CHANNELS = 16  # from which number on the kernel's elements have a product each, for open sizes


def conv2d(
    input: TensorLike, filters: TensorLike, strides: ShapeLike, padding: str, data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The cross-correlation of images with filters: shape [batch, height, width, filters].

    `input` is [batch, height, width, channels] ([batch, channels, height, width] for the data_format NCHW, like the
    result). `filters` is [height, width, channels, filters], with known height and width. `strides` and `dilations` are
    a number, one for height and width each, or one for each dimension. `padding` is "VALID", "SAME" (zeros around, one
    more after than before if their number is odd) or (before, after) for each dimension. Filters with fewer channels
    than the image apply to groups of channels: the first filters to the first group, and so on. Raises ValueError, and
    InvalidArgumentError, which is one, where filters do not fit into the image: at run time for unknown sizes.

    >>> autoconv.nn.conv2d(autoconv.ones([1, 4, 4, 1]), autoconv.ones([2, 2, 1, 3]), strides=1, padding="SAME").shape
    TensorShape([1, 4, 4, 3])
    """
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError(f"`data_format` must be 'NHWC' or 'NCHW', found {data_format!r}")
    first = data_format == "NCHW"
    pads = padding if isinstance(padding, str) or not first else [padding[i] for i in (0, 2, 3, 1)]
    image = transpose(input, [0, 2, 3, 1]) if first else convert_to_tensor(input)
    steps, gaps = per_side("strides", strides, 2, first), per_side("dilations", dilations, 2, first)
    result = _convolved(image, convert_to_tensor(filters), steps, gaps, pads)
    return apply("identity", transpose(result, [0, 3, 1, 2]) if first else result, name=name)


def conv1d(
    input: TensorLike, filters: TensorLike, stride: int, padding: str, data_format: str = "NWC", dilations: int = 1,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """`conv2d` for `input` [batch, width, channels] (NCW: [batch, channels, width]).

    `filters` is [width, channels, filters].

    >>> autoconv.nn.conv1d([[[1.0], [2.0], [3.0]]], [[[1.0]], [[1.0]]], stride=1, padding="VALID").numpy()
    array([[[3.],
            [5.]]], dtype=float32)
    """
    if data_format not in ("NWC", "NCW"):
        raise ValueError(f"`data_format` must be 'NWC' or 'NCW', found {data_format!r}")
    first = data_format == "NCW"
    image = transpose(input, [0, 2, 1]) if first else convert_to_tensor(input)
    if not isinstance(padding, str):
        padding = [padding[0], (0, 0), *(padding[:0:-1] if first else padding[1:])]
    result = _convolved(
        expand_dims(image, 1), expand_dims(filters, 0), (1, _one(stride)), (1, _one(dilations)), padding
    )
    result = squeeze(result, 1)
    return apply("identity", transpose(result, [0, 2, 1]) if first else result, name=name)


def _convolved(
    image: Tensor, filters: Tensor, steps: Sequence[int], gaps: Sequence[int], padding: str
) -> Tensor:
    """Convolve an image of four dimensions, batch and channels included; each group of channels separately."""
    shape, kernel = image.type.shape, filters.type.shape
    if shape is None or kernel is None or len(shape) != 4 or len(kernel) != 4:
        raise ValueError(f"a convolution takes an image and filters of one rank, found {shape} and {kernel}")
    kernel_sides = _known(kernel[:2])
    groups = _groups(shape[3], kernel)
    windows = Windows(image, kernel_sides, steps, gaps, padding, "filters")
    parts = windows.parts(0)
    channels, several = kernel[2], kernel[3]
    if groups > 1:
        assert isinstance(channels, int) and isinstance(several, int)
        if channels == 1:
            return _each_by_itself(parts, filters, several // groups)
        whole = slice(None)
        share, given = several // groups, (whole, whole, whole)
        products = []
        for g in range(groups):
            own = [(at, get_item(x, (*given, slice(g * channels, (g + 1) * channels)))) for at, x in parts]
            products.append(_product(own, get_item(filters, (*given, slice(g * share, (g + 1) * share))), windows))
        return concat(products, 3)
    return _product(parts, filters, windows)


def _groups(channels: Dimension, kernel: Sequence[Dimension]) -> int:
    """Return the number of groups of channels with their own filters, by the number of channels of a filter."""
    own, several = kernel[2:]
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
    channels, several = shape[2:]
    batch, sides = parts[0][1].type.shape[0], windows.sizes  # type: ignore[index]
    if isinstance(channels, int) and len(parts) > 1:
        patch = channels * len(parts)
        known = [size for size in (batch, *sides) if isinstance(size, int)]
        few = math.prod(known) * patch <= _MOST_PATCHES
        if few and (len(known) == len(sides) + 1 or channels < _FEWEST_CHANNELS):
            patches = concat([part for _, part in parts], 3)
            return apply("matmul", patches, reshape(filters, [patch, several if several is not None else -1]))
    total: Any = None
    for at, part in parts:
        product = apply("matmul", part, get_item(filters, at))
        total = product if total is None else apply("add", total, product)
    return total


def _each_by_itself(parts: Sequence[Part], filters: Tensor, each: int) -> Tensor:
    """Convolve groups of one channel (depthwise): elementwise products, for one filter of each channel at a time."""
    found = []
    for number in range(each):
        total: Any = None
        for at, part in parts:
            product = apply("multiply", part, get_item(filters, (*at, 0, slice(number, None, each))))
            total = product if total is None else apply("add", total, product)
        found.append(total)
    if each == 1:
        return found[0]
    channels = filters.type.shape[3] // each  # type: ignore[index,operator]
    order = np.arange(each * channels).reshape(each, channels).T.ravel()
    return apply("gather", concat(found, 3), convert_to_tensor(order), axis=3)


def _known(sizes: Sequence[Any]) -> list[int]:
    known = [size for size in sizes if isinstance(size, int)]
    if len(known) < len(sizes):
        raise ValueError(f"a convolution needs to know the height and width of its filters, found {list(sizes)}")
    return known


def _one(value: Any) -> int:
    return int(value[0] if isinstance(value, (list, tuple)) else value)
