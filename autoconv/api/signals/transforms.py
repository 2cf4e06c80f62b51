"""Fourier transforms of real tensors over several dimensions, and of any tensors over chosen axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.api.tensors.accepted_dtypes import with_default_dtype
from autoconv.api.tensors.arguments import static_axes
from autoconv.api.tensors.constants import zeros
from autoconv.api.tensors.shaping import pad, transpose
from autoconv.graph.dtypes import complex64, complex128, float32, float64
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def rfft2d(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The Fourier transform of a real tensor over its last two dimensions, cropped or padded to the sizes `fft_length`.

    The last size n becomes n // 2 + 1: the other frequencies are conjugates of these.

    >>> autoconv.signal.rfft2d(autoconv.ones([2, 2])).numpy()
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return rfftnd(with_default_dtype(input_tensor, float32), fft_length, (-2, -1), name=name)


def rfft3d(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The transform of a real tensor over its last three dimensions; see `rfft2d`.

    >>> autoconv.signal.rfft3d(autoconv.ones([2, 2, 4])).shape
    TensorShape([2, 2, 3])
    """
    return rfftnd(with_default_dtype(input_tensor, float32), fft_length, (-3, -2, -1), name=name)


def irfft2d(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `rfft2d`: a real tensor of the sizes `fft_length`.

    By default the last size is 2 * (n - 1), where n is the last size of `input_tensor`.

    >>> autoconv.signal.irfft2d(autoconv.signal.rfft2d([[1.0, 2.0], [3.0, 4.0]])).numpy()
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return irfftnd(with_default_dtype(input_tensor, complex64), fft_length, (-2, -1), name=name)


def irfft3d(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `rfft3d`; see `irfft2d`.

    >>> autoconv.signal.irfft3d(autoconv.signal.rfft3d(autoconv.ones([2, 2, 2]))).shape
    TensorShape([2, 2, 2])
    """
    return irfftnd(with_default_dtype(input_tensor, complex64), fft_length, (-3, -2, -1), name=name)


def fftnd(
    input_tensor: TensorLike, fft_length: Any = None, axes: Any = None, norm: str | None = None, name: str | None = None
) -> Tensor:
    """The Fourier transform of a complex tensor over `axes` (all by default), cropped or padded to sizes `fft_length`.

    `norm` is "backward" (the inverse is divided by the number of elements), "ortho" (both by its root) or "forward".

    >>> autoconv.signal.fftnd(autoconv.ones([2, 2], autoconv.complex64)).numpy()[0, 0]
    np.complex64(4+0j)
    """
    x, transformed_axes = _fit_sizes(input_tensor, fft_length, axes)
    return apply("fft", x, axes=transformed_axes, norm=norm or "backward", name=name)


def ifftnd(
    input_tensor: TensorLike, fft_length: Any = None, axes: Any = None, norm: str | None = None, name: str | None = None
) -> Tensor:
    """The inverse of `fftnd`.

    >>> autoconv.signal.ifftnd(autoconv.ones([2, 2], autoconv.complex64)).numpy()[0, 0]
    np.complex64(1+0j)
    """
    x, transformed_axes = _fit_sizes(input_tensor, fft_length, axes)
    return apply("ifft", x, axes=transformed_axes, norm=norm or "backward", name=name)


def rfftnd(
    input_tensor: TensorLike, fft_length: Any = None, axes: Any = None, norm: str | None = None, name: str | None = None
) -> Tensor:
    """The transform of a real tensor over `axes`, with the first n // 2 + 1 frequencies of the last one; see `fftnd`.

    >>> autoconv.signal.rfftnd(autoconv.ones([2, 4])).shape
    TensorShape([2, 3])
    """
    x, transformed_axes = _fit_sizes(input_tensor, fft_length, axes)
    scaling = norm or "backward"
    if 0 in list(x.shape):  # NumPy raises an error for arrays without elements
        frequencies = [size // 2 + 1 if size and axis == transformed_axes[-1] % len(x.shape) else size
                       for axis, size in enumerate(x.shape)]  # fmt: skip
        return zeros(frequencies, complex64 if x.dtype == float32 else complex128, name=name)
    order, inverse_order = _move_last(x, transformed_axes[-1])
    half_spectrum: Any = apply("rfft", transpose(x, order) if order else x, norm=scaling)
    half_spectrum = transpose(half_spectrum, inverse_order) if inverse_order else half_spectrum
    if not transformed_axes[:-1]:
        return apply("identity", half_spectrum, name=name)
    return apply("fft", half_spectrum, axes=transformed_axes[:-1], norm=scaling, name=name)


def irfftnd(
    input_tensor: TensorLike, fft_length: Any = None, axes: Any = None, norm: str | None = None, name: str | None = None
) -> Tensor:
    """The inverse of `rfftnd`: a real tensor of sizes `fft_length` along `axes`.

    >>> autoconv.signal.irfftnd(autoconv.signal.rfftnd(autoconv.ones([2, 4]))).numpy().ravel().tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    lengths = None if fft_length is None else _static_lengths(fft_length)
    last_length = None if lengths is None else lengths[-1]
    if lengths is not None:
        lengths = [*lengths[:-1], last_length // 2 + 1]  # type: ignore[operator]  # frequencies of the last axis
    x, transformed_axes = _fit_sizes(input_tensor, lengths, axes)
    scaling = norm or "backward"
    if 0 in list(x.shape):  # NumPy raises an error for arrays without elements
        sizes = [(last_length or 2 * (size - 1)) if size and axis == transformed_axes[-1] % len(x.shape) else size
                 for axis, size in enumerate(x.shape)]  # fmt: skip
        return zeros(sizes, float32 if x.dtype == complex64 else float64, name=name)
    if transformed_axes[:-1]:
        x = apply("ifft", x, axes=transformed_axes[:-1], norm=scaling)
    order, inverse_order = _move_last(x, transformed_axes[-1])
    result = apply("irfft", transpose(x, order) if order else x, length=last_length, norm=scaling)
    return apply("identity", transpose(result, inverse_order) if inverse_order else result, name=name)


def _static_lengths(lengths: Any) -> list[int]:
    """Return the sizes as ints; raises TypeError if they are not known."""
    sizes = static_axes(lengths)
    assert sizes is not None
    return list(sizes)


def _move_last(x: Tensor, axis: int) -> tuple[list[int] | None, list[int] | None]:
    """Return the permutation that moves an axis to the end, and its inverse; (None, None) for the last axis."""
    rank = len(x.shape)
    if axis % rank == rank - 1:
        return None, None
    order = [i for i in range(rank) if i != axis % rank] + [axis % rank]
    return order, [order.index(i) for i in range(rank)]


def _fit_sizes(tensor: TensorLike, fft_length: Any, axes: Any) -> tuple[Tensor, tuple[int, ...]]:
    """Return the tensor cropped or padded with zeros to the sizes `fft_length`, and the axes of the transform."""
    x = convert_to_tensor(tensor)
    rank = len(x.shape)
    lengths = None if fft_length is None else _static_lengths(fft_length)
    if axes is None:
        axis_count = rank if lengths is None else len(lengths)
        transformed_axes: Sequence[int] = range(rank - axis_count, rank)
    else:
        transformed_axes = tuple(static_axes(axes) or ())
    for axis, length in zip(transformed_axes, lengths or (), strict=False):
        position, size = axis % rank, x.shape[axis]
        slices = tuple(slice(None, length) if i == position else slice(None) for i in range(rank))
        if size is None or size < length:
            padding = length - size if size is not None else apply(
                "maximum", length - apply("dimension", x, axis=position), 0
            )  # fmt: skip
            x = pad(x, [[0, padding] if i == position else [0, 0] for i in range(rank)])
        x = get_item(x, slices) if size is None or size > length else x
    return x, tuple(transformed_axes)
