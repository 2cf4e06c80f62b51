"""Fourier transforms."""

from autoconv.api.signal import fft, fft2d, fft3d, fftshift, ifft, ifft2d, ifft3d, ifftshift, irfft, rfft
from autoconv.runtime.recording.tracebacks import present_functions as _present_functions

__all__ = ["fft", "fft2d", "fft3d", "fftshift", "ifft", "ifft2d", "ifft3d", "ifftshift", "irfft", "rfft"]

_present_functions(globals())
