"""Images in version 1: other names, and resizing in which the position of a pixel is its corner, not its centre."""

from __future__ import annotations

from typing import Any

from autoconv import image
from autoconv.api.matrices.linalg import einsum
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.gather import gather, one_hot
from autoconv.api.tensors.shaping import expand_dims, shape, squeeze
from autoconv.compat.v1.maths import resolve_alias
from autoconv.graph.dtypes import float32, int32
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


class ResizeMethod:
    """Numbers of the methods of `resize_images`.

    >>> autoconv.compat.v1.image.ResizeMethod.BICUBIC
    2
    """

    BILINEAR, NEAREST_NEIGHBOR, BICUBIC, AREA = range(4)


def resize_bilinear(
    images: TensorLike, size: Any, align_corners: bool = False, name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:  # fmt: skip
    """Resize images [batch, height, width, channels] by linear interpolation, as float32.

    With `align_corners`, the pixels at the corners keep their values; else only the first pixel does.

    >>> autoconv.compat.v1.image.resize_bilinear([[[[0.0], [4.0]]]], [1, 4]).numpy().ravel()
    array([0., 2., 4., 4.], dtype=float32)
    """
    if half_pixel_centers:
        return image.resize(images, size, "bilinear")
    return _interpolate(images, size, align_corners, _linear_weights)


def resize_bicubic(
    images: TensorLike, size: Any, align_corners: bool = False, name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:  # fmt: skip
    """Resize images [batch, height, width, channels] by cubic interpolation, as float32.

    >>> autoconv.compat.v1.image.resize_bicubic([[[[0.0], [4.0]]]], [1, 4]).numpy().ravel()
    array([0.   , 2.   , 4.   , 4.375], dtype=float32)
    """
    if half_pixel_centers:
        return image.resize(images, size, "bicubic")
    return _interpolate(images, size, align_corners, _cubic_weights)


def resize_nearest_neighbor(
    images: TensorLike, size: Any, align_corners: bool = False, name: str | None = None,
    half_pixel_centers: bool = False,
) -> Tensor:  # fmt: skip
    """Resize images [batch, height, width, channels] by taking the nearest pixel; the dtype stays.

    >>> autoconv.compat.v1.image.resize_nearest_neighbor([[[[0], [4]]]], [1, 4]).numpy().ravel()
    array([0, 0, 4, 4], dtype=int32)
    """
    if half_pixel_centers:
        return image.resize(images, size, "nearest")
    batch = convert_to_tensor(images)
    for axis, new_size in enumerate(_two_sides(size), 1):
        old_size = _side(batch, axis)
        positions = _sample_positions(old_size, new_size, align_corners)
        nearest = apply("floor", positions + 0.5 if align_corners else positions)
        batch = gather(batch, apply("minimum", cast(nearest, int32), cast(old_size - 1, int32)), axis=axis)
    return batch


def resize_area(images: TensorLike, size: Any, align_corners: bool = False, name: str | None = None) -> Tensor:
    """Resize images [batch, height, width, channels] by the means of the old pixels that new ones cover, as float32.

    Raises ValueError for `align_corners`, which is not implemented.

    >>> autoconv.compat.v1.image.resize_area([[[[0.0], [4.0]]]], [1, 1]).numpy().ravel()
    array([2.], dtype=float32)
    """
    if align_corners:
        raise ValueError("resize_area takes no align_corners here; resize_bilinear does")
    return cast(image.resize(images, size, "area"), float32)


def resize_images(
    images: TensorLike, size: Any, method: Any = ResizeMethod.BILINEAR, align_corners: bool = False,
    preserve_aspect_ratio: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Resize an image [height, width, channels], or a batch of images, by one of the methods of `ResizeMethod`.

    An image that has the size already is returned as it is. With `preserve_aspect_ratio`, images get the largest sides
    that fit into `size`. Raises ValueError for another rank or method.

    >>> autoconv.compat.v1.image.resize_images([[[0.0], [4.0]]], [1, 4]).numpy().ravel()
    array([0., 2., 4., 4.], dtype=float32)
    """
    tensor = convert_to_tensor(images)
    if tensor.shape.rank not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    batch = tensor if tensor.shape.rank == 4 else expand_dims(tensor, 0)
    old_sides = [_side(batch, axis) for axis in (1, 2)]
    sides = _two_sides(size)
    if preserve_aspect_ratio:
        scale = min(side / old_side for side, old_side in zip(sides, old_sides, strict=True))
        sides = [round(old_side * scale) for old_side in old_sides]
    if all(isinstance(side, int) for side in (*sides, *old_sides)) and list(sides) == old_sides:
        return tensor
    method_number = _METHOD_NUMBERS.get(str(getattr(method, "value", method)), method)
    if method_number not in range(4):
        raise ValueError("Resize method is not implemented.")
    resize = (resize_bilinear, resize_nearest_neighbor, resize_bicubic, resize_area)[method_number]
    resized_batch = resize(batch, sides, align_corners)
    return resized_batch if tensor.shape.rank == 4 else squeeze(resized_batch, 0)


def extract_image_patches(
    images: TensorLike, ksizes: Any = None, strides: Any = None, rates: Any = None, padding: Any = None,
    name: str | None = None, sizes: Any = None,
) -> Tensor:  # fmt: skip
    """Return the patches of images as vectors, see `image.extract_patches`; `ksizes` is an earlier name of `sizes`.

    >>> autoconv.compat.v1.image.extract_image_patches(
    ...     autoconv.ones([1, 4, 4, 1]), [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 2, 2, 4])
    """
    return image.extract_patches(images, resolve_alias("sizes", sizes, "ksizes", ksizes), strides, rates, padding, name)


# The names that version 2 has for methods of resizing, with their numbers in `ResizeMethod`.
_METHOD_NUMBERS = {"bilinear": 0, "nearest": 1, "bicubic": 2, "area": 3}
_RENAMES = {"resize_image_with_crop_or_pad": "resize_with_crop_or_pad", "transpose_image": "transpose"}
resize = resize_images


def __getattr__(name: str) -> Any:
    """Return the function of version 2 that corresponds to a name of version 1."""
    try:
        return getattr(image, _RENAMES.get(name, name))
    except AttributeError:
        raise AttributeError(f"module 'autoconv.compat.v1.image' has no attribute {name!r}") from None


def _interpolate(images: TensorLike, size: Any, align_corners: bool, weights: Any) -> Tensor:
    """Resize images along height and width; `weights(positions, old_size)` returns a matrix [new, old pixels]."""
    batch = cast(convert_to_tensor(images), float32)
    equations = ("oh,bhwc->bowc", "ow,bhwc->bhoc")  # for height and width; o is the axis of the new pixels
    for axis, (new_size, equation) in enumerate(zip(_two_sides(size), equations, strict=True), 1):
        old_size = _side(batch, axis)
        batch = einsum(equation, weights(_sample_positions(old_size, new_size, align_corners), old_size), batch)
    return batch


def _sample_positions(old_size: Any, new_size: Any, align_corners: bool) -> Tensor:
    """Return for each new pixel its position among the old ones along an axis, as a float."""
    old_extent, new_extent = old_size, new_size
    if align_corners:
        old_extent, new_extent = old_size - 1, apply("maximum", new_size - 1, 1)
    return cast(tensor_range(new_size), float32) * (cast(old_extent, float32) / cast(new_extent, float32))


def _linear_weights(positions: Tensor, old_size: Any) -> Tensor:
    """Return the weights [new, old] of linear interpolation between the two old pixels around each position."""
    floor = apply("floor", positions)
    fraction = positions - floor
    return _weights(floor, old_size, {0: 1.0 - fraction, 1: fraction})


def _cubic_weights(positions: Tensor, old_size: Any) -> Tensor:
    """Return the weights [new, old] by Keys' kernel, a = -0.75; as in TensorFlow, fractions are rounded to 1/1024."""
    floor = apply("floor", positions)
    fraction = apply("round", (positions - floor) * 1024.0) / 1024.0
    left_distance, right_distance = fraction + 1.0, 2.0 - fraction
    return _weights(floor, old_size, {
        -1: ((-0.75 * left_distance + 3.75) * left_distance - 6.0) * left_distance + 3.0,
        0: (1.25 * fraction - 2.25) * fraction * fraction + 1.0,
        1: (1.25 * (1.0 - fraction) - 2.25) * (1.0 - fraction) * (1.0 - fraction) + 1.0,
        2: ((-0.75 * right_distance + 3.75) * right_distance - 6.0) * right_distance + 3.0,
    })  # fmt: skip


def _weights(floor: Tensor, old_size: Any, offset_weights: dict[int, Tensor]) -> Tensor:
    """Return the weights of old pixels in new ones, [new, old].

    The old pixel at `floor` + offset has the weight `offset_weights[offset]`; beyond an edge the pixel at the edge has
    it.
    """
    total = None
    for offset, weight in offset_weights.items():
        nearest = apply("minimum", apply("maximum", cast(floor, int32) + offset, 0), cast(old_size - 1, int32))
        term = one_hot(nearest, old_size) * expand_dims(weight, 1)
        total = term if total is None else total + term
    assert total is not None
    return total


def _side(batch: Tensor, axis: int) -> Any:
    """Return the size of an axis: an int, or a tensor if it is not known."""
    return batch.shape[axis] if batch.shape[axis] is not None else shape(batch)[axis]


def _two_sides(size: Any) -> list[Any]:
    """Return height and width: ints, or scalar tensors if `size` is a tensor."""
    return [size[0], size[1]] if isinstance(size, Tensor) else [int(side) for side in size]
