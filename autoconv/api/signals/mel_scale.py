"""The mel scale of pitch: weights that map spectra to it, and cepstral coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.api.signals.cosine_transforms import dct
from autoconv.api.tensors.arguments import static_int
from autoconv.graph.dtypes import as_dtype, float32
from autoconv.runtime.annotations import DTypeLike, IntLike, TensorLike
from autoconv.runtime.tensors.conversion import constant, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor

# mel = 1127 · log(1 + frequency / 700 Hz): nearly linear below the break frequency 700 Hz, logarithmic above it.
_BREAK_FREQUENCY, _MEL_PER_EFOLD = 700.0, 1127.0


def linear_to_mel_weight_matrix(
    num_mel_bins: IntLike = 20, num_spectrogram_bins: IntLike = 129, sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0, upper_edge_hertz: float = 3800.0, dtype: DTypeLike = float32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Triangular weights [spectrogram bins, mel bins], spaced evenly on the mel scale between two edges in Hz.

    Raises ValueError for edges that are not in order between 0 and half of the sample rate. `name` has no effect.

    >>> autoconv.signal.linear_to_mel_weight_matrix(2, 5, 8000, 125.0, 3800.0).numpy().round(3)
    array([[0.   , 0.   ],
           [0.721, 0.279],
           [0.   , 0.903],
           [0.   , 0.346],
           [0.   , 0.   ]], dtype=float32)
    """
    mel_bin_count = static_int(num_mel_bins, "num_mel_bins")
    spectrum_bin_count = static_int(num_spectrogram_bins, "num_spectrogram_bins")
    rate = float(np.asarray(static_value(convert_to_tensor(sample_rate))))
    if mel_bin_count <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {mel_bin_count}")
    if lower_edge_hertz < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower_edge_hertz}")
    if lower_edge_hertz >= upper_edge_hertz:
        raise ValueError(f"lower_edge_hertz {lower_edge_hertz:.1f} >= upper_edge_hertz {upper_edge_hertz:.1f}")
    if rate <= 0.0 or upper_edge_hertz > rate / 2:
        raise ValueError(f"upper_edge_hertz must not be larger than the Nyquist frequency of {rate / 2}")
    frequencies = np.linspace(0.0, rate / 2.0, spectrum_bin_count)[1:]
    mel_frequencies = _hertz_to_mel(frequencies)[:, None]
    edges = np.linspace(_hertz_to_mel(lower_edge_hertz), _hertz_to_mel(upper_edge_hertz), mel_bin_count + 2)
    starts, peaks, ends = edges[:-2], edges[1:-1], edges[2:]
    weights = np.maximum(
        0.0, np.minimum((mel_frequencies - starts) / (peaks - starts), (ends - mel_frequencies) / (ends - peaks))
    )
    return constant(np.pad(weights, [[1, 0], [0, 0]]).astype(as_dtype(dtype).numpy))


def _hertz_to_mel(frequency: Any) -> Any:
    """Return the mel values of frequencies in Hz."""
    return _MEL_PER_EFOLD * np.log1p(np.asarray(frequency) / _BREAK_FREQUENCY)


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: TensorLike, name: str | None = None) -> Tensor:
    """The mel-frequency cepstral coefficients: cosine transforms of logarithmic spectra, scaled by 1 / sqrt(2 · bins).

    >>> autoconv.signal.mfccs_from_log_mel_spectrograms([[1.0, 2.0, 3.0]]).numpy().round(4) + 0.0
    array([[ 4.899 , -1.4142,  0.    ]], dtype=float32)
    """
    tensor = convert_to_tensor(log_mel_spectrograms)
    bin_count = tensor.shape[-1] if tensor.shape.rank else None
    if not bin_count:
        raise ValueError(f"log_mel_spectrograms must have mel bins along the last axis, found the shape {tensor.shape}")
    coefficients = apply("multiply", dct(tensor, type=2), constant(1.0 / np.sqrt(2.0 * bin_count), tensor.dtype))
    return apply("identity", coefficients, name=name)
