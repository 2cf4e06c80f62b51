"""Images as the bytes of JPEG, PNG, GIF and BMP files, by the package Pillow."""

from __future__ import annotations

import io
import struct
from typing import Any, ClassVar

import numpy as np

from autoconv.config.refused_options import refuse_options
from autoconv.errors import InvalidArgumentError
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import DType, as_dtype, bool_, float32, int32, string, uint8, uint16
from autoconv.io.host_function import call_on_host
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.annotations import DTypeLike, TensorLike
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor

_FORMATS = ("JPEG", "PNG", "GIF", "BMP", "WEBP")
_PILLOW_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}  # by the number of channels
_GRAY_WEIGHTS = np.array([6968, 23434, 2366], np.int64)  # weights of PNG's reference library, in units of 2**-15


def decode_image(
    contents: TensorLike, channels: int | None = None, dtype: DTypeLike = uint8, name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:  # fmt: skip
    """Return the image of a file's bytes, an array [height, width, channels].

    `channels` is 1 for gray, 3 for colour, 4 for colour with transparency, 0 for the channels of the file. A GIF
    has its frames as first dimension if `expand_animations`, else only the first frame is read. `dtype` is uint8,
    uint16, or float32 from 0 to 1. Raises InvalidArgumentError for bytes that are no image, and ImportError without the
    package Pillow.

    >>> picture = np.zeros([2, 3, 1], np.uint8)
    >>> autoconv.io.decode_image(autoconv.io.encode_png(picture)).shape
    TensorShape([2, 3, 1])
    """
    rank = None if expand_animations else 3
    return _decode(contents, channels, dtype, has_frames=bool(expand_animations), rank=rank)


def decode_png(contents: TensorLike, channels: int = 0, dtype: DTypeLike = uint8, name: str | None = None) -> Tensor:
    """Return the image of the bytes of a file, PNG or another format: see `decode_image`.

    >>> autoconv.io.decode_png(autoconv.io.encode_png(np.full([1, 1, 3], 7, np.uint8))).numpy().tolist()
    [[[7, 7, 7]]]
    """
    return _decode(contents, channels, dtype)


def decode_jpeg(
    contents: TensorLike, channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True,
    try_recover_truncated: bool = False, acceptable_fraction: float = 1, dct_method: str = "",
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the image of the bytes of a file, JPEG or another format: see `decode_image`.

    Values may differ by a few units from those of another decoder. With `ratio` 2, 4 or 8, height and width are
    divided by it. `fancy_upscaling` cannot be False. The other arguments have no effect: a truncated file is an error.

    >>> autoconv.io.decode_jpeg(autoconv.io.encode_jpeg(np.zeros([2, 3, 3], np.uint8))).shape
    TensorShape([2, 3, 3])
    """
    refuse_options("decode_jpeg", fancy_upscaling=None if fancy_upscaling else "False")
    if ratio not in (1, 2, 4, 8):
        raise InvalidArgumentError(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    return _decode(contents, channels, uint8, ratio=ratio)


def decode_gif(contents: TensorLike, name: str | None = None) -> Tensor:
    """Return the frames of a GIF file's bytes, an array [frames, height, width, 3]: see `decode_image`.

    >>> autoconv.io.decode_gif(autoconv.io.encode_png(np.zeros([2, 3, 3], np.uint8))).shape
    TensorShape([1, 2, 3, 3])
    """
    return _decode(contents, 3, uint8, has_frames=True, rank=4)


def decode_bmp(contents: TensorLike, channels: int = 0, name: str | None = None) -> Tensor:
    """Return the image of a BMP file's bytes: see `decode_image`.

    >>> autoconv.io.decode_bmp(autoconv.io.encode_png(np.zeros([2, 3, 3], np.uint8))).shape
    TensorShape([2, 3, 3])
    """
    return _decode(contents, channels, uint8)


def encode_png(image: TensorLike, compression: int = -1, name: str | None = None) -> Tensor:
    """Return the bytes of a PNG file of an image [height, width, channels], of uint8 with 1 to 4 channels.

    An image of uint16 has one channel. Raises InvalidArgumentError for other shapes.

    >>> autoconv.io.encode_png(np.zeros([2, 3, 1], np.uint8)).numpy()[1:4]
    b'PNG'
    """
    return _encode(image, "PNG", compression)


def encode_jpeg(
    image: TensorLike, format: str = "", quality: int = 95, progressive: bool = False, optimize_size: bool = False,
    chroma_downsampling: bool = True, density_unit: str = "in", x_density: int = 300, y_density: int = 300,
    xmp_metadata: str = "", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the bytes of a JPEG file of an image [height, width, channels], of uint8 with 1 or 3 channels.

    `quality` is 0 to 100. The densities are those of the header, per "in" or "cm". Raises InvalidArgumentError for
    other shapes, also than that of the format "grayscale" or "rgb", and UnimplementedError for metadata.

    >>> autoconv.io.is_jpeg(autoconv.io.encode_jpeg(np.zeros([2, 3, 3], np.uint8))).numpy()
    np.True_
    """
    refuse_options("encode_jpeg", xmp_metadata=xmp_metadata)
    if format not in ("", "grayscale", "rgb"):
        raise InvalidArgumentError(f"the format of a JPEG file is '', 'grayscale' or 'rgb', found {format!r}")
    options = {"is_small": bool(optimize_size), "densities": (_DENSITY_UNITS[density_unit], x_density, y_density)}
    channels = {"grayscale": 1, "rgb": 3}.get(format, 0)
    return _encode(image, "JPEG", int(quality), bool(progressive), bool(chroma_downsampling), channels, **options)


_DENSITY_UNITS = {"in": 1, "cm": 2}  # the numbers of the units in the header


def is_jpeg(contents: TensorLike, name: str | None = None) -> Tensor:
    """Return whether the bytes start like a JPEG file.

    >>> autoconv.io.is_jpeg(b"abc").numpy()
    np.False_
    """
    texts = convert_to_tensor(contents, string)
    return call_on_host(IsJpeg(), [texts], [TensorSpec(texts.shape, bool_)])[0]


def extract_jpeg_shape(contents: TensorLike, output_type: DTypeLike = int32, name: str | None = None) -> Tensor:
    """Return height, width and channels of the image in a JPEG file's bytes.

    >>> autoconv.io.extract_jpeg_shape(autoconv.io.encode_jpeg(np.zeros([2, 3, 3], np.uint8))).numpy()
    array([2, 3, 3], dtype=int32)
    """
    dtype = as_dtype(output_type)
    return call_on_host(JpegShape(dtype), [convert_to_tensor(contents, string)], [TensorSpec((3,), dtype)])[0]


def _decode(
    contents: TensorLike, channels: int | None, dtype: DTypeLike, *, has_frames: bool = False, rank: int | None = 3,
    ratio: int = 1,
) -> Any:  # fmt: skip
    """Check the arguments and return the image that `DecodeImage` reads."""
    channel_count = channels or 0
    if channel_count not in (0, 1, 3, 4):
        raise InvalidArgumentError(f"`channels` must be 0, 1, 3 or 4 but got {channel_count}")
    image_dtype = as_dtype(dtype)
    if image_dtype not in (uint8, uint16, float32):
        raise ValueError(f"images have the dtype uint8, uint16 or float32, found {image_dtype.name}")
    shape = None if rank is None else (*(None,) * (rank - 1), channel_count or None)
    function = DecodeImage(channel_count, image_dtype, has_frames, ratio, rank)
    return call_on_host(function, [convert_to_tensor(contents, string)], [TensorSpec(shape, image_dtype)])[0]


def _encode(
    image: TensorLike, file_format: str, level: int, progressive: bool = False, halves_chroma: bool = True,
    channels: int = 0, **options: Any
) -> Tensor:  # fmt: skip
    """Check the dtype and return the bytes that `EncodeImage` writes."""
    if file_format == "JPEG" and as_tensor(image) is None:
        image = np.asarray(image).astype(np.uint8)
    picture = convert_to_tensor(image)
    allowed_dtypes = (uint8, uint16) if file_format == "PNG" else (uint8,)
    if picture.dtype not in allowed_dtypes:
        names = " or ".join(dtype.name for dtype in allowed_dtypes)
        raise InvalidArgumentError(f"an image for {file_format} has the dtype {names}, found {picture.dtype.name}")
    function = EncodeImage(file_format, level, progressive, halves_chroma, channels, **options)
    return call_on_host(function, [picture], [TensorSpec((), string)])[0]


@attribute_class
@dataclass(frozen=True)
class DecodeImage:
    """Read the pixels of an image file, with the frames of an animation if it `has_frames`.

    `ratio` divides height and width. `rank` is that of the result, None where it depends on the file.
    """

    graphdef_name: ClassVar = "DecodeImage"
    channels: int
    dtype: DType
    has_frames: bool
    ratio: int
    rank: int | None

    def __call__(self, contents: np.ndarray) -> np.ndarray:
        file_bytes = bytes(np.asarray(contents, object).item())
        image = _open_image(file_bytes)
        try:
            if image.format == "PNG":
                _open_image(file_bytes).verify()  # pixels may be intact in a file that is damaged elsewhere
            if image.format == "GIF" and self.has_frames:
                pixels = np.stack([self._read_pixels(frame, 3) for frame in _iterate_frames(image)])
            else:
                pixels = self._read_pixels(image, self.channels)
        except (OSError, SyntaxError, ValueError, EOFError) as error:
            raise InvalidArgumentError(f"Invalid {image.format} data, size {len(file_bytes)}: {error}") from None
        if self.rank == 4 and pixels.ndim == 3:
            pixels = pixels[None]
        return self._convert_dtype(pixels)

    def _read_pixels(self, image: Any, channels: int) -> np.ndarray:
        """Return the pixels of one frame, of uint8 or uint16; `channels` 0 stands for the channels of the file."""
        if self.ratio > 1:
            image.draft(None, (-(-image.width // self.ratio), -(-image.height // self.ratio)))
        if image.mode.startswith("I;16") or image.mode == "I":
            pixels_16_bit = np.asarray(image).astype(np.uint16)[..., None]
            if channels in (0, 1):
                return pixels_16_bit
            colours_16_bit = np.repeat(pixels_16_bit, 3, axis=-1)
            opaque = np.full_like(pixels_16_bit, np.iinfo(np.uint16).max)
            return colours_16_bit if channels == 3 else np.concatenate([colours_16_bit, opaque], axis=-1)
        channel_count = channels or _channel_count(image)
        if channel_count == 1 and image.format == "JPEG":
            image.draft("L", image.size)  # decode only the brightness, which a JPEG file stores apart
        if channel_count == 1 and image.mode not in ("L", "1"):
            colours = np.asarray(image.convert("RGB")).astype(np.int64)
            return (colours @ _GRAY_WEIGHTS >> 15).astype(np.uint8)[..., None]
        pixels = np.asarray(image.convert(_PILLOW_MODES[channel_count]))
        return pixels if pixels.ndim == 3 else pixels[..., None]

    def _convert_dtype(self, pixels: np.ndarray) -> np.ndarray:
        """Return pixels in the requested dtype, scaled to its range of values; floats range from 0 to 1."""
        max_value = np.iinfo(pixels.dtype).max
        if self.dtype is float32:
            return pixels.astype(np.float32) * np.float32(1 / max_value)
        if self.dtype is uint16:
            return pixels if max_value > 255 else pixels.astype(np.uint16) * np.uint16(257)  # 255 becomes 65535
        return pixels if max_value == 255 else (pixels >> 8).astype(np.uint8)


@attribute_class
@dataclass(frozen=True)
class EncodeImage:
    """Write pixels as an image file: `level` is PNG's compression or JPEG's quality.

    Images have the given number of channels, or with 0 any that the format allows. `densities` are the unit and the
    numbers of the header.
    """

    graphdef_name: ClassVar = "EncodeImage"
    file_format: str
    level: int
    progressive: bool
    halves_chroma: bool
    channels: int = 0
    is_small: bool = False
    densities: tuple[int, int, int] = (1, 300, 300)

    def __call__(self, pixels: np.ndarray) -> bytes:
        pixels = np.asarray(pixels)
        if pixels.ndim != 3:
            raise InvalidArgumentError(f"image must be 3-dimensional, got the shape {list(pixels.shape)}")
        height, width, channels = pixels.shape
        allowed_counts = (1, 3) if self.file_format == "JPEG" else (1, 2, 3, 4)
        if channels not in allowed_counts:
            counts = ", ".join(map(str, allowed_counts[:-1]))
            raise InvalidArgumentError(f"image must have {counts}, or {allowed_counts[-1]} channels, got {channels}")
        if channels != (self.channels or channels):
            raise InvalidArgumentError(f"the format expects {self.channels} channel(s), got {channels}")
        if pixels.dtype == np.uint16 and channels != 1:
            raise InvalidArgumentError(f"an image of uint16 has 1 channel here, got {channels}")
        if not height or not width:
            raise InvalidArgumentError(f"image must not be empty, got the shape {list(pixels.shape)}")
        image = _import_pillow().fromarray(np.ascontiguousarray(pixels[..., 0] if channels == 1 else pixels))
        file = io.BytesIO()
        if self.file_format == "PNG":
            image.save(file, "PNG", **({} if self.level < 0 else {"compress_level": self.level}))
        else:
            subsampling = 2 if self.halves_chroma and channels == 3 else 0
            image.save(file, "JPEG", quality=self.level, dpi=(300, 300), optimize=self.is_small,
                       progressive=self.progressive, subsampling=subsampling)
            file.seek(13)  # of the unit of the densities
            file.write(struct.pack(">BHH", *self.densities))
        return file.getvalue()


@attribute_class
@dataclass(frozen=True)
class IsJpeg:
    """Test the first bytes of files."""

    graphdef_name: ClassVar = "IsJpeg"

    def __call__(self, contents: np.ndarray) -> np.ndarray:
        starts = [bytes(content)[:3] == b"\xff\xd8\xff" for content in np.asarray(contents, object).ravel()]
        return np.array(starts, bool).reshape(np.shape(contents))


@attribute_class
@dataclass(frozen=True)
class JpegShape:
    """Read the size of an image from the head of its file."""

    graphdef_name: ClassVar = "ExtractJpegShape"
    dtype: DType

    def __call__(self, contents: np.ndarray) -> np.ndarray:
        image = _open_image(bytes(np.asarray(contents, object).item()))
        if image.format != "JPEG":
            raise InvalidArgumentError(f"expected a JPEG file, found {image.format}")
        return np.array([image.height, image.width, len(image.getbands())], self.dtype.numpy)


def _open_image(file_bytes: bytes) -> Any:
    """Return Pillow's image of a file's bytes, whose pixels are not read yet."""
    library = _import_pillow()
    try:
        return library.open(io.BytesIO(file_bytes), formats=_FORMATS)
    except library.DecompressionBombError as error:
        raise InvalidArgumentError(f"the image is too large: {error}") from None
    except (OSError, SyntaxError, ValueError):
        raise InvalidArgumentError("Unknown image file format. One of JPEG, PNG, GIF, BMP, WebP required.") from None


def _iterate_frames(image: Any) -> Any:
    """Yield the image object once for each frame, moved to that frame."""
    for number in range(getattr(image, "n_frames", 1)):
        image.seek(number)  # the one object then has the pixels of this frame
        yield image


def _channel_count(image: Any) -> int:
    """Return the number of channels of an image: for a palette or CMYK 3, or 4 if colours may be transparent."""
    if image.mode == "P" or image.mode == "CMYK":
        return 4 if "transparency" in image.info else 3
    if image.mode == "LA":
        return 2
    return 1 if image.mode in ("1", "L") else len(image.getbands())


def _import_pillow() -> Any:
    """Return Pillow's module Image; raise ImportError, which says how to install it."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("images need the package Pillow: pip install 'autoconv[image]'") from None
    return Image
