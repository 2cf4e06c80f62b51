"""Projective transforms of images: each pixel of the result is looked up at a place of the image."""

from __future__ import annotations

from typing import Any

from autoconv.api.tensors.arithmetic import floormod
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.comparison import clip_by_value, logical_and
from autoconv.api.tensors.constants import range as counted
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
    `interpolation` is "NEAREST" or "BILINEAR". Places outside of the image are `fill_value` ("CONSTANT"), mirrored
    ("REFLECT"), repeated ("WRAP"), or those of the edge ("NEAREST"). Raises ValueError for other words.
    """
    x, matrix = convert_to_tensor(images), cast(convert_to_tensor(transforms), float32)
    if interpolation not in ("NEAREST", "BILINEAR") or fill_mode not in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
        raise ValueError(f"interpolation and fill_mode are unknown: {interpolation!r}, {fill_mode!r}")
    sizes = cast(convert_to_tensor(output_shape), int32)
    new_height, new_width = get_item(sizes, 0), get_item(sizes, 1)
    columns = reshape(cast(counted(new_width), float32), [1, 1, -1])
    rows = reshape(cast(counted(new_height), float32), [1, -1, 1])
    a0, a1, a2, b0, b1, b2, c0, c1 = (
        expand_dims(expand_dims(get_item(matrix, (slice(None), number)), -1), -1) for number in range(8)
    )
    scale = c0 * columns + c1 * rows + 1.0
    batch, height, width = (shape(x)[axis] for axis in (0, 1, 2))
    whole = expand_dims(expand_dims(cast(counted(batch), float32) * 0.0, -1), -1)
    across = _place((a0 * columns + a1 * rows + a2) / scale + whole, cast(width, float32), fill_mode)
    down = _place((b0 * columns + b1 * rows + b2) / scale + whole, cast(height, float32), fill_mode)
    pixels = _Pixels(x, height, width, cast(fill_value, x.dtype))
    if interpolation == "NEAREST":
        colour = pixels.at(_round(down), _round(across))
    else:
        top, left = apply("floor", down), apply("floor", across)
        low, right = expand_dims(down - top, -1), expand_dims(across - left, -1)
        parts = [
            cast(pixels.at(top + i, left + j), float32) * (low if i else 1.0 - low) * (right if j else 1.0 - right)
            for i in (0.0, 1.0)
            for j in (0.0, 1.0)
        ]
        colour = cast(parts[0] + parts[1] + parts[2] + parts[3], x.dtype)
    return where(expand_dims(apply("equal", scale + whole, 0.0), -1), cast(fill_value, x.dtype), colour)


class _Pixels:
    """The pixels of images by row and column; outside there is one value."""

    def __init__(self, images: Tensor, height: Tensor, width: Tensor, outside: Tensor) -> None:
        self.height, self.width, self.outside = height, width, outside
        self.flat = reshape(images, [shape(images)[0], height * width, shape(images)[3]])

    def at(self, rows: Tensor, columns: Tensor) -> Tensor:
        i, j = cast(rows, int32), cast(columns, int32)
        inside = logical_and(logical_and(i >= 0, i < self.height), logical_and(j >= 0, j < self.width))
        places = where(inside, i * self.width + j, 0)
        sizes = shape(places)
        result = gather(self.flat, reshape(places, [sizes[0], -1]), axis=1, batch_dims=1)
        result = reshape(result, [sizes[0], sizes[1], sizes[2], shape(self.flat)[2]])
        return where(expand_dims(inside, -1), result, self.outside)


def _place(place: Tensor, size: Tensor, fill_mode: str) -> Tensor:
    """Return places within an image of that size; unchanged where the outside is constant."""
    if fill_mode == "CONSTANT":
        return place
    if fill_mode == "REFLECT":
        turn = floormod(place, 2.0 * size)
        place = where(turn >= size, 2.0 * size - turn - 1.0, turn)
    elif fill_mode == "WRAP":
        last = apply("maximum", size - 1.0, 1.0)
        before = place + size * (apply("floor", -place / last) + 1.0)
        behind = place - size * apply("floor", place / last)
        place = where(place < 0.0, before, where(place > size - 1.0, behind, place))
    return clip_by_value(place, 0.0, size - 1.0)


def _round(place: Tensor) -> Tensor:
    """Round to the nearest number, halves away from 0."""
    return apply("sign", place) * apply("floor", apply("abs", place) + 0.5)
