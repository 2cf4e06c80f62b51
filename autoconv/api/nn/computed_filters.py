"""Convolutions whose filters have sides or groups known at run time only: gather all windows, then multiply once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autoconv.api.nn.windows import Padding
from autoconv.api.tensors.arithmetic import floordiv, floormod
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.comparison import clip_by_value, equal, logical_and, maximum
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.dimensions import sizes_of
from autoconv.api.tensors.gather import gather, where
from autoconv.api.tensors.shaping import reshape, transpose
from autoconv.errors import InvalidArgumentError
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def convolve_computed_sides(
    image: Tensor, filters: Tensor, side_strides: Sequence[int], side_dilations: Sequence[int], padding: Padding,
    group_count: Any,
) -> Tensor:  # fmt: skip
    """Return the convolution of an image [batch, sides, channels] with filters [sides, channels of a group, filters].

    `side_strides` and `side_dilations` have a number for each side. A `group_count` of None is computed from the sizes.
    Raises ValueError for an unknown `padding`.
    """
    side_count = len(side_strides)
    image_sizes, filter_sizes = sizes_of(image), sizes_of(filters)
    patches, window_counts = image, []
    for side, (stride, dilation) in enumerate(zip(side_strides, side_dilations, strict=True)):
        size, filter_side = image_sizes[side + 1], filter_sizes[side]
        extent = (filter_side - 1) * dilation + 1
        before, window_count = _windows_of_side(padding, side, size, extent, stride)
        first_elements = reshape(tensor_range(window_count) * stride - before, [-1, 1])
        positions = first_elements + tensor_range(filter_side) * dilation
        mask_sizes = [window_count, filter_side, *[1] * (side_count - side)]
        is_inside = reshape(logical_and(positions >= 0, positions < size), mask_sizes)
        clipped_patches = gather(patches, clip_by_value(positions, 0, size - 1), axis=2 * side + 1)
        patches = where(is_inside, clipped_patches, cast(0, image.dtype))
        window_counts.append(window_count)
    *filter_sides, group_channels, filter_count = filter_sizes
    if group_count is None:
        channels = image_sizes[side_count + 1]
        group_count = maximum(floordiv(channels, maximum(group_channels, 1)), 1)
        are_divisible = logical_and(
            equal(channels, group_count * group_channels), equal(floormod(filter_count, group_count), 0)
        )
        message = "channels and filters cannot be divided into groups"
        apply("assert_true", are_divisible, channels, group_channels, filter_count, message=message, failure="check")
    patch_sides = [size for pair in zip(window_counts, filter_sides, strict=True) for size in pair]
    grouped_patches = reshape(patches, [image_sizes[0], *patch_sides, group_count, group_channels])
    window_axes, filter_axes = range(1, 2 * side_count, 2), range(2, 2 * side_count + 1, 2)
    order = [2 * side_count + 1, 0, *window_axes, *filter_axes, 2 * side_count + 2]
    result_sizes = [image_sizes[0], *window_counts]
    patch_size, filters_per_group = math.prod(filter_sizes[:-1]), floordiv(filter_count, group_count)
    rows = reshape(transpose(grouped_patches, order), [group_count, math.prod(result_sizes), patch_size])
    grouped_filters = reshape(filters, [patch_size, group_count, filters_per_group])
    products = apply("matmul", rows, transpose(grouped_filters, [1, 0, 2]))
    return reshape(transpose(products, [1, 0, 2]), [*result_sizes, filter_count])


def _windows_of_side(padding: Padding, side: int, size: Any, extent: Any, stride: int) -> tuple[Any, Any]:
    """Return the padding before a side of `size` elements, and the number of windows of `extent` elements along it."""
    if padding == "SAME":
        window_count = floordiv(size + (stride - 1), stride)
        return floordiv(maximum((window_count - 1) * stride + extent - size, 0), 2), window_count
    if padding != "VALID" and not isinstance(padding, (list, tuple)):
        raise InvalidArgumentError(f"`padding` must be 'VALID', 'SAME' or a pair for each dimension, found {padding!r}")
    before, after = (0, 0) if padding == "VALID" else map(int, padding[side + 1])
    window_count = floordiv(size + (before + after) - extent, stride) + 1
    apply("assert_true", window_count > 0, extent, size, message="filters do not fit into an image", failure="check")
    return before, window_count
