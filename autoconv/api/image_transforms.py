"""Projective transforms of images: each result pixel is read from a position of the input image."""

from __future__ import annotations

from typing import Any

from autoconv.api.boxes.crops import round_halves_away
from autoconv.api.tensors.arithmetic import floormod
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.comparison import clip_by_value, logical_and
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.gather import gather, where
from autoconv.api.tensors.shaping import expand_dims, reshape, shape
from autoconv.graph.dtypes import float32, int32
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def projective_transform(
    images: TensorLike, transforms: TensorLike, output_shape: TensorLike, fill_value: Any = 0.0,
    interpolation: str = "NEAREST", fill_mode: str = "CONSTANT",
) -> Tensor:  # fmt: skip
    """A batch of images [batch, height, width, channels], projected to the height and width `output_shape`.

    A row of `transforms` has the eight numbers a0 to c1. The pixel (x, y) of the result comes from (u / k, v / k) of
    the image: u = a0 x + a1 y + a2, v = b0 x + b1 y + b2, k = c0 x + c1 y + 1. One row serves all images.
    `interpolation` is "NEAREST" or "BILINEAR". Positions outside of the image are `fill_value` ("CONSTANT"), mirrored
    ("REFLECT"), repeated ("WRAP"), or those of the edge ("NEAREST"). Raises ValueError for another name.
    """
    x, matrix = convert_to_tensor(images), cast(convert_to_tensor(transforms), float32)
    if interpolation not in ("NEAREST", "BILINEAR") or fill_mode not in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
        raise ValueError(f"interpolation and fill_mode are unknown: {interpolation!r}, {fill_mode!r}")
    sizes = cast(convert_to_tensor(output_shape), int32)
    new_height, new_width = get_item(sizes, 0), get_item(sizes, 1)
    columns = reshape(cast(tensor_range(new_width), float32), [1, 1, -1])
    rows = reshape(cast(tensor_range(new_height), float32), [1, -1, 1])
    a0, a1, a2, b0, b1, b2, c0, c1 = (
        expand_dims(expand_dims(get_item(matrix, (slice(None), number)), -1), -1) for number in range(8)
    )
    divisor = c0 * columns + c1 * rows + 1.0
    batch, height, width = (shape(x)[axis] for axis in (0, 1, 2))
    batch_zeros = expand_dims(expand_dims(cast(tensor_range(batch), float32) * 0.0, -1), -1)
    source_columns = _wrap_coordinate(
        (a0 * columns + a1 * rows + a2) / divisor + batch_zeros, cast(width, float32), fill_mode
    )
    source_rows = _wrap_coordinate(
        (b0 * columns + b1 * rows + b2) / divisor + batch_zeros, cast(height, float32), fill_mode
    )
    pixels = _Pixels(x, height, width, cast(fill_value, x.dtype))
    if interpolation == "NEAREST":
        pixel_values = pixels.gather_pixels(round_halves_away(source_rows), round_halves_away(source_columns))
    else:
        top, left = apply("floor", source_rows), apply("floor", source_columns)
        row_fraction, column_fraction = expand_dims(source_rows - top, -1), expand_dims(source_columns - left, -1)
        weighted_pixels = [
            cast(pixels.gather_pixels(top + i, left + j), float32) * (row_fraction if i else 1.0 - row_fraction) * (
                column_fraction if j else 1.0 - column_fraction
            )
            for i in (0.0, 1.0)
            for j in (0.0, 1.0)
        ]
        pixel_values = cast(weighted_pixels[0] + weighted_pixels[1] + weighted_pixels[2] + weighted_pixels[3], x.dtype)
    return where(expand_dims(apply("equal", divisor + batch_zeros, 0.0), -1), cast(fill_value, x.dtype), pixel_values)


class _Pixels:
    """The pixels of images, and the value of pixels outside: `pixel_rows` is [batch, height * width, channels]."""

    def __init__(self, images: Tensor, height: Tensor, width: Tensor, fill_value: Tensor) -> None:
        self.height, self.width, self.fill_value = height, width, fill_value
        self.pixel_rows = reshape(images, [shape(images)[0], height * width, shape(images)[3]])

    def gather_pixels(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Return the pixels at rows and columns [batch, new height, new width]."""
        i, j = cast(rows, int32), cast(columns, int32)
        is_inside = logical_and(logical_and(i >= 0, i < self.height), logical_and(j >= 0, j < self.width))
        pixel_numbers = where(is_inside, i * self.width + j, 0)
        sizes = shape(pixel_numbers)
        values = gather(self.pixel_rows, reshape(pixel_numbers, [sizes[0], -1]), axis=1, batch_dims=1)
        values = reshape(values, [sizes[0], sizes[1], sizes[2], shape(self.pixel_rows)[2]])
        return where(expand_dims(is_inside, -1), values, self.fill_value)


def _wrap_coordinate(coordinate: Tensor, size: Tensor, fill_mode: str) -> Tensor:
    """Return coordinates mapped into an image of that size; unchanged where the outside is constant."""
    if fill_mode == "CONSTANT":
        return coordinate
    if fill_mode == "REFLECT":
        folded_coordinate = floormod(coordinate, 2.0 * size)
        coordinate = where(folded_coordinate >= size, 2.0 * size - folded_coordinate - 1.0, folded_coordinate)
    elif fill_mode == "WRAP":
        period, is_below = apply("maximum", size - 1.0, 1.0), coordinate < 0.0
        coordinate_from_below = coordinate + size * (apply("floor", -coordinate / period) + 1.0)
        coordinate_from_above = coordinate - size * apply("floor", coordinate / period)
        coordinate = where(coordinate > size - 1.0, coordinate_from_above, coordinate)
        coordinate = where(is_below, coordinate_from_below, coordinate)
    return clip_by_value(coordinate, 0.0, size - 1.0)
