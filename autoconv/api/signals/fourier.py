"""Fourier transforms over the last one to three dimensions, and shifts of the zero frequency."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.api.tensors.accepted_dtypes import with_default_dtype
from autoconv.api.tensors.arguments import axis_in_range, static_axes, static_int
from autoconv.api.tensors.constants import zeros
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtype_sets import COMPLEX
from autoconv.graph.dtypes import DType, complex64, complex128, float32, float64
from autoconv.runtime.annotations import AxisLike, IntLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def fft(input: TensorLike, name: str | None = None) -> Tensor:
    """The discrete Fourier transform of a complex tensor over its last dimension.

    >>> autoconv.signal.fft(autoconv.constant([1, 2, 3, 4], autoconv.complex64)).numpy()
    array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j], dtype=complex64)
    """
    return _transform("fft", input, (-1,), name, COMPLEX)


def ifft(input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of `fft`.

    >>> autoconv.signal.ifft(autoconv.constant([4, 0, 0, 0], autoconv.complex64)).numpy()
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _transform("ifft", input, (-1,), name)


def fft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """The transform of a complex tensor over its last two dimensions.

    >>> autoconv.signal.fft2d(autoconv.ones([2, 2], autoconv.complex64)).numpy()
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _transform("fft", input, (-2, -1), name)


def ifft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of `fft2d`.

    >>> autoconv.signal.ifft2d(autoconv.ones([2, 2], autoconv.complex64)).numpy()
    array([[1.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _transform("ifft", input, (-2, -1), name)


def fft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """The transform of a complex tensor over its last three dimensions.

    >>> autoconv.signal.fft3d(autoconv.ones([2, 2, 2], autoconv.complex64)).shape
    TensorShape([2, 2, 2])
    """
    return _transform("fft", input, (-3, -2, -1), name)


def ifft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of `fft3d`.

    >>> autoconv.signal.ifft3d(autoconv.ones([2, 2, 2], autoconv.complex64)).shape
    TensorShape([2, 2, 2])
    """
    return _transform("ifft", input, (-3, -2, -1), name)


def rfft(input_tensor: TensorLike, fft_length: IntLike | None = None, name: str | None = None) -> Tensor:
    """The Fourier transform of a real tensor over its last dimension: the first n // 2 + 1 frequencies.

    The tensor is truncated or padded with zeros to n = `fft_length` elements, by default as many as it has.

    >>> autoconv.signal.rfft([1.0, 2.0, 3.0, 4.0]).numpy()
    array([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)
    """
    x = convert_to_tensor(with_default_dtype(input_tensor, float32))
    if fft_length is not None:
        x = _fit_length(x, _static_length(fft_length))
    if x.shape[-1:] == [0]:
        return zeros(x.shape, complex128 if x.dtype is float64 else complex64)
    return apply("rfft", x, norm="backward", name=name)


def irfft(input_tensor: TensorLike, fft_length: IntLike | None = None, name: str | None = None) -> Tensor:
    """The real tensor of length `fft_length` (2 * (frequencies - 1) by default) with these frequencies.

    >>> autoconv.signal.irfft(autoconv.constant([4, 0, 0], autoconv.complex64)).numpy()
    array([1., 1., 1., 1.], dtype=float32)
    """
    length = None if fft_length is None else _static_length(fft_length)
    x = convert_to_tensor(with_default_dtype(input_tensor, complex64), dtype_hint=complex64)
    if x.shape[-1:] == [0]:
        return zeros([*x.shape[:-1], length or 0], x.dtype.real_dtype)
    if length is not None:
        check_length(x, -1, length // 2 + 1)
    return apply("irfft", x, length=length, norm="backward", name=name)


def _transform(
    op: str, input: TensorLike, axes: tuple[int, ...], name: str | None, accepted_dtypes: frozenset[DType] = frozenset()
) -> Tensor:
    """Return the transform `op` over the axes; for a tensor without elements zeros, where NumPy raises an error."""
    x = convert_to_tensor(with_default_dtype(input, complex64, accepted_dtypes))
    if 0 in (x.shape[-len(axes):] if x.shape.rank is not None else ()):
        return apply("zeros_like", x, name=name)
    return apply(op, x, axes=axes, norm="backward", name=name)


def _static_length(fft_length: IntLike) -> int:
    """Return the length, an int or a vector of one element, as an int; raises TypeError if it is not known."""
    if isinstance(fft_length, (list, tuple, np.ndarray)):
        (fft_length,) = fft_length
    axes = static_axes(fft_length)
    assert axes is not None
    return axes[0]


def check_length(x: Tensor, axis: int, length: int) -> None:
    """Raise InvalidArgumentError for a tensor without elements that is too short along an axis: it is not padded."""
    size = x.shape[axis]
    if size and size < length and 0 in list(x.shape):
        raise InvalidArgumentError(f"Input dimension {axis} must have length of at least {length} but got: {size}")


def _fit_length(x: Tensor, length: int) -> Tensor:
    """Return the tensor with its last dimension truncated to a length, or padded with zeros."""
    size = x.shape[-1] if x.shape.rank is not None else None
    if size is None:
        raise ValueError("fft_length needs a tensor whose last dimension is known")
    if size >= length:
        return get_item(x, (Ellipsis, slice(None, length)))
    check_length(x, -1, length)
    paddings = ((0, 0),) * (x.shape.rank - 1) + ((0, length - size),)  # type: ignore[operator]
    return apply("pad", x, paddings=paddings, mode="CONSTANT", constant_values=0)


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """Move the zero frequency to the middle of `axes` (all by default).

    >>> autoconv.signal.fftshift([0.0, 1.0, 2.0, 3.0]).numpy()
    array([2., 3., 0., 1.], dtype=float32)
    """
    return _shift(x, axes, 1, name)


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `fftshift`.

    >>> autoconv.signal.ifftshift([0.0, 1.0, 2.0, 3.0]).numpy()
    array([2., 3., 0., 1.], dtype=float32)
    """
    return _shift(x, axes, -1, name)


def _shift(x: TensorLike, axes: AxisLike, sign: int, name: str | None) -> Tensor:
    """Return the tensor rolled along the axes by half of their sizes: forward for a `sign` of 1, back for -1."""
    tensor = convert_to_tensor(x)
    shifted_axes = static_axes(axes)
    if shifted_axes is not None and tensor.shape.rank is not None:
        shifted_axes = tuple(axis_in_range(axis, tensor.shape.rank) for axis in shifted_axes)
    if shifted_axes is None:
        if tensor.shape.rank is None:
            raise ValueError("fftshift over all axes needs a tensor of known rank")
        shifted_axes = tuple(range(tensor.shape.rank))
    axis_numbers = [static_int(axis, "axes") for axis in shifted_axes]
    sizes = [tensor.shape[axis] if tensor.shape.rank is not None else None for axis in axis_numbers]
    static_sizes = [size for size in sizes if size is not None]
    if len(static_sizes) == len(sizes):
        shift = tuple(sign * (size // 2) for size in static_sizes)
        return apply("roll", tensor, shift=shift, axis=shifted_axes, name=name)
    dynamic_shifts = [
        apply("multiply", apply("floor_divide", apply("dimension", tensor, axis=axis), 2), sign)
        for axis in axis_numbers
    ]
    return apply("roll", tensor, apply("stack", *dynamic_shifts, axis=0), shift=None, axis=shifted_axes, name=name)
