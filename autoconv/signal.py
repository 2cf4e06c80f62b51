"""Fourier transforms."""

from autoconv.api.signal import fft, fft2d, fft3d, fftshift, ifft, ifft2d, ifft3d, ifftshift, irfft, rfft

__all__ = ["fft", "fft2d", "fft3d", "fftshift", "ifft", "ifft2d", "ifft3d", "ifftshift", "irfft", "rfft"]
