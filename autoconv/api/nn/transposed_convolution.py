"""Transposed convolutions: the gradient of a convolution with respect to its input, as a function."""

from __future__ import annotations

from typing import Any

from autoconv.api.control.checks import assert_equal
from autoconv.api.nn.convolution import convolution, multiply
from autoconv.api.nn.correlation import Correlation, needs_gradient
from autoconv.api.nn.windows import as_image, check_format, has_channels_first, per_side
from autoconv.api.tensors.arguments import known_sizes
from autoconv.api.tensors.comparison import maximum
from autoconv.api.tensors.dimensions import size_entry, sizes_of
from autoconv.api.tensors.shaping import expand_dims, pad, reshape, reverse, transpose
from autoconv.errors import InvalidArgumentError
from autoconv.runtime.annotations import ShapeLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


def conv_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: ShapeLike, padding: str = "SAME",
    data_format: str | None = None, dilations: ShapeLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The transpose of `convolution`: its vjp with respect to its input.

    `input` is [batch, sides, channels] ([batch, channels, sides] for a `data_format` that begins with NC), `filters`
    [sides, channels of the result, channels]. `output_shape` is the shape of the result, or its sides alone. `strides`,
    `padding` ("SAME" or "VALID") and `dilations` are those of the convolution from the result to the input. Raises
    ValueError if no such convolution exists, or InvalidArgumentError at run time if sides are known only then.

    >>> x, kernel = autoconv.ones([1, 2, 2, 3]), autoconv.ones([2, 2, 5, 3])
    >>> autoconv.nn.conv_transpose(x, kernel, [1, 4, 4, 5], strides=2).shape
    TensorShape([1, 4, 4, 5])
    """
    kernel = convert_to_tensor(filters)
    rank = 0 if kernel.type.shape is None else len(kernel.type.shape)
    x = as_image(input, rank)
    is_channels_first = has_channels_first(rank, data_format)
    side_count = rank - 2
    image = transpose(x, [0, *range(2, rank), 1]) if is_channels_first else x
    side_strides = per_side("strides", strides, side_count, is_channels_first)
    side_dilations = per_side("dilations", dilations, side_count, is_channels_first)
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"`padding` must be 'SAME' or 'VALID', found {padding!r}")
    out_sides = _result_sides(output_shape, side_count, is_channels_first)
    kernel_sides: Any = kernel.type.shape[:side_count]  # type: ignore[index]
    if not all(isinstance(side, int) for side in kernel_sides):
        raise ValueError(f"a transposed convolution needs filters of known sides, found {kernel.type}")
    sides = sizes_of(image)[1:-1]
    extents = [(side - 1) * dilation + 1 for side, dilation in zip(kernel_sides, side_dilations, strict=True)]
    if all(isinstance(side, int) for side in (*out_sides, *sides)):
        geometry = zip(out_sides, sides, extents, side_strides, strict=True)
        paddings = [_padding_of_convolution(*side_geometry, padding) for side_geometry in geometry]
        result = _transpose_known(image, kernel, Correlation(
            kernel_sides=kernel_sides, strides=side_strides, dilations=side_dilations, padding=paddings,
            image_sides=out_sides,
        ))  # fmt: skip
    else:
        for axis, side_geometry in enumerate(zip(out_sides, extents, side_strides, strict=True), 1):
            image = _spread_side(image, axis, *side_geometry, padding)
        turned_kernel = transpose(reverse(kernel, list(range(side_count))), [*range(side_count), rank - 1, rank - 2])
        result = convolution(image, turned_kernel, dilations=side_dilations)
        result = apply("ensure_shape", result, shape=(None, *map(static_value, out_sides), None))
    return apply(
        "identity", transpose(result, [0, rank - 1, *range(1, rank - 1)]) if is_channels_first else result, name=name
    )


def _transpose_known(image: Tensor, kernel: Tensor, correlation: Correlation) -> Tensor:
    """Return the result for known sides: the cotangent of the image of a correlation."""
    channel_counts = [*kernel.type.shape[-2:], image.type.shape[-1]]  # type: ignore[index]
    are_known = all(isinstance(size, int) for size in channel_counts)
    if are_known and channel_counts[1] != channel_counts[2]:
        raise InvalidArgumentError(f"the image has {channel_counts[2]} channels, the filters have {channel_counts[1]}")
    if are_known and needs_gradient(image):
        return correlation.transpose_with_gradient(image, kernel)
    return correlation.image_cotangent(image, kernel, multiply)


def _spread_side(image: Tensor, axis: int, out_side: Any, extent: int, stride: int, padding: str) -> Tensor:
    """Return the image with stride - 1 zeros between the elements of an axis, and those that a kernel reaches over.

    The plain correlation of the result with the reversed kernel has `out_side` elements along the axis. Raises
    InvalidArgumentError at run time unless a convolution of so many elements gives those of the image.
    """
    side = sizes_of(image)[axis]
    window_side = out_side if padding == "SAME" else out_side - extent + 1
    assert_equal(side, (window_side + stride - 1) // stride, "the sides do not fit `output_shape`")
    sizes = sizes_of(image)
    no_padding = [[0, 0]] * len(sizes)
    # A further dimension of each element and its zeros, which is merged into the axis.
    padded_elements = pad(
        expand_dims(image, axis + 1), [*no_padding[: axis + 1], [0, stride - 1], *no_padding[axis + 1 :]]
    )
    sizes[axis] = side * stride
    axis_padding = [extent - 1, extent - 1]
    spread = pad(reshape(padded_elements, sizes), [*no_padding[:axis], axis_padding, *no_padding[axis + 1 :]])
    total_padding = maximum((side - 1) * stride + extent - out_side, 0) if padding == "SAME" else 0
    start = total_padding // 2
    return get_item(spread, (slice(None),) * axis + (slice(start, start + out_side + extent - 1),))


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


def _result_sides(output_shape: ShapeLike, side_count: int, is_channels_first: bool) -> list[Any]:
    """Return the sides of the result, from its shape or from the sides alone; those not known are scalars."""
    sizes = known_sizes(output_shape)
    if sizes is None:
        raise ValueError(f"the number of sizes in `output_shape` has to be known; found {output_shape!r}")
    if len(sizes) not in (side_count, side_count + 2):
        raise ValueError(f"`output_shape` has to have {side_count} known sides, found {output_shape!r}")
    first_side_axis = 2 if is_channels_first else 1
    first_position = 0 if len(sizes) == side_count else first_side_axis
    return [size_entry(output_shape, first_position + i) for i in range(side_count)]


def _padding_of_convolution(out_side: int, side: int, extent: int, stride: int, padding: str) -> tuple[int, int]:
    """Return the padding (before, after) with which a convolution of `out_side` elements gives `side` elements.

    The kernel reaches over `extent` elements. After the last window, elements may be left over.
    """
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
