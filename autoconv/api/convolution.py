"""Convolutions of `autoconv.nn`, as products of matrices: one of all patches under the kernel, where these are not too
many, else one for each element of the kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autoconv.api.shaping import concat, expand_dims, reshape, squeeze, transpose
from autoconv.api.windows import Windows
from autoconv.runtime.convert import convert_to_tensor
from autoconv.runtime.dispatch import apply
from autoconv.runtime.expressions import get_item
from autoconv.runtime.tensor import Tensor

_MOST_PATCHES = 1 << 23  # numbers in all patches


def conv2d(
    input: Any, filters: Any, strides: Any, padding: Any, data_format: str = "NHWC", dilations: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The cross-correlation of images with filters: of the shape [batch, height, width, filters].

    `input` is [batch, height, width, channels] ([batch, channels, height, width] for the data_format NCHW, as is the
    result), `filters` [height, width, channels, filters], whose height and width have to be known. `strides` and
    `dilations` are a number, one for height and width, or one for each dimension. `padding` is "VALID", "SAME" (zeros
    around, one more behind than before where it does not come out even) or (before, after) for each dimension. Raises
    ValueError; InvalidArgumentError when the graph runs, where filters do not fit into images of open sizes.
    """
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError(f"`data_format` must be 'NHWC' or 'NCHW', found {data_format!r}")
    first = data_format == "NCHW"
    pads = padding if isinstance(padding, str) or not first else [padding[i] for i in (0, 2, 3, 1)]
    image = transpose(input, [0, 2, 3, 1]) if first else convert_to_tensor(input)
    steps, gaps = _pair("strides", strides, first), _pair("dilations", dilations, first)
    result = _convolved(image, convert_to_tensor(filters), steps, gaps, pads)
    return apply("identity", transpose(result, [0, 3, 1, 2]) if first else result, name=name)


def conv1d(
    input: Any, filters: Any, stride: int, padding: Any, data_format: str = "NWC", dilations: int = 1,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """As `conv2d`, of `input` [batch, width, channels] (NCW: [batch, channels, width]) with `filters` [width, channels,
    filters]."""
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
    image: Tensor, filters: Tensor, steps: Sequence[int], gaps: Sequence[int], padding: Any
) -> Tensor:
    shape, kernel = image.type.shape, filters.type.shape
    if shape is None or kernel is None or len(shape) != 4 or len(kernel) != 4:
        raise ValueError(f"a convolution takes an image and filters of one rank, found {shape} and {kernel}")
    kernel_sides = _known(kernel[:2])
    if isinstance(shape[3], int) and isinstance(kernel[2], int) and shape[3] != kernel[2]:
        raise ValueError(f"the image has {shape[3]} channels, the filters have {kernel[2]}")
    windows = Windows(image, kernel_sides, steps, gaps, padding, "filters")
    parts = windows.parts(0)
    channels, batch, sides = kernel[2], shape[0], windows.sizes
    if isinstance(channels, int) and isinstance(batch, int) and len(parts) > 1 and None not in sides:
        patch = channels * len(parts)
        if math.prod(side or 0 for side in sides) * batch * patch <= _MOST_PATCHES:
            patches = concat([part for _, part in parts], 3)
            return apply("matmul", patches, reshape(filters, [patch, kernel[3] if kernel[3] is not None else -1]))
    total: Any = None
    for at, part in parts:
        product = apply("matmul", part, get_item(filters, at))
        total = product if total is None else apply("add", total, product)
    return total


def _known(sizes: Sequence[Any]) -> list[int]:
    known = [size for size in sizes if isinstance(size, int)]
    if len(known) < len(sizes):
        raise ValueError(f"a convolution needs to know the height and width of its filters, found {list(sizes)}")
    return known


def _pair(what: str, value: Any, channels_first: bool) -> tuple[int, int]:
    numbers = [1] if value is None else [value] if isinstance(value, int) else [int(part) for part in value]
    if len(numbers) == 4:
        numbers = numbers[2:] if channels_first else numbers[1:3]
    if len(numbers) not in (1, 2) or min(numbers) < 1:
        raise ValueError(f"`{what}` must be one, two or four numbers from 1 on, found {value!r}")
    return numbers[0], numbers[-1]


def _one(value: Any) -> int:
    return int(value[0] if isinstance(value, (list, tuple)) else value)
