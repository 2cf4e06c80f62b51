"""Windows, frames and short-time Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.api.signals.fourier import irfft, rfft
from autoconv.api.signals.windows import kaiser_values
from autoconv.api.tensors.accepted_dtypes import as_indices
from autoconv.api.tensors.arguments import UnknownAxis, static_int
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.constants import ones
from autoconv.api.tensors.constants import range as tensor_range
from autoconv.api.tensors.gather import gather, unsorted_segment_sum
from autoconv.api.tensors.shaping import concat, expand_dims, pad, reshape, shape, squeeze, transpose
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import as_dtype, float32, int32
from autoconv.runtime.annotations import DTypeLike, IntLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import constant, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

Window = Callable[..., Tensor]  # (length, dtype=) -> the factors of a frame's elements


def hann_window(
    window_length: IntLike, periodic: bool = True, dtype: DTypeLike = float32, name: str | None = None
) -> Tensor:
    """A raised cosine over `window_length` elements. Its period is `window_length` - 1.

    With `periodic`, an even `window_length` is the period.

    >>> autoconv.signal.hann_window(4).numpy()
    array([0. , 0.5, 1. , 0.5], dtype=float32)
    """
    return _raised_cosine(window_length, periodic, dtype, 0.5)


def hamming_window(
    window_length: IntLike, periodic: bool = True, dtype: DTypeLike = float32, name: str | None = None
) -> Tensor:
    """A raised cosine that does not reach 0; see `hann_window` for `periodic`.

    >>> autoconv.signal.hamming_window(4, dtype=autoconv.float64).numpy().round(2)
    array([0.08, 0.54, 1.  , 0.54])
    """
    return _raised_cosine(window_length, periodic, dtype, 0.54)


def kaiser_window(
    window_length: IntLike, beta: float = 12.0, dtype: DTypeLike = float32, name: str | None = None
) -> Tensor:
    """The Kaiser window with the shape parameter `beta`.

    >>> autoconv.signal.kaiser_window(3, beta=2.0, dtype=autoconv.float64).numpy().round(3)
    array([0.439, 1.   , 0.439])
    """
    window_length = as_indices("kaiser_window", window_length, frozenset({int32}))
    count = static_int(window_length, "window_length")
    return constant(kaiser_values(count, beta).astype(as_dtype(dtype).numpy))


def frame(
    signal: TensorLike, frame_length: IntLike, frame_step: IntLike, pad_end: bool = False, pad_value: Any = 0,
    axis: int = -1, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Overlapping frames of a signal along `axis`, which becomes two dimensions: frames, and elements of a frame.

    Frames begin `frame_step` elements apart. A remainder that is too short for a frame is dropped, or with `pad_end`
    padded with `pad_value`.

    >>> autoconv.signal.frame([1, 2, 3, 4, 5], frame_length=3, frame_step=2).numpy()
    array([[1, 2, 3],
           [3, 4, 5]], dtype=int32)
    """
    x = convert_to_tensor(signal)
    length, step = _size(frame_length, "frame_length"), _size(frame_step, "frame_step")
    if isinstance(step, int) and step == 0:
        raise InvalidArgumentError("frame: frames are 0 elements apart: Integer division by zero")
    axis = axis % len(x.shape)
    signal_length: Any = x.shape[axis] if x.shape[axis] is not None else shape(x)[axis]
    if pad_end:
        frame_count = -(-signal_length // step)
        padding = apply("maximum", length + step * (frame_count - 1) - signal_length, 0)
        widths = [[0, 0] if dimension != axis else [0, padding] for dimension in range(len(x.shape))]
        x = pad(x, widths, constant_values=pad_value)
    else:
        frame_count = apply("maximum", 1 + (signal_length - length) // step, 0)
    starts = expand_dims(tensor_range(frame_count) * step, 1)
    # With a dimension before `axis`, the gradient is a tensor: a gather along the first one has IndexedSlices.
    frames = gather(expand_dims(x, 0), starts + expand_dims(tensor_range(length), 0), axis=axis + 1)
    return squeeze(frames, 0)


def overlap_and_add(signal: TensorLike, frame_step: IntLike, name: str | None = None) -> Tensor:
    """Add overlapping frames [..., frames, length] to a signal; frames begin `frame_step` elements apart.

    >>> autoconv.signal.overlap_and_add([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]], frame_step=2).numpy()
    array([1., 1., 3., 2., 2.], dtype=float32)
    """
    x, step = convert_to_tensor(signal), _size(frame_step, "frame_step")
    frame_count, length = shape(x)[-2], shape(x)[-1]
    positions = reshape(expand_dims(tensor_range(frame_count) * step, 1) + expand_dims(tensor_range(length), 0), [-1])
    outer_shape = shape(x)[:-2]
    signal_count = apply("reduce_prod", outer_shape, axis=(0,), keepdims=False)
    elements = transpose(reshape(x, [signal_count, frame_count * length]))
    sums = unsorted_segment_sum(elements, positions, (frame_count - 1) * step + length)
    return reshape(transpose(sums), concat([outer_shape, [(frame_count - 1) * step + length]], 0))


def _size(value: IntLike, name: str) -> Any:
    """Return a number of elements as an int, or as a tensor if it is known only at run time."""
    try:
        return static_int(value, name)
    except UnknownAxis as error:
        if error.axis.shape.rank:
            raise ValueError(f"{name} must have rank 0, found the shape {error.axis.shape}") from None
        return error.axis


def stft(
    signals: TensorLike, frame_length: IntLike, frame_step: IntLike, fft_length: IntLike | None = None,
    window_fn: Window | None = hann_window, pad_end: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The short-time Fourier transform: spectra of windowed frames, [..., frames, fft_length // 2 + 1].

    `fft_length` is the smallest power of two that holds a frame, unless it is given.

    >>> autoconv.signal.stft(autoconv.ones([16]), frame_length=8, frame_step=4).shape
    TensorShape([3, 5])
    """
    length = static_int(frame_length, "frame_length")
    frames = frame(signals, length, frame_step, pad_end)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return rfft(frames, _fft_length(fft_length, length))


def inverse_stft(
    stfts: TensorLike, frame_length: IntLike, frame_step: IntLike, fft_length: IntLike | None = None,
    window_fn: Window | None = hann_window, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The signal [..., elements] of a short-time Fourier transform: its frames, windowed and added.

    With the window of `inverse_stft_window_fn`, this is the inverse of `stft`.

    >>> spectra = autoconv.signal.stft(autoconv.ones([16]), frame_length=8, frame_step=4)
    >>> autoconv.signal.inverse_stft(spectra, frame_length=8, frame_step=4).shape
    TensorShape([16])
    """
    length = static_int(frame_length, "frame_length")
    frames = irfft(stfts, _fft_length(fft_length, length))
    size = frames.shape[-1]
    frames = get_item(frames, (..., slice(0, length)))
    if size is not None and size < length:
        frames = pad(frames, [[0, 0]] * (len(frames.shape) - 1) + [[0, length - size]])
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return overlap_and_add(frames, frame_step)


def inverse_stft_window_fn(
    frame_step: IntLike, forward_window_fn: Window = hann_window, name: str | None = None
) -> Window:
    """Return the window function with which `inverse_stft` restores the signal.

    >>> window = autoconv.signal.inverse_stft_window_fn(4)
    >>> window(8, dtype=autoconv.float64).numpy().round(3)
    array([0.   , 0.195, 1.   , 1.138, 1.   , 1.138, 1.   , 0.195])
    """

    def inverse_window(frame_length: IntLike, dtype: DTypeLike = float32) -> Tensor:
        return _inverse_window(static_int(frame_step, "frame_step"), forward_window_fn, frame_length, dtype)

    return inverse_window


def _inverse_window(
    step: int, forward_window_fn: Window, frame_length: IntLike, dtype: DTypeLike = float32
) -> Tensor:
    """Return the window with each element divided by the sum of the squares of all windows that overlap it."""
    length = static_int(frame_length, "frame_length")
    window = forward_window_fn(length, dtype=dtype)
    overlap_count = -(-length // step)
    squares = pad(window * window, [[0, overlap_count * step - length]])
    step_sums = apply("reduce_sum", reshape(squares, [overlap_count, step]), axis=(0,), keepdims=True)
    divisors = reshape(step_sums * ones([overlap_count, 1], dtype), [-1])
    return window / get_item(divisors, slice(0, length))


def _raised_cosine(window_length: IntLike, periodic: bool, dtype: DTypeLike, offset: float) -> Tensor:
    """Return the window offset - (1 - offset) · cos(2·pi·i / period); a window of one element is 1."""
    window_length = as_indices("window", window_length, frozenset({int32}))
    out_dtype = as_dtype(dtype)
    length = cast(convert_to_tensor(window_length), out_dtype)
    is_even = 1 - cast(window_length, "int32") % 2
    period = length + cast(int(bool(periodic)) * is_even - 1, out_dtype)
    positions = cast(tensor_range(cast(window_length, "int32")), out_dtype)
    angles = positions * constant(2 * np.pi, out_dtype) / apply("maximum", period, cast(1, out_dtype))
    window = constant(offset, out_dtype) - constant(1 - offset, out_dtype) * apply("cos", angles)
    return apply("select", apply("equal", length, cast(1, out_dtype)), apply("ones_like", window), window)


def _fft_length(fft_length: IntLike | None, frame_length: int) -> int:
    """Return the length of the transform: by default the smallest power of two that holds a frame."""
    return 1 << (frame_length - 1).bit_length() if fft_length is None else static_int(fft_length, "fft_length")
