"""Boxes cut out of images and drawn on them, in coordinates from 0 to 1."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.api.tensors.arguments import shape_argument
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.comparison import clip_by_value, logical_and
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.gather import gather, where
from autoconv.api.tensors.shaping import expand_dims, reshape, shape, stack
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import float32, int32
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def crop_and_resize(
    image: TensorLike, boxes: TensorLike, box_indices: TensorLike, crop_size: TensorLike, method: str = "bilinear",
    extrapolation_value: float = 0.0, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Crop boxes from images [batch, height, width, channels] and resize each to `crop_size`.

    A row of `boxes` is [y1, x1, y2, x2], where 0 is the first and 1 the last row or column; if y1 > y2, the crop is
    flipped vertically. `box_indices` has the index of each box's image. `method` is "bilinear" or "nearest"; pixels
    outside of the image are `extrapolation_value`. The result is float32, of shape [boxes, *crop_size, channels], where
    `crop_size` is [height, width]. Raises ValueError for another method.

    >>> x = autoconv.reshape(autoconv.range(9.0), [1, 3, 3, 1])
    >>> autoconv.image.crop_and_resize(x, [[0.0, 0.0, 0.5, 1.0]], [0], [2, 2]).numpy()[0, :, :, 0]
    array([[0., 2.],
           [3., 5.]], dtype=float32)
    """
    if method not in ("bilinear", "nearest"):
        raise ValueError(f'method is "bilinear" or "nearest", found {method!r}')
    x, corners = cast(convert_to_tensor(image), float32), convert_to_tensor(boxes, float32)
    size_operands, static_sizes = shape_argument(crop_size)
    static_height, static_width = static_sizes if static_sizes is not None and len(static_sizes) == 2 else (None, None)
    sizes = get_item(shape(x), slice(1, 3))
    begins, ends = get_item(corners, (slice(None), slice(0, 2))), get_item(corners, (slice(None), slice(2, 4)))
    last_indices = [cast(get_item(sizes, axis) - 1, float32) for axis in (0, 1)]  # of the last row and column
    positions = []
    for axis, static_side in ((0, static_height), (1, static_width)):
        sample_count = get_item(size_operands[0], axis) if static_side is None else static_side
        begin, end = get_item(begins, (slice(None), axis)), get_item(ends, (slice(None), axis))
        positions.append(_sample_positions(begin, end, last_indices[axis], sample_count))
    (rows, columns), (last_row, last_column) = positions, last_indices
    rows, columns = expand_dims(rows, 2), expand_dims(columns, 1)
    pixels = _Pixels(x, cast(convert_to_tensor(box_indices), int32))
    if method == "nearest":
        pixel_values = pixels.gather_pixels(round_halves_away(rows), round_halves_away(columns))
    else:
        top_rows, left_columns = apply("floor", rows), apply("floor", columns)
        row_fraction, column_fraction = expand_dims(rows - top_rows, -1), expand_dims(columns - left_columns, -1)
        bottom_rows, right_columns = apply("ceil", rows), apply("ceil", columns)
        upper_row, lower_row = (
            pixels.gather_pixels(source_rows, left_columns) * (1.0 - column_fraction)
            + pixels.gather_pixels(source_rows, right_columns) * column_fraction
            for source_rows in (top_rows, bottom_rows)
        )
        pixel_values = upper_row * (1.0 - row_fraction) + lower_row * row_fraction
    is_inside = logical_and(
        logical_and(apply("greater_equal", rows, 0.0), apply("less_equal", rows, last_row)),
        logical_and(apply("greater_equal", columns, 0.0), apply("less_equal", columns, last_column)),
    )
    return where(expand_dims(is_inside, -1), pixel_values, cast(extrapolation_value, float32))


def _sample_positions(begins: Tensor, ends: Tensor, last_index: Tensor, count: Any) -> Tensor:
    """Return `count` positions from the begin to the end of each box, [boxes, count]; a single one is in the middle.

    `count` is an int, or a scalar tensor if it is known at run time only. `last_index` is the position of 1.
    """
    sample_numbers = cast(tensor_range(count), float32)
    middle = expand_dims((begins + ends) * 0.5 * last_index, 1) + 0.0 * sample_numbers
    is_known = isinstance(count, int)
    if is_known and count == 1:
        return middle
    distance = expand_dims((ends - begins) * last_index, 1) / cast(count - 1, float32)
    positions = expand_dims(begins * last_index, 1) + sample_numbers * distance
    return positions if is_known else where(apply("equal", count, 1), middle, positions)


def round_halves_away(value: Tensor) -> Tensor:
    """Return the nearest whole numbers; halves are rounded away from 0."""
    return apply("sign", value) * apply("floor", apply("abs", value) + 0.5)


class _Pixels:
    """A batch of images as a table of pixels, and the table's row of the first pixel of each box's image.

    The table has the shape [images * height * width, channels].
    """

    def __init__(self, images: Tensor, image_indices: Tensor) -> None:
        sizes = shape(images)
        self.height, self.width = get_item(sizes, 1), get_item(sizes, 2)
        self.pixel_table = reshape(images, stack([get_item(sizes, 0) * self.height * self.width, get_item(sizes, 3)]))
        self.first_pixels = expand_dims(expand_dims(image_indices * self.height * self.width, 1), 1)

    def gather_pixels(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Return the pixels in rows [boxes, height, 1] and columns [boxes, 1, width], clipped to the image."""
        row = clip_by_value(cast(rows, int32), 0, self.height - 1)
        column = clip_by_value(cast(columns, int32), 0, self.width - 1)
        return gather(self.pixel_table, self.first_pixels + row * self.width + column)


def draw_bounding_boxes(images: TensorLike, boxes: TensorLike, colors: Any, name: str | None = None) -> Tensor:
    """Images [batch, height, width, channels] with the edges of boxes [batch, n, 4] drawn, in colours [m, channels].

    A box is [y1, x1, y2, x2] from 0 to 1. Box i has the colour i modulo m; if `colors` is None, there are ten colours.
    Later boxes cover earlier ones; parts outside of the image are left out.

    >>> x = autoconv.zeros([1, 3, 3, 1])
    >>> autoconv.image.draw_bounding_boxes(x, [[[0.0, 0.0, 1.0, 1.0]]], [[5.0]]).numpy()[0, :, :, 0]
    array([[5., 5., 5.],
           [5., 0., 5.],
           [5., 5., 5.]], dtype=float32)
    """
    x = convert_to_tensor(images)
    color_table = _BUILT_IN_COLORS if colors is None else colors
    inputs = [x, convert_to_tensor(boxes, float32), convert_to_tensor(color_table, float32)]
    function = DrawnBoxes(has_built_in_colors=colors is None)
    return numpy_function(function, inputs, [TensorSpec(x.shape, x.dtype)], name="DrawBoundingBoxes")[0]


_BUILT_IN_COLORS = (
    (1, 1, 0, 1), (0, 0, 1, 1), (1, 0, 0, 1), (0, 1, 0, 1), (0.5, 0, 0.5, 1), (0.5, 0.5, 0, 1), (0.5, 0, 0, 1),
    (0, 0, 0.5, 1), (0, 1, 1, 1), (1, 0, 1, 1),
)  # fmt: skip


@attribute_class
@dataclass(frozen=True)
class DrawnBoxes:
    """A function that returns images with boxes drawn on them; built-in colours are 1 in images of one channel."""

    graphdef_name: ClassVar = "DrawBoundingBoxesV2"
    has_built_in_colors: bool

    def __call__(self, images: np.ndarray, boxes: np.ndarray, colors: np.ndarray) -> np.ndarray:
        result = np.array(images)
        _, height, width, depth = result.shape
        palette = np.ones((1, 1)) if self.has_built_in_colors and depth == 1 else colors[:, :depth]
        for image, corners in zip(result, boxes, strict=True):
            for box_number, box in enumerate(corners):
                top, left, bottom, right = (
                    int(edge * np.float32(side - 1)) for edge, side in zip(box, (height, width) * 2, strict=True)
                )
                if top <= bottom and left <= right:
                    _draw(image, top, left, bottom, right, palette[box_number % len(palette)])
        return result


def _draw(image: np.ndarray, top: int, left: int, bottom: int, right: int, color: np.ndarray) -> None:
    """Draw the edges of a box, in rows and columns of pixels, on the image, in place."""
    height, width, _ = image.shape
    is_outside = top >= height or bottom < 0 or left >= width or right < 0
    if is_outside:
        return
    rows, columns = slice(max(top, 0), bottom + 1), slice(max(left, 0), right + 1)
    for row in {top, bottom} & set(range(height)):
        image[row, columns] = color
    for column in {left, right} & set(range(width)):
        image[rows, column] = color
