"""Blocks of the spatial dimensions moved into the batch and back; patches of volumes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.api.nn.windows import Windows
from autoconv.api.tensors.arguments import known_sizes
from autoconv.api.tensors.dimensions import sizes_of
from autoconv.api.tensors.shaping import concat, pad, reshape, stack, transpose
from autoconv.graph.dtypes import int32
from autoconv.runtime.annotations import ShapeLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


def space_to_batch(input: TensorLike, block_shape: Any, paddings: Any, name: str | None = None) -> Tensor:
    """Pad the spatial axes with zeros, divide them into blocks, and move positions within a block to the batch axis.

    `block_shape` is the size of a block along each spatial axis, from the second axis on, or one int for the two
    spatial axes of an image. `paddings` has a pair (before, after) for each spatial axis. The size of the batch is
    multiplied by the number of positions in a block.

    >>> image = autoconv.reshape(autoconv.range(4), [1, 2, 2, 1])
    >>> autoconv.space_to_batch(image, [2, 2], [[0, 0], [0, 0]]).shape
    TensorShape([4, 1, 1, 1])
    """
    x, blocks = convert_to_tensor(input), _block_sides(block_shape)
    padding = np.asarray(static_value(convert_to_tensor(paddings)), np.int64).reshape(-1, 2)
    count, rank = len(blocks), len(x.shape)
    x = pad(x, [[0, 0], *padding.tolist(), *[[0, 0]] * (rank - 1 - count)])
    sizes = sizes_of(x)
    for size, block in zip(sizes[1:], blocks, strict=False):
        if isinstance(size, int) and size % block:
            raise ValueError(f"padded_shape[1..]={sizes[1 : count + 1]} is not divisible by block_shape {blocks}")
    pairs = ((size // block, block) for size, block in zip(sizes[1:], blocks, strict=False))
    split_sizes = list(itertools.chain(*pairs))
    split_x = reshape(x, [sizes[0], *split_sizes, *sizes[count + 1 :]])
    # Axes: the positions within blocks, the batch, the indices of blocks along each side, the other dimensions.
    order = [*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count, 2), *range(2 * count + 1, count + rank)]
    transposed_x = transpose(split_x, order)
    sides = [size // block for size, block in zip(sizes[1:], blocks, strict=False)]
    return reshape(transposed_x, [sizes[0] * int(np.prod(blocks)), *sides, *sizes[count + 1 :]], name=name)


def batch_to_space(input: TensorLike, block_shape: Any, crops: Any, name: str | None = None) -> Tensor:
    """The inverse of `space_to_batch`: move positions from the batch axis into blocks of the spatial axes; crop these.

    >>> autoconv.batch_to_space([[[[1]]], [[[2]]], [[[3]]], [[[4]]]], [2, 2], [[0, 0], [0, 0]]).numpy()[0, :, :, 0]
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    x, blocks = convert_to_tensor(input), _block_sides(block_shape)
    crop_amounts = np.asarray(static_value(convert_to_tensor(crops)), np.int64).reshape(-1, 2)
    count, rank, sizes = len(blocks), len(x.shape), sizes_of(x)
    block_size = int(np.prod(blocks))
    if isinstance(sizes[0], int) and sizes[0] % block_size:
        raise ValueError(f"the batch {sizes[0]} is not divisible by the product of block_shape {blocks}")
    split_x = reshape(x, [*blocks, sizes[0] // block_size, *sizes[1:]])
    side_axes = itertools.chain(*((count + 1 + i, i) for i in range(count)))
    transposed_x = transpose(split_x, [count, *side_axes, *range(2 * count + 1, count + rank)])
    sides = [size * block for size, block in zip(sizes[1:], blocks, strict=False)]
    joined_x = reshape(transposed_x, [sizes[0] // block_size, *sides, *sizes[count + 1 :]])
    slices = tuple(slice(int(before), -int(after) if after else None) for before, after in crop_amounts)
    return apply("identity", get_item(joined_x, (slice(None), *slices)), name=name)


class SpaceToBatchPaddings(NamedTuple):
    """The result of `required_space_to_batch_paddings`."""

    paddings: Tensor
    crops: Tensor


def required_space_to_batch_paddings(
    input_shape: ShapeLike, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> SpaceToBatchPaddings:
    """The paddings that make the spatial axes multiples of the blocks, and the crops that remove the added padding.

    >>> result = autoconv.required_space_to_batch_paddings([5, 4], [2, 2])
    >>> result.paddings.numpy().tolist(), result.crops.numpy().tolist()
    ([[0, 1], [0, 0]], [[0, 1], [0, 0]])
    """
    sides, blocks = _known_or_tensor(input_shape), _known_or_tensor(block_shape)
    if len(blocks.shape) != 1:
        raise ValueError(f"`block_shape` must be a vector. Received the shape {tuple(blocks.shape)}")
    if tuple(sides.shape) != tuple(blocks.shape):
        raise ValueError(f"`input_shape` and `block_shape` differ in size: {tuple(sides.shape)}, {tuple(blocks.shape)}")
    base = np.zeros((*blocks.shape, 2), np.int32) if base_paddings is None else _known_or_tensor(base_paddings)
    before, after = base[:, 0], base[:, 1]
    extra_padding = -(sides + before + after) % blocks
    return SpaceToBatchPaddings(
        stack([before, after + extra_padding], 1), stack([0 * extra_padding, extra_padding], 1)
    )


def _known_or_tensor(numbers: Any) -> Any:
    """Return int32 numbers as an array if they are known, else as a tensor."""
    tensor = convert_to_tensor(numbers, int32)
    value = static_value(tensor)
    return tensor if value is None else np.asarray(value)


def with_space_to_batch(
    input: TensorLike, dilation_rate: Any, padding: str, op: Callable[..., Tensor],
    filter_shape: ShapeLike | None = None, spatial_dims: Sequence[int] | None = None, data_format: str | None = None,
) -> Tensor:  # fmt: skip
    """Apply `op(x, number of sides, padding)` to each set of positions that are `dilation_rate` apart along each side.

    Raises NotImplementedError if `spatial_dims` are other dimensions than those after the first.

    >>> def double(x, sides, padding):
    ...     return 2 * x
    >>> autoconv.nn.with_space_to_batch(autoconv.ones([1, 4, 4, 1]), [2, 2], "VALID", double).shape
    TensorShape([1, 4, 4, 1])
    """
    x, rates = convert_to_tensor(input), _block_sides(dilation_rate)
    if spatial_dims is not None and list(spatial_dims) != list(range(1, len(rates) + 1)):
        raise NotImplementedError(f"with_space_to_batch with spatial_dims={list(spatial_dims)}: transpose them first")
    if padding not in ("VALID", "SAME"):
        raise ValueError(f"`padding` must be 'VALID' or 'SAME'. Received: padding={padding}")
    if all(rate == 1 for rate in rates):
        return op(x, len(rates), padding)
    if data_format is not None and data_format.startswith("NC"):
        raise ValueError("with_space_to_batch takes channels in the last dimension")
    base_paddings = np.zeros((len(rates), 2), np.int64)
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError('`filter_shape` must be specified for `padding="SAME"`')
        filter_sides: Any = known_sizes(filter_shape)
        for i, (size, rate) in enumerate(zip(filter_sides, rates, strict=False)):
            extra_padding = (size - 1) * rate
            base_paddings[i] = extra_padding // 2, extra_padding - extra_padding // 2
    amounts = required_space_to_batch_paddings(sizes_of(x)[1 : 1 + len(rates)], rates, base_paddings)
    return batch_to_space(op(space_to_batch(x, rates, amounts.paddings), len(rates), "VALID"), rates, amounts.crops)


def extract_volume_patches(
    input: TensorLike, ksizes: Sequence[int], strides: Sequence[int], padding: str, name: str | None = None
) -> Tensor:
    """The patches of volumes [batch, planes, rows, columns, channels], each as a vector along the last axis.

    `ksizes` and `strides` have an entry for each axis, 1 for the first and the last.

    >>> x = autoconv.ones([1, 3, 3, 3, 2])
    >>> autoconv.extract_volume_patches(x, [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID").shape
    TensorShape([1, 2, 2, 2, 16])
    """
    x = convert_to_tensor(input)
    windows = Windows(x, list(ksizes[1:4]), list(strides[1:4]), [1, 1, 1], padding, "patches")
    return concat([part for _, part in windows.elements_by_position(0)], -1, name=name)


def _block_sides(block_shape: Any) -> list[int]:
    """Return a block's size along each side; an int is that of both sides of an image."""
    if isinstance(block_shape, int):
        return [block_shape, block_shape]
    return [int(block) for block in np.asarray(static_value(convert_to_tensor(block_shape))).ravel()]
