"""Resizing of images: rows, then columns are weighted sums of the old ones, by a matrix of weights for each axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.api.matrices.linalg import einsum
from autoconv.api.tensors.accepted_dtypes import check_dtype
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.gather import gather, where
from autoconv.api.tensors.shaping import expand_dims, pad, shape, squeeze
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtype_sets import REAL
from autoconv.graph.dtypes import float32, int32, uint32, uint64
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


class ResizeMethod:
    """Names of the methods of `resize`.

    >>> autoconv.image.ResizeMethod.BICUBIC
    'bicubic'
    """

    AREA = "area"
    BICUBIC = "bicubic"
    BILINEAR = "bilinear"
    GAUSSIAN = "gaussian"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    MITCHELLCUBIC = "mitchellcubic"
    NEAREST_NEIGHBOR = "nearest"


def resize(
    images: TensorLike, size: Any, method: Any = "bilinear", preserve_aspect_ratio: bool = False,
    antialias: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Resize images to another height and width: `images` is [height, width, channels], or a batch of these.

    `size` is the new height and width. `method` is one of ResizeMethod: "bilinear", "bicubic" (Keys' kernel with
    a = -0.5), "lanczos3", "lanczos5", "gaussian", "mitchellcubic", "area" (the mean of the old
    pixels that a new one covers), or "nearest". The centre of the first pixel is at 0.5. With `antialias`, kernels are
    stretched where an image becomes smaller. The result is float32; "nearest" keeps the dtype. With
    `preserve_aspect_ratio`, images get the largest sides of the same proportions that fit into `size`. Raises
    ValueError for another rank, size or method.

    >>> autoconv.image.resize([[[0.0], [4.0]]], [1, 4]).numpy().ravel()
    array([0., 1., 3., 4.], dtype=float32)
    """
    check_dtype("resize", REAL - {uint32, uint64}, images)
    x = convert_to_tensor(images)
    rank = len(x.shape)
    if rank not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    new_sides = [_static_or_tensor(side) for side in _height_and_width(size)]
    if any(isinstance(side, int) and side < 1 for side in new_sides):
        raise InvalidArgumentError("output dimensions must be positive")
    batch = x if rank == 4 else expand_dims(x, 0)
    sides = [batch.shape[axis] if batch.shape[axis] is not None else shape(batch)[axis] for axis in (1, 2)]
    if preserve_aspect_ratio:
        new_sides = _largest_proportional_sides(new_sides, sides)
    method_name = str(getattr(method, "value", method))
    side_pairs = zip(new_sides, sides, strict=True)
    if all(isinstance(new, int) and isinstance(old, int) and new == old for new, old in side_pairs):
        return x if method_name == "nearest" else cast(x, float32)
    if method_name == "nearest":
        for axis, (old_size, new_size) in enumerate(zip(sides, new_sides, strict=True), 1):
            batch = gather(batch, _nearest_indices(old_size, new_size), axis=axis)
    else:
        if method_name not in _KERNEL_BY_METHOD and method_name != "area":
            raise ValueError(f"Resize method is not implemented: {method}")
        batch = cast(batch, float32)
        for old_size, new_size, equation in zip(sides, new_sides, ("oh,bhwc->bowc", "ow,bhwc->bhoc"), strict=True):
            if method_name == "area":
                weights = _area_weights(old_size, new_size)
            else:
                weights = _kernel_weights(old_size, new_size, method_name, antialias)
            batch = einsum(equation, weights, batch)
    return batch if rank == 4 else squeeze(batch, 0)


def resize_with_pad(
    image: TensorLike, target_height: int, target_width: int, method: Any = "bilinear", antialias: bool = False
) -> Tensor:
    """Resize an image to fit into height and width without changing its proportions, and pad it with zeros.

    >>> autoconv.image.resize_with_pad(autoconv.ones([2, 4, 1]), 4, 4).numpy()[:, 0, 0]
    array([0., 1., 1., 0.], dtype=float32)
    """
    x = convert_to_tensor(image)
    sides = [x.shape[axis] if x.shape[axis] is not None else shape(x)[axis] for axis in (-3, -2)]
    target_sides = target_height, target_width
    ratios = (_as_float(old_size) / _as_float(new_size) for old_size, new_size in zip(sides, target_sides, strict=True))
    ratio = apply("maximum", *ratios)
    exact_sides = [_as_float(side) / ratio for side in sides]
    height, width = (_static_or_tensor(cast(apply("floor", side), int32)) for side in exact_sides)
    resized_image = resize(x, [height, width], method, antialias=antialias)
    top, left = (
        _static_or_tensor(cast(apply("floor", (_as_float(new_size) - side) / 2.0), int32))
        for new_size, side in zip(target_sides, exact_sides, strict=True)
    )
    paddings = [[top, target_height - height - top], [left, target_width - width - left], [0, 0]]
    return pad(resized_image, paddings if len(x.shape) == 3 else [[0, 0], *paddings])


# The radius in pixels beyond which weights are 0, and the function from the distance from the centre to the weights.
_KERNEL_BY_METHOD: dict[str, tuple[float, Callable[[Tensor], Tensor]]] = {
    "bilinear": (1.0, lambda x: 1.0 - x),
    "bicubic": (
        2.0,
        lambda x: where(x < 1.0, (1.5 * x - 2.5) * x * x + 1.0, ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0),
    ),
    "mitchellcubic": (
        2.0,
        lambda x: where(
            x < 1.0,
            (7.0 / 6.0 * x - 2.0) * x * x + 8.0 / 9.0,
            ((-7.0 / 18.0 * x + 2.0) * x - 10.0 / 3.0) * x + 16.0 / 9.0,
        ),
    ),
    "gaussian": (1.5, lambda x: apply("exp", x * x * -2.0)),  # with a standard deviation of half a pixel
    "lanczos3": (3.0, lambda x: _lanczos(x, 3.0)),
    "lanczos5": (5.0, lambda x: _lanczos(x, 5.0)),
}


def _lanczos(distance: Tensor, radius: float) -> Tensor:
    """Return the weights of Lanczos' kernel, a product of two sinc functions, by distance from the centre."""
    angle = apply("maximum", distance, 1e-8) * np.pi
    return radius * apply("sin", angle) * apply("sin", angle / radius) / (angle * angle)


def _kernel_weights(old_size: Any, new_size: Any, method: str, antialias: bool) -> Tensor:
    """Return the weights of old pixels in new ones, [new, old]; those of a new pixel add up to 1."""
    radius, kernel = _KERNEL_BY_METHOD[method]
    ratio = _as_float(old_size) / _as_float(new_size)
    stretch = apply("maximum", ratio, 1.0) if antialias else 1.0
    centres = expand_dims((cast(tensor_range(new_size), float32) + 0.5) * ratio, 1)
    if method == "bicubic" and not antialias:  # TensorFlow reads these weights from a table, 1024 of them to a pixel
        centres = apply("round", (centres - 0.5) * 1024.0) / 1024.0 + 0.5
    distance = apply("abs", cast(tensor_range(old_size), float32) + 0.5 - centres) / stretch
    weights = where(distance < radius, kernel(distance), 0.0)
    return weights / apply("reduce_sum", weights, axis=(1,), keepdims=True)


def _area_weights(old_size: Any, new_size: Any) -> Tensor:
    """Return the fraction of each new pixel's area that each old pixel covers, [new, old]."""
    ratio = _as_float(old_size) / _as_float(new_size)
    begins = expand_dims(cast(tensor_range(new_size), float32) * ratio, 1)
    pixels = cast(tensor_range(old_size), float32)
    ends = apply("minimum", begins + ratio, pixels + 1.0)
    return apply("maximum", ends - apply("maximum", begins, pixels), 0.0) / ratio


def _nearest_indices(old_size: Any, new_size: Any) -> Tensor:
    """Return the index of the old pixel at the centre of each new one."""
    positions = cast((cast(tensor_range(new_size), float32) + 0.5) * (_as_float(old_size) / _as_float(new_size)), int32)
    return apply("minimum", positions, cast(old_size, int32) - 1)


def _as_float(size: Any) -> Tensor:
    """Return a size as a float32 tensor."""
    return cast(convert_to_tensor(size), float32)


def _height_and_width(size: Any) -> list[Any]:
    """Return height and width of the argument `size`; raise ValueError for another number of sizes."""
    if isinstance(size, Tensor):
        size = [get_item(size, 0), get_item(size, 1)]
    if len(size) != 2:
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    return list(size)


def _static_or_tensor(size: Any) -> Any:
    """Return a size as an int where its value is known, else as an int32 tensor."""
    static_size = static_value(size) if isinstance(size, Tensor) else size
    return cast(size, int32) if static_size is None else int(static_size)


def _largest_proportional_sides(limits: list[Any], sides: list[Any]) -> list[Any]:
    """Return height and width in the proportions of `sides`, the largest within `limits`."""
    scales = (_as_float(new_size) / _as_float(old_size) for new_size, old_size in zip(limits, sides, strict=True))
    scale = apply("minimum", *scales)
    return [_static_or_tensor(cast(apply("round", _as_float(side) * scale), int32)) for side in sides]
