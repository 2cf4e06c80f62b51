"""Images, [height, width, channels] or a batch of them: dtypes, crops, padding, colours, gradients and PSNR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.api.tensors.accepted_dtypes import with_default_dtype
from autoconv.api.tensors.arithmetic import floormod
from autoconv.api.tensors.casts import cast, saturate_cast
from autoconv.api.tensors.comparison import clip_by_value
from autoconv.api.tensors.gather import where
from autoconv.api.tensors.reductions import reduce_max, reduce_mean, reduce_min, reduce_sum, reduce_variance
from autoconv.api.tensors.shaping import pad, reverse, shape, stack, tile
from autoconv.api.tensors.shaping import transpose as permute
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import as_dtype, float32
from autoconv.runtime.annotations import DTypeLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import constant, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


def convert_image_dtype(image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None) -> Tensor:
    """Convert an image to another dtype and scale it to that dtype's range: 0 to 1 for floats, 0 to `max` for integers.

    >>> autoconv.image.convert_image_dtype(autoconv.constant([0, 255], autoconv.uint8), autoconv.float32).numpy()
    array([0., 1.], dtype=float32)
    """
    x, out_dtype = convert_to_tensor(image), as_dtype(dtype)
    if not all(dtype_.is_floating or dtype_.is_integer for dtype_ in (x.dtype, out_dtype)):
        raise AttributeError("image dtype must be either floating point or integer")
    if x.dtype is out_dtype:
        return x
    convert = saturate_cast if saturate else cast
    if x.dtype.is_integer and out_dtype.is_integer:  # a maximum plus 1 is a power of 2: the quotients are exact
        old_maximum, new_maximum = int(x.dtype.max), int(out_dtype.max)
        if old_maximum > new_maximum:
            return convert(x // ((old_maximum + 1) // (new_maximum + 1)), out_dtype)
        return cast(x, out_dtype) * ((new_maximum + 1) // (old_maximum + 1))
    if x.dtype.is_floating and out_dtype.is_floating:
        return cast(x, out_dtype)
    if x.dtype.is_integer:
        return cast(x, out_dtype) * constant(1.0 / x.dtype.max, out_dtype)
    return convert(x * constant(float(out_dtype.max) + 0.5, x.dtype), out_dtype)


def flip_left_right(image: TensorLike) -> Tensor:
    """An image with its columns in reverse order.

    >>> autoconv.image.flip_left_right([[[1], [2]]]).numpy().ravel()
    array([2, 1], dtype=int32)
    """
    return reverse(image, [-2])


def flip_up_down(image: TensorLike) -> Tensor:
    """An image with its rows in reverse order.

    >>> autoconv.image.flip_up_down([[[1]], [[2]]]).numpy().ravel()
    array([2, 1], dtype=int32)
    """
    return reverse(image, [-3])


def transpose(image: TensorLike, name: str | None = None) -> Tensor:
    """An image with its rows and columns exchanged.

    >>> autoconv.image.transpose(autoconv.ones([2, 3, 1])).shape
    TensorShape([3, 2, 1])
    """
    x = convert_to_tensor(image)
    return permute(x, [1, 0, 2] if len(x.shape) == 3 else [0, 2, 1, 3])


def rot90(image: TensorLike, k: int = 1, name: str | None = None) -> Tensor:
    """An image rotated counter-clockwise by `k` times 90 degrees.

    >>> autoconv.image.rot90([[[1], [2]]]).numpy().ravel()
    array([2, 1], dtype=int32)
    """
    x = convert_to_tensor(image)
    rotation_by_quarter_turns: dict[int, Callable[[Any], Tensor]] = {
        0: convert_to_tensor,
        1: lambda x: flip_up_down(transpose(x)),
        2: lambda x: flip_up_down(flip_left_right(x)),
        3: lambda x: transpose(flip_up_down(x)),
    }
    return rotation_by_quarter_turns[int(k) % 4](x)


def crop_to_bounding_box(
    image: TensorLike, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """Crop an image to a target size, at an offset, both in pixels. Raises ValueError unless it contains the box.

    >>> autoconv.image.crop_to_bounding_box(autoconv.ones([4, 5, 1]), 1, 1, 2, 3).shape
    TensorShape([2, 3, 1])
    """
    box_by_axis = zip(
        ("height", "width"), _sides(convert_to_tensor(image)), (offset_height, offset_width),
        (target_height, target_width), strict=True,
    )  # fmt: skip
    for name, side, offset, target in box_by_axis:
        if not all(isinstance(number, (int, np.integer)) for number in (offset, target)):
            continue
        exceeds_image = isinstance(side, int) and side < target + offset
        if offset < 0 or target <= 0 or exceeds_image:
            raise ValueError(
                f"{name} must be >= target + offset, offset_{name} >= 0 and target_{name} > 0: "
                f"found {name} {side}, target {target}, offset {offset}"
            )
    rows = slice(offset_height, offset_height + target_height)
    columns = slice(offset_width, offset_width + target_width)
    return get_item(convert_to_tensor(image), (..., rows, columns, slice(None)))


def pad_to_bounding_box(
    image: TensorLike, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """Pad an image with zeros to a target size, with its first pixel at an offset, both in pixels.

    >>> autoconv.image.pad_to_bounding_box(autoconv.ones([1, 1, 1]), 0, 1, 1, 3).numpy().ravel()
    array([0., 1., 0.], dtype=float32)
    """
    x = convert_to_tensor(image)
    height, width = _sides(x)
    padding = [
        [offset_height, target_height - offset_height - height], [offset_width, target_width - offset_width - width],
        [0, 0],
    ]  # fmt: skip
    return pad(x, padding if len(x.shape) == 3 else [[0, 0], *padding])


def central_crop(image: TensorLike, central_fraction: float) -> Tensor:
    """The middle of an image: `central_fraction` of each side. Raises ValueError for a fraction outside of (0, 1].

    >>> autoconv.image.central_crop(autoconv.ones([4, 8, 1]), 0.5).shape
    TensorShape([2, 4, 1])
    """
    if not 0 < central_fraction <= 1:
        raise ValueError("central_fraction must be within (0, 1]")
    x = convert_to_tensor(image)
    starts, sizes = [], []
    for side in _sides(x):
        start = (
            int((side - side * central_fraction) / 2)
            if isinstance(side, int)
            else cast((cast(side, "float64") - cast(side, "float64") * central_fraction) / 2, "int32")
        )
        starts.append(start)
        sizes.append(side - start * 2)
    return crop_to_bounding_box(x, *starts, *sizes)


def resize_with_crop_or_pad(image: TensorLike, target_height: int, target_width: int) -> Tensor:
    """Crop an image at its centre, or pad it with zeros, to a target size.

    >>> autoconv.image.resize_with_crop_or_pad(autoconv.ones([4, 2, 1]), 2, 4).shape
    TensorShape([2, 4, 1])
    """
    x = convert_to_tensor(image)
    height, width = _sides(x)
    top, left = (_half_excess(side, target) for side, target in ((height, target_height), (width, target_width)))
    new_height, new_width = _smaller_side(height, target_height), _smaller_side(width, target_width)
    cropped_image = crop_to_bounding_box(x, top, left, new_height, new_width)
    top, left = _half_excess(target_height, new_height), _half_excess(target_width, new_width)
    return pad_to_bounding_box(cropped_image, top, left, target_height, target_width)


def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Tensor:
    """The brightness of an image in red, green and blue, as one channel of the same dtype.

    >>> autoconv.image.rgb_to_grayscale([[[1.0, 1.0, 1.0]]]).numpy().ravel().round(3)
    array([1.], dtype=float32)
    """
    x = convert_to_tensor(images)
    floats = convert_image_dtype(x, float32)
    gray = reduce_sum(floats * constant([0.2989, 0.5870, 0.1140]), axis=-1, keepdims=True)
    return convert_image_dtype(gray, x.dtype)


def grayscale_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Repeat the channel of a grey image three times.

    >>> autoconv.image.grayscale_to_rgb([[[0.5]]]).shape
    TensorShape([1, 1, 3])
    """
    x = convert_to_tensor(images)
    return tile(x, [1] * (len(x.shape) - 1) + [3])


def rgb_to_hsv(images: TensorLike, name: str | None = None) -> Tensor:
    """Convert the channels red, green and blue to hue, saturation and value, all from 0 to 1.

    >>> autoconv.image.rgb_to_hsv([[[0.0, 0.0, 1.0]]]).numpy().ravel().round(3)
    array([0.667, 1.   , 1.   ], dtype=float32)
    """
    x = _as_three_channels(images)
    red, green, blue = (get_item(x, (..., channel)) for channel in (0, 1, 2))
    value, lowest = reduce_max(x, axis=-1), reduce_min(x, axis=-1)
    chroma = value - lowest
    divisor = where(chroma > 0, chroma, 1.0)
    hue = where(
        apply("equal", value, red),
        (green - blue) / divisor,
        where(apply("equal", value, green), 2.0 + (blue - red) / divisor, 4.0 + (red - green) / divisor),
    )
    hue = where(chroma > 0, hue / 6.0, 0.0)
    hue = where(hue < 0.0, hue + 1.0, hue)
    return stack([hue, where(value > 0, chroma / where(value > 0, value, 1.0), 0.0), value], axis=-1)


def hsv_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Convert the channels hue, saturation and value to red, green and blue, all from 0 to 1.

    >>> autoconv.image.hsv_to_rgb([[[0.0, 1.0, 1.0]]]).numpy().ravel()
    array([1., 0., 0.], dtype=float32)
    """
    x = _as_three_channels(images)
    hue, saturation, value = (get_item(x, (..., channel)) for channel in (0, 1, 2))
    # Clipped to 0 to 1, a channel is the fraction of the way from the darkest to the brightest channel.
    red = apply("abs", hue * 6.0 - 3.0) - 1.0
    green, blue = (2.0 - apply("abs", hue * 6.0 - center) for center in (2.0, 4.0))
    fractions = (apply("minimum", apply("maximum", channel, 0.0), 1.0) for channel in (red, green, blue))
    return stack([value * (1.0 - saturation + saturation * fraction) for fraction in fractions], axis=-1)


def _as_three_channels(images: TensorLike) -> Tensor:
    """Return the images as a tensor; raise InvalidArgumentError unless they have 3 channels."""
    x = convert_to_tensor(with_default_dtype(images, float32))
    if x.shape.rank == 0 or (x.shape.rank is not None and x.shape[-1] not in (3, None)):
        raise InvalidArgumentError(f"input must have 3 channels but input has shape {x.shape}")
    return x


def adjust_brightness(image: TensorLike, delta: Any) -> Tensor:
    """An image with `delta` added to each channel; integers are scaled to 0 to 1 before, and back after it.

    >>> autoconv.image.adjust_brightness([[[0.25]]], 0.5).numpy().ravel()
    array([0.75], dtype=float32)
    """
    return map_as_floats(image, lambda x: x + cast(delta, x.dtype))


def adjust_contrast(images: TensorLike, contrast_factor: Any) -> Tensor:
    """Images whose differences from the mean of each channel are multiplied by a factor.

    >>> autoconv.image.adjust_contrast([[[1.0], [3.0]]], 2.0).numpy().ravel()
    array([0., 4.], dtype=float32)
    """

    def scale(x: Tensor) -> Tensor:
        mean = reduce_mean(x, axis=(-3, -2), keepdims=True)
        return (x - mean) * cast(contrast_factor, x.dtype) + mean

    return map_as_floats(images, scale)


def adjust_saturation(image: TensorLike, saturation_factor: Any, name: str | None = None) -> Tensor:
    """An image whose saturation is multiplied by a factor and clipped to 0 to 1.

    >>> autoconv.image.adjust_saturation([[[1.0, 0.5, 0.5]]], 0.0).numpy().ravel()
    array([1., 1., 1.], dtype=float32)
    """

    def scale(x: Tensor) -> Tensor:
        hue, saturation, value = (get_item(rgb_to_hsv(x), (..., channel)) for channel in (0, 1, 2))
        new_saturation = apply("minimum", apply("maximum", saturation * cast(saturation_factor, x.dtype), 0.0), 1.0)
        return hsv_to_rgb(stack([hue, new_saturation, value], axis=-1))

    return map_as_floats(image, scale)


def adjust_hue(image: TensorLike, delta: Any, name: str | None = None) -> Tensor:
    """An image whose hue is turned by `delta`, a part of the whole circle. Raises ValueError unless it is in [-1, 1].

    >>> autoconv.image.adjust_hue([[[1.0, 0.0, 0.0]]], 0.5).numpy().ravel().round(3)
    array([0., 1., 1.], dtype=float32)
    """
    known_delta = static_value(delta)
    if known_delta is not None and not -1 <= known_delta <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")

    def rotate(x: Tensor) -> Tensor:
        brightest, darkest = reduce_max(x, axis=-1, keepdims=True), reduce_min(x, axis=-1, keepdims=True)
        hue_in_sixths = floormod(get_item(rgb_to_hsv(x), (..., slice(0, 1))) + cast(delta, x.dtype), 1.0) * 6.0
        distances = apply("abs", hue_in_sixths - constant([3.0, 2.0, 4.0], x.dtype))
        # Red, green and blue, as fractions of the way from the darkest to the brightest channel; see `hsv_to_rgb`.
        fractions = distances * constant([1.0, -1.0, -1.0], x.dtype) + constant([-1.0, 2.0, 2.0], x.dtype)
        between = darkest + clip_by_value(fractions, 0.0, 1.0) * (brightest - darkest)
        return where(fractions < 1.0, between, brightest)  # `between` would round the brightest value

    return map_as_floats(image, rotate)


def per_image_standardization(image: TensorLike) -> Tensor:
    """Each image less its mean, divided by its standard deviation, or by 1 / sqrt(number of elements) if that is more.

    >>> autoconv.image.per_image_standardization([[[1.0], [3.0]]]).numpy().ravel()
    array([-1.,  1.], dtype=float32)
    """
    x = cast(convert_to_tensor(image), float32)
    count = cast(apply("reduce_prod", shape(x)[-3:], axis=(0,)), float32)
    deviation = apply("sqrt", reduce_variance(x, axis=(-3, -2, -1), keepdims=True))
    return (x - reduce_mean(x, axis=(-3, -2, -1), keepdims=True)) / apply("maximum", deviation, apply("rsqrt", count))


def total_variation(images: TensorLike, name: str | None = None) -> Tensor:
    """The sum of the absolute differences of neighbouring pixels, for each image.

    >>> autoconv.image.total_variation([[[1.0], [3.0]]]).numpy()
    np.float32(2.0)
    """
    x = convert_to_tensor(images)
    whole_axis = slice(None)
    later, earlier = slice(1, None), slice(None, -1)
    down = get_item(x, (..., later, whole_axis, whole_axis)) - get_item(x, (..., earlier, whole_axis, whole_axis))
    right = get_item(x, (..., later, whole_axis)) - get_item(x, (..., earlier, whole_axis))
    return sum(  # type: ignore[return-value]
        reduce_sum(apply("abs", differences), axis=(-3, -2, -1)) for differences in (down, right)
    )


def image_gradients(image: TensorLike) -> tuple[Tensor, Tensor]:
    """The differences of neighbours of a batch of images, downwards and to the right; 0 in the last row and column.

    >>> down, right = autoconv.image.image_gradients(autoconv.constant([[[[1.0], [3.0]]]]))
    >>> right.numpy().ravel()
    array([2., 0.], dtype=float32)
    """
    x = convert_to_tensor(image)
    down = get_item(x, (slice(None), slice(1, None))) - get_item(x, (slice(None), slice(None, -1)))
    rows = slice(None), slice(None)
    right = get_item(x, (*rows, slice(1, None))) - get_item(x, (*rows, slice(None, -1)))
    return pad(down, [[0, 0], [0, 1], [0, 0], [0, 0]]), pad(right, [[0, 0], [0, 0], [0, 1], [0, 0]])


def sobel_edges(image: TensorLike) -> Tensor:
    """Sobel's derivatives of a batch of images, [batch, height, width, channels, 2]: downwards, and to the right.

    >>> autoconv.image.sobel_edges(autoconv.ones([1, 4, 4, 1])).shape
    TensorShape([1, 4, 4, 1, 2])
    """
    x = pad(convert_to_tensor(image), [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    gradients = []
    for kernel in (_SOBEL, _SOBEL.T):
        total: Any = None
        for i, j in np.ndindex(3, 3):
            if kernel[i, j]:
                # The window of the image's size that begins at pixel (i, j) of the padded image, which has 2 more.
                rows, columns = slice(i, i - 2 or None), slice(j, j - 2 or None)
                term = get_item(x, (slice(None), rows, columns)) * float(kernel[i, j])
                total = term if total is None else total + term
        gradients.append(total)
    return stack(gradients, axis=-1)


def psnr(a: TensorLike, b: TensorLike, max_val: float, name: str | None = None) -> Tensor:
    """The peak signal-to-noise ratio of images in decibels, one for each; `max_val` is the range of their pixels.

    >>> autoconv.image.psnr([[[0.0]]], [[[0.1]]], max_val=1.0).numpy().round(3)
    np.float32(20.0)
    """
    first, second = (convert_image_dtype(x, float32) for x in (convert_to_tensor(a), convert_to_tensor(b)))
    max_pixel = convert_image_dtype(cast(max_val, convert_to_tensor(a).dtype), float32)
    mean_square = reduce_mean((first - second) ** 2, axis=(-3, -2, -1))
    return (20.0 * apply("log", max_pixel) - 10.0 * apply("log", mean_square)) / float(np.log(10.0))


_SOBEL = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])  # the derivative downwards


def _sides(image: Tensor) -> list[Any]:
    """Return height and width: ints, or numbers of the graph."""
    return [image.shape[axis] if image.shape[axis] is not None else shape(image)[axis] for axis in (-3, -2)]


def _half_excess(side: Any, target: Any) -> Any:
    """Return half of the excess of a side over a target, 0 for a shorter side: pixels to crop or pad at its start."""
    if isinstance(side, int) and isinstance(target, int):
        return max(side - target, 0) // 2
    return apply("maximum", side - target, 0) // 2


def _smaller_side(side: Any, target: Any) -> Any:
    """Return the smaller of a side and a target, each an int or a number of the graph."""
    return min(side, target) if isinstance(side, int) and isinstance(target, int) else apply("minimum", side, target)


def map_as_floats(image: TensorLike, change: Callable[[Tensor], Tensor]) -> Tensor:
    """Return `change(image)`. Integers are scaled to floats from 0 to 1 for `change`, and its result is scaled back."""
    x = convert_to_tensor(image)
    if x.dtype.is_floating:
        return change(x)
    return convert_image_dtype(change(convert_image_dtype(x, float32)), x.dtype, saturate=True)
