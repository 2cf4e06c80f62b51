"""Discrete cosine transforms, also modified (lapped) ones of signals, by fast Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.api.signals.fourier import irfft, rfft
from autoconv.api.signals.spectral import frame, overlap_and_add
from autoconv.api.signals.windows import vorbis_window
from autoconv.api.tensors.arguments import static_int
from autoconv.api.tensors.maths import complex, real
from autoconv.api.tensors.shaping import concat, pad, reverse
from autoconv.graph.dtypes import as_dtype, float32, float64
from autoconv.runtime.annotations import IntLike, TensorLike
from autoconv.runtime.tensors.binary_dispatch import get_item
from autoconv.runtime.tensors.conversion import constant, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def dct(
    input: TensorLike, type: int = 2, n: IntLike | None = None, axis: int = -1, norm: str | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The discrete cosine transform of type 1 to 4 of real tensors, over the last axis.

    The tensors are truncated to `n` elements, or padded with zeros. `norm` is None, or "ortho" for an orthonormal
    transform (types 2 to 4).

    >>> autoconv.signal.dct([1.0, 2.0, 3.0]).numpy().round(4) + 0.0
    array([12.    , -3.4641,  0.    ], dtype=float32)
    """
    type = getattr(type, "enum", type)  # a dtype counts as its number, as in TensorFlow
    _check_arguments(type, n, axis, norm)
    x: Any = convert_to_tensor(input)
    if x.dtype not in (float32, float64):
        x = convert_to_tensor(x, float32)
    if n is not None:
        x = _fit_length(x, static_int(n, "n"))
    size = x.shape[-1]
    if size is None:
        raise ValueError("dct takes tensors whose last dimension is known, or n")
    if type == 1:
        if size < 2:
            raise ValueError("Type-I DCT requires the dimension to be greater than one.")
        mirrored_x = concat([x, reverse(get_item(x, (..., slice(1, -1))), [-1])], -1)
        return apply("identity", real(rfft(mirrored_x)), name=name)
    return apply("identity", {2: _dct2, 3: _dct3, 4: _dct4}[type](x, size, norm), name=name)


def idct(
    input: TensorLike, type: int = 2, n: IntLike | None = None, axis: int = -1, norm: str | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The inverse of `dct`, times a factor: 1 with "ortho", else 2·n, or 2·(n - 1) for type 1.

    >>> x = autoconv.constant([1.0, 2.0, 3.0])
    >>> autoconv.signal.idct(autoconv.signal.dct(x, norm="ortho"), norm="ortho").numpy().round(4)
    array([1., 2., 3.], dtype=float32)
    """
    type = getattr(type, "enum", type)  # a dtype counts as its number, as in TensorFlow
    _check_arguments(type, n, axis, norm)
    inverse_type = {1: 1, 2: 3, 3: 2, 4: 4}[type]
    return dct(input, inverse_type, n, axis, norm, name)


def mdct(
    signals: TensorLike, frame_length: IntLike, window_fn: Callable[..., Tensor] | None = vorbis_window,
    pad_end: bool = False, norm: str | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The modified discrete cosine transform: [..., frames, frame_length // 2] of frames that overlap by half.

    `frame_length` is divisible by 4. `window_fn(length, dtype=)` returns the window; without it the window is constant.

    >>> autoconv.signal.mdct(autoconv.ones([16]), frame_length=8).shape
    TensorShape([3, 4])
    """
    length = static_int(frame_length, "frame_length")
    if length % 4:
        raise ValueError("The frame length must be a multiple of 4.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    half = length // 2
    frames: Any = frame(signals, length, half, pad_end)
    frames = frames * _window(window_fn, length, frames.dtype)
    quarter = half // 2
    first, second, third, fourth = (
        get_item(frames, (..., slice(i * quarter, (i + 1) * quarter))) for i in range(4)
    )  # quarters of each frame
    folded = concat([-reverse(third, [-1]) - fourth, first - reverse(second, [-1])], -1)
    return dct(folded, type=4, norm=norm, name=name)


def inverse_mdct(
    mdcts: TensorLike, window_fn: Callable[..., Tensor] | None = vorbis_window, norm: str | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The signal whose modified cosine transform with this window is `mdcts`, [..., frames, frame_length // 2].

    The ends of the signal, where frames do not overlap, are not restored.

    >>> spectra = autoconv.signal.mdct(autoconv.ones([16]), frame_length=8)
    >>> autoconv.signal.inverse_mdct(spectra).numpy()[4:12].round(4)
    array([1., 1., 1., 1., 1., 1., 1., 1.], dtype=float32)
    """
    spectra: Any = convert_to_tensor(mdcts)
    half = spectra.shape[-1]
    if half is None:
        raise ValueError("inverse_mdct takes tensors whose last dimension is known")
    window: Any = _window(window_fn, 2 * half, spectra.dtype)
    folded: Any = idct(spectra, type=4, norm=norm)
    if norm is None:
        folded = folded / constant(2.0 * half, folded.dtype)
    first, second = get_item(folded, (..., slice(None, half // 2))), get_item(folded, (..., slice(half // 2, None)))
    frames = concat([second, -reverse(second, [-1]), -reverse(first, [-1]), -first], -1)
    return apply("identity", overlap_and_add(frames * window, half), name=name)


def _check_arguments(type: int, n: Any, axis: int, norm: str | None) -> None:
    """Raise an error for arguments of `dct` that are not supported."""
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and static_int(n, "n") < 1:
        raise ValueError("n should be a positive integer or None")
    if type not in (1, 2, 3, 4):
        raise ValueError("Types I, II, III and IV (I)DCT are supported.")
    if type == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def _window(window_fn: Callable[..., Tensor] | None, length: int, dtype: Any) -> Tensor:
    """Return the window; without a function it is 1 / sqrt(2), whose squares add up to 1 where two frames overlap."""
    if window_fn is None:
        return constant(np.full(length, 1 / np.sqrt(2)), dtype)
    return window_fn(length, dtype=dtype)


def _fit_length(x: Tensor, length: int) -> Tensor:
    """Return the tensor with its last dimension truncated to a length, or padded with zeros."""
    size = x.shape[-1]
    if size is not None and size >= length:
        return get_item(x, (..., slice(None, length)))
    missing_count = length - size if size is not None else apply("maximum", length - apply("dimension", x, axis=-1), 0)
    padded_x = pad(x, [*[[0, 0]] * (len(x.shape) - 1), [0, missing_count]])
    return get_item(padded_x, (..., slice(None, length)))


def _rotations(angles: np.ndarray, factor: float, dtype: Any) -> Tensor:
    """Return factor · exp(i · angles) in the complex dtype that corresponds to a real one."""
    complex_dtype = np.complex128 if as_dtype(dtype) is float64 else np.complex64
    return constant((factor * np.exp(1j * angles)).astype(complex_dtype))


def _orthonormal_factors(size: int, first_factor: float, later_factor: float, dtype: Any) -> Tensor:
    """Return the factors of an orthonormal transform: the first element has another one than those after it."""
    factors = np.full(size, later_factor)
    factors[0] = first_factor
    return constant(factors, dtype)


def _dct2(x: Any, size: int, norm: str | None) -> Any:
    """Return the transform of type 2: the first half of a Fourier transform of twice the size, rotated."""
    angles = -np.pi * np.arange(size) / (2 * size)
    spectrum: Any = get_item(rfft(x, 2 * size), (..., slice(None, size)))
    result: Any = real(spectrum * _rotations(angles, 2.0, x.dtype))
    if norm == "ortho":
        result = result * _orthonormal_factors(size, 0.5 * np.sqrt(1 / size), np.sqrt(0.5 / size), x.dtype)
    return result


def _dct3(x: Any, size: int, norm: str | None) -> Any:
    """Return the transform of type 3, the inverse of type 2 times a factor."""
    if norm == "ortho":
        x = x * _orthonormal_factors(size, np.sqrt(size), np.sqrt(0.5 * size), x.dtype)
    else:
        x = x * constant(float(size), x.dtype)
    angles = np.pi * np.arange(size) / (2 * size)
    rotated_x: Any = _rotations(angles, 2.0, x.dtype) * complex(x, apply("zeros_like", x))
    return get_item(irfft(rotated_x, 2 * size), (..., slice(None, size)))


def _dct4(x: Any, size: int, norm: str | None) -> Any:
    """Return the transform of type 4: the elements at odd positions of a transform of type 2 of twice the size."""
    spectrum = _dct2(pad(x, [*[[0, 0]] * (len(x.shape) - 1), [0, size]]), 2 * size, norm=None)
    odd_elements: Any = get_item(spectrum, (..., slice(1, None, 2)))
    return odd_elements * constant(np.sqrt(0.5 / size), x.dtype) if norm == "ortho" else odd_elements
