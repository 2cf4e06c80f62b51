"""Convolutions with filters whose sides are known at run time only: gather all windows, then multiply once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.api.nn.windows import Padding
from autoconv.api.tensors.arithmetic import floordiv
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.comparison import clip_by_value, logical_and, maximum
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.dimensions import sizes_of
from autoconv.api.tensors.gather import gather, where
from autoconv.api.tensors.shaping import reshape, transpose
from autoconv.errors import InvalidArgumentError
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def convolve_computed_sides(
    image: Tensor, filters: Tensor, side_strides: Sequence[int], side_dilations: Sequence[int], padding: Padding,
    group_count: int,
) -> Tensor:  # fmt: skip
    """Return the convolution of an image [batch, sides, channels] with filters [sides, channels of a group, filters].

    `side_strides` and `side_dilations` have a number for each side. Raises ValueError for an unknown `padding`.
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
    batch, filter_count = image_sizes[0], filter_sizes[side_count + 1]
    filter_sides = [filter_sizes[side] for side in range(side_count)]
    patch_sides = [size for pair in zip(window_counts, filter_sides, strict=True) for size in pair]
    grouped_patches = reshape(patches, [batch, *patch_sides, group_count, filter_sizes[side_count]])
    window_axes, filter_axes = range(1, 2 * side_count, 2), range(2, 2 * side_count + 1, 2)
    order = [0, *window_axes, 2 * side_count + 1, *filter_axes, 2 * side_count + 2]
    rows = reshape(transpose(grouped_patches, order), [batch, *window_counts, group_count, 1, -1])
    grouped_filters = reshape(filters, [-1, group_count, floordiv(filter_count, group_count)])
    products = apply("matmul", rows, transpose(grouped_filters, [1, 0, 2]))
    return reshape(products, [batch, *window_counts, filter_count])


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
