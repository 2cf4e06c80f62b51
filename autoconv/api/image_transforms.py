"""Projective transforms of images: each result pixel is read from a position of the input image."""

from __future__ import annotations

from typing import Any, NamedTuple

from autoconv.api.boxes.crops import round_halves_away
from autoconv.api.tensors.arithmetic import floormod
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.comparison import clip_by_value, logical_and
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.dimensions import size_entry, sizes_of
from autoconv.api.tensors.gather import gather, where
from autoconv.api.tensors.shaping import broadcast_to, expand_dims, reshape
from autoconv.graph.dtypes import float32, int64
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
    x, matrices = convert_to_tensor(images), cast(convert_to_tensor(transforms), float32)
    if interpolation not in ("NEAREST", "BILINEAR") or fill_mode not in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
        raise ValueError(f"interpolation and fill_mode are unknown: {interpolation!r}, {fill_mode!r}")
    new_height, new_width = (size_entry(output_shape, axis) for axis in (0, 1))
    columns = reshape(cast(tensor_range(new_width), float32), [1, 1, -1])
    rows = reshape(cast(tensor_range(new_height), float32), [1, -1, 1])
    batch, height, width, _ = sizes_of(x)
    matrices = broadcast_to(reshape(matrices, [-1, 8, 1, 1]), [batch, 8, 1, 1])
    a0, a1, a2, b0, b1, b2, c0, c1 = (get_item(matrices, (slice(None), number)) for number in range(8))
    divisor = c0 * columns + c1 * rows + 1.0
    source_columns = _wrap_coordinate((a0 * columns + a1 * rows + a2) / divisor, cast(width, float32), fill_mode)
    source_rows = _wrap_coordinate((b0 * columns + b1 * rows + b2) / divisor, cast(height, float32), fill_mode)
    pixels = _Pixels(x, cast(fill_value, x.dtype) if fill_mode == "CONSTANT" else None)
    if interpolation == "NEAREST":
        nearest_rows = pixels.locate(round_halves_away(source_rows), height)
        pixel_values = pixels.gather_pixels(nearest_rows, pixels.locate(round_halves_away(source_columns), width))
    else:
        top, left = apply("floor", source_rows), apply("floor", source_columns)
        row_fraction, column_fraction = expand_dims(source_rows - top, -1), expand_dims(source_columns - left, -1)
        left_columns, right_columns = pixels.locate(left, width), pixels.locate(left + 1.0, width)
        mixed_rows = []
        for source_row in (pixels.locate(top, height), pixels.locate(top + 1.0, height)):
            left_pixels = cast(pixels.gather_pixels(source_row, left_columns), float32)
            right_pixels = cast(pixels.gather_pixels(source_row, right_columns), float32)
            mixed_rows.append((1.0 - column_fraction) * left_pixels + column_fraction * right_pixels)
        pixel_values = cast((1.0 - row_fraction) * mixed_rows[0] + row_fraction * mixed_rows[1], x.dtype)
    return where(expand_dims(apply("equal", divisor, 0.0), -1), cast(fill_value, x.dtype), pixel_values)


class _Positions(NamedTuple):
    """Integer positions along a side, clipped to it, and whether they were inside; None if that is not needed."""

    numbers: Tensor
    are_inside: Tensor | None


class _Pixels:
    """A batch of images as a table [images * height * width, channels]; `fill_value` is the pixel outside, if any."""

    def __init__(self, images: Tensor, fill_value: Tensor | None) -> None:
        batch, height, self.width, channels = (cast(size, int64) for size in sizes_of(images))
        self.pixel_table, self.fill_value = reshape(images, [-1, channels]), fill_value
        self.first_rows = reshape(tensor_range(batch) * height, [-1, 1, 1])  # of each image, counting all rows

    def locate(self, coordinates: Tensor, size: Any) -> _Positions:
        """Return whole coordinates as positions along a side of `size` pixels."""
        numbers, last = cast(coordinates, int64), cast(size, int64) - 1
        are_inside = None if self.fill_value is None else logical_and(numbers >= 0, numbers <= last)
        return _Positions(clip_by_value(numbers, 0, last), are_inside)

    def gather_pixels(self, rows: _Positions, columns: _Positions) -> Tensor:
        """Return the pixels in these rows and columns, [batch, new height, new width, channels]."""
        values = gather(self.pixel_table, (self.first_rows + rows.numbers) * self.width + columns.numbers)
        if self.fill_value is None:
            return values
        assert rows.are_inside is not None and columns.are_inside is not None
        return where(expand_dims(logical_and(rows.are_inside, columns.are_inside), -1), values, self.fill_value)


def _wrap_coordinate(coordinate: Tensor, size: Tensor, fill_mode: str) -> Tensor:
    """Return the coordinates moved into 0 to size - 1 as `fill_mode` prescribes; "CONSTANT" leaves them unchanged."""
    if fill_mode == "CONSTANT":
        return coordinate
    if fill_mode == "REFLECT":
        folded_coordinate = floormod(coordinate, 2.0 * size)
        coordinate = where(folded_coordinate >= size, 2.0 * size - folded_coordinate - 1.0, folded_coordinate)
    elif fill_mode == "WRAP":
        # As in TensorFlow, a coordinate moves by `size` for each size - 1 pixels that it is outside.
        period, is_below = apply("maximum", size - 1.0, 1.0), coordinate < 0.0
        coordinate_from_below = coordinate + size * (apply("floor", -coordinate / period) + 1.0)
        coordinate_from_above = coordinate - size * apply("floor", coordinate / period)
        coordinate = where(coordinate > size - 1.0, coordinate_from_above, coordinate)
        coordinate = where(is_below, coordinate_from_below, coordinate)
    return clip_by_value(coordinate, 0.0, size - 1.0)
