"""Blocks of pixels moved into channels and back, and `reverse_sequence`, which reverses the beginning of each row."""

from __future__ import annotations

from typing import Any, NamedTuple

from autoconv.api.tensors.arguments import static_int
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.gather import gather, where
from autoconv.api.tensors.shaping import expand_dims, reshape, shape, transpose
from autoconv.runtime.annotations import IntLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


def space_to_depth(
    input: TensorLike, block_size: IntLike, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Put each block of `block_size` x `block_size` pixels into the channels of one pixel.

    The image is [batch, height, width, channels], or [batch, channels, height, width] for the `data_format` "NCHW".

    >>> autoconv.nn.space_to_depth(autoconv.reshape(autoconv.range(4), [1, 2, 2, 1]), 2).numpy().ravel()
    array([0, 1, 2, 3], dtype=int32)
    """
    image, side = convert_to_tensor(input), static_int(block_size, "block_size")
    batch, height, width, depth = _sizes(image, data_format)
    if data_format == "NCHW":
        split_blocks = reshape(image, [batch, depth, height // side, side, width // side, side])
        permuted_blocks = transpose(split_blocks, [0, 3, 5, 1, 2, 4])
        return reshape(permuted_blocks, [batch, depth * side * side, height // side, width // side])
    split_blocks = reshape(image, [batch, height // side, side, width // side, side, depth])
    permuted_blocks = transpose(split_blocks, [0, 1, 3, 2, 4, 5])
    return reshape(permuted_blocks, [batch, height // side, width // side, depth * side * side])


def depth_to_space(
    input: TensorLike, block_size: IntLike, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Put the channels of each pixel into a block of pixels; the inverse of `space_to_depth`, with its arguments.

    >>> autoconv.nn.depth_to_space([[[[1, 2, 3, 4]]]], 2).numpy()[0, :, :, 0]
    array([[1, 2],
           [3, 4]], dtype=int32)
    """
    image, side = convert_to_tensor(input), static_int(block_size, "block_size")
    batch, height, width, depth = _sizes(image, data_format)
    new_depth = depth // (side * side)
    if data_format == "NCHW":
        split_blocks = reshape(image, [batch, side, side, new_depth, height, width])
        permuted_blocks = transpose(split_blocks, [0, 3, 4, 1, 5, 2])
        return reshape(permuted_blocks, [batch, new_depth, height * side, width * side])
    split_blocks = reshape(image, [batch, height, width, side, side, new_depth])
    return reshape(transpose(split_blocks, [0, 1, 3, 2, 4, 5]), [batch, height * side, width * side, new_depth])


class _ImageSizes(NamedTuple):
    """The sizes of a batch of images: ints where they are known, else scalar tensors."""

    batch: Any
    height: Any
    width: Any
    depth: Any


def _sizes(image: Tensor, data_format: str) -> _ImageSizes:
    """Return the sizes of images whose dimensions are in the order of `data_format`."""
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError(f"`data_format` must be 'NHWC' or 'NCHW', found {data_format!r}")
    static_shape, dynamic_sizes = image.shape, shape(image)
    if static_shape.rank not in (None, 4):
        raise ValueError(f"an image has the rank 4, found the shape {static_shape}")
    sizes = [
        dynamic_sizes[i] if static_shape.rank is None or static_shape[i] is None else static_shape[i] for i in range(4)
    ]
    if data_format == "NHWC":
        return _ImageSizes(*sizes)
    batch, depth, height, width = sizes
    return _ImageSizes(batch, height, width, depth)


def reverse_sequence(
    input: TensorLike, seq_lengths: TensorLike, seq_axis: IntLike | None = None, batch_axis: IntLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Reverse the first `seq_lengths[i]` elements along `seq_axis`, for each index i of `batch_axis`.

    >>> autoconv.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1).numpy()
    array([[2, 1, 3],
           [6, 5, 4]], dtype=int32)
    """
    tensor = convert_to_tensor(input)
    rank = tensor.shape.rank
    if rank is None:
        raise ValueError("reverse_sequence takes a tensor of known rank")
    element_axis, row_axis = (
        (0 if axis is None else static_int(axis, "axis")) % rank for axis in (seq_axis, batch_axis)
    )
    if element_axis == row_axis:
        raise ValueError(f"`seq_axis` and `batch_axis` are both {element_axis}")
    order = [row_axis, element_axis, *(axis for axis in range(rank) if axis not in (row_axis, element_axis))]
    rows = transpose(tensor, order)
    lengths = expand_dims(cast(convert_to_tensor(seq_lengths), "int32"), 1)
    positions = expand_dims(tensor_range(shape(rows)[1]), 0)
    result = gather(rows, where(positions < lengths, lengths - 1 - positions, positions), axis=1, batch_dims=1)
    return transpose(result, [order.index(axis) for axis in range(rank)])
