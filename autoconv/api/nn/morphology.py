"""Dilation and erosion of images, pools of volumes, and the places of maxima in windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.api.nn.pooling import avg_pool, max_pool
from autoconv.api.nn.windows import Windows, per_side
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import range as counted
from autoconv.api.tensors.gather import where
from autoconv.api.tensors.shaping import reshape, reverse, shape
from autoconv.graph.dtypes import as_dtype, int64
from autoconv.runtime.annotations import DTypeLike, ShapeLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


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
    """The maximum of each window, and its place: ((batch · height) + row) · width + column) · channels + channel.

    The batch counts only with `include_batch_in_index`. Of equal elements the first one is taken.

    >>> image = autoconv.reshape([1.0, 4.0, 3.0, 2.0], [1, 2, 2, 1])
    >>> found, places = autoconv.nn.max_pool_with_argmax(image, 2, 2, "VALID")
    >>> found.numpy().item(), places.numpy().item()
    (4.0, 1)
    """
    if data_format != "NHWC":
        raise ValueError("`data_format` values other  than 'NHWC' are not supported. Found: " + repr(data_format))
    x: Any = convert_to_tensor(input)
    sizes = [size if size is not None else shape(x)[i] for i, size in enumerate(x.shape.as_list())]
    sides, steps = per_side("ksize", ksize, 2, False), per_side("strides", strides, 2, False)
    least = -np.inf if x.dtype.is_floating else int(np.iinfo(x.dtype.numpy).min)
    values = Windows(x, sides, steps, (1, 1), padding, "windows").parts(least)
    total = sizes[1] * sizes[2] * sizes[3]
    inside: Any = reshape(counted(cast(total, int64)), [1, *sizes[1:]])
    places = Windows(inside, sides, steps, (1, 1), padding, "windows").parts(0)
    best, place = values[0][1], apply("broadcast_to_shape_of", places[0][1], values[0][1])
    for (_, value), (_, at) in zip(values[1:], places[1:], strict=True):
        greater = apply("greater", value, best)
        best, place = where(greater, value, best), where(greater, at, place)
    if include_batch_in_index:
        place = place + reshape(counted(cast(sizes[0], int64)) * cast(total, int64), [-1, 1, 1, 1])
    return MaxPoolWithArgmax(best, cast(place, as_dtype(output_dtype)))


def dilation2d(
    input: TensorLike, filters: TensorLike, strides: Sequence[int], padding: str, data_format: str,
    dilations: Sequence[int], name: str | None = None,
) -> Tensor:  # fmt: skip
    """The greyscale dilation: the maximum of the image plus the filter [height, width, channels] over each window.

    `strides` and `dilations` have an entry for each dimension of the image, which is NHWC.

    >>> image = autoconv.reshape([1.0, 4.0, 3.0, 2.0], [1, 2, 2, 1])
    >>> autoconv.nn.dilation2d(image, autoconv.zeros([2, 2, 1]), [1] * 4, "VALID", "NHWC", [1] * 4).numpy().item()
    4.0
    """
    if data_format != "NHWC":
        raise ValueError("`data_format` values other  than 'NHWC' are not supported. Found: " + repr(data_format))
    x, kernel = convert_to_tensor(input), convert_to_tensor(filters)
    steps, gaps = per_side("strides", strides, 2, False), per_side("dilations", dilations, 2, False)
    least = -np.inf if x.dtype.is_floating else int(np.iinfo(x.dtype.numpy).min)
    sides: Any = kernel.shape.as_list()[:2]
    windows = Windows(x, sides, steps, gaps, padding, "filters")
    found: Any = None
    for at, part in windows.parts(least):
        moved: Any = part + get_item(kernel, at)
        found = moved if found is None else apply("maximum", found, moved)
    return apply("identity", found, name=name)


def erosion2d(
    value: TensorLike, filters: TensorLike, strides: Sequence[int], padding: str, data_format: str,
    dilations: Sequence[int], name: str | None = None,
) -> Tensor:  # fmt: skip
    """The greyscale erosion: the minimum of the image minus the mirrored filter over each window; see `dilation2d`.

    >>> image = autoconv.reshape([1.0, 4.0, 3.0, 2.0], [1, 2, 2, 1])
    >>> autoconv.nn.erosion2d(image, autoconv.zeros([2, 2, 1]), [1] * 4, "VALID", "NHWC", [1] * 4).numpy().item()
    1.0
    """
    mirrored = reverse(convert_to_tensor(filters), [0, 1])
    turned = apply("negative", convert_to_tensor(value))
    return apply("negative", dilation2d(turned, mirrored, strides, padding, data_format, dilations), name=name)
