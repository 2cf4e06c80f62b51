"""Fourier transforms, windows and frames."""

from autoconv.api.signals.cosine_transforms import dct, idct, inverse_mdct, mdct
from autoconv.api.signals.fourier import fft, fft2d, fft3d, fftshift, ifft, ifft2d, ifft3d, ifftshift, irfft, rfft
from autoconv.api.signals.mel_scale import linear_to_mel_weight_matrix, mfccs_from_log_mel_spectrograms
from autoconv.api.signals.spectral import (
    frame,
    hamming_window,
    hann_window,
    inverse_stft,
    inverse_stft_window_fn,
    kaiser_window,
    overlap_and_add,
    stft,
)
from autoconv.api.signals.transforms import fftnd, ifftnd, irfft2d, irfft3d, irfftnd, rfft2d, rfft3d, rfftnd
from autoconv.api.signals.windows import kaiser_bessel_derived_window, vorbis_window
from autoconv.runtime.recording.tracebacks import wrap_public_functions as _wrap_public_functions

__all__ = [
    "dct", "fft", "fft2d", "fft3d", "fftnd", "fftshift", "frame", "hamming_window", "hann_window", "idct", "ifft",
    "ifft2d", "ifft3d", "ifftnd", "ifftshift", "inverse_mdct", "inverse_stft", "inverse_stft_window_fn", "irfft",
    "irfft2d", "irfft3d", "irfftnd", "kaiser_bessel_derived_window", "kaiser_window", "linear_to_mel_weight_matrix",
    "mdct", "mfccs_from_log_mel_spectrograms", "overlap_and_add", "rfft", "rfft2d", "rfft3d", "rfftnd", "stft",
    "vorbis_window",
]  # fmt: skip

_wrap_public_functions(globals())
