"""Fourier transforms, windows and frames."""

from autoconv.api.signal import fft, fft2d, fft3d, fftshift, ifft, ifft2d, ifft3d, ifftshift, irfft, rfft
from autoconv.api.spectral import (
    frame,
    hamming_window,
    hann_window,
    inverse_stft,
    inverse_stft_window_fn,
    kaiser_window,
    overlap_and_add,
    stft,
)
from autoconv.runtime.recording.tracebacks import present_functions as _present_functions

__all__ = [
    "fft", "fft2d", "fft3d", "fftshift", "frame", "hamming_window", "hann_window", "ifft", "ifft2d", "ifft3d",
    "ifftshift", "inverse_stft", "inverse_stft_window_fn", "irfft", "kaiser_window", "overlap_and_add", "rfft",
    "stft",
]  # fmt: skip

_present_functions(globals())
