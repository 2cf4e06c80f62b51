"""Transposed convolutions: the gradient of a convolution with respect to its input, as a function."""

from __future__ import annotations

from typing import Any

from autoconv.api.nn.convolution import multiply
from autoconv.api.nn.correlation import Correlation, needs_gradient
from autoconv.api.nn.windows import check_format, has_channels_first, per_side
from autoconv.api.tensors.arguments import known_sizes
from autoconv.api.tensors.shaping import transpose
from autoconv.errors import InvalidArgumentError
from autoconv.runtime.annotations import ShapeLike, TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def conv_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: ShapeLike, padding: str = "SAME",
    data_format: str | None = None, dilations: ShapeLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The transpose of `convolution`: its vjp with respect to its input.

    `input` is [batch, sides, channels] ([batch, channels, sides] for a `data_format` that begins with NC), `filters`
    [sides, channels of the result, channels]. `output_shape` is the shape of the result, or its sides alone; the sides
    have to be known. `strides`, `padding` ("SAME" or "VALID") and `dilations` are those of the convolution from the
    result to the input. Raises ValueError if no such convolution exists.

    >>> x, kernel = autoconv.ones([1, 2, 2, 3]), autoconv.ones([2, 2, 5, 3])
    >>> autoconv.nn.conv_transpose(x, kernel, [1, 4, 4, 5], strides=2).shape
    TensorShape([1, 4, 4, 5])
    """
    x, kernel = convert_to_tensor(input), convert_to_tensor(filters)
    rank = 0 if kernel.type.shape is None else len(kernel.type.shape)
    is_channels_first = has_channels_first(rank, data_format)
    side_count = rank - 2
    image = transpose(x, [0, *range(2, rank), 1]) if is_channels_first else x
    side_strides = per_side("strides", strides, side_count, is_channels_first)
    side_dilations = per_side("dilations", dilations, side_count, is_channels_first)
    out_sides = _result_sides(output_shape, side_count, is_channels_first)
    sides = image.type.shape[1:-1]  # type: ignore[index]
    kernel_sides: Any = kernel.type.shape[:side_count]  # type: ignore[index]
    paddings = []
    for i, (out_side, side, kernel_side) in enumerate(zip(out_sides, sides, kernel_sides, strict=True)):
        if not isinstance(side, int) or not isinstance(kernel_side, int):
            raise ValueError(f"a transposed convolution needs known sides, found {x.type} and {kernel.type}")
        extent = (kernel_side - 1) * side_dilations[i] + 1
        paddings.append(_padding_of_convolution(out_side, side, extent, side_strides[i], padding))
    correlation = Correlation(
        kernel_sides=kernel_sides, strides=side_strides, dilations=side_dilations, padding=paddings,
        image_sides=out_sides,
    )  # fmt: skip
    channel_counts = [*kernel.type.shape[side_count:], image.type.shape[-1]]  # type: ignore[index]
    are_known = all(isinstance(size, int) for size in channel_counts)
    if are_known and channel_counts[1] != channel_counts[2]:
        raise InvalidArgumentError(f"the image has {channel_counts[2]} channels, the filters have {channel_counts[1]}")
    if are_known and needs_gradient(image):
        result = correlation.transpose_with_gradient(image, kernel)
    else:
        result = correlation.image_cotangent(image, kernel, multiply)
    return apply(
        "identity", transpose(result, [0, rank - 1, *range(1, rank - 1)]) if is_channels_first else result, name=name
    )


def conv1d_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: ShapeLike, padding: str = "SAME",
    data_format: str = "NWC", dilations: ShapeLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """`conv_transpose` of an input of rank 3.

    >>> autoconv.nn.conv1d_transpose([[[1.0], [2.0]]], [[[1.0]], [[1.0]]], [1, 4, 1], strides=2).numpy().ravel()
    array([1., 1., 2., 2.], dtype=float32)
    """
    check_format(3, data_format)
    return conv_transpose(input, filters, output_shape, strides, padding, data_format, dilations, name)


def conv2d_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: ShapeLike, padding: str = "SAME",
    data_format: str = "NHWC", dilations: ShapeLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """`conv_transpose` of an input of rank 4.

    >>> x, kernel = autoconv.ones([1, 2, 2, 3]), autoconv.ones([2, 2, 5, 3])
    >>> autoconv.nn.conv2d_transpose(x, kernel, [1, 4, 4, 5], strides=2).shape
    TensorShape([1, 4, 4, 5])
    """
    check_format(4, data_format)
    return conv_transpose(input, filters, output_shape, strides, padding, data_format, dilations, name)


def conv3d_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: ShapeLike, padding: str = "SAME",
    data_format: str = "NDHWC", dilations: ShapeLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """`conv_transpose` of an input of rank 5.

    >>> x, kernel = autoconv.ones([1, 1, 2, 2, 3]), autoconv.ones([1, 2, 2, 5, 3])
    >>> autoconv.nn.conv3d_transpose(x, kernel, [1, 2, 4, 4, 5], strides=2).shape
    TensorShape([1, 2, 4, 4, 5])
    """
    check_format(5, data_format)
    return conv_transpose(input, filters, output_shape, strides, padding, data_format, dilations, name)


def _result_sides(output_shape: ShapeLike, side_count: int, is_channels_first: bool) -> list[int]:
    """Return the sides of the result, from its shape or from the sides alone."""
    out_sides = known_sizes(output_shape)
    if out_sides is None:
        raise ValueError(f"`output_shape` has to be known, except for the batch; found {output_shape!r}")
    sizes = list(out_sides)
    sizes = sizes if len(sizes) == side_count else sizes[2:] if is_channels_first else sizes[1:-1]
    sides = [size for size in sizes if size is not None]
    if len(sizes) != side_count or len(sides) != side_count:
        raise ValueError(f"`output_shape` has to have {side_count} known sides, found {output_shape!r}")
    return sides


def _padding_of_convolution(out_side: int, side: int, extent: int, stride: int, padding: str) -> tuple[int, int]:
    """Return the padding (before, after) with which a convolution of `out_side` elements gives `side` elements.

    The kernel reaches over `extent` elements. After the last window, elements may be left over.
    """
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"`padding` must be 'SAME' or 'VALID', found {padding!r}")
    expected_side = -(-out_side // stride) if padding == "SAME" else -(-(out_side - extent + 1) // stride)
    if expected_side != side:
        raise ValueError(
            f"a convolution of {out_side} elements, {padding!r}, gives {expected_side}; the input has {side}"
        )
    total_padding = max((side - 1) * stride + extent - out_side, 0) if padding == "SAME" else 0
    return total_padding // 2, total_padding - total_padding // 2


def atrous_conv2d_transpose(
    value: TensorLike, filters: TensorLike, output_shape: ShapeLike, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """The transpose of `atrous_conv2d`: a transposed convolution whose filter elements are `rate` apart.

    >>> x, kernel = autoconv.ones([1, 2, 2, 1]), autoconv.ones([2, 2, 1, 1])
    >>> autoconv.nn.atrous_conv2d_transpose(x, kernel, [1, 4, 4, 1], rate=2, padding="VALID").shape
    TensorShape([1, 4, 4, 1])
    """
    return conv2d_transpose(value, filters, output_shape, 1, padding, dilations=rate, name=name)
