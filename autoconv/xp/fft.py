"""The extension `fft` of the Python array API standard."""

from autoconv.numpy.standard import standard_functions

_NAMES = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip

globals().update(standard_functions("fft.", _NAMES))

__all__ = [*_NAMES]
