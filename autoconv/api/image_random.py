"""Random changes of images, determined by a seed of two integers or drawn from the global generator.

In functions that draw from the global generator, `seed` selects a stream of its numbers, as in `random.uniform`.
"""

from __future__ import annotations

from collections.abc import Callable

from autoconv.api import image as images
from autoconv.api.random.stateful import uniform
from autoconv.api.random.stateless import stateless_uniform
from autoconv.api.tensors.arithmetic import floormod
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.gather import where
from autoconv.api.tensors.indexing import slice
from autoconv.api.tensors.shaping import reshape, reverse, shape
from autoconv.graph.dtypes import int32
from autoconv.runtime.annotations import ShapeLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

Draw = Callable[..., Tensor]  # (shape, low, high, dtype) -> uniform numbers


def stateless_random_brightness(image: TensorLike, max_delta: float, seed: TensorLike) -> Tensor:
    """`adjust_brightness` by a number from -max_delta to max_delta, determined by `seed`, two integers.

    >>> autoconv.image.stateless_random_brightness([[[0.5]]], 0.25, seed=[1, 2]).numpy().ravel().round(4)
    array([0.672], dtype=float32)
    """
    return _change_brightness(image, max_delta, _seeded_draw(seed))


def random_brightness(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """`adjust_brightness` by a random number from -max_delta to max_delta.

    >>> autoconv.image.random_brightness([[[0.5]]], 0.25).shape
    TensorShape([1, 1, 1])
    """
    return _change_brightness(image, max_delta, _global_draw(seed))


def stateless_random_contrast(image: TensorLike, lower: float, upper: float, seed: TensorLike) -> Tensor:
    """`adjust_contrast` by a factor from `lower` to `upper`, determined by `seed`, two integers.

    >>> autoconv.image.stateless_random_contrast([[[1.0], [3.0]]], 0.5, 1.0, seed=[1, 2]).numpy().ravel().round(4)
    array([1.078, 2.922], dtype=float32)
    """
    return _adjust_randomly(images.adjust_contrast, image, lower, upper, _seeded_draw(seed))


def random_contrast(image: TensorLike, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """`adjust_contrast` by a random factor from `lower` to `upper`.

    >>> autoconv.image.random_contrast([[[1.0], [3.0]]], 0.5, 1.0).shape
    TensorShape([1, 2, 1])
    """
    return _adjust_randomly(images.adjust_contrast, image, lower, upper, _global_draw(seed))


def stateless_random_saturation(
    image: TensorLike, lower: float, upper: float, seed: TensorLike | None = None
) -> Tensor:
    """`adjust_saturation` by a factor from `lower` to `upper`, determined by `seed`, two integers.

    >>> autoconv.image.stateless_random_saturation([[[1.0, 0.5, 0.5]]], 0.0, 1.0, seed=[1, 2]).shape
    TensorShape([1, 1, 3])
    """
    return _adjust_randomly(images.adjust_saturation, image, lower, upper, _seeded_draw(seed))


def random_saturation(image: TensorLike, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """`adjust_saturation` by a random factor from `lower` to `upper`.

    >>> autoconv.image.random_saturation([[[1.0, 0.5, 0.5]]], 0.0, 1.0).shape
    TensorShape([1, 1, 3])
    """
    return _adjust_randomly(images.adjust_saturation, image, lower, upper, _global_draw(seed))


def stateless_random_hue(image: TensorLike, max_delta: float, seed: TensorLike) -> Tensor:
    """`adjust_hue` by a number from -max_delta to max_delta, determined by `seed`, two integers.

    >>> autoconv.image.stateless_random_hue([[[1.0, 0.5, 0.5]]], 0.25, seed=[1, 2]).shape
    TensorShape([1, 1, 3])
    """
    return _change_hue(image, max_delta, _seeded_draw(seed))


def random_hue(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """`adjust_hue` by a random number from -max_delta to max_delta, which is 0.5 at most.

    >>> autoconv.image.random_hue([[[1.0, 0.5, 0.5]]], 0.25).shape
    TensorShape([1, 1, 3])
    """
    return _change_hue(image, max_delta, _global_draw(seed))


def stateless_random_flip_left_right(image: TensorLike, seed: TensorLike) -> Tensor:
    """`flip_left_right` with a chance of a half, for each image of a batch, determined by `seed`, two integers.

    >>> autoconv.image.stateless_random_flip_left_right([[[1.0], [3.0]]], seed=[3, 2]).numpy().ravel()
    array([1., 3.], dtype=float32)
    """
    return _flip_randomly(image, -2, _seeded_draw(seed))


def random_flip_left_right(image: TensorLike, seed: int | None = None) -> Tensor:
    """`flip_left_right` with a chance of a half, for each image of a batch.

    >>> autoconv.image.random_flip_left_right([[[1.0], [3.0]]]).shape
    TensorShape([1, 2, 1])
    """
    return _flip_randomly(image, -2, _global_draw(seed))


def stateless_random_flip_up_down(image: TensorLike, seed: TensorLike) -> Tensor:
    """`flip_up_down` with a chance of a half, for each image of a batch, determined by `seed`, two integers.

    >>> autoconv.image.stateless_random_flip_up_down([[[1.0]], [[3.0]]], seed=[3, 2]).numpy().ravel()
    array([1., 3.], dtype=float32)
    """
    return _flip_randomly(image, -3, _seeded_draw(seed))


def random_flip_up_down(image: TensorLike, seed: int | None = None) -> Tensor:
    """`flip_up_down` with a chance of a half, for each image of a batch.

    >>> autoconv.image.random_flip_up_down([[[1.0]], [[3.0]]]).shape
    TensorShape([2, 1, 1])
    """
    return _flip_randomly(image, -3, _global_draw(seed))


def stateless_random_crop(value: TensorLike, size: ShapeLike, seed: TensorLike, name: str | None = None) -> Tensor:
    """A part of `value` of shape `size`, at offsets determined by `seed`, two integers.

    >>> autoconv.image.stateless_random_crop([1, 2, 3, 4], [2], seed=[1, 2]).numpy()
    array([2, 3], dtype=int32)
    """
    return _crop_randomly(value, size, _seeded_draw(seed), name)


def random_crop(value: TensorLike, size: ShapeLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """A part of `value` of shape `size`, at random offsets.

    >>> autoconv.image.random_crop([1, 2, 3, 4], [2]).shape
    TensorShape([2])
    """
    return _crop_randomly(value, size, _global_draw(seed), name)


def _seeded_draw(seed: TensorLike | None) -> Draw:
    """Return a function that draws uniform numbers determined by a seed of two integers."""
    return lambda size, low, high, dtype: stateless_uniform(size, seed, low, high, dtype)


def _global_draw(seed: int | None) -> Draw:
    """Return a function that draws uniform numbers from the global generator."""
    return lambda size, low, high, dtype: uniform(size, low, high, dtype, seed)


def _change_brightness(image: TensorLike, max_delta: float, draw: Draw) -> Tensor:
    """Return the image with a number that `draw` gives added to its pixels."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return images.adjust_brightness(image, draw([], -max_delta, max_delta, "float32"))


def _change_hue(image: TensorLike, max_delta: float, draw: Draw) -> Tensor:
    """Return the image with its hue changed by a number that `draw` gives."""
    if not 0 <= max_delta <= 0.5:
        raise ValueError(f"max_delta must be from 0 to 0.5, found {max_delta}")
    return images.adjust_hue(image, draw([], -max_delta, max_delta, "float32"))


def _adjust_randomly(
    adjust: Callable[..., Tensor], image: TensorLike, lower: float, upper: float, draw: Draw
) -> Tensor:
    """Return the image, adjusted by a factor from `lower` to `upper`."""
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return adjust(image, draw([], lower, upper, "float32"))


def _flip_randomly(image: TensorLike, axis: int, draw: Draw) -> Tensor:
    """Return the image, or each image of a batch, reversed along an axis with a chance of a half."""
    x = convert_to_tensor(image)
    flipped_x = reverse(x, [axis])
    if x.shape.rank == 4:
        is_flipped = cast(apply("round", draw(shape(x)[:1], 0, 1.0, "float32")), "bool")
        return where(reshape(is_flipped, [-1, 1, 1, 1]), flipped_x, x)
    return where(apply("less", draw([], 0, 1.0, "float32"), 0.5), flipped_x, x)


def _crop_randomly(value: TensorLike, size: ShapeLike, draw: Draw, name: str | None) -> Tensor:
    """Return a part of `value` of shape `size`; an offset is a random int32 modulo the number of possible offsets."""
    x, sizes = convert_to_tensor(value), convert_to_tensor(size, dtype=int32)
    offset_counts = shape(x) - sizes + 1
    offsets = floormod(draw(shape(shape(x)), 0, int32.max, int32), offset_counts)
    return slice(x, offsets, size, name=name)
