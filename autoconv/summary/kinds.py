"""The kinds of summaries, each for a plugin of TensorBoard."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from autoconv.api.image import convert_image_dtype
from autoconv.api.tensors.casts import cast
from autoconv.errors import InvalidArgumentError
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import float32, float64, string, uint8
from autoconv.io.host_function import call_on_host
from autoconv.io.image_files import EncodeImage
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.summary.protos import metadata_of
from autoconv.summary.state import STATE, summary_scope
from autoconv.summary.writing import write

_DEFAULT_BUCKET_COUNT = 30


def scalar(name: str, data: TensorLike, step: TensorLike | None = None, description: str | None = None) -> Tensor:
    """Write a number, a scalar of any real dtype, as float32; return whether it was written.

    The tag is the name below the current name scopes. `step` is an int or a tensor, or the default step.
    Raises ValueError without a step, and for data with dimensions.

    >>> autoconv.summary.scalar("loss", 0.5, step=1).numpy()  # without a default writer
    np.False_
    """

    def compute_value() -> Tensor:
        number = convert_to_tensor(data)
        if number.shape.rank not in (None, 0):
            raise ValueError(f"Expected scalar shape, saw shape: {number.shape}.")
        return cast(number, float32)

    with summary_scope(name, "scalar_summary", [data, step]) as (tag, _):
        return write(tag, compute_value, step, _metadata("scalars", description))


def histogram(
    name: str,
    data: TensorLike,
    step: TensorLike | None = None,
    buckets: int | None = None,
    description: str | None = None,
) -> Tensor:
    """Write how the elements of a tensor of any shape are distributed over `buckets` ranges, by default 30.

    Return whether it was written. Raises ValueError without a step.

    >>> autoconv.summary.histogram("weights", [1.0, 2.0], step=1).numpy()
    np.False_
    """
    bucket_count = _DEFAULT_BUCKET_COUNT if buckets is None else buckets

    def compute_value() -> Tensor:
        return call_on_host(
            Histogram(bucket_count), [cast(convert_to_tensor(data), float64)], [TensorSpec((bucket_count, 3), float64)]
        )[0]

    with summary_scope(name, "histogram_summary", [data, step]) as (tag, _):
        return write(tag, compute_value, step, _metadata("histograms", description))


def image(
    name: str, data: TensorLike, step: TensorLike | None = None, max_outputs: int = 3, description: str | None = None
) -> Tensor:
    """Write the first `max_outputs` of images [number, height, width, channels], with 1 to 4 channels, as PNG.

    Floats have to be between 0 and 1. Return whether it was written. Raises ValueError without a step, and for
    another rank.

    >>> autoconv.summary.image("digits", np.zeros([1, 8, 8, 1]), step=1).numpy()
    np.False_
    """

    def compute_value() -> Tensor:
        images = convert_to_tensor(data)
        if images.shape.rank not in (None, 4):
            raise ValueError(f"images have the shape [number, height, width, channels], found {images.shape}")
        pixels = convert_image_dtype(images, uint8, saturate=True)
        return call_on_host(EncodeImages(int(max_outputs)), [pixels], [TensorSpec((None,), string)])[0]

    with summary_scope(name, "image_summary", [data, step]) as (tag, _):
        return write(tag, compute_value, step, _metadata("images", description))


def text(name: str, data: TensorLike, step: TensorLike | None = None, description: str | None = None) -> Tensor:
    """Write strings: TensorBoard shows them as Markdown, in a table if they are a vector or matrix.

    Return whether it was written. Raises ValueError without a step, and TypeError for anything but strings.

    >>> autoconv.summary.text("note", "first *try*", step=1).numpy()
    np.False_
    """

    def compute_value() -> Tensor:
        strings = convert_to_tensor(data)
        if not strings.dtype.is_string:
            raise TypeError(f"summary.text takes strings, found {strings.dtype.name}")
        return strings

    with summary_scope(name, "text_summary", [data, step]) as (tag, _):
        return write(tag, compute_value, step, _metadata("text", description))


def _metadata(plugin: str, description: str | None) -> object:
    """Return the metadata of a plugin. Without a writer this is None, as TensorBoard may not be installed."""
    writes = STATE.writer is not None and STATE.writer.writes
    return metadata_of(plugin, description, b"") if writes else None


@attribute_class
@dataclass(frozen=True)
class Histogram:
    """A host function that counts values in ranges of equal width.

    It returns a row for each range: left end, right end and count, float64 [buckets, 3].
    """

    graphdef_name: ClassVar = "Histogram"
    buckets: int

    def __call__(self, data: np.ndarray) -> np.ndarray:
        values = np.asarray(data, np.float64).ravel()
        result = np.zeros((self.buckets, 3))
        if not values.size or not self.buckets:
            return result
        if not np.isfinite(values).all():
            raise InvalidArgumentError("a histogram takes finite values only, found nan or inf")
        lowest, highest = values.min(), values.max()
        if lowest == highest:
            result[:, :2] = lowest
            result[-1, 2] = values.size
            return result
        edges = np.linspace(lowest, highest, self.buckets + 1)
        bucket_indices = np.floor((values - lowest) / ((highest - lowest) / self.buckets)).astype(np.int64)
        result[:, 0], result[:, 1] = edges[:-1], edges[1:]
        result[:, 2] = np.bincount(np.minimum(bucket_indices, self.buckets - 1), minlength=self.buckets)
        return result


@attribute_class
@dataclass(frozen=True)
class EncodeImages:
    """A host function that encodes the first images as PNG; it returns strings: width, height, and then the files."""

    graphdef_name: ClassVar = "EncodePng"
    image_limit: int

    def __call__(self, images: np.ndarray) -> np.ndarray:
        if images.ndim != 4:
            raise InvalidArgumentError(f"images have 4 dimensions, found the shape {list(images.shape)}")
        encode = EncodeImage("PNG", level=-1, progressive=False, halves_chroma=True)
        sizes = [str(images.shape[2]).encode(), str(images.shape[1]).encode()]
        strings = sizes + [encode(image) for image in images[: self.image_limit]]
        result = np.empty(len(strings), object)
        result[:] = strings
        return result
