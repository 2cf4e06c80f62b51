"""Vorbis' and Kaiser-Bessel-derived windows: the squares of two that overlap by half add up to 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.api.tensors.accepted_dtypes import as_indices
from autoconv.api.tensors.arguments import static_int
from autoconv.graph.dtypes import as_dtype, float32, int32
from autoconv.runtime.annotations import DTypeLike, IntLike
from autoconv.runtime.tensors.conversion import constant
from autoconv.runtime.tensors.tensor import Tensor


def vorbis_window(window_length: IntLike, dtype: DTypeLike = float32, name: str | None = None) -> Tensor:
    """The window of the Vorbis codec: sin(pi/2 · sin²(pi · (i + 1/2) / length)).

    >>> autoconv.signal.vorbis_window(4, dtype=autoconv.float64).numpy().round(4)
    array([0.228 , 0.9737, 0.9737, 0.228 ])
    """
    window_length = as_indices("vorbis_window", window_length, frozenset({int32}))
    length = static_int(window_length, "window_length")
    positions = (np.arange(length) + 0.5) / max(length, 1)
    return constant(np.sin(np.pi / 2 * np.sin(np.pi * positions) ** 2).astype(as_dtype(dtype).numpy))


def kaiser_values(count: int, beta: Any) -> np.ndarray:
    """Return Kaiser's window of `count` elements; for a negative `beta`, TensorFlow's values, which are not NumPy's."""
    (static_beta,) = np.ravel(np.asarray(beta, float))
    squared_positions = np.linspace(-1, 1, count) ** 2 if count > 1 else np.zeros(count)
    correction = np.exp(min(static_beta, 0.0) * 2.0 * (np.sqrt(1 - squared_positions) - 1))
    return np.kaiser(count, static_beta) * correction


def kaiser_bessel_derived_window(
    window_length: IntLike, beta: float = 12.0, dtype: DTypeLike = float32, name: str | None = None
) -> Tensor:
    """The window derived from Kaiser's of half the length: the roots of its normalised cumulative sums, then mirrored.

    >>> autoconv.signal.kaiser_bessel_derived_window(4, beta=2.0, dtype=autoconv.float64).numpy().round(4)
    array([0.4834, 0.8754, 0.8754, 0.4834])
    """
    window_length = as_indices("kaiser_bessel_derived_window", window_length, frozenset({int32}))
    half = static_int(window_length, "window_length") // 2
    sums = np.cumsum(kaiser_values(half + 1, beta))
    first_half = np.sqrt(sums[:-1] / sums[-1])
    return constant(np.concatenate([first_half, first_half[::-1]]).astype(as_dtype(dtype).numpy))
