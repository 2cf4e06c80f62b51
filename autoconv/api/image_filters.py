"""Images in the colour spaces YUV and YIQ, gamma correction, patches, and structural similarity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.api import image as images
from autoconv.api.nn.convolution import depthwise_conv2d
from autoconv.api.nn.pooling import avg_pool
from autoconv.api.nn.windows import as_image
from autoconv.api.tensors.accepted_dtypes import check_dtype
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.dimensions import sizes_of
from autoconv.api.tensors.reductions import reduce_mean
from autoconv.api.tensors.shaping import concat, pad, reshape, shape
from autoconv.graph.dtype_sets import COMPLEX, FLOATING
from autoconv.graph.dtypes import float32
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

# The weights of red, green and blue (rows) in the three channels of YUV and YIQ (columns), and TensorFlow's inverses.
_YUV = ((0.299, -0.14714119, 0.61497538), (0.587, -0.28886916, -0.51496512), (0.114, 0.43601035, -0.10001026))
_YIQ = ((0.299, 0.59590059, 0.2115), (0.587, -0.27455667, -0.52273617), (0.114, -0.32134392, 0.31119955))
_YUV_INVERSE = ((1, 1, 1), (0, -0.394642334, 2.03206185), (1.13988303, -0.58062185, 0))
_YIQ_INVERSE = ((1, 1, 1), (0.95598634, -0.27201283, -1.10674021), (0.6208248, -0.64720424, 1.70423049))


def rgb_to_yuv(images: TensorLike) -> Tensor:
    """Convert red, green and blue, from 0 to 1, to YUV (PAL): the luminance and two colour differences.

    >>> autoconv.image.rgb_to_yuv([[[1.0, 1.0, 1.0]]]).numpy().ravel().round(3)
    array([1., 0., 0.], dtype=float32)
    """
    return _mix_channels(images, _YUV)


def yuv_to_rgb(images: TensorLike) -> Tensor:
    """The inverse of `rgb_to_yuv`.

    >>> autoconv.image.yuv_to_rgb([[[1.0, 0.0, 0.0]]]).numpy().ravel().round(3)
    array([1., 1., 1.], dtype=float32)
    """
    return _mix_channels(images, _YUV_INVERSE)


def rgb_to_yiq(images: TensorLike) -> Tensor:
    """Convert red, green and blue, from 0 to 1, to YIQ (NTSC): the luminance and two colour differences.

    >>> autoconv.image.rgb_to_yiq([[[1.0, 0.0, 0.0]]]).numpy().ravel().round(3)
    array([0.299, 0.596, 0.212], dtype=float32)
    """
    return _mix_channels(images, _YIQ)


def yiq_to_rgb(images: TensorLike) -> Tensor:
    """The inverse of `rgb_to_yiq`.

    >>> autoconv.image.yiq_to_rgb([[[1.0, 0.0, 0.0]]]).numpy().ravel().round(3)
    array([1., 1., 1.], dtype=float32)
    """
    return _mix_channels(images, _YIQ_INVERSE)


def adjust_gamma(image: TensorLike, gamma: float = 1, gain: float = 1) -> Tensor:
    """`gain` times the image to the power of `gamma`; integers are scaled to 0 to 1 before, and back after it.

    >>> autoconv.image.adjust_gamma([[[0.25]]], 0.5).numpy().ravel()
    array([0.5], dtype=float32)
    """
    if isinstance(gamma, (int, float)) and gamma < 0:
        raise ValueError(f"Gamma should be a non-negative real number: found {gamma}")
    return images.map_as_floats(image, lambda x: x ** cast(gamma, x.dtype) * cast(gain, x.dtype))


def extract_patches(
    images: TensorLike, sizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Patches of images [batch, height, width, channels], as vectors along the last axis.

    `sizes`, `strides` and `rates` have an entry for each axis, 1 for the first and the last. Neighbouring
    pixels of a patch are `rates` apart in the image. `padding` is "VALID" or "SAME".

    >>> x = autoconv.reshape(autoconv.range(9.0), [1, 3, 3, 1])
    >>> autoconv.image.extract_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")[0, 0].numpy()
    array([[0., 1., 3., 4.],
           [1., 2., 4., 5.]], dtype=float32)
    """
    if padding not in ("VALID", "SAME"):
        raise ValueError(f'padding is "VALID" or "SAME", found {padding!r}')
    x = as_image(images, 4)
    sizes, strides, rates = ([int(number) for number in numbers] for numbers in (sizes, strides, rates))
    patch_sides = [(sizes[axis] - 1) * rates[axis] + 1 for axis in (1, 2)]
    sides = [x.shape[axis] if x.shape[axis] is not None else shape(x)[axis] for axis in (1, 2)]
    if padding == "SAME":
        side_padding = []
        for axis, side, patch_side in zip((1, 2), sides, patch_sides, strict=True):
            stride = strides[axis]
            pad_size = ((side + stride - 1) // stride - 1) * stride + patch_side - side
            pad_size = max(pad_size, 0) if isinstance(pad_size, int) else apply("maximum", pad_size, 0)
            side_padding.append([pad_size // 2, pad_size - pad_size // 2])
        x = pad(x, [[0, 0], *side_padding, [0, 0]])
        sides = [side + sum(widths) for side, widths in zip(sides, side_padding, strict=True)]
    pixels_of_patches = []  # for each position in a patch, the pixels there of all patches
    for row in range(sizes[1]):
        for column in range(sizes[2]):
            starts = row * rates[1], column * rates[2]
            slices = [
                slice(start, side - patch_side + start + 1, strides[axis])
                for axis, start, side, patch_side in zip((1, 2), starts, sides, patch_sides, strict=True)
            ]
            pixels_of_patches.append(get_item(x, (slice(None), *slices)))
    return concat(pixels_of_patches, -1, name=name)


def ssim(
    img1: TensorLike, img2: TensorLike, max_val: float, filter_size: int = 11, filter_sigma: float = 1.5,
    k1: float = 0.01, k2: float = 0.03, return_index_map: bool = False,
) -> Tensor:  # fmt: skip
    """The structural similarity of images (Wang and others, 2004), 1 for equal ones: the mean over pixels and channels.

    `max_val` is the range of the pixels. With `return_index_map`, return the mean over channels for each pixel.

    >>> x = autoconv.ones([16, 16, 1])
    >>> autoconv.image.ssim(x, x, max_val=1.0).numpy().round(3)
    np.float32(1.0)
    """
    first, second, image_shape, value_range = _normalize_images(img1, img2, max_val)
    options = _SimilarityOptions(filter_size, filter_sigma, k1 * value_range, k2 * value_range)
    luminance, contrast = _similarity_terms(first, second, options)
    similarity = luminance * contrast
    if not return_index_map:
        similarity = reduce_mean(similarity, axis=(-3, -2))
    similarity = reduce_mean(similarity, axis=-1)
    return reshape(similarity, concat([image_shape[:-3], shape(similarity)[1:]], 0))


def ssim_multiscale(
    img1: TensorLike, img2: TensorLike, max_val: float,
    power_factors: Sequence[float] = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333), filter_size: int = 11,
    filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03,
) -> Tensor:  # fmt: skip
    """The structural similarity on several scales (Wang and others, 2003), each half as large as the one before.

    The contrasts of all scales, and the similarity of the smallest one, are raised to `power_factors` and multiplied.
    Images need sides of at least `filter_size` on the smallest scale.

    >>> x = autoconv.ones([24, 24, 1])
    >>> autoconv.image.ssim_multiscale(x, x, max_val=1.0, power_factors=(0.5, 0.5)).numpy().round(3)
    np.float32(1.0)
    """
    first, second, image_shape, value_range = _normalize_images(img1, img2, max_val)
    options = _SimilarityOptions(filter_size, filter_sigma, k1 * value_range, k2 * value_range)
    scale_count = len(power_factors)
    product: Any = None
    for i, power in enumerate(power_factors):
        if i:
            first, second = _halve(first), _halve(second)
        luminance, contrast = _similarity_terms(first, second, options)
        similarity = luminance * contrast if i == scale_count - 1 else contrast
        factor = apply("maximum", reduce_mean(similarity, axis=(-3, -2)), 0.0) ** power
        product = factor if product is None else product * factor
    return reshape(reduce_mean(product, axis=-1), image_shape[:-3])


class _NormalizedImages(NamedTuple):
    """Two batches of images of rank 4 as floats, the original shape of the first, and the range of the pixels."""

    first: Any
    second: Any
    image_shape: Any
    value_range: float


def _normalize_images(img1: TensorLike, img2: TensorLike, max_val: float) -> _NormalizedImages:
    """Return both images as batches of floats; the range `max_val` of integers is scaled as they are."""
    dtypes = [convert_to_tensor(image).dtype for image in (img1, img2)]
    first, second = (images.convert_image_dtype(image, float32) for image in (img1, img2))
    if not dtypes[0].is_floating:
        max_val = max_val / dtypes[0].max
    image_shape = shape(first)
    first, second = (reshape(image, concat([[-1], image_shape[-3:]], 0)) for image in (first, second))
    return _NormalizedImages(first, second, image_shape, max_val)


class _SimilarityOptions(NamedTuple):
    """The side and the standard deviation of the smoothing filter, in pixels, and the roots of two small constants.

    The constants keep the quotients of dark images stable.
    """

    filter_size: int
    filter_sigma: float
    c1_root: float
    c2_root: float


def _similarity_terms(first: Any, second: Any, options: _SimilarityOptions) -> tuple[Any, Any]:
    """Return the luminance term and the contrast term of each pixel."""
    size, sigma, c1_root, c2_root = options
    offsets = np.arange(size, dtype=np.float32) - (size - 1) / 2
    weights = np.exp(-(offsets**2) / (2 * sigma**2))
    kernel = np.outer(weights, weights) / weights.sum() ** 2
    filters = np.tile(kernel.astype(np.float32)[:, :, None, None], (1, 1, first.shape[-1], 1))

    def smooth(x: Any) -> Any:
        return depthwise_conv2d(x, filters, [1, 1, 1, 1], "VALID")

    c1, c2 = c1_root**2, c2_root**2
    first_mean, second_mean = smooth(first), smooth(second)
    mean_products, mean_squares = first_mean * second_mean * 2.0, first_mean * first_mean + second_mean * second_mean
    smooth_products, smooth_squares = smooth(first * second) * 2.0, smooth(first * first + second * second)
    contrast = (smooth_products - mean_products + c2) / (smooth_squares - mean_squares + c2)
    return (mean_products + c1) / (mean_squares + c1), contrast


def _halve(image: Any) -> Any:
    """Return the means of blocks of 2 x 2 pixels; an image with an odd side repeats its last row or column first."""
    sizes = sizes_of(image)[1:3]
    odd_padding = [[0, size % 2] for size in sizes]
    return avg_pool(pad(image, [[0, 0], *odd_padding, [0, 0]], "SYMMETRIC"), 2, 2, "VALID")


def _mix_channels(images: TensorLike, weights: Any) -> Tensor:
    """Return images whose channels are weighted sums of the old ones; `weights` is [old, new]."""
    check_dtype("tensordot", FLOATING | COMPLEX, images)
    x = convert_to_tensor(images)
    return apply("tensordot", x, np.asarray(weights, x.dtype.numpy), axes=((-1,), (0,)))
