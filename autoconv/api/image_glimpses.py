"""Glimpses: windows of images at offsets that are tensors, filled up outside of the images."""

from __future__ import annotations

from typing import Any

from autoconv.api.random.stateful import normal, uniform
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.constants import zeros
from autoconv.api.tensors.gather import gather, where
from autoconv.api.tensors.shaping import expand_dims, shape
from autoconv.graph.dtypes import float32, int32
from autoconv.runtime.annotations import ShapeLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

_NOISES = ("uniform", "gaussian", "zero")


def extract_glimpse(
    input: TensorLike, size: ShapeLike, offsets: TensorLike, centered: bool = True, normalized: bool = True,
    noise: str = "uniform", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the window of `size`, a height and a width, in each image of the batch `input`, as float32.

    `offsets` [batch, 2] has a row and a column for each image. With `centered` and `normalized` they are those of the
    window's middle: 0 is the middle of the image, -1 and 1 are its edges. With `normalized` alone they are the window's
    corner in units of the image's sides; with `centered` alone, its corner in pixels from the middle of the image; else
    its corner in pixels. Outside of the image is noise: "uniform", "gaussian" or "zero". Raises ValueError for another
    noise.

    >>> image = autoconv.reshape(autoconv.range(9.0), [1, 3, 3, 1])
    >>> autoconv.image.extract_glimpse(image, [2, 2], [[1.0, 0.0]], noise="zero").numpy()[0, ..., 0]
    array([[6., 7.],
           [0., 0.]], dtype=float32)
    """
    if noise not in _NOISES:
        raise ValueError(f"noise has to be one of {', '.join(_NOISES)}, found {noise!r}")
    images, sizes = cast(convert_to_tensor(input), float32), convert_to_tensor(size, int32)
    offset_pairs = cast(convert_to_tensor(offsets), float32)
    rows, rows_inside = _window_positions(offset_pairs, sizes, images, centered, normalized, axis=0)
    columns, columns_inside = _window_positions(offset_pairs, sizes, images, centered, normalized, axis=1)
    glimpses = gather(gather(images, rows, axis=1, batch_dims=1), columns, axis=2, batch_dims=1)
    is_inside = apply("logical_and", expand_dims(rows_inside, 2), expand_dims(columns_inside, 1))
    return where(expand_dims(is_inside, 3), glimpses, _fill_with_noise(noise, shape(glimpses)))


def _window_positions(
    offset_pairs: Tensor, sizes: Tensor, images: Tensor, centered: bool, normalized: bool, *, axis: int
) -> tuple[Tensor, Tensor]:
    """Return the positions [batch, size] of a window along an axis (0: rows, 1: columns), and which are in the image.

    Positions outside are replaced by the nearest one inside.
    """
    side, length = get_item(shape(images), axis + 1), get_item(sizes, axis)
    start: Any = get_item(offset_pairs, (slice(None), axis))
    float_side: Any = cast(side, float32)
    if normalized and centered:
        start = (start + 1.0) * float_side / 2.0 - cast(length, float32) / 2.0
    elif normalized:
        start = start * float_side
    elif centered:
        start = start + float_side / 2.0
    positions = expand_dims(cast(start, int32), 1) + tensor_range(length)
    is_inside = apply("logical_and", positions >= 0, positions < side)
    return apply("minimum", apply("maximum", positions, 0), side - 1), is_inside


def _fill_with_noise(noise: str, sizes: Tensor) -> Tensor:
    """Return a tensor of the shape `sizes`, filled with one of `_NOISES`."""
    if noise == "zero":
        return zeros(sizes)
    return uniform(sizes) if noise == "uniform" else normal(sizes)
