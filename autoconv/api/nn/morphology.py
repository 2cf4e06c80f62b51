"""Greyscale dilation and erosion of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.api.nn.windows import Windows, lowest_number, per_side
from autoconv.api.tensors.shaping import reverse
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


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
    side_strides = per_side("strides", strides, 2, is_channels_first=False)
    side_dilations = per_side("dilations", dilations, 2, is_channels_first=False)
    sides: Any = kernel.shape.as_list()[:2]
    windows = Windows(x, sides, side_strides, side_dilations, padding, label="filters")
    maxima: Any = None
    for position, elements in windows.elements_by_position(lowest_number(x.dtype)):
        raised_elements: Any = elements + get_item(kernel, position)
        maxima = raised_elements if maxima is None else apply("maximum", maxima, raised_elements)
    return apply("identity", maxima, name=name)


def erosion2d(
    value: TensorLike, filters: TensorLike, strides: Sequence[int], padding: str, data_format: str,
    dilations: Sequence[int], name: str | None = None,
) -> Tensor:  # fmt: skip
    """The greyscale erosion: the minimum of the image minus the mirrored filter over each window; see `dilation2d`.

    >>> image = autoconv.reshape([1.0, 4.0, 3.0, 2.0], [1, 2, 2, 1])
    >>> autoconv.nn.erosion2d(image, autoconv.zeros([2, 2, 1]), [1] * 4, "VALID", "NHWC", [1] * 4).numpy().item()
    1.0
    """
    mirrored_filters = reverse(convert_to_tensor(filters), [0, 1])
    negated = apply("negative", convert_to_tensor(value))
    return apply("negative", dilation2d(negated, mirrored_filters, strides, padding, data_format, dilations), name=name)
