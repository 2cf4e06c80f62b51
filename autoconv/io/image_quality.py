"""Images after JPEG compression, crops of JPEG files, and WebP files."""

from __future__ import annotations

from typing import Any, ClassVar

from autoconv.api.image import convert_image_dtype
from autoconv.api.random.stateful import uniform
from autoconv.api.random.stateless import stateless_uniform
from autoconv.errors import InvalidArgumentError
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import as_dtype, int32, string, uint8
from autoconv.io.host_function import call_on_host
from autoconv.io.image_files import DecodeImage, EncodeImage, decode_jpeg
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.annotations import DTypeLike, TensorLike
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


def adjust_jpeg_quality(
    image: TensorLike, jpeg_quality: Any, dct_method: str = "", name: str | None = None
) -> Tensor:
    """Compress an image, of uint8 or floats from 0 to 1, as JPEG of a quality from 0 to 100, and decode it.

    >>> autoconv.image.adjust_jpeg_quality(autoconv.zeros([8, 8, 3]), 50).shape
    TensorShape([8, 8, 3])
    """
    tensor = convert_to_tensor(image)
    pixels = convert_image_dtype(tensor, uint8, saturate=True)
    shape = tensor.shape.as_list() if tensor.shape.rank is not None else (None, None, None)
    quality = convert_to_tensor(jpeg_quality, int32)
    decoded_image = call_on_host(ThroughJpeg(), [pixels, quality], [TensorSpec(shape, uint8)])[0]
    return convert_image_dtype(decoded_image, tensor.dtype, saturate=True)


def random_jpeg_quality(
    image: TensorLike, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None
) -> Tensor:
    """`adjust_jpeg_quality` with a random quality in [min_jpeg_quality, max_jpeg_quality).

    >>> autoconv.image.random_jpeg_quality(autoconv.zeros([8, 8, 3]), 50, 90).shape
    TensorShape([8, 8, 3])
    """
    _check_qualities(min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, uniform([], min_jpeg_quality, max_jpeg_quality, int32, seed))


def stateless_random_jpeg_quality(
    image: TensorLike, min_jpeg_quality: int, max_jpeg_quality: int, seed: TensorLike
) -> Tensor:
    """`random_jpeg_quality` with a quality that `seed`, two integers, determines.

    >>> autoconv.image.stateless_random_jpeg_quality(autoconv.zeros([8, 8, 3]), 50, 90, seed=[1, 2]).shape
    TensorShape([8, 8, 3])
    """
    _check_qualities(min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, stateless_uniform([], seed, min_jpeg_quality, max_jpeg_quality, int32))


def decode_and_crop_jpeg(
    contents: TensorLike, crop_window: TensorLike, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True,
    try_recover_truncated: bool = False, acceptable_fraction: float = 1, dct_method: str = "",
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return a part of a JPEG file's image, `crop_window` (y, x, height, width); see `decode_jpeg`.

    >>> data = autoconv.io.encode_jpeg(np.zeros([4, 5, 3], np.uint8))
    >>> autoconv.io.decode_and_crop_jpeg(data, [1, 1, 2, 3]).shape
    TensorShape([2, 3, 3])
    """
    image = decode_jpeg(contents, channels, ratio, fancy_upscaling)
    y, x, height, width = (get_item(convert_to_tensor(crop_window), i) for i in range(4))
    return get_item(image, (slice(y, y + height), slice(x, x + width)))


def decode_webp(contents: TensorLike, channels: int = 0, dtype: DTypeLike = uint8, name: str | None = None) -> Tensor:
    """Return the frames of a WebP file's bytes, an array [frames, height, width, channels]: see `decode_image`.

    >>> autoconv.io.decode_webp(autoconv.io.encode_png(np.zeros([2, 3, 3], np.uint8))).shape
    TensorShape([1, 2, 3, 3])
    """
    pixel_dtype = as_dtype(dtype)
    shape = (None, None, None, channels or None)
    function = DecodeImage(int(channels), pixel_dtype, has_frames=False, ratio=1, rank=4)
    return call_on_host(function, [convert_to_tensor(contents, string)], [TensorSpec(shape, pixel_dtype)])[0]


@attribute_class
@dataclass(frozen=True)
class ThroughJpeg:
    """Encode an image as JPEG and decode it, so that it has the losses of a JPEG file."""

    graphdef_name: ClassVar = "AdjustJpegQuality"

    def __call__(self, pixels: Any, quality: Any) -> Any:
        if not 0 <= int(quality) <= 100:
            raise InvalidArgumentError(f"quality must be in [0,100], got {int(quality)}")
        jpeg_bytes = EncodeImage("JPEG", int(quality), progressive=False, halves_chroma=True)(pixels)
        decode = DecodeImage(int(pixels.shape[-1]), uint8, has_frames=False, ratio=1, rank=3)
        return decode(jpeg_bytes)  # type: ignore[arg-type]


def _check_qualities(low: int, high: int) -> None:
    """Raise ValueError unless the range of qualities lies in 0 to 100 and is not empty."""
    if not (0 <= low <= 100 and 0 <= high <= 100):
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if low >= high:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
