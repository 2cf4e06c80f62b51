"""Transposed convolutions: the gradient of a convolution with respect to its input, as a function."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.api.nn.convolution import convolution
from autoconv.api.nn.windows import FORMATS_BY_RANK, check_format, has_channels_first, per_side
from autoconv.api.tensors.arguments import known_sizes
from autoconv.api.tensors.constants import zeros
from autoconv.api.tensors.shaping import concat, pad, reshape, reverse, shape, stack, transpose
from autoconv.runtime.annotations import ShapeLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
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
    kernel_sides = kernel.type.shape[:side_count]  # type: ignore[index]
    paddings = [(0, 0)]  # of the batch, then of each side
    dimensions = zip(out_sides, sides, kernel_sides, side_strides, side_dilations, strict=True)
    for out_side, side, kernel_side, stride, dilation in dimensions:
        if not isinstance(side, int) or not isinstance(kernel_side, int):
            raise ValueError(f"a transposed convolution needs known sides, found {x.type} and {kernel.type}")
        paddings.append(_zeros_around(out_side, side, (kernel_side - 1) * dilation + 1, stride, padding))
    flipped_kernel = transpose(reverse(kernel, list(range(side_count))), [*range(side_count), rank - 1, side_count])
    if max(side_strides) > 1 and set(side_dilations) == {1}:
        zeros_before = [before for before, _ in paddings[1:]]
        result = _interleave_phases(image, flipped_kernel, side_strides, zeros_before, out_sides)
    else:
        spaced_image = pad(_insert_zeros(image, side_strides), [*paddings, (0, 0)])
        result = convolution(spaced_image, flipped_kernel, 1, "VALID", FORMATS_BY_RANK[rank][0], side_dilations)
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


def _zeros_around(out_side: int, side: int, extent: int, stride: int, padding: str) -> tuple[int, int]:
    """Return the numbers of zeros before and after a side of the input for which the result has `out_side` elements.

    The input has `side` elements, which zeros keep `stride` apart; the kernel reaches over `extent` elements.
    """
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"`padding` must be 'SAME' or 'VALID', found {padding!r}")
    expected_side = -(-out_side // stride) if padding == "SAME" else -(-(out_side - extent + 1) // stride)
    if expected_side != side:
        raise ValueError(
            f"a convolution of {out_side} elements, {padding!r}, gives {expected_side}; the input has {side}"
        )
    total_padding = max((side - 1) * stride + extent - out_side, 0) if padding == "SAME" else 0
    before = extent - 1 - total_padding // 2
    return before, out_side + extent - 1 - before - ((side - 1) * stride + 1)


def _interleave_phases(
    image: Tensor, kernel: Tensor, side_strides: Sequence[int], zeros_before: Sequence[int], out_sides: Sequence[int]
) -> Tensor:
    """Return the convolution of the image with stride - 1 zeros between its elements, without the zeros.

    The positions of a result's side with one remainder modulo the stride are a phase. The elements of a phase are a
    convolution of the image itself with every stride-th element of the kernel. `zeros_before` are the zeros before the
    sides.
    """
    phases = [range(stride) for stride in side_strides]
    counts = [-(-out_side // stride) for out_side, stride in zip(out_sides, side_strides, strict=True)]

    def phase(offsets: tuple[int, ...]) -> Tensor:
        """Return the elements whose positions have these remainders."""
        slices, paddings, kernel_slices = [slice(None)], [(0, 0)], []
        sides = image.type.shape[1:-1]  # type: ignore[index]
        kernel_sides = kernel.type.shape[:-2]  # type: ignore[index]
        dimensions = zip(offsets, side_strides, zeros_before, counts, sides, kernel_sides, strict=True)
        for offset, stride, before, count, side, kernel_side in dimensions:
            first_element = (before - offset) % stride  # of the kernel, the first one that meets no inserted zero
            start = (offset + first_element - before) // stride  # position in the image under that element
            stop = start + count + len(range(first_element, kernel_side, stride)) - 1  # type: ignore[arg-type]
            kernel_slices.append(slice(first_element, None, stride))
            slices.append(slice(max(start, 0), max(min(stop, side), max(start, 0))))  # type: ignore[type-var]
            paddings.append((max(-start, 0), max(stop - max(side, start), 0)))  # type: ignore[type-var]
        part = pad(get_item(image, tuple(slices)), [*paddings, (0, 0)])
        phase_kernel = get_item(kernel, tuple(kernel_slices))
        if 0 in phase_kernel.type.shape:  # type: ignore[operator]
            batch = get_item(shape(image), slice(0, 1))
            return zeros(concat([batch, [*counts, kernel.type.shape[-1]]], 0), image.dtype)  # type: ignore[index]
        return convolution(part, phase_kernel, 1, "VALID")

    def interleave(offsets: tuple[int, ...]) -> Tensor:
        """Return the elements whose positions along the first sides have these remainders."""
        depth = len(offsets)
        if depth == len(phases):
            return phase(offsets)
        parts = [interleave((*offsets, offset)) for offset in phases[depth]]
        if len(parts) == 1:
            return parts[0]
        sizes = parts[0].type.shape
        assert sizes is not None
        axis = depth + 1
        return reshape(stack(parts, axis + 1), [-1, *sizes[1:axis], counts[depth] * len(parts), *sizes[axis + 1 :]])

    return get_item(interleave(()), (slice(None), *(slice(0, out_side) for out_side in out_sides)))


def _insert_zeros(image: Tensor, side_strides: Sequence[int]) -> Tensor:
    """Return the image with stride - 1 zeros between neighbouring elements along each side."""
    for axis, stride in enumerate(side_strides, 1):
        if stride == 1:
            continue
        sizes = image.type.shape
        assert sizes is not None
        rank = len(sizes)
        dynamic_sizes, next_axis = shape(image), axis + 1
        spaced_image = reshape(image, apply("concat", *_sizes_with_one(dynamic_sizes, next_axis, rank), axis=0))
        spaced_image = pad(spaced_image, [(0, 0)] * next_axis + [(0, stride - 1)] + [(0, 0)] * (rank - next_axis))
        batch = sizes[0] if isinstance(sizes[0], int) else -1
        size = sizes[axis]
        assert isinstance(size, int)
        joined_image = reshape(spaced_image, [batch, *sizes[1:axis], size * stride, *sizes[axis + 1 :]])
        image = get_item(joined_image, (*[slice(None)] * axis, slice(0, (size - 1) * stride + 1)))
    return image


def _sizes_with_one(sizes: Tensor, position: int, rank: int) -> list[Tensor]:
    """Return vectors whose concatenation is the vector `sizes` of `rank` elements with a 1 inserted at a position."""
    one = convert_to_tensor([1], sizes.dtype)
    vectors = [get_item(sizes, slice(0, position)), one]
    return vectors if position == rank else [*vectors, get_item(sizes, slice(position, None))]


def atrous_conv2d_transpose(
    value: TensorLike, filters: TensorLike, output_shape: ShapeLike, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """The transpose of `atrous_conv2d`: a transposed convolution whose filter elements are `rate` apart.

    >>> x, kernel = autoconv.ones([1, 2, 2, 1]), autoconv.ones([2, 2, 1, 1])
    >>> autoconv.nn.atrous_conv2d_transpose(x, kernel, [1, 4, 4, 1], rate=2, padding="VALID").shape
    TensorShape([1, 4, 4, 1])
    """
    return conv2d_transpose(value, filters, output_shape, 1, padding, dilations=rate, name=name)
